//! The guest's first file system: a newc archive with the agent as init, the
//! tests, a busybox where there is one, and modules.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cpio::newc::{Builder, ModeFileType, trailer};

use crate::error::{Error, IoContext as _, Result};

/// What a guest's root holds: paths without their first slash.
#[derive(Debug, Default)]
pub(super) struct Initramfs {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
enum Entry {
    Dir,
    File { bytes: Vec<u8>, executable: bool },
    Link(String),
}

impl Initramfs {
    /// A root with the usual empty folders.
    pub fn new() -> Initramfs {
        let mut root = Initramfs::default();
        for dir in ["bin", "dev", "etc", "proc", "run", "sbin", "sys", "tmp", "tests"] {
            root.entries.insert(dir.into(), Entry::Dir);
        }
        root.add("etc/passwd", b"root:x:0:0:root:/tmp:/bin/sh\n".to_vec(), false);
        root.add("etc/group", b"root:x:0:\n".to_vec(), false);
        root.add("etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n".to_vec(), false);
        root
    }

    fn put(&mut self, path: &str, entry: Entry) {
        let path = path.trim_start_matches('/');
        let mut dir = path;
        while let Some((above, _)) = dir.rsplit_once('/') {
            self.entries.entry(above.to_owned()).or_insert(Entry::Dir);
            dir = above;
        }
        self.entries.insert(path.to_owned(), entry);
    }

    /// Adds a file.
    pub fn add(&mut self, path: &str, bytes: Vec<u8>, executable: bool) {
        self.put(path, Entry::File { bytes, executable });
    }

    /// Adds a file of the host.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn add_host(&mut self, path: &str, from: &Path, executable: bool) -> Result<()> {
        let bytes = std::fs::read(from).at("read", from)?;
        self.add(path, bytes, executable);
        Ok(())
    }

    /// Adds a folder of the host with all that is in it, and gives the ELF files among it.
    ///
    /// # Errors
    /// When something in it cannot be read.
    pub fn add_tree(&mut self, path: &str, from: &Path) -> Result<Vec<PathBuf>> {
        let mut programs = Vec::new();
        for entry in walkdir::WalkDir::new(from).sort_by_file_name() {
            let entry = entry.map_err(|e| {
                Error::host(format!("cannot read {}", from.display())).found(e.to_string())
            })?;
            let Ok(inside) = entry.path().strip_prefix(from) else { continue };
            let place = format!("{path}/{}", inside.display());
            if entry.file_type().is_symlink() {
                let to = std::fs::read_link(entry.path()).at("read", entry.path())?;
                self.link(&place, &to.to_string_lossy());
            } else if entry.file_type().is_file() {
                let bytes = std::fs::read(entry.path()).at("read", entry.path())?;
                let mode = entry.metadata().map_or(0, |m| m.permissions().mode());
                if bytes.starts_with(b"\x7fELF") {
                    programs.push(entry.path().to_owned());
                }
                self.add(&place, bytes, mode & 0o111 != 0);
            }
        }
        Ok(programs)
    }

    /// Adds a symbolic link, unless something has that path.
    pub fn link(&mut self, path: &str, to: &str) {
        if !self.entries.contains_key(path.trim_start_matches('/')) {
            self.put(path, Entry::Link(to.to_owned()));
        }
    }

    /// Adds a busybox with a link for each of its applets but those in `not`.
    pub fn busybox(&mut self, bytes: Vec<u8>, applets: &[String], not: &BTreeSet<&str>) {
        self.add("bin/busybox", bytes, true);
        for applet in applets.iter().filter(|a| !not.contains(a.as_str())) {
            self.link(&format!("bin/{applet}"), "busybox");
        }
    }

    /// Bytes of all files.
    pub fn size(&self) -> u64 {
        let sizes = self.entries.values().map(|e| match e {
            Entry::File { bytes, .. } => bytes.len() as u64,
            Entry::Dir | Entry::Link(_) => 0,
        });
        sizes.sum()
    }

