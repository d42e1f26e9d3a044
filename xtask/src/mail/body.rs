//! The text of a commit message in a mail: as git prints it, and safe from what
//! `git am` would take for something else.

use std::fmt::Write as _;

use crate::error::{Error, Result};
use crate::mail::commit::{first_line, trim_end};
use crate::mail::mailinfo;

/// What to do with a line of a message that `git am` would take for the end of
/// the message: a `---` line, or the beginning of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// Refuse the commit and name the line.
    #[default]
    Refuse,
    /// Keep what follows a `---` line as notes below the mail's own separator,
    /// and indent a diff by one blank.
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
/// When `cut` says to refuse and a line of it would end the message, or the text
/// cannot come through a mail unchanged.
pub fn prepare(text: &[u8], id: &str, cut: Cut) -> Result<Body> {
    let text = printed(text);
    if cut == Cut::Keep {
        return Ok(Body { text, notes: Vec::new() });
    }
    if std::str::from_utf8(&text).is_err() {
        return Err(Error::usage(format!("commit {id} cannot be mailed"))
            .found("its message is not valid UTF-8; git am would change it")
            .hint("commit it anew in UTF-8"));
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
        match (cut, why) {
            (Cut::Mend, mailinfo::End::Separator) => {
                body.notes = rest.to_vec();
                body.text.truncate(trim_end(&body.text).len());
                if !body.text.is_empty() {
                    body.text.push(b'\n');
                }
                break;
            }
            (Cut::Mend, mailinfo::End::Diff) => {
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
    let (what, mend) = match why {
        mailinfo::End::Separator => (
            "git am ends the message there",
            "put another line there, or keep what follows as notes",
        ),
        mailinfo::End::Diff => {
            ("git am takes it for the beginning of the patch", "indent the quoted diff")
        }
    };
    Error::usage(format!("the message of commit {id} cannot be mailed as it is"))
        .found(found)
        .found(what)
        .hint(mend)
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

/// Whether the receiver would take the first line of `text` for a header.
#[must_use]
pub fn begins_like_header(text: &[u8]) -> bool {
    mailinfo::is_in_body_header(first_line(text).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_end_the_message() {
        for line in ["---", "---  ", "--- a/x", "diff --git a/x b/x", "diff -u a b", "Index: x"] {
            let text = format!("one\n\n{line}\ntwo\n");
            let e = prepare(text.as_bytes(), "c0ffee", Cut::Refuse).unwrap_err();
            assert!(e.to_string().contains("line 3"), "{e}");
            assert_eq!(
                prepare(text.as_bytes(), "", Cut::Keep).unwrap().text.len(),
                printed(text.as_bytes()).len()
            );
        }
        for line in ["----", "--", "--- ", " diff --git a/x b/x", "diff", "index: x", "---x"] {
            let text = format!("one\n{line}\n");
            let ok = prepare(text.as_bytes(), "", Cut::Refuse).is_ok();
            // White space at the end is gone before it is looked at.
            assert_eq!(ok, line != "--- ", "{line:?}");
        }
    }

    #[test]
    fn mended() {
        let b = prepare(b"one\n---\nnotes\n", "", Cut::Mend).unwrap();
        assert_eq!((b.text.as_slice(), b.notes.as_slice()), (&b"one\n"[..], &b"notes\n"[..]));
        let b = prepare(b"one\ndiff --git a/x b/x\n", "", Cut::Mend).unwrap();
        assert_eq!(b.text, b"one\n diff --git a/x b/x\n");
    }

    #[test]
    fn invalid_utf8_is_refused_and_dots_and_tabs_survive() {
        assert!(prepare(b"caf\xe9\n", "", Cut::Refuse).is_err());
        assert_eq!(prepare(b".\n\tx\n", "", Cut::Refuse).unwrap().text, b".\n\tx\n");
    }
}
