//! The paths that differ between two trees: only folders whose ids differ are
//! looked into.

use std::collections::BTreeMap;

use git2::Oid;

use crate::error::Result;
use crate::tree::object::{Entry, Mode};
use crate::tree::view::TreeView;

/// What a path is in the new tree: a file's mode and blob, or `None` where the
/// old tree has a file and the new one none.
pub type Changes = BTreeMap<Vec<u8>, Option<(Mode, Oid)>>;

/// The files that are to be written or removed to get from the tree `old`
/// (nothing when not given) to the one that `view` shows.
///
/// # Errors
/// When a tree cannot be read.
pub fn difference(view: &TreeView<'_>, old: Option<Oid>) -> Result<Changes> {
    let mut changes = Changes::new();
    walk(view, &mut Vec::new(), old, Some(view.tree_id()), &mut changes)?;
    Ok(changes)
}

fn walk(
    view: &TreeView<'_>,
    path: &mut Vec<u8>,
    old: Option<Oid>,
    new: Option<Oid>,
    changes: &mut Changes,
) -> Result<()> {
    if old == new {
        return Ok(());
    }
    let old = old.map(|id| view.entries(id)).transpose()?;
    let new = new.map(|id| view.entries(id)).transpose()?;
    let mut pairs: BTreeMap<&[u8], (Option<&Entry>, Option<&Entry>)> = BTreeMap::new();
    for e in old.iter().flat_map(|o| o.iter()) {
        pairs.entry(&e.name).or_default().0 = Some(e);
    }
    for e in new.iter().flat_map(|n| n.iter()) {
        pairs.entry(&e.name).or_default().1 = Some(e);
    }
    for (name, (old, new)) in pairs {
        let as_dir = |e: Option<&Entry>| e.filter(|e| e.mode() == Some(Mode::Dir)).map(|e| e.id);
        let as_file =
            |e: Option<&Entry>| e.and_then(|e| Some((e.mode().filter(|m| m.is_blob())?, e.id)));
        let len = path.len();
        if len > 0 {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        if as_file(old) != as_file(new) {
            changes.insert(path.clone(), as_file(new));
        }
        walk(view, path, as_dir(old), as_dir(new), changes)?;
        path.truncate(len);
    }
    Ok(())
}
