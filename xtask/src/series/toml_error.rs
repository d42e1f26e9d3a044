//! TOML errors as a user can act upon them: position, line, caret, and the
//! nearest known key for one that is unknown.

use std::ops::Range;

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

use super::excerpt::{Document, did_you_mean};
use super::key_path::KeyPath;

impl Document {
    /// Reads the TOML of this document.
    ///
    /// # Errors
    /// Names the position and what is wrong there.
    pub fn parse_toml<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(&self.text).map_err(|e| {
            let span = e.span().unwrap_or(0..0);
            match unknown_key(e.message()) {
                Some((key, known)) => {
                    let error = self.error(span, format!("unknown key `{key}`"));
                    if is_stray_edit(key, &known) {
                        return error.hint(
                            "an edit is written [[patch.edit]], behind the [[patch]] that it is of",
                        );
                    }
                    match did_you_mean(key, known.iter().copied()) {
                        Some(near) => error.hint(format!("did you mean `{near}`?")),
                        None => error.hint(format!("known here: {}", known.join(", "))),
                    }
                }
                None => {
                    let quoted = self.breaks_off_a_text(span.start);
                    let error = self.error(span, e.message());
                    if quoted {
                        error.hint(
                            "a text with quotes stands in '…', or over several lines in '''…'''; \
                             in \"…\" each of them is \\\"",
                        )
                    } else {
                        error
                    }
                }
            }
        })
    }

    /// Whether what is wrong at `at` follows right behind a closing quote: then the text may go
    /// on there.
    fn breaks_off_a_text(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        let next = self.text.get(at..).and_then(|t| t.chars().next());
        before.ends_with('"') && next.is_some_and(|c| !c.is_whitespace() && c != '"')
    }

    /// A failure that points to `span`.
    pub fn error(&self, span: Range<usize>, what: impl AsRef<str>) -> Error {
        Error::usage(format!("{}: {}", self.position(span.start), what.as_ref()))
            .found(self.excerpt(span))
    }

    /// A failure that points to the value at `path`.
    pub fn error_at(&self, path: &KeyPath, what: impl AsRef<str>) -> Error {
        self.error(path.span(&self.text), what)
    }

    /// `label:line:column` of the value at `path`.
    #[must_use]
    pub fn position_of(&self, path: &KeyPath) -> String {
        self.position(path.span(&self.text).start)
    }
}

/// The key and the known ones, out of serde's message.
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (key, rest) = rest.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2).collect();
    Some((key, known))
}

/// Whether it is the edit of a patch, beside the patches or under another name. A mutant, which
/// has no patches, has edits of its own.
fn is_stray_edit(key: &str, known: &[&str]) -> bool {
    let beside_patches = known.contains(&"patch");
    let in_patch = known.contains(&"edit") && known.contains(&"message");
    (beside_patches && matches!(key, "edit" | "edits")) || (in_patch && key == "edits")
}

#[cfg(test)]
mod tests {
    use super::super::raw::{RawMutant, RawSeries};
    use super::*;

    #[test]
    fn an_unknown_key_is_pointed_at_with_the_nearest_known_one() {
        let text = "title = \"t\"\nauthor = \"a\"\ndate = 2024-01-01T00:00:00Z\n\
                    [[patch]]\nname = \"p\"\nmessage = \"m\"\n[[patch.edit]]\nfile = \"f\"\n\
                    witin = { function = \"g\" }\n";
        let e = Document::new("series.toml", text).parse_toml::<RawSeries>().unwrap_err();
        assert_eq!(
            e.to_string(),
            "series.toml:9:1: unknown key `witin`\n  found: 9 | witin = { function = \"g\" }\n           | ^^^^^\n  mend:  did you mean `within`?"
        );
        let nested = text.replace("witin = { function", "within = { functoin");
        let e = Document::new("s", nested).parse_toml::<RawSeries>().unwrap_err();
        assert_eq!(e.asked(), "s:9:12: unknown key `functoin`");
        assert_eq!(e.hints(), ["did you mean `function`?"]);
    }

    #[test]
    fn an_edit_outside_of_its_patch_is_told_how_to_write() {
        let series = |key: &str| {
            format!(
                "title = \"t\"\nauthor = \"a\"\ndate = 2024-01-01T00:00:00Z\n\
                 [[patch]]\nname = \"p\"\nmessage = \"m\"\n[[{key}]]\nfile = \"f\"\n"
            )
        };
        for (key, unknown) in
            [("edit", "7:3: unknown key `edit`"), ("edits", "7:3"), ("patch.edits", "7:9")]
        {
            let e = Document::new("s", series(key)).parse_toml::<RawSeries>().unwrap_err();
            assert!(e.asked().contains(unknown), "{e}");
            assert!(e.hints().iter().any(|h| h.contains("[[patch.edit]]")), "{key}: {e}");
        }
        // Those of a mutant stand in no patch.
        let text = "title = \"t\"\n[[edits]]\nfile = \"f\"\n";
        let e = Document::new("m", text).parse_toml::<RawMutant>().unwrap_err();
        assert_eq!(e.hints(), ["did you mean `edit`?"]);
    }

    #[test]
    fn other_errors_keep_their_place() {
        let cases = [
            ("title = \n", "s:1:9: string values must be quoted, expected literal string"),
            ("title = 3\n", "s:1:9: invalid type: integer `3`, expected a string"),
            ("title = \"a\"\ntitle = \"b\"\n", "s:2:1: duplicate key"),
            ("title = \"a\"\n", "s:1:1: missing field `author`"),
        ];
        for (text, asked) in cases {
            let e = Document::new("s", text).parse_toml::<RawSeries>().unwrap_err();
            assert_eq!(e.asked(), asked, "{text}");
            assert!(e.hints().is_empty(), "{text}");
        }
    }

    #[test]
    fn quotes_within_quotes_are_told_how_to_write() {
        for text in
            ["title = \"printk(\"a\");\"\n", "[[patch]]\nmessage = { text = \"printk(\"a\");\" }\n"]
        {
            let e = Document::new("s", text).parse_toml::<RawSeries>().unwrap_err();
            assert!(e.hints().iter().any(|h| h.contains("'…'")), "{text}: {e}");
        }
    }
}
