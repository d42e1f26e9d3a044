//! The diff of two trees in the bytes of `git format-patch -p --stat --summary
//! --binary --abbrev=12`.
//!
//! Hunks come from libgit2 (its xdiff is git's). All around them is written
//! here, because libgit2 differs or depends on the configuration of machine and
//! repository: names and modes, rename detection, binary patches, and the
//! function that a hunk header names (git cuts it at 80 bytes and then trims
//! it; libgit2 knows fewer languages and asks the user's attributes).

pub mod ahead;
pub mod attributes;
pub mod binary;
pub mod change;
mod delta;
pub mod funcname;
pub mod hunks;
pub mod quote;
pub mod regions;
mod rename;
mod similarity;
pub mod stat;
pub mod write;

use std::collections::HashMap;
use std::sync::Arc;

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

/// Contents of files, by path, that need not be read from the repository: those of
/// the old tree, and those of the new one.
#[derive(Clone, Debug, Default)]
pub struct AtHand {
    /// Of the old tree.
    pub old: HashMap<Vec<u8>, Arc<Vec<u8>>>,
    /// Of the new tree.
    pub new: HashMap<Vec<u8>, Arc<Vec<u8>>>,
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
    trees_with(repo, (old, new), attributes, &AtHand::default())
}

/// As [`trees`], with what is known of the files.
///
/// # Errors
/// As [`trees`].
pub fn trees_with(
    repo: &Repository,
    (old, new): (Option<Oid>, Oid),
    attributes: &Attributes,
    at_hand: &AtHand,
) -> Result<Vec<FileDiff>> {
    let changes = change::between(&repo.odb()?, old, Some(new))?;
    let changes = rename::detect(repo, attributes, changes)?;
    changes.into_iter().map(|c| write::file(repo, c, attributes, at_hand)).collect()
}

/// As [`trees_with`], of the files at `paths` alone that both trees have.
///
/// # Errors
/// As [`trees`].
pub fn of_paths(
    repo: &Repository,
    (old, new): (Option<Oid>, Oid),
    paths: &[String],
    attributes: &Attributes<'_>,
    at_hand: &AtHand,
) -> Result<Vec<FileDiff>> {
    let changes = change::between(&repo.odb()?, old, Some(new))?;
    let wanted = |c: &Change| {
        matches!(c, Change::Modified(..)) && paths.iter().any(|p| p.as_bytes() == c.path())
    };
    changes.into_iter().filter(wanted).map(|c| write::file(repo, c, attributes, at_hand)).collect()
}

/// How much each file differs, without its patch: a diffstat over several commits
/// takes what is known of them and compares only the rest.
#[derive(Debug, Default)]
pub struct Counts(HashMap<(Vec<u8>, Oid, Oid), Count>);

#[derive(Clone, Copy, Debug)]
struct Count {
    added: usize,
    deleted: usize,
    binary: bool,
}

impl Counts {
    /// Takes over what was compared.
    pub fn learn(&mut self, files: &[FileDiff]) {
        for file in files {
            let FileDiff { added, deleted, binary, .. } = *file;
            if let Some(key) = key(&file.change) {
                self.0.insert(key, Count { added, deleted, binary });
            }
        }
    }
}

/// Of a file that keeps its name and type; the attributes are those of one base,
/// so that name and contents decide what a comparison gives.
fn key(change: &Change) -> Option<(Vec<u8>, Oid, Oid)> {
    match change {
        Change::Modified(old, new) if old.mode == new.mode => {
            Some((new.path.clone(), old.id, new.id))
        }
        _ => None,
    }
}

/// As [`trees`], for a diffstat: files that `known` has carry no patch.
///
/// # Errors
/// As [`trees`].
pub fn counted(
    repo: &Repository,
    (old, new): (Option<Oid>, Oid),
    attributes: &Attributes<'_>,
    known: &Counts,
) -> Result<Vec<FileDiff>> {
    let changes = change::between(&repo.odb()?, old, Some(new))?;
    let changes = rename::detect(repo, attributes, changes)?;
    changes
        .into_iter()
        .map(|change| match key(&change).and_then(|k| known.0.get(&k)) {
            Some(&Count { added, deleted, binary }) => {
                Ok(FileDiff { change, added, deleted, binary, text: Vec::new() })
            }
            None => write::file(repo, change, attributes, &AtHand::default()),
        })
        .collect()
}
