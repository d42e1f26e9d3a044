//! The bytes of a tree object, read without copies.
//!
//! libgit2's own tree parser copies each entry and fills its object cache; the
//! diff and the round trip look at a few entries of big folders.

use std::cmp::Ordering;

use git2::Oid;

use crate::error::{Error, Result};

/// File type bits of a mode.
pub const TYPE: u32 = 0o170_000;
/// A regular file.
pub const REGULAR: u32 = 0o100_000;
/// A symbolic link.
pub const SYMLINK: u32 = 0o120_000;
/// A submodule's commit.
pub const GITLINK: u32 = 0o160_000;
/// A folder.
pub const DIRECTORY: u32 = 0o040_000;

/// One entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'t> {
    /// Type and permissions.
    pub mode: u32,
    /// The name in its folder.
    pub name: &'t [u8],
    /// What it names.
    pub id: Oid,
}

impl Entry<'_> {
    /// Whether it is a folder.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.mode & TYPE == DIRECTORY
    }
}

/// The order of entries: a folder's name counts as if it ended in `/`.
#[must_use]
pub fn order(a: &[u8], a_is_dir: bool, b: &[u8], b_is_dir: bool) -> Ordering {
    let common = a.len().min(b.len());
    a.get(..common).cmp(&b.get(..common)).then_with(|| {
        let next = |name: &[u8], dir: bool| {
            name.get(common).copied().unwrap_or(if dir { b'/' } else { 0 })
        };
        next(a, a_is_dir).cmp(&next(b, b_is_dir))
    })
}

/// The entries of a tree object's bytes, in their order.
///
/// # Errors
/// When the bytes are no tree.
pub fn entries(mut bytes: &[u8]) -> Result<Vec<Entry<'_>>> {
    let mut out = Vec::with_capacity(bytes.len() / 40);
    while !bytes.is_empty() {
        let (entry, rest) = entry(bytes)
            .ok_or_else(|| Error::host("cannot read a tree object").found("it is broken"))?;
        out.push(entry);
        bytes = rest;
    }
    Ok(out)
}

fn entry(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let blank = memchr::memchr(b' ', bytes)?;
    let (digits, rest) = bytes.split_at(blank);
    let rest = rest.get(1..)?;
    let mut mode = 0u32;
    for c in digits {
        mode =
            mode.checked_mul(8)?.checked_add(u32::from(c.checked_sub(b'0').filter(|&d| d < 8)?))?;
    }
    let (name, rest) = rest.split_at(memchr::memchr(0, rest)?);
    let (id, rest) = rest.get(1..)?.split_at_checked(20)?;
    Some((Entry { mode, name, id: Oid::from_bytes(id).ok()? }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_sort_as_if_they_ended_in_a_slash() {
        assert_eq!(order(b"a", true, b"a-b", false), Ordering::Greater);
        assert_eq!(order(b"a", false, b"a-b", false), Ordering::Less);
        assert_eq!(order(b"a", true, b"a0", false), Ordering::Less);
        assert_eq!(order(b"a", false, b"a", false), Ordering::Equal);
    }

    #[test]
    fn broken_trees_are_refused() {
        let mut good = b"100644 a\0".to_vec();
        good.extend([7; 20]);
        assert_eq!(entries(&good).unwrap().len(), 1);
        for cut in 1..good.len() {
            assert!(entries(good.get(..cut).unwrap()).is_err(), "{cut}");
        }
        assert!(entries(b"1x0644 a\0").is_err());
    }
}
