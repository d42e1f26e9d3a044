//! A tree being changed in memory: folders are read when a path leads into them,
//! and hashed anew when something below them changed.

use std::collections::HashMap;

use git2::{Odb, Oid};

use crate::error::{Error, Result};
use crate::host::paths::is_dot_git;
use crate::mail::apply::parse::{FilePatch, Payload};
use crate::mail::raw_tree::{self, DIRECTORY, GITLINK, TYPE};
use crate::tree::object::{self, ObjectKind};

/// The most that is kept of contents which could be read again, in bytes.
const RECENT: usize = 4 << 20;

/// A tree with changes on top.
pub struct Overlay<'r> {
    odb: Odb<'r>,
    root: Folder,
    /// Contents that the repository does not have.
    contents: HashMap<Oid, Vec<u8>>,
    /// Contents that it has, and that the next mail may well change again.
    recent: HashMap<Oid, Vec<u8>>,
    /// Trees that it does not have, by their last [`Overlay::id`].
    trees: HashMap<Oid, Vec<u8>>,
}

#[derive(Default)]
struct Folder {
    /// Its id, while nothing below has changed.
    id: Option<Oid>,
    /// Its entries, once read.
    entries: Option<Vec<Entry>>,
}

struct Entry {
    name: Vec<u8>,
    mode: u32,
    id: Oid,
    folder: Option<Box<Folder>>,
}

/// A file as it stands.
struct File {
    mode: u32,
    id: Oid,
}

