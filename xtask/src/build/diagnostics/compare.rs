//! What a patch brings: the diagnostics of a patched tree that its base did not
//! have. A count says little (one gone and one new look like none), and a line
//! number says nothing once a patch has moved the code: two are the same when file,
//! flag and message are, and each of the base's answers for one of the patched tree's.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::build::diagnostics::{Diagnostic, Severity};

/// The difference between two builds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Only the patched tree has these.
    pub new: Vec<Diagnostic>,
    /// Only the base had these.
    pub gone: Vec<Diagnostic>,
    /// How many both have.
    pub kept: usize,
}

impl Comparison {
    /// Whether the patched tree brings nothing new.
    #[must_use]
    pub fn clean(&self) -> bool {
        self.new.is_empty()
    }
}

type Key = (Severity, String, Option<String>, String);

/// Compares the diagnostics of a base with those of a tree patched from it. A warning
/// in a header counts once, however many objects include it.
#[must_use]
pub fn compare(base: &[Diagnostic], patched: &[Diagnostic]) -> Comparison {
    let mut groups: BTreeMap<Key, (Vec<&Diagnostic>, Vec<&Diagnostic>)> = BTreeMap::new();
    for d in once_each(base) {
        groups.entry(key(d)).or_default().0.push(d);
    }
    for d in once_each(patched) {
        groups.entry(key(d)).or_default().1.push(d);
    }
    let mut result = Comparison::default();
    for (mut old, mut new) in groups.into_values() {
        let before = new.len();
        // Of several alike, those in the same function, then those that show the
        // same line of source, are the old ones; the rest goes by order.
        pair(&mut old, &mut new, |a, b| a.function == b.function && excerpt(a) == excerpt(b));
        pair(&mut old, &mut new, |a, b| a.function == b.function);
        pair(&mut old, &mut new, |a, b| excerpt(a) == excerpt(b));
        pair(&mut old, &mut new, |_, _| true);
        result.kept += before - new.len();
        result.new.extend(new.into_iter().cloned());
        result.gone.extend(old.into_iter().cloned());
    }
    result
}

/// Takes pairs that are `alike` out of both lists.
fn pair(
    old: &mut Vec<&Diagnostic>,
    new: &mut Vec<&Diagnostic>,
    alike: impl Fn(&Diagnostic, &Diagnostic) -> bool,
) {
    new.retain(|n| match old.iter().position(|o| alike(o, n)) {
        Some(at) => {
            old.remove(at);
            false
        }
        None => true,
    });
}

fn once_each(all: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut seen = BTreeSet::new();
    all.iter().filter(|d| seen.insert((&d.file, d.line, d.column, &d.message))).collect()
}

fn key(d: &Diagnostic) -> Key {
    (d.severity, d.file.clone(), d.flag.clone(), without_places(&d.message))
}

/// The source line that the compiler shows, without its number.
fn excerpt(d: &Diagnostic) -> Option<&str> {
    d.detail.iter().find_map(|line| {
        let (number, code) = line.split_once('|')?;
        number.trim().bytes().all(|b| b.is_ascii_digit()).then(|| code.trim())
    })
}

