//! Executes a plan: the planned files become trees and commits in the store.
//! Same series and same base give the same ids on any machine.

use jiff::Timestamp;
use jiff::tz::Offset;

use crate::error::{Error, Result};
use crate::series::model::{Date, Person, Series};
use crate::series::version::Version;
use crate::tree::{Base, CommitSpec, Mode, Oid, Signature, Store, TreeEdit, TreeView, commit};

use super::below::Ground;
use super::overlay::Changes;
use super::plan::{PlannedPatch, Whole};
use super::source::{Source, SourceFile};
use super::template::BaseFacts;
use super::verdict::Verdict;
use super::{RenderedPatch, Rendering};

/// A tree in the store as a source of files.
pub struct StoreSource<'s> {
    view: TreeView<'s>,
}

impl<'s> StoreSource<'s> {
    /// Of a tree in the store.
    #[must_use]
    pub fn new(store: &'s Store, tree: Oid) -> StoreSource<'s> {
        StoreSource { view: TreeView::new(store, tree) }
    }
}

impl Source for StoreSource<'_> {
    fn read(&self, path: &str) -> Result<Option<SourceFile>> {
        let blob = self.view.read(path)?;
        Ok(blob.map(|b| SourceFile { mode: b.mode.raw(), bytes: b.bytes, scan: None }))
    }

    fn is_folder(&self, path: &str) -> Result<bool> {
        Ok(self.view.entry(path)?.is_some_and(|(mode, _)| mode == Mode::Dir))
    }

    fn blob(&self, id: &str) -> Result<Option<Vec<u8>>> {
        if !id.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let found = self.view.store().repo().revparse_single(id).ok();
        Ok(found.and_then(|o| o.into_blob().ok()).map(|b| b.content().to_vec()))
    }
}

/// What templates and probes are told of a base.
#[must_use]
pub fn facts(base: &Base) -> BaseFacts {
    let v = &base.version;
    BaseFacts { name: base.label.clone(), version: Version::new(v.major, v.minor, v.patch) }
}

/// Makes the commits of a plan, patch by patch.
pub struct Executor<'a> {
    store: &'a Store,
    series: &'a Series,
    head: Oid,
    tree: Oid,
    /// Commits so far.
    made: i64,
    patches: Vec<RenderedPatch>,
}

impl<'a> Executor<'a> {
    /// Begins on a commit with its tree.
    #[must_use]
    pub fn new(store: &'a Store, series: &'a Series, (head, tree): (Oid, Oid)) -> Executor<'a> {
        Executor { store, series, head, tree, made: 0, patches: Vec::new() }
    }

    /// Makes the commit of the next patch, if it applies, and gives the trees
    /// before and after it.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn patch(&mut self, planned: &PlannedPatch) -> Result<Option<(Oid, Oid)>> {
        let mut rendered = RenderedPatch {
            name: planned.name.clone(),
            verdict: planned.verdict.clone(),
            commit: None,
            tree: None,
            message: planned.message.clone(),
            unread: planned.unread.clone(),
        };
        let mut trees = None;
        if rendered.verdict == Verdict::Applies {
            self.made += 1;
            let before = self.tree;
            self.tree = apply(self.store, before, &planned.changes)?;
            trees = Some((before, self.tree));
            let patch = self.series.patch(&rendered.name);
            let author = patch.and_then(|p| p.author.as_ref()).unwrap_or(&self.series.author);
            let who = match patch.and_then(|p| p.date) {
                Some(date) => signature(author, date, 0)?,
                None => signature(author, self.series.date, self.made)?,
            };
            let spec = CommitSpec {
                tree: self.tree,
                parents: vec![self.head],
                author: who.clone(),
                // The committer too, so that the id depends on no user.
                committer: who,
                message: rendered.message.clone(),
            };
            self.head = commit(self.store, &spec)?;
            rendered.commit = Some(self.head);
            rendered.tree = Some(self.tree);
        }
        self.patches.push(rendered);
        Ok(trees)
    }

    /// The last commit with its tree.
    #[must_use]
    pub fn top(&self) -> (Oid, Oid) {
        (self.head, self.tree)
    }

    /// The commits so far.
    pub fn commits(&self) -> impl Iterator<Item = Oid> {
        self.patches.iter().filter_map(|p| p.commit)
    }

    /// What was made on top of `ground`.
    #[must_use]
    pub fn rendering(self, base: &Base, ground: Ground, whole: Whole) -> Rendering {
        Rendering {
            series: self.series.name.clone(),
            base: base.clone(),
            below: ground.below,
            onto: ground.onto.0,
            patches: self.patches,
            head: self.head,
            tree: self.tree,
            state: whole.verdict,
            cover: whole.cover,
        }
    }
}

/// The tree with these changes.
///
/// # Errors
/// When the store cannot be written.
pub fn apply(store: &Store, tree: Oid, changes: &Changes) -> Result<Oid> {
    let mut edit = TreeEdit::new(store, tree);
    // First what goes: a file may make room for a folder.
    for (path, _) in changes.iter().filter(|(_, entry)| entry.is_none()) {
        edit.delete(path)?;
    }
    for (path, entry) in changes {
        let Some(entry) = entry else { continue };
        let mode = Mode::from_raw(entry.mode).ok_or_else(|| {
            Error::usage(format!("{path} with mode {:o}", entry.mode))
                .found("git does not know this mode")
        })?;
        edit.write(path, mode, entry.text.bytes())?;
    }
    edit.finish()
}

/// A commit's author at the series' date and `seconds` more.
///
/// # Errors
/// When the date is beyond what there is.
pub fn signature(person: &Person, date: Date, seconds: i64) -> Result<Signature> {
    let bad = |e: jiff::Error| Error::usage("the date of a patch").found(e.to_string());
    Ok(Signature {
        name: person.name.clone(),
        email: person.email.clone(),
        when: Timestamp::from_second(date.seconds.saturating_add(seconds)).map_err(bad)?,
        offset: Offset::from_seconds(date.offset.saturating_mul(60)).map_err(bad)?,
    })
}
