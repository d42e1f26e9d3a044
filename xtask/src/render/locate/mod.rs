//! Finds the places that locators name in one file. A place that is not there,
//! or not sure, is a miss that says what was sought and what is near; nothing is
//! ever guessed.

mod item;
mod miss;
mod parts;
mod plain;
mod syntax;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::series::locator::{Kind, Locator, Part, Place};

use super::file_text::FileText;
use cscan::anchor::Anchor;

pub use miss::{Miss, Near};

/// How a place lies in its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Whole lines.
    Lines,
    /// A span inside of lines, as `tokens` or `condition` ask for.
    Span,
    /// A span because it shares its lines with other code.
    Shared,
}

/// A found place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its bytes.
    pub span: Range<usize>,
    /// How it lies in its lines.
    pub shape: Shape,
    /// What it is.
    pub kind: Kind,
    /// It is the content of braces: text before or behind it goes inside.
    pub inner: bool,
}

impl Spot {
    /// Whether it lies in a file of these bytes, and whole lines begin at one: what
    /// holds for any locator and any file, and is tested so.
    #[must_use]
    pub fn fits(&self, src: &[u8]) -> bool {
        let start = self.span.start;
        // A file may end without a line break.
        let begins = start.checked_sub(1).is_none_or(|before| src.get(before) == Some(&b'\n'));
        start <= self.span.end
            && self.span.end <= src.len()
            && (self.inline() || begins || start == src.len())
    }

    /// Whether it is a span inside of lines.
    #[must_use]
    pub fn inline(&self) -> bool {
        self.shape != Shape::Lines
    }
}

/// What earlier captures of the same edit took, by name.
pub type Captured = BTreeMap<String, Range<usize>>;

/// One search in one file.
#[derive(Debug)]
pub struct Finder<'f> {
    /// The file.
    pub file: &'f FileText,
    /// Captures that `captured` may name.
    pub captured: &'f Captured,
    /// Whether a miss says what is near: that takes a look at every line.
    pub candidates: bool,
}