impl<'r> Overlay<'r> {
    /// Nothing changed yet.
    pub fn new(odb: Odb<'r>, tree: Option<Oid>) -> Overlay<'r> {
        let entries = tree.is_none().then(Vec::new);
        let root = Folder { id: tree, entries };
        Overlay {
            odb,
            root,
            contents: HashMap::new(),
            recent: HashMap::new(),
            trees: HashMap::new(),
        }
    }

    /// Applies the patches of one mail: all read the tree as it was before.
    pub fn apply(&mut self, patches: &[FilePatch]) -> Result<()> {
        let leaves = |p: &&FilePatch| !p.copy && p.old != p.new;
        let leaving: Vec<&[u8]> =
            patches.iter().filter(leaves).filter_map(|p| p.old.as_deref()).collect();
        let mut results = Vec::with_capacity(patches.len());
        for patch in patches {
            let name = patch.new.as_ref().or(patch.old.as_ref());
            let name = name.map(|n| String::from_utf8_lossy(n).into_owned()).unwrap_or_default();
            let result =
                self.result(patch, &leaving).map_err(|e| e.context(format!("{name} conflicts")))?;
            results.push((patch, result));
        }
        for (patch, _) in &results {
            if let Some(old) = &patch.old
                && leaves(patch)
            {
                remove(&self.odb, &mut self.root, old)?;
            }
        }
        for (patch, result) in results {
            if let (Some(new), Some(file)) = (&patch.new, result) {
                insert(&self.odb, &mut self.root, new, file)?;
            }
        }
        Ok(())
    }

    /// The file that a patch leads to; `None` when it is deleted.
    fn result(&mut self, patch: &FilePatch, leaving: &[&[u8]]) -> Result<Option<File>> {
        let old = match &patch.old {
            None => None,
            Some(path) => Some(lookup(&self.odb, &mut self.root, path)?.ok_or_else(|| {
                Error::conflict("the tree has no such file")
                    .found(String::from_utf8_lossy(path).into_owned())
            })?),
        };
        // The mail may make room for it itself, where a file changes its type.
        if patch.old.is_none()
            && let Some(path) = patch.new.as_deref().filter(|path| !leaving.contains(path))
            // (a folder of that name may be emptied by the same mail, too)
            && lookup(&self.odb, &mut self.root, path)?.is_some_and(|f| !is_dir(f.mode))
        {
            return Err(Error::conflict("the tree has a file of that name already"));
        }
        if let (Some(old), Some(mode)) = (&old, patch.old_mode)
            && old.mode != mode
        {
            return Err(Error::conflict("the file has another mode")
                .found(format!("{:06o} in place of {mode:06o}", old.mode)));
        }
        check_id("before", patch.ids.as_ref().map(|i| &i.0), old.as_ref().map(|f| f.id))?;
        let id = self.content(patch, old.as_ref())?;
        let deleted = patch.new.is_none();
        if !matches!(patch.payload, Payload::Nothing) || deleted {
            let after = (!deleted).then_some(id).flatten();
            check_id("after", patch.ids.as_ref().map(|i| &i.1), after)?;
        }
        if deleted {
            return Ok(None);
        }
        let mode = patch.new_mode.or(old.as_ref().map(|f| f.mode));
        let mode = mode.ok_or_else(|| Error::usage("a created file has no mode"))?;
        if !matches!(mode, 0o100_644 | 0o100_755 | 0o120_000 | 0o160_000) {
            return Err(Error::usage("a file has a mode that git does not know")
                .found(format!("{mode:06o}")));
        }
        match id {
            Some(id) => Ok(Some(File { mode, id })),
            None => Err(Error::usage("a created file has no content")),
        }
    }

    /// The id of the content after the patch; `None` when there is none.
    fn content(&mut self, patch: &FilePatch, old: Option<&File>) -> Result<Option<Oid>> {
        let gitlink = |mode: Option<u32>| mode.is_some_and(|m| m & TYPE == GITLINK);
        if gitlink(old.map(|f| f.mode)) || gitlink(patch.new_mode) {
            return self.submodule(patch, old);
        }
        if matches!(patch.payload, Payload::Nothing)
            && let Some(old) = old
        {
            return Ok(Some(old.id));
        }
        // A created file without hunks is empty.
        let new = self.with(old, |old| patch.apply_to(old))?;
        if patch.new.is_none() {
            if !new.is_empty() {
                return Err(Error::conflict("the file is deleted, but lines of it are left"));
            }
            return Ok(None);
        }
        let id = object::id_of(ObjectKind::Blob, &new);
        if !self.odb.exists(id) {
            self.contents.insert(id, new);
        } else if new.len() <= RECENT {
            let kept: usize = self.recent.values().map(Vec::len).sum();
            if kept + new.len() > RECENT {
                self.recent.clear();
            }
            self.recent.insert(id, new);
        }
        Ok(Some(id))
    }

    /// Calls `f` with the content of `file`.
    fn with<T>(&self, file: Option<&File>, f: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let Some(file) = file else { return f(b"") };
        match self.contents.get(&file.id).or_else(|| self.recent.get(&file.id)) {
            Some(bytes) => f(bytes),
            None => f(self.odb.read(file.id)?.data()),
        }
    }

    /// A submodule's commit, which stands in the patch as text.
    fn submodule(&self, patch: &FilePatch, old: Option<&File>) -> Result<Option<Oid>> {
        let text = old.map(|f| format!("Subproject commit {}\n", f.id)).unwrap_or_default();
        let new = patch.apply_to(text.as_bytes())?;
        if patch.new.is_none() {
            return Ok(None);
        }
        let id = new.strip_prefix(b"Subproject commit ").and_then(|r| r.strip_suffix(b"\n"));
        let id = id.and_then(|i| std::str::from_utf8(i).ok()).and_then(|i| i.parse::<Oid>().ok());
        match id {
            Some(id) => Ok(Some(id)),
            None => Err(Error::usage("a submodule's patch does not name a commit")),
        }
    }

    /// The id of the tree as it stands.
    pub fn id(&mut self) -> Result<Oid> {
        let mut trees = std::mem::take(&mut self.trees);
        let id = settle(&self.odb, &mut self.root, &mut trees);
        self.trees = trees;
        id
    }

    /// Writes what the repository lacks.
    pub fn write(&mut self) -> Result<Oid> {
        let id = self.id()?;
        for bytes in self.contents.values() {
            self.odb.write(git2::ObjectType::Blob, bytes)?;
        }
        for bytes in self.trees.values() {
            self.odb.write(git2::ObjectType::Tree, bytes)?;
        }
        Ok(id)
    }
}

fn check_id(when: &str, said: Option<&String>, is: Option<Oid>) -> Result<()> {
    let Some(said) = said else { return Ok(()) };
    let is = is.unwrap_or(Oid::ZERO_SHA1).to_string();
    if is.starts_with(said.as_str()) {
        return Ok(());
    }
    Err(Error::conflict(format!("another content {when} the patch"))
        .found(format!("{is} in place of {said}")))
}

impl Folder {
    fn entries(&mut self, odb: &Odb<'_>) -> Result<&mut Vec<Entry>> {
        if self.entries.is_none() {
            let mut all = Vec::new();
            if let Some(id) = self.id {
                let object = odb.read(id)?;
                for e in raw_tree::entries(object.data())? {
                    all.push(Entry { name: e.name.to_vec(), mode: e.mode, id: e.id, folder: None });
                }
            }
            self.entries = Some(all);
        }
        Ok(self.entries.get_or_insert_default())
    }
}

fn split(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b'/', path) {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..)),
        None => (path, None),
    }
}

