//! What every source comes to: patches in their order, and what is known of the
//! series as a whole.

use crate::mail::apply::FilePatch;
use crate::mail::{Date, Person};
use crate::tree::Oid;

/// A series on its way in.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    /// Where it came from, for a reader.
    pub origin: String,
    /// Subject of the cover letter, and its text.
    pub cover: Option<(String, String)>,
    /// Who sent it, where a cover letter says so.
    pub sender: Option<Person>,
    /// The cover's date.
    pub date: Option<Date>,
    /// The words in the brackets of subjects: `RFC PATCH`.
    pub prefix: Option<String>,
    /// The tree or list in the brackets.
    pub list: Option<String>,
    /// The version; 0 where nothing says one.
    pub version: u32,
    /// What all versions share.
    pub change_id: Option<String>,
    /// To.
    pub to: Vec<Person>,
    /// Cc.
    pub cc: Vec<Person>,
    /// Versions with what changed in them and where they were sent, newest first.
    pub changelog: Vec<Changed>,
    /// The commit that it was made on, by its mails.
    pub base_commit: Option<Oid>,
    /// The base that its source names: a spec.
    pub base: Option<String>,
    /// `prerequisite-…:` lines.
    pub prerequisites: Vec<String>,
    /// The patches.
    pub patches: Vec<IncomingPatch>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// What one version changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The version.
    pub version: u32,
    /// What changed in it.
    pub text: String,
    /// Where it was sent.
    pub link: Option<String>,
}

/// One patch on its way in.
#[derive(Clone, Debug)]
pub struct IncomingPatch {
    /// What an error calls it: a file, or a mail's subject.
    pub label: String,
    /// The author.
    pub author: Person,
    /// When it was authored.
    pub date: Option<Date>,
    /// The whole message.
    pub message: String,
    /// What stood below the message and is no part of it.
    pub notes: String,
    /// What it does to the tree.
    pub content: Content,
}

/// What a patch does to the tree.
#[derive(Clone, Debug)]
pub enum Content {
    /// Changes, file by file.
    Files(Vec<FilePatch>),
    /// The tree after it is known.
    Tree(Oid),
}

impl IncomingPatch {
    /// The first line of the message.
    #[must_use]
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}
