//! A branch in a user's clone: the one thing that is ever written there, and
//! only when asked for. The objects go first, then one ref in one step.

use std::path::Path;

use git2::{ErrorCode, ObjectType, Oid, Repository};

use crate::error::{Error, Result};
use crate::tree::store::Store;

/// The longest name of a file, without the `.lock` that git puts behind it, in bytes.
const LONGEST: usize = 255 - ".lock".len();

/// Puts the commits from `base` (left out) to `head` into the clone at `path` and
/// makes `name` point to `head`. A branch that is there is only replaced with
/// `force`, and never one that is checked out.
///
/// # Errors
/// When the clone lacks the base, the name is no branch name, the branch is
/// there, or the clone cannot be written.
pub fn publish(
    store: &Store,
    path: &Path,
    name: &str,
    base: Oid,
    head: Oid,
    force: bool,
) -> Result<()> {
    let asked = || format!("branch {name} in {}", path.display());
    let clone = Repository::open(path).map_err(|e| {
        Error::usage(asked()).found(format!("it is no git clone ({})", e.message()))
    })?;
    // git reads a lone @ as HEAD, and refs/heads/x as the branch x.
    if name == "@"
        || name.starts_with("refs/")
        || !git2::Branch::name_is_valid(name).unwrap_or(false)
    {
        return Err(Error::usage(asked())
            .found("git does not take this name")
            .hint("`git check-ref-format --branch NAME` tells what is wrong with it"));
    }
    // Each part of the name is a file, and is locked by one with `.lock` behind it.
    if let Some(part) = name.split('/').find(|part| part.len() > LONGEST) {
        return Err(Error::usage(asked())
            .found(format!("a part of the name has {} bytes, and files {LONGEST}", part.len()))
            .hint("take a shorter name"));
    }
    if !clone.odb()?.exists(base) {
        return Err(Error::usage(asked())
            .found(format!("the clone does not have the base commit {base}"))
            .hint("render onto a base of that clone: --base PATH@REV")
            .hint(format!(
                "or bring the base there: git -C {} fetch {} {base}",
                path.display(),
                store.path().display()
            )));
    }
    let refname = format!("refs/heads/{name}");
    let old = match clone.refname_to_id(&refname) {
        Ok(old) if old == head => return Ok(()),
        Ok(old) if !force => {
            return Err(Error::usage(asked())
                .found(format!("it is there, at {old}"))
                .hint("take another name, or replace it with --force"));
        }
        Ok(old) => Some(old),
        Err(e) if e.code() == ErrorCode::NotFound => None,
        Err(e) => return Err(e.into()),
    };
    if let Some(other) = in_the_way(&clone, name)? {
        return Err(Error::usage(asked())
            .found(format!("there is a branch {other}; a name and a folder of names cannot be one"))
            .hint("take another name"));
    }
    if old.is_some() {
        let branch = clone.find_branch(name, git2::BranchType::Local)?;
        if is_checked_out(&clone, &branch)? {
            return Err(Error::usage(asked())
                .found("it is checked out there")
                .hint("check out another branch first, or take another name"));
        }
    }
    copy(store, &clone, base, head)?;
    let log = format!("kseries: render onto {base}");
    let made = match old {
        // Only if it is still what we saw.
        Some(old) => clone.reference_matching(&refname, head, true, old, &log),
        None => clone.reference(&refname, head, false, &log),
    };
    made.map(drop).map_err(|e| {
        Error::host(asked())
            .found(e.message().to_owned())
            .hint("something else changed it at the same time, or the clone is not writable")
    })
}

/// A branch whose name is a folder of this one, or has this one as its folder.
fn in_the_way(clone: &Repository, name: &str) -> Result<Option<String>> {
    for (at, _) in name.match_indices('/') {
        let folder = name.get(..at).unwrap_or_default();
        if clone.refname_to_id(&format!("refs/heads/{folder}")).is_ok() {
            return Ok(Some(folder.to_owned()));
        }
    }
    let inside = format!("refs/heads/{name}/");
    for other in clone.references_glob("refs/heads/*")?.names() {
        let other = other?;
        if other.starts_with(&inside) {
            return Ok(other.strip_prefix("refs/heads/").map(str::to_owned));
        }
    }
    Ok(None)
}

fn is_checked_out(clone: &Repository, branch: &git2::Branch<'_>) -> Result<bool> {
    let name = branch.get().name_bytes().to_vec();
    let head_is = |repo: &Repository| {
        repo.find_reference("HEAD")
            .ok()
            .and_then(|h| h.symbolic_target_bytes().map(|target| target == name.as_slice()))
    };
    if !clone.is_bare() && head_is(clone) == Some(true) {
        return Ok(true);
    }
    for worktree in clone.worktrees()?.iter().flatten().flatten() {
        let linked = clone.find_worktree(worktree).and_then(|w| Repository::open_from_worktree(&w));
        if linked.is_ok_and(|repo| head_is(&repo) == Some(true)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Copies the commits between the two, and the trees and blobs that the clone
/// does not have.
fn copy(store: &Store, clone: &Repository, base: Oid, head: Oid) -> Result<()> {
    let from = store.repo();
    let source = from.odb()?;
    let sink = clone.odb()?;
    let put = |id: Oid| -> Result<()> {
        let object = source.read(id)?;
        sink.write(object.kind(), object.data())?;
        Ok(())
    };
    let mut commits = Vec::new();
    let mut at = head;
    while at != base {
        let commit = from.find_commit(at)?;
        commits.push(at);
        at = commit.parent_id(0)?;
    }
    // Oldest first, and each after its trees: a kill leaves no object that
    // refers to one that is not there.
    for id in commits.into_iter().rev() {
        copy_tree(from, &sink, from.find_commit(id)?.tree_id(), &put)?;
        put(id)?;
    }
    Ok(())
}

fn copy_tree(
    from: &Repository,
    sink: &git2::Odb<'_>,
    tree: Oid,
    put: &impl Fn(Oid) -> Result<()>,
) -> Result<()> {
    if sink.exists(tree) {
        return Ok(());
    }
    for entry in &from.find_tree(tree)? {
        match entry.kind() {
            Some(ObjectType::Tree) => copy_tree(from, sink, entry.id(), put)?,
            Some(ObjectType::Blob) if !sink.exists(entry.id()) => put(entry.id())?,
            _ => {}
        }
    }
    put(tree)
}
