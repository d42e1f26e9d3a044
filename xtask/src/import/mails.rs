//! Mails as a source: an mbox, a maildir, or a folder of patch files.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, IoContext as _, Result};
use crate::mail::apply::patches;
use crate::mail::{Date, Person, mime};

use super::cover;
use super::incoming::{Content, Incoming, IncomingPatch};
use super::letter::Letter;
use super::mbox;
use super::thread::{self, Thread};

/// More than this is no thread of patches.
const LARGEST: u64 = 1 << 30;

/// The series in the mails of a file.
///
/// # Errors
/// When it cannot be read, or holds no series.
pub fn from_file(path: &Path, wanted: Option<u32>) -> Result<Incoming> {
    let bytes = read(path)?;
    let mails = mbox::split(&bytes);
    let name = short(path);
    let several = mails.len() > 1;
    let letters = mails.iter().enumerate().map(|(i, mail)| {
        let place = if several { format!("{name}, mail {}", i + 1) } else { name.clone() };
        Letter::read(mail, place)
    });
    incoming(letters.collect::<Result<_>>()?, wanted)
}

/// The series in a maildir, or in a folder of patch files.
///
/// # Errors
/// As [`from_file`].
pub fn from_folder(path: &Path, wanted: Option<u32>) -> Result<Incoming> {
    let maildir = is_maildir(path);
    let mut files: Vec<PathBuf> = Vec::new();
    let folders =
        if maildir { vec![path.join("cur"), path.join("new")] } else { vec![path.to_owned()] };
    for folder in folders.iter().filter(|f| f.is_dir()) {
        for entry in fs::read_dir(folder).at("read", folder)? {
            let file = entry.at("read", folder)?.path();
            let name = short(&file);
            let ends =
                [".patch", ".eml", ".mbox", ".mbx", ".txt"].iter().any(|e| name.ends_with(e));
            if file.is_file() && !name.starts_with('.') && (maildir || ends) {
                files.push(file);
            }
        }
    }
    files.sort();
    let mut letters = Vec::new();
    for file in &files {
        let bytes = read(file)?;
        for mail in mbox::split(&bytes) {
            letters.push(Letter::read(&mail, short(file))?);
        }
    }
    if maildir {
        // Its names are those of deliveries.
        let date = |l: &Letter| Some(Date::parse(l.received.date.as_deref()?).ok()?.seconds());
        letters.sort_by_key(date);
    }
    incoming(letters, wanted)
}

/// Whether a folder is one of the kind that mail programs keep.
#[must_use]
pub fn is_maildir(path: &Path) -> bool {
    path.join("cur").is_dir() || path.join("new").is_dir()
}

fn short(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A file's bytes; archives serve them compressed.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    let refused = || Error::usage(format!("cannot import {}", path.display()));
    let meta = path.metadata().at("read", path)?;
    if !meta.is_file() {
        return Err(refused().found("it is no regular file").hint("copy its content into a file"));
    }
    let file = fs::File::open(path).at("open", path)?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).at("read", path)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let mut reader = flate2::read::MultiGzDecoder::new(bytes.as_slice()).take(LARGEST);
        reader.read_to_end(&mut plain).map_err(|e| {
            refused()
                .found(format!("it is compressed, and damaged: {e}"))
                .hint("take it from the archive once more")
        })?;
        bytes = plain;
    }
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) >= LARGEST {
        return Err(refused()
            .found("it is larger than 1 GiB")
            .hint("give the mails of one thread"));
    }
    Ok(bytes)
}

