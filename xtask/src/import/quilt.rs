//! A quilt stack as a source: a folder with a `series` file that lists patches.

use std::path::Path;

use crate::error::{Error, Result};
use crate::host::paths::stay_below;
use crate::host::regular;
use crate::mail::apply::patches;
use crate::mail::mailinfo::{self, Options};
use crate::mail::{Date, Person, mime};
use crate::recipients::address;
use crate::render::plan::tidy;

use super::incoming::{Content, Incoming, IncomingPatch};
use super::mails::named;

/// The series of the stack in `folder`; `author` stands for one that a patch
/// does not name.
///
/// # Errors
/// When a patch is not there, cannot be read, or has no author.
pub fn read(folder: &Path, author: Option<&Person>) -> Result<Incoming> {
    let list = folder.join("series");
    let text = regular::text_if_there(&list)?.unwrap_or_default();
    let mut incoming = Incoming { version: 1, ..Incoming::default() };
    for (i, line) in text.lines().enumerate() {
        // A comment begins with a blank before it.
        let line = line.split(" #").next().unwrap_or_default();
        let mut words = line.split_whitespace().take_while(|w| !w.starts_with('#'));
        let Some(name) = words.next() else { continue };
        let place = || Error::usage(format!("{}:{}", list.display(), i + 1));
        let mut strip = 1;
        for option in words {
            strip = match option {
                "-p0" => 0,
                "-p1" | "-pab" => 1,
                _ => {
                    return Err(place()
                        .found(format!("{name} is applied with {option}"))
                        .hint("refresh it with -p1: quilt refresh -p1"));
                }
            };
        }
        let below = stay_below(name, "patch").map_err(|e| e.context(place().asked()))?;
        let path = folder.join(below);
        if !path.exists() {
            return Err(place()
                .found(format!("there is no {}", path.display()))
                .hint("put the patch there, or take its line out"));
        }
        let bytes = super::mails::read(&path)?;
        incoming.patches.push(patch(&bytes, name, strip, author)?);
    }
    if incoming.patches.is_empty() {
        return Err(Error::usage(format!("no patch in {}", list.display()))
            .hint("each line of it names a patch beside it"));
    }
    Ok(incoming)
}

/// Reads one patch of a stack; `strip` is 0 or 1.
///
/// # Errors
/// When it has no diff, a broken one, or no author.
pub fn patch(
    bytes: &[u8],
    name: &str,
    strip: u32,
    author: Option<&Person>,
) -> Result<IncomingPatch> {
    let refused = |e: Error| e.context(format!("cannot import the patch {name}"));
    let (head, diff) = split(bytes);
    let head = String::from_utf8_lossy(head).into_owned();
    let diff = if strip == 0 { with_sides(diff) } else { diff.to_vec() };
    let files = patches(&diff).map_err(refused)?;
    if files.is_empty() {
        return Err(refused(Error::usage("no diff in it")));
    }
    let stem = name.rsplit('/').next().unwrap_or(name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let header = header(&head, stem).map_err(refused)?;
    let signed = header
        .message
        .lines()
        .find_map(|l| address::parse(l.strip_prefix("Signed-off-by:")?).people.into_iter().next());
    let author = header.author.or(signed).or(author.cloned()).ok_or_else(|| {
        refused(Error::usage("it names no author").found("neither From: nor Signed-off-by:"))
            .hint("name one with --author \"Name <user@host>\"")
    })?;
    Ok(IncomingPatch {
        label: name.to_owned(),
        author: named(author),
        date: header.date,
        message: header.message,
        notes: String::new(),
        content: Content::Files(files),
    })
}

/// What stands above the diff, and the diff.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    let mut lines = bytes.split_inclusive(|&c| c == b'\n').peekable();
    while let Some(line) = lines.next() {
        let pair =
            line.starts_with(b"--- ") && lines.peek().is_some_and(|l| l.starts_with(b"+++ "));
        if pair || line.starts_with(b"diff ") || line.starts_with(b"Index: ") {
            break;
        }
        at += line.len();
    }
    bytes.split_at(at.min(bytes.len()))
}

/// Names of files with the component before them that `-p1` takes off.
fn with_sides(diff: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(diff.len() + 64);
    let mut lines = diff.split_inclusive(|&c| c == b'\n').peekable();
    let mut second = false;
    while let Some(line) = lines.next() {
        let first =
            line.starts_with(b"--- ") && lines.peek().is_some_and(|l| l.starts_with(b"+++ "));
        let side = if first { "a/" } else { "b/" };
        let name = line.get(4..).unwrap_or_default();
        if (first || second) && !name.starts_with(b"/dev/null") {
            out.extend_from_slice(line.get(..4).unwrap_or_default());
            out.extend_from_slice(side.as_bytes());
            out.extend_from_slice(name);
        } else {
            out.extend_from_slice(line);
        }
        second = first;
    }
    out
}

