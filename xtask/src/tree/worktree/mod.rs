//! Source folders for building: files of a commit on the disk, made from the
//! store and moved from one rendering to the next by rewriting only what differs,
//! so that make rebuilds what it must and no more.
//!
//! One folder a base, under a lock. A manifest beside it tells what was left
//! there: what others changed since is put back (and kept aside), a worktree that
//! was being changed when we were killed is completed.

mod checkout;
mod difference;
mod manifest;
mod room;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use git2::Oid;

use crate::error::{IoContext as _, Result};
use crate::host::lock::{self, Lock};
use crate::host::paths::Dirs;
use crate::host::ui::Ui;
use crate::tree::store::Store;
use crate::tree::view::TreeView;
use crate::tree::{Base, object::ObjectKind};
use checkout::Wanted;
pub use difference::{Changes, difference};
use manifest::Manifest;
use scan::Foreign;

/// A source folder that holds a commit's files, ours as long as this lives.
#[derive(Debug)]
pub struct Worktree {
    /// The folder with the files.
    pub path: PathBuf,
    /// What its files are of.
    pub commit: Oid,
    /// How many files were written or removed to get there.
    pub changed: usize,
    _lock: Lock,
}

/// The files of one worktree's folder.
struct Place {
    top: PathBuf,
}

impl Place {
    fn source(&self) -> PathBuf {
        self.top.join("source")
    }
    fn manifest(&self) -> PathBuf {
        self.top.join("manifest")
    }
    /// Stands while files are being changed.
    fn changing(&self) -> PathBuf {
        self.top.join("changing")
    }
    /// Where foreign changes are kept.
    fn aside(&self) -> PathBuf {
        self.top.join("set-aside")
    }
}

/// Where the worktrees are.
fn folder(dirs: &Dirs) -> PathBuf {
    dirs.cache().join("worktrees")
}

/// Gives the worktree of `base` with the files of `commit` in it, which must be
/// in the store. Waits when another process has it.
///
/// # Errors
/// When an object is missing, or the disk cannot take the files; the next call
/// then goes on from what is there.
pub fn worktree(ui: &Ui, dirs: &Dirs, store: &Store, base: &Base, commit: Oid) -> Result<Worktree> {
    let all = folder(dirs);
    let place = Place { top: all.join(&base.name) };
    let lock = lock::take(ui, &place.top.join("lock"), &format!("the worktree of {}", base.name))?;
    let tree = store.repo().find_commit(commit)?.tree_id();
    let view = TreeView::new(store, tree);
    let known = Manifest::read(&place.manifest()).filter(|_| place.source().is_dir());
    let changed = match known {
        Some(known) => go_on(ui, store, &place, &view, known, &base.name)?,
        None => {
            room::make(ui, &all, &place.top);
            begin(ui, store, &place, &view, &base.name)?
        }
    };
    Ok(Worktree { path: place.source(), commit, changed, _lock: lock })
}

/// Makes a new worktree beside its place, and puts it there when it is whole.
fn begin(ui: &Ui, store: &Store, place: &Place, view: &TreeView<'_>, name: &str) -> Result<usize> {
    let part = place.top.join("source.part");
    for old in [&part, &place.source()] {
        if old.symlink_metadata().is_ok() {
            fs::remove_dir_all(old).at("remove", old)?;
        }
    }
    let changes = difference(view, None)?;
    let wanted = wanted(&changes);
    room::check(store, &wanted, &place.top)?;
    fs::create_dir_all(&part).at("create folder", &part)?;
    let step = ui.progress(format!("worktree of {name}"), wanted.len() as u64, false);
    let written = checkout::write(store.path(), &part, &wanted, &step).inspect_err(|_| {
        // A part is of no use to anyone, and the disk may be full of it.
        let _ = fs::remove_dir_all(&part);
    })?;
    let count = written.len();
    let files = written.into_iter().collect();
    let _ = fs::remove_file(place.changing());
    Manifest { tree: view.tree_id(), files }.write(&place.manifest())?;
    fs::rename(&part, place.source()).at("rename into place", &part)?;
    step.done(&format!("{count} files"));
    Ok(count)
}

