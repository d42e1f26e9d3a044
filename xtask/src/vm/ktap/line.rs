//! One line of output: what it is, and how deep it stands.

use super::{Directive, Word};

/// A line taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Columns of white space, and of `# ` before an inner document's lines.
    pub indent: usize,
    /// What it is.
    pub kind: Kind,
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `KTAP version 1`, `TAP version 13`.
    Version(u64),
    /// `1..N`, with the reason of a `# SKIP`.
    Plan { last: u64, skip: Option<String> },
    /// `ok …`, `not ok …`.
    Result(Outcome),
    /// `Bail out! why`.
    Bail(String),
    /// `# Subtest: name`.
    Subtest(String),
    /// `# …` without the `#`.
    Diagnostic(String),
    /// Anything else.
    Other(String),
}

/// A result line taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub ok: bool,
    pub number: Option<u64>,
    pub name: String,
    pub directive: Option<Directive>,
    /// Another message stands inside the line.
    pub damaged: bool,
}

/// Takes a line apart; `raw` is without its line end.
pub(super) fn read(raw: &[u8]) -> Line {
    let text = plain(raw);
    let text = strip_printk(&text);
    let (indent, text) = strip_indent(text);
    let (more, kind) = classify(text, 0);
    Line { indent: indent + more, kind }
}