struct Header {
    author: Option<Person>,
    date: Option<Date>,
    message: String,
}

/// Reads what stands above a diff: a mail's headers, Debian's (DEP-3), or text.
fn header(text: &str, stem: &str) -> Result<Header> {
    let first: Vec<&str> = text.trim_start().lines().take_while(|l| !l.trim().is_empty()).collect();
    let has = |key: &str| first.iter().any(|l| l.starts_with(key));
    if first.first().is_some_and(|l| l.starts_with("From ")) || has("From:") || has("Subject:") {
        let mail = mailinfo::parse(text.trim_start().as_bytes(), Options::default())?;
        let mut message = mime::guessed_lines(&mail.message());
        if mail.subject.is_empty() {
            message = format!("{}\n\n{}", words(stem), message.trim_start());
        }
        let date = mail.date.as_deref().and_then(|d| Date::parse(d).ok());
        return Ok(Header { author: mail.author, date, message: tidy(&message) });
    }
    if has("Description:") {
        return Ok(debian(text));
    }
    // A separator ends the message, as in mails.
    let own = text.split("\n---\n").next().unwrap_or_default();
    let own = own.strip_suffix("---\n").unwrap_or(own).trim();
    let (subject, body) = own.split_once('\n').unwrap_or((own, ""));
    let subject = if subject.is_empty() { words(stem) } else { subject.trim().to_owned() };
    Ok(Header { author: None, date: None, message: tidy(&format!("{subject}\n\n{body}")) })
}

/// A patch without a message is called by its file.
fn words(stem: &str) -> String {
    stem.replace(['-', '_'], " ")
}

/// Debian's fields: `Description: subject` with the text indented below it.
fn debian(text: &str) -> Header {
    let (mut subject, mut body, mut rest, mut author) =
        (String::new(), String::new(), String::new(), None);
    let mut in_description = false;
    for line in text.lines() {
        let continued = line.starts_with([' ', '\t']);
        if continued && in_description {
            let line = line.trim();
            body.push_str(if line == "." { "" } else { line });
            body.push('\n');
            continue;
        }
        in_description = false;
        if let Some(value) = line.strip_prefix("Description:") {
            value.trim().clone_into(&mut subject);
            in_description = true;
        } else if let Some(value) = line.strip_prefix("Author:") {
            author = address::parse(value).people.into_iter().next();
        } else if line.trim() != "---" && !line.starts_with("Last-Update:") {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    Header { author, date: None, message: tidy(&format!("{subject}\n\n{body}\n{rest}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_every_kind() {
        for (text, author, message) in [
            (
                "From: A B <a@x>\nSubject: [PATCH] net: x\nDate: Fri, 29 Nov 2024 12:00:00 +0000\n\nWhy.\n---\n f | 2\n",
                Some("A B <a@x>"),
                "net: x\n\nWhy.\n",
            ),
            ("From: A B <a@x>\n\nWhy.\n", Some("A B <a@x>"), "my fix\n\nWhy.\n"),
            ("net: x\nWhy.\n\nMore.\n---\n", None, "net: x\n\nWhy.\n\nMore.\n"),
            ("", None, "my fix\n"),
            (
                "Description: net: x\n Why.\n .\n More.\nAuthor: A B <a@x>\nOrigin: upstream\nLast-Update: 2024-11-29\n---\n",
                Some("A B <a@x>"),
                "net: x\n\nWhy.\n\nMore.\n\nOrigin: upstream\n",
            ),
        ] {
            let header = header(text, "my-fix").unwrap();
            assert_eq!(header.message, message);
            assert_eq!(header.author.map(|a| a.verbatim()).as_deref(), author, "{text}");
        }
    }

    #[test]
    fn sides_are_put_before_names() {
        let diff = b"Index: f\n--- f\t2024\n+++ f\n@@ -1 +1 @@\n--- x\n+y\n";
        assert_eq!(
            String::from_utf8(with_sides(diff)).unwrap(),
            "Index: f\n--- a/f\t2024\n+++ b/f\n@@ -1 +1 @@\n--- x\n+y\n"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_fall(text in "(From:|Subject:|Description:|Author:|--- |\\+\\+\\+ |diff |[ \n.@<>a]){0,30}") {
            let _ = patch(text.as_bytes(), "x.patch", 0, None);
            let _ = header(&text, "x");
        }
    }
}
