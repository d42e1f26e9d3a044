//! What the `.gitattributes` files of a tree say about diffs: as lines or as
//! bytes, and in which language a hunk header looks for its function.
//!
//! They are read from the tree that the series stands on, never from the
//! repository or the user, so that the bytes depend on the commits alone.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::rc::Rc;

use git2::{Odb, Oid, Repository};
use gix_attributes::search::{MetadataCollection, Outcome};
use gix_attributes::{Search, StateRef};

use crate::error::{Error, Result};
use crate::mail::diff::funcname::Language;
use crate::mail::raw_tree;

/// How a file is compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Driver {
    /// Said to be bytes (`Some(true)`, `-diff`) or lines (`Some(false)`, `diff`);
    /// otherwise a NUL byte decides.
    pub binary: Option<bool>,
    /// The language of `diff=LANGUAGE`, where it is one that git knows.
    pub language: Option<&'static Language>,
}

/// The attributes of one tree, read as paths ask for them.
pub struct Attributes<'r> {
    odb: Odb<'r>,
    state: RefCell<State>,
}

struct State {
    folders: HashMap<Vec<u8>, Folder>,
    collection: MetadataCollection,
    outcome: Outcome,
}

#[derive(Clone)]
struct Folder {
    tree: Option<Oid>,
    search: Rc<Search>,
}

impl<'r> Attributes<'r> {
    /// The attributes in `tree`; `None` has none.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub fn of_tree(repo: &'r Repository, tree: Option<Oid>) -> Result<Attributes<'r>> {
        let mut collection = MetadataCollection::default();
        let search = Search::new_globals(Vec::<PathBuf>::new(), &mut Vec::new(), &mut collection)
            .map_err(|e| Error::host("cannot set up attributes").found(e.to_string()))?;
        let state = State { folders: HashMap::new(), collection, outcome: Outcome::default() };
        let attributes = Attributes { odb: repo.odb()?, state: RefCell::new(state) };
        let root = attributes.folder(tree, b"", &Rc::new(search))?;
        attributes.state.borrow_mut().folders.insert(Vec::new(), root);
        Ok(attributes)
    }

    /// How the file at `path` is compared.
    ///
    /// # Errors
    /// When an attributes file cannot be read.
    pub fn driver(&self, path: &[u8]) -> Result<Driver> {
        let search = self.search(memchr::memrchr(b'/', path).and_then(|at| path.get(..at)))?;
        let mut state = self.state.borrow_mut();
        let State { collection, outcome, .. } = &mut *state;
        outcome.initialize_with_selection(collection, ["diff"]);
        search.pattern_matching_relative_path(
            path.into(),
            gix_attributes::glob::pattern::Case::Sensitive,
            Some(false),
            outcome,
        );
        let found = outcome.iter_selected().next();
        Ok(match found.map(|m| m.assignment.state) {
            Some(StateRef::Set) => Driver { binary: Some(false), language: None },
            Some(StateRef::Unset) => Driver { binary: Some(true), language: None },
            Some(StateRef::Value(name)) => {
                let name: &[u8] = name.as_bstr();
                Driver { binary: None, language: Language::named(name) }
            }
            Some(StateRef::Unspecified) | None => Driver::default(),
        })
    }

    /// The patterns that hold in `folder` (`None`: the root).
    fn search(&self, folder: Option<&[u8]>) -> Result<Rc<Search>> {
        let path = folder.unwrap_or_default();
        let known = self.state.borrow().folders.get(path).cloned();
        if let Some(known) = known {
            return Ok(known.search);
        }
        let mut at = Folder { tree: None, search: Rc::default() };
        let ends = memchr::memchr_iter(b'/', path).chain([path.len()]);
        let mut begin = 0;
        if let Some(root) = self.state.borrow().folders.get(&b""[..]) {
            at = root.clone();
        }
        for end in ends {
            let (folder, name) = (path.get(..end), path.get(begin..end));
            let (Some(folder), Some(name)) = (folder, name) else { continue };
            begin = end + 1;
            let known = self.state.borrow().folders.get(folder).cloned();
            at = match known {
                Some(known) => known,
                None => {
                    let tree = self.entry(at.tree, name, true)?;
                    let next = self.folder(tree, folder, &at.search)?;
                    self.state.borrow_mut().folders.insert(folder.to_vec(), next.clone());
                    next
                }
            };
        }
        Ok(at.search)
    }

    /// A folder's patterns: those of its parent, and of its own file if it has one.
    fn folder(&self, tree: Option<Oid>, path: &[u8], above: &Rc<Search>) -> Result<Folder> {
        let Some(file) = self.entry(tree, b".gitattributes", false)? else {
            return Ok(Folder { tree, search: Rc::clone(above) });
        };
        let blob = self.odb.read(file)?;
        let mut search = Search::clone(above);
        let source = PathBuf::from(OsStr::from_bytes(path)).join(".gitattributes");
        let mut state = self.state.borrow_mut();
        search
            .add_patterns_buffer(
                blob.data(),
                source,
                Some(std::path::Path::new("")),
                &mut state.collection,
                path.is_empty(),
            )
            .map_err(|e| Error::host("cannot read .gitattributes").found(e.to_string()))?;
        Ok(Folder { tree, search: Rc::new(search) })
    }

    fn entry(&self, tree: Option<Oid>, name: &[u8], folder: bool) -> Result<Option<Oid>> {
        let Some(tree) = tree else { return Ok(None) };
        let tree = self.odb.read(tree)?;
        let entries = raw_tree::entries(tree.data())?;
        let found = entries.iter().find(|e| e.name == name);
        Ok(found
            .filter(|e| e.is_dir() == folder && e.mode & raw_tree::TYPE != raw_tree::GITLINK)
            .map(|e| e.id))
    }
}
