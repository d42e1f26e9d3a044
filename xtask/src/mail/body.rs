//! The text of a commit message in a mail: as git prints it, and safe from what
//! `git am` would take for something else.

use std::fmt::Write as _;

use crate::error::{Error, Result};
use crate::mail::commit::{CommitText, first_line, trim_end};
use crate::mail::{fixes, mailinfo, prove};

/// What to do with a message that a receiver would cut or change (a `---` line,
/// the beginning of a diff, text that is not UTF-8) or that maintainers send
/// back (a `Fixes:` line in another form).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    /// Refuse the commit, name the line and the mend.
    #[default]
    Refuse,
    /// Keep what follows a `---` line as notes below the mail's own separator,
    /// and indent a diff by one blank; refuse the rest.
    Mend,
    /// Write it as it is, as git does; the receiver loses what follows.
    Keep,
}

/// A message's text, split where it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// Stands above the separator and becomes the commit message.
    pub text: Vec<u8>,
    /// Stands below the separator.
    pub notes: Vec<u8>,
}

/// Prepares the text behind the subject of commit `id`: without blank lines
/// around it and white space at line ends.
///
/// # Errors
/// When `faults` says to refuse and a line of it would end the message, or the text
/// cannot come through a mail unchanged.
pub fn prepare(text: &[u8], id: &str, faults: Faults) -> Result<Body> {
    let text = printed(text);
    if faults == Faults::Keep {
        return Ok(Body { text, notes: Vec::new() });
    }
    let mut body = Body::default();
    let mut rest = text.as_slice();
    let mut number = 0;
    while !rest.is_empty() {
        let (line, after) = first_line(rest);
        rest = after;
        number += 1;
        let Some(why) = mailinfo::ends_message(line) else {
            body.text.extend_from_slice(line);
            body.text.push(b'\n');
            continue;
        };
        match (faults, why) {
            (Faults::Mend, mailinfo::End::Separator) => {
                body.notes = rest.to_vec();
                body.text.truncate(trim_end(&body.text).len());
                if !body.text.is_empty() {
                    body.text.push(b'\n');
                }
                break;
            }
            (Faults::Mend, mailinfo::End::Diff) => {
                body.text.push(b' ');
                body.text.extend_from_slice(line);
                body.text.push(b'\n');
            }
            _ => return Err(refused(id, number, line, why)),
        }
    }
    Ok(body)
}

fn refused(id: &str, number: usize, line: &[u8], why: mailinfo::End) -> Error {
    let mut found = format!("line {number} below its subject: ");
    let _ = write!(found, "{}", String::from_utf8_lossy(line).escape_debug());
    let (what, mend) = said_of(why);
    Error::usage(format!("the message of commit {id} cannot be mailed as it is"))
        .found(found)
        .found(what)
        .hint(mend)
}

fn said_of(why: mailinfo::End) -> (&'static str, &'static str) {
    match why {
        mailinfo::End::Separator => (
            "git am ends the message there",
            "put another line there, or keep what follows as notes",
        ),
        mailinfo::End::Diff => {
            ("git am takes it for the beginning of the patch", "indent the quoted diff")
        }
    }
}

/// The text as git prints it in a mail: no blank lines before and after it, no
/// white space at line ends, a line end at the end; empty when there is no text.
#[must_use]
pub fn printed(text: &[u8]) -> Vec<u8> {
    let mut out = lines(text);
    out.truncate(trim_end(&out).len());
    if !out.is_empty() {
        out.push(b'\n');
    }
    out
}

/// As [`printed`], but with blank lines at the end kept, as covers have them.
#[must_use]
pub fn lines(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = first_line(rest);
        rest = after;
        let line = trim_end(line);
        if line.is_empty() && out.is_empty() {
            continue;
        }
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}

/// What keeps a message from being mailed as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line in the message, from 1.
    pub line: usize,
    /// The line itself.
    pub text: String,
    /// What is wrong with it.
    pub what: String,
    /// What mends it.
    pub mend: String,
}

/// The first fault of a message: what [`prepare`] and [`check`] would refuse.
#[must_use]
pub fn fault(message: &str) -> Option<Fault> {
    let found = |(line, text): (usize, &str), what: &str, mend: &str| {
        let (what, mend) = (what.to_owned(), mend.to_owned());
        Some(Fault { line, text: text.to_owned(), what, mend })
    };
    // str::lines takes a CR at the end for a part of it.
    for (i, text) in message.split('\n').enumerate() {
        let at = (i + 1, text);
        if text.contains('\0') {
            return found(at, "it has a NUL byte", "take it out; no mail can carry it");
        }
        if i == 0 && text.chars().any(|c| c.is_control() && c != '\t') {
            let what = "a control character in the subject";
            return found(at, what, "take it out; no header can carry it");
        }
        if i > 0 && prove::looks_like_a_mail(text.as_bytes()) {
            let what = "git am takes it for the beginning of another mail";
            return found(at, what, "reword it, or indent it");
        }
        if i > 0
            && let Some(why) = mailinfo::ends_message(text.as_bytes())
        {
            let (what, mend) = said_of(why);
            return found(at, what, mend);
        }
    }
    let bad = fixes::faults(message).into_iter().next()?;
    let mend = format!("write it on one line as: {}", fixes::FORM);
    Some(Fault { line: bad.line, text: bad.text, what: bad.why.to_owned(), mend })
}

