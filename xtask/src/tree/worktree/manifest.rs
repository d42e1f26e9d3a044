//! What a worktree holds: each file with its blob and what the file system said
//! of it when it was written, so that a look at the times tells what others have
//! changed since. (git keeps the same in its index.)

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use git2::Oid;

use crate::error::Result;
use crate::host::atomic;
use crate::tree::object::Mode;

const HEAD: &str = "kseries worktree 1";

/// What the file system says of a file. Any change by anyone changes it: the
/// time of the last change of state cannot be set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    size: u64,
    mtime: i128,
    ctime: i128,
    ino: u64,
}

impl Stat {
    /// From a file's own metadata, links not followed.
    pub fn of(meta: &Metadata) -> Stat {
        let nanos = |s: i64, n: i64| i128::from(s) * 1_000_000_000 + i128::from(n);
        Stat {
            size: meta.size(),
            mtime: nanos(meta.mtime(), meta.mtime_nsec()),
            ctime: nanos(meta.ctime(), meta.ctime_nsec()),
            ino: meta.ino(),
        }
    }
}

/// One file of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// File, executable or link.
    pub mode: Mode,
    /// Its content.
    pub id: Oid,
    /// The file as it was left.
    pub stat: Stat,
}

/// All files of a worktree by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The tree that they make.
    pub tree: Oid,
    /// The files.
    pub files: BTreeMap<Vec<u8>, Kept>,
}

impl Manifest {
    /// Reads it; one that is missing, cut short or of another form is none.
    pub fn read(path: &Path) -> Option<Manifest> {
        parse(&fs::read(path).ok()?)
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut out = Vec::with_capacity(self.files.len() * 140 + 100);
        // Writing to a vector cannot fail.
        let _ = writeln!(out, "{HEAD} {} {}", self.tree, self.files.len());
        for (path, f) in &self.files {
            let s = &f.stat;
            let _ = write!(
                out,
                "{:o} {} {} {} {} {} ",
                f.mode.raw(),
                f.id,
                s.size,
                s.mtime,
                s.ctime,
                s.ino
            );
            out.extend_from_slice(path);
            out.push(0);
        }
        atomic::write(path, &out)
    }
}

fn parse(bytes: &[u8]) -> Option<Manifest> {
    let end = memchr::memchr(b'\n', bytes)?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?.strip_prefix(HEAD)?.trim_start();
    let (tree, count) = head.split_once(' ')?;
    let (tree, count): (_, usize) = (Oid::from_str(tree).ok()?, count.parse().ok()?);
    let mut files = BTreeMap::new();
    let body = bytes.get(end + 1..)?;
    if !body.is_empty() && body.last() != Some(&0) {
        return None;
    }
    for line in body.split(|&b| b == 0).filter(|l| !l.is_empty()) {
        let (path, kept) = parse_line(line)?;
        files.insert(path, kept);
    }
    (files.len() == count).then_some(Manifest { tree, files })
}

fn parse_line(line: &[u8]) -> Option<(Vec<u8>, Kept)> {
    let mut words = line.splitn(7, |&b| b == b' ');
    let mut word = || std::str::from_utf8(words.next()?).ok();
    let mode = Mode::from_raw(u32::from_str_radix(word()?, 8).ok()?)?;
    let id = Oid::from_str(word()?).ok()?;
    let stat = Stat {
        size: word()?.parse().ok()?,
        mtime: word()?.parse().ok()?,
        ctime: word()?.parse().ok()?,
        ino: word()?.parse().ok()?,
    };
    let path = words.next()?.to_vec();
    Some((path, Kept { mode, id, stat }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_a_part_is_not() {
        let t = tempfile::tempdir().unwrap();
        let id = Oid::from_str("ce013625030ba8dba906f756967f9e9ca394464a").unwrap();
        let stat = Stat::of(&fs::symlink_metadata(t.path()).unwrap());
        let names: [&[u8]; 3] = [b"a b/c\n", b"x", b"\xff"];
        let kept = |mode| Kept { mode, id, stat };
        let modes = [Mode::File, Mode::Executable, Mode::Symlink];
        let files = names.iter().zip(modes).map(|(n, m)| (n.to_vec(), kept(m))).collect();
        let manifest = Manifest { tree: id, files };
        let path = t.path().join("m");
        manifest.write(&path).unwrap();
        assert_eq!(Manifest::read(&path), Some(manifest));
        let bytes = fs::read(&path).unwrap();
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut]), None, "{cut}");
        }
    }
}
