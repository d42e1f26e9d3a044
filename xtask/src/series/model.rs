//! A series that has been checked: what the rest of the tool works with.

use std::path::PathBuf;

use super::excerpt::Document;
use super::key_path::KeyPath;
use super::locator::Locator;
pub use super::model_bench::{Bench, Better, Figure, FigureKind, Fragment};
use super::places::Places;
use super::version::Version;

/// Name and address of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name, plain UTF-8.
    pub name: String,
    /// The address, without its angle brackets.
    pub email: String,
}

impl std::fmt::Display for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// A moment with the offset in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// Seconds since the epoch.
    pub seconds: i64,
    /// Minutes east of UTC.
    pub offset: i32,
}

/// A template: a file below the templates folder, or an inline text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// File name, known to stay below the folder.
    File(String),
    /// The template itself.
    Inline(String),
}

/// A series, checked.
#[derive(Clone, Debug)]
pub struct Series {
    /// The folder's name.
    pub name: String,
    /// The project folder that holds `series/` and `templates/`.
    pub project: PathBuf,
    /// `series.toml`, for errors that point into it.
    pub source: Document,
    /// Subject of the cover letter.
    pub title: String,
    /// List name in the subject prefix.
    pub list: Option<String>,
    /// Subject prefix.
    pub prefix: String,
    /// Change id for tracking.
    pub change_id: Option<String>,
    /// Version, from 1.
    pub version: u32,
    /// Author of the commits.
    pub author: Person,
    /// Date of the series.
    pub date: Date,
    /// Cover letter.
    pub cover: Option<Text>,
    /// To.
    pub to: Vec<String>,
    /// Cc.
    pub cc: Vec<String>,
    /// Bases it is kept alive on.
    pub bases: Vec<String>,
    /// Absorbed as a whole if any holds.
    pub absorbed: Vec<Probe>,
    /// Needed by every patch.
    pub needs: Vec<Probe>,
    /// Values for templates.
    pub vars: toml::Table,
    /// Named probes, by name.
    pub probes: Vec<(String, NamedProbe)>,
    /// Newest first.
    pub changelog: Vec<Change>,
    /// What has to be applied before it, in order.
    pub prerequisites: Vec<Prerequisite>,
    /// In order.
    pub patches: Vec<Patch>,
    /// Selftests.
    pub tests: Vec<Test>,
    /// What `inspect` looks at.
    pub inspect: Inspect,
    /// Benchmarks.
    pub benches: Vec<Bench>,
    /// What somebody has read of the places that its patches change.
    pub places: Option<Places>,
}

/// What `inspect` looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspect {
    /// Objects beside those of the sources that patches touch.
    pub objects: Vec<String>,
    /// Architectures; empty for the host's.
    pub arches: Vec<String>,
    /// Kernels beside the one that the selftests want.
    pub kernels: Vec<InspectKernel>,
}

/// A kernel whose code is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectKernel {
    /// Its name.
    pub name: String,
    /// Fragments: names, or absolute paths.
    pub config: Vec<String>,
    /// The architectures that it is for; empty for all.
    pub arches: Vec<String>,
}

impl Series {
    /// `series/NAME`.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.project.join("series").join(&self.name)
    }

    /// The patch of that name.
    #[must_use]
    pub fn patch(&self, name: &str) -> Option<&Patch> {
        self.patches.iter().find(|p| p.name == name)
    }
}

/// Something that has to be applied before a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prerequisite {
    /// A series of this project, by name.
    Series(String),
    /// What is elsewhere.
    Elsewhere(crate::mail::Prerequisite),
}

/// What changed in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The version that has it.
    pub version: u32,
    /// What changed.
    pub text: String,
    /// Where it was sent.
    pub link: Option<String>,
}

/// One commit to be.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Unique in the series.
    pub name: String,
    /// Template of the commit message.
    pub message: Text,
    /// Only made when asked for.
    pub optional: bool,
    /// Where it differs from the series'.
    pub author: Option<Person>,
    /// Where it is not the series' date and so many seconds.
    pub date: Option<Date>,
    /// Absorbed if any holds.
    pub absorbed: Vec<Probe>,
    /// Blocked unless all hold.
    pub needs: Vec<Probe>,
    /// In order.
    pub edits: Vec<Edit>,
    /// Where it stands in `series.toml`.
    pub path: KeyPath,
}

/// How many places an edit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Exactly so many.
    Exactly(usize),
    /// Every one, at least one.
    All,
}

