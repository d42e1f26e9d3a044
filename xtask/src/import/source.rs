//! Finds out what a source is, and reads it.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::host::paths::Dirs;
use crate::host::ui::Ui;
use crate::mail::Person;
use crate::tree::Store;

use super::incoming::Incoming;
use super::{mails, quilt, range};

/// Where a series comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// One file of one or more mails.
    Mbox(PathBuf),
    /// A maildir, or a folder of patch files.
    Folder(PathBuf),
    /// A folder with a `series` file.
    Quilt(PathBuf),
    /// Commits of a clone: `A..B`, or a branch that b4 prepared.
    Range(PathBuf, String),
}

/// The forms, for messages.
pub const FORMS: &str = "a file of mails (mbox, plain or .gz), a maildir, a folder of .patch files, \
a quilt stack (a folder with a `series` file), CLONE@OLD..NEW, or CLONE@BRANCH that b4 prepared";

/// What may stand in for what a source lacks, and which version is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'r> {
    /// The version, where there are several.
    pub version: Option<u32>,
    /// The author of patches that name none.
    pub author: Option<&'r Person>,
}

impl Source {
    /// Finds out what `text` means.
    ///
    /// # Errors
    /// When it is none of the forms.
    pub fn parse(text: &str) -> Result<Source> {
        let path = Path::new(text);
        if path.is_file() {
            return Ok(Source::Mbox(path.to_owned()));
        }
        if path.join("series").is_file() {
            return Ok(Source::Quilt(path.to_owned()));
        }
        let asked = || Error::usage(format!("--from {text}"));
        if path.join(".git").exists()
            || path.join("objects").is_dir() && path.join("HEAD").is_file()
        {
            return Err(asked()
                .found("it is a git clone; which commits of it?")
                .hint(format!("name them as {text}@OLD..NEW"))
                .hint(format!("or a branch that b4 prepared as {text}@BRANCH")));
        }
        if path.is_dir() {
            return Ok(Source::Folder(path.to_owned()));
        }
        // Either part may hold an @: the longest one that is a folder wins.
        let split = text.rmatch_indices('@').find_map(|(at, _)| {
            let (path, range) = (Path::new(text.get(..at)?), text.get(at + 1..)?);
            (path.is_dir() && !range.is_empty()).then(|| (path.to_owned(), range.to_owned()))
        });
        match split {
            Some((path, range)) => Ok(Source::Range(path, range)),
            None if path.exists() => Err(asked()
                .found("it is neither a file nor a folder")
                .hint("copy its content into a file")),
            None => Err(asked()
                .found("there is no file or folder of this name")
                .hint(format!("name {FORMS}"))),
        }
    }

    /// Reads the series.
    ///
    /// # Errors
    /// When it cannot be read, or holds no series.
    pub fn read(&self, ui: &Ui, dirs: &Dirs, store: &Store, how: Reading<'_>) -> Result<Incoming> {
        let mut incoming = match self {
            Source::Mbox(path) => mails::from_file(path, how.version)?,
            Source::Folder(path) => mails::from_folder(path, how.version)?,
            Source::Quilt(path) => quilt::read(path, how.author)?,
            Source::Range(path, range) => range::read(ui, dirs, store, path, range)?,
        };
        if incoming.origin.is_empty() {
            incoming.origin = self.to_string();
        }
        Ok(incoming)
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Mbox(path) | Source::Folder(path) | Source::Quilt(path) => {
                write!(f, "{}", path.display())
            }
            Source::Range(path, range) => write!(f, "{}@{range}", path.display()),
        }
    }
}
