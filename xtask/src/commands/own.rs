//! Runs a command of this tool as its user would, in a process of its own: what
//! `quickstart` and `ci` are put together from.

use serde_json::Value;

use crate::cli::Ctx;
use crate::error::{Error, Result};
use crate::host::process::Cmd;

/// How a command ended, and its JSON result.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The command line, for reports.
    pub line: String,
    /// Its exit code.
    pub code: i32,
    /// What it wrote to stdout; `Null` when that is no JSON.
    pub json: Value,
}

impl Ended {
    /// Why it did not hold, from the failure in its JSON.
    #[must_use]
    pub fn why(&self) -> String {
        let error = self.json.get("error");
        let strings = |key: &str| -> Vec<String> {
            let value = error.and_then(|e| e.get(key));
            match value {
                Some(Value::String(s)) => vec![s.clone()],
                Some(Value::Array(all)) => {
                    all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            }
        };
        let mut lines = strings("asked");
        lines.extend(strings("found"));
        lines.extend(strings("mend").into_iter().map(|m| format!("mend: {m}")));
        lines.insert(0, format!("`{}` ended with {}", self.line, self.code));
        lines.join("\n")
    }
}

/// This program. Not by its path: `cargo test`, a stage of `ci`, may put another
/// build there.
pub const EXE: &str = "/proc/self/exe";

/// Runs `cargo xtask ARGS` with JSON results; its talk goes to our stderr.
///
/// # Errors
/// When it cannot be started, or the user ends it. A code other than 0 is no
/// error here.
pub fn run(ctx: &Ctx, args: &[&str]) -> Result<Ended> {
    let project = ctx.dirs.project()?;
    let line = format!("cargo xtask {}", shell_words::join(args));
    ctx.ui.note(&format!("$ {line}"));
    let output = Cmd::new(EXE)
        .args(["--format", "json", "--project"])
        .arg(project)
        .args(args)
        .cwd(project)
        .talk()
        .output()?;
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    Ok(Ended { line, code: output.code, json })
}

/// As [`run`], and a code other than 0 is an error.
///
/// # Errors
/// As [`run`], and when the command does not hold.
pub fn must(ctx: &Ctx, args: &[&str]) -> Result<Ended> {
    let ended = run(ctx, args)?;
    if ended.code == 0 { Ok(ended) } else { Err(Error::check(ended.why())) }
}
