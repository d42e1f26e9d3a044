//! The stages of `ci` that look at the project's own source.

use serde::Deserialize;
use xshell::{Shell, cmd};

use super::{Stage, Status};
use crate::error::{Error, Result};
use crate::host::process::{Cmd, Stream, tail};
use crate::host::setup;
use crate::host::tools::Need;

/// Licences that may be linked into a GPL-2.0-only program.
const LICENCES: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unlicense",
    "CC0-1.0",
    "0BSD",
    "Unicode-3.0",
    "BSL-1.0",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "bzip2-1.0.6",
];

/// Installs what the host lacks.
///
/// # Errors
/// When something cannot be installed.
pub fn tools(stage: &mut Stage) -> Result<()> {
    setup::ensure(&stage.ctx.ui, |t| t.need != Need::Optional, true)?;
    stage.check("distribution packages", true, "all there");
    for tool in [setup::VIRTME_NG, setup::B4, setup::TYPOS] {
        let path = setup::ensure_python(&stage.ctx.ui, &stage.ctx.dirs, tool)?;
        stage.check(tool.program, path.exists(), path.display().to_string());
    }
    Ok(())
}

/// Format, lints, rustdoc, spelling.
///
/// # Errors
/// When cargo cannot be run.
pub fn lints(stage: &mut Stage) -> Result<()> {
    let sh = shell(stage)?;
    let project = stage.ctx.dirs.project()?.to_owned();
    let typos = setup::find_python(&stage.ctx.dirs, setup::TYPOS);
    let mut runs = vec![
        ("cargo fmt", cmd!(sh, "cargo fmt --all --check")),
        ("clippy", cmd!(sh, "cargo clippy --quiet --all-targets -- -D warnings")),
        (
            "rustdoc",
            cmd!(sh, "cargo doc --quiet --no-deps --document-private-items")
                .env("RUSTDOCFLAGS", "-D warnings"),
        ),
    ];
    match &typos {
        Some(typos) => {
            runs.push(("spelling", cmd!(sh, "{typos} --config ci/typos.toml {project}")));
        }
        None => stage.add("spelling", Status::Skipped, "typos is not installed"),
    }
    for (name, run) in runs {
        let output = run
            .quiet()
            .ignore_status()
            .output()
            .map_err(|e| Error::host(format!("run {name}")).found(e.to_string()))?;
        let said = [output.stdout, output.stderr].concat();
        let held = output.status.success();
        stage.check(name, held, if held { String::new() } else { tail(&said, 40) });
    }
    Ok(())
}

fn shell(stage: &Stage) -> Result<Shell> {
    let sh = Shell::new().map_err(|e| Error::host("start a shell").found(e.to_string()))?;
    sh.change_dir(stage.ctx.dirs.project()?);
    Ok(sh)
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
}

/// Every dependency's licence must fit GPL-2.0-only.
///
/// # Errors
/// When cargo cannot tell the dependencies.
pub fn licences(stage: &mut Stage) -> Result<()> {
    let out = Cmd::new("cargo")
        .args(["metadata", "--format-version=1", "--locked"])
        .cwd(stage.ctx.dirs.project()?)
        .run()?;
    let metadata: Metadata = serde_json::from_slice(&out.stdout)
        .map_err(|e| Error::host("read cargo metadata").found(e.to_string()))?;
    let mut unfit = Vec::new();
    for p in &metadata.packages {
        let licence = p.license.as_deref().unwrap_or("none named");
        if !fits(licence) {
            unfit.push(format!("{} {}: {licence}", p.name, p.version));
        }
    }
    let count = format!("{} packages", metadata.packages.len());
    let detail = if unfit.is_empty() { count } else { unfit.join("\n") };
    stage.check("licences fit", unfit.is_empty(), detail);
    Ok(())
}

/// Whether an SPDX expression lets us take a licence of the list: all sides of
/// AND, one side of OR; WITH exceptions only widen what is allowed.
fn fits(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    // Parentheses are only used around OR in practice; AND binds the groups.
    plain.split(" AND ").all(|side| {
        side.split(" OR ").any(|l| {
            let l = l.split(" WITH ").next().unwrap_or(l).trim();
            LICENCES.contains(&l)
        })
    })
}

/// `cargo test`, with its counts.
///
/// # Errors
/// When cargo cannot be run.
pub fn tests(stage: &mut Stage) -> Result<()> {
    let cmd = Cmd::new("cargo")
        .args(["test", "--workspace", "--no-fail-fast", "--locked"])
        .env("CARGO_TERM_COLOR", "never")
        .cwd(stage.ctx.dirs.project()?);
    let mut log = Vec::new();
    let mut results = Vec::new();
    let code = cmd.stream(|stream, line| {
        log.extend_from_slice(line);
        if stream == Stream::Out
            && let Some(result) = TestLine::parse(line)
        {
            results.push(result);
        }
    })?;
    let path = stage.ctx.dirs.out()?.join("ci").join("cargo-test.log");
    crate::host::atomic::write(&path, &log)?;
    for r in &results {
        let status = match r.word.as_str() {
            "ok" => Status::Passed,
            "ignored" => Status::Skipped,
            _ => Status::Failed,
        };
        // A passing test each would drown the rest: only the others are told.
        stage.record(&r.name, status, "");
    }
    if code != 0 && !results.iter().any(|r| r.word == "FAILED") {
        stage.check("cargo test", false, tail(&log, 40));
    } else {
        let failed = results.iter().filter(|r| r.word == "FAILED").count();
        let detail = format!("{} tests, {failed} failed; {}", results.len(), path.display());
        stage.check("cargo test", code == 0 && !results.is_empty(), detail);
    }
    Ok(())
}

/// One line `test NAME ... WORD` of the test runner.
struct TestLine {
    name: String,
    word: String,
}

impl TestLine {
    fn parse(line: &[u8]) -> Option<TestLine> {
        let line = std::str::from_utf8(line).ok()?.trim_end();
        let (name, word) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let word = word.split([',', ' ']).next()?;
        Some(TestLine { name: name.to_owned(), word: word.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_read_as_spdx_expressions() {
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0-only",
        ] {
            assert!(fits(good), "{good}");
        }
        for bad in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "none named", ""] {
            assert!(!fits(bad), "{bad}");
        }
    }

    #[test]
    fn result_lines_of_the_runner() {
        let r = TestLine::parse(b"test a::b - should panic ... ok\n").unwrap();
        assert_eq!((r.name.as_str(), r.word.as_str()), ("a::b - should panic", "ok"));
        let r = TestLine::parse(b"test x ... ignored, needs root\n").unwrap();
        assert_eq!(r.word, "ignored");
        assert!(TestLine::parse(b"test result: ok. 3 passed; 0 failed").is_none());
    }
}
