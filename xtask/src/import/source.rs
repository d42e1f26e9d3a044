//! Finds out what a source is, and reads it.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use super::incoming::Incoming;
use super::mails;

/// Where a series comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// One file of one or more mails.
    Mbox(PathBuf),
    /// A maildir, or a folder of patch files.
    Folder(PathBuf),
}

/// The forms, for messages.
pub const FORMS: &str =
    "a file of mails (mbox, plain or .gz), a maildir, or a folder of .patch files";

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
        if path.is_dir() {
            return Ok(Source::Folder(path.to_owned()));
        }
        Err(Error::usage(format!("--from {text}"))
            .found("there is no file or folder of this name")
            .hint(format!("name {FORMS}")))
    }

    /// Reads the series; `version` picks one where there are several.
    ///
    /// # Errors
    /// When it cannot be read, or holds no series.
    pub fn read(&self, version: Option<u32>) -> Result<Incoming> {
        let mut incoming = match self {
            Source::Mbox(path) => mails::from_file(path, version)?,
            Source::Folder(path) => mails::from_folder(path, version)?,
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
            Source::Mbox(path) | Source::Folder(path) => write!(f, "{}", path.display()),
        }
    }
}