/// The series that the letters make.
///
/// # Errors
/// When they make none, or a patch of it did not come through its mail.
pub fn incoming(letters: Vec<Letter>, wanted: Option<u32>) -> Result<Incoming> {
    let Thread { version, cover, patches, warnings } = thread::pick(letters, wanted)?;
    let mut out = Incoming { version, warnings, ..Incoming::default() };
    let Some(first) = cover.as_ref().or(patches.first()) else {
        return Err(Error::usage("no patch in what was given"));
    };
    (out.to, out.cc) = (first.people("to"), first.people("cc"));
    (out.prefix, out.list) = (first.subject.prefix(), first.subject.list());
    if let Some(letter) = &cover {
        let parsed = cover::parse(&letter.text());
        out.cover = Some((letter.subject.text.clone(), parsed.text.clone()));
        out.sender.clone_from(&letter.received.author);
        out.date = letter.received.date.as_deref().and_then(|d| Date::parse(d).ok());
        out.take(parsed);
    }
    let alone = cover.is_none();
    for letter in &patches {
        let mut patch = patch(letter, &mut out.warnings)?;
        // The tracking lines stand below the first patch where there is no cover.
        let tail = String::from_utf8_lossy(&letter.received.patch);
        let tracked = cover::parse(tail.rsplit_once("\n-- \n").map_or(&tail, |(t, _)| t));
        let notes = cover::parse(&patch.notes);
        patch.notes.clone_from(&notes.text);
        if alone {
            out.take(cover::Cover { changelog: Vec::new(), ..tracked });
            out.take(notes);
        }
        out.patches.push(patch);
    }
    Ok(out)
}

impl Incoming {
    /// Takes what a cover (or notes) says of the series, where nothing said it yet.
    pub(super) fn take(&mut self, cover: cover::Cover) {
        self.base_commit = self.base_commit.or(cover.base_commit);
        self.change_id = self.change_id.take().or(cover.change_id);
        if self.prerequisites.is_empty() {
            self.prerequisites = cover.prerequisites;
        }
        if self.changelog.is_empty() {
            self.changelog = cover.changelog;
        }
    }
}

fn patch(letter: &Letter, warnings: &mut Vec<String>) -> Result<IncomingPatch> {
    letter.check_structure()?;
    let refused = |e: Error| e.context(format!("cannot import {}", letter.label()));
    let broken = "a mail program may have changed it: take it from the list's archive";
    let files = patches(&letter.received.patch).map_err(|e| refused(e.hint(broken)))?;
    if files.is_empty() {
        return Err(refused(Error::usage("no diff in it")));
    }
    let author = letter.received.author.clone().ok_or_else(|| {
        refused(Error::usage("no author in it").found("its From header has no address"))
    })?;
    let date = letter.received.date.as_deref().and_then(|text| match Date::parse(text) {
        Ok(date) => Some(date),
        Err(_) => {
            warnings.push(format!("{}: its date cannot be read: {text}", letter.label()));
            None
        }
    });
    let message = mime::guessed_lines(&letter.received.message());
    if letter.received.subject.is_empty() {
        return Err(refused(Error::usage("no subject in it")));
    }
    Ok(IncomingPatch {
        label: letter.label(),
        author: named(author),
        date,
        message,
        notes: letter.notes(),
        content: Content::Files(files),
    })
}

/// A series has people with names; git takes the address for one too.
pub(super) fn named(person: Person) -> Person {
    if person.name.is_empty() { Person::new(&person.email, &person.email) } else { person }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_mails_make_it_fall(lines in proptest::collection::vec(prop_oneof![
            "From [a-z]{1,5} Mon Sep 17 00:00:00 20(01|1)", "From: A B <a@x>", "From: [<>@a\"(]{0,5}",
            "Subject: (Re: )?\\[PATCH( v[0-9]{1,3})? [0-3]/[0-3]\\] x", "Subject: \\PC{0,8}", "Date: [0-9A-Z ,:+]{0,20}",
            "To: [a@x,<>\"]{0,9}", "Message-ID: <[ab]@x>", "Content-Transfer-Encoding: (base64|quoted-printable)",
            "Content-Type: (text/plain|text/html|multipart/mixed; boundary=b)(; format=flowed)?", "--b(--)?", "",
            "---", "-- ", "diff --git a/f b/f", "--- a/f", "\\+\\+\\+ b/f", "@@ -1 \\+1 @@", "-a", "\\+b", "base-commit: [0-9a-f]{40}",
        ], 0..60), crlf in any::<bool>()) {
            let text = lines.join(if crlf { "\r\n" } else { "\n" });
            let letters: Vec<Letter> = mbox::split(text.as_bytes())
                .iter()
                .filter_map(|m| Letter::read(m, "m".into()).ok())
                .collect();
            if let Ok(found) = incoming(letters, None) {
                prop_assert!(!found.patches.is_empty());
                prop_assert!(found.patches.iter().all(|p| !p.subject().is_empty()));
            }
        }
    }
}
