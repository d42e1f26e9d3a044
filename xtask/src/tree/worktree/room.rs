//! Room for worktrees: few are kept, and none is begun that the disk cannot hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::host::lock;
use crate::host::ui::Ui;
use crate::tree::store::Store;
use crate::tree::worktree::bytes_of;
use crate::tree::worktree::checkout::Wanted;

/// How many worktrees are kept: those of the known bases, at 1.6 GB each.
const KEPT: usize = 8;

/// Removes the worktrees that were used longest ago, so that one more can be
/// made in `all`; the one at `own` and those in use stay.
pub fn make(ui: &Ui, all: &Path, own: &Path) {
    let Ok(entries) = fs::read_dir(all) else { return };
    let mut old: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p != own)
        .filter_map(|p| Some((fs::metadata(p.join("lock")).ok()?.modified().ok()?, p)))
        .collect();
    old.sort();
    let too_many = (old.len() + 1).saturating_sub(KEPT);
    for (_, path) in old.into_iter().take(too_many) {
        // A failure is of no consequence: it is tried again the next time.
        if let Ok(Ok(_held)) = lock::try_take(&path.join("lock")) {
            ui.note(&format!("removing the worktree {}, unused for longest", path.display()));
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Fails early when the disk at `dir` has no room for the files.
///
/// # Errors
/// When it has not.
pub fn check(store: &Store, wanted: &[Wanted], dir: &Path) -> Result<()> {
    let Ok(disk) = nix::sys::statvfs::statvfs(dir) else { return Ok(()) };
    let block = disk.fragment_size();
    let free = disk.blocks_available() * block;
    // Half a block is lost at each file's end.
    let need = bytes_of(store, wanted)? + wanted.len() as u64 * (block / 2 + 256);
    if free >= need {
        return Ok(());
    }
    Err(Error::host(format!("cannot make a worktree in {}", dir.display()))
        .found(format!("it needs {} MiB, {} MiB are free", need.div_ceil(1 << 20), free >> 20))
        .hint("free some space there, or put the cache elsewhere with XDG_CACHE_HOME"))
}
