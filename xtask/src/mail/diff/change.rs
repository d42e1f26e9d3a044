//! Which files differ between two trees, found by walking only the subtrees
//! whose ids differ.

use git2::{Odb, Oid};

use crate::error::{Error, Result};
use crate::mail::raw_tree::{self, Entry, REGULAR, TYPE};

/// A file on one side of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Its path from the root, as bytes.
    pub path: Vec<u8>,
    /// Type and permissions, as trees have it.
    pub mode: u32,
    /// Its blob (or commit, of a submodule).
    pub id: Oid,
}

impl Side {
    /// Whether it is a regular file, not a symlink or submodule.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.mode & TYPE == REGULAR
    }
}

/// One file's way from the old tree to the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Only the new tree has it.
    Created(Side),
    /// Only the old tree has it.
    Deleted(Side),
    /// Both have it; content, mode or type differ.
    Modified(Side, Side),
    /// It has another name now; the number says how similar both are, in
    /// 60,000ths.
    Renamed(Side, Side, u32),
}

impl Change {
    /// The old side.
    #[must_use]
    pub fn before(&self) -> Option<&Side> {
        match self {
            Change::Created(_) => None,
            Change::Deleted(old) | Change::Modified(old, _) | Change::Renamed(old, _, _) => {
                Some(old)
            }
        }
    }

    /// The new side.
    #[must_use]
    pub fn after(&self) -> Option<&Side> {
        match self {
            Change::Deleted(_) => None,
            Change::Created(new) | Change::Modified(_, new) | Change::Renamed(_, new, _) => {
                Some(new)
            }
        }
    }

    /// The path that it is listed under.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        match self {
            Change::Deleted(side)
            | Change::Created(side)
            | Change::Modified(_, side)
            | Change::Renamed(_, side, _) => &side.path,
        }
    }
}

/// The files that differ, in git's order; renames are not looked for.
///
/// # Errors
/// When a tree is missing or broken.
pub fn between(odb: &Odb<'_>, old: Option<Oid>, new: Option<Oid>) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    let mut path = Vec::new();
    walk(odb, old, new, &mut path, &mut changes)?;
    Ok(changes)
}

/// Folders nested deeper than this are taken for an attack, not a tree.
const DEEPEST: usize = 4096;

fn walk(
    odb: &Odb<'_>,
    old: Option<Oid>,
    new: Option<Oid>,
    path: &mut Vec<u8>,
    changes: &mut Vec<Change>,
) -> Result<()> {
    if old == new {
        return Ok(());
    }
    if path.len() > DEEPEST {
        return Err(Error::usage("cannot compare two trees").found("a path of over 4,096 bytes"));
    }
    let old = old.map(|id| odb.read(id)).transpose()?;
    let new = new.map(|id| odb.read(id)).transpose()?;
    let old = old.as_ref().map_or(&[][..], |o| o.data());
    let new = new.as_ref().map_or(&[][..], |o| o.data());
    for (a, b) in raw_tree::differences(old, new)? {
        entry(odb, a.as_ref(), b.as_ref(), path, changes)?;
    }
    Ok(())
}

/// Entries of the same name and kind, or one alone.
fn entry(
    odb: &Odb<'_>,
    old: Option<&Entry<'_>>,
    new: Option<&Entry<'_>>,
    path: &mut Vec<u8>,
    changes: &mut Vec<Change>,
) -> Result<()> {
    let Some(any) = old.or(new) else { return Ok(()) };
    let length = path.len();
    path.extend_from_slice(any.name);
    if any.is_dir() {
        path.push(b'/');
        walk(odb, old.map(|e| e.id), new.map(|e| e.id), path, changes)?;
    } else {
        let side = |e: &Entry<'_>| Side { path: path.clone(), mode: canonical(e.mode), id: e.id };
        match (old.map(side), new.map(side)) {
            (Some(old), Some(new)) if (old.mode, old.id) == (new.mode, new.id) => {}
            (Some(old), Some(new)) => changes.push(Change::Modified(old, new)),
            (Some(old), None) => changes.push(Change::Deleted(old)),
            (None, Some(new)) => changes.push(Change::Created(new)),
            (None, None) => {}
        }
    }
    path.truncate(length);
    Ok(())
}

/// Old trees may hold other permissions; git shows only whether a file may be run.
fn canonical(mode: u32) -> u32 {
    match mode & TYPE {
        REGULAR => REGULAR | if mode & 0o100 == 0 { 0o644 } else { 0o755 },
        kind => kind,
    }
}
