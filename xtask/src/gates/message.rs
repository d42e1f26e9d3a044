//! Subject and body of each message, and the cover letter: what
//! Documentation/process/submitting-patches.rst asks for.

use std::sync::LazyLock;

use regex::Regex;

use super::submission::split_message;
use super::{Finding, Gate, Row, Submission};
use crate::error::Result;
use crate::recipients::trailer;
use crate::series::skeleton;

/// "70-75 characters" is what the document gives the summary phrase; and the
/// body is "line wrapped at 75 columns".
const WIDTH: usize = 75;
/// Documentation/process/maintainer-netdev.rst.
const NETDEV_MOST: usize = 15;

/// One row a patch, one for the cover letter, one for the series.
///
/// # Errors
/// When a message has a NUL byte.
pub fn check(s: &Submission) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if let Some(cover) = &s.cover {
        let mut found = subject(&cover.subject, Subject::Cover);
        found.extend(body(&cover.body, 2, &[]));
        found.extend(placeholders(&cover.subject).chain(placeholders(&cover.body)));
        if cover.body.trim().is_empty() {
            found.push(Finding::new("no-body", None, "the cover letter says nothing"));
        }
        rows.push(Row::of(Gate::Message, "cover", "", found));
    }
    for p in &s.patches {
        rows.push(Row::of(Gate::Message, &p.name, "", message(&p.message)?));
    }
    rows.push(Row::of(Gate::Message, "series", count(s.patches.len()), series(s)));
    Ok(rows)
}

fn placeholders(text: &str) -> impl Iterator<Item = Finding> {
    skeleton::left_in(text)
        .map(|p| Finding::new("placeholder", None, format!("\"{p}\" is still there")))
}

fn count(patches: usize) -> String {
    if patches == 1 { "1 patch".into() } else { format!("{patches} patches") }
}

fn message(message: &str) -> Result<Vec<Finding>> {
    let (first, rest) = split_message(message);
    let mut found = subject(first, Subject::Patch);
    found.extend(placeholders(message));
    if message.lines().nth(1).is_some_and(|l| !l.trim().is_empty()) {
        let text = "the second line is not blank: all of the first paragraph is the subject";
        found.push(Finding::new("subject-wrapped", line(2), text));
    }
    let trailers = trailer::of(message)?;
    let paragraph = if trailers.is_empty() { rest.len() } else { last_paragraph(rest) };
    let (text, tail) = rest.split_at_checked(paragraph).unwrap_or((rest, ""));
    if text.trim().is_empty() {
        let why = "the message has no body: say what is wrong today, and why this mends it";
        found.push(Finding::new("no-body", None, why));
    }
    found.extend(body(text, 3, &tail.lines().collect::<Vec<_>>()));
    Ok(found)
}

/// Where the last paragraph of `text` begins.
fn last_paragraph(text: &str) -> usize {
    let end = text.trim_end().len();
    text.get(..end).and_then(|t| t.rfind("\n\n")).map_or(0, |at| at + 2)
}

fn line(number: usize) -> Option<String> {
    Some(format!("message:{number}"))
}

#[derive(Clone, Copy, PartialEq)]
enum Subject {
    Patch,
    Cover,
}

static SUBSYSTEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\w./,+ *&{}()-]+(:[\w./,+ *&{}()-]+)*: \S").ok());

fn subject(text: &str, of: Subject) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |rule, text: String| found.push(Finding::new(rule, line(1), text));
    let length = text.chars().count();
    if text.trim().is_empty() {
        add("no-subject", "there is no subject".into());
        return found;
    }
    if length > WIDTH {
        add("subject-length", format!("{length} characters, at most {WIDTH}"));
    }
    if text.ends_with('.') {
        add("subject-period", "it ends with a period".into());
    }
    if text.starts_with('[') {
        let why = "it begins with a bracket, which `git am` cuts off as part of [PATCH]";
        add("subject-brackets", why.into());
    }
    if text != text.trim() || text.contains("  ") {
        add("subject-blanks", "blanks at an end, or two in a row".into());
    }
    let named = SUBSYSTEM.as_ref().is_some_and(|r| r.is_match(text));
    if of == Subject::Patch && !named && !text.starts_with("Revert \"") {
        add("subject-prefix", "no \"subsystem: \" before the summary".into());
    }
    found
}

