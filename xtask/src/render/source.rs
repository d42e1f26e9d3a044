//! Where files come from: a tree in the store, or a map in memory. Planning
//! needs no more than this, so that it can be tried without a repository.

use std::collections::BTreeMap;

use cscan::scan::Scan;

use crate::error::Result;

/// Mode of a plain file.
pub const PLAIN: u32 = 0o100_644;
/// Mode of an executable file.
pub const EXECUTABLE: u32 = 0o100_755;

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Mode as git has it.
    pub mode: u32,
    /// Content; of a link its target.
    pub bytes: Vec<u8>,
    /// Its top-level items, where they were found already.
    pub scan: Option<Scan>,
}

/// A tree of files at one state.
pub trait Source {
    /// The file at `path`; `None` when there is none.
    ///
    /// # Errors
    /// When the tree cannot be read.
    fn read(&self, path: &str) -> Result<Option<SourceFile>>;

    /// Whether there is a folder at `path`.
    ///
    /// # Errors
    /// When the tree cannot be read.
    fn is_folder(&self, path: &str) -> Result<bool>;

    /// A blob by its (abbreviated) id, for three-way application of diffs.
    ///
    /// # Errors
    /// When the tree's store cannot be read.
    fn blob(&self, _id: &str) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// A tree in memory: path to content.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Plain files by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Blobs that diffs may refer to, by full id.
    pub blobs: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    /// Of paths and texts.
    #[must_use]
    pub fn of(files: &[(&str, &str)]) -> Memory {
        let files = files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec()));
        Memory { files: files.collect(), blobs: BTreeMap::new() }
    }
}

impl Source for Memory {
    fn read(&self, path: &str) -> Result<Option<SourceFile>> {
        Ok(self.files.get(path).map(|b| SourceFile { mode: PLAIN, bytes: b.clone(), scan: None }))
    }

    fn is_folder(&self, path: &str) -> Result<bool> {
        let below = format!("{path}/");
        Ok(self.files.range(below.clone()..).next().is_some_and(|(p, _)| p.starts_with(&below)))
    }

    fn blob(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let found = self.blobs.iter().find(|(full, _)| full.starts_with(id));
        Ok(found.map(|(_, b)| b.clone()))
    }
}
