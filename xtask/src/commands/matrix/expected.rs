//! `ci/verdicts.toml`: what each series must be on each base; and the step that compares.

use std::collections::BTreeMap;
use std::path::Path;

use super::state::Status;
use crate::error::{Error, Result};
use crate::host::regular;
use crate::render::Verdict;

/// The file, below the project.
pub const FILE: &str = "ci/verdicts.toml";

/// Verdicts by series and base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected(pub BTreeMap<String, BTreeMap<String, String>>);

impl Expected {
    /// Reads the project's file. A project without one expects nothing but that nothing conflicts.
    ///
    /// # Errors
    /// When it cannot be read or understood, or has a word that is no verdict one could expect.
    pub fn load(project: &Path) -> Result<Expected> {
        let path = project.join(FILE);
        match regular::text_if_there(&path)? {
            Some(text) => Expected::parse(&text),
            None => Ok(Expected::default()),
        }
    }

    fn parse(text: &str) -> Result<Expected> {
        const WORDS: [&str; 3] = ["applies", "absorbed", "blocked"];
        let wrong = |found: String| Error::usage(format!("read {FILE}")).found(found);
        let all: BTreeMap<String, BTreeMap<String, String>> =
            toml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        for (series, bases) in &all {
            for (base, word) in bases {
                if !WORDS.contains(&word.as_str()) {
                    return Err(wrong(format!("\"{word}\" for {series} on {base}"))
                        .hint(format!("a verdict to expect is one of {}", WORDS.join(", "))));
                }
            }
        }
        Ok(Expected(all))
    }

    /// What is expected of a series on a base.
    #[must_use]
    pub fn of(&self, series: &str, base: &str) -> Option<&str> {
        self.0.get(series)?.get(base).map(String::as_str)
    }

    /// The bases that are listed for a series.
    #[must_use]
    pub fn bases(&self, series: &str) -> Vec<&str> {
        self.0.get(series).into_iter().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }
}

/// Judges a verdict: status, one line, and what else is to be told. `optional` are the verdicts on
/// the optional patches.
#[must_use]
pub fn compare(
    verdict: &Verdict,
    expected: Option<&str>,
    optional: &[(String, Verdict)],
) -> (Status, String, Vec<String>) {
    let text = verdict.to_string();
    let mut notes = Vec::new();
    let mut summary = text.lines().next().unwrap_or_default().to_owned();
    let mut held = !matches!(verdict, Verdict::Conflict { .. });
    if !held {
        notes.push(text.clone());
    }
    match expected {
        Some(word) if word != verdict.word() => {
            held = false;
            summary = format!("{summary}; expected: {word}");
        }
        Some(_) => {}
        None => summary.push_str(" (no verdict is listed)"),
    }
    if matches!(verdict, Verdict::Applies) {
        for (name, verdict) in optional.iter().filter(|(_, v)| !matches!(v, Verdict::Applies)) {
            held &= !matches!(verdict, Verdict::Conflict { .. });
            notes.push(format!("optional patch {name}: {verdict}"));
        }
    }
    (if held { Status::Held } else { Status::Failed }, summary, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_never_holds_and_a_difference_fails() {
        let blocked = || Verdict::Blocked { lacks: "x".into(), why: "y".into() };
        let conflict = || Verdict::Conflict { conflicts: Vec::new() };
        for (verdict, expected, held, summary) in [
            (Verdict::Applies, Some("applies"), true, "applies"),
            (Verdict::Applies, None, true, "applies (no verdict is listed)"),
            (Verdict::Applies, Some("blocked"), false, "applies; expected: blocked"),
            (blocked(), Some("blocked"), true, "blocked: x (y)"),
            (blocked(), Some("applies"), false, "blocked: x (y); expected: applies"),
            (conflict(), None, false, "conflict (no verdict is listed)"),
            (conflict(), Some("applies"), false, "conflict; expected: applies"),
        ] {
            let (status, told, _) = compare(&verdict, expected, &[]);
            let want = if held { Status::Held } else { Status::Failed };
            assert_eq!((status, told.as_str()), (want, summary));
        }
        let optional = |verdict| vec![("o".to_owned(), verdict)];
        let (status, _, notes) = compare(&Verdict::Applies, None, &optional(blocked()));
        assert_eq!((status, notes.len()), (Status::Held, 1));
        let (status, _, _) = compare(&Verdict::Applies, None, &optional(conflict()));
        assert_eq!(status, Status::Failed);
    }

    #[test]
    fn the_file() {
        let read = Expected::parse("[a]\n\"6.1\" = \"applies\"\n").unwrap();
        assert_eq!((read.of("a", "6.1"), read.of("a", "6.12")), (Some("applies"), None));
        assert_eq!((read.bases("a"), read.bases("b")), (vec!["6.1"], vec![]));
        for bad in
            ["[a]\n\"6.1\" = \"conflict\"", "[a]\nx = 1", "a = ", "[a]\n\"6.1\" = \"appliess\""]
        {
            assert_eq!(Expected::parse(bad).unwrap_err().kind().exit_code(), 2, "{bad}");
        }
        assert_eq!(Expected::load(Path::new("/nowhere")).unwrap(), Expected::default());
    }
}
