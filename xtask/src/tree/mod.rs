//! Kernel trees: what a user may name as a base, how it comes into the store,
//! and how trees there are read, changed and committed.
//!
//! The only module that opens git repositories. Everything else sees a [`Store`],
//! a [`Base`] and ids.

pub mod apt;
pub mod branch;
mod clone;
pub mod commit;
mod download;
pub mod edit;
mod fetch;
pub mod import;
pub mod known;
pub mod object;
pub mod record;
pub mod spec;
pub mod store;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod version;
pub mod view;
pub mod worktree;

pub use commit::{CommitSpec, Signature, commit};
pub use edit::TreeEdit;
pub use git2::Oid;
pub use known::{Known, Origin};
pub use object::{Entry, Mode};
pub use spec::BaseSpec;
pub use store::{Store, isolate_libgit2};
pub use version::KernelVersion;
pub use view::{FileBlob, FileReader, Listed, TreeView};
pub use worktree::{Worktree, worktree};

use std::path::Path;

use crate::error::{Error, Result};
use crate::host::lock::Lock;
use crate::host::paths::Dirs;
use crate::host::ui::Ui;
use record::{Record, Stamp};

/// A kernel tree at one state, in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// A short name that can stand in paths: `6.12`, `net-next`. No two bases of one
    /// cache share it.
    pub name: String,
    /// It without what tells clones in folders of one name apart, so that it does not
    /// depend on the cache: what stands in mails.
    pub label: String,
    /// What was asked for.
    pub spec: String,
    /// Its commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// What the top of its Makefile says.
    pub version: KernelVersion,
    /// Where it came from, for a reader.
    pub origin: String,
}

/// Finds the base `spec`, and brings it into the store when it is not there:
/// that may download and import.
///
/// # Errors
/// When the spec names nothing, or the base cannot be had.
pub fn resolve(ui: &Ui, dirs: &Dirs, store: &Store, spec: &str) -> Result<Base> {
    let known = Known::load(dirs)?;
    let spec = BaseSpec::parse(spec, &known)?;
    if let Some(base) = at_hand(ui, store, &spec)? {
        return Ok(base);
    }
    bring(ui, dirs, store, &known, &spec, false)
}

/// The base `spec` if it is at hand: a clone, or in the store already. Never
/// downloads or imports.
///
/// # Errors
/// When the spec names nothing.
pub fn lookup(ui: &Ui, dirs: &Dirs, store: &Store, spec: &str) -> Result<Option<Base>> {
    let spec = BaseSpec::parse(spec, &Known::load(dirs)?)?;
    at_hand(ui, store, &spec)
}

/// Brings the newest state of the base `spec` into the store, whether one is
/// there or not.
///
/// # Errors
/// As [`resolve`].
pub fn refresh(ui: &Ui, dirs: &Dirs, store: &Store, spec: &str) -> Result<Base> {
    let known = Known::load(dirs)?;
    let spec = BaseSpec::parse(spec, &known)?;
    bring(ui, dirs, store, &known, &spec, true)
}

/// Removes an imported base: its record, its ref, and the pack that the import
/// made unless another base has it too. What was rendered on it can be read no
/// more until it is imported again, which gives the same ids.
///
/// # Errors
/// When it is a clone, or is not in the store.
pub fn forget(ui: &Ui, dirs: &Dirs, store: &Store, spec: &str) -> Result<()> {
    let spec = BaseSpec::parse(spec, &Known::load(dirs)?)?;
    let _held = store.lock(ui)?;
    record::remove(store, &spec)
}

fn at_hand(ui: &Ui, store: &Store, spec: &BaseSpec) -> Result<Option<Base>> {
    if let Origin::Clone { path, rev } = &spec.origin {
        let (commit, tree) = clone::find(ui, store, path, rev.as_deref())?;
        let version = version_of(store, tree, &spec.asked)?;
        let mut base = base(spec, commit, tree, version);
        if !spec.known {
            base.name = record::name_of_clone(store, &spec.label, path)?;
        }
        return Ok(Some(base));
    }
    let record = record::find(store, spec)?;
    Ok(record.map(|r| base(spec, r.commit, r.tree, r.version)))
}

