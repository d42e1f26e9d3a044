//! One mail, with what decides whether and where it belongs in a series.
//!
//! What git would commit of it comes from [`mailinfo`]; how its parts hang
//! together (attachments, `format=flowed`, HTML) from a general mail parser.

use mail_parser::{MessageParser, MimeHeaders as _};

use crate::error::{Error, Result};
use crate::mail::Person;
use crate::mail::apply::patches;
use crate::mail::mailinfo::{self, Options, Received};
use crate::recipients::address;

use super::subject::{self, Subject};

/// A mail.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The file, and the mail's place in it.
    pub place: String,
    /// What git reads in it.
    pub received: Received,
    /// Its subject, taken apart.
    pub subject: Subject,
    /// Its bytes, as they came.
    raw: Vec<u8>,
}

impl Letter {
    /// Reads a mail.
    ///
    /// # Errors
    /// When it does not begin with headers, or its charset is not known.
    pub fn read(raw: &[u8], place: String) -> Result<Letter> {
        let received = mailinfo::parse(raw, Options::default()).map_err(|e| e.context(&place))?;
        let header = received.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case("subject"));
        let subject = subject::parse(header.map_or("", |(_, value)| value));
        Ok(Letter { place, received, subject, raw: raw.to_vec() })
    }

    /// What an error calls it.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} (\"{}\")", self.place, self.received.subject)
    }

    /// Whether it has a patch, be it a broken one.
    #[must_use]
    pub fn has_patch(&self) -> bool {
        patches(&self.received.patch).map_or(true, |files| !files.is_empty())
    }

    /// The text of a letter that is no patch.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.received.body.clone();
        text.extend_from_slice(&self.received.patch);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// People of all headers of that name.
    #[must_use]
    pub fn people(&self, header: &str) -> Vec<Person> {
        let values = self.received.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(header));
        values.flat_map(|(_, value)| address::parse(value).people).collect()
    }

    /// Checks that the patch came through the mail as it was.
    ///
    /// # Errors
    /// When a part of it is HTML or an attachment, or the text was flowed.
    pub fn check_structure(&self) -> Result<()> {
        // The line before an mbox's mail is no header.
        let raw = match self.raw.strip_prefix(b"From ") {
            Some(rest) => memchr::memchr(b'\n', rest).and_then(|at| rest.get(at + 1..)),
            None => Some(self.raw.as_slice()),
        };
        let Some(message) = MessageParser::default().parse(raw.unwrap_or_default()) else {
            return Ok(());
        };
        for part in &message.parts {
            let kind = part.content_type();
            let main = kind.map_or("text", |k| k.ctype()).to_ascii_lowercase();
            let sub = kind.and_then(|k| k.subtype()).unwrap_or("plain").to_ascii_lowercase();
            let attribute = |name: &str| kind.and_then(|k| k.attribute(name));
            if attribute("format").is_some_and(|f| f.eq_ignore_ascii_case("flowed")) {
                return Err(self
                    .unfit("its text is format=flowed: a mail program has broken its lines anew")
                    .hint("take it from the list's archive: b4 mbox MESSAGE-ID")
                    .hint("or have it sent again by git send-email"));
            }
            let name = part.attachment_name().unwrap_or_default();
            let attached = part.content_disposition().is_some_and(|d| d.is_attachment());
            match (main.as_str(), sub.as_str()) {
                ("multipart" | "message", _)
                | ("application", "pgp-signature" | "pkcs7-signature")
                | ("text", "plain")
                    if !attached || sub.ends_with("signature") => {}
                ("text", "html") => {
                    return Err(self
                        .unfit("it is HTML, or has its text as HTML too")
                        .hint("have it sent again as plain text, by git send-email"));
                }
                _ => {
                    let name = if name.is_empty() { format!("{main}/{sub}") } else { name.into() };
                    return Err(self
                        .unfit(&format!("a part of it is an attachment: {name}"))
                        .hint("save the attached patches into a folder and import that"));
                }
            }
        }
        Ok(())
    }

    fn unfit(&self, why: &str) -> Error {
        Error::usage(format!("cannot import {}", self.label())).found(why)
    }

    /// What stands between the message and the diff: without the diffstat.
    #[must_use]
    pub fn notes(&self) -> String {
        let text = String::from_utf8_lossy(&self.received.patch);
        let Some(text) = text.strip_prefix("---") else { return String::new() };
        let begins =
            |l: &str| l.starts_with("diff -") || l.starts_with("Index: ") || l.starts_with("--- ");
        text.lines().skip(1).take_while(|l| !begins(l)).map(|l| format!("{l}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";

    fn letter(headers: &str, body: &str) -> Letter {
        let mail = format!("From: A B <a@x>\nSubject: [PATCH] s\n{headers}\n{body}");
        Letter::read(mail.as_bytes(), "m".into()).unwrap()
    }

    #[test]
    fn structures() {
        let multi = |parts: &str| {
            letter(
                "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"b\"\n",
                &format!("--b\nContent-Type: text/plain\n\ntext\n---\n{DIFF}\n{parts}\n--b--\n"),
            )
        };
        for (letter, why) in [
            (letter("", &format!("text\n---\n{DIFF}")), ""),
            (letter("Content-Type: text/plain; charset=utf-8\n", DIFF), ""),
            (letter("Content-Type: text/plain; charset=utf-8; format=flowed\n", DIFF), "flowed"),
            (letter("Content-Type: text/html\n", DIFF), "HTML"),
            (multi(""), ""),
            (
                multi("--b\nContent-Type: application/pgp-signature; name=\"signature.asc\"\n\nx"),
                "",
            ),
            (multi("--b\nContent-Type: text/plain\n\n___\nlist footer"), ""),
            (multi("--b\nContent-Type: text/html\n\n<p>"), "HTML"),
            (multi("--b\nContent-Type: text/x-patch; name=\"a.patch\"\n\nx"), "a.patch"),
            (
                multi(
                    "--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=\"f.txt\"\n\nx",
                ),
                "f.txt",
            ),
            (multi("--b\nContent-Type: application/octet-stream\n\nx"), "application/octet-stream"),
        ] {
            match letter.check_structure() {
                Ok(()) => assert_eq!(why, ""),
                Err(e) => {
                    let text = e.to_string();
                    assert!(
                        !why.is_empty() && text.contains(why) && text.contains("mend:"),
                        "{text}"
                    );
                }
            }
        }
    }

    #[test]
    fn notes_stand_above_the_diff() {
        let letter = letter("", &format!("text\n---\nv2: x\n\n f | 2 +-\n{DIFF}-- \n2.1\n"));
        assert_eq!(letter.notes(), "v2: x\n\n f | 2 +-\n");
        assert!(letter.has_patch());
    }

    #[test]
    fn people_of_folded_and_encoded_headers() {
        let letter = letter(
            "To: =?UTF-8?q?Bj=C3=B6rn?= <b@x>,\n \"Last, First\" <l@x>\nCc: a@y\nCc: c@z\nTo: undisclosed-recipients:;\n",
            "x\n",
        );
        let names = |h: &str| letter.people(h).iter().map(Person::verbatim).collect::<Vec<_>>();
        assert_eq!(names("to"), ["Björn <b@x>", "Last, First <l@x>"]);
        assert_eq!(names("Cc"), ["<a@y>", "<c@z>"]);
    }
}