/// Moves a worktree to another tree.
fn go_on(
    ui: &Ui,
    store: &Store,
    place: &Place,
    view: &TreeView<'_>,
    mut manifest: Manifest,
    name: &str,
) -> Result<usize> {
    let half_made = half_made(store, place, &manifest);
    let found = scan::scan(&place.source(), &manifest)?;
    let mut changes = difference(view, Some(manifest.tree))?;
    if found.foreign.is_empty()
        && found.touched.is_empty()
        && changes.is_empty()
        && half_made.is_none()
    {
        return Ok(0);
    }
    if !found.foreign.is_empty() {
        // After a kill some of it is our own work.
        let ours = |path: &[u8]| half_made.as_ref().is_some_and(|h| touches(h, path));
        let others: BTreeMap<_, _> = found.foreign.iter().filter(|(p, _)| !ours(p)).collect();
        set_aside(ui, place, &others, name)?;
        for (path, foreign) in &found.foreign {
            let was = manifest.files.get(path).map(|k| (k.mode, k.id));
            let place_it = changes.entry(path.clone()).or_insert(match foreign {
                Foreign::Extra => None,
                Foreign::Changed | Foreign::Missing => was,
            });
            if *foreign == Foreign::Extra && place_it.is_none() {
                remove_extra(&place.source(), path)?;
            }
        }
    }
    fs::write(place.changing(), view.tree_id().to_string()).at("write", &place.changing())?;
    for (path, stat) in found.touched {
        if let Some(kept) = manifest.files.get_mut(&path) {
            kept.stat = stat;
        }
    }
    let wanted = wanted(&changes);
    let step = ui.progress(format!("worktree of {name}"), wanted.len() as u64, false);
    let gone: Vec<&Vec<u8>> = changes.iter().filter(|(_, c)| c.is_none()).map(|(p, _)| p).collect();
    checkout::remove(&place.source(), gone.iter().copied())?;
    for path in gone {
        manifest.files.remove(path);
    }
    for (path, kept) in checkout::write(store.path(), &place.source(), &wanted, &step)? {
        manifest.files.insert(path, kept);
    }
    manifest.tree = view.tree_id();
    manifest.write(&place.manifest())?;
    fs::remove_file(place.changing()).at("remove", &place.changing())?;
    step.done(&format!("{} files changed", changes.len()));
    Ok(changes.len())
}

/// What an earlier call was changing when it was killed; `None` when it was not.
fn half_made(store: &Store, place: &Place, manifest: &Manifest) -> Option<Changes> {
    let target = fs::read_to_string(place.changing()).ok()?;
    let target = Oid::from_str(&target).ok().filter(|t| store.has(*t).unwrap_or(false));
    let changes =
        target.and_then(|t| difference(&TreeView::new(store, t), Some(manifest.tree)).ok());
    Some(changes.unwrap_or_default())
}

/// Whether `changes` has `path`, or something below it.
fn touches(changes: &Changes, path: &[u8]) -> bool {
    let below = |p: &[u8]| p.strip_prefix(path).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
    changes.range(path.to_vec()..).take_while(|(p, _)| p.starts_with(path)).any(|(p, _)| below(p))
}

fn wanted(changes: &Changes) -> Vec<Wanted> {
    let wanted = changes.iter().filter_map(|(path, change)| {
        let (mode, id) = (*change)?;
        Some(Wanted { path: path.clone(), mode, id })
    });
    wanted.collect()
}

fn remove_extra(source: &Path, path: &[u8]) -> Result<()> {
    let extra = source.join(OsStr::from_bytes(path));
    match extra.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(&extra).at("remove", &extra),
        Ok(_) => fs::remove_file(&extra).at("remove", &extra),
        Err(_) => Ok(()),
    }
}

/// Keeps what others put into the worktree, and says so: it may be someone's
/// work, though this folder is no place for it.
fn set_aside(
    ui: &Ui,
    place: &Place,
    foreign: &BTreeMap<&Vec<u8>, &Foreign>,
    name: &str,
) -> Result<()> {
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S").to_string();
    let aside = place.aside().join(now);
    let mut shown = Vec::new();
    for (path, what) in foreign {
        // Python leaves these behind wherever one of the kernel's scripts runs.
        if scan::split(path).1 == b"__pycache__" {
            continue;
        }
        if shown.len() < 5 {
            shown.push(format!("{} ({})", path.escape_ascii(), what.word()));
        }
        let from = place.source().join(OsStr::from_bytes(path));
        if **what == Foreign::Missing || from.symlink_metadata().is_err() {
            continue;
        }
        let to = aside.join(OsStr::from_bytes(path));
        if let Some(dir) = to.parent() {
            fs::create_dir_all(dir).at("create folder", dir)?;
        }
        fs::rename(&from, &to).at("move aside", &from)?;
    }
    if !shown.is_empty() {
        ui.warn(&format!(
            "the worktree of {name} was changed by others and is put back: {}{}{}",
            shown.join(", "),
            if foreign.len() > shown.len() { ", …" } else { "" },
            if aside.exists() {
                format!("; what was there is kept in {}", aside.display())
            } else {
                String::new()
            },
        ));
    }
    Ok(())
}

/// The bytes that the blobs of `wanted` have, by their headers alone.
fn bytes_of(store: &Store, wanted: &[Wanted]) -> Result<u64> {
    let odb = store.repo().odb()?;
    let mut sum = 0;
    for w in wanted {
        let (size, _) = odb.read_header(w.id).map_err(|_| store.missing(ObjectKind::Blob, w.id))?;
        sum += size as u64;
    }
    Ok(sum)
}