/// Judges the lines of a body whose first line is line `first` of the message;
/// `tail` are the trailer lines behind it.
fn body(text: &str, first: usize, tail: &[&str]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (i, l) in text.lines().enumerate() {
        let place = || line(first + i);
        let width = l.chars().count();
        if width > WIDTH && !may_be_long(l) {
            let why = format!("{width} columns, wrap at {WIDTH}");
            found.push(Finding::new("body-line-length", place(), why));
        }
        if l.ends_with([' ', '\t']) {
            found.push(Finding::new("trailing-blank", place(), "white space at the line's end"));
        }
        if let Some(end) = ends_message(l) {
            let why = format!("`git am` ends the message at this line ({end}): indent it");
            found.push(Finding::new("message-cut", place(), why));
        }
        if says_this_patch(l) {
            let why = "\"this patch\": the imperative is asked for (\"make xyzzy do frotz\")";
            found.push(Finding::note("imperative", place(), why));
        }
    }
    for (i, l) in text.lines().chain(tail.iter().copied()).enumerate() {
        if let Some(c) = l.chars().find(|&c| is_invisible(c)) {
            let why = format!("an invisible character, U+{:04X}", u32::from(c));
            found.push(Finding::new("invisible-character", line(first + i), why));
        }
    }
    found
}

/// What may be longer than the rest: quotes, code and logs (indented), URLs,
/// tables, and what has no blank to break at.
fn may_be_long(l: &str) -> bool {
    l.starts_with(['>', '\t', '|'])
        || l.starts_with("    ")
        || l.starts_with("+-")
        || l.contains("://")
        || !l.trim().contains(char::is_whitespace)
        || l.matches('|').count() >= 2
        || l.starts_with("Fixes: ")
}

/// The lines at which `git am` ends a commit message.
fn ends_message(l: &str) -> Option<&'static str> {
    if l.starts_with("diff -") || l.starts_with("Index: ") {
        return Some("it begins a diff");
    }
    let rest = l.strip_prefix("---")?;
    if rest.trim().is_empty() {
        return Some("the separator");
    }
    let file = rest.strip_prefix(' ')?;
    (!file.starts_with(char::is_whitespace)).then_some("it names the old file of a diff")
}

fn says_this_patch(l: &str) -> bool {
    let l = l.to_ascii_lowercase();
    ["this patch ", "this commit "].iter().any(|p| l.starts_with(p) || l.contains(&format!(" {p}")))
}

/// Control characters, and those that hide or reorder what a reviewer sees.
fn is_invisible(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(u32::from(c), 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2069 | 0xfeff)
}

fn series(s: &Submission) -> Vec<Finding> {
    let mut found = Vec::new();
    let netdev = matches!(s.list.as_deref(), Some("net" | "net-next"));
    if netdev && s.patches.len() > NETDEV_MOST {
        let why = format!(
            "{} patches; netdev takes at most {NETDEV_MOST} \
             (Documentation/process/maintainer-netdev.rst)",
            s.patches.len()
        );
        found.push(Finding::new("series-length", None, why));
    }
    let networking = |path: &str| path.starts_with("net/") || path.starts_with("drivers/net/");
    let touches = s.patches.iter().flat_map(|p| &p.changes).any(|c| networking(&c.path));
    if s.list.is_none() && touches {
        let why = "it changes networking and its prefix names no tree, as in [PATCH net-next] \
                   (Documentation/process/maintainer-netdev.rst)";
        let finding = Finding::new("tree-in-prefix", None, why);
        found.push(Finding { note: s.prefix.contains("RFC"), ..finding });
    }
    if let Some(version) = s.unexplained
        && !tells_of(version, s)
    {
        let why = format!(
            "nothing tells what changed since v{} \
             (Documentation/process/submitting-patches.rst, \"Respond to review comments\")",
            version.saturating_sub(1)
        );
        found.push(Finding::new("changelog", None, why));
    }
    if s.patches.len() > 1 && s.cover.is_none() {
        let why = "a series of more than one patch has a cover letter";
        found.push(Finding::new("no-cover", None, why));
    }
    found
}

