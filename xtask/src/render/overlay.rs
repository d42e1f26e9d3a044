//! A tree with changes on top: what edits see of the edits before them. Each
//! file is read once, and its scan and syntax trees are kept with it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::error::Result;

use super::file_text::FileText;
use super::source::Source;

/// A file with its mode.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Mode as git has it.
    pub mode: u32,
    /// Content and what is known of it.
    pub text: Rc<FileText>,
}

/// Files of a base, each read once.
pub struct Base<'s> {
    source: &'s dyn Source,
    read: RefCell<HashMap<String, Option<Entry>>>,
}

impl std::fmt::Debug for Base<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Base").field("read", &self.read.borrow().len()).finish_non_exhaustive()
    }
}

impl<'s> Base<'s> {
    /// Of a source.
    #[must_use]
    pub fn new(source: &'s dyn Source) -> Base<'s> {
        Base { source, read: RefCell::new(HashMap::new()) }
    }

    /// The file at `path`.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn get(&self, path: &str) -> Result<Option<Entry>> {
        if let Some(entry) = self.read.borrow().get(path) {
            return Ok(entry.clone());
        }
        let entry = self.source.read(path)?.map(|file| {
            let text = FileText::scanned(path, file.bytes, file.scan);
            Entry { mode: file.mode, text: Rc::new(text) }
        });
        self.read.borrow_mut().insert(path.to_owned(), entry.clone());
        Ok(entry)
    }

    /// The file at `path`, if it was read before.
    fn known(&self, path: &str) -> Option<Entry> {
        self.read.borrow().get(path).cloned().flatten()
    }

    /// The source.
    #[must_use]
    pub fn source(&self) -> &'s dyn Source {
        self.source
    }
}

/// What changes lie on top; `None` for a file that is gone.
pub type Changes = BTreeMap<String, Option<Entry>>;

/// A base with changes on top.
#[derive(Debug)]
pub struct Overlay<'b> {
    base: &'b Base<'b>,
    changes: Changes,
}

impl<'b> Overlay<'b> {
    /// Without any change yet.
    #[must_use]
    pub fn new(base: &'b Base<'b>) -> Overlay<'b> {
        Overlay { base, changes: Changes::new() }
    }

    /// The base below.
    #[must_use]
    pub fn base(&self) -> &'b Base<'b> {
        self.base
    }

    /// The file at `path` as it stands now.
    ///
    /// # Errors
    /// When the base cannot be read.
    pub fn get(&self, path: &str) -> Result<Option<Entry>> {
        match self.changes.get(path) {
            Some(entry) => Ok(entry.clone()),
            None => self.base.get(path),
        }
    }

    /// Why no file can be made at `path`: a file or folder of that name is there,
    /// or the way to it goes through a file.
    ///
    /// # Errors
    /// When the base cannot be read.
    pub fn obstacle(&self, path: &str) -> Result<Option<String>> {
        if self.get(path)?.is_some() {
            return Ok(Some(format!("there is a file {path} already")));
        }
        self.misplaced(path)
    }

    /// Why no file can stand at `path`: it is a folder, or below a file.
    ///
    /// # Errors
    /// When the base cannot be read.
    pub fn misplaced(&self, path: &str) -> Result<Option<String>> {
        for (at, _) in path.match_indices('/') {
            let parent = path.get(..at).unwrap_or_default();
            if self.get(parent)?.is_some() {
                return Ok(Some(format!("{parent} is a file")));
            }
        }
        let below = format!("{path}/");
        let changes = self.changes.range(below.clone()..);
        let (mut live, mut gone) = (false, false);
        for (_, entry) in changes.take_while(|(p, _)| p.starts_with(&below)) {
            live |= entry.is_some();
            gone |= entry.is_none();
        }
        // A folder from which files were taken may be empty now: that is seen when
        // the tree is written.
        let is_folder = live || !gone && self.base.source().is_folder(path)?;
        Ok(is_folder.then(|| format!("{path} is a folder")))
    }

    /// Puts a file.
    pub fn put(&mut self, path: &str, mode: u32, bytes: Vec<u8>) {
        let text = match self.changes.get(path) {
            Some(Some(before)) => before.text.edited(path, bytes),
            Some(None) => FileText::new(path, bytes),
            None => match self.base.known(path) {
                Some(before) => before.text.edited(path, bytes),
                None => FileText::new(path, bytes),
            },
        };
        self.changes.insert(path.to_owned(), Some(Entry { mode, text: Rc::new(text) }));
    }

    /// Takes a file out.
    pub fn remove(&mut self, path: &str) {
        self.changes.insert(path.to_owned(), None);
    }

    /// A copy to try edits on; the files themselves are shared.
    #[must_use]
    pub fn fork(&self) -> Overlay<'b> {
        Overlay { base: self.base, changes: self.changes.clone() }
    }

    /// The files that differ from `before`, with their new content.
    ///
    /// # Errors
    /// When the base cannot be read.
    pub fn changes_since(&self, before: &Overlay<'_>) -> Result<Changes> {
        let mut out = Changes::new();
        for (path, now) in &self.changes {
            let then = before.get(path)?;
            let same = match (now, &then) {
                (None, None) => true,
                (Some(a), Some(b)) => {
                    a.mode == b.mode
                        && (Rc::ptr_eq(&a.text, &b.text) || a.text.bytes() == b.text.bytes())
                }
                _ => false,
            };
            if !same {
                out.insert(path.clone(), now.clone());
            }
        }
        Ok(out)
    }
}
