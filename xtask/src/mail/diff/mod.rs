//! The diff of two trees in the bytes of `git format-patch -p --stat --summary
//! --binary --abbrev=12`.
//!
//! Hunks come from libgit2 (its xdiff is git's). All around them is written
//! here, because libgit2 differs or depends on the configuration of machine and
//! repository: names and modes, rename detection, binary patches, and the
//! function that a hunk header names (git cuts it at 80 bytes and then trims
//! it; libgit2 knows fewer languages and asks the user's attributes).

pub mod attributes;
pub mod binary;
pub mod change;
mod delta;
pub mod funcname;
pub mod hunks;
pub mod quote;
mod rename;
mod similarity;
pub mod stat;
pub mod write;

use git2::{Oid, Repository};

use crate::error::Result;
pub use attributes::Attributes;
pub use change::{Change, Side};

/// The diff of one file.
#[derive(Clone, Debug)]
pub struct FileDiff {
    /// Which file, from what to what.
    pub change: Change,
    /// Lines, or bytes of the new content when `binary`.
    pub added: usize,
    /// Lines, or bytes of the old content when `binary`.
    pub deleted: usize,
    /// Compared as bytes, not as lines.
    pub binary: bool,
    /// The patch of this file, from its `diff --git` line on.
    pub text: Vec<u8>,
}

/// Compares tree `old` (`None`: nothing) with tree `new`, file by file, in the
/// order in which git shows them.
///
/// # Errors
/// When an object is missing or broken.
pub fn trees(
    repo: &Repository,
    old: Option<Oid>,
    new: Oid,
    attributes: &Attributes,
) -> Result<Vec<FileDiff>> {
    let changes = change::between(&repo.odb()?, old, Some(new))?;
    let changes = rename::detect(repo, attributes, changes)?;
    changes.into_iter().map(|c| write::file(repo, c, attributes)).collect()
}
