//! The functions of an object before a series and with it.

use serde::{Deserialize, Serialize};

use super::count::Measured;
use super::counts::Counts;
use super::matching::{is_part, pairs, stem};
use super::objects::Side;

/// What became of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It is the same.
    Same,
    /// Its figures are the same, its instructions are not.
    OtherCode,
    /// Its figures are others.
    Changed,
    /// It was not there before.
    New,
    /// It is no longer there.
    Gone,
}

/// Why a function is new or gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The source has it still: it is inlined, or nobody needs it.
    Inlined,
    /// The source has it no longer.
    Removed,
    /// The source had it already: it was inlined, or nobody needed it.
    OutOfLine,
    /// The source did not have it.
    Added,
    /// The compiler splits it off a function.
    SplitOff,
    /// The compiler splits it off no longer.
    Joined,
}

impl Why {
    /// For a reader.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Why::Inlined => "gone: inlined",
            Why::Removed => "gone: removed",
            Why::OutOfLine => "new: no longer inlined",
            Why::Added => "new",
            Why::SplitOff => "new: split off",
            Why::Joined => "gone: no longer split off",
        }
    }
}

/// A function before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Its name; the later one where both differ.
    pub name: String,
    /// The name that it had before, where it was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// What became of it.
    pub kind: Kind,
    /// Why it is new or gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// Its figures before; none when it is new.
    pub before: Option<Counts>,
    /// Its figures with the series; none when it is gone.
    pub after: Option<Counts>,
}

impl Function {
    /// Whether its figures are others.
    #[must_use]
    pub fn differs(&self) -> bool {
        !matches!(self.kind, Kind::Same | Kind::OtherCode)
    }

    /// Whether a user means it by `name`: its own, the one before, or that of the
    /// function it was made of.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let is = |n: &str| n == name || stem(n) == name;
        is(&self.name) || self.was.as_deref().is_some_and(is)
    }
}

/// Sums before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Before the series.
    pub before: Counts,
    /// With it.
    pub after: Counts,
}

impl Totals {
    /// Over functions.
    pub fn of<'f>(functions: impl IntoIterator<Item = &'f Function>) -> Totals {
        let mut totals = Totals::default();
        for f in functions {
            totals.before += f.before.unwrap_or_default();
            totals.after += f.after.unwrap_or_default();
        }
        totals
    }
}

/// An object before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Its path below the object directory.
    pub object: String,
    /// Its functions, by name.
    pub functions: Vec<Function>,
}

impl Object {
    /// Compares; an object that is not there has no functions. `defines` tells whether
    /// the sources of one side have a function of that name.
    pub fn compare(
        object: &str,
        before: &[Measured],
        after: &[Measured],
        defines: &dyn Fn(Side, &str) -> bool,
    ) -> Object {
        let name = |f: &Measured| f.names.first().cloned().unwrap_or_default();
        let mut functions = Vec::new();
        for (old, new) in pairs(before, after) {
            let old = old.and_then(|i| before.get(i));
            let new = new.and_then(|i| after.get(i));
            let (kind, why) = match (old, new) {
                (Some(old), Some(new)) if old.counts != new.counts => (Kind::Changed, None),
                (Some(old), Some(new)) if old.code != new.code => (Kind::OtherCode, None),
                (Some(_), None) => (Kind::Gone, old.map(|f| gone(&name(f), defines))),
                (None, Some(_)) => (Kind::New, new.map(|f| appeared(&name(f), defines))),
                _ => (Kind::Same, None),
            };
            let Some(called) = new.or(old).map(name) else { continue };
            let was = old.map(name).filter(|was| *was != called);
            let (before, after) = (old.map(|f| f.counts), new.map(|f| f.counts));
            functions.push(Function { name: called, was, kind, why, before, after });
        }
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        Object { object: object.to_owned(), functions }
    }
}

fn gone(name: &str, defines: &dyn Fn(Side, &str) -> bool) -> Why {
    if is_part(name) {
        Why::Joined
    } else if defines(Side::After, stem(name)) {
        Why::Inlined
    } else {
        Why::Removed
    }
}

fn appeared(name: &str, defines: &dyn Fn(Side, &str) -> bool) -> Why {
    if is_part(name) {
        Why::SplitOff
    } else if defines(Side::Before, stem(name)) {
        Why::OutOfLine
    } else {
        Why::Added
    }
}
