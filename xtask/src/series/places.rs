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
    /// Of the whole, however it is broken into lines.
    fn digest(&self) -> String {
        let mut parts: Vec<&[u8]> = self.around.iter().map(String::as_bytes).collect();
        let text = dense(&self.text);
        parts.push(&text);
        digest(&parts)
    }

    /// Lines that are not blank: number, text without the blanks around it, digest.
    fn lines(&self) -> Vec<(usize, &[u8], String)> {
        let lines = (self.number..).zip(self.text.split(|&b| b == b'\n'));
        let lines = lines.map(|(number, line)| (number, line.trim_ascii()));
        lines.filter(|(_, l)| !l.is_empty()).map(|(n, l)| (n, l, digest(&[&dense(l)]))).collect()
    }
}

/// A place as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    /// The kernel that it was first read on.
    linux: String,
    /// Digest of the whole.
    place: String,
    /// Digests of its lines, in order.
    #[serde(default)]
    lines: Vec<String>,
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
        let Some(text) = regular::text_if_there(&path)? else { return Ok(None) };
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
            for digest in all.iter().flat_map(|s| s.lines.iter().chain([&s.place])) {
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
        for place in places {
            let digest = place.digest();
            if !seen.iter().any(|s| s.place == digest) {
                unread.push(explain(place, seen, source));
            }
        }
        unread
    }

    /// Takes in the places of `patch` on one more base, of Linux `linux`; gives the number of
    /// those that were not recorded before.
    pub fn record(&mut self, patch: &str, places: &[Place], linux: &str) -> usize {
        let seen = self.patches.entry(patch.to_owned()).or_default();
        let before = seen.len();
        for place in places {
            let digest = place.digest();
            if !seen.iter().any(|s| s.place == digest) {
                let lines = place.lines().into_iter().map(|(_, _, digest)| digest).collect();
                seen.push(Seen { linux: linux.to_owned(), place: digest, lines });
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
             # the beginning of the SHA-256 of each and of its lines. Written by `cargo xtask check --record`;\n\
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
                let _ = writeln!(out, "place = \"{}\"", seen.place);
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
fn explain(place: &Place, seen: &[Seen], source: &Document) -> Unread {
    let lines = place.lines();
    let digests: Vec<&str> = lines.iter().map(|(_, _, digest)| digest.as_str()).collect();
    let mut best: Option<(usize, usize, Vec<usize>)> = None;
    for one in seen {
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
        let differs = |new: &[usize], gone: usize| new.len() + gone;
        let nearer = best.as_ref().is_none_or(|(_, g, n)| differs(&new, gone) < differs(n, *g));
        // What has no line in common is another place.
        if nearer && (same > 0 || digests.is_empty() && old.is_empty()) {
            best = Some((same, gone, new));
        }
    }
    let (gone, new) = match best {
        Some((_, gone, new)) => (gone, new),
        None => (0, (0..lines.len()).collect()),
    };
    let new: Vec<(usize, String)> = new
        .into_iter()
        .filter_map(|i| lines.get(i))
        .map(|(number, line, _)| (*number, shown(line)))
        .collect();
    let around = (new.is_empty() && gone == 0).then(|| match place.around.join(" > ") {
        nothing if nothing.is_empty() => "no block and no conditional".to_owned(),
        around => shown(around.as_bytes()),
    });
    Unread {
        edit: source.position_of(&place.edit),
        deed: place.deed.clone(),
        place: format!("{}:{}", place.file, place.number),
        new,
        gone,
        around,
    }
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
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
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
