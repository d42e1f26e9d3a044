//! A tree with changes on top: what edits see of the edits before them. What was
//! read, and found out about it, is kept as long as it is little.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
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

/// What is kept of files that were read, in bytes of content; more is read again.
/// A long series touches files all over the tree, most of them once.
const KEPT: usize = 3 << 20;

/// Files of a base, read once as long as they are few.
pub struct Base<'s> {
    source: &'s dyn Source,
    read: RefCell<Read>,
}

#[derive(Default)]
struct Read {
    files: HashMap<String, Option<Entry>>,
    /// Oldest first, with the bytes of each, which make up the sum.
    order: VecDeque<(String, usize)>,
    sum: usize,
}

impl std::fmt::Debug for Base<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files = self.read.borrow().files.len();
        f.debug_struct("Base").field("read", &files).finish_non_exhaustive()
    }
}

impl<'s> Base<'s> {
    /// Of a source.
    #[must_use]
    pub fn new(source: &'s dyn Source) -> Base<'s> {
        Base { source, read: RefCell::default() }
    }

    /// The file at `path`.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub fn get(&self, path: &str) -> Result<Option<Entry>> {
        if let Some(entry) = self.read.borrow().files.get(path) {
            return Ok(entry.clone());
        }
        let entry = self.source.read(path)?.map(|file| {
            let text = FileText::scanned(path, file.bytes, file.scan);
            Entry { mode: file.mode, text: Rc::new(text) }
        });
        self.read.borrow_mut().keep(path, entry.clone());
        Ok(entry)
    }

    /// The file at `path`, if it was read before.
    fn known(&self, path: &str) -> Option<Entry> {
        self.read.borrow().files.get(path).cloned().flatten()
    }

    /// The source.
    #[must_use]
    pub fn source(&self) -> &'s dyn Source {
        self.source
    }
}

impl Read {
    fn keep(&mut self, path: &str, entry: Option<Entry>) {
        let bytes = entry.as_ref().map_or(0, |e| e.text.bytes().len());
        self.files.insert(path.to_owned(), entry);
        self.order.push_back((path.to_owned(), bytes));
        self.sum += bytes;
        // The newest stays, however large.
        while self.sum > KEPT && self.order.len() > 1 {
            let Some((oldest, bytes)) = self.order.pop_front() else { break };
            self.files.remove(&oldest);
            self.sum -= bytes;
        }
    }
}

/// What changes lie on top; `None` for a file that is gone.
pub type Changes = BTreeMap<String, Option<Entry>>;

/// Files of earlier patches of which all that was found out is kept; of others it
/// is found out again when a later patch changes them, too.
const WARM: usize = 8;

/// A base with changes on top: those of the patches so far, and above them those of
/// the patch that is being made.
#[derive(Debug)]
pub struct Overlay<'b> {
    base: &'b Base<'b>,
    earlier: Changes,
    changes: Changes,
    /// The latest of the earlier ones.
    warm: VecDeque<String>,
}

impl<'b> Overlay<'b> {
    /// Without any change yet.
    #[must_use]
    pub fn new(base: &'b Base<'b>) -> Overlay<'b> {
        let (earlier, changes) = (Changes::new(), Changes::new());
        Overlay { base, earlier, changes, warm: VecDeque::new() }
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
            None => self.before(path),
        }
    }

    /// The file at `path` as it stood before this patch.
    fn before(&self, path: &str) -> Result<Option<Entry>> {
        match self.earlier.get(path) {
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
        let (mut live, mut gone) = (false, false);
        for layer in [&self.changes, &self.earlier] {
            for (path, entry) in
                layer.range(below.clone()..).take_while(|(p, _)| p.starts_with(&below))
            {
                let entry = self.changes.get(path).unwrap_or(entry);
                live |= entry.is_some();
                gone |= entry.is_none();
            }
        }
        // A folder from which files were taken may be empty now: that is seen when
        // the tree is written.
        let is_folder = live || !gone && self.base.source().is_folder(path)?;
        Ok(is_folder.then(|| format!("{path} is a folder")))
    }

    /// Puts a file.
    pub fn put(&mut self, path: &str, mode: u32, bytes: Vec<u8>) {
        let text = match self.changes.get(path).or_else(|| self.earlier.get(path)) {
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

    /// The files that this patch changed: with their new content, and as they were.
    ///
    /// # Errors
    /// When the base cannot be read.
    pub fn changed(&self) -> Result<(Changes, Changes)> {
        let (mut after, mut before) = (Changes::new(), Changes::new());
        for (path, now) in &self.changes {
            let then = self.before(path)?;
            let same = match (now, &then) {
                (None, None) => true,
                (Some(a), Some(b)) => {
                    a.mode == b.mode
                        && (Rc::ptr_eq(&a.text, &b.text) || a.text.bytes() == b.text.bytes())
                }
                _ => false,
            };
            if !same {
                after.insert(path.clone(), now.clone());
                before.insert(path.clone(), then);
            }
        }
        Ok((after, before))
    }

    /// Ends this patch: the next one stands on it.
    pub fn keep(&mut self) {
        for (path, entry) in std::mem::take(&mut self.changes) {
            self.warm.retain(|warm| *warm != path);
            self.warm.push_back(path.clone());
            self.earlier.insert(path, entry);
        }
        while self.warm.len() > WARM {
            let cold = self.warm.pop_front().and_then(|path| self.earlier.get_mut(&path));
            if let Some(Some(entry)) = cold {
                entry.text = Rc::new(entry.text.forgetful());
            }
        }
    }

    /// Ends this patch: the next one stands where it stood.
    pub fn undo(&mut self) {
        self.changes.clear();
    }
}
