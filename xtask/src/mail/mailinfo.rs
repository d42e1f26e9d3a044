//! Reads a mail as `git am` does: author, date, subject, message and patch.
//!
//! Own code, since the round trip must see what git sees: where the message
//! ends, which lines of a body count as headers, what of a subject is dropped.
//! A general mail parser answers none of that. It shares nothing with the
//! writer but the tables of transfer encodings.

use crate::error::{Error, Result};
use crate::mail::address::from_header;
use crate::mail::commit::{first_line, trim_end};
use crate::mail::encoded_word;
use crate::mail::mime;
use crate::mail::person::Person;
use crate::mail::wrap::is_space;

/// How mails are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Keep the carriage return of a line end (`git am --keep-cr`).
    pub keep_cr: bool,
    /// Keep brackets before a subject that do not hold `PATCH`
    /// (`git am --keep-non-patch`).
    pub keep_non_patch: bool,
}

/// What was found in a mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The author.
    pub author: Option<Person>,
    /// The Date header, or the one in the body.
    pub date: Option<String>,
    /// The subject without its brackets.
    pub subject: String,
    /// The Subject header as it came, decoded.
    pub raw_subject: String,
    /// The Message-ID without angle brackets.
    pub message_id: Option<String>,
    /// All headers in their order, decoded; names as written.
    pub headers: Vec<(String, String)>,
    /// The text below the headers up to where the patch begins.
    pub body: Vec<u8>,
    /// From the line that ended the message on.
    pub patch: Vec<u8>,
}

impl Received {
    /// The message that `git am` commits.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        let mut text = self.subject.clone().into_bytes();
        text.extend_from_slice(b"\n\n");
        text.extend_from_slice(&self.body);
        stripspace(&text)
    }
}

/// Why a line ends the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A line of three dashes.
    Separator,
    /// A diff begins.
    Diff,
}

/// Whether `line` (without its end) ends the message.
#[must_use]
pub fn ends_message(line: &[u8]) -> Option<End> {
    if line.starts_with(b"diff -") || line.starts_with(b"Index: ") {
        return Some(End::Diff);
    }
    let dashes = line.strip_prefix(b"---")?;
    if let [b' ', c, ..] = dashes
        && !is_space(*c)
    {
        return Some(End::Diff);
    }
    trim_end(dashes).is_empty().then_some(End::Separator)
}

/// The headers that count when a body begins with them.
const IN_BODY: [&str; 3] = ["From", "Subject", "Date"];

/// Whether `line`, at the beginning of a body, is taken for a header.
#[must_use]
pub fn is_in_body_header(line: &[u8]) -> bool {
    is_separator_line(line)
        || line.strip_prefix(b"[PATCH]").is_some_and(|r| r.first().is_some_and(|&c| is_space(c)))
        || IN_BODY.iter().any(|name| value_of(line, name).is_some())
}

/// A quoted first line of a mail, which git drops at the beginning of a body.
fn is_separator_line(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b">From ") else { return false };
    let Some((id, rest)) = rest.split_at_checked(40) else { return false };
    id.iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
        && rest == b" Mon Sep 17 00:00:00 2001"
}

/// What follows `name: ` on a header line, the name in any case.
fn value_of<'l>(line: &'l [u8], name: &str) -> Option<&'l [u8]> {
    let (head, rest) = line.split_at_checked(name.len())?;
    if !head.eq_ignore_ascii_case(name.as_bytes()) {
        return None;
    }
    match rest {
        [b':', c, value @ ..] if is_space(*c) => Some(value),
        [b':'] => Some(&[]),
        _ => None,
    }
}

/// Reads one mail.
///
/// # Errors
/// When it has no header, or a charset that is not known.
pub fn parse(mail: &[u8], options: Options) -> Result<Received> {
    let plain;
    let mail = if options.keep_cr || memchr::memchr(b'\r', mail).is_none() {
        mail
    } else {
        plain = without_cr(mail);
        &plain
    };
    let (headers, body) = mime::split(mail);
    if headers.is_empty() {
        return Err(Error::usage("cannot read a mail")
            .found("it does not begin with headers")
            .hint("give a file as git format-patch or a mail program saves it"));
    }
    let mut mail = Received::default();
    let (mut from, mut subject) = (None, None);
    for (name, raw) in &headers {
        let value = encoded_word::decode(raw);
        match name.to_ascii_lowercase().as_str() {
            "from" => from = Some(value.clone()),
            "subject" => subject = Some(value.clone()),
            "date" => mail.date = Some(value.clone()),
            "message-id" => {
                let id = value.trim().trim_start_matches('<').trim_end_matches('>');
                mail.message_id = Some(id.to_owned());
            }
            _ => {}
        }
        mail.headers.push((name.clone(), value));
    }
    let text = mime::text(&headers, body)?;
    let rest = in_body_headers(&text, &mut from, &mut subject, &mut mail.date);
    let mut at = 0;
    for line in rest.split_inclusive(|&c| c == b'\n') {
        if ends_message(line.strip_suffix(b"\n").unwrap_or(line)).is_some() {
            break;
        }
        at += line.len();
    }
    let (body, patch) = rest.split_at(at.min(rest.len()));
    mail.body = body.to_vec();
    mail.patch = patch.to_vec();
    mail.author = from.as_deref().and_then(from_header);
    mail.raw_subject = subject.unwrap_or_default();
    mail.subject = clean_subject(&mail.raw_subject, options.keep_non_patch);
    Ok(mail)
}

