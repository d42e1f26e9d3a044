//! The tree objects of an imported archive, from the paths of its files.

use std::collections::{BTreeMap, HashSet};

use git2::Oid;

use crate::error::{Error, Result};
use crate::tree::import::members::Placed;
use crate::tree::import::pipeline::Packed;
use crate::tree::object::{self, Entry, Mode, ObjectKind};

/// A folder: its files, and its folders.
#[derive(Default)]
struct Folder<'p> {
    files: BTreeMap<&'p [u8], Placed>,
    folders: BTreeMap<&'p [u8], Folder<'p>>,
}

/// Writes the trees into the pack and gives the top one's id.
///
/// # Errors
/// When a file stands where a folder is needed, or the disk cannot take it.
pub fn write(packed: &mut Packed) -> Result<Oid> {
    let files = std::mem::take(&mut packed.members.files);
    let strip = common_top(files.keys()).map_or(0, |top| top.len() + 1);
    let mut top = Folder::default();
    for (path, &placed) in &files {
        let path = path.get(strip..).unwrap_or_default();
        place(&mut top, path, placed)?;
    }
    let mut written = HashSet::new();
    write_folder(packed, &mut written, &top)
}

/// The one folder that all members are in, as release tarballs have it.
pub(crate) fn common_top<'p>(mut paths: impl Iterator<Item = &'p Vec<u8>>) -> Option<&'p [u8]> {
    fn top(path: &[u8]) -> Option<&[u8]> {
        path.get(..memchr::memchr(b'/', path)?)
    }
    let first = top(paths.next()?)?;
    paths.all(|p| top(p) == Some(first)).then_some(first)
}

fn place<'p>(top: &mut Folder<'p>, path: &'p [u8], placed: Placed) -> Result<()> {
    let clash = || {
        Error::usage("the archive is no source tree")
            .found(format!("{} is in the way of a folder of the same name", path.escape_ascii()))
    };
    let mut at = top;
    let mut names = path.split(|&b| b == b'/').peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            if at.folders.contains_key(name) {
                return Err(clash());
            }
            at.files.insert(name, placed);
            return Ok(());
        }
        if at.files.contains_key(name) {
            return Err(clash());
        }
        at = at.folders.entry(name).or_default();
    }
    Ok(())
}

fn write_folder(
    packed: &mut Packed,
    written: &mut HashSet<Oid>,
    folder: &Folder<'_>,
) -> Result<Oid> {
    let mut entries = Vec::with_capacity(folder.files.len() + folder.folders.len());
    for (name, placed) in &folder.files {
        let id = packed.id(placed.content)?;
        entries.push(Entry { name: name.to_vec(), raw_mode: placed.mode.raw(), id });
    }
    for (name, below) in &folder.folders {
        let id = write_folder(packed, written, below)?;
        entries.push(Entry { name: name.to_vec(), raw_mode: Mode::Dir.raw(), id });
    }
    object::sort(&mut entries);
    let bytes = object::tree_bytes(&entries);
    let id = object::id_of(ObjectKind::Tree, &bytes);
    if written.insert(id) {
        packed.add(ObjectKind::Tree, id, &bytes)?;
    }
    Ok(id)
}
