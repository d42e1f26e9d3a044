//! Writing files of a tree to the disk, on all cores, straight from the objects.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use git2::Oid;
use rayon::prelude::*;

use crate::error::{Error, IoContext as _, Result};
use crate::host::signals;
use crate::host::ui::Step;
use crate::tree::object::{Mode, ObjectKind};
use crate::tree::store::Reader;
use crate::tree::worktree::manifest::{Kept, Stat};
use crate::tree::worktree::scan::split;

/// A file to be written.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Below the worktree's top.
    pub path: Vec<u8>,
    /// File, executable or link.
    pub mode: Mode,
    /// Its content.
    pub id: Oid,
}

/// Writes `files` below `top`, making the folders that they need; what stood at
/// a file's path is replaced. Gives what was written.
///
/// # Errors
/// When a blob is missing, the disk cannot take it, or the user ends it.
pub fn write(
    store: &Path,
    top: &Path,
    files: &[Wanted],
    step: &Step,
) -> Result<Vec<(Vec<u8>, Kept)>> {
    let mut folders = BTreeSet::new();
    for f in files {
        let (mut folder, _) = split(&f.path);
        while !folder.is_empty() && folders.insert(folder) {
            (folder, _) = split(folder);
        }
    }
    // In order, so that each one's parent is there.
    for folder in folders {
        make_folder(&top.join(OsStr::from_bytes(folder)))?;
    }
    files
        .par_chunks(64)
        .map_init(
            || Reader::open(store),
            |reader, chunk| {
                signals::check()?;
                let reader = reader.as_ref().map_err(|e| {
                    Error::host("cannot open the store once more").found(e.to_string())
                })?;
                let mut done = Vec::with_capacity(chunk.len());
                for f in chunk {
                    let path = top.join(OsStr::from_bytes(&f.path));
                    let stat = reader.with(ObjectKind::Blob, f.id, |content| {
                        write_one(&path, f.mode, content)
                    })??;
                    done.push((f.path.clone(), Kept { mode: f.mode, id: f.id, stat }));
                }
                step.advance(chunk.len() as u64);
                Ok(done)
            },
        )
        .try_reduce(Vec::new, |mut a, mut b| {
            a.append(&mut b);
            Ok(a)
        })
}

fn make_folder(dir: &Path) -> Result<()> {
    match fs::create_dir(dir) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            if !dir.symlink_metadata().at("read", dir)?.is_dir() {
                fs::remove_file(dir).at("remove", dir)?;
                fs::create_dir(dir).at("create folder", dir)?;
            }
            Ok(())
        }
        done => done.at("create folder", dir),
    }
}

fn write_one(path: &Path, mode: Mode, content: &[u8]) -> Result<Stat> {
    let create = || -> io::Result<Stat> {
        if mode == Mode::Symlink {
            std::os::unix::fs::symlink(OsStr::from_bytes(content), path)?;
            return Ok(Stat::of(&fs::symlink_metadata(path)?));
        }
        let bits = if mode == Mode::Executable { 0o777 } else { 0o666 };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(bits).open(path)?;
        file.write_all(content)?;
        Ok(Stat::of(&file.metadata()?))
    };
    match create() {
        // Never written through: what is there may be a link to elsewhere.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            let old = path.symlink_metadata().at("read", path)?;
            if old.is_dir() {
                fs::remove_dir_all(path).at("remove", path)?;
            } else {
                fs::remove_file(path).at("remove", path)?;
            }
            create().at("write", path)
        }
        done => done.at("write", path),
    }
}

/// Removes files, and the folders that become empty.
///
/// # Errors
/// When one cannot be removed.
pub fn remove<'p>(top: &Path, paths: impl Iterator<Item = &'p Vec<u8>>) -> Result<()> {
    for path in paths {
        let file = top.join(OsStr::from_bytes(path));
        match fs::remove_file(&file) {
            Err(e)
                if !matches!(
                    e.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::IsADirectory
                ) =>
            {
                return Err(e).at("remove", &file);
            }
            _ => {}
        }
        let (mut folder, _) = split(path);
        // Fails, as it should, at the first folder that is not empty.
        while !folder.is_empty() && fs::remove_dir(top.join(OsStr::from_bytes(folder))).is_ok() {
            (folder, _) = split(folder);
        }
    }
    Ok(())
}
