//! `scripts/checkpatch.pl --strict` of the base, in one process over all patches.

use std::sync::LazyLock;

use regex::Regex;

use super::{Finding, Gate, Patch, Row, Submission};
use crate::error::{IoContext as _, Result};
use crate::scripts::{BINDINGS, Scripts};

const SCRIPT: &str = "scripts/checkpatch.pl";

/// One row a patch.
///
/// # Errors
/// When perl or the script is missing, or the script does not finish.
pub fn check(s: &Submission, scripts: &Scripts<'_>) -> Result<Vec<Row>> {
    let compatible =
        |p: &Patch| p.changes.iter().flat_map(|c| &c.added).any(|(_, l)| l.contains("compatible"));
    if s.patches.iter().any(compatible) {
        scripts.add(BINDINGS)?;
    }
    let folder = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
    let mut cmd = scripts.command("perl", SCRIPT)?.args([
        "--strict",
        "--root=.",
        "--terse",
        "--show-types",
        "--showfile",
        "--color=never",
    ]);
    for p in &s.patches {
        let file = folder.path().join(&p.file_name);
        std::fs::write(&file, &p.mail).at("write", &file)?;
        cmd = cmd.arg(&file);
    }
    let out = cmd.output()?;
    let told = parse(&String::from_utf8_lossy(&out.stdout), &folder.path().to_string_lossy());
    // One total a patch, or it did not see them all.
    if out.timed_out || told.len() != s.patches.len() {
        return Err(cmd.failure(&out));
    }
    let rows = s.patches.iter().zip(told);
    Ok(rows.map(|(p, (lines, found))| Row::of(Gate::Checkpatch, &p.name, lines, found)).collect())
}

static FINDING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:(.+?):(\d+): )?(ERROR|WARNING|CHECK):([A-Z0-9_]+): (.*)$").ok()
});
static TOTAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^total: \d+ errors?, .*?(\d+) lines checked").ok());

/// The findings of each patch, in order, with how many lines were looked at.
/// `folder` is where the patches are: a place in a patch itself is named without it.
fn parse(output: &str, folder: &str) -> Vec<(String, Vec<Finding>)> {
    let (mut all, mut found) = (Vec::new(), Vec::new());
    for line in output.lines() {
        if let Some(total) = TOTAL.as_ref().and_then(|r| r.captures(line)) {
            let lines = total.get(1).map_or("", |m| m.as_str());
            all.push((format!("{lines} lines"), std::mem::take(&mut found)));
            continue;
        }
        let Some(m) = FINDING.as_ref().and_then(|r| r.captures(line)) else { continue };
        let part = |i: usize| m.get(i).map_or("", |m| m.as_str());
        let path = part(1).strip_prefix(folder).map_or(part(1), |p| p.trim_start_matches('/'));
        let place = (!path.is_empty()).then(|| format!("{path}:{}", part(2)));
        let text = format!("{} ({})", part(5), part(3).to_lowercase());
        let finding = Finding::new(part(4), place, text);
        // It is a question, and the gate on MAINTAINERS answers it.
        let question = part(4) == "FILE_PATH_CHANGES";
        found.push(Finding { note: question, ..finding });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_belong_to_the_patch_whose_total_follows() {
        let output = "\
/t/x/0001-x.patch:6: WARNING:TYPO_SPELLING: 'teh' may be misspelled - perhaps 'the'?
net/core/dev.c:6603: CHECK:CAMELCASE: Avoid CamelCase: <FooBar>
total: 0 errors, 1 warnings, 1 checks, 10 lines checked
total: 0 errors, 0 warnings, 0 checks, 7 lines checked
kernel/n.c:1: WARNING:FILE_PATH_CHANGES: added, moved or deleted file(s), does MAINTAINERS need updating?
ERROR:MISSING_SIGN_OFF: Missing Signed-off-by: line(s)
total: 1 errors, 1 warnings, 3 lines checked
";
        let all = parse(output, "/t/x");
        assert_eq!(all.len(), 3);
        assert_eq!(all[0].0, "10 lines");
        let places: Vec<_> = all[0].1.iter().map(|f| f.place.as_deref().unwrap()).collect();
        assert_eq!(places, ["0001-x.patch:6", "net/core/dev.c:6603"]);
        assert_eq!(all[0].1[1].text, "Avoid CamelCase: <FooBar> (check)");
        assert!(all[1].1.is_empty());
        assert!(all[2].1[0].note && all[2].1[1].fails());
    }
}
