//! The diffs of many commits, made by several threads and taken in order.

use std::sync::mpsc::sync_channel;

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::diff::{self, Attributes, FileDiff};

/// Diffs that wait to be taken, at most, for each thread: a bound on memory.
const AHEAD: usize = 8;
/// More threads than this wait for the one that takes.
const MOST: usize = 8;

/// Compares the trees of each of `pairs` and hands the results to `take`, in
/// order. `base` is the tree whose attributes rule.
///
/// # Errors
/// When an object is missing or broken, or as `take` says; no more is taken then.
pub fn in_order(
    repo: &Repository,
    base: Option<Oid>,
    pairs: &[(Option<Oid>, Oid)],
    mut take: impl FnMut(usize, Vec<FileDiff>) -> Result<()>,
) -> Result<()> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(pairs.len()).min(MOST);
    if threads < 2 {
        let attributes = Attributes::of_tree(repo, base)?;
        for (i, &(old, new)) in pairs.iter().enumerate() {
            take(i, diff::trees(repo, old, new, &attributes)?)?;
        }
        return Ok(());
    }
    let path = repo.path();
    std::thread::scope(|scope| {
        let mut made = Vec::with_capacity(threads);
        for first in 0..threads {
            let (tell, told) = sync_channel(AHEAD);
            made.push(told);
            // libgit2's repositories belong to one thread at a time.
            scope.spawn(move || {
                let done = || -> Result<()> {
                    let repo = Repository::open(path)?;
                    let attributes = Attributes::of_tree(&repo, base)?;
                    for &(old, new) in pairs.iter().skip(first).step_by(threads) {
                        let files = diff::trees(&repo, old, new, &attributes)?;
                        if tell.send(Ok(files)).is_err() {
                            // Nobody takes any more.
                            break;
                        }
                    }
                    Ok(())
                };
                if let Err(e) = done() {
                    drop(tell.send(Err(e)));
                }
            });
        }
        for i in 0..pairs.len() {
            let told = made.get(i % threads).and_then(|told| told.recv().ok());
            let files = told.ok_or_else(|| Error::host("a thread that compares trees ended"))??;
            take(i, files)?;
        }
        Ok(())
    })
}
