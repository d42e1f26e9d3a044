//! Patch ids: what a patch changes, whatever it stands on. Archives find a mail
//! by the id that `git patch-id --stable` gives of it.

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::borrowed::Borrowed;

/// The stable patch ids of commits, in their order.
///
/// # Errors
/// When git is missing, or a commit changes nothing.
pub fn stable(repo: &Repository, commits: &[Oid]) -> Result<Vec<Oid>> {
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let borrowed = Borrowed::of(repo)?;
    let list: String = commits.iter().map(|id| format!("{id}\n")).collect();
    // Renames as in the mails, which is what others take the ids of.
    let diffs = borrowed
        .git()
        .args(["diff-tree", "--stdin", "-p", "-M", "--root", "--full-index", "--binary"])
        .stdin(list)
        .run()?;
    let output = borrowed.git().args(["patch-id", "--stable"]).stdin(diffs.stdout).run()?;
    let text = output.text();
    let mut ids = Vec::with_capacity(commits.len());
    for commit in commits {
        let name = commit.to_string();
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let id = lines.find(|(_, of)| *of == name).and_then(|(id, _)| id.parse().ok());
        ids.push(id.ok_or_else(|| {
            Error::usage(format!("the patch id of commit {name}")).found("it changes nothing")
        })?);
    }
    Ok(ids)
}
