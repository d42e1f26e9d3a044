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