fn base(spec: &BaseSpec, commit: Oid, tree: Oid, version: KernelVersion) -> Base {
    Base {
        name: spec.label.clone(),
        label: spec.label.clone(),
        spec: spec.asked.clone(),
        commit,
        tree,
        version,
        origin: spec.origin.to_string(),
    }
}

fn bring(
    ui: &Ui,
    dirs: &Dirs,
    store: &Store,
    known: &Known,
    spec: &BaseSpec,
    fresh: bool,
) -> Result<Base> {
    if let (Origin::Clone { .. }, Some(base)) = (&spec.origin, at_hand(ui, store, spec)?) {
        return Ok(base);
    }
    let held = store.lock(ui)?;
    // Another run may have brought it while we waited.
    store.repo().odb()?.refresh()?;
    if !fresh && let Some(base) = at_hand(ui, store, spec)? {
        return Ok(base);
    }
    store.begin(&held)?;
    let record = obtain(ui, dirs, store, known, spec, fresh, &held)
        .and_then(|record| record::keep(store, spec, &record).map(|()| record));
    store.end(&held);
    let record = record?;
    Ok(base(spec, record.commit, record.tree, record.version))
}

/// Downloads, fetches or imports what the spec names.
fn obtain(
    ui: &Ui,
    dirs: &Dirs,
    store: &Store,
    known: &Known,
    spec: &BaseSpec,
    fresh: bool,
    held: &Lock,
) -> Result<Record> {
    let path = match &spec.origin {
        Origin::Clone { path, rev } => {
            let (commit, tree) = clone::find(ui, store, path, rev.as_deref())?;
            return fetched(store, spec, commit, tree);
        }
        Origin::Git { url, branch } => {
            let name = record::ref_name(&spec.key());
            let commit = fetch::fetch(ui, store, url, branch.as_deref(), &name)?;
            let tree = store.repo().find_commit(commit)?.tree_id();
            return fetched(store, spec, commit, tree).inspect_err(|_| {
                if let Ok(mut name) = store.repo().find_reference(&name) {
                    let _ = name.delete();
                }
            });
        }
        Origin::Archive { path } => path.clone(),
        Origin::ArchiveUrl { url } => download::get(ui, dirs, url, fresh)?,
        Origin::Debian { package, suite, exact } => {
            apt::fetch(ui, dirs, known, package, suite.as_deref(), *exact)?
        }
    };
    import_archive(ui, store, held, spec, &path)
}

fn fetched(store: &Store, spec: &BaseSpec, commit: Oid, tree: Oid) -> Result<Record> {
    Ok(Record {
        label: spec.label.clone(),
        origin: spec.origin.clone(),
        commit,
        tree,
        version: version_of(store, tree, &spec.asked)?,
        archive: None,
        pack: None,
    })
}

fn import_archive(
    ui: &Ui,
    store: &Store,
    held: &Lock,
    spec: &BaseSpec,
    path: &Path,
) -> Result<Record> {
    let stamp = Stamp::of(path)?;
    let done = import::import(ui, store, held, path)?;
    Ok(Record {
        label: spec.label.clone(),
        origin: spec.origin.clone(),
        commit: done.commit,
        tree: done.tree,
        version: done.version,
        archive: Some(stamp),
        pack: Some(done.pack),
    })
}

/// What the Makefile at the top of `tree` says.
fn version_of(store: &Store, tree: Oid, asked: &str) -> Result<KernelVersion> {
    let view = TreeView::new(store, tree);
    let makefile = view.read("Makefile")?;
    makefile.and_then(|m| KernelVersion::from_makefile(&m.bytes)).ok_or_else(|| {
        Error::usage(format!("base {asked}")).found(
            "it is no kernel tree: the Makefile at its top is missing or does not say VERSION, PATCHLEVEL and SUBLEVEL",
        )
    })
}
