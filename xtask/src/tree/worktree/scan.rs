//! Looking at a worktree on the disk: what in it is not as it was left.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rayon::prelude::*;

use crate::error::{IoContext as _, Result};
use crate::tree::object::{self, Mode, ObjectKind};
use crate::tree::worktree::manifest::{Kept, Manifest, Stat};

/// How a path differs from the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Its content, mode or kind was changed.
    Changed,
    /// It is gone.
    Missing,
    /// The manifest does not know it.
    Extra,
}

impl Foreign {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Foreign::Changed => "changed",
            Foreign::Missing => "missing",
            Foreign::Extra => "not of the tree",
        }
    }
}

/// What a look at the disk found.
#[derive(Debug, Default)]
pub struct Found {
    /// Paths that are not as they were left.
    pub foreign: BTreeMap<Vec<u8>, Foreign>,
    /// Files that were touched but have the same content: their new state.
    pub touched: Vec<(Vec<u8>, Stat)>,
}

type Folders<'m> = HashMap<&'m [u8], HashMap<&'m [u8], Known<'m>>>;

enum Known<'m> {
    File(&'m Kept),
    Folder,
}

/// Compares the folder `top` with the manifest, on all cores.
///
/// # Errors
/// When a folder cannot be read.
pub fn scan(top: &Path, manifest: &Manifest) -> Result<Found> {
    let folders = folders(manifest);
    let found: Result<Vec<Found>> =
        folders.par_iter().map(|(folder, known)| scan_folder(top, folder, known)).collect();
    let mut all = Found::default();
    for f in found? {
        all.foreign.extend(f.foreign);
        all.touched.extend(f.touched);
    }
    Ok(all)
}

/// The manifest by folders: the names that each should have.
fn folders(manifest: &Manifest) -> Folders<'_> {
    let mut folders: Folders<'_> = HashMap::new();
    folders.entry(b"").or_default();
    for (path, kept) in &manifest.files {
        let (mut folder, name) = split(path);
        folders.entry(folder).or_default().insert(name, Known::File(kept));
        while !folder.is_empty() {
            let (parent, name) = split(folder);
            let first_time = folders.entry(parent).or_default().insert(name, Known::Folder);
            if first_time.is_some() {
                break;
            }
            folder = parent;
        }
    }
    folders
}

/// Folder and name of a path; the folder of a top name is empty.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(i) => (path.get(..i).unwrap_or_default(), path.get(i + 1..).unwrap_or_default()),
        None => (&[], path),
    }
}

fn scan_folder(top: &Path, folder: &[u8], known: &HashMap<&[u8], Known<'_>>) -> Result<Found> {
    let dir = top.join(OsStr::from_bytes(folder));
    let mut found = Found::default();
    let mut seen = 0;
    // A link in a folder's place is not followed: what it leads to is not ours.
    let is_folder = dir.symlink_metadata().is_ok_and(|m| m.is_dir());
    let listed =
        if is_folder { fs::read_dir(&dir) } else { Err(io::ErrorKind::NotADirectory.into()) };
    let entries = match listed {
        Ok(entries) => entries,
        // A folder that is gone, or is a file now: that shows in its parent,
        // and its files are missing.
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            for (name, _) in known.iter().filter(|(_, k)| matches!(k, Known::File(_))) {
                found.foreign.insert(join(folder, name), Foreign::Missing);
            }
            return Ok(found);
        }
        Err(e) => return Err(e).at("read", &dir),
    };
    for entry in entries {
        let entry = entry.at("read", &dir)?;
        let name = entry.file_name().into_vec();
        let path = join(folder, &name);
        let Some(should) = known.get(name.as_slice()) else {
            found.foreign.insert(path, Foreign::Extra);
            continue;
        };
        seen += 1;
        let meta = entry.metadata().at("read", &entry.path())?;
        match should {
            Known::Folder if meta.is_dir() => {}
            Known::Folder => {
                found.foreign.insert(path, Foreign::Extra);
            }
            Known::File(kept) if kept.stat == Stat::of(&meta) => {}
            Known::File(kept) => match same_content(&entry.path(), &meta, kept) {
                true => found.touched.push((path, Stat::of(&meta))),
                false => {
                    found.foreign.insert(path, Foreign::Changed);
                }
            },
        }
    }
    if seen < known.len() {
        for (name, _) in known.iter().filter(|(_, k)| matches!(k, Known::File(_))) {
            let path = join(folder, name);
            if dir.join(OsStr::from_bytes(name)).symlink_metadata().is_err() {
                found.foreign.insert(path, Foreign::Missing);
            }
        }
    }
    Ok(found)
}

/// Whether the file still has the mode and the content that it was given. One
/// that cannot be read does not.
fn same_content(path: &Path, meta: &fs::Metadata, kept: &Kept) -> bool {
    let mode = match meta.file_type() {
        t if t.is_symlink() => Mode::Symlink,
        t if t.is_file() && meta.permissions().mode() & 0o100 != 0 => Mode::Executable,
        t if t.is_file() => Mode::File,
        _ => return false,
    };
    if mode != kept.mode {
        return false;
    }
    let bytes = match mode {
        Mode::Symlink => fs::read_link(path).map(|t| t.into_os_string().into_vec()),
        _ => fs::read(path),
    };
    bytes.is_ok_and(|b| object::id_of(ObjectKind::Blob, &b) == kept.id)
}

fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}
