//! A machine for one test: a project, a clone of a small kernel, git without
//! anyone's configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const MAKEFILE: &str = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nEXTRAVERSION =\n";

pub struct Host {
    dir: tempfile::TempDir,
}

impl Host {
    /// An empty project, and the clone `linux` with these files beside its Makefile.
    pub fn new(files: &[(&str, &str)]) -> Host {
        let host = Host { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(host.path("project/series")).unwrap();
        host.put("linux/Makefile", MAKEFILE);
        for (name, text) in files {
            host.put(&format!("linux/{name}"), text);
        }
        host.git("linux", &["init", "-q", "-b", "main"]);
        host.commit("base");
        host
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Commits all of `linux`.
    pub fn commit(&self, message: &str) {
        self.git("linux", &["add", "-A"]);
        self.git("linux", &["commit", "-qm", message]);
    }

    /// Nothing of the real user's.
    pub fn clean(&self, command: &mut Command) {
        command.env("HOME", self.dir.path()).env("XDG_CONFIG_HOME", self.path("config"));
        command.env("XDG_CACHE_HOME", self.path("cache")).env_remove("KSERIES_PROJECT");
        command.env("GIT_CONFIG_SYSTEM", "/dev/null").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("SOURCE_DATE_EPOCH", "1732881600");
        command.env_remove("GIT_DIR").env_remove("GIT_AUTHOR_NAME").env("TZ", "UTC");
    }

    pub fn git(&self, folder: &str, args: &[&str]) -> String {
        let mut c = Command::new("git");
        c.args(args).current_dir(self.path(folder));
        self.clean(&mut c);
        c.env("GIT_AUTHOR_NAME", "Jörg Author").env("GIT_AUTHOR_EMAIL", "jorg@example.org");
        c.env("GIT_COMMITTER_NAME", "T").env("GIT_COMMITTER_EMAIL", "t@example.org");
        let out = c.output().unwrap();
        assert!(
            out.status.success(),
            "git {args:?}: {}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    }

    /// Runs the tool in `folder`; gives stdout and stderr.
    pub fn run_in(&self, folder: &str, args: &[&str], code: i32) -> (String, String) {
        let mut c = Command::new(env!("CARGO_BIN_EXE_xtask"));
        c.args(args).current_dir(self.path(folder));
        self.clean(&mut c);
        let out = c.output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap());
        assert_eq!(out.status.code(), Some(code), "{args:?}\n{stdout}\n{stderr}");
        (stdout, stderr)
    }

    pub fn run(&self, args: &[&str], code: i32) -> (String, String) {
        self.run_in("project", args, code)
    }

    /// Names of all files below a folder, sorted.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let root = self.path(folder);
        let mut names = Vec::new();
        walk(&root, &root, &mut names);
        names.sort();
        names
    }
}

fn walk(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(root, &path, names);
        } else {
            names.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}