/// Refuses names that must not get into a tree.
fn check_name(name: &[u8]) -> Result<()> {
    let bad =
        name.is_empty() || name == b"." || name == b".." || is_dot_git(name) || name.contains(&0);
    if !bad {
        return Ok(());
    }
    Err(Error::usage("the patch names a path that leaves the tree")
        .found(format!("the component \"{}\"", name.escape_ascii())))
}

fn is_dir(mode: u32) -> bool {
    mode & TYPE == DIRECTORY
}

fn lookup(odb: &Odb<'_>, folder: &mut Folder, path: &[u8]) -> Result<Option<File>> {
    let (name, rest) = split(path);
    let Some(entry) = folder.entries(odb)?.iter_mut().find(|e| e.name == name) else {
        return Ok(None);
    };
    match rest {
        None => Ok(Some(File { mode: entry.mode, id: entry.id })),
        Some(_) if !is_dir(entry.mode) => Ok(None),
        Some(rest) => lookup(odb, child(entry), rest),
    }
}

fn child(entry: &mut Entry) -> &mut Folder {
    let id = entry.id;
    entry.folder.get_or_insert_with(|| Box::new(Folder { id: Some(id), entries: None }))
}

/// Removes a file, and the folders that it leaves empty.
fn remove(odb: &Odb<'_>, folder: &mut Folder, path: &[u8]) -> Result<bool> {
    let (name, rest) = split(path);
    let entries = folder.entries(odb)?;
    let Some(at) = entries.iter().position(|e| e.name == name) else { return Ok(false) };
    let gone = match (rest, entries.get_mut(at)) {
        (None, _) => true,
        (Some(rest), Some(entry)) if is_dir(entry.mode) => {
            if !remove(odb, child(entry), rest)? {
                return Ok(false);
            }
            child(entry).entries(odb)?.is_empty()
        }
        _ => return Ok(false),
    };
    if gone {
        entries.remove(at);
    }
    folder.id = None;
    Ok(true)
}

fn insert(odb: &Odb<'_>, folder: &mut Folder, path: &[u8], file: File) -> Result<()> {
    let (name, rest) = split(path);
    check_name(name)?;
    let entries = folder.entries(odb)?;
    let mode = if rest.is_some() { DIRECTORY } else { file.mode };
    let at = match entries.iter().position(|e| e.name == name) {
        Some(at) if entries.get(at).is_some_and(|e| is_dir(e.mode) == is_dir(mode)) => at,
        Some(_) => {
            return Err(Error::conflict("a file and a folder want the same name")
                .found(String::from_utf8_lossy(path).into_owned()));
        }
        None => {
            let at = entries.partition_point(|e| {
                raw_tree::order(&e.name, is_dir(e.mode), name, is_dir(mode)).is_lt()
            });
            let folder = rest.is_some().then(Box::<Folder>::default);
            let entry = Entry { name: name.to_vec(), mode, id: Oid::ZERO_SHA1, folder };
            entries.insert(at, entry);
            at
        }
    };
    if let Some(entry) = entries.get_mut(at) {
        match rest {
            Some(rest) => insert(odb, child(entry), rest, file)?,
            None => (entry.mode, entry.id) = (file.mode, file.id),
        }
    }
    folder.id = None;
    Ok(())
}

/// Hashes the folders that changed, innermost first.
fn settle(odb: &Odb<'_>, folder: &mut Folder, new: &mut HashMap<Oid, Vec<u8>>) -> Result<Oid> {
    if let Some(id) = folder.id {
        return Ok(id);
    }
    let mut bytes = Vec::new();
    for entry in folder.entries(odb)? {
        if let Some(folder) = &mut entry.folder {
            entry.id = settle(odb, folder, new)?;
        }
        match entry.mode {
            // Formatting each of 1,500 entries takes as long as hashing them.
            0o100_644 => bytes.extend_from_slice(b"100644 "),
            0o040_000 => bytes.extend_from_slice(b"40000 "),
            mode => bytes.extend_from_slice(format!("{mode:o} ").as_bytes()),
        }
        bytes.extend_from_slice(&entry.name);
        bytes.push(0);
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    let id = object::id_of(ObjectKind::Tree, &bytes);
    if !odb.exists(id) {
        new.insert(id, bytes);
    }
    folder.id = Some(id);
    Ok(id)
}
