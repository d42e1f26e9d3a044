//! `series/NAME/places.toml`: the places that edits change, as somebody has read them.
//!
//! A locator says where a place begins and ends, not what is in it: what a newer base has put
//! into a replaced range goes with it, or is carried elsewhere by a capture, and a new `if` in
//! front of a place governs what takes its place. The locator still matches. So each place is
//! recorded as it was read, with what stands around it, and one that is not as any of those is
//! told. Digests stand for text, since no line of a kernel is to stand in a series.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use cscan::lex::{Language, Lexer, Token, TokenKind};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::error::{Error, IoContext as _, Result};
use crate::host::{atomic, regular};

use super::excerpt::Document;
use super::key_path::KeyPath;

/// The file's name in the series' folder.
pub const FILE: &str = "places.toml";

/// Bytes of SHA-256 that stand for a text: among a hundred known ones, a new one is taken for
/// one of them less than once in 10^12.
const BYTES: usize = 6;

/// Digests in a line of the file.
const ACROSS: usize = 6;

/// The largest record that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// A place that an edit changes or captures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The edit, in the series' TOML.
    pub edit: KeyPath,
    /// What it does there: `replace`.
    pub deed: String,
    /// The file.
    pub file: String,
    /// Its first line, from 1.
    pub number: usize,
    /// What it stands in, the outermost first: conditions of the preprocessor, blocks, and what
    /// is right before it where that is no end of a statement.
    pub around: Vec<String>,
    /// The bytes that are taken from there; empty where text is only inserted.
    pub text: Vec<u8>,
}

fn digest(parts: &[&[u8]]) -> String {
    let mut sha = Sha256::new();
    for part in parts {
        sha.update(part.len().to_le_bytes());
        sha.update(part);
    }
    sha.finalize().iter().take(BYTES).map(|b| format!("{b:02x}")).collect()
}

/// Without any blanks and line breaks.
fn dense(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect()
}

impl Place {
    fn key(&self) -> Key {
        // What is taken and what text is put beside are not the same.
        let mut stands = vec![self.deed.as_bytes().to_vec(), self.file.as_bytes().to_vec()];
        stands.extend(self.around.iter().map(|a| dense(a.as_bytes())));
        let parts: Vec<&[u8]> = stands.iter().map(Vec::as_slice).collect();
        Key { around: digest(&parts), text: self.text_digest() }
    }

    /// Of the text, however C is broken into lines and set apart by blanks.
    fn text_digest(&self) -> String {
        if Language::of(&self.file) != Language::C {
            // Blanks at a line's beginning mean something in a Makefile; those at its end do not,
            // and neither do blank lines.
            let lines = self.text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end);
            let binary = self.text.contains(&0);
            let lines: Vec<&[u8]> = lines.filter(|l| !l.is_empty()).collect();
            return if binary { digest(&[&self.text]) } else { digest(&lines) };
        }
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let mut before: Option<Token> = None;
        for token in Lexer::new(&self.text, 0..self.text.len(), Language::C) {
            let bytes = token.of(&self.text);
            let glued = before.is_some_and(|b| b.end == token.start);
            let same = before.is_some_and(|b| b.of(&self.text) == bytes);
            let mut part = match token.kind {
                TokenKind::Comment => dense(bytes),
                _ => bytes.to_vec(),
            };
            // `#define A (1)` is not `#define A(1)`, and `- -a` not `--a`.
            if token.directive && !glued && bytes == b"("
                || !glued && same && token.kind == TokenKind::Punct
            {
                part.insert(0, b' ');
            }
            parts.push(part);
            before = Some(token);
        }
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        digest(&parts)
    }

    /// Lines that are not blank: number, text without the blanks around it, digest.
    fn lines(&self) -> Vec<(usize, &[u8], String)> {
        let lines = (self.number..).zip(self.text.split(|&b| b == b'\n'));
        let lines = lines.map(|(number, line)| (number, line.trim_ascii()));
        lines.filter(|(_, l)| !l.is_empty()).map(|(n, l)| (n, l, digest(&[&dense(l)]))).collect()
    }
}

/// What tells a place from others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    around: String,
    text: String,
}

/// Places that one edit takes and that are alike.
struct Alike<'p> {
    place: &'p Place,
    key: Key,
    times: usize,
}

fn alike(places: &[Place]) -> Vec<Alike<'_>> {
    let mut all: Vec<Alike<'_>> = Vec::new();
    for place in places {
        let key = place.key();
        let is_same = |a: &&mut Alike<'_>| (&a.place.edit, &a.key) == (&place.edit, &key);
        match all.iter_mut().find(is_same) {
            Some(one) => one.times += 1,
            None => all.push(Alike { place, key, times: 1 }),
        }
    }
    all
}

const fn one() -> usize {
    1
}

/// A place as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    /// The kernel that it was first read on.
    linux: String,
    /// Digest of what is done there, of the file, and of what it stands in there.
    around: String,
    /// Digest of its text.
    text: String,
    /// How many such places one edit takes.
    #[serde(default = "one")]
    times: usize,
    /// Digests of its lines, in order.
    #[serde(default)]
    lines: Vec<String>,
}

