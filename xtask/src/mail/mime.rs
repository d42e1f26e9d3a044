//! The parts of a mail: headers, and the text of its body whatever it was
//! wrapped in.

use encoding_rs::Encoding;

use crate::error::{Error, Result};
use crate::mail::commit::{first_line, trim_end};
use crate::mail::transfer::{from_base64, from_quoted_printable};

/// A header's name as written, and its unfolded value.
pub type Header = (String, Vec<u8>);

/// Headers with their folds undone, and the body below them. An mbox line
/// (`From …`) before them is passed over.
#[must_use]
pub fn split(mail: &[u8]) -> (Vec<Header>, &[u8]) {
    let mut headers: Vec<Header> = Vec::new();
    let mut rest = mail;
    if rest.starts_with(b"From ") || rest.starts_with(b">From ") {
        rest = first_line(rest).1;
    }
    while !rest.is_empty() {
        let (line, after) = first_line(rest);
        let line = trim_end(line);
        if line.is_empty() {
            return (headers, after);
        }
        if let (Some((_, value)), [b' ' | b'\t', more @ ..]) = (headers.last_mut(), line) {
            value.push(b' ');
            value.extend_from_slice(more);
        } else if let Some((name, value)) = header(line) {
            headers.push((name, value.to_vec()));
        } else {
            // No header: the body begins without a blank line.
            return (headers, rest);
        }
        rest = after;
    }
    (headers, rest)
}

fn header(line: &[u8]) -> Option<(String, &[u8])> {
    let (name, value) = line.split_at(memchr::memchr(b':', line)?);
    if name.is_empty() || !name.iter().all(|c| (33..=126).contains(c)) {
        return None;
    }
    let value = value.get(1..)?;
    let value = value.strip_prefix(b" ").unwrap_or(value);
    Some((String::from_utf8_lossy(name).into_owned(), value))
}

/// Mails in mails are read to this depth.
const DEEPEST: usize = 8;

/// The text of a body: transfer encoding undone, of a multipart mail the text
/// parts one behind the other; the commit message part brought into UTF-8.
///
/// # Errors
/// When the charset of a text is not known.
pub fn text(headers: &[Header], body: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    collect(headers, body, 0, &mut out)?;
    Ok(out)
}

fn collect(headers: &[Header], body: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<()> {
    let value = |name: &str| {
        let found = headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map_or(String::new(), |(_, v)| String::from_utf8_lossy(v).into_owned())
    };
    let kind = value("Content-Type");
    if let Some(boundary) = parameter(&kind, "boundary").filter(|_| depth < DEEPEST) {
        // A patch has lines of dashes too: what stands between such boundaries nobody can tell.
        if boundary.bytes().all(|c| c == b'-') {
            return Err(Error::usage("cannot read a mail")
                .found(format!(
                    "the boundary of its parts is \"{boundary}\", as lines of a patch begin"
                ))
                .hint("save its parts as text"));
        }
        for part in parts(body, boundary.as_bytes()) {
            let (headers, body) = split_part(part);
            collect(&headers, body, depth + 1, out)?;
        }
        return Ok(());
    }
    let lower = kind.to_ascii_lowercase();
    // Attachments of another kind hold no patch.
    if depth > 0 && !lower.is_empty() && !lower.starts_with("text/") {
        return Ok(());
    }
    let encoding = value("Content-Transfer-Encoding").to_ascii_lowercase();
    let bytes = if encoding.contains("base64") {
        from_base64(body)
    } else if encoding.contains("quoted-printable") {
        from_quoted_printable(body, false)
    } else {
        body.to_vec()
    };
    match parameter(&kind, "charset") {
        Some(charset) if !is_utf8(&charset) && !bytes.is_ascii() => {
            // The patch keeps its bytes, as git keeps them.
            let cut = message_length(&bytes);
            let (message, patch) = bytes.split_at(cut);
            let message = to_utf8(message, &charset).ok_or_else(|| {
                Error::usage("cannot read a mail")
                    .found(format!("its charset is \"{}\"", charset.escape_debug()))
                    .hint("save it in UTF-8")
            })?;
            out.extend_from_slice(message.as_bytes());
            out.extend_from_slice(patch);
        }
        _ => out.extend_from_slice(&bytes),
    }
    Ok(())
}

/// Where the message of a body ends and the patch begins.
fn message_length(text: &[u8]) -> usize {
    let mut at = 0;
    for line in text.split_inclusive(|&c| c == b'\n') {
        if crate::mail::mailinfo::ends_message(trim_end(line)).is_some() {
            return at;
        }
        at += line.len();
    }
    at
}

/// A part may have no headers at all; then it begins with a blank line.
fn split_part(part: &[u8]) -> (Vec<Header>, &[u8]) {
    match part.strip_prefix(b"\n") {
        Some(body) => (Vec::new(), body),
        None => split(part),
    }
}

/// What stands between the boundary lines.
fn parts<'b>(body: &'b [u8], boundary: &[u8]) -> Vec<&'b [u8]> {
    let mut out = Vec::new();
    let mut begin = None;
    let mut at = 0;
    for line in body.split_inclusive(|&c| c == b'\n') {
        let end = at;
        at += line.len();
        let Some(rest) = line.strip_prefix(b"--").and_then(|l| l.strip_prefix(boundary)) else {
            continue;
        };
        if let Some(begin) = begin {
            out.extend(body.get(begin..end));
        }
        begin = (!rest.starts_with(b"--")).then_some(at);
    }
    if let Some(begin) = begin {
        out.extend(body.get(begin..));
    }
    out
}

