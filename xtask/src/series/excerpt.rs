//! Points into a source text: `file:line:column`, the line, and a caret below
//! what is meant. Used for `series.toml` and for templates alike.

use std::ops::Range;

/// A text that errors can point into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What it is called in errors, relative to the project.
    pub label: String,
    /// Its content.
    pub text: String,
}

/// Line and column (both from 1, columns in characters) of a byte offset;
/// offsets behind the end count as the end.
#[must_use]
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = text.get(..at).unwrap_or("");
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

impl Document {
    /// A text with its name.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Document {
        Document { label: label.into(), text: text.into() }
    }

    /// `label:line:column` of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> String {
        let (line, column) = line_column(&self.text, offset);
        format!("{}:{line}:{column}", self.label)
    }

    /// The line of `span`'s start with its number, and carets below the part of
    /// the span that lies on it.
    #[must_use]
    pub fn excerpt(&self, span: Range<usize>) -> String {
        let (number, column) = line_column(&self.text, span.start);
        let line = self.text.lines().nth(number - 1).unwrap_or("");
        let rest = line.chars().count().saturating_sub(column - 1);
        let wanted = self
            .text
            .get(span.start..span.end.min(self.text.len()))
            .map_or(1, |s| s.lines().next().unwrap_or("").trim_end().chars().count());
        let carets = wanted.min(rest).max(1);
        // Tabs stay tabs, so that the caret stands below its character.
        let pad: String =
            line.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let gutter = number.to_string().len();
        format!("{number} | {line}\n{:gutter$} | {pad}{}", "", "^".repeat(carets))
    }
}

/// The known word that `word` most likely stands for, if one is near.
#[must_use]
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(word, k), k))
        .filter(|(distance, k)| *distance <= 1 + k.len().max(word.len()) / 4)
        .min_by_key(|(distance, k)| (*distance, k.len()))
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_carets() {
        let d = Document::new("f", "one\n\tzwei drei\n");
        assert_eq!(d.position(0), "f:1:1");
        assert_eq!(d.position(5), "f:2:2");
        assert_eq!(d.excerpt(10..14), "2 | \tzwei drei\n  | \t     ^^^^");
        assert_eq!(d.position(999), "f:3:1");
        assert_eq!(d.excerpt(0..999), "1 | one\n  | ^^^");
        let umlaut = Document::new("f", "äö x");
        assert_eq!(umlaut.position(1), "f:1:1", "inside of a character");
        assert_eq!(umlaut.position(5), "f:1:4");
    }

    #[test]
    fn near_words() {
        let known = ["within", "when", "unless", "insert-before", "insert-after"];
        assert_eq!(did_you_mean("witin", known), Some("within"));
        assert_eq!(did_you_mean("insert_after", known), Some("insert-after"));
        assert_eq!(did_you_mean("colour", known), None);
    }
}
