//! A patch's text taken apart, file by file.

use crate::error::{Error, Result};
use crate::mail::apply::{bytes, hunks, names};
use crate::mail::commit::first_line;

/// What a patch does to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    /// The file before; `None` when it is created.
    pub old: Option<Vec<u8>>,
    /// The file after; `None` when it is deleted.
    pub new: Option<Vec<u8>>,
    /// Its mode before, where the patch says it.
    pub old_mode: Option<u32>,
    /// Its mode after, where the patch says it.
    pub new_mode: Option<u32>,
    /// Beginnings of the ids before and after, in hex.
    pub ids: Option<(String, String)>,
    /// The old file stays: a copy.
    pub copy: bool,
    /// The change of its content.
    pub payload: Payload,
}

/// The change of a content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// None.
    #[default]
    Nothing,
    /// Lines.
    Hunks(Vec<Hunk>),
    /// The whole new content.
    Literal(Vec<u8>),
    /// A delta from the old content.
    Delta(Vec<u8>),
}

/// One hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// First line and number of lines before.
    pub old: (usize, usize),
    /// First line and number of lines after.
    pub new: (usize, usize),
    /// Its lines with their ends, each with what becomes of it.
    pub lines: Vec<(Kind, Vec<u8>)>,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It stays.
    Context,
    /// It comes.
    Added,
    /// It goes.
    Removed,
}

impl FilePatch {
    /// The content that the patch makes of `old` (empty for a created file).
    ///
    /// # Errors
    /// A conflict when it is meant for another content.
    pub fn apply_to(&self, old: &[u8]) -> Result<Vec<u8>> {
        match &self.payload {
            Payload::Nothing => Ok(old.to_vec()),
            Payload::Literal(bytes) => Ok(bytes.clone()),
            Payload::Delta(delta) => bytes::patch_delta(old, delta)
                .ok_or_else(|| Error::conflict("the delta is for another content")),
            Payload::Hunks(hunks) => hunks::apply(old, hunks),
        }
    }
}

/// All file patches in `text`; lines that belong to none are passed over.
///
/// # Errors
/// When a patch is cut short or contradicts itself.
pub fn patches(text: &[u8]) -> Result<Vec<FilePatch>> {
    let mut reader = Reader { rest: text, line: 0 };
    let mut out = Vec::new();
    while let Some(line) = reader.peek() {
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            reader.next();
            // With nothing below it, it is only a line that looks like one.
            let before = reader.line;
            let patch = reader.git_patch(names);
            if reader.line > before {
                out.push(patch?);
            }
        } else if line.starts_with(b"--- ") && reader.second().starts_with(b"+++ ") {
            let mut patch = FilePatch::default();
            reader.labels(&mut patch)?;
            patch.payload = reader.hunks()?;
            out.push(patch);
        } else if line.starts_with(b"@@ -") && out.is_empty() {
            return Err(reader.broken("a hunk without the name of its file"));
        } else {
            reader.next();
        }
    }
    Ok(out)
}