/// Text without terminal sequences, carriage returns and other control characters.
pub(crate) fn plain(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.peek() {
                // CSI: parameters, then a final byte in @…~.
                Some('[') => {
                    chars.next();
                    for c in chars.by_ref() {
                        if ('@'..='~').contains(&c) {
                            break;
                        }
                    }
                }
                // OSC: up to BEL or ST.
                Some(']') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' {
                            break;
                        }
                        if c == '\u{1b}' {
                            chars.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                Some(_) => {
                    chars.next();
                }
                None => {}
            },
            '\t' => out.push('\t'),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Takes printk's `<level>[ time][caller] ` off the front.
pub(crate) fn strip_printk(text: &str) -> &str {
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('<')
        && let Some((level, after)) = after.split_once('>')
        && !level.is_empty()
        && level.bytes().all(|b| b.is_ascii_digit())
    {
        rest = after;
    }
    match stamp(rest) {
        Some(len) => rest.get(len..).unwrap_or(""),
        None => text,
    }
}

/// The length of a printk stamp `[   12.345678][  T123] ` that `text` begins with.
fn stamp(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let end = inner.find(']')?;
    let (seconds, fraction) = inner.get(..end)?.trim_start().split_once('.')?;
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() < 3 {
        return None;
    }
    let mut len = end + 2;
    let after = text.get(len..)?;
    if let Some(caller) = after.strip_prefix('[')
        && let Some(end) = caller.find(']')
        && let Some(id) = caller.get(..end)
        && id.trim_start().strip_prefix(['T', 'C']).is_some_and(digits)
    {
        len += end + 2;
    }
    if text.get(len..)?.starts_with(' ') {
        len += 1;
    }
    Some(len)
}

fn strip_indent(text: &str) -> (usize, &str) {
    let rest = text.trim_start_matches([' ', '\t']);
    let white = text.get(..text.len() - rest.len()).unwrap_or("");
    let columns = white.bytes().map(|b| if b == b'\t' { 8 } else { 1 }).sum();
    (columns, rest)
}

/// How many `# ` an inner document may stand behind.
const MAX_COMMENTED: usize = 8;

fn classify(text: &str, commented: usize) -> (usize, Kind) {
    let plain = |kind| (0, kind);
    if let Some(version) =
        text.strip_prefix("KTAP version ").or_else(|| text.strip_prefix("TAP version "))
        && let Ok(version) = version.trim_end().parse()
    {
        return plain(Kind::Version(version));
    }
    if let Some(plan) = plan(text) {
        return plain(plan);
    }
    if let Some(outcome) = outcome(text) {
        return plain(Kind::Result(outcome));
    }
    if text.get(..9).is_some_and(|s| s.eq_ignore_ascii_case("Bail out!")) {
        return plain(Kind::Bail(text.get(9..).unwrap_or("").trim().to_owned()));
    }
    let Some(comment) = text.strip_prefix('#') else {
        return plain(Kind::Other(text.trim_end().to_owned()));
    };
    if let Some(name) = comment.trim_start().strip_prefix("Subtest:") {
        return plain(Kind::Subtest(name.trim().to_owned()));
    }
    if commented < MAX_COMMENTED
        && let Some(inner) = comment.strip_prefix(' ')
    {
        let (indent, inner) = strip_indent(inner);
        let (more, kind) = classify(inner, commented + 1);
        // Free text in a comment may begin with "ok"; only a numbered line is a result.
        let result = match &kind {
            Kind::Version(_) | Kind::Plan { .. } | Kind::Bail(_) => true,
            Kind::Result(outcome) => outcome.number.is_some(),
            _ => false,
        };
        if result {
            return (2 + indent + more, kind);
        }
    }
    let body = comment.strip_prefix(' ').unwrap_or(comment);
    plain(Kind::Diagnostic(body.trim_end().to_owned()))
}

fn plan(text: &str) -> Option<Kind> {
    let (range, comment) = match text.split_once('#') {
        Some((range, comment)) => (range, Some(comment.trim())),
        None => (text, None),
    };
    let last = range.trim_end().strip_prefix("1..")?;
    if last.is_empty() || !last.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let last = last.parse().unwrap_or(u64::MAX);
    let skip = comment
        .filter(|c| c.get(..4).is_some_and(|w| w.eq_ignore_ascii_case("skip")))
        .map(|c| c.get(4..).unwrap_or("").trim().to_owned());
    Some(Kind::Plan { last, skip })
}

fn outcome(text: &str) -> Option<Outcome> {
    let (ok, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let (rest, damaged) = match foreign(rest) {
        Some(at) => (rest.get(..at).unwrap_or(""), true),
        None => (rest, false),
    };
    let rest = rest.trim();
    let word = rest.split([' ', '\t']).next().unwrap_or("");
    let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let (number, rest) = match word.parse::<u64>() {
        Ok(number) if digits => (Some(number), rest.get(word.len()..).unwrap_or("").trim_start()),
        _ => (None, rest),
    };
    let rest = match rest.strip_prefix('-') {
        Some(after) if after.is_empty() || after.starts_with(' ') => after.trim_start(),
        _ => rest,
    };
    let (name, directive) = split_directive(rest);
    Some(Outcome { ok, number, name: name.to_owned(), directive, damaged })
}

/// Where another message begins inside a result line: a printk stamp.
fn foreign(text: &str) -> Option<usize> {
    text.match_indices('[').map(|(at, _)| at).find(|at| text.get(*at..).and_then(stamp).is_some())
}

fn split_directive(text: &str) -> (&str, Option<Directive>) {
    for (at, _) in text.match_indices('#') {
        let before = text.get(..at).unwrap_or("");
        if !before.is_empty() && !before.ends_with([' ', '\t']) {
            continue;
        }
        let after = text.get(at + 1..).unwrap_or("").trim_start();
        let len = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (head, tail) = after.split_at_checked(len).unwrap_or((after, ""));
        let word = match head.to_ascii_uppercase().as_str() {
            "SKIP" => Word::Skip,
            "TODO" => Word::Todo,
            "XFAIL" => Word::Xfail,
            "XPASS" => Word::Xpass,
            "TIMEOUT" => Word::Timeout,
            "ERROR" => Word::Error,
            _ => continue,
        };
        // A whole word: "SKIP", "SKIP:", "SKIP reason", but not "skip_list".
        if !(tail.is_empty() || tail.starts_with([' ', '\t', ':'])) {
            continue;
        }
        let reason = tail.trim_start_matches([' ', '\t', ':', '-']).trim_end().to_owned();
        return (before.trim_end(), Some(Directive { word, reason }));
    }
    (text, None)
}
