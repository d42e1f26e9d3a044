//! Misspelled words, by the base's own list, in messages and added lines.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::submission::text;
use super::{Finding, Gate, Row, Submission};
use crate::error::Result;

/// Where the kernel keeps the list: lines `misspelled||right`.
const LIST: &str = "scripts/spelling.txt";

/// One row a patch and one for the cover letter.
///
/// # Errors
/// When the base cannot be read.
pub fn check(s: &Submission) -> Result<Vec<Row>> {
    let list = text(s.repo, s.base_tree, LIST)?;
    let words = Words::parse(&list);
    if words.0.is_empty() {
        let why = format!("the base has no {LIST}");
        return Ok(vec![Row::skipped(Gate::Spelling, "series", why)]);
    }
    let mut rows = Vec::new();
    if let Some(cover) = &s.cover {
        let mut found = words.find("subject", [(1, cover.subject.as_str())]);
        found.extend(words.find("cover", numbered(&cover.body)));
        rows.push(Row::of(Gate::Spelling, "cover", "", found));
    }
    for p in &s.patches {
        let prose = numbered(&p.message).filter(|(_, l)| !names_someone(l));
        let mut found = words.find("message", prose);
        for c in &p.changes {
            let lines = c.added.iter().map(|(n, l)| (*n, l.as_str()));
            found.extend(words.find(&c.path, lines));
        }
        rows.push(Row::of(Gate::Spelling, &p.name, "", found));
    }
    Ok(rows)
}

fn numbered(text: &str) -> impl Iterator<Item = (u32, &str)> {
    (1..).zip(text.lines())
}

/// Names are spelled as their owners spell them, quotes as they were.
fn names_someone(line: &str) -> bool {
    line.contains('<') && line.contains('@') || line.starts_with('>') || line.starts_with("Fixes:")
}

struct Words<'l>(HashMap<&'l str, &'l str>);

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\w'`-]+").ok());

impl<'l> Words<'l> {
    fn parse(list: &'l str) -> Words<'l> {
        let lines = list.lines().filter(|l| !l.starts_with('#'));
        let pairs = lines.filter_map(|l| l.split_once("||"));
        Words(pairs.map(|(wrong, right)| (wrong.trim(), right.trim())).collect())
    }

    fn find<'t>(
        &self,
        place: &str,
        lines: impl IntoIterator<Item = (u32, &'t str)>,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        for (number, line) in lines {
            for word in WORD.iter().flat_map(|r| r.find_iter(line)).map(|m| m.as_str()) {
                // An identifier with the misspelling as a part is not prose.
                if let Some(right) = self.0.get(word.to_lowercase().as_str()) {
                    let place = Some(format!("{place}:{number}"));
                    found.push(Finding::new("spelling", place, format!("\"{word}\": {right}?")));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::Status;
    use crate::gates::testing::Repo;
    use crate::mail::Cover;

    #[test]
    fn words_in_messages_and_added_lines() {
        let list = "# a comment\nteh||the\nrecieve||receive\n";
        let r = Repo::new();
        let base = [(LIST, list), ("a.c", "/* teh old */\n")];
        let after = [(LIST, list), ("a.c", "/* teh old */\n/* Recieve */\nint recieve_x;\n")];
        let message = "net: teh x\n\nMore.\n\nReviewed-by: Teh <teh@x>\nCc: teh\n";
        let mut s = r.submission(&base, &[("p", message, &after)]);
        s.cover = Some(Cover { subject: "all fine".into(), body: "one\nteh-x (teh)\n".into() });
        let rows = check(&s).unwrap();
        let places: Vec<_> =
            rows.iter().flat_map(|r| &r.findings).filter_map(|f| f.place.as_deref()).collect();
        assert_eq!(places, ["cover:2", "message:1", "message:6", "a.c:2"]);
        assert_eq!(rows[1].findings[2].text, "\"Recieve\": receive?");
    }

    #[test]
    fn without_the_list_it_is_not_green() {
        let r = Repo::new();
        let rows = check(&r.message("net: teh\n")).unwrap();
        assert_eq!(rows[0].status, Status::Skipped);
    }
}
