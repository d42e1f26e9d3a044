//! Why a locator has no place, with what is near: the text of a conflict.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use crate::series::excerpt::did_you_mean;
use crate::series::locator::{Kind, Locator};

use super::super::file_text::FileText;
use super::Spot;
use cscan::anchor::Anchor;
use cscan::lines::lines;
use cscan::scan::ItemKind;

/// How many candidates are shown.
const SHOWN: usize = 5;
/// How alike a line must be to count as a candidate.
const ALIKE: f64 = 0.3;

/// A place that is worth a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Near {
    /// `path:line`.
    pub position: String,
    /// The line, trimmed.
    pub text: String,
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.text)
    }
}

/// Why there is no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    /// Nothing matches.
    None {
        /// The locator.
        what: String,
        /// More about why.
        why: Option<String>,
        /// The nearest candidates.
        near: Vec<Near>,
    },
    /// More, or fewer, than there should be.
    Several {
        /// The locator.
        what: String,
        /// How many there should be.
        wanted: usize,
        /// All of them.
        all: Vec<Near>,
    },
    /// The parser is not sure there.
    Unparsable {
        /// The locator.
        what: String,
        /// Where.
        at: Near,
    },
    /// It is there and may not be touched.
    Unfit {
        /// The locator, or the place.
        what: String,
        /// Why not.
        why: String,
        /// Where.
        at: Near,
    },
}

impl Miss {
    pub(super) fn none(locator: &Locator, near: Vec<Near>) -> Miss {
        Miss::None { what: locator.to_string(), why: None, near }
    }

    pub(super) fn because(mut self, because: String) -> Miss {
        if let Miss::None { why, .. } = &mut self {
            *why = Some(because);
        }
        self
    }

    /// Says that it was sought behind another place.
    pub(super) fn behind(mut self, file: &FileText, first: &Spot) -> Miss {
        if let Miss::None { what, .. } | Miss::Several { what, .. } = &mut self {
            *what = format!("{what} behind {}", file.position(first.span.start));
        }
        self
    }

    pub(super) fn several(file: &FileText, locator: &Locator, spots: &[Spot]) -> Miss {
        Miss::count(file, locator, 1, spots)
    }

    /// There are not `wanted` places.
    #[must_use]
    pub fn count(file: &FileText, locator: &Locator, wanted: usize, spots: &[Spot]) -> Miss {
        Miss::Several {
            what: locator.to_string(),
            wanted,
            all: spots.iter().map(|s| Near::at(file, s.span.start)).collect(),
        }
    }

    /// What is not there at all, from the text of a [`Miss::None`]; nothing from that of any other,
    /// whose place is there, nor from a slip in the name.
    #[must_use]
    pub fn sought(text: &str) -> Option<&str> {
        let lacking = match text.rsplit_once(": there is no ") {
            Some((_, outer)) => outer,
            None => text.strip_suffix(": not found")?,
        };
        lacking.split('"').nth(1)
    }

    /// The candidates or places.
    #[must_use]
    pub fn near(&self) -> &[Near] {
        match self {
            Miss::None { near, .. } => near,
            Miss::Several { all, .. } => all,
            Miss::Unparsable { at, .. } | Miss::Unfit { at, .. } => std::slice::from_ref(at),
        }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Miss::None { what, why: Some(why), .. } => write!(f, "{what}: {why}"),
            Miss::None { what, .. } => write!(f, "{what}: not found"),
            Miss::Several { what, wanted, all } if *wanted == 1 => {
                write!(f, "{what}: found {} times, and it must be one place", all.len())
            }
            Miss::Several { what, wanted, all } => {
                write!(f, "{what}: found {} times, not {wanted}", all.len())
            }
            Miss::Unparsable { what, .. } => {
                write!(f, "{what}: the parser is not sure there; `or-text` names a text anchor")
            }
            Miss::Unfit { what, why, .. } => write!(f, "{what}: {why}"),
        }
    }
}

impl Near {
    /// The line at `offset`.
    #[must_use]
    pub fn at(file: &FileText, offset: usize) -> Near {
        let mut text = file.line_text(offset);
        if text.chars().count() > 90 {
            text = text.chars().take(89).chain(['…']).collect();
        }
        Near { position: file.position(offset), text }
    }
}

