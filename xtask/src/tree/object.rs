//! Git objects as bytes: tree entries parsed and serialised in git's order, and
//! the SHA-1 id of an object.

use git2::Oid;
use sha1::{Digest as _, Sha1};

use crate::error::{Error, Result};

/// What a path in a kernel tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A regular file.
    File,
    /// A regular file that may be executed.
    Executable,
    /// A symbolic link; its target is the content.
    Symlink,
    /// A folder.
    Dir,
    /// A submodule's commit.
    Submodule,
}

impl Mode {
    /// The mode as git's tree objects have it.
    #[must_use]
    pub fn raw(self) -> u32 {
        match self {
            Mode::File => 0o100_644,
            Mode::Executable => 0o100_755,
            Mode::Symlink => 0o120_000,
            Mode::Dir => 0o040_000,
            Mode::Submodule => 0o160_000,
        }
    }

    /// The mode of a tree entry. Old repositories have group-writable files;
    /// they count as what git checks out for them.
    #[must_use]
    pub fn from_raw(raw: u32) -> Option<Mode> {
        match raw & 0o170_000 {
            0o100_000 if raw & 0o100 != 0 => Some(Mode::Executable),
            0o100_000 => Some(Mode::File),
            0o120_000 => Some(Mode::Symlink),
            0o040_000 => Some(Mode::Dir),
            0o160_000 => Some(Mode::Submodule),
            _ => None,
        }
    }

    /// Whether it is a regular file, executable or not.
    #[must_use]
    pub fn is_file(self) -> bool {
        matches!(self, Mode::File | Mode::Executable)
    }

    /// Whether the object behind it is a blob.
    #[must_use]
    pub fn is_blob(self) -> bool {
        matches!(self, Mode::File | Mode::Executable | Mode::Symlink)
    }
}

/// One entry of a tree object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// File name, without slashes; bytes, since git has no encoding of names.
    pub name: Vec<u8>,
    /// The mode as it stands in the object, so that an untouched entry of an
    /// old repository is written back as it was.
    pub raw_mode: u32,
    /// The blob, tree or commit.
    pub id: Oid,
}

impl Entry {
    /// What the entry is.
    #[must_use]
    pub fn mode(&self) -> Option<Mode> {
        Mode::from_raw(self.raw_mode)
    }

    fn bytes(&self) -> treebytes::Entry<'_> {
        treebytes::Entry { mode: self.raw_mode, name: &self.name, id: self.id }
    }
}

/// Sorts entries as git does.
pub fn sort(entries: &mut [Entry]) {
    let is_dir = |e: &Entry| e.bytes().is_dir();
    entries.sort_by(|a, b| treebytes::order(&a.name, is_dir(a), &b.name, is_dir(b)));
}

/// The bytes of a tree object with these entries, which must be sorted.
#[must_use]
pub fn tree_bytes(entries: &[Entry]) -> Vec<u8> {
    let entries: Vec<_> = entries.iter().map(Entry::bytes).collect();
    treebytes::write(&entries)
}

/// The failure of a tree object that is none.
pub(crate) fn damaged(_: treebytes::Broken) -> Error {
    Error::host("the store has a damaged tree object")
}

/// The entries of a tree object.
///
/// # Errors
/// When the bytes are no tree object.
pub fn parse_tree(bytes: &[u8]) -> Result<Vec<Entry>> {
    let entries = treebytes::entries(bytes).map_err(damaged)?;
    let owned =
        |e: treebytes::Entry<'_>| Entry { name: e.name.to_vec(), raw_mode: e.mode, id: e.id };
    Ok(entries.into_iter().map(owned).collect())
}

/// The kinds of objects that are written here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A commit.
    Commit,
    /// A folder.
    Tree,
    /// A file's content.
    Blob,
}

impl ObjectKind {
    /// The word in the object's header.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ObjectKind::Commit => "commit",
            ObjectKind::Tree => "tree",
            ObjectKind::Blob => "blob",
        }
    }

    /// The number in a pack entry's header.
    #[must_use]
    pub fn pack_number(self) -> u8 {
        match self {
            ObjectKind::Commit => 1,
            ObjectKind::Tree => 2,
            ObjectKind::Blob => 3,
        }
    }
}

/// The id of an object.
#[must_use]
pub fn id_of(kind: ObjectKind, bytes: &[u8]) -> Oid {
    let mut sha = Sha1::new();
    sha.update(format!("{} {}\0", kind.word(), bytes.len()).as_bytes());
    sha.update(bytes);
    // A SHA-1 digest has the 20 bytes that an id has.
    Oid::from_bytes(&sha.finalize()).unwrap_or(Oid::ZERO_SHA1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, raw_mode: u32) -> Entry {
        Entry { name: name.into(), raw_mode, id: id_of(ObjectKind::Blob, name.as_bytes()) }
    }

    #[test]
    fn ids_are_gits() {
        for (kind, bytes, id) in [
            (ObjectKind::Blob, &b""[..], "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
            (ObjectKind::Blob, b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),
            (ObjectKind::Tree, b"", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
        ] {
            assert_eq!(id_of(kind, bytes).to_string(), id);
        }
    }

    #[test]
    fn folders_sort_with_a_slash() {
        let mut e = [
            entry("a", 0o040_000),
            entry("a.c", 0o100_644),
            entry("a0", 0o100_644),
            entry("a-", 0o100_644),
        ];
        sort(&mut e);
        let names: Vec<_> = e.iter().map(|e| String::from_utf8_lossy(&e.name)).collect();
        assert_eq!(names, ["a-", "a.c", "a", "a0"]);
        assert_eq!(parse_tree(&tree_bytes(&e)).unwrap(), e);
    }

    #[test]
    fn damaged_trees_are_refused() {
        let good = tree_bytes(&[entry("a", 0o100_644)]);
        for cut in 1..good.len() {
            assert!(parse_tree(&good[..cut]).is_err(), "{cut}");
        }
        assert!(parse_tree(b"9 a\0aaaaaaaaaaaaaaaaaaaa").is_err());
    }
}
