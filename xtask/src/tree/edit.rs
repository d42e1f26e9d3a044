//! Changing a tree in the store: changes are held in memory, and `finish` writes
//! the blobs and the trees on the way to them, nothing else.

use std::collections::BTreeMap;
use std::rc::Rc;

use git2::Oid;

use crate::error::{Error, Result};
use crate::host::paths::stay_below;
use crate::tree::object::{self, Mode, ObjectKind};
use crate::tree::store::Store;
use crate::tree::view::{FileBlob, TreeView};

/// A change of one path: its new mode and blob, or `None` where it is deleted.
type Change<'p> = (&'p str, Option<(u32, Oid)>);

/// A tree being changed.
#[derive(Debug)]
pub struct TreeEdit<'s> {
    view: TreeView<'s>,
    /// What is at a path instead of what the tree has; `None` where it is deleted.
    changed: BTreeMap<String, Option<FileBlob>>,
}

impl<'s> TreeEdit<'s> {
    /// Begins from `tree`, which must be in the store.
    #[must_use]
    pub fn new(store: &'s Store, tree: Oid) -> TreeEdit<'s> {
        TreeEdit { view: TreeView::new(store, tree), changed: BTreeMap::new() }
    }

    /// The file at `path` as it is now, changes included.
    ///
    /// # Errors
    /// When an object cannot be read.
    pub fn read(&self, path: &str) -> Result<Option<FileBlob>> {
        match self.changed.get(path) {
            Some(changed) => Ok(changed.clone()),
            None => self.view.read(path),
        }
    }

    /// The paths that were written or deleted, in order.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        self.changed.keys().map(String::as_str)
    }

    /// Writes a file; folders on the way are made.
    ///
    /// # Errors
    /// When the path leaves the tree or goes through a file, a folder is in its
    /// place, or `mode` is not a file's.
    pub fn write(&mut self, path: &str, mode: Mode, bytes: impl Into<Vec<u8>>) -> Result<()> {
        stay_below(path, "file")?;
        if !mode.is_blob() {
            return Err(Error::usage(format!("cannot write {path}"))
                .found(format!("{mode:?} is no kind of file")));
        }
        for (i, _) in path.match_indices('/') {
            let parent = path.get(..i).unwrap_or_default();
            if self.is_file(parent)? {
                return Err(Error::conflict(format!("cannot write {path}"))
                    .found(format!("{parent} is a file in this tree")));
            }
        }
        if self.is_folder(path)? {
            return Err(Error::conflict(format!("cannot write {path}"))
                .found("it is a folder in this tree"));
        }
        self.changed.insert(path.to_owned(), Some(FileBlob { mode, bytes: bytes.into() }));
        Ok(())
    }

