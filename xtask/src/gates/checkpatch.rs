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
        // A finding begins with the patch's name, and every patch ends in a total:
        // the terse form has none for a clean patch, as if it had not been seen.
        "--emacs",
        "--no-showfile",
        "--show-types",
        "--color=never",
    ]);
    for p in &s.patches {
        let file = folder.path().join(&p.file_name);
        std::fs::write(&file, &p.mail).at("write", &file)?;
        cmd = cmd.arg(&file);
    }
    let out = cmd.output()?;
    let told = parse(&String::from_utf8_lossy(&out.stdout), &folder.path().to_string_lossy());
    if out.timed_out || told.totals < s.patches.len() {
        return Err(cmd.failure(&out));
    }
    let rows = s.patches.iter().map(|p| {
        let of_it = told.findings.iter().filter(|(file, _)| *file == p.file_name);
        Row::of(Gate::Checkpatch, &p.name, "", of_it.map(|(_, f)| f.clone()).collect())
    });
    Ok(rows.collect())
}

/// What the script said.
struct Told {
    /// Patches that it came to the end of.
    totals: usize,
    /// Findings, each with the file name of its patch.
    findings: Vec<(String, Finding)>,
}

static FINDING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^([^/]+?):(\d+): (ERROR|WARNING|CHECK):([A-Z0-9_]+): (.*)$").ok()
});
static PLACE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^#\d+: FILE: (.+:\d+):$").ok());
static TOTAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^total: \d+ errors?, .*\d+ lines checked").ok());

/// Reads the output. `folder` is where the patches are: no line of a patch can
/// begin with it, so none is taken for a finding.
fn parse(output: &str, folder: &str) -> Told {
    let mut told = Told { totals: 0, findings: Vec::new() };
    let mut lines = output.lines().peekable();
    while let Some(line) = lines.next() {
        if TOTAL.as_ref().is_some_and(|r| r.is_match(line)) {
            told.totals += 1;
        }
        let ours = line.strip_prefix(folder).and_then(|l| l.strip_prefix('/'));
        let Some(m) = ours.and_then(|l| FINDING.as_ref()?.captures(l)) else { continue };
        let part = |i: usize| m.get(i).map_or("", |m| m.as_str());
        let place = lines.peek().and_then(|next| PLACE.as_ref()?.captures(next));
        let place = match place.and_then(|p| p.get(1)) {
            Some(place) => place.as_str().to_owned(),
            // In the message: the line of the mail.
            None => format!("{}:{}", part(1), part(2)),
        };
        let text = format!("{} ({})", part(5), part(3).to_lowercase());
        let finding = Finding::new(part(4), place, text);
        // Questions that other gates answer: the one on MAINTAINERS, and the one on
        // trailers, which looks for a commit where the base has a history.
        let question = matches!(part(4), "FILE_PATH_CHANGES" | "UNKNOWN_COMMIT_ID");
        told.findings.push((part(1).to_owned(), Finding { note: question, ..finding }));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_belong_to_the_patch_that_they_name() {
        let output = "\
/t/x/0001-x.patch:6: WARNING:TYPO_SPELLING: 'teh' may be misspelled - perhaps 'the'?
#6:
total: 9 errors in the message's own words

/t/x/0001-x.patch:22: CHECK:CAMELCASE: Avoid CamelCase: <FooBar>
#22: FILE: net/core/dev.c:6603:
+	FooBar();

total: 0 errors, 1 warnings, 1 checks, 10 lines checked

NOTE: For some of the reported defects, checkpatch may be able to fix them.
total: 0 errors, 0 warnings, 0 checks, 7 lines checked

/t/x/0002-y.patch has no obvious style problems and is ready for submission.
/t/x/0003-z.patch:9: WARNING:FILE_PATH_CHANGES: added, moved or deleted file(s), does MAINTAINERS need updating?
#9:
/t/x/0003-z.patch:30: ERROR:MISSING_SIGN_OFF: Missing Signed-off-by: line(s)
total: 1 errors, 1 warnings, 3 lines checked
";
        let told = parse(output, "/t/x");
        assert_eq!((told.totals, told.findings.len()), (3, 4));
        let places: Vec<_> =
            told.findings.iter().map(|(_, f)| f.place.as_deref().unwrap()).collect();
        let want = ["0001-x.patch:6", "net/core/dev.c:6603", "0003-z.patch:9", "0003-z.patch:30"];
        assert_eq!(places, want);
        assert_eq!(told.findings[1].1.text, "Avoid CamelCase: <FooBar> (check)");
        let files: Vec<_> = told.findings.iter().map(|(file, _)| file.as_str()).collect();
        assert_eq!(files, ["0001-x.patch", "0001-x.patch", "0003-z.patch", "0003-z.patch"]);
        assert!(told.findings[2].1.note && told.findings[3].1.fails());
    }
}
