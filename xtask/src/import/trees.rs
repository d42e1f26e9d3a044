//! The tree after each patch of a series, as `git am -3` would make it.

use std::collections::BTreeMap;

use git2::{MergeFileInput, merge_file};

use crate::error::{Error, Kind, Result};
use crate::mail::apply::{FilePatch, Payload, apply_hunks, patch_delta};
use crate::tree::object::ObjectKind;
use crate::tree::{Mode, Oid, Store, TreeEdit, TreeView};

use super::incoming::{Content, IncomingPatch};
use super::place;

/// The tree after each patch, from `base` on. They are in the store then. Says in
/// `notes` where a change had to be merged.
///
/// # Errors
/// A conflict when a patch does not apply, usage when it changes nothing or
/// what no series can hold.
pub fn after_each(
    store: &Store,
    base: Oid,
    patches: &[IncomingPatch],
    notes: &mut Vec<String>,
) -> Result<Vec<Oid>> {
    let mut tree = base;
    let mut out = Vec::new();
    for patch in patches {
        let next = match &patch.content {
            Content::Tree(after) => {
                let e = submodule(store, tree, *after)?;
                e.map_or(
                    Ok(()),
                    |e| Err(e.context(format!("{} cannot be imported", patch.label))),
                )?;
                *after
            }
            Content::Files(files) => {
                let mut merged = Vec::new();
                let next = apply(store, tree, files, &mut merged).map_err(|e| {
                    e.context(format!("{} does not apply", patch.label))
                        .hint("name the tree that it was made on with --base")
                })?;
                let note = |file| format!("{}: merged three-way in {file}", patch.label);
                notes.extend(merged.into_iter().map(note));
                next
            }
        };
        if next == tree {
            return Err(Error::usage(format!("{} changes nothing", patch.label))
                .found("a series has no patches without a change")
                .hint("leave it out"));
        }
        out.push(next);
        tree = next;
    }
    Ok(out)
}

#[derive(Clone)]
struct File {
    mode: u32,
    bytes: Vec<u8>,
}

/// The tree with the patches of one mail.
fn apply(store: &Store, tree: Oid, files: &[FilePatch], merged: &mut Vec<String>) -> Result<Oid> {
    let view = TreeView::new(store, tree);
    // What the mail itself has made of a path so far.
    let mut made: BTreeMap<String, Option<File>> = BTreeMap::new();
    for patch in files {
        let old = patch.old.as_deref().map(text).transpose()?;
        let new = patch.new.as_deref().map(text).transpose()?;
        let name = new.or(old).unwrap_or_default();
        let in_file = |e: Error| e.context(format!("in {name}"));
        if [patch.old_mode, patch.new_mode].contains(&Some(0o160_000)) {
            return Err(odd_mode(name, 0o160_000));
        }
        // A file that moves is read as it was before the mail: two may change names.
        let moves = old != new || patch.copy;
        let before = match old {
            None => None,
            Some(path) => match made.get(path).filter(|_| !moves) {
                Some(file) => file.clone(),
                None => read(&view, path)?,
            },
        };
        // Without git's own lines, a file that is not there is a new one.
        let creates = old.is_none() || (before.is_none() && begins_empty(patch));
        if before.is_none() && !creates {
            return Err(in_file(Error::conflict("the tree has no such file")));
        }
        let bytes = match content(patch, before.as_ref()) {
            Err(e) if e.kind() == Kind::Conflict => {
                let found = merge(store, patch, before.as_ref())?;
                let found = found.ok_or_else(|| in_file(e))?;
                merged.push(name.to_owned());
                found
            }
            other => other.map_err(in_file)?,
        };
        if let Some(path) = old.filter(|_| !creates && !patch.copy && old != new) {
            if new.is_none() && !bytes.is_empty() {
                return Err(in_file(Error::conflict("the file has more than the patch deletes")));
            }
            made.insert(path.to_owned(), None);
        }
        let Some(path) = new else { continue };
        if creates || moves {
            let there = match made.get(path) {
                Some(file) => file.is_some(),
                // Another patch of the mail may move it away.
                None => {
                    let leaves = |p: &FilePatch| !p.copy && p.old != p.new && p.old == patch.new;
                    // (a folder of that name may be emptied by the same mail)
                    let taken = view.entry(path)?.is_some_and(|(mode, _)| mode != Mode::Dir);
                    taken && !files.iter().any(leaves)
                }
            };
            if there {
                return Err(in_file(Error::conflict("there is a file of that name already")));
            }
        }
        let mode = patch.new_mode.or(before.map(|f| f.mode)).unwrap_or(0o100_644);
        if bytes.is_empty() && !creates && patch.new_mode.is_none() && ends_absent(patch) {
            made.insert(path.to_owned(), None);
            continue;
        }
        made.insert(path.to_owned(), Some(File { mode, bytes }));
    }
    let mut edit = TreeEdit::new(store, tree);
    for (path, _) in made.iter().filter(|(_, file)| file.is_none()) {
        edit.delete(path)?;
    }
    for (path, file) in made {
        let Some(File { mode, bytes }) = file else { continue };
        let plain = Mode::from_raw(mode).filter(|m| m.is_blob());
        let plain = plain.ok_or_else(|| odd_mode(&path, mode))?;
        edit.write(&path, plain, bytes)?;
    }
    edit.finish()
}

