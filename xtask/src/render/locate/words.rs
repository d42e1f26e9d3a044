//! Places by text: whole lines, tokens, comments, edges, captures.

use std::ops::Range;

use crate::series::locator::Kind;

use super::{Finder, Miss, Near, Shape, Spot};
use cscan::anchor::Anchor;
use cscan::lex::{Language, Lexer, TokenKind};

impl Finder<'_> {
    fn anchor(&self, text: &str) -> Result<Anchor, Miss> {
        Anchor::new(text, self.file.language()).ok_or_else(|| Miss::Unfit {
            what: format!("anchor \"{}\"", text.trim()),
            why: "it has no token to compare; comments do not count, `comment` finds those"
                .to_owned(),
            at: Near { position: self.file.path().to_owned(), text: String::new() },
        })
    }

    pub(super) fn text(&self, region: &Range<usize>, value: &str) -> Result<Vec<Spot>, Miss> {
        let anchor = self.anchor(value)?;
        let found = self.file.find(&anchor, region.clone());
        Ok(found
            .into_iter()
            .filter_map(|span| self.file.whole_lines(span))
            .map(|span| Spot { span, shape: Shape::Lines, kind: Kind::Text, inner: false })
            .collect())
    }

    pub(super) fn tokens(&self, region: &Range<usize>, value: &str) -> Result<Vec<Spot>, Miss> {
        let anchor = self.anchor(value)?;
        Ok(self
            .file
            .find(&anchor, region.clone())
            .into_iter()
            .map(|span| Spot { span, shape: Shape::Span, kind: Kind::Tokens, inner: false })
            .collect())
    }

    pub(super) fn comments(&self, region: &Range<usize>, value: &str) -> Vec<Spot> {
        let wanted = comment_words(value.as_bytes());
        if wanted.is_empty() || self.file.language() != Language::C {
            return Vec::new();
        }
        let mut spots: Vec<Spot> = Vec::new();
        let comments = Lexer::new(self.file.bytes(), region.clone(), Language::C)
            .filter(|t| t.kind == TokenKind::Comment);
        for comment in comments {
            let words = comment_words(comment.of(self.file.bytes()));
            let has = words.windows(wanted.len()).any(|w| w == wanted.as_slice());
            if has {
                spots.push(self.spot(comment.range(), Kind::Comment));
            }
        }
        spots
    }

    pub(super) fn edge(&self, region: &Range<usize>, value: &str) -> Vec<Spot> {
        let at = if value == "start" { region.start } else { region.end };
        vec![Spot { span: at..at, shape: Shape::Lines, kind: Kind::Edge, inner: true }]
    }

    pub(super) fn captured(&self, value: &str) -> Result<Vec<Spot>, Miss> {
        let Some(span) = self.captured.get(value) else {
            return Err(Miss::Unfit {
                what: format!("captured \"{value}\""),
                why: "no capture of this edit in this file has that name".to_owned(),
                at: Near { position: self.file.path().to_owned(), text: String::new() },
            });
        };
        let src = self.file.bytes();
        let ends_line = |at: usize| at == 0 || at == src.len() || src.get(at - 1) == Some(&b'\n');
        let lines = ends_line(span.start) && ends_line(span.end);
        let shape = if lines { Shape::Lines } else { Shape::Span };
        Ok(vec![Spot { span: span.clone(), shape, kind: Kind::Captured, inner: false }])
    }
}

/// The words of a comment, without its marks and without punctuation around
/// them: an anchor names words, wherever in a sentence they stand.
fn comment_words(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|b| b.is_ascii_whitespace())
        .map(|word| {
            let word = word.strip_prefix(b"/*").or(word.strip_prefix(b"//")).unwrap_or(word);
            let word = word.strip_suffix(b"*/").unwrap_or(word);
            let stars = word.iter().take_while(|&&b| b == b'*').count();
            let word = word.get(stars..).unwrap_or_default();
            let around = |b: &u8| b",.;:!?()[]{}\"'`".contains(b);
            let start = word.iter().take_while(|b| around(b)).count();
            let end = word.iter().rev().take_while(|b| around(b)).count();
            word.get(start..word.len().saturating_sub(end)).unwrap_or_default().to_vec()
        })
        .filter(|word| !word.is_empty())
        .collect()
}
