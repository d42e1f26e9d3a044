//! The bytes of a tree object, with this tool's errors.

pub use treebytes::{DIRECTORY, Entry, GITLINK, Pair, REGULAR, SYMLINK, TYPE, order};

use crate::error::{Error, Result};

/// The entries of a tree object's bytes, in their order.
///
/// # Errors
/// When the bytes are no tree.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>> {
    treebytes::entries(bytes).map_err(broken)
}

/// The entries in which two trees differ.
///
/// # Errors
/// When the bytes are no trees.
pub fn differences<'t>(old: &'t [u8], new: &'t [u8]) -> Result<Vec<Pair<'t>>> {
    treebytes::differences(old, new).map_err(broken)
}

fn broken(_: treebytes::Broken) -> Error {
    Error::host("cannot read a tree object").found("it is broken")
}
