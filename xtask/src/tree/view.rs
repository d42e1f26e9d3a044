//! Reading a tree in the store: blobs and folders at paths.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use git2::{Odb, Oid};

use crate::error::{Error, Result};
use crate::tree::object::{self, Entry, Mode, ObjectKind};
use crate::tree::store::{Store, read_with};

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBlob {
    /// Regular, executable or symbolic link.
    pub mode: Mode,
    /// Its content; for a link its target.
    pub bytes: Vec<u8>,
}

/// One line of a folder's listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name in its folder. Bytes that are no UTF-8 are replaced.
    pub name: String,
    /// What it is.
    pub mode: Mode,
    /// The object.
    pub id: Oid,
}

/// A tree in the store, to read from. Folders that were read are kept, so many
/// reads below one folder are cheap.
#[derive(Debug)]
pub struct TreeView<'s> {
    store: &'s Store,
    tree: Oid,
    folders: RefCell<HashMap<Oid, Rc<Vec<u8>>>>,
}

impl<'s> TreeView<'s> {
    /// A view of `tree`, which must be in the store.
    #[must_use]
    pub fn new(store: &'s Store, tree: Oid) -> TreeView<'s> {
        TreeView { store, tree, folders: RefCell::default() }
    }

    /// The tree's id.
    #[must_use]
    pub fn tree_id(&self) -> Oid {
        self.tree
    }

    /// The store it is in.
    #[must_use]
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// The file at `path` (with `/` between names), or `None` when there is none
    /// or it is a folder.
    ///
    /// # Errors
    /// When an object cannot be read.
    pub fn read(&self, path: &str) -> Result<Option<FileBlob>> {
        match self.entry(path)? {
            Some((mode, id)) if mode.is_blob() => {
                Ok(Some(FileBlob { mode, bytes: self.store.read(ObjectKind::Blob, id)? }))
            }
            _ => Ok(None),
        }
    }

    /// The file at `path` as text.
    ///
    /// # Errors
    /// When an object cannot be read, or the file is not UTF-8.
    pub fn read_text(&self, path: &str) -> Result<Option<String>> {
        let Some(blob) = self.read(path)? else { return Ok(None) };
        String::from_utf8(blob.bytes).map(Some).map_err(|e| {
            Error::usage(format!("cannot read {path} as text"))
                .found(format!("byte {} is not UTF-8", e.utf8_error().valid_up_to()))
        })
    }

    /// What is at `path`, and its object. The empty path is the tree itself.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn entry(&self, path: &str) -> Result<Option<(Mode, Oid)>> {
        entry_at(self.tree, path, |folder, name| find(&self.folder(folder)?, name))
    }

    /// Whether there is a file or folder at `path`.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.entry(path)?.is_some())
    }

    /// The names in the folder at `path`, in git's order; `None` when there is
    /// no folder. The empty path is the top.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn list(&self, path: &str) -> Result<Option<Vec<Listed>>> {
        let Some((Mode::Dir, id)) = self.entry(path)? else { return Ok(None) };
        let entries = self.entries(id)?;
        let listed = entries.iter().filter_map(|e| {
            let name = String::from_utf8_lossy(&e.name).into_owned();
            Some(Listed { name, mode: e.mode()?, id: e.id })
        });
        Ok(Some(listed.collect()))
    }

    /// The entries of a tree object.
    pub(crate) fn entries(&self, id: Oid) -> Result<Vec<Entry>> {
        object::parse_tree(&self.folder(id)?)
    }

    /// The bytes of a tree object.
    pub(crate) fn folder(&self, id: Oid) -> Result<Rc<Vec<u8>>> {
        if let Some(bytes) = self.folders.borrow().get(&id) {
            return Ok(Rc::clone(bytes));
        }
        let bytes = Rc::new(self.store.read(ObjectKind::Tree, id)?);
        self.folders.borrow_mut().insert(id, Rc::clone(&bytes));
        Ok(bytes)
    }
}

/// Reads files of one tree in a thread of its own. Objects that it reads are kept
/// for all who read through the store.
pub struct FileReader<'s> {
    odb: Odb<'s>,
    store: &'s Path,
    tree: Oid,
}

impl<'s> FileReader<'s> {
    /// Of `tree`, which must be in the store.
    ///
    /// # Errors
    /// When the object database cannot be opened.
    pub fn new(store: &'s Store, tree: Oid) -> Result<FileReader<'s>> {
        Ok(FileReader { odb: store.repo().odb()?, store: store.path(), tree })
    }

    /// As [`TreeView::read`].
    ///
    /// # Errors
    /// As [`TreeView::read`].
    pub fn read(&self, path: &str) -> Result<Option<FileBlob>> {
        let Some((mode, id)) = self.blob(path)? else { return Ok(None) };
        let bytes = read_with(&self.odb, self.store, ObjectKind::Blob, id, <[u8]>::to_vec)?;
        Ok(Some(FileBlob { mode, bytes }))
    }

    /// The bytes of the file at `path`, or `None` when there is none.
    ///
    /// # Errors
    /// As [`TreeView::read`].
    pub fn size(&self, path: &str) -> Result<Option<usize>> {
        let Some((_, id)) = self.blob(path)? else { return Ok(None) };
        Ok(Some(self.odb.read_header(id)?.0))
    }

    fn blob(&self, path: &str) -> Result<Option<(Mode, Oid)>> {
        let found = entry_at(self.tree, path, |folder, name| {
            read_with(&self.odb, self.store, ObjectKind::Tree, folder, |bytes| find(bytes, name))?
        })?;
        Ok(found.filter(|(mode, _)| mode.is_blob()))
    }
}

fn find(folder: &[u8], name: &[u8]) -> Result<Option<(Mode, Oid)>> {
    let found = treebytes::find(folder, name).map_err(object::damaged)?;
    Ok(found.and_then(|e| Some((Mode::from_raw(e.mode)?, e.id))))
}

/// What is at `path` below `tree`; `find` looks a name up in a folder.
fn entry_at(
    tree: Oid,
    path: &str,
    mut find: impl FnMut(Oid, &[u8]) -> Result<Option<(Mode, Oid)>>,
) -> Result<Option<(Mode, Oid)>> {
    let mut at = (Mode::Dir, tree);
    for name in path.split('/').filter(|n| !n.is_empty()) {
        if at.0 != Mode::Dir {
            return Ok(None);
        }
        match find(at.1, name.as_bytes())? {
            Some(next) => at = next,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}