/// The nearest candidates for what was not found.
pub(super) fn near(
    file: &FileText,
    regions: &[Range<usize>],
    kind: Kind,
    value: &str,
) -> Vec<Near> {
    let items = near_items(file, regions, kind, value);
    if !items.is_empty() {
        return items;
    }
    let named = near_names(file, regions, kind, value);
    if !named.is_empty() {
        return named;
    }
    let Some(anchor) = Anchor::new(value, file.language()) else { return Vec::new() };
    let mut scored: Vec<(f64, usize)> = Vec::new();
    for region in regions {
        for line in lines(file.bytes(), region.clone()) {
            let score = anchor.likeness(file.bytes(), line.clone());
            if score > ALIKE {
                scored.push((score, line.start));
            }
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().take(SHOWN).map(|(_, offset)| Near::at(file, offset)).collect()
}

/// Why a name cannot be found as it is written, where that is a usual slip.
pub(super) fn slip(kind: Kind, value: &str) -> Option<String> {
    let name = value.strip_prefix("CONFIG_").filter(|_| kind == Kind::Config)?;
    Some(format!("not found; an entry of Kconfig is named without CONFIG_: \"{name}\""))
}

/// Lines that have a name like the one that is sought, the nearest first: of what is
/// no item of its own (a field, a label), or not in C (an entry, an object).
fn near_names(file: &FileText, regions: &[Range<usize>], kind: Kind, value: &str) -> Vec<Near> {
    let value = match kind {
        Kind::Config => value.strip_prefix("CONFIG_").unwrap_or(value),
        Kind::Object
        | Kind::Section
        | Kind::Field
        | Kind::Enumerator
        | Kind::Call
        | Kind::Label
        | Kind::Local
        | Kind::Case => value,
        _ => return Vec::new(),
    };
    let mut scored: Vec<(usize, usize)> = Vec::new();
    for region in regions {
        for line in lines(file.bytes(), region.clone()) {
            let text = String::from_utf8_lossy(file.get(line.clone()));
            if let Some(distance) = names(kind, &text).filter_map(|n| distance(value, n)).min() {
                scored.push((distance, line.start));
            }
        }
    }
    scored.sort_unstable();
    scored.into_iter().take(SHOWN).map(|(_, offset)| Near::at(file, offset)).collect()
}

/// The names on a line that can be what a locator of this kind names.
fn names(kind: Kind, line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_end();
    let in_name = move |c: char| {
        c.is_alphanumeric() || c == '_' || (kind == Kind::Object && "-.".contains(c))
    };
    let (whole, words) = match kind {
        Kind::Section => (Some(line), ""),
        Kind::Config => {
            let entry = line.trim_start();
            let entry = entry.strip_prefix("menu").unwrap_or(entry).strip_prefix("config ");
            (None, entry.unwrap_or_default())
        }
        _ => (None, line),
    };
    whole.into_iter().chain(words.split(move |c| !in_name(c)).filter(|w| !w.is_empty()))
}

/// How far a name is from the one that is sought; none where it is another one.
fn distance(value: &str, name: &str) -> Option<usize> {
    let (a, b) = (value.to_lowercase(), name.to_lowercase());
    if did_you_mean(&a, [b.as_str()]).is_some() {
        return Some(strsim::damerau_levenshtein(&a, &b));
    }
    // Part of a longer one: far, and worth a look.
    (value.len() > 2 && b.contains(&a)).then_some(b.len())
}

fn near_items(file: &FileText, regions: &[Range<usize>], kind: Kind, value: &str) -> Vec<Near> {
    let wanted = match kind {
        Kind::Function => ItemKind::Function,
        Kind::Struct => ItemKind::Struct,
        Kind::Union => ItemKind::Union,
        Kind::Enum => ItemKind::Enum,
        Kind::Macro => ItemKind::Macro,
        Kind::Prototype => ItemKind::Prototype,
        Kind::Variable => ItemKind::Variable,
        Kind::Typedef => ItemKind::Typedef,
        Kind::Include => ItemKind::Include,
        _ => return Vec::new(),
    };
    let inside =
        |span: &Range<usize>| regions.iter().any(|r| r.start <= span.start && span.end <= r.end);
    // The same name as another kind says most: a prototype, a macro.
    let mut found: Vec<usize> = file
        .scan()
        .items
        .iter()
        .filter(|i| inside(&i.span) && i.is_named(file.bytes(), value))
        .map(|i| i.span.start)
        .collect();
    for item in file.scan().items.iter().filter(|i| i.kind == wanted && inside(&i.span)) {
        for name in &item.names {
            let name = String::from_utf8_lossy(file.get(name.clone())).into_owned();
            if name.contains(value) || did_you_mean(value, [name.as_str()]).is_some() {
                found.push(item.span.start);
            }
        }
    }
    found.dedup();
    found.into_iter().take(SHOWN).map(|offset| Near::at(file, offset)).collect()
}
