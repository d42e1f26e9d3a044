//! kernel-doc of the base over the files that a patch touches: warnings that
//! were not there before it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::diff::{Change, Deed};
use super::submission::file;
use super::{Finding, Gate, Row, Submission};
use crate::error::{Error, IoContext as _, Result};
use crate::scripts::Scripts;

/// Where the script is; later kernels moved it and left a link, which is not
/// followed here so that its modules are found beside it.
const SCRIPTS: &[(&str, &str)] = &[
    ("python3", "tools/docs/kernel-doc"),
    ("python3", "scripts/kernel-doc.py"),
    ("perl", "scripts/kernel-doc"),
];

/// One row a patch that touches C.
///
/// # Errors
/// When the script is missing or breaks.
pub fn check(s: &Submission, scripts: &Scripts<'_>) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
    let mut files = Vec::new();
    for (i, p) in s.patches.iter().enumerate() {
        for c in p.changes.iter().filter(|c| is_documented(c)) {
            let before = file(s.repo, p.before, &c.old_path)?;
            let after = file(s.repo, p.after, &c.path)?;
            for (side, bytes) in [("before", before), ("after", after)] {
                if let Some(bytes) = bytes {
                    let name = format!("{side}-{i}/{}", c.path);
                    put(folder.path(), &name, &bytes)?;
                    files.push(name);
                }
            }
        }
    }
    if files.is_empty() {
        return Ok(vec![Row::of(Gate::KernelDoc, "series", "no C is touched", Vec::new())]);
    }
    let warnings = run(scripts, folder.path(), &files)?;
    let mut rows = Vec::new();
    for (i, p) in s.patches.iter().enumerate() {
        let mut found = Vec::new();
        let mut count = 0;
        for c in p.changes.iter().filter(|c| is_documented(c)) {
            count += 1;
            let of = |side: &str| {
                let name = format!("{side}-{i}/{}", c.path);
                warnings.iter().filter(move |w| w.file == name)
            };
            let known: BTreeSet<&str> = of("before").map(|w| w.text.as_str()).collect();
            let mut told = BTreeSet::new();
            for w in of("after").filter(|w| !known.contains(w.text.as_str())) {
                // Some versions tell everything twice.
                if told.insert((w.line, &w.text)) {
                    let place = Some(format!("{}:{}", c.path, w.line));
                    found.push(Finding::new("kernel-doc", place, w.text.clone()));
                }
            }
        }
        if count > 0 {
            let detail = if count == 1 { "1 file".into() } else { format!("{count} files") };
            rows.push(Row::of(Gate::KernelDoc, &p.name, detail, found));
        }
    }
    Ok(rows)
}

fn is_documented(c: &Change) -> bool {
    c.deed != Deed::Deleted && c.has_extension(&["c", "h"])
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent).at("create folder", parent)?;
    std::fs::write(&path, bytes).at("write", &path)
}

fn run(scripts: &Scripts<'_>, folder: &Path, files: &[String]) -> Result<Vec<Warning>> {
    let Some((interpreter, script)) = SCRIPTS.iter().find(|(_, s)| scripts.has(s)) else {
        return Err(Error::host("run kernel-doc of the base").found("the base has none"));
    };
    let script = scripts.root().join(script);
    let text = std::fs::read(&script).at("read", &script)?;
    // Between perl and tools/docs, scripts/kernel-doc was a link to the Python.
    let python = text.starts_with(b"#!/usr/bin/env python3");
    let interpreter = if python { "python3" } else { interpreter };
    let cmd = scripts
        .command(interpreter, &script.to_string_lossy())?
        .args(["-none", all_warnings(&text)])
        .args(files)
        .cwd(folder);
    let out = cmd.output()?;
    let told = [out.stdout.as_slice(), &out.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    let warnings = parse(&told);
    // It counts errors in its exit code; a crash names no place in a file.
    let crashed = told.contains("Traceback (most recent call last)");
    if out.timed_out || crashed || (out.code != 0 && warnings.is_empty()) {
        return Err(cmd.failure(&out));
    }
    Ok(warnings)
}

/// The option with which a version of the script warns of all that it knows. Until 6.7 that was
/// a part of being verbose, and -Wall is refused with the help text.
fn all_warnings(script: &[u8]) -> &'static str {
    let knows_wall = memchr::memmem::find(script, b"Wall").is_some();
    if knows_wall { "-Wall" } else { "-v" }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Warning {
    file: String,
    line: u32,
    text: String,
}

static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // perl: "path:12: warning: text"; Python: "Warning: path:12 text".
    let form =
        r"(?i)^(?:(?:warning|error): (\S+?):(\d+):? |(\S+?):(\d+): (?:warning|error): )(.*)$";
    Regex::new(form).ok()
});

fn parse(output: &str) -> Vec<Warning> {
    let captures = output.lines().filter_map(|l| WARNING.as_ref()?.captures(l.trim_end()));
    captures
        .filter_map(|m| {
            let place = m.get(1).or_else(|| m.get(3))?.as_str().trim_start_matches("./");
            let line = m.get(2).or_else(|| m.get(4))?.as_str().parse().ok()?;
            let text = m.get(5)?.as_str().to_owned();
            Some(Warning { file: place.to_owned(), line, text })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_script_is_not_given_what_it_does_not_know() {
        for (script, option) in [
            ("GetOptions(\"Wall\" => \\my $wall,", "-Wall"),
            ("parser.add_argument('-Wall', '--wall',", "-Wall"),
            ("} elsif ($cmd eq \"v\") { # verbose", "-v"),
        ] {
            assert_eq!(all_warnings(script.as_bytes()), option, "{script}");
        }
        // What is told besides when it is verbose is no warning.
        assert!(parse("a/x.c:12: info: Scanning doc for function f\n").is_empty());
    }

    #[test]
    fn both_forms_of_warnings() {
        let w =
            |file: &str, line, text: &str| Warning { file: file.into(), line, text: text.into() };
        for (line, want) in [
            ("a/x.c:12: warning: No description for 'y'", w("a/x.c", 12, "No description for 'y'")),
            ("Warning: a/x.c:12 No description for 'y'", w("a/x.c", 12, "No description for 'y'")),
            ("a/x.h:3: error: Cannot parse", w("a/x.h", 3, "Cannot parse")),
            ("Error: ./a/x.h:3 Cannot parse", w("a/x.h", 3, "Cannot parse")),
        ] {
            assert_eq!(parse(line), [want], "{line}");
        }
        assert!(parse("1 warnings\n").is_empty());
    }
}
