//! Locators as they are meant: kinds of places, their parts, and qualifiers.
//! How a place is found in a file is the renderer's business.

use std::fmt;

/// What kind of place a locator names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // each is documented in series/README.md under its key
pub enum Kind {
    Branch,
    Function,
    Struct,
    Union,
    Enum,
    Macro,
    Config,
    Section,
    Prototype,
    Variable,
    Typedef,
    Include,
    Object,
    Field,
    Enumerator,
    If,
    Switch,
    While,
    For,
    Case,
    Label,
    Call,
    Local,
    Statement,
    Text,
    Tokens,
    Comment,
    Edge,
    Captured,
}

impl Kind {
    /// Every kind, containers first.
    pub const ALL: [Kind; 29] = [
        Kind::Branch,
        Kind::Function,
        Kind::Struct,
        Kind::Union,
        Kind::Enum,
        Kind::Macro,
        Kind::Config,
        Kind::Section,
        Kind::Prototype,
        Kind::Variable,
        Kind::Typedef,
        Kind::Include,
        Kind::Object,
        Kind::Field,
        Kind::Enumerator,
        Kind::If,
        Kind::Switch,
        Kind::While,
        Kind::For,
        Kind::Case,
        Kind::Label,
        Kind::Call,
        Kind::Local,
        Kind::Statement,
        Kind::Text,
        Kind::Tokens,
        Kind::Comment,
        Kind::Edge,
        Kind::Captured,
    ];

    /// The key that names it in `series.toml`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Kind::Branch => "branch",
            Kind::Function => "function",
            Kind::Struct => "struct",
            Kind::Union => "union",
            Kind::Enum => "enum",
            Kind::Macro => "macro",
            Kind::Config => "config",
            Kind::Section => "section",
            Kind::Prototype => "prototype",
            Kind::Variable => "variable",
            Kind::Typedef => "typedef",
            Kind::Include => "include",
            Kind::Object => "object",
            Kind::Field => "field",
            Kind::Enumerator => "enumerator",
            Kind::If => "if",
            Kind::Switch => "switch",
            Kind::While => "while",
            Kind::For => "for",
            Kind::Case => "case",
            Kind::Label => "label",
            Kind::Call => "call",
            Kind::Local => "local",
            Kind::Statement => "statement",
            Kind::Text => "text",
            Kind::Tokens => "tokens",
            Kind::Comment => "comment",
            Kind::Edge => "edge",
            Kind::Captured => "captured",
        }
    }

    /// How far out it stands: a table may have one key of each rank, and a lower
    /// rank narrows for the higher ones.
    #[must_use]
    pub fn rank(self) -> u8 {
        match self {
            Kind::Branch => 0,
            Kind::Function
            | Kind::Struct
            | Kind::Union
            | Kind::Enum
            | Kind::Macro
            | Kind::Config
            | Kind::Section => 1,
            _ => 2,
        }
    }

    /// The parts that such a place has.
    #[must_use]
    pub fn parts(self) -> &'static [Part] {
        use Part::*;
        match self {
            Kind::Function => {
                &[Whole, Full, Doc, Head, Body, Declarations, Statements, Parameters, Export]
            }
            Kind::Struct | Kind::Union | Kind::Enum => &[Whole, Full, Doc, Body],
            Kind::Macro | Kind::Typedef | Kind::Variable | Kind::Prototype => &[Whole, Full, Doc],
            Kind::If => &[Whole, Condition, Then, Else],
            Kind::Switch | Kind::While | Kind::For => &[Whole, Condition, Body],
            Kind::Case => &[Whole, Body],
            Kind::Call => &[Whole, Arguments, Expression],
            Kind::Branch => &[Body, Whole],
            Kind::Config => &[Whole, Help],
            _ => &[Whole],
        }
    }

    /// Whether the place is found by parsing C statements or declarations, so
    /// that `or-text` makes sense.
    #[must_use]
    pub fn is_syntax(self) -> bool {
        matches!(
            self,
            Kind::Field
                | Kind::Enumerator
                | Kind::If
                | Kind::Switch
                | Kind::While
                | Kind::For
                | Kind::Case
                | Kind::Label
                | Kind::Call
                | Kind::Local
                | Kind::Statement
        )
    }

    /// Whether it stands alone between blank lines.
    #[must_use]
    pub fn stands_alone(self) -> bool {
        matches!(
            self,
            Kind::Function | Kind::Struct | Kind::Union | Kind::Enum | Kind::Config | Kind::Section
        )
    }
}