impl Seen {
    fn is(&self, found: &Alike<'_>) -> bool {
        self.is_like(found) && self.times == found.times
    }

    fn is_like(&self, found: &Alike<'_>) -> bool {
        self.around == found.key.around && self.text == found.key.text
    }
}

/// A place that nobody has read as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// The edit: `series/a/series.toml:12`.
    pub edit: String,
    /// What it does there.
    pub deed: String,
    /// `net/core/dev.c:12`.
    pub place: String,
    /// Lines that are new there, with their numbers.
    pub new: Vec<(usize, String)>,
    /// How many lines are there no more.
    pub gone: usize,
    /// What it stands in now, where that is what differs.
    pub around: Option<String>,
    /// How many such places there are, where that is what differs.
    pub times: Option<usize>,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted =
            |n: usize, rest: &str| format!("{n} {} {rest}", if n == 1 { "line" } else { "lines" });
        let mut what = Vec::new();
        if !self.new.is_empty() {
            what.push(counted(self.new.len(), "new or in another place"));
        }
        if self.gone > 0 {
            what.push(counted(self.gone, "there no more"));
        }
        if let Some(around) = &self.around {
            what.push(format!("it stands in {around} now"));
        }
        if let Some(times) = self.times {
            let places = if times == 1 { "place" } else { "places" };
            what.push(format!("{times} {places} like that now"));
        }
        if what.is_empty() {
            what.push("blanks that count are not the same".to_owned());
        }
        write!(f, "{} ({}): {}", self.edit, self.deed, what.join(", "))
    }
}

/// What is recorded of a series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    patches: BTreeMap<String, Vec<Seen>>,
}

impl Places {
    /// Reads the record of the series in `folder`; `None` where nothing was recorded.
    ///
    /// # Errors
    /// When it cannot be read or understood.
    pub fn load(folder: &Path) -> Result<Option<Places>> {
        let path = folder.join(FILE);
        let dangling = path.is_symlink() && !path.exists();
        if dangling || path.metadata().is_ok_and(|m| m.len() > LARGEST) {
            let found =
                if dangling { "it is a link to what is not there" } else { "it is too large" };
            return Err(Error::usage(format!("read {}", path.display()))
                .found(found)
                .hint("remove it; `cargo xtask check --record` writes it anew, on each base"));
        }
        let text = regular::text_if_there(&path).map_err(|e| {
            e.hint("remove it; `cargo xtask check --record` writes it anew, on each base")
        })?;
        let Some(text) = text else { return Ok(None) };
        Places::parse(&text).map(Some).map_err(|e| e.context(format!("read {}", path.display())))
    }

    /// Reads the text of a record.
    ///
    /// # Errors
    /// When it is not one.
    pub fn parse(text: &str) -> Result<Places> {
        let bad = |found: String| {
            Error::usage(format!("{FILE} is not understood")).found(found).hint(
                "take it from version control, or remove it: `cargo xtask check --record` writes it \
                 anew, on each base",
            )
        };
        let patches: BTreeMap<String, Vec<Seen>> =
            toml::from_str(text).map_err(|e| bad(e.to_string()))?;
        for (patch, all) in &patches {
            for digest in all.iter().flat_map(|s| s.lines.iter().chain([&s.around, &s.text])) {
                let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                if digest.len() != 2 * BYTES || !digest.bytes().all(hex) {
                    return Err(bad(format!(
                        "\"{}\" of {} is not {} hexadecimal digits",
                        digest.escape_debug(),
                        patch.escape_debug(),
                        2 * BYTES
                    )));
                }
            }
        }
        Ok(Places { patches })
    }

    /// Those of the places of `patch` that are not as somebody has read them, each against the
    /// most similar one that is; `source` is what their edits stand in.
    #[must_use]
    pub fn unread(&self, patch: &str, places: &[Place], source: &Document) -> Vec<Unread> {
        let seen = self.patches.get(patch).map_or(&[][..], Vec::as_slice);
        let mut unread = Vec::new();
        for found in alike(places) {
            if !seen.iter().any(|s| s.is(&found)) {
                unread.push(explain(&found, seen, source));
            }
        }
        unread
    }

    /// Takes in the places of `patch` on one more base, of Linux `linux`; gives the number of
    /// those that were not recorded before.
    pub fn record(&mut self, patch: &str, places: &[Place], linux: &str) -> usize {
        let seen = self.patches.entry(patch.to_owned()).or_default();
        let before = seen.len();
        for found in alike(places) {
            if !seen.iter().any(|s| s.is(&found)) {
                let lines = found.place.lines().into_iter().map(|(_, _, digest)| digest).collect();
                let (linux, times) = (linux.to_owned(), found.times);
                let Key { around, text } = found.key;
                seen.push(Seen { linux, around, text, times, lines });
            }
        }
        seen.len() - before
    }

    /// Whether it knows of a patch.
    #[must_use]
    pub fn has(&self, patch: &str) -> bool {
        self.patches.contains_key(patch)
    }