/// What is wrong where a submodule differs between two trees.
fn submodule(store: &Store, before: Oid, after: Oid) -> Result<Option<Error>> {
    let repo = store.repo();
    let (before, after) = (repo.find_tree(before)?, repo.find_tree(after)?);
    let diff = repo.diff_tree_to_tree(Some(&before), Some(&after), None)?;
    let sides = diff.deltas().flat_map(|d| {
        [d.old_file(), d.new_file()].map(|f| (f.mode(), f.path_bytes().map(<[u8]>::to_vec)))
    });
    let mut links = sides.filter(|(mode, _)| *mode == git2::FileMode::Commit);
    Ok(links
        .next()
        .map(|(_, path)| odd_mode(&String::from_utf8_lossy(&path.unwrap_or_default()), 0o160_000)))
}

fn odd_mode(path: &str, mode: u32) -> Error {
    Error::usage(format!("{path} has mode {mode:o}"))
        .found("a series holds files and symbolic links, no submodules")
}

fn text(name: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(name).map_err(|_| {
        Error::usage("a patch of a file whose name is not UTF-8")
            .found(name.escape_ascii().to_string())
    })?;
    crate::host::paths::stay_below(text, "file in a patch")?;
    Ok(text)
}

fn read(view: &TreeView<'_>, path: &str) -> Result<Option<File>> {
    if let Some((mode, _)) = view.entry(path)?.filter(|(mode, _)| mode.raw() == 0o160_000) {
        return Err(odd_mode(path, mode.raw()));
    }
    Ok(view.read(path)?.map(|f| File { mode: f.mode.raw(), bytes: f.bytes }))
}

/// A plain diff (no git's) of a new file: its first hunk has no old lines.
fn begins_empty(patch: &FilePatch) -> bool {
    matches!(&patch.payload, Payload::Hunks(hunks)
        if patch.ids.is_none() && hunks.first().is_some_and(|h| h.old == (0, 0)))
}

/// A plain diff of a deleted file: its last hunk has no new lines.
fn ends_absent(patch: &FilePatch) -> bool {
    matches!(&patch.payload, Payload::Hunks(hunks)
        if patch.ids.is_none() && hunks.last().is_some_and(|h| h.new == (0, 0)))
}

fn content(patch: &FilePatch, before: Option<&File>) -> Result<Vec<u8>> {
    let old = before.map_or(&[][..], |f| f.bytes.as_slice());
    match &patch.payload {
        Payload::Nothing => Ok(old.to_vec()),
        Payload::Hunks(hunks) => place::apply(old, hunks),
        Payload::Literal(bytes) => Ok(bytes.clone()),
        Payload::Delta(delta) => patch_delta(old, delta)
            .ok_or_else(|| Error::conflict("its binary delta is for another content")),
    }
}

/// The change merged into the file at hand, where the store has the file that
/// the patch was made for; `None` where it does not, or both changed the same.
fn merge(store: &Store, patch: &FilePatch, before: Option<&File>) -> Result<Option<Vec<u8>>> {
    let (Payload::Hunks(hunks), Some((id, _)), Some(file)) = (&patch.payload, &patch.ids, before)
    else {
        return Ok(None);
    };
    if id.len() < 7 || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let found = store.repo().revparse_single(id).ok().and_then(|o| o.into_blob().ok());
    let Some(ancestor) = found else { return Ok(None) };
    let Ok(theirs) = apply_hunks(ancestor.content(), hunks) else { return Ok(None) };
    // The next patch of this file was made for it.
    store.write(ObjectKind::Blob, &theirs)?;
    let [mut base, mut ours, mut wanted] = [(); 3].map(|()| MergeFileInput::new());
    base.content(ancestor.content());
    ours.content(&file.bytes);
    wanted.content(&theirs);
    let merge = merge_file(&base, &ours, &wanted, None)?;
    Ok(merge.is_automergeable().then(|| merge.content().to_vec()))
}