/// A parameter of a structured header: `charset="UTF-8"`.
fn parameter(value: &str, name: &str) -> Option<String> {
    let lower = value.to_ascii_lowercase();
    let mut from = 0;
    loop {
        let at = from + lower.get(from..)?.find(name)?;
        from = at + name.len();
        let before = lower.get(..at)?.chars().next_back();
        let Some(rest) = value.get(from..)?.strip_prefix('=') else { continue };
        if !before.is_none_or(|c| c == ';' || c.is_ascii_whitespace()) {
            continue;
        }
        return Some(match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?.to_owned(),
            None => rest.split([';', ' ', '\t']).next()?.to_owned(),
        });
    }
}

fn is_utf8(charset: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii", ""].iter().any(|c| charset.eq_ignore_ascii_case(c))
}

/// A text whose charset nobody names: UTF-8 where it is that, else Latin-1, as
/// git takes it.
#[must_use]
pub fn guessed(text: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => text.into(),
        Err(_) => text.iter().copied().map(char::from).collect::<String>().into(),
    }
}

/// As [`guessed`], line by line.
#[must_use]
pub fn guessed_lines(text: &[u8]) -> String {
    text.split_inclusive(|&c| c == b'\n').map(guessed).collect()
}

/// A text of another charset in UTF-8; `None` when the charset is not known.
#[must_use]
pub fn to_utf8(text: &[u8], charset: &str) -> Option<String> {
    if is_utf8(charset) {
        return Some(String::from_utf8_lossy(text).into_owned());
    }
    let encoding = Encoding::for_label(charset.trim().as_bytes())?;
    Some(encoding.decode_without_bom_handling(text).0.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(mail: &str) -> Vec<u8> {
        let (headers, body) = split(mail.as_bytes());
        text(&headers, body).unwrap()
    }

    #[test]
    fn folds_are_undone() {
        let (headers, body) = split(b"From x\nA: b\n c\n\td\nE:f\n\nbody\n");
        assert_eq!(headers, [("A".into(), b"b c d".to_vec()), ("E".into(), b"f".to_vec())]);
        assert_eq!(body, b"body\n");
    }

    #[test]
    fn encodings_and_parts() {
        for (mail, want) in [
            ("Content-Transfer-Encoding: base64\n\nYQo=\n", "a\n"),
            ("Content-Transfer-Encoding: quoted-printable\n\na=\nb=0D\n", "ab\r\n"),
            (
                "Content-Type: multipart/mixed; boundary=\"x y\"\n\npre\n--x y\n\none\n\
                 --x y\nContent-Type: text/plain\n\ntwo\n--x y\nContent-Type: image/png\n\n3\n--x y--\npost\n",
                "one\ntwo\n",
            ),
            ("Content-Type: text/plain; format=flowed; charset=utf-8\n\nö\n", "ö\n"),
        ] {
            assert_eq!(body(mail), want.as_bytes(), "{mail}");
        }
        let latin = b"Content-Type: text/plain; charset=iso-8859-1\n\n\xf6\n---\n\xf6\n";
        let (headers, body) = split(latin);
        assert_eq!(text(&headers, body).unwrap(), b"\xc3\xb6\n---\n\xf6\n");
        let (headers, body) = split(b"Content-Type: text/plain; charset=klingon\n\n\xf6\n");
        assert!(text(&headers, body).is_err());
        for dashes in ["", "-", "----"] {
            let mail = format!("Content-Type: multipart/mixed; boundary=\"{dashes}\"\n\n--- a/f\n");
            let (headers, body) = split(mail.as_bytes());
            assert!(text(&headers, body).is_err(), "{dashes}");
        }
    }

    #[test]
    fn a_text_without_charset_is_utf8_or_latin1() {
        assert_eq!(guessed("Grüße".as_bytes()), "Grüße");
        assert_eq!(guessed(b"Gr\xfc\xdfe"), "Grüße");
        assert_eq!(guessed_lines(b"J\xf6rg\nGr\xc3\xbc\xc3\x9fe"), "Jörg\nGrüße");
    }
}