/// A part of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is documented in series/README.md
pub enum Part {
    Whole,
    Full,
    Doc,
    Head,
    Body,
    Declarations,
    Statements,
    Parameters,
    Export,
    Condition,
    Then,
    Else,
    Arguments,
    Expression,
    Help,
}

impl Part {
    const ALL: [(Part, &'static str); 15] = [
        (Part::Whole, "whole"),
        (Part::Full, "full"),
        (Part::Doc, "doc"),
        (Part::Head, "head"),
        (Part::Body, "body"),
        (Part::Declarations, "declarations"),
        (Part::Statements, "statements"),
        (Part::Parameters, "parameters"),
        (Part::Export, "export"),
        (Part::Condition, "condition"),
        (Part::Then, "then"),
        (Part::Else, "else"),
        (Part::Arguments, "arguments"),
        (Part::Expression, "expression"),
        (Part::Help, "help"),
    ];

    /// Its name in `series.toml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        Part::ALL.iter().find(|(p, _)| *p == self).map_or("", |(_, n)| n)
    }

    /// The part of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Part> {
        Part::ALL.iter().find(|(_, n)| *n == name).map(|(p, _)| *p)
    }

    /// Whether text before or behind it goes inside: it is the content of braces.
    #[must_use]
    pub fn is_inner(self) -> bool {
        matches!(self, Part::Body | Part::Then | Part::Else | Part::Declarations | Part::Statements)
    }
}

/// A place: steps from outside to inside, the last one with its qualifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Kind and value; never empty.
    pub steps: Vec<(Kind, String)>,
    /// The part, where one is named.
    pub part: Option<Part>,
    /// Tokens that it must contain.
    pub has: Vec<String>,
    /// Tokens that it must not contain.
    pub has_not: Vec<String>,
    /// The n-th (from 1) of exactly so many.
    pub nth: Option<(usize, usize)>,
    /// Text anchor for when the syntax cannot be parsed.
    pub or_text: Option<String>,
}

impl Place {
    /// The kind of the last step.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.steps.last().map_or(Kind::Text, |(k, _)| *k)
    }
}

/// A place, or the range between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// One place.
    Place(Place),
    /// From one place to another; the second is sought behind the first.
    Range {
        /// The first end.
        start: Box<Locator>,
        /// Whether it is taken in.
        start_in: bool,
        /// The last end.
        end: Box<Locator>,
        /// Whether it is taken in.
        end_in: bool,
    },
}

impl Locator {
    /// Whether it refers to the capture of that name.
    #[must_use]
    pub fn uses_capture(&self, name: &str) -> bool {
        match self {
            Locator::Place(p) => p.steps.iter().any(|(k, v)| *k == Kind::Captured && v == name),
            Locator::Range { start, end, .. } => start.uses_capture(name) || end.uses_capture(name),
        }
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Locator::Place(place) => place.fmt(f),
            Locator::Range { start, start_in, end, end_in } => {
                let start_word = if *start_in { "from" } else { "after" };
                let end_word = if *end_in { "to" } else { "before" };
                write!(f, "{start_word} {start} {end_word} {end}")
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (kind, value)) in self.steps.iter().rev().enumerate() {
            if i > 0 {
                f.write_str(" in ")?;
            } else if let Some(part) = self.part {
                write!(f, "{} of ", part.name())?;
            }
            let mut lines = value.trim().lines();
            let first = lines.next().unwrap_or("");
            let more = if lines.next().is_some() { " …" } else { "" };
            write!(f, "{} \"{}{more}\"", kind.key(), first.trim())?;
        }
        if let Some((n, of)) = self.nth {
            write!(f, ", {n} of {of}")?;
        }
        for has in &self.has {
            write!(f, ", with \"{}\"", has.trim())?;
        }
        for not in &self.has_not {
            write!(f, ", without \"{}\"", not.trim())?;
        }
        Ok(())
    }
}
