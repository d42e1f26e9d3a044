//! The hunks between two texts: their lines from libgit2's xdiff, their headers
//! from here.

use std::sync::Arc;

use git2::{Blob, DiffOptions, Patch};

use crate::error::Result;
use crate::mail::diff::funcname::{self, Language};

/// What a side of a diff holds.
#[derive(Debug)]
pub enum Content<'r> {
    /// A blob of the repository.
    Blob(Blob<'r>),
    /// What a blob of the repository holds.
    Shared(Arc<Vec<u8>>),
    /// A text that stands for something else: a submodule's commit.
    Text(Vec<u8>),
}

impl Content<'_> {
    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Content::Blob(blob) => blob.content(),
            Content::Shared(bytes) => bytes,
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
    let short = (a.len() + b.len() >= LONG).then(|| linewise::shorten(a, b));
    let patch = match (&short, old, new) {
        (Some(short), _, _) => of_texts(&short.old, &short.new)?,
        (None, Content::Blob(a), Content::Blob(b)) => {
            Patch::from_blobs(a, None, b, None, Some(&mut options()))?
        }
        _ => of_texts(a, b)?,
    };
    let above = short.as_ref().map_or(0, |short| short.above);
    hunks(out, &patch, above, (a, b), language)
}

/// Writes the hunks of `patch`, in which `above` lines less are above them than in
/// the texts.
fn hunks(
    out: &mut Vec<u8>,
    patch: &Patch<'_>,
    above: usize,
    (a, b): (&[u8], &[u8]),
    language: Option<&Language>,
) -> Result<(usize, usize)> {
    let (mut olds, mut news) = (Lines::new(a), Lines::new(b));
    let mut name = None;
    let mut searched = 0;
    let (mut added, mut deleted) = (0, 0);
    for i in 0..patch.num_hunks() {
        let (hunk, count) = patch.hunk(i)?;
        let (from, to) = (hunk.old_start() as usize + above, hunk.new_start() as usize + above);
        let (old_count, new_count) = (hunk.old_lines() as usize, hunk.new_lines() as usize);
        olds.go_to(first(from, old_count));
        news.go_to(first(to, new_count));
        let begin = olds.at;
        // Lines above the last hunk have been searched for it already.
        if let Some(found) = funcname::above(a.get(searched..begin).unwrap_or_default(), language) {
            name = Some(found);
        }
        searched = begin.max(searched);
        header(out, (from, old_count), (to, new_count), name);
        for j in 0..count {
            // libgit2 says which line it is; its text may stand for a longer one.
            let origin = patch.line_in_hunk(i, j)?.origin();
            let line = match origin {
                '+' => {
                    added += 1;
                    news.next()
                }
                '-' => {
                    deleted += 1;
                    olds.next()
                }
                ' ' => {
                    news.next();
                    olds.next()
                }
                // The marks for a missing line end: put below from the content.
                _ => continue,
            };
            push_line(out, u8::try_from(origin).unwrap_or(b' '), line);
        }
    }
    Ok((added, deleted))
}

/// Texts shorter than this together are compared as they are, in bytes.
const LONG: usize = 8 << 10;

/// How git compares.
fn options() -> DiffOptions {
    let mut options = DiffOptions::new();
    // Whether they are text has been decided.
    options.force_text(true).indent_heuristic(true).context_lines(3).interhunk_lines(0);
    options
}

fn of_texts<'t>(a: &'t [u8], b: &'t [u8]) -> Result<Patch<'t>> {
    Ok(Patch::from_buffers(a, None, b, None, Some(&mut options()))?)
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

/// The line (from 0) that a range begins with; one without lines names the line
/// that it follows.
fn first(start: usize, count: usize) -> usize {
    if count == 0 { start } else { start.saturating_sub(1) }
}

/// The lines of a text, going forward only.
struct Lines<'t> {
    text: &'t [u8],
    line: usize,
    at: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t [u8]) -> Self {
        Lines { text, line: 0, at: 0 }
    }

    /// Goes to line `line` (from 0), which never falls.
    fn go_to(&mut self, line: usize) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += linewise::behind(rest, line.saturating_sub(self.line));
        self.line = line;
    }

    /// The line here, with its end; goes to the next one.
    fn next(&mut self) -> &'t [u8] {
        let line = linewise::first(self.text.get(self.at..).unwrap_or_default());
        self.at += line.len();
        self.line += 1;
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(patch: &Patch<'_>, above: usize, a: &[u8], b: &[u8]) -> String {
        let mut out = Vec::new();
        hunks(&mut out, patch, above, (a, b), None).unwrap();
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Lines that repeat, blank ones, and some of many kinds: what a diff slides on,
    /// discards, and prefers to split at.
    fn text(most: usize) -> impl Strategy<Value = Vec<String>> {
        let line = prop_oneof![
            3 => proptest::sample::select(vec![
                "", "\t", "}", "\t}", "\t\tbreak;", "\treturn 0;", "static int function(void)", "{",
                "\tif (condition_of_some_length)", "/* a comment */", "        spaces before it", "\r", "\x0b text",
            ]).prop_map(str::to_owned),
            1 => "\t{0,3}[a-d]{9,11};",
        ];
        proptest::collection::vec(line, 0..most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn short_texts_have_the_hunks_of_long_ones(
            parts in proptest::collection::vec((text(40), text(5), text(5)), 1..4),
            end in text(60), ended: (bool, bool), often in 1_usize..30,
        ) {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (same, old, new) in parts {
                for _ in 0..often {
                    a.extend(same.clone());
                    b.extend(same.clone());
                }
                a.extend(old);
                b.extend(new);
            }
            for _ in 0..often {
                a.extend(end.clone());
                b.extend(end.clone());
            }
            let join = |lines: Vec<String>, ended| lines.join("\n") + if ended { "\n" } else { "" };
            let (a, b) = (join(a, ended.0), join(b, ended.1));
            let (a, b) = (a.as_bytes(), b.as_bytes());
            let short = linewise::shorten(a, b);
            let long = of_texts(a, b).unwrap();
            let patch = of_texts(&short.old, &short.new).unwrap();
            prop_assert_eq!(written(&patch, short.above, a, b), written(&long, 0, a, b));
        }
    }
}
