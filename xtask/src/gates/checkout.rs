//! A checkout of a commit with only some of its files.
//!
//! It is a real one, with the commit's whole index, so git does in it what it
//! does anywhere; but only the named files are written out, and its objects are
//! those of the repository that has the commit: 0.3 s where a full checkout of a
//! kernel takes half a minute.

use std::path::{Path, PathBuf};

use git2::{Oid, Repository};

use crate::error::{IoContext as _, Result};
use crate::host::process::Cmd;

/// The folder; who made it removes it.
#[derive(Debug)]
pub struct Checkout {
    path: PathBuf,
}

/// Settings of every git that runs in it; the user's play no part.
const SETTINGS: &[&str] = &[
    "core.sparseCheckout=true",
    "core.sparseCheckoutCone=false",
    "core.autocrlf=false",
    "core.fsmonitor=false",
    "gc.auto=0",
    "user.name=check",
    "user.email=check@localhost",
    "commit.gpgSign=false",
];

/// git with nothing of the user's or of an outer git's.
#[must_use]
pub fn clean_git() -> Cmd {
    let gone = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];
    gone.iter()
        .fold(Cmd::new("git"), |cmd, name| cmd.env_remove(name))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("LC_ALL", "C.UTF-8")
}

impl Checkout {
    /// A checkout of `commit`, which `repo` has, at `place`; of its files only
    /// `paths` are written.
    ///
    /// # Errors
    /// When git is missing, or the folder cannot be written.
    pub fn of<'p>(
        repo: &Repository,
        commit: Oid,
        paths: impl Iterator<Item = &'p str>,
        place: &Path,
    ) -> Result<Checkout> {
        clean_git().args(["init", "--quiet"]).arg(place).run()?;
        let checkout = Checkout { path: place.to_owned() };
        let git = place.join(".git");
        let write = |name: &str, text: &str| {
            let path = git.join(name);
            let parent = path.parent().unwrap_or(&git);
            std::fs::create_dir_all(parent).at("create folder", parent)?;
            std::fs::write(&path, text).at("write", &path)
        };
        let objects = repo.path().join("objects");
        let objects = objects.canonicalize().at("find", &objects)?;
        write("objects/info/alternates", &format!("{}\n", objects.display()))?;
        let patterns: String = paths.map(|p| format!("/{}\n", escaped(p))).collect();
        write("info/sparse-checkout", &patterns)?;
        for setting in SETTINGS {
            let (name, value) = setting.split_once('=').unwrap_or((setting, "true"));
            checkout.git(&["config", name, value]).run()?;
        }
        checkout.git(&["update-ref", "--no-deref", "HEAD", &commit.to_string()]).run()?;
        checkout.git(&["read-tree", "-m", "-u", "HEAD"]).run()?;
        Ok(checkout)
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// git in it.
    #[must_use]
    pub fn git(&self, args: &[&str]) -> Cmd {
        clean_git().args(args).cwd(&self.path)
    }
}

/// A path as a line of a sparse-checkout file, which has the form of gitignore.
fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if "\\*?[]!# ".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