/// Whether the cover letter's own words name this version or the one before.
fn tells_of(version: u32, s: &Submission) -> bool {
    let Some(cover) = &s.cover else { return false };
    let words = cover.body.split(|c: char| !c.is_ascii_alphanumeric());
    let named = |word: &str| word.strip_prefix(['v', 'V']).and_then(|n| n.parse::<u32>().ok());
    words.filter_map(named).any(|n| n == version || n.checked_add(1) == Some(version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::Status;
    use crate::gates::testing::Repo;
    use crate::mail::Cover;

    fn rules(message: &str) -> Vec<String> {
        let r = Repo::new();
        let rows = check(&r.message(message)).unwrap();
        let row = rows.into_iter().find(|r| r.subject == "p").unwrap();
        row.findings.into_iter().map(|f| f.rule).collect()
    }

    #[test]
    fn a_table_of_messages() {
        let long = "word ".repeat(16);
        let long = long.trim_end();
        let sob = "Signed-off-by: A <a@b>\n";
        let with = |subject: &str, body: &str| format!("{subject}\n\n{body}\n\n{sob}");
        for (message, want) in [
            (with("net: add x", "Body."), &[][..]),
            (with("drivers: net: i40e: add x", "Body."), &[]),
            (with("bpf, cpumap: add x", "Body."), &[]),
            (with("x86/mm: add x", "Body."), &[]),
            (with("Revert \"net: add x\"", "Body."), &[]),
            (with(&format!("net: {}", "x".repeat(71)), "Body."), &["subject-length"]),
            (with(&format!("net: {}", "ö".repeat(70)), "Body."), &[]),
            (with("net: add x.", "Body."), &["subject-period"]),
            (with("add x", "Body."), &["subject-prefix"]),
            (with("[net] x: y", "Body."), &["subject-brackets", "subject-prefix"]),
            (with("net: add  x", "Body."), &["subject-blanks"]),
            (format!("net: add x\nand y\n\nBody.\n\n{sob}"), &["subject-wrapped"]),
            (format!("net: add x\n\n{sob}"), &["no-body"]),
            ("net: add x\n".to_owned(), &["no-body"]),
            (with("net: add x", long), &["body-line-length"]),
            (with("net: add x", &format!("> {long}\n    {long}\n\t{long}")), &[]),
            (with("net: add x", &format!("{long} https://example.org/x")), &[]),
            (with("net: add x", &"x".repeat(80)), &[]),
            (with("net: add x", &format!("a | b | {long}")), &[]),
            (with("net: add x", "Body. "), &["trailing-blank"]),
            (with("net: add x", "a\n---\nb"), &["message-cut"]),
            (with("net: add x", "a\n--- \nb"), &["trailing-blank", "message-cut"]),
            (with("net: add x", "a\n--- a/x.c\nb"), &["message-cut"]),
            (with("net: add x", "a\ndiff --git a/x b/x"), &["message-cut"]),
            (with("net: add x", "a\n  --- a/x.c\n----\n---x"), &[]),
            (with("net: add x", "This patch adds x."), &["imperative"]),
            (with("net: add x", "a\u{202e}b"), &["invisible-character"]),
            (with("net: add x", "a\u{7}b"), &["invisible-character"]),
            (
                "net: add x\n\nBody.\n\nSigned-off-by: A\u{200b} <a@b>\n".to_owned(),
                &["invisible-character"],
            ),
        ] {
            assert_eq!(rules(&message), want, "{message}");
        }
    }

    #[test]
    fn the_series_as_a_whole() {
        let r = Repo::new();
        let message = "net: x\n\nBody.\n\nSigned-off-by: A <a@b>\n";
        let mut s = r.submission(
            &[("net/a.c", "1\n")],
            &[("p", message, &[("net/a.c", "2\n")]), ("q", message, &[("net/a.c", "3\n")])],
        );
        let row = |s: &Submission| check(s).unwrap().pop().unwrap();
        assert_eq!(row(&s).findings[0].rule, "no-cover");
        s.cover = Some(Cover { subject: "net: x".into(), body: "Why.\n".into() });
        assert_eq!(row(&s).status, Status::Passed);
        assert_eq!(check(&s).unwrap()[0].status, Status::Passed);
        s.unexplained = Some(3);
        assert_eq!(row(&s).findings[0].rule, "changelog");
        for (body, want) in [
            ("Changes in v3: y", Status::Passed),
            ("Since V2, x", Status::Passed),
            ("v1 was wrong, v33", Status::Failed),
        ] {
            s.cover = Some(Cover { subject: "net: x".into(), body: body.into() });
            assert_eq!(row(&s).status, want, "{body}");
        }
        s.unexplained = None;
        s.cover = Some(Cover {
            subject: "*** SUBJECT HERE ***".into(),
            body: "\n*** BLURB HERE ***\n".into(),
        });
        let rows = check(&s).unwrap();
        let rules = rows[0].findings.iter().filter(|f| f.rule == "placeholder");
        assert_eq!(rules.count(), 2, "{rows:?}");
        s.cover = Some(Cover { subject: "x".repeat(76), body: " \n".into() });
        assert_eq!(check(&s).unwrap()[0].findings.len(), 3);
        s.list = None;
        assert_eq!(row(&s).status, Status::Failed);
        s.prefix = "RFC PATCH".into();
        assert_eq!(row(&s).status, Status::Passed);
        s.list = Some("net-next".into());
        s.patches = std::iter::repeat_n(s.patches[0].clone(), 16).collect();
        assert_eq!(row(&s).findings[0].rule, "series-length");
    }
}