/// Checks what is no matter of single lines in the text: that a message is UTF-8
/// without control characters in its subject, and that its `Fixes:` lines have
/// the kernel's form.
///
/// # Errors
/// When it is not so.
pub fn check(commit: &CommitText) -> Result<()> {
    let refused = |found: String, mend: &str| {
        let asked = format!("the message of commit {} cannot be mailed as it is", commit.id);
        Err(Error::usage(asked).found(found).hint(mend))
    };
    let (Ok(message), Ok(name)) =
        (std::str::from_utf8(&commit.message), std::str::from_utf8(&commit.name))
    else {
        return refused(
            "it or its author's name is not valid UTF-8; git am would change it".into(),
            "commit it anew in UTF-8",
        );
    };
    let (subject, _) = commit.subject();
    if name.chars().any(char::is_control) || subject.iter().any(|&c| c < 0x20 && c != b'\t') {
        return refused(
            "a control character in its subject or author's name".into(),
            "take it out; no header can carry it",
        );
    }
    if subject.is_empty() {
        return refused("it has no subject".into(), "give it one");
    }
    match fixes::faults(message).first() {
        None => Ok(()),
        Some(bad) => {
            let text = bad.text.escape_debug();
            let form = format!("write it on one line as: {}", fixes::FORM);
            refused(format!("line {}: {text}: {}", bad.line, bad.why), &form)
        }
    }
}

/// Whether the receiver would take the first line of `text` for a header.
#[must_use]
pub fn begins_like_header(text: &[u8]) -> bool {
    mailinfo::is_in_body_header(first_line(text).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_with_their_lines() {
        for (message, line, what) in [
            ("net: x\n\nBody.\n---- x\n --- y\n\nFixes: 0123456789ab (\"net: y\")\n", 0, ""),
            ("net: x\0\n", 1, "NUL"),
            ("net: x\n\na\0\n", 3, "NUL"),
            ("net:\u{7} x\n", 1, "control"),
            ("net: x\n\na\n--- \n", 4, "ends the message"),
            ("net: x\n\n---\r\n", 3, "ends the message"),
            ("net: x\n\ndiff --git a/x b/x\n", 3, "beginning of the patch"),
            ("net: x\n\nFrom a Mon Sep 17 00:00:00 2001\n", 3, "another mail"),
            ("net: x\n\nFixes: 0123 (\"x\")\n", 3, "12 digits"),
        ] {
            let found = fault(message);
            assert_eq!(found.as_ref().map_or(0, |f| f.line), line, "{message:?}");
            assert!(found.is_none_or(|f| f.what.contains(what)), "{message:?}");
        }
    }

    #[test]
    fn lines_that_end_the_message() {
        for line in ["---", "---  ", "--- a/x", "diff --git a/x b/x", "diff -u a b", "Index: x"] {
            let text = format!("one\n\n{line}\ntwo\n");
            let e = prepare(text.as_bytes(), "c0ffee", Faults::Refuse).unwrap_err();
            assert!(e.to_string().contains("line 3"), "{e}");
            assert_eq!(
                prepare(text.as_bytes(), "", Faults::Keep).unwrap().text.len(),
                printed(text.as_bytes()).len()
            );
        }
        for line in ["----", "--", "--- ", " diff --git a/x b/x", "diff", "index: x", "---x"] {
            let text = format!("one\n{line}\n");
            let ok = prepare(text.as_bytes(), "", Faults::Refuse).is_ok();
            // White space at the end is gone before it is looked at.
            assert_eq!(ok, line != "--- ", "{line:?}");
        }
    }

    #[test]
    fn mended() {
        let b = prepare(b"one\n---\nnotes\n", "", Faults::Mend).unwrap();
        assert_eq!((b.text.as_slice(), b.notes.as_slice()), (&b"one\n"[..], &b"notes\n"[..]));
        let b = prepare(b"one\ndiff --git a/x b/x\n", "", Faults::Mend).unwrap();
        assert_eq!(b.text, b"one\n diff --git a/x b/x\n");
    }

    #[test]
    fn dots_and_tabs_survive() {
        assert_eq!(prepare(b".\n\tx\n", "", Faults::Refuse).unwrap().text, b".\n\tx\n");
    }
}
