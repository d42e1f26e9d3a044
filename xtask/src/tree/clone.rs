//! A user's git clone as a base: opened for reading, its objects reached through
//! the store's alternates. Nothing in it is ever written.

use std::path::Path;

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::host::ui::Ui;
use crate::tree::store::Store;

/// Finds `rev` (HEAD when not said) in the clone at `path` and makes its objects
/// readable in the store. Gives the commit and its tree.
///
/// # Errors
/// When the path is no clone, or has no such revision.
pub fn find(ui: &Ui, store: &Store, path: &Path, rev: Option<&str>) -> Result<(Oid, Oid)> {
    let clone = Repository::open(path).map_err(|e| {
        Error::usage(format!("base {}", path.display()))
            .found(format!("it is no git clone ({})", e.message()))
            .hint(
                "name a clone, or a tarball; a plain folder becomes a clone by \
                   `git init && git add -f . && git commit -m base`",
            )
    })?;
    let rev = rev.unwrap_or("HEAD");
    let object = clone.revparse_single(rev).map_err(|e| no_rev(&clone, path, rev, e.message()))?;
    let commit =
        object.peel_to_commit().map_err(|_| no_rev(&clone, path, rev, "it names no commit"))?;
    store.add_alternate(ui, &clone.commondir().join("objects"))?;
    Ok((commit.id(), commit.tree_id()))
}

fn no_rev(clone: &Repository, path: &Path, rev: &str, why: &str) -> Error {
    let error = Error::usage(format!("revision \"{}\" of {}", rev.escape_debug(), path.display()))
        .found(why);
    let mut near: Vec<(f32, String)> = Vec::new();
    if let Ok(refs) = clone.references() {
        for name in refs.flatten().filter_map(|r| r.shorthand().ok().map(str::to_owned)) {
            let ratio = similar::TextDiff::from_chars(rev, &name).ratio();
            if ratio >= 0.5 {
                near.push((ratio, name));
            }
        }
    }
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let names: Vec<String> = near.into_iter().take(3).map(|(_, n)| n).collect();
    if names.is_empty() {
        error.hint("`git branch -a` and `git tag` list what there is; fetch it first")
    } else {
        error.hint(format!("nearest: {}", names.join(", ")))
    }
}