    /// The patches that it knows of.
    pub fn patches(&self) -> impl Iterator<Item = &str> {
        self.patches.keys().map(String::as_str)
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::from(
            "# The places that the patches change, as somebody has read them, with the kernel that each was first read on:\n\
             # the beginning of the SHA-256 of what each stands in, of its text and of its lines. Written by `cargo xtask check --record`;\n\
             # \"What a place is like\" in series/README.md tells more.\n",
        );
        for (patch, all) in &self.patches {
            if all.is_empty() {
                let _ = write!(out, "\n{} = []\n", key(patch));
            }
        }
        for (patch, all) in &self.patches {
            for seen in all {
                let linux = super::toml_text::string(&seen.linux);
                let _ = write!(out, "\n[[{}]]\nlinux = {linux}\n", key(patch));
                let _ = writeln!(out, "around = \"{}\"", seen.around);
                let _ = writeln!(out, "text = \"{}\"", seen.text);
                if seen.times != 1 {
                    let _ = writeln!(out, "times = {}", seen.times);
                }
                if seen.lines.is_empty() {
                    continue;
                }
                out.push_str("lines = [");
                for (i, digest) in seen.lines.iter().enumerate() {
                    out.push_str(if i % ACROSS == 0 { "\n    " } else { " " });
                    let _ = write!(out, "\"{digest}\",");
                }
                out.push_str("\n]\n");
            }
        }
        out
    }

    /// Changes the record in `folder` by `change`; the caller sees to it that nobody else does.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn change<T>(folder: &Path, change: impl FnOnce(&mut Places) -> T) -> Result<T> {
        let mut places = Places::load(folder)?.unwrap_or_default();
        let done = change(&mut places);
        let path = folder.join(FILE);
        // Where a link leads to is written, not the link.
        let path: PathBuf =
            if path.exists() { path.canonicalize().at("find", &path)? } else { path };
        atomic::write(&path, places.text().as_bytes())?;
        Ok(done)
    }
}

/// How a place differs from what was read.
fn explain(found: &Alike<'_>, seen: &[Seen], source: &Document) -> Unread {
    let place = found.place;
    let unread = |new: Vec<(usize, String)>, gone: usize| Unread {
        edit: source.position_of(&place.edit),
        deed: place.deed.clone(),
        place: format!("{}:{}", place.file, place.number),
        new,
        gone,
        around: None,
        times: None,
    };
    if seen.iter().any(|s| s.is_like(found)) {
        return Unread { times: Some(found.times), ..unread(Vec::new(), 0) };
    }
    // Text to be put somewhere takes nothing: only where that is can be another place.
    if place.text.trim_ascii().is_empty() || seen.iter().any(|s| s.text == found.key.text) {
        let around = match place.around.join(" > ") {
            nothing if nothing.is_empty() => "no block and no conditional".to_owned(),
            around => shown(around.as_bytes()),
        };
        return Unread { around: Some(around), ..unread(Vec::new(), 0) };
    }
    let lines = place.lines();
    let digests: Vec<&str> = lines.iter().map(|(_, _, digest)| digest.as_str()).collect();
    let mut best: Option<(usize, Vec<usize>)> = None;
    // Where it stands as it did, it is the same one.
    let stands = |s: &&Seen| s.around == found.key.around;
    let near: Vec<&Seen> =
        seen.iter().filter(stands).chain(seen.iter().filter(|s| !stands(s))).collect();
    for one in near {
        let old: Vec<&str> = one.lines.iter().map(String::as_str).collect();
        let mut new = Vec::new();
        let mut same = 0;
        for op in capture_diff_slices(Algorithm::Myers, &old, &digests) {
            match op {
                DiffOp::Equal { len, .. } => same += len,
                DiffOp::Insert { new_index, new_len, .. }
                | DiffOp::Replace { new_index, new_len, .. } => {
                    new.extend(new_index..new_index + new_len);
                }
                DiffOp::Delete { .. } => {}
            }
        }
        let gone = old.len() - same;
        let nearer = best.as_ref().is_none_or(|(g, n)| new.len() + gone < n.len() + *g);
        // What has less than half of its lines in common is another place.
        if nearer && 2 * same >= digests.len().max(old.len()) {
            best = Some((gone, new));
        }
    }
    let (gone, new) = best.unwrap_or_else(|| (0, (0..lines.len()).collect()));
    let new = new
        .into_iter()
        .filter_map(|i| lines.get(i))
        .map(|(number, line, _)| (*number, shown(line)))
        .collect();
    unread(new, gone)
}

/// A line for a reader: what no terminal should be sent is escaped, and what is too long cut.
fn shown(line: &[u8]) -> String {
    const MOST: usize = 160;
    let line = String::from_utf8_lossy(line);
    let mut out = String::new();
    for c in line.chars() {
        if out.len() > MOST {
            out.push('…');
            break;
        }
        match c {
            '\t' => out.push(' '),
            c if c.is_control() || is_format(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Whether a character is not seen, or changes the order in which others are shown.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// A key as TOML has it, in one line.
fn key(name: &str) -> String {
    let bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(bare) {
        return name.to_owned();
    }
    let mut out = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests;
