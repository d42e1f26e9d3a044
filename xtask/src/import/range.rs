//! Commits as a source: a range of a clone, or a branch that b4 prepared.

use std::fs;
use std::path::Path;

use git2::{Repository, Sort};

use crate::error::{Error, Result};
use crate::host::paths::Dirs;
use crate::host::ui::Ui;
use crate::mail::Person;
use crate::mail::apply::patches;
use crate::mail::commit::CommitText;
use crate::mail::diff::{self, Attributes};
use crate::render::plan::tidy;
use crate::tree::{self, Oid, Store};

use super::b4;
use super::incoming::{Content, Incoming, IncomingPatch};
use super::mails::named;

/// How far back the cover letter of a prepared branch is sought.
const FARTHEST: usize = 5000;

/// The series in `range` (`A..B`, or a branch that b4 prepared) of the clone at `path`.
///
/// # Errors
/// When there is no such clone or range, it has merges, or a commit changes nothing.
pub fn read(ui: &Ui, dirs: &Dirs, store: &Store, path: &Path, range: &str) -> Result<Incoming> {
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // It makes the clone's objects readable in the store.
    let find = |rev: &str| {
        let base = tree::resolve(ui, dirs, store, &format!("{}@{rev}", full.display()))?;
        Ok::<Oid, Error>(base.commit)
    };
    let mut incoming = Incoming { version: 1, ..Incoming::default() };
    let (commits, base) = match range.split_once("..") {
        Some((old, new)) => {
            let new = new.strip_prefix('.').unwrap_or(new);
            let or_head =
                |rev: &str| if rev.is_empty() { "HEAD".to_owned() } else { rev.to_owned() };
            let (old, new) = (find(&or_head(old))?, find(&or_head(new))?);
            let mut commits = between(store, old, new, range)?;
            let Some(first) = commits.first() else {
                return Err(empty(range));
            };
            let base = parent(store, *first)?;
            if let Some(at) =
                commits.iter().position(|c| message(store, *c).is_ok_and(|m| b4::is_cover(&m)))
            {
                let cover = commits.remove(at);
                b4::take(&message(store, cover)?, &mut incoming)?;
            }
            (commits, base)
        }
        None => prepared(store, &full, range, find(range)?, &mut incoming)?,
    };
    if commits.is_empty() {
        return Err(empty(range));
    }
    incoming.base = Some(format!("{}@{base}", full.display()));
    incoming.origin = format!("commits {range} of {}", full.display());
    for id in commits {
        incoming.patches.push(patch(store, id)?);
    }
    Ok(incoming)
}

fn empty(range: &str) -> Error {
    Error::usage(format!("the range {range}"))
        .found("no commit is in it")
        .hint("OLD..NEW has the commits of NEW that OLD does not have")
}

/// The commits of a branch that b4 prepared, and what they stand on.
fn prepared(
    store: &Store,
    path: &Path,
    branch: &str,
    tip: Oid,
    incoming: &mut Incoming,
) -> Result<(Vec<Oid>, Oid)> {
    let mut walk = store.repo().revwalk()?;
    walk.simplify_first_parent()?;
    walk.push(tip)?;
    for id in walk.take(FARTHEST) {
        let id = id?;
        let message = message(store, id)?;
        if !b4::is_cover(&message) {
            continue;
        }
        let on = b4::take(&message, incoming)?;
        if id != tip {
            return Ok((between(store, id, tip, branch)?, parent(store, id)?));
        }
        // The cover letter is the last commit.
        let last = parent(store, tip)?;
        let base = fork(store, path, on.as_deref(), tip)?;
        return Ok((between(store, base, last, branch)?, base));
    }
    let repo = Repository::open(path)?;
    let config = repo.config()?;
    let name = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    let setting = |key: &str| config.get_string(&format!("branch.{name}.{key}")).ok();
    let Some(json) = setting("b4-tracking") else {
        return Err(Error::usage(format!("{branch} of {}", path.display()))
            .found("one revision, and no branch that b4 prepared: it has no cover letter")
            .hint("name the commits as PATH@OLD..NEW"));
    };
    let text = setting("description").unwrap_or_default();
    let on = b4::take_parts(&text, &json, incoming)?;
    let base = fork(store, path, on.as_deref(), tip)?;
    Ok((between(store, base, tip, branch)?, base))
}