    /// Writes the archive. Not packed: reading it costs the host nothing, and
    /// unpacking would cost an emulated guest seconds.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let archive = self
            .archive()
            .map_err(|e| Error::host("cannot make the initramfs").found(e.to_string()))?;
        std::fs::write(path, archive).at("write", path)
    }

    fn archive(&self) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        for (i, (path, entry)) in self.entries.iter().enumerate() {
            let ino = u32::try_from(i + 1).unwrap_or(u32::MAX);
            let new =
                |mode: u32, kind| Builder::new(path).ino(ino).mode(mode).set_mode_file_type(kind);
            let (builder, data): (_, &[u8]) = match entry {
                Entry::Dir => (new(0o755, ModeFileType::Directory).nlink(2), &[]),
                Entry::Link(to) => (new(0o777, ModeFileType::Symlink), to.as_bytes()),
                Entry::File { bytes, executable } => {
                    let mode = if *executable { 0o755 } else { 0o644 };
                    (new(mode, ModeFileType::Regular), bytes)
                }
            };
            let size = u32::try_from(data.len()).map_err(|_| {
                std::io::Error::other(format!("{path} is too big for an initramfs"))
            })?;
            let mut writer = builder.write(out, size);
            writer.write_all(data)?;
            out = writer.finish()?;
        }
        trailer(out)
    }
}

/// Checks that the archive fits the guest's memory beside the kernel: it is
/// there twice while it is unpacked.
///
/// # Errors
/// When it does not.
pub(super) fn fits(bytes: u64, image: u64, memory_mib: u32) -> Result<()> {
    let memory = u64::from(memory_mib) << 20;
    // An image unpacks to about four times its size.
    let need = bytes * 2 + image * 4 + (32 << 20);
    if need <= memory {
        return Ok(());
    }
    Err(Error::usage(format!("a guest of {memory_mib} MiB"))
        .found(format!(
            "its initramfs of {} MiB and its kernel need about {} MiB",
            bytes >> 20,
            need >> 20
        ))
        .hint(format!("--memory {}", (need >> 20).next_multiple_of(128))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpio::newc::Reader;

    #[test]
    fn the_archive_has_folders_before_what_is_in_them() {
        let mut root = Initramfs::new();
        root.add("/a/b/c", b"12345".to_vec(), true);
        root.busybox(b"bb".to_vec(), &["sh".into(), "ip".into()], &BTreeSet::from(["ip"]));
        root.link("init", "bin/busybox");
        root.link("bin/sh", "elsewhere");
        let archive = root.archive().unwrap();
        let mut rest = &archive[..];
        let mut seen = Vec::new();
        loop {
            let mut r = Reader::new(rest).unwrap();
            if r.entry().is_trailer() {
                break;
            }
            let (name, mode) = (r.entry().name().to_owned(), r.entry().mode());
            let mut data = String::new();
            std::io::Read::read_to_string(&mut r, &mut data).unwrap();
            seen.push((name, mode, data));
            rest = r.finish().unwrap();
        }
        let names: Vec<&str> = seen.iter().map(|s| s.0.as_str()).collect();
        let place = |n: &str| names.iter().position(|x| *x == n).unwrap_or_else(|| panic!("{n}"));
        assert!(place("a") < place("a/b") && place("a/b") < place("a/b/c"));
        assert_eq!(seen[place("a/b/c")].1, 0o100_755);
        assert_eq!(seen[place("bin/sh")], ("bin/sh".into(), 0o120_777, "busybox".into()));
        assert!(!names.contains(&"bin/ip") && names.contains(&"init"));
    }

    #[test]
    fn memory_is_counted() {
        assert!(fits(1 << 20, 8 << 20, 256).is_ok());
        let e = fits(300 << 20, 8 << 20, 256).unwrap_err();
        assert_eq!(e.hints(), ["--memory 768"]);
    }
}
