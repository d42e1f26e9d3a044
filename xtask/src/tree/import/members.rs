//! The members of a tar archive that make a git tree: what each is and where it
//! goes, as `tar xf` followed by `git add -f .` would have it.

use std::collections::HashMap;
use std::io::Read;

use tar::{Archive, EntryType};

use crate::error::{Error, Result};
use crate::host::paths::DEEPEST;
use crate::tree::object::Mode;

/// No file of a source tree is as large; it would be held in memory whole.
const LARGEST: u64 = 1 << 30;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// File, executable or symbolic link.
    pub mode: Mode,
    /// Which of the contents that were handed on it has.
    pub content: usize,
}

/// Every file of an archive.
#[derive(Debug, Default)]
pub struct Members {
    /// By path as it stands in the archive, in plain form, without a slash at
    /// either end.
    pub files: HashMap<Vec<u8>, Placed>,
    /// The newest time of any member, in seconds since 1970.
    pub newest: u64,
    /// How many contents were handed on.
    pub contents: usize,
}

/// Reads `archive` to its end. Each content is read into the buffer that `sink`
/// holds: it is asked for the buffer, and told when the content is in it.
///
/// # Errors
/// When the archive is damaged, cut short, or has members that cannot be in a
/// source tree. Errors of the sink.
pub fn read(archive: impl Read, sink: &mut impl ContentSink) -> Result<Members> {
    let mut members = Members::default();
    let mut archive = Archive::new(TailKept { inner: archive, tail: Vec::new() });
    for entry in archive.entries().map_err(|e| damaged(&e))? {
        let mut entry = entry.map_err(|e| damaged(&e))?;
        let kind = entry.header().entry_type();
        if matches!(kind, EntryType::XGlobalHeader) {
            continue;
        }
        check_pax(&mut entry)?;
        let path = plain(&entry.path_bytes())?;
        members.newest = members.newest.max(entry.header().mtime().unwrap_or(0));
        let raw_mode = entry.header().mode().map_err(|e| damaged(&e))?;
        let mode = if raw_mode & 0o100 != 0 { Mode::Executable } else { Mode::File };
        let placed = match kind {
            EntryType::Directory => continue,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                let size = entry.size();
                if size > LARGEST {
                    return Err(refused(&path, &format!("it has {size} bytes")));
                }
                sink.content(size, &mut entry).map_err(|e| e.into_error(&path))?;
                Placed { mode, content: members.take() }
            }
            EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                sink.content(target.len() as u64, &mut target.as_slice())
                    .map_err(|e| e.into_error(&path))?;
                Placed { mode: Mode::Symlink, content: members.take() }
            }
            EntryType::Link => {
                let target = plain(&entry.link_name_bytes().unwrap_or_default())?;
                *members.files.get(&target).ok_or_else(|| {
                    refused(
                        &path,
                        &format!(
                            "it is a hard link to {}, which does not come before it",
                            show(&target)
                        ),
                    )
                })?
            }
            other => {
                return Err(refused(
                    &path,
                    &format!("it is no file, link or folder (type {other:?})"),
                ));
            }
        };
        if path.is_empty() {
            return Err(refused(&path, "a file has no name"));
        }
        // The last of several members of one name counts, as when unpacked.
        members.files.insert(path, placed);
    }
    // What follows the end mark must be read for the compressor's own checks.
    let mut end = archive.into_inner();
    std::io::copy(&mut end, &mut std::io::sink()).map_err(|e| damaged(&e))?;
    if end.tail.len() < 512 || end.tail.iter().any(|&b| b != 0) {
        return Err(Error::usage("the archive is cut short").found("its end mark is missing"));
    }
    Ok(members)
}

/// Refuses extended headers that the tar crate would pass over in silence: a
/// record with a line end in its value (a name that has one), and the sparse
/// files of the pax format, which it does not expand.
fn check_pax<R: Read>(entry: &mut tar::Entry<'_, R>) -> Result<()> {
    let path = entry.path_bytes().into_owned();
    let Some(records) = entry.pax_extensions().map_err(|e| damaged(&e))? else { return Ok(()) };
    for record in records {
        let record = record.map_err(|_| {
            refused(&path, "its extended header has a record with a line end in it, or is damaged")
        })?;
        if record.key_bytes().starts_with(b"GNU.sparse") {
            return Err(refused(&path, "it is a sparse file in the pax format"));
        }
    }
    Ok(())
}

impl Members {
    fn take(&mut self) -> usize {
        self.contents += 1;
        self.contents - 1
    }
}

/// Takes the contents of files.
pub trait ContentSink {
    /// Reads one content of `size` bytes from `from`.
    ///
    /// # Errors
    /// When it cannot be read, or the sink has failed.
    fn content(&mut self, size: u64, from: &mut dyn Read) -> Result<(), SinkError>;
}

/// Why a content was not taken.
#[derive(Debug)]
pub enum SinkError {
    /// The archive could not be read.
    Read(std::io::Error),
    /// The sink failed.
    Sink(Error),
}

impl SinkError {
    fn into_error(self, path: &[u8]) -> Error {
        match self {
            SinkError::Read(e) => damaged(&e).found(format!("while reading {}", show(path))),
            SinkError::Sink(e) => e,
        }
    }
}

/// The path without `.` and without slashes at its ends.
fn plain(path: &[u8]) -> Result<Vec<u8>> {
    if path.first() == Some(&b'/') {
        return Err(refused(path, "it is absolute"));
    }
    // Each folder is a step of recursion, here and in whatever reads the tree.
    if path.iter().filter(|&&b| b == b'/').count() >= DEEPEST {
        return Err(refused(path.get(..60).unwrap_or(path), "it is too many folders deep"));
    }
    let mut out = Vec::with_capacity(path.len());
    for name in path.split(|&b| b == b'/') {
        match name {
            b"" | b"." => continue,
            b".." => return Err(refused(path, "it leaves its folder with \"..\"")),
            name if name.eq_ignore_ascii_case(b".git") => {
                return Err(refused(path, "it is in a .git, which no tree may hold"));
            }
            name if name.contains(&0) => return Err(refused(path, "it has a NUL byte")),
            _ => {}
        }
        if !out.is_empty() {
            out.push(b'/');
        }
        out.extend_from_slice(name);
    }
    Ok(out)
}

fn show(path: &[u8]) -> String {
    path.escape_ascii().to_string()
}

fn refused(path: &[u8], why: &str) -> Error {
    Error::usage("the archive is no source tree").found(format!("member {}: {why}", show(path)))
}

fn damaged(e: &std::io::Error) -> Error {
    Error::usage("the archive is damaged or cut short").found(e.to_string())
}

/// Keeps the last block that was read, to see whether the end mark was there.
struct TailKept<R> {
    inner: R,
    tail: Vec<u8>,
}

impl<R: Read> Read for TailKept<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buf)?;
        let got = buf.get(..n).unwrap_or_default();
        let keep = 512usize.saturating_sub(n).min(self.tail.len());
        self.tail.drain(..self.tail.len() - keep);
        self.tail.extend_from_slice(got.get(n.saturating_sub(512)..).unwrap_or_default());
        Ok(n)
    }
}
