//! A file as the search for places sees it: its lines, and what stands around
//! them.

use std::ops::Range;

use cscan::scan::ItemKind;

use crate::render::file_text::FileText;
use crate::series::toml_text::string;

/// A file at one state.
pub struct Page {
    file: FileText,
    text: String,
    /// Where each line begins; one more for the end.
    starts: Vec<usize>,
}

impl Page {
    /// Of a file at `path`.
    #[must_use]
    pub fn new(path: &str, text: &str) -> Page {
        let mut starts = vec![0];
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            at += line.len();
            starts.push(at);
        }
        let file = FileText::new(path, text.as_bytes().to_vec());
        Page { file, text: text.to_owned(), starts }
    }

    /// Number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of a range of lines.
    fn span(&self, lines: Range<usize>) -> Range<usize> {
        let at = |n: usize| self.starts.get(n).copied().unwrap_or(self.text.len());
        at(lines.start)..at(lines.end)
    }

    /// A range of lines, with their ends.
    #[must_use]
    pub fn lines(&self, lines: Range<usize>) -> &str {
        self.text.get(self.span(lines)).unwrap_or_default()
    }

    /// Whether a line is there and has more than white space.
    #[must_use]
    pub fn has_text(&self, line: usize) -> bool {
        line < self.len() && !self.lines(line..line + 1).trim().is_empty()
    }

    /// Containers that hold these lines, the narrowest first, each in TOML.
    #[must_use]
    pub fn scopes(&self, lines: &Range<usize>) -> Vec<String> {
        let span = self.span(lines.clone());
        let mut found: Vec<(usize, String)> = Vec::new();
        for item in &self.file.scan().items {
            let inside =
                item.body.as_ref().is_some_and(|b| b.start <= span.start && span.end <= b.end);
            if let (true, false, Some(place)) = (inside, item.torn, self.named(item)) {
                found.push((item.span.len(), place));
            }
        }
        found.sort();
        let mut places: Vec<String> = found.into_iter().map(|(_, place)| place).collect();
        if let Some((name, entry)) = self.config(lines.start)
            && entry.start < lines.start.max(1)
            && lines.end <= entry.end
        {
            places.push(format!("{{ config = {} }}", string(name)));
        }
        places
    }

    /// An item with a container's name, in TOML.
    fn named(&self, item: &cscan::scan::Item) -> Option<String> {
        let key = match item.kind {
            ItemKind::Function => "function",
            ItemKind::Struct => "struct",
            ItemKind::Union => "union",
            ItemKind::Enum => "enum",
            ItemKind::Macro => "macro",
            _ => return None,
        };
        let name = self.text.get(item.names.first()?.clone())?;
        Some(format!("{{ {key} = {} }}", string(name)))
    }

    /// Entries that end right above the lines, and that begin right below them:
    /// names to put something behind, and before.
    #[must_use]
    pub fn neighbours(&self, lines: &Range<usize>) -> (Option<String>, Option<String>) {
        let span = self.span(lines.clone());
        let items = &self.file.scan().items;
        let above = items.iter().rfind(|i| i.span.end <= span.start && i.body.is_some());
        let below = items.iter().find(|i| i.span.start >= span.end && i.body.is_some());
        let (mut before, mut behind) =
            (above.and_then(|i| self.named(i)), below.and_then(|i| self.named(i)));
        if let Some((name, entry)) = lines.start.checked_sub(1).and_then(|l| self.config(l))
            && self.rest_is_blank(entry.end..lines.start)
        {
            before = Some(format!("{{ config = {} }}", string(name)));
        }
        if let Some((name, entry)) =
            (lines.end..self.len()).find(|l| self.has_text(*l)).and_then(|l| self.config(l))
            && entry.start >= lines.end
        {
            behind = Some(format!("{{ config = {} }}", string(name)));
        }
        (before, behind)
    }

    /// The item that is just these lines, but for blank ones.
    #[must_use]
    pub fn item(&self, lines: &Range<usize>) -> Option<String> {
        let span = self.span(lines.clone());
        let text = self.text.get(span.clone())?;
        let begin = span.start + (text.len() - text.trim_start().len());
        let end = span.start + text.trim_end().len();
        let item =
            self.file.scan().items.iter().find(|i| {
                begin <= i.span.start && i.span.end <= end && i.body.is_some() && !i.torn
            })?;
        self.named(item)
    }

    fn rest_is_blank(&self, lines: Range<usize>) -> bool {
        lines.into_iter().all(|l| !self.has_text(l))
    }

    /// The Kconfig entry that a line belongs to, and its lines.
    fn config(&self, line: usize) -> Option<(&str, Range<usize>)> {
        let name = self.file.path().rsplit('/').next().unwrap_or_default();
        if !name.starts_with("Kconfig") {
            return None;
        }
        let begins = |l: usize| {
            let text = self.lines(l..l + 1);
            let rest = text.strip_prefix("config ").or_else(|| text.strip_prefix("menuconfig "))?;
            Some(rest.trim())
        };
        let top =
            |l: usize| self.has_text(l) && !self.lines(l..l + 1).starts_with([' ', '\t', '#']);
        let start = (0..=line.min(self.len())).rev().find(|l| top(*l))?;
        let name = begins(start)?;
        let mut end = (start + 1..self.len()).find(|l| top(*l)).unwrap_or(self.len());
        while end > start + 1 && !self.has_text(end - 1) {
            end -= 1;
        }
        Some((name, start..end))
    }
}
