//! Mail headers as `git format-patch` writes them: RFC 2047 words, RFC 822
//! quoting, folding.
//!
//! Own code, since the bytes must be git's: Q-encoding with a space as `=20`,
//! a fold before the word that would pass column 76, plain headers folded at
//! 78, the bracketed prefix left outside the encoded words. The mail crates
//! choose other (also valid) forms.

use crate::mail::dates::Date;
use crate::mail::person::Person;
use crate::mail::wrap::{First, wrapped};

/// A plain header's longest line.
const PLAIN_WIDTH: usize = 78;
/// The longest line with an encoded word in it (RFC 2047, section 2).
const ENCODED_WIDTH: usize = 76;

/// What stands in an encoded word: in a phrase (a name) fewer characters may
/// stand as they are (RFC 2047, section 5, rule 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Text,
    Phrase,
}

/// Whether `text` has to be encoded in a header.
#[must_use]
pub fn needs_encoding(text: &[u8]) -> bool {
    text.iter().any(|&c| not_plain(c) || c == b'\n') || text.windows(2).any(|w| w == b"=?")
}

/// Whether `text` has anything but plain ASCII, so that a charset must be declared.
#[must_use]
pub fn has_non_ascii(text: &[u8]) -> bool {
    text.iter().any(|&c| not_plain(c))
}

/// Escape counts as non-ASCII, for the sake of ISO-2022 texts.
fn not_plain(c: u8) -> bool {
    !c.is_ascii() || c == 0x1b
}

/// Appends `From: …` with its line end. Name bytes are those of the commit.
pub fn from(out: &mut Vec<u8>, name: &[u8], email: &[u8]) {
    out.extend_from_slice(b"From: ");
    person(out, name, email);
    out.push(b'\n');
}

/// Appends `Name <address>` behind what stands on the line already.
fn person(out: &mut Vec<u8>, name: &[u8], email: &[u8]) {
    let mut width = PLAIN_WIDTH;
    if needs_encoding(name) {
        encoded(out, name, Within::Phrase);
        width = ENCODED_WIDTH;
    } else {
        let column = First::Behind(last_line(out));
        wrapped(out, &quoted(name), column, 1, PLAIN_WIDTH);
    }
    if last_line(out) + email.len() + 3 > width {
        out.push(b'\n');
    }
    out.extend_from_slice(b" <");
    out.extend_from_slice(email);
    out.push(b'>');
}

/// Appends `Subject: prefix text` with its line end; `prefix` (with its blank)
/// is never encoded.
pub fn subject(out: &mut Vec<u8>, prefix: &str, text: &[u8]) {
    out.extend_from_slice(b"Subject: ");
    out.extend_from_slice(prefix.as_bytes());
    if needs_encoding(text) {
        encoded(out, text, Within::Text);
    } else {
        let column = First::Behind(last_line(out));
        wrapped(out, text, column, 1, PLAIN_WIDTH);
    }
    out.push(b'\n');
}

/// Appends `Date: …` with its line end.
pub fn date(out: &mut Vec<u8>, date: Date) {
    out.extend_from_slice(format!("Date: {}\n", date.rfc2822()).as_bytes());
}

/// Appends a header with one address a line, as git writes To and Cc; nothing
/// when there is none.
pub fn addresses(out: &mut Vec<u8>, header: &str, people: &[Person]) {
    for (i, p) in people.iter().enumerate() {
        if i == 0 {
            out.extend_from_slice(format!("{header}: ").as_bytes());
        } else {
            out.extend_from_slice(b",\n    ");
        }
        if p.name.is_empty() {
            out.extend_from_slice(p.email.as_bytes());
        } else {
            person(out, p.name.as_bytes(), p.email.as_bytes());
        }
    }
    if !people.is_empty() {
        out.push(b'\n');
    }
}

