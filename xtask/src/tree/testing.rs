//! Small kernel trees, archives and stores for tests, and git beside them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::host::paths::Dirs;
use crate::host::ui::{Format, Ui};
use crate::tree::store::Store;

/// The shortest Makefile that makes a kernel tree.
pub const MAKEFILE: &str = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nEXTRAVERSION =\n";

/// A folder with a cache in it.
pub struct Place {
    pub dir: tempfile::TempDir,
    pub dirs: Dirs,
    pub ui: Ui,
}

impl Place {
    pub fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(dir.path(), &dir.path().join("cache"));
        Place { dir, dirs, ui: Ui::new(Format::Human) }
    }

    pub fn store(&self) -> Store {
        Store::open(&self.ui, &self.dirs).unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes files below `name` and gives the folder.
    pub fn tree(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let top = self.path(name);
        for (path, text) in files {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        top
    }

    /// A git repository with one commit of these files; gives its folder.
    pub fn clone(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let top = self.tree(name, files);
        git(&top, &["init", "-q", "-b", "main"]);
        git(&top, &["add", "-f", "."]);
        git(&top, &["commit", "-qm", "base"]);
        top
    }
}

/// Runs git in `dir`, without the user's configuration.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let out = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@b")])
        .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@b")])
        .output()
        .unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
}

/// Runs a program and asserts that it succeeds.
pub fn sh(dir: &Path, script: &str) {
    let out = Command::new("sh").arg("-ec").arg(script).current_dir(dir).output().unwrap();
    assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
}

/// One member of a tar archive as its bytes: nothing is checked, so that bad
/// ones can be made.
pub fn member(path: &str, kind: u8, mode: u32, link: &str, content: &[u8]) -> Vec<u8> {
    let mut h = tar::Header::new_ustar();
    h.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    h.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    h.set_entry_type(tar::EntryType::new(kind));
    h.set_mode(mode);
    h.set_uid(0);
    h.set_gid(0);
    h.set_mtime(1_700_000_000);
    h.set_size(content.len() as u64);
    h.set_cksum();
    let mut out = h.as_bytes().to_vec();
    out.extend_from_slice(content);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

/// A regular file's member.
pub fn file(path: &str, content: &str) -> Vec<u8> {
    member(path, b'0', 0o644, "", content.as_bytes())
}

/// An archive of these members and the end mark.
pub fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut out = members.concat();
    out.resize(out.len() + 1024, 0);
    out
}

/// An ar archive.
pub fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        out.extend_from_slice(
            format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, bytes.len())
                .as_bytes(),
        );
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}

/// A Debian package with these files.
pub fn deb(files: &[(&str, &[u8])]) -> Vec<u8> {
    let members: Vec<Vec<u8>> =
        files.iter().map(|(path, content)| member(path, b'0', 0o644, "", content)).collect();
    let data = gzip(&archive(&members));
    ar(&[
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", &gzip(&archive(&[]))),
        ("data.tar.gz", &data),
    ])
}

/// gzip of `bytes`.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}

/// xz of `bytes`, in blocks of 4 KiB, so that there are several.
pub fn xz(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let stream = liblzma::stream::MtStreamBuilder::new()
        .threads(1)
        .preset(1)
        .block_size(4096)
        .check(liblzma::stream::Check::Crc64)
        .encoder()
        .unwrap();
    let mut e = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}
