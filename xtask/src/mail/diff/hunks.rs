//! The hunks between two texts: their lines from libgit2's xdiff, their headers
//! from here.

use git2::{Blob, DiffOptions, Patch};

use crate::error::Result;
use crate::mail::diff::funcname::{self, Language};

/// What a side of a diff holds.
#[derive(Debug)]
pub enum Content<'r> {
    /// A blob of the repository.
    Blob(Blob<'r>),
    /// A text that stands for something else: a submodule's commit.
    Text(Vec<u8>),
}

impl Content<'_> {
    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Content::Blob(blob) => blob.content(),
            Content::Text(text) => text,
        }
    }
}

/// Appends the hunks from `old` to `new` with three lines of context; gives the
/// lines added and deleted.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn write(
    out: &mut Vec<u8>,
    old: &Content<'_>,
    new: &Content<'_>,
    language: Option<&Language>,
) -> Result<(usize, usize)> {
    let (a, b) = (old.bytes(), new.bytes());
    if a.is_empty() || b.is_empty() {
        return Ok(whole(out, a, b));
    }
    let mut options = DiffOptions::new();
    // Whether they are text has been decided.
    options.force_text(true).indent_heuristic(true).context_lines(3).interhunk_lines(0);
    let patch = match (old, new) {
        (Content::Blob(a), Content::Blob(b)) => {
            Patch::from_blobs(a, None, b, None, Some(&mut options))?
        }
        _ => Patch::from_buffers(a, None, b, None, Some(&mut options))?,
    };
    let mut lines = LineStarts::new(a);
    let mut name = None;
    let mut searched = 0;
    let (mut added, mut deleted) = (0, 0);
    for i in 0..patch.num_hunks() {
        let (hunk, count) = patch.hunk(i)?;
        let (from, to) = (hunk.old_start() as usize, hunk.new_start() as usize);
        let above = lines.start_of(from.saturating_sub(1));
        // Lines above the last hunk have been searched for it already.
        if let Some(found) = funcname::above(a.get(searched..above).unwrap_or_default(), language) {
            name = Some(found);
        }
        searched = above.max(searched);
        header(out, (from, hunk.old_lines() as usize), (to, hunk.new_lines() as usize), name);
        for j in 0..count {
            let line = patch.line_in_hunk(i, j)?;
            match line.origin() {
                '+' => added += 1,
                '-' => deleted += 1,
                ' ' => {}
                // The marks for a missing line end: put below from the content.
                _ => continue,
            }
            push_line(out, u8::try_from(line.origin()).unwrap_or(b' '), line.content());
        }
    }
    Ok((added, deleted))
}

/// All lines of one side, where the other has none.
fn whole(out: &mut Vec<u8>, old: &[u8], new: &[u8]) -> (usize, usize) {
    let (text, origin) = if old.is_empty() { (new, b'+') } else { (old, b'-') };
    if text.is_empty() {
        return (0, 0);
    }
    let lines = count_lines(text);
    let (from, to) = if old.is_empty() { ((0, 0), (1, lines)) } else { ((1, lines), (0, 0)) };
    header(out, from, to, None);
    out.reserve(text.len() + lines + 32);
    for line in text.split_inclusive(|&c| c == b'\n') {
        push_line(out, origin, line);
    }
    (to.1, from.1)
}

/// Lines of a text; the last may lack its end.
#[must_use]
pub fn count_lines(text: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', text).count();
    ends + usize::from(text.last().is_some_and(|&c| c != b'\n'))
}

fn header(out: &mut Vec<u8>, old: (usize, usize), new: (usize, usize), name: Option<&[u8]>) {
    let range = |(start, count): (usize, usize)| match count {
        1 => start.to_string(),
        _ => format!("{start},{count}"),
    };
    out.extend_from_slice(format!("@@ -{} +{} @@", range(old), range(new)).as_bytes());
    if let Some(name) = name {
        out.push(b' ');
        out.extend_from_slice(name);
    }
    out.push(b'\n');
}

fn push_line(out: &mut Vec<u8>, origin: u8, line: &[u8]) {
    out.push(origin);
    out.extend_from_slice(line);
    if line.last() != Some(&b'\n') {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Finds where lines begin, going forward only.
struct LineStarts<'t> {
    text: &'t [u8],
    line: usize,
    at: usize,
}

impl<'t> LineStarts<'t> {
    fn new(text: &'t [u8]) -> Self {
        LineStarts { text, line: 0, at: 0 }
    }

    /// The byte at which line `line` (from 0) begins; `line` never falls.
    fn start_of(&mut self, line: usize) -> usize {
        let missing = line.saturating_sub(self.line);
        if let Some(nth) = missing.checked_sub(1) {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let end = memchr::memchr_iter(b'\n', rest).nth(nth);
            self.at = end.map_or(self.text.len(), |at| self.at + at + 1);
            self.line = line;
        }
        self.at
    }
}