impl Finder<'_> {
    /// Every place that `at` names, narrowed by `within`; `full` asks for the
    /// place with its comment and exports where the locator names no part.
    ///
    /// # Errors
    /// When there is none, or it cannot be told for sure.
    pub fn find(&self, within: &[Locator], at: &Locator, full: bool) -> Result<Vec<Spot>, Miss> {
        let mut regions: Vec<Range<usize>> = std::iter::once(0..self.file.bytes().len()).collect();
        for locator in within {
            let spots = self.locator(&regions, locator, false)?;
            regions = spots.into_iter().map(|s| s.span).collect();
        }
        self.locator(&regions, at, full)
    }

    /// As [`Finder::find`], for a place that must be one.
    ///
    /// # Errors
    /// Also when there are several.
    pub fn find_one(&self, within: &[Locator], at: &Locator, full: bool) -> Result<Spot, Miss> {
        let spots = self.find(within, at, full)?;
        match <[Spot; 1]>::try_from(spots) {
            Ok([spot]) => Ok(spot),
            Err(spots) => Err(Miss::several(self.file, at, &spots)),
        }
    }

    fn locator(
        &self,
        regions: &[Range<usize>],
        locator: &Locator,
        full: bool,
    ) -> Result<Vec<Spot>, Miss> {
        match locator {
            Locator::Place(place) => self.place(regions, locator, place, full),
            Locator::Range { start, start_in, end, end_in } => {
                let first = self.one(regions, start)?;
                // The second end is sought behind the first, in the same region.
                let rest: Vec<Range<usize>> = regions
                    .iter()
                    .filter(|r| r.start <= first.span.start && first.span.end <= r.end)
                    .map(|r| first.span.end..r.end)
                    .collect();
                let last = self.one(&rest, end).map_err(|m| m.behind(self.file, &first))?;
                let from = if *start_in { first.span.start } else { first.span.end };
                let to = if *end_in { last.span.end } else { last.span.start };
                let shapes = [first.shape, last.shape];
                let shape = [Shape::Shared, Shape::Span].into_iter().find(|s| shapes.contains(s));
                Ok(vec![Spot {
                    span: from..to.max(from),
                    shape: shape.unwrap_or(Shape::Lines),
                    kind: Kind::Text,
                    inner: false,
                }])
            }
        }
    }

    fn one(&self, regions: &[Range<usize>], locator: &Locator) -> Result<Spot, Miss> {
        let spots = self.locator(regions, locator, false)?;
        match <[Spot; 1]>::try_from(spots) {
            Ok([spot]) => Ok(spot),
            Err(spots) => Err(Miss::several(self.file, locator, &spots)),
        }
    }

    fn place(
        &self,
        regions: &[Range<usize>],
        locator: &Locator,
        place: &Place,
        full: bool,
    ) -> Result<Vec<Spot>, Miss> {
        let mut regions = regions.to_vec();
        let Some(((kind, value), outer)) = place.steps.split_last() else {
            return Err(Miss::none(locator, Vec::new()));
        };
        for (kind, value) in outer {
            let found = self.step(&regions, *kind, value, None, false)?;
            if found.is_empty() {
                let near = self.near(&regions, *kind, value);
                return Err(Miss::none(locator, near)
                    .because(format!("there is no {} \"{value}\"", kind.key())));
            }
            regions = found.into_iter().map(|s| s.span).collect();
        }
        let full = full && place.part.is_none();
        let mut spots = match self.step(&regions, *kind, value, place.part, full) {
            Err(Miss::Unparsable { .. }) if place.or_text.is_some() => {
                let text = place.or_text.as_deref().unwrap_or_default();
                self.step(&regions, Kind::Text, text, None, false)?
            }
            other => other?,
        };
        spots.sort_by_key(|s| (s.span.start, s.span.end));
        spots.dedup();
        spots.retain(|s| self.has_all(place, s));
        if let Some((n, of)) = place.nth {
            if spots.len() != of {
                return Err(Miss::count(self.file, locator, of, &spots));
            }
            spots = spots.into_iter().skip(n - 1).take(1).collect();
        }
        if spots.is_empty() {
            let miss = Miss::none(locator, self.near(&regions, *kind, value));
            return Err(match miss::slip(*kind, value) {
                Some(why) => miss.because(why),
                None => miss,
            });
        }
        Ok(spots)
    }

    fn near(&self, regions: &[Range<usize>], kind: Kind, value: &str) -> Vec<Near> {
        if self.candidates { miss::near(self.file, regions, kind, value) } else { Vec::new() }
    }

    fn has_all(&self, place: &Place, spot: &Spot) -> bool {
        let contains = |text: &String| {
            Anchor::new(text, self.file.language())
                .is_some_and(|a| !a.find(self.file.bytes(), spot.span.clone()).is_empty())
        };
        place.has.iter().all(contains) && !place.has_not.iter().any(contains)
    }

    fn step(
        &self,
        regions: &[Range<usize>],
        kind: Kind,
        value: &str,
        part: Option<Part>,
        full: bool,
    ) -> Result<Vec<Spot>, Miss> {
        let mut spots = Vec::new();
        for region in regions {
            spots.extend(match kind {
                Kind::Branch => self.branches(region, value, part),
                Kind::Function
                | Kind::Struct
                | Kind::Union
                | Kind::Enum
                | Kind::Macro
                | Kind::Prototype
                | Kind::Variable
                | Kind::Typedef
                | Kind::Include => self.items(region, kind, value, part, full)?,
                Kind::Config => self.configs(region, value, part),
                Kind::Section => self.sections(region, value),
                Kind::Object => self.objects(region, value),
                Kind::Text => self.text(region, value)?,
                Kind::Tokens => self.tokens(region, value)?,
                Kind::Comment => self.comments(region, value),
                Kind::Edge => self.edge(region, value),
                Kind::Captured => self.captured(value)?,
                _ => self.syntax(region, kind, value, part)?,
            });
        }
        Ok(spots)
    }

    /// A spot of the whole lines around `span`, or inside of lines where it
    /// shares them.
    fn spot(&self, span: Range<usize>, kind: Kind) -> Spot {
        match self.file.whole_lines(span.clone()) {
            Some(lines) => Spot { span: lines, shape: Shape::Lines, kind, inner: false },
            None => Spot { span, shape: Shape::Shared, kind, inner: false },
        }
    }
}

#[cfg(test)]
mod tests;
