//! Applies mailed patches in the object database, exactly: every context line
//! must stand where the patch says it stands.
//!
//! This is the reader's half of the round trip. It has its own patch parser,
//! hunk engine and tree writer and takes nothing from the half that wrote the
//! mails, so that an error there cannot hide here.

mod bytes;
mod hunks;
mod names;
mod parse;
mod tree;

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::input::Mail;
use crate::mail::mailinfo::{self, Received};
use crate::mail::person::Person;

pub use bytes::patch_delta;
pub use hunks::apply as apply_hunks;
pub use parse::{FilePatch, Hunk, Kind as LineKind, Payload, patches};

/// What a mail came to.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The tree after it.
    pub tree: Oid,
    /// The author, as `git am` would record it.
    pub author: Person,
    /// The text of the Date header that counts.
    pub date: Option<String>,
    /// The commit message, as `git am` would record it.
    pub message: Vec<u8>,
}

/// Applies the patches in `mails`, one on top of the other, onto `base_tree`;
/// a cover letter is passed over. Nothing is written to the repository.
///
/// # Errors
/// [`Conflict`](crate::error::Kind::Conflict) when a patch does not apply
/// exactly; usage errors when a mail cannot be read.
pub fn apply(repo: &Repository, base_tree: Oid, mails: &[Mail]) -> Result<Vec<Applied>> {
    let mut applier = Applier::new(repo, Some(base_tree), mailinfo::Options::default())?;
    mails
        .iter()
        .filter(|m| m.number > 0)
        .map(|m| {
            applier.mail(&m.bytes).map_err(|e| e.context(format!("{} does not apply", m.file_name)))
        })
        .collect()
}

/// Applies mails one after the other.
pub struct Applier<'r> {
    tree: tree::Overlay<'r>,
    options: mailinfo::Options,
}

impl<'r> Applier<'r> {
    /// Begins at `base_tree`; `None` is an empty one.
    ///
    /// # Errors
    /// When the object database cannot be opened.
    pub fn new(
        repo: &'r Repository,
        base_tree: Option<Oid>,
        options: mailinfo::Options,
    ) -> Result<Applier<'r>> {
        Ok(Applier { tree: tree::Overlay::new(repo, base_tree)?, options })
    }

    /// Reads one mail and applies its patch.
    ///
    /// # Errors
    /// As [`apply`].
    pub fn mail(&mut self, bytes: &[u8]) -> Result<Applied> {
        let received = mailinfo::parse(bytes, self.options)?;
        self.received(&received)
    }

    /// Applies the patch of a mail that was read already.
    ///
    /// # Errors
    /// As [`apply`].
    pub fn received(&mut self, received: &Received) -> Result<Applied> {
        let patches = patches(&received.patch)?;
        if patches.is_empty() {
            return Err(Error::usage("no patch in the mail")
                .found(format!("subject: {}", received.subject))
                .hint("give patches only, without the cover letter"));
        }
        self.tree.apply(&patches)?;
        let author = received.author.clone().ok_or_else(|| {
            Error::usage("no author in the mail").found("its From header has no address")
        })?;
        Ok(Applied {
            tree: self.tree.id()?,
            author,
            date: received.date.clone(),
            message: received.message(),
        })
    }

    /// Writes the blobs and trees that the repository lacks, so that the last
    /// tree can be committed.
    ///
    /// # Errors
    /// When the object database cannot be written.
    pub fn write(&mut self) -> Result<Oid> {
        self.tree.write()
    }
}