/// Where the branch left the one that it is based on.
fn fork(store: &Store, path: &Path, on: Option<&str>, tip: Oid) -> Result<Oid> {
    let on = on.ok_or_else(|| {
        Error::usage("b4's tracking data name no base branch")
            .hint("name the commits as PATH@OLD..NEW")
    })?;
    let other = Repository::open(path)?;
    let other = other.revparse_single(on).and_then(|o| o.peel_to_commit()).map(|c| c.id());
    other.and_then(|other| store.repo().merge_base(other, tip)).map_err(|e| {
        Error::usage(format!("the base branch {on} of {}", path.display()))
            .found(e.message().to_owned())
            .hint("name the commits as PATH@OLD..NEW")
    })
}

/// The commits after `old` up to `new`: each the parent of the next.
fn between(store: &Store, old: Oid, new: Oid, range: &str) -> Result<Vec<Oid>> {
    let mut walk = store.repo().revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
    walk.push(new)?;
    walk.hide(old)?;
    let commits = walk.collect::<std::result::Result<Vec<Oid>, _>>()?;
    for (i, id) in commits.iter().enumerate() {
        let commit = store.repo().find_commit(*id)?;
        let before = i.checked_sub(1).and_then(|i| commits.get(i));
        let follows = before.is_none_or(|b| commit.parent_id(0).is_ok_and(|p| p == *b));
        if commit.parent_count() != 1 || !follows {
            return Err(Error::usage(format!("the range {range}"))
                .found(format!("commit {id} is a merge, or beside one"))
                .hint("rebase the series: its commits must follow each other"));
        }
    }
    Ok(commits)
}

fn parent(store: &Store, id: Oid) -> Result<Oid> {
    store
        .repo()
        .find_commit(id)?
        .parent_id(0)
        .map_err(|_| Error::usage(format!("commit {id}")).found("it has no parent to be based on"))
}

fn message(store: &Store, id: Oid) -> Result<String> {
    let commit = store.repo().find_commit(id)?;
    Ok(String::from_utf8_lossy(commit.message_bytes()).into_owned())
}

fn patch(store: &Store, id: Oid) -> Result<IncomingPatch> {
    let commit = CommitText::read(store.repo(), id)?;
    let (subject, body) = commit.subject();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let message = tidy(&format!("{}\n\n{}", text(&subject), text(body)));
    if subject.is_empty() {
        return Err(Error::usage(format!("commit {id}")).found("it has no message"));
    }
    Ok(IncomingPatch {
        label: format!("commit {id} (\"{}\")", text(&subject)),
        author: named(Person::new(text(&commit.name), text(&commit.email))),
        date: Some(commit.date),
        message,
        notes: String::new(),
        content: Content::Tree(commit.tree),
    })
}

/// Makes patches of the commits, to be applied to another tree than theirs;
/// `base` is the one they stand on.
///
/// # Errors
/// When an object is missing.
pub fn detach(store: &Store, base: Oid, incoming: &mut Incoming) -> Result<()> {
    let mut before = base;
    for patch in &mut incoming.patches {
        let Content::Tree(after) = patch.content else { continue };
        let attributes = Attributes::of_tree(store.repo(), Some(before))?;
        let files = diff::trees(store.repo(), Some(before), after, &attributes)?;
        let text: Vec<u8> = files.into_iter().flat_map(|f| f.text).collect();
        patch.content = Content::Files(patches(&text)?);
        before = after;
    }
    Ok(())
}