/// Drops the carriage return of every line end, as git does when it splits mails.
fn without_cr(mail: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(mail.len());
    for line in mail.split_inclusive(|&c| c == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(text) => {
                out.extend_from_slice(text);
                out.push(b'\n');
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// Takes the headers at the beginning of a body; gives what is left.
fn in_body_headers<'t>(
    text: &'t [u8],
    from: &mut Option<String>,
    subject: &mut Option<String>,
    date: &mut Option<String>,
) -> &'t [u8] {
    let mut rest = text;
    // Blank lines before the first header do not count.
    loop {
        let (line, after) = first_line(rest);
        if line.is_empty() && !rest.is_empty() {
            rest = after;
        } else {
            break;
        }
    }
    let mut seen = [false; IN_BODY.len()];
    let mut any = false;
    while !rest.is_empty() {
        let (line, mut after) = first_line(rest);
        if line.is_empty() {
            return if any { after } else { rest };
        }
        if is_separator_line(line) {
            rest = after;
            continue;
        }
        if let Some(title) = line.strip_prefix(b"[PATCH]")
            && title.first().is_some_and(|&c| is_space(c))
        {
            *subject = Some(String::from_utf8_lossy(line).into_owned());
            any = true;
            rest = after;
            continue;
        }
        let found = IN_BODY.iter().zip(&mut seen).enumerate().find_map(|(i, (name, seen))| {
            let value = value_of(line, name).filter(|_| !*seen)?;
            *seen = true;
            Some((i, value.to_vec()))
        });
        let Some((which, mut value)) = found else { return rest };
        while matches!(after.first(), Some(b' ' | b'\t')) {
            let (more, next) = first_line(after);
            value.push(b' ');
            value.extend_from_slice(more.get(1..).unwrap_or_default());
            after = next;
        }
        let value = Some(encoded_word::decode(&value));
        match which {
            0 => *from = value,
            1 => *subject = value,
            _ => *date = value,
        }
        any = true;
        rest = after;
    }
    rest
}

/// A subject without the brackets, `Re:` and blanks before it, and with single
/// blanks inside.
fn clean_subject(subject: &str, keep_non_patch: bool) -> String {
    let mut kept = String::new();
    let mut rest = subject;
    loop {
        let head = rest.as_bytes();
        match head.first() {
            Some(b' ' | b'\t' | b':') => rest = rest.get(1..).unwrap_or_default(),
            Some(b'r' | b'R') if matches!(head, [_, b'e' | b'E', b':', _, ..]) => {
                rest = rest.get(3..).unwrap_or_default();
            }
            Some(b'[') => {
                let Some(end) = rest.find(']') else { break };
                let (brackets, after) = rest.split_at(end + 1);
                if keep_non_patch && !brackets.contains("PATCH") {
                    kept.push_str(brackets);
                    if after.starts_with([' ', '\t', '\n']) {
                        kept.push(' ');
                    }
                }
                rest = after;
            }
            _ => break,
        }
    }
    kept.push_str(rest);
    kept.split([' ', '\t', '\n', '\r']).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Without white space at line ends, blank lines around the text, and more than
/// one blank line in a row.
#[must_use]
pub fn stripspace(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 1);
    let mut blank = false;
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = first_line(rest);
        rest = after;
        let line = trim_end(line);
        if line.is_empty() {
            blank = !out.is_empty();
            continue;
        }
        if blank {
            out.push(b'\n');
            blank = false;
        }
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects() {
        for (subject, keep, want) in [
            ("[PATCH bpf-next v2 1/3] net: x", false, "net: x"),
            ("Re: [PATCH] [foo] bar", false, "bar"),
            ("[PATCH] [foo] bar", true, "[foo] bar"),
            ("[PATCH 1/2] a  b\n c", false, "a b c"),
            ("[unclosed", false, "[unclosed"),
            ("", false, ""),
        ] {
            assert_eq!(clean_subject(subject, keep), want, "{subject}");
        }
    }

    fn read(mail: &str) -> Received {
        parse(mail.as_bytes(), Options::default()).unwrap()
    }

    #[test]
    fn in_body_headers_win() {
        let m = read(
            "From: A <a@x>\nSubject: [PATCH] s\nDate: d\n\n\nFrom: B <b@x>\nDate: e\n\nFrom: C\nx\n---\ny\n",
        );
        assert_eq!(m.author, Some(Person::new("B", "b@x")));
        assert_eq!(m.date.as_deref(), Some("e"));
        assert_eq!(
            (m.body.as_slice(), m.patch.as_slice()),
            (&b"From: C\nx\n"[..], &b"---\ny\n"[..])
        );
        assert_eq!(m.message(), b"s\n\nFrom: C\nx\n");
    }

    #[test]
    fn a_diff_ends_the_message() {
        let m = read("From: Aaa <a@x>\nSubject: s\n\nx\ndiff --git a/x b/x\n");
        assert_eq!(m.patch, b"diff --git a/x b/x\n");
        assert_eq!(m.author, Some(Person::new("Aaa", "a@x")));
    }

    #[test]
    fn stripspace_as_git() {
        assert_eq!(stripspace(b"\n\na \n\n\n\nb\n\n"), b"a\n\nb\n");
    }
}
