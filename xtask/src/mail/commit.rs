//! What a commit says: author, date and message, in UTF-8, as git would print them.

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::dates::Date;
use crate::mail::wrap::is_space;

/// The text of one commit.
#[derive(Clone, Debug)]
pub struct CommitText {
    /// Its id.
    pub id: Oid,
    /// The first parent, if it has one.
    pub parent: Option<Oid>,
    /// Its tree.
    pub tree: Oid,
    /// The author's name, verbatim.
    pub name: Vec<u8>,
    /// The author's address, verbatim.
    pub email: Vec<u8>,
    /// When it was authored.
    pub date: Date,
    /// The message as it was committed.
    pub message: Vec<u8>,
    /// Whether any of its headers or its message has non-ASCII text.
    pub non_ascii: bool,
}

impl CommitText {
    /// Reads commit `id`.
    ///
    /// # Errors
    /// When there is no such commit, it is a merge, or its author line is broken.
    pub fn read(repo: &Repository, id: Oid) -> Result<CommitText> {
        let commit = repo.find_commit(id).map_err(|e| {
            Error::usage(format!("no commit {id} in {}", repo.path().display()))
                .found(e.message().to_owned())
        })?;
        if commit.parent_count() > 1 {
            return Err(Error::usage(format!("commit {id} cannot be mailed"))
                .found("it is a merge")
                .hint("name a range without merges"));
        }
        let broken = |what: &str| {
            Error::usage(format!("commit {id} cannot be mailed")).found(what.to_owned())
        };
        let header = commit.raw_header_bytes();
        let line = header
            .split(|&c| c == b'\n')
            .find_map(|l| l.strip_prefix(b"author "))
            .ok_or_else(|| broken("it has no author line"))?;
        let (name, email, when) =
            split_ident(line).ok_or_else(|| broken("its author line has no <address>"))?;
        let (seconds, offset) = split_time(when).ok_or_else(|| broken("its date is broken"))?;
        let message = commit.message_raw_bytes();
        // libgit2 hands a message out up to its first NUL, as git prints it.
        if repo.odb()?.read(id)?.data().contains(&0) {
            return Err(
                broken("its message has a NUL byte").hint("take it out; no mail can carry it")
            );
        }
        let mut text = CommitText {
            id,
            parent: commit.parent_id(0).ok(),
            tree: commit.tree_id(),
            name: name.to_vec(),
            email: email.to_vec(),
            date: Date::new(seconds, offset)?,
            message: message.to_vec(),
            non_ascii: false,
        };
        if let Ok(Some(encoding)) = commit.message_encoding() {
            text.recode(encoding)?;
        }
        text.non_ascii = !header.is_ascii() || !text.message.is_ascii();
        Ok(text)
    }

    /// Brings texts of another encoding into UTF-8.
    fn recode(&mut self, label: &str) -> Result<()> {
        if label.eq_ignore_ascii_case("utf-8") || label.eq_ignore_ascii_case("utf8") {
            return Ok(());
        }
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).ok_or_else(|| {
            Error::usage(format!("commit {} cannot be mailed", self.id))
                .found(format!("its message is in the encoding \"{}\"", label.escape_debug()))
                .hint("commit it anew in UTF-8")
        })?;
        for text in [&mut self.name, &mut self.email, &mut self.message] {
            if let Some(utf8) = encoding.decode_without_bom_handling_and_without_replacement(text) {
                *text = utf8.into_owned().into_bytes();
            }
        }
        Ok(())
    }

    /// The first paragraph on one line, and what comes after it.
    #[must_use]
    pub fn subject(&self) -> (Vec<u8>, &[u8]) {
        subject_of(&self.message)
    }
}

/// The first paragraph of `message` on one line, and the rest behind it.
#[must_use]
pub fn subject_of(message: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut subject = Vec::new();
    let mut rest = skip_blank_lines(message);
    while !rest.is_empty() {
        let (line, after) = first_line(rest);
        rest = after;
        let line = trim_end(line);
        if line.is_empty() {
            break;
        }
        if !subject.is_empty() {
            subject.push(b' ');
        }
        subject.extend_from_slice(line);
    }
    (subject, rest)
}

/// `text` from its first line that has more than white space.
#[must_use]
pub fn skip_blank_lines(mut text: &[u8]) -> &[u8] {
    while !text.is_empty() {
        let (line, after) = first_line(text);
        if !trim_end(line).is_empty() {
            break;
        }
        text = after;
    }
    text
}

/// The first line without its end, and what comes after it.
#[must_use]
pub fn first_line(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', text) {
        Some(at) => {
            let (line, rest) = text.split_at(at);
            (line, rest.get(1..).unwrap_or_default())
        }
        None => (text, &[]),
    }
}

/// Without the white space at the end, as git sees it.
#[must_use]
pub fn trim_end(mut line: &[u8]) -> &[u8] {
    while let Some((&last, rest)) = line.split_last() {
        if !is_space(last) {
            break;
        }
        line = rest;
    }
    line
}

/// Name, address and the rest of an ident line; the rightmost brackets count.
fn split_ident(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let open = memchr::memchr(b'<', line)?;
    let close = memchr::memrchr(b'>', line)?;
    let email_end = open + 1 + memchr::memchr(b'>', line.get(open + 1..)?)?;
    let mut name = trim_end(line.get(..open)?);
    while let Some((&first, rest)) = name.split_first() {
        if !is_space(first) {
            break;
        }
        name = rest;
    }
    Some((name, line.get(open + 1..email_end)?, line.get(close + 1..)?))
}

fn split_time(text: &[u8]) -> Option<(i64, i32)> {
    let mut words = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
    let seconds = words.next()?.parse().ok()?;
    let zone: i32 = words.next().and_then(|z| z.parse().ok()).unwrap_or(0);
    Some((seconds, zone / 100 * 60 + zone % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_is_the_first_paragraph() {
        for (message, subject, rest) in [
            ("one\n", "one", ""),
            ("\n \none  \ntwo\n\nbody\n", "one two", "body\n"),
            ("one", "one", ""),
            ("", "", ""),
            ("one\n\t\nbody", "one", "body"),
        ] {
            let (s, r) = subject_of(message.as_bytes());
            assert_eq!((s.as_slice(), r), (subject.as_bytes(), rest.as_bytes()), "{message:?}");
        }
    }

    #[test]
    fn ident_lines() {
        let (name, email, when) = split_ident("A. U. Thor <a@b> 12 -0130".as_bytes()).unwrap();
        assert_eq!((name, email), (&b"A. U. Thor"[..], &b"a@b"[..]));
        assert_eq!(split_time(when), Some((12, -90)));
        assert!(split_ident(b"nobody 12 +0000").is_none());
    }
}