/// One change to one file.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Candidates, of which one has the place; empty only for `diff`.
    pub files: Vec<String>,
    /// All must hold.
    pub when: Vec<Probe>,
    /// None may hold.
    pub unless: Vec<Probe>,
    /// Narrowing, step by step.
    pub within: Vec<Locator>,
    /// The place.
    pub at: Option<Locator>,
    /// Number of places.
    pub times: Times,
    /// Captures by name.
    pub captures: Vec<(String, Capture)>,
    /// Shift the text to the indentation of the place.
    pub indent: bool,
    /// One blank line around; `None`: as the place's kind has it.
    pub separate: Option<bool>,
    /// What is done; `None` when it only captures.
    pub deed: Option<Deed>,
    /// Where it stands in its TOML file.
    pub path: KeyPath,
}

/// What an edit does.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Text before the place.
    InsertBefore(Text),
    /// Text behind the place.
    InsertAfter(Text),
    /// Text for the place.
    Replace(Text),
    /// The place is taken out.
    Delete,
    /// The place goes before another one.
    MoveBefore(Far),
    /// The place goes behind another one.
    MoveAfter(Far),
    /// A new file.
    Create {
        /// Its content.
        text: Text,
        /// Whether it is executable.
        executable: bool,
    },
    /// The file is removed.
    Remove,
    /// The file gets this path.
    Rename(String),
    /// Header names with their delimiters: `<linux/x.h>`, `"i40e.h"`.
    AddInclude(Vec<String>),
    /// A Makefile line.
    AddObject(String),
    /// An entry of MAINTAINERS.
    AddMaintainers(Text),
    /// A unified diff.
    Diff(Text),
    /// A semantic patch.
    Cocci(Text),
}

impl Deed {
    /// Its key in `series.toml`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Deed::InsertBefore(_) => "insert-before",
            Deed::InsertAfter(_) => "insert-after",
            Deed::Replace(_) => "replace",
            Deed::Delete => "delete",
            Deed::MoveBefore(_) => "move-before",
            Deed::MoveAfter(_) => "move-after",
            Deed::Create { .. } => "create",
            Deed::Remove => "remove",
            Deed::Rename(_) => "rename",
            Deed::AddInclude(_) => "add-include",
            Deed::AddObject(_) => "add-object",
            Deed::AddMaintainers(_) => "add-maintainers",
            Deed::Diff(_) => "diff",
            Deed::Cocci(_) => "cocci",
        }
    }
}

/// A place that may be in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Far {
    /// The other file.
    pub file: Option<String>,
    /// Narrowing.
    pub within: Vec<Locator>,
    /// The place.
    pub at: Locator,
}

/// Text that is taken from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Where.
    pub place: Far,
    /// The text when nothing is found.
    pub default: Option<String>,
}

/// A question to the base; all that is there must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Files of which any may hold; without `at`: exist.
    pub files: Vec<String>,
    /// Narrowing.
    pub within: Vec<Locator>,
    /// The place.
    pub at: Option<Locator>,
    /// Lowest kernel version.
    pub since: Option<Version>,
    /// The version must be below.
    pub before: Option<Version>,
    /// A named probe.
    pub probe: Option<String>,
    /// A patch of the series that applies.
    pub patch: Option<String>,
    /// The other way round.
    pub not: bool,
    /// What the verdict says.
    pub why: Option<String>,
    /// Where it stands in its TOML file.
    pub path: KeyPath,
}

/// A probe of `[probes]`: one question or several joined.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedProbe {
    /// The questions; one or more.
    pub probes: Vec<Probe>,
    /// Any of them will do; else all must hold.
    pub any: bool,
    /// The other way round, after joining.
    pub not: bool,
}

/// A selftest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Sources, absolute.
    pub sources: Vec<PathBuf>,
    /// Files that the sources include, made from the trees.
    pub extracts: Vec<Extract>,
    /// Kconfig fragments.
    pub kconfig: Vec<String>,
    /// Arguments.
    pub args: Vec<String>,
    /// Seconds.
    pub timeout: u64,
    /// It patches kernel text while it runs.
    pub patches_text: bool,
    /// Modules for the guest.
    pub modules: Vec<String>,
    /// CPUs.
    pub smp: u32,
    /// Memory as QEMU takes it.
    pub memory: Option<String>,
    /// Optional patches that it needs.
    pub with: Vec<String>,
}

/// A file that a selftest's sources include: a place of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract {
    /// The file's name.
    pub name: String,
    /// It is taken from the base, not from the rendered tree.
    pub from_base: bool,
    /// The place, with its file.
    pub place: Capture,
}

/// A deliberate break of a series.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The file's stem.
    pub name: String,
    /// Its TOML, for errors.
    pub source: Document,
    /// Subject of its commit.
    pub title: String,
    /// What it breaks.
    pub why: String,
    /// The test that must catch it.
    pub test: String,
    /// The test point that fails.
    pub caught_by: String,
    /// Optional patches that must be there.
    pub with: Vec<String>,
    /// Bases it makes sense on.
    pub when: Vec<Probe>,
    /// The changes.
    pub edits: Vec<Edit>,
}
