//! One mail put together: headers, text, diffstat, diff and the lines below it.

use crate::mail::dates::Date;
use crate::mail::headers;
use crate::mail::input::{Mail, Transfer};
use crate::mail::person::Person;
use crate::mail::{subject, thread, transfer};

/// A mail's parts in the order in which they are written.
#[derive(Debug, Default)]
pub struct Draft<'a> {
    /// The id on the first line.
    pub commit: String,
    /// Its own message id and those above it.
    pub ids: Option<(String, Vec<String>)>,
    /// Name and address of the From header.
    pub from: (&'a [u8], &'a [u8]),
    /// Name and address of a From line that begins the body.
    pub in_body_from: Option<(&'a [u8], &'a [u8])>,
    /// The Date header.
    pub date: Option<Date>,
    /// The subject's brackets with the blank behind them.
    pub brackets: String,
    /// The subject.
    pub subject: Vec<u8>,
    /// Addressees.
    pub to: &'a [Person],
    /// Those who get a copy.
    pub cc: &'a [Person],
    /// UTF-8 has to be declared.
    pub declare: bool,
    /// All that stands below the headers and the in-body From.
    pub body: Vec<u8>,
}

impl Draft<'_> {
    /// The bytes of the mail.
    #[must_use]
    pub fn assemble(&self, how: Transfer) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.body.len() + 1024);
        out.extend_from_slice(
            format!("From {} Mon Sep 17 00:00:00 2001\n", self.commit).as_bytes(),
        );
        if let Some((id, above)) = &self.ids {
            thread::write(&mut out, id, above);
        }
        headers::from(&mut out, self.from.0, self.from.1);
        if let Some(date) = self.date {
            headers::date(&mut out, date);
        }
        headers::subject(&mut out, &self.brackets, &self.subject);
        let mut in_body = Vec::new();
        if let Some((name, email)) = self.in_body_from {
            for part in [b"From: ", name, b" <", email, b">\n\n"] {
                in_body.extend_from_slice(part);
            }
        }
        let declare = self.declare || headers::has_non_ascii(&in_body);
        let encode = how == Transfer::Mail
            && (transfer::needs_encoding(&self.body) || transfer::needs_encoding(&in_body));
        // A patch of non-ASCII lines is UTF-8 to its reader only if it says so.
        let undeclared = how == Transfer::Mail
            && headers::has_non_ascii(&self.body)
            && std::str::from_utf8(&self.body).is_ok();
        if encode {
            out.extend_from_slice(transfer::declaration("quoted-printable").as_bytes());
        } else if declare || undeclared {
            out.extend_from_slice(transfer::declaration("8bit").as_bytes());
        }
        headers::addresses(&mut out, "To", self.to);
        headers::addresses(&mut out, "Cc", self.cc);
        out.push(b'\n');
        if encode {
            in_body.extend_from_slice(&self.body);
            out.extend_from_slice(&transfer::quoted_printable(&in_body));
        } else {
            out.extend_from_slice(&in_body);
            out.extend_from_slice(&self.body);
        }
        out
    }

    /// The mail with its file name, which comes from `line`.
    #[must_use]
    pub fn into_mail(
        self,
        number: usize,
        version: Option<u32>,
        line: &[u8],
        how: Transfer,
    ) -> Mail {
        Mail {
            file_name: subject::file_name(number, version, line),
            bytes: self.assemble(how),
            number,
            warnings: Vec::new(),
        }
    }
}

/// Appends the signature that ends every mail.
pub fn signature(out: &mut Vec<u8>, signature: &str) {
    if signature.is_empty() {
        return;
    }
    out.extend_from_slice(b"-- \n");
    out.extend_from_slice(signature.as_bytes());
    if !signature.ends_with('\n') {
        out.push(b'\n');
    }
    out.push(b'\n');
}
