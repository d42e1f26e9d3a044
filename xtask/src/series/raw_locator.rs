//! Locators, probes and captures as `series.toml` writes them. They share the
//! keys that name a place, which one macro writes down once.

use schemars::JsonSchema;
use serde::Deserialize;

use super::locator::Kind;
use super::raw_value::OneOrMany;

macro_rules! place_table {
    ($(#[$meta:meta])* $name:ident { $($extra:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            /// Lines of the preprocessor branch with this condition; "!X" for `#ifndef X`, "else X" for its `#else`.
            pub branch: Option<String>,
            /// Definition of a function.
            pub function: Option<String>,
            /// Definition of a struct.
            pub r#struct: Option<String>,
            /// Definition of a union.
            pub union: Option<String>,
            /// Definition of an enum.
            pub r#enum: Option<String>,
            /// `#define` with its continuation lines.
            pub r#macro: Option<String>,
            /// Kconfig entry.
            pub config: Option<String>,
            /// Entry of MAINTAINERS by its first line; section of an rst file by its heading.
            pub section: Option<String>,
            /// Declaration of a function.
            pub prototype: Option<String>,
            /// File-scope variable.
            pub variable: Option<String>,
            /// Type definition.
            pub typedef: Option<String>,
            /// `#include` line of this header.
            pub include: Option<String>,
            /// Makefile line that lists this object.
            pub object: Option<String>,
            /// Field of a struct or union.
            pub field: Option<String>,
            /// Enumerator.
            pub enumerator: Option<String>,
            /// `if` statement with this condition.
            pub r#if: Option<String>,
            /// `switch` statement over this expression.
            pub switch: Option<String>,
            /// `while` or `do` statement with this condition.
            pub r#while: Option<String>,
            /// `for` statement with this head, or a macro loop such as `list_for_each_entry(a, b, c)`.
            pub r#for: Option<String>,
            /// Case of a switch: its value, or "default".
            pub case: Option<String>,
            /// Label line.
            pub label: Option<String>,
            /// Statement that calls this function.
            pub call: Option<String>,
            /// Declaration of a local variable.
            pub local: Option<String>,
            /// Statement with these tokens.
            pub statement: Option<String>,
            /// Whole lines with these tokens.
            pub text: Option<String>,
            /// These tokens inside of lines.
            pub tokens: Option<String>,
            /// Comment that has these words.
            pub comment: Option<String>,
            /// "start" or "end" of the file, or of what `within` gives.
            pub edge: Option<String>,
            /// What a capture of the same edit took.
            pub captured: Option<String>,
            /// Part of the place: whole, full, doc, head, body, declarations, statements, parameters, export, condition, then, else, arguments, expression, help.
            pub part: Option<String>,
            /// Only places that contain these tokens.
            #[serde(default)]
            pub has: OneOrMany<String>,
            /// Only places that do not contain these tokens.
            #[serde(default)]
            pub has_not: OneOrMany<String>,
            /// The n-th of exactly `of` places.
            pub nth: Option<u32>,
            /// How many places there must be for `nth`.
            pub of: Option<u32>,
            /// Text anchor to use when the syntax around cannot be parsed.
            pub or_text: Option<String>,
            $($extra)*
        }

        impl PlaceKeys for $name {
            fn kinds(&self) -> Vec<(Kind, &str)> {
                let all = [
                    (Kind::Branch, &self.branch),
                    (Kind::Function, &self.function),
                    (Kind::Struct, &self.r#struct),
                    (Kind::Union, &self.union),
                    (Kind::Enum, &self.r#enum),
                    (Kind::Macro, &self.r#macro),
                    (Kind::Config, &self.config),
                    (Kind::Section, &self.section),
                    (Kind::Prototype, &self.prototype),
                    (Kind::Variable, &self.variable),
                    (Kind::Typedef, &self.typedef),
                    (Kind::Include, &self.include),
                    (Kind::Object, &self.object),
                    (Kind::Field, &self.field),
                    (Kind::Enumerator, &self.enumerator),
                    (Kind::If, &self.r#if),
                    (Kind::Switch, &self.switch),
                    (Kind::While, &self.r#while),
                    (Kind::For, &self.r#for),
                    (Kind::Case, &self.case),
                    (Kind::Label, &self.label),
                    (Kind::Call, &self.call),
                    (Kind::Local, &self.local),
                    (Kind::Statement, &self.statement),
                    (Kind::Text, &self.text),
                    (Kind::Tokens, &self.tokens),
                    (Kind::Comment, &self.comment),
                    (Kind::Edge, &self.edge),
                    (Kind::Captured, &self.captured),
                ];
                all.into_iter().filter_map(|(k, v)| v.as_deref().map(|v| (k, v))).collect()
            }
            fn qualifiers(&self) -> RawQualifiers<'_> {
                RawQualifiers {
                    part: self.part.as_deref(),
                    has: &self.has.0,
                    has_not: &self.has_not.0,
                    nth: self.nth,
                    of: self.of,
                    or_text: self.or_text.as_deref(),
                }
            }
        }
    };
}

/// What all tables that name a place have in common.
pub trait PlaceKeys {
    /// The kind keys that are there, outermost first.
    fn kinds(&self) -> Vec<(Kind, &str)>;
    /// The qualifiers.
    fn qualifiers(&self) -> RawQualifiers<'_>;
}

/// The qualifiers of a place.
#[derive(Clone, Copy, Debug)]
pub struct RawQualifiers<'r> {
    /// `part`.
    pub part: Option<&'r str>,
    /// `has`.
    pub has: &'r [String],
    /// `has-not`.
    pub has_not: &'r [String],
    /// `nth`.
    pub nth: Option<u32>,
    /// `of`.
    pub of: Option<u32>,
    /// `or-text`.
    pub or_text: Option<&'r str>,
}

/// The ends of a range.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawRange<'r> {
    /// `from`.
    pub from: Option<&'r RawLocator>,
    /// `after`.
    pub after: Option<&'r RawLocator>,
    /// `to`.
    pub to: Option<&'r RawLocator>,
    /// `before`.
    pub before: Option<&'r RawLocator>,
}

place_table! {
    /// How an edit finds its place: by syntax or by text, never by line number.
    RawLocator {
        /// First end of a range, taken in.
        pub from: Option<Box<RawLocator>>,
        /// First end of a range, left out.
        pub after: Option<Box<RawLocator>>,
        /// Last end of a range, taken in.
        pub to: Option<Box<RawLocator>>,
        /// Last end of a range, left out.
        pub before: Option<Box<RawLocator>>,
    }
}

macro_rules! range_keys {
    ($name:ident) => {
        impl $name {
            /// The range keys.
            #[must_use]
            pub fn range(&self) -> RawRange<'_> {
                RawRange {
                    from: self.from.as_deref(),
                    after: self.after.as_deref(),
                    to: self.to.as_deref(),
                    before: self.before.as_deref(),
                }
            }
        }
    };
}

range_keys!(RawLocator);
range_keys!(RawCapture);

place_table! {
    /// Where `move-before` and `move-after` put their place.
    RawFarLocator {
        /// Another file; default the edit's.
        pub file: Option<String>,
        /// Narrows where it is sought.
        #[serde(default)]
        pub within: OneOrMany<RawLocator>,
    }
}

place_table! {
    /// Text that is taken from the file.
    RawCapture {
        /// First end of a range, taken in.
        pub from: Option<Box<RawLocator>>,
        /// First end of a range, left out.
        pub after: Option<Box<RawLocator>>,
        /// Last end of a range, taken in.
        pub to: Option<Box<RawLocator>>,
        /// Last end of a range, left out.
        pub before: Option<Box<RawLocator>>,
        /// Another file; default the edit's.
        pub file: Option<String>,
        /// Narrows where it is sought; default the edit's `within`.
        #[serde(default)]
        pub within: OneOrMany<RawLocator>,
        /// The text when nothing is found.
        pub default: Option<String>,
    }
}

place_table! {
    /// A question to the base. All keys must hold.
    RawProbe {
        /// The file, or several of which any may hold.
        #[serde(default)]
        pub file: OneOrMany<String>,
        /// Narrows where it is sought.
        #[serde(default)]
        pub within: OneOrMany<RawLocator>,
        /// The kernel version is at least this.
        pub since: Option<String>,
        /// The kernel version is below this.
        pub before: Option<String>,
        /// A probe of `[probes]`.
        pub probe: Option<String>,
        /// A patch of this series that applies here.
        pub patch: Option<String>,
        /// The other way round.
        #[serde(default)]
        pub not: bool,
        /// What the verdict says.
        pub why: Option<String>,
    }
}

place_table! {
    /// A named question to the base: a probe, or several joined.
    RawNamedProbe {
        /// The file, or several of which any may hold.
        #[serde(default)]
        pub file: OneOrMany<String>,
        /// Narrows where it is sought.
        #[serde(default)]
        pub within: OneOrMany<RawLocator>,
        /// The kernel version is at least this.
        pub since: Option<String>,
        /// The kernel version is below this.
        pub before: Option<String>,
        /// The other way round.
        #[serde(default)]
        pub not: bool,
        /// What the verdict says.
        pub why: Option<String>,
        /// Any of these holds.
        #[serde(default)]
        pub any: Vec<RawProbe>,
        /// All of these hold.
        #[serde(default)]
        pub all: Vec<RawProbe>,
    }
}