/// The message with line numbers and code offsets blotted out: both move with
/// every edit above them.
fn without_places(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(c) = rest.chars().next() {
        let marker = ["+0x", "line ", ".c:", ".h:"].into_iter().find(|m| rest.starts_with(m));
        let (copied, skipped) = match marker {
            Some(m) => {
                let hex = m == "+0x";
                let tail = rest.get(m.len()..).unwrap_or("");
                let digits = |c: char| if hex { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
                (m.len(), tail.find(|c| !digits(c)).unwrap_or(tail.len()))
            }
            None => (c.len_utf8(), 0),
        };
        out.push_str(rest.get(..copied).unwrap_or(""));
        rest = rest.get(copied + skipped..).unwrap_or("");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::diagnostics::Stage;

    fn d(file: &str, line: u32, message: &str, function: &str) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            stage: Stage::Compile,
            file: file.into(),
            line: Some(line),
            column: Some(1),
            flag: Some("-Wx".into()),
            message: message.into(),
            function: Some(function.into()),
            object: None,
            detail: Vec::new(),
        }
    }

    #[test]
    fn moved_lines_are_no_news() {
        let base = [d("a.c", 10, "unused 'x'", "f"), d("a.c", 30, "unused 'x'", "g")];
        let moved = [d("a.c", 12, "unused 'x'", "f"), d("a.c", 35, "unused 'x'", "g")];
        let c = compare(&base, &moved);
        assert!(c.clean() && c.gone.is_empty());
        assert_eq!(c.kept, 2);
    }

    #[test]
    fn of_several_alike_the_new_one_is_named() {
        let base = [d("a.c", 10, "unused 'x'", "f"), d("a.c", 30, "unused 'x'", "h")];
        let patched = [
            d("a.c", 10, "unused 'x'", "f"),
            d("a.c", 20, "unused 'x'", "g"),
            d("a.c", 40, "unused 'x'", "h"),
        ];
        let c = compare(&base, &patched);
        assert_eq!(c.new, [patched[1].clone()]);
    }

    #[test]
    fn same_count_is_not_the_same() {
        let c = compare(&[d("a.c", 1, "old", "f")], &[d("a.c", 1, "new", "f")]);
        assert_eq!(
            (c.new[0].message.as_str(), c.gone[0].message.as_str(), c.kept),
            ("new", "old", 0)
        );
        let c = compare(&[d("a.c", 1, "m", "f")], &[d("b.c", 1, "m", "f")]);
        assert_eq!((c.new.len(), c.gone.len()), (1, 1));
    }

    #[test]
    fn a_header_counts_once() {
        let twice = [d("a.h", 1, "m", "f"), d("a.h", 1, "m", "f")];
        assert_eq!(
            compare(&[d("a.h", 3, "m", "f")], &twice),
            Comparison { kept: 1, ..Comparison::default() }
        );
    }

    #[test]
    fn offsets_and_lines_in_messages_do_not_count() {
        for (a, b) in [
            ("f+0x12: unreachable", "f+0xab3: unreachable"),
            ("defined at line 12", "defined at line 340"),
            ("see a.h:12 for it", "see a.h:7 for it"),
        ] {
            assert!(compare(&[d("a.c", 1, a, "f")], &[d("a.c", 2, b, "f")]).clean(), "{a}");
        }
        assert!(!compare(&[d("a.c", 1, "12 bytes", "f")], &[d("a.c", 1, "13 bytes", "f")]).clean());
    }

    proptest::proptest! {
        /// A build has nothing new over itself, wherever its lines have gone.
        #[test]
        fn nothing_new_over_itself(lines in proptest::collection::vec((0u32..50, "[a-c]", "[fgh]"), 0..20), by in 0u32..9) {
            let base: Vec<_> = lines.iter().map(|(l, m, f)| d("a.c", *l, m, f)).collect();
            let moved: Vec<_> = lines.iter().map(|(l, m, f)| d("a.c", l + by, m, f)).collect();
            let c = compare(&base, &moved);
            proptest::prop_assert!(c.clean() && c.gone.is_empty());
        }
        /// What is new and what is kept make up what the patched build has.
        #[test]
        fn nothing_is_lost(old in proptest::collection::vec((0u32..9, "[a-c]"), 0..9), new in proptest::collection::vec((0u32..9, "[a-c]"), 0..9)) {
            let make = |v: &[(u32, String)]| -> Vec<_> { v.iter().map(|(l, m)| d("a.c", *l, m, "f")).collect() };
            let (old, new) = (make(&old), make(&new));
            let c = compare(&old, &new);
            proptest::prop_assert_eq!(c.kept + c.new.len(), once_each(&new).len());
            proptest::prop_assert_eq!(c.kept + c.gone.len(), once_each(&old).len());
        }
    }
}