    /// Deletes a file; folders that become empty go with it.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn delete(&mut self, path: &str) -> Result<()> {
        if !self.is_file(path)? {
            return Err(Error::conflict(format!("cannot delete {path}"))
                .found("there is no such file in this tree"));
        }
        self.changed.insert(path.to_owned(), None);
        Ok(())
    }

    fn is_file(&self, path: &str) -> Result<bool> {
        match self.changed.get(path) {
            Some(changed) => Ok(changed.is_some()),
            None => Ok(self.view.entry(path)?.is_some_and(|(mode, _)| mode != Mode::Dir)),
        }
    }

    /// Whether there is a folder at `path` that will still have a file in it.
    fn is_folder(&self, path: &str) -> Result<bool> {
        let below = format!("{path}/");
        let changes = || {
            self.changed.range(below.clone()..).take_while(|(p, _)| p.starts_with(below.as_str()))
        };
        if changes().any(|(_, c)| c.is_some()) {
            return Ok(true);
        }
        let Some((Mode::Dir, id)) = self.view.entry(path)? else { return Ok(false) };
        if changes().next().is_none() {
            return Ok(true);
        }
        self.has_live_file(id, path)
    }

    fn has_live_file(&self, id: Oid, path: &str) -> Result<bool> {
        for e in self.view.entries(id)?.iter() {
            let Ok(name) = std::str::from_utf8(&e.name) else { return Ok(true) };
            let child = format!("{path}/{name}");
            let live = if e.mode() == Some(Mode::Dir) {
                self.has_live_file(e.id, &child)?
            } else {
                !matches!(self.changed.get(&child), Some(None))
            };
            if live {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes the changes to the store and gives the new tree's id.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn finish(self) -> Result<Oid> {
        let store = self.view.store();
        let mut changes = Vec::with_capacity(self.changed.len());
        for (path, change) in &self.changed {
            let entry = match change {
                Some(file) => Some((file.mode.raw(), store.write(ObjectKind::Blob, &file.bytes)?)),
                None => None,
            };
            changes.push((path.as_str(), entry));
        }
        match self.rebuild(Some(self.view.tree_id()), &changes)? {
            Some(id) => Ok(id),
            None => store.write(ObjectKind::Tree, b""),
        }
    }

    /// The tree `old` with `changes` (sorted, paths relative to it) made;
    /// `None` when nothing is left in it.
    fn rebuild(&self, old: Option<Oid>, changes: &[Change<'_>]) -> Result<Option<Oid>> {
        let bytes = match old {
            Some(id) => self.view.folder(id)?,
            None => Rc::default(),
        };
        let mut by_name: BTreeMap<&str, Vec<Change<'_>>> = BTreeMap::new();
        for &(path, change) in changes {
            let (name, rest) = path.split_once('/').unwrap_or((path, ""));
            by_name.entry(name).or_default().push((rest, change));
        }
        let mut new: Vec<treebytes::Change<'_>> = Vec::with_capacity(by_name.len());
        for (name, below) in by_name {
            let found = treebytes::find(&bytes, name.as_bytes()).map_err(object::damaged)?;
            let mut now = found.map(|e| (e.mode, e.id));
            // A file that becomes a folder, or the other way, has both kinds of
            // change under one name: the file's goes first.
            for &(rest, change) in &below {
                if rest.is_empty() && (change.is_some() || now.is_some_and(|n| !is_dir(n.0))) {
                    now = change;
                }
            }
            let deeper: Vec<_> =
                below.iter().filter(|(rest, _)| !rest.is_empty()).copied().collect();
            if !deeper.is_empty() {
                let dir = now.filter(|n| is_dir(n.0)).map(|n| n.1);
                let rebuilt = self.rebuild(dir, &deeper)?;
                // A file that took the folder's place stays.
                if now.is_none_or(|n| is_dir(n.0)) {
                    now = rebuilt.map(|id| (Mode::Dir.raw(), id));
                }
            }
            new.push((name.as_bytes(), now));
        }
        let bytes = treebytes::changed(&bytes, &new).map_err(object::damaged)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let id = self.view.store().write(ObjectKind::Tree, &bytes)?;
        Ok(Some(id))
    }
}

fn is_dir(raw_mode: u32) -> bool {
    raw_mode & 0o170_000 == Mode::Dir.raw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::testing::{MAKEFILE, Place, git};
    use std::path::Path;

    const FILES: &[(&str, &str)] =
        &[("Makefile", MAKEFILE), ("a/b/c", "1"), ("a/b/d", "2"), ("a/x", "3"), ("a.c", "4")];

    fn start(p: &Place) -> (Store, Oid, std::path::PathBuf) {
        let clone = p.clone("linux", FILES);
        let store = p.store();
        let base = crate::tree::resolve(&p.ui, &p.dirs, &store, clone.to_str().unwrap()).unwrap();
        (store, base.tree, clone)
    }

    fn tree_of(dir: &Path) -> String {
        git(dir, &["add", "-fA", "."]);
        git(dir, &["write-tree"])
    }

    #[test]
    fn edits_give_gits_trees() {
        let p = Place::new();
        let (store, tree, clone) = start(&p);
        let cases: &[&[(&str, Option<&str>)]] = &[
            &[],
            &[("a/b/c", Some("new"))],
            &[("new/deep/er/file", Some("n")), ("a.c", None)],
            &[("a/b/c", None), ("a/b/d", None)],
            &[("a/b/c", None), ("a/b/d", None), ("a/b", Some("file now"))],
            &[("a.c", None), ("a.c/in", Some("folder now"))],
            &[
                ("a/b/c", None),
                ("a/b/d", None),
                ("a/b", Some("f")),
                ("a/b", None),
                ("a/b/c", Some("z")),
            ],
            &[("q/r", Some("x")), ("q/r", None)],
            &[("Makefile", None), ("a/b/c", None), ("a/b/d", None), ("a/x", None), ("a.c", None)],
        ];
        for case in cases {
            let mut edit = TreeEdit::new(&store, tree);
            git(&clone, &["reset", "-q", "--hard", "main"]);
            git(&clone, &["clean", "-qfdx"]);
            for (path, text) in *case {
                let file = clone.join(path);
                match text {
                    Some(text) => {
                        edit.write(path, Mode::File, *text).unwrap();
                        let dir = file.parent().unwrap();
                        std::fs::create_dir_all(dir).unwrap();
                        if file.is_dir() {
                            std::fs::remove_dir_all(&file).unwrap();
                        }
                        std::fs::write(&file, text).unwrap();
                    }
                    None => {
                        edit.delete(path).unwrap();
                        std::fs::remove_file(&file).unwrap();
                    }
                }
                assert_eq!(edit.read(path).unwrap().map(|f| f.bytes), text.map(Vec::from));
            }
            assert_eq!(edit.finish().unwrap().to_string(), tree_of(&clone), "{case:?}");
        }
    }

    #[test]
    fn paths_that_cannot_be_are_refused() {
        let p = Place::new();
        let (store, tree, _) = start(&p);
        let mut edit = TreeEdit::new(&store, tree);
        for path in ["../x", "/x", "a/../x", "a", "a/b", "a/x/y", "a.c/z", ".git/config", "", "a/"]
        {
            assert!(edit.write(path, Mode::File, "x").is_err(), "{path}");
        }
        for path in ["a", "none", "a/none", "a/x/y"] {
            assert!(edit.delete(path).is_err(), "{path}");
        }
        assert!(edit.write("l", Mode::Dir, "x").is_err());
        assert_eq!(edit.finish().unwrap(), tree);
    }
}