/// The name as a header phrase: quoted when it has a special of RFC 822.
fn quoted(name: &[u8]) -> Vec<u8> {
    if !name.iter().any(|c| b"()<>[]:;@,.\"\\".contains(c)) {
        return name.to_vec();
    }
    let mut out = vec![b'"'];
    for &c in name {
        if matches!(c, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(c);
    }
    out.push(b'"');
    out
}

/// Appends `text` as one or more encoded words, folded.
fn encoded(out: &mut Vec<u8>, text: &[u8], within: Within) {
    const BEGIN: &[u8] = b"=?UTF-8?q?";
    out.extend_from_slice(BEGIN);
    let mut column = last_line(out);
    let mut rest = text;
    while !rest.is_empty() {
        let (one, after) = rest.split_at(character(rest));
        rest = after;
        let escape = one.len() > 1 || one.iter().any(|&c| is_special(c, within));
        let width = if escape { 3 * one.len() } else { 1 };
        if column + width + 2 > ENCODED_WIDTH {
            out.extend_from_slice(b"?=\n ");
            out.extend_from_slice(BEGIN);
            column = BEGIN.len() + 1;
        }
        for &c in one {
            if escape {
                out.extend_from_slice(format!("={c:02X}").as_bytes());
            } else {
                out.push(c);
            }
        }
        column += width;
    }
    out.extend_from_slice(b"?=");
}

/// Whether `c` cannot stand as it is in an encoded word. The space is encoded
/// too, since many readers leave an underscore in its place.
fn is_special(c: u8, within: Within) -> bool {
    if c.is_ascii_alphanumeric() {
        return false;
    }
    match within {
        Within::Phrase => !b"!*+-/".contains(&c),
        Within::Text => !c.is_ascii_graphic() || b"=?_".contains(&c),
    }
}

/// Length of the first character of `text`; a byte that begins none is one of its own.
fn character(text: &[u8]) -> usize {
    let length = match text.first() {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        Some(0xc0..) => 2,
        _ => 1,
    };
    match text.get(..length).map(std::str::from_utf8) {
        Some(Ok(_)) => length,
        _ => 1,
    }
}

/// Bytes written since the last line end.
fn last_line(out: &[u8]) -> usize {
    memchr::memrchr(b'\n', out).map_or(out.len(), |at| out.len() - at - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_line(name: &str, email: &str) -> String {
        let mut out = Vec::new();
        from(&mut out, name.as_bytes(), email.as_bytes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_in_headers() {
        for (name, want) in [
            ("J Hacker", "From: J Hacker <a@b>\n"),
            ("J. Hacker", "From: \"J. Hacker\" <a@b>\n"),
            ("Joe (ARM)", "From: \"Joe (ARM)\" <a@b>\n"),
            ("Last, First", "From: \"Last, First\" <a@b>\n"),
            ("a\"b\\c", "From: \"a\\\"b\\\\c\" <a@b>\n"),
            ("Björn Töpel", "From: =?UTF-8?q?Bj=C3=B6rn=20T=C3=B6pel?= <a@b>\n"),
            ("", "From:  <a@b>\n"),
        ] {
            assert_eq!(from_line(name, "a@b"), want);
        }
    }

    #[test]
    fn a_character_is_not_split_over_two_words() {
        let mut out = Vec::new();
        subject(&mut out, "[PATCH] ", "ö".repeat(40).as_bytes());
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().all(|l| l.len() <= 76), "{text}");
        for word in text.lines().skip(1) {
            assert!(word.starts_with(" =?UTF-8?q?=C3=B6"), "{word}");
            assert!(word.ends_with("=B6?="), "{word}");
        }
    }

    #[test]
    fn long_plain_subjects_fold_at_78() {
        let mut out = Vec::new();
        subject(&mut out, "[PATCH 01/10] ", "word ".repeat(20).trim_end().as_bytes());
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().all(|l| l.len() <= 78), "{text}");
        assert!(text.starts_with("Subject: [PATCH 01/10] word"));
        assert_eq!(text.replace("\n ", " ").matches("word").count(), 20);
    }

    #[test]
    fn one_header_holds_all_addresses() {
        let mut out = Vec::new();
        let people = [Person::new("", "l@x"), Person::new("Joe (ARM)", "j@x")];
        addresses(&mut out, "Cc", &people);
        assert_eq!(out, b"Cc: l@x,\n    \"Joe (ARM)\" <j@x>\n");
    }
}