struct Reader<'t> {
    rest: &'t [u8],
    line: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t [u8]> {
        (!self.rest.is_empty()).then(|| first_line(self.rest).0)
    }

    fn second(&self) -> &'t [u8] {
        first_line(first_line(self.rest).1).0
    }

    fn next(&mut self) -> Option<&'t [u8]> {
        let line = self.peek()?;
        self.rest = first_line(self.rest).1;
        self.line += 1;
        Some(line)
    }

    fn broken(&self, why: &str) -> Error {
        Error::usage("the patch is broken").found(format!("line {} of it: {why}", self.line + 1))
    }

    fn git_patch(&mut self, line: &[u8]) -> Result<FilePatch> {
        let mut patch = FilePatch::default();
        let shared = names::of_git_line(line);
        patch.old.clone_from(&shared);
        patch.new = shared;
        let (mut created, mut deleted) = (false, false);
        while let Some(line) = self.peek() {
            let after = |key: &str| line.strip_prefix(key.as_bytes());
            if let Some(mode) = after("old mode ") {
                patch.old_mode = Some(self.mode(mode)?);
            } else if let Some(mode) = after("new mode ") {
                patch.new_mode = Some(self.mode(mode)?);
            } else if let Some(mode) = after("new file mode ") {
                patch.new_mode = Some(self.mode(mode)?);
                created = true;
            } else if let Some(mode) = after("deleted file mode ") {
                patch.old_mode = Some(self.mode(mode)?);
                deleted = true;
            } else if let Some(name) = after("rename from ").or_else(|| after("copy from ")) {
                patch.copy = line.starts_with(b"copy");
                patch.old = Some(self.whole_name(name)?);
            } else if let Some(name) = after("rename to ").or_else(|| after("copy to ")) {
                patch.new = Some(self.whole_name(name)?);
            } else if let Some(ids) = after("index ") {
                self.index(ids, &mut patch)?;
            } else if after("similarity index ").or_else(|| after("dissimilarity index ")).is_none()
            {
                break;
            }
            self.next();
        }
        if created {
            patch.old = None;
        }
        if deleted {
            patch.new = None;
        }
        match self.peek() {
            Some(b"GIT binary patch") => {
                self.next();
                patch.payload = self.binary()?;
            }
            Some(line) if line.starts_with(b"--- ") && self.second().starts_with(b"+++ ") => {
                self.labels(&mut patch)?;
                patch.payload = self.hunks()?;
            }
            Some(line) if line.starts_with(b"Binary files ") => {
                return Err(self.broken("it names a binary file but does not hold it"));
            }
            _ => {}
        }
        if patch.old.is_none() && patch.new.is_none() {
            return Err(self.broken("no file name in it"));
        }
        Ok(patch)
    }

    fn mode(&self, digits: &[u8]) -> Result<u32> {
        let text = std::str::from_utf8(digits).ok();
        text.and_then(|t| u32::from_str_radix(t.trim_end(), 8).ok())
            .ok_or_else(|| self.broken("a mode that is no number"))
    }

    fn whole_name(&self, text: &[u8]) -> Result<Vec<u8>> {
        match names::name(text, |_| false) {
            Some((name, b"")) => Ok(name),
            _ => Err(self.broken("a file name that is not well quoted")),
        }
    }

    fn index(&self, text: &[u8], patch: &mut FilePatch) -> Result<()> {
        let text = std::str::from_utf8(text).map_err(|_| self.broken("a broken index line"))?;
        let (ids, mode) = text.split_once(' ').unwrap_or((text, ""));
        let (old, new) = ids.split_once("..").ok_or_else(|| self.broken("a broken index line"))?;
        if !mode.is_empty() {
            let mode = self.mode(mode.as_bytes())?;
            patch.old_mode.get_or_insert(mode);
            patch.new_mode.get_or_insert(mode);
        }
        let hex = |id: &str| id.bytes().all(|c| c.is_ascii_hexdigit());
        if !hex(old) || !hex(new) {
            return Err(self.broken("an id that is not hexadecimal"));
        }
        patch.ids = Some((old.to_ascii_lowercase(), new.to_ascii_lowercase()));
        Ok(())
    }

    /// The `---` and `+++` lines.
    fn labels(&mut self, patch: &mut FilePatch) -> Result<()> {
        let mut sides = [None, None];
        for side in &mut sides {
            let line = self.next().unwrap_or_default();
            let text = line.get(4..).unwrap_or_default();
            // A tab ends a name that has blanks, or goes before a time stamp.
            let (name, _) = names::name(text, |c| c == b'\t')
                .ok_or_else(|| self.broken("a file name that is not well quoted"))?;
            if name != b"/dev/null" {
                let name = names::strip(&name);
                *side = Some(name.ok_or_else(|| self.broken("a file name without a/ or b/"))?);
            }
        }
        let [old, new] = sides;
        for (known, label) in [(&patch.old, &old), (&patch.new, &new)] {
            if let (Some(known), Some(label)) = (known, label)
                && known != label
            {
                return Err(self.broken("its lines name different files"));
            }
        }
        (patch.old, patch.new) = (old, new);
        Ok(())
    }

    fn hunks(&mut self) -> Result<Payload> {
        let mut hunks = Vec::new();
        while let Some(line) = self.peek().filter(|l| l.starts_with(b"@@ -")) {
            let (old, new) = ranges(line).ok_or_else(|| self.broken("a broken hunk header"))?;
            self.next();
            let mut hunk = Hunk { old, new, lines: Vec::new() };
            let (mut olds, mut news) = (old.1, new.1);
            while olds > 0 || news > 0 {
                let Some(line) = self.next() else {
                    return Err(self.broken("the hunk is cut short"));
                };
                let (kind, text) = match line.split_first() {
                    Some((b' ', text)) => (Kind::Context, text),
                    Some((b'+', text)) => (Kind::Added, text),
                    Some((b'-', text)) => (Kind::Removed, text),
                    // Mail programs drop the blank of an empty context line.
                    None => (Kind::Context, line),
                    Some(_) => return Err(self.broken("no line of a hunk")),
                };
                let takes = (usize::from(kind != Kind::Added), usize::from(kind != Kind::Removed));
                let left = (olds.checked_sub(takes.0), news.checked_sub(takes.1));
                let (Some(o), Some(n)) = left else {
                    return Err(self.broken("the hunk has other lines than its header says"));
                };
                (olds, news) = (o, n);
                let mut text = text.to_vec();
                if self.peek().is_some_and(|l| l.starts_with(b"\\ ")) {
                    self.next();
                } else {
                    text.push(b'\n');
                }
                hunk.lines.push((kind, text));
            }
            hunks.push(hunk);
        }
        if hunks.is_empty() {
            return Err(self.broken("no hunk below the file names"));
        }
        Ok(Payload::Hunks(hunks))
    }

    fn binary(&mut self) -> Result<Payload> {
        let forward = self.binary_hunk()?;
        // The way back follows; it is checked for its form only.
        if self.peek().is_some_and(|l| l.starts_with(b"literal ") || l.starts_with(b"delta ")) {
            self.binary_hunk()?;
        }
        Ok(forward)
    }

    fn binary_hunk(&mut self) -> Result<Payload> {
        let line = self.next().unwrap_or_default();
        let (is_delta, size) = match (line.strip_prefix(b"literal "), line.strip_prefix(b"delta "))
        {
            (Some(size), _) => (false, size),
            (_, Some(size)) => (true, size),
            _ => return Err(self.broken("neither a literal nor a delta")),
        };
        let size = std::str::from_utf8(size).ok().and_then(|s| s.trim_end().parse::<usize>().ok());
        let size = size.ok_or_else(|| self.broken("a size that is no number"))?;
        let mut deflated = Vec::new();
        while let Some(line) = self.next().filter(|l| !l.is_empty()) {
            bytes::line(line, &mut deflated).ok_or_else(|| self.broken("not in base 85"))?;
        }
        let data = bytes::inflate(&deflated, size)
            .ok_or_else(|| self.broken("the binary data are damaged"))?;
        Ok(if is_delta { Payload::Delta(data) } else { Payload::Literal(data) })
    }
}

type Range = (usize, usize);

/// `@@ -1,2 +3 @@ …`.
fn ranges(line: &[u8]) -> Option<(Range, Range)> {
    let rest = line.strip_prefix(b"@@ -")?;
    let end = memchr::memmem::find(rest, b" @@")?;
    let text = std::str::from_utf8(rest.get(..end)?).ok()?;
    let (old, new) = text.split_once(" +")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some((range(old)?, range(new)?))
}
