//! Sending a series: preview, a copy to oneself, and `git send-email`.
//!
//! Nothing here asks or decides: the command does, and nothing is sent without
//! a word of confirmation.

pub mod git;
pub mod headers;
pub mod preview;
pub mod previous;
pub mod record;
pub mod sign;

use std::path::{Path, PathBuf};

use crate::error::{IoContext as _, Result};
use crate::mail::Mail;

/// Writes the mails as files into `folder`, in the order in which they go.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, mails: &[Mail]) -> Result<Vec<PathBuf>> {
    mails
        .iter()
        .map(|mail| {
            let path = folder.join(&mail.file_name);
            std::fs::write(&path, &mail.bytes).at("write", &path)?;
            Ok(path)
        })
        .collect()
}
