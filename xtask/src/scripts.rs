//! The base's own scripts (`checkpatch.pl`, `get_maintainer.pl`, `kernel-doc`)
//! in a small folder that they take for a kernel tree.
//!
//! A checkout of a kernel is 1.5 GB; these scripts look at a few files and at
//! `include/`. The folder is kept in the cache under a name made from what is in
//! it, so bases that do not differ there share one.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use git2::{ObjectType, Oid, Repository};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, IoContext as _, Result};
use crate::host::atomic::Staging;
use crate::host::lock::{self, Lock};
use crate::host::paths::Dirs;
use crate::host::process::Cmd;
use crate::host::ui::Ui;

/// What the scripts read, or look for to know the top of a kernel tree.
const WANTED: &[&str] = &[
    "COPYING",
    "CREDITS",
    "Kbuild",
    "MAINTAINERS",
    "Makefile",
    "README",
    ".mailmap",
    ".get_maintainer.ignore",
    "include",
    "scripts/checkpatch.pl",
    "scripts/get_maintainer.pl",
    "scripts/spelling.txt",
    "scripts/const_structs.checkpatch",
    "scripts/kernel-doc",
    "scripts/kernel-doc.pl",
    "scripts/kernel-doc.py",
    "scripts/lib",
    "tools/docs",
    "tools/lib/python",
];

/// Folders that must be there, though nothing in them is read.
const EMPTY: &[&str] =
    &["Documentation", "arch", "drivers", "fs", "init", "ipc", "kernel", "lib", "home"];

/// Device tree bindings, which checkpatch searches for new `compatible` strings.
pub const BINDINGS: &str = "Documentation/devicetree/bindings";

/// How long one run of a script may take; 100 patches take some seconds.
const SCRIPT_TIME: Duration = Duration::from_mins(10);

/// The folder, held until dropped: checkpatch writes a cache of its own into it.
pub struct Scripts<'r> {
    repo: &'r Repository,
    tree: Oid,
    root: PathBuf,
    _held: Lock,
}

impl<'r> Scripts<'r> {
    /// Makes the folder for the base's `tree`, or finds it.
    ///
    /// # Errors
    /// When the tree cannot be read, or the cache not be written.
    pub fn prepare(ui: &Ui, dirs: &Dirs, repo: &'r Repository, tree: Oid) -> Result<Scripts<'r>> {
        let top = repo.find_tree(tree)?;
        let mut key = Sha256::new();
        for name in WANTED {
            if let Ok(entry) = top.get_path(Path::new(name)) {
                key.update(name.as_bytes());
                key.update(entry.id().as_bytes());
            }
        }
        let key: String = key.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect();
        let all = dirs.cache().join("scripts");
        let root = all.join(&key);
        let lock_file = all.join(format!("{key}.lock"));
        let held = lock::take(ui, &lock_file, "the folder of the base's scripts")?;
        let scripts = Scripts { repo, tree, root, _held: held };
        if !scripts.root.is_dir() {
            let step = ui.step("take the base's scripts out of the store");
            scripts.fill(&all)?;
            step.done("done");
        }
        Ok(scripts)
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the base has the file, so that a script can be run at all.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// A program of the base run in the folder, with nothing of the user's own
    /// settings (`~/.checkpatch.conf`, `~/.get_maintainer.conf`) and no git.
    ///
    /// # Errors
    /// When the base has no such script.
    pub fn command(&self, interpreter: &str, script: &str) -> Result<Cmd> {
        if !self.has(script) {
            return Err(
                Error::host(format!("run {script} of the base")).found("the base has no such file")
            );
        }
        Ok(Cmd::new(interpreter)
            .arg(script)
            .cwd(&self.root)
            .env("HOME", self.root.join("home"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("GIT_DIR")
            .timeout(SCRIPT_TIME))
    }

    /// Brings one more folder or file of the base in, if it has it.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn add(&self, path: &str) -> Result<()> {
        let place = self.root.join(path);
        if place.exists() {
            return Ok(());
        }
        let staging = Staging::begin(&self.root)?;
        if self.take(path, staging.path())? {
            let parent = place.parent().unwrap_or(&self.root);
            fs::create_dir_all(parent).at("create folder", parent)?;
            fs::rename(staging.path().join(path), &place).at("rename into place", &place)?;
        }
        Ok(())
    }

    fn fill(&self, all: &Path) -> Result<()> {
        let staging = Staging::begin(all)?;
        for name in WANTED {
            self.take(name, staging.path())?;
        }
        for name in EMPTY {
            let dir = staging.path().join(name);
            fs::create_dir_all(&dir).at("create folder", &dir)?;
        }
        // Files that only mark the top; an old or foreign tree may lack one.
        for name in WANTED.iter().take(6) {
            let place = staging.path().join(name);
            if !place.exists() {
                fs::write(&place, "").at("write", &place)?;
            }
        }
        fs::rename(staging.path(), &self.root).at("rename into place", &self.root)?;
        // It is the product now and must not be removed on drop.
        staging.keep();
        Ok(())
    }

    /// Writes what is at `path` of the base below `to`; false when nothing is.
    fn take(&self, path: &str, to: &Path) -> Result<bool> {
        let top = self.repo.find_tree(self.tree)?;
        let entry = match top.get_path(Path::new(path)) {
            Ok(entry) => entry,
            Err(e) if e.code() == git2::ErrorCode::NotFound => return Ok(false),
            Err(e) => return Err(e.into()),
        };
        let place = to.join(path);
        let parent = place.parent().unwrap_or(to);
        fs::create_dir_all(parent).at("create folder", parent)?;
        // checkpatch reads identifiers from headers alone.
        let headers = path == "include";
        self.write(entry.kind(), entry.id(), entry.filemode(), &place, headers)?;
        Ok(true)
    }

    fn write(
        &self,
        kind: Option<ObjectType>,
        id: Oid,
        mode: i32,
        place: &Path,
        headers: bool,
    ) -> Result<()> {
        match kind {
            Some(ObjectType::Tree) => {
                fs::create_dir_all(place).at("create folder", place)?;
                for entry in &self.repo.find_tree(id)? {
                    let name = String::from_utf8_lossy(entry.name_bytes()).into_owned();
                    crate::host::paths::stay_below(&name, "file of the base")?;
                    let file = entry.kind() != Some(ObjectType::Tree);
                    if headers && file && !name.ends_with(".h") {
                        continue;
                    }
                    let (kind, id, mode) = (entry.kind(), entry.id(), entry.filemode());
                    self.write(kind, id, mode, &place.join(name), headers)?;
                }
                Ok(())
            }
            Some(ObjectType::Blob) => {
                let blob = self.repo.find_blob(id)?;
                if mode == 0o120_000 {
                    return self.link(blob.content(), place);
                }
                fs::write(place, blob.content()).at("write", place)?;
                if mode == 0o100_755 {
                    fs::set_permissions(place, fs::Permissions::from_mode(0o755))
                        .at("make executable", place)?;
                }
                // checkpatch names its cache of identifiers by the newest of the
                // headers' times: one time for all keeps that cache.
                let file = fs::File::options().write(true).open(place).at("open", place)?;
                let time = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365);
                file.set_modified(time).at("set the time of", place)
            }
            _ => Ok(()),
        }
    }

    /// A link within the folder; one that would leave it is left out.
    fn link(&self, target: &[u8], place: &Path) -> Result<()> {
        let target = PathBuf::from(String::from_utf8_lossy(target).into_owned());
        let ups = target.components().filter(|c| *c == std::path::Component::ParentDir).count();
        let depth = place.components().count().saturating_sub(self.root.components().count() + 1);
        if target.is_absolute() || ups > depth {
            return Ok(());
        }
        symlink(&target, place).at("link", place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::testing::{Repo, tree};
    use crate::host::ui::Format;

    #[test]
    fn the_folder_has_what_the_scripts_look_for_and_is_kept() {
        let cache = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(cache.path(), cache.path());
        let ui = Ui::new(Format::Human);
        let r = Repo::new();
        let t = tree(
            &r.repo,
            &[
                ("MAINTAINERS", "m\n"),
                ("include/linux/a.h", "#define A 1\n"),
                ("include/linux/Kbuild", "x\n"),
                ("scripts/checkpatch.pl", "print qq(hi\\n);\n"),
                ("net/a.c", "x\n"),
            ],
        );
        let root = {
            let s = Scripts::prepare(&ui, &dirs, &r.repo, t).unwrap();
            let run = s.command("perl", "scripts/checkpatch.pl").unwrap().run().unwrap();
            assert_eq!(run.text(), "hi");
            assert!(s.command("perl", "scripts/get_maintainer.pl").is_err());
            assert!(s.has("include/linux/a.h") && !s.has("include/linux/Kbuild"));
            assert!(s.has("COPYING") && s.has("Documentation") && !s.has("net/a.c"));
            s.add("net/a.c").unwrap();
            s.add("net/none.c").unwrap();
            assert!(s.has("net/a.c") && !s.has("net/none.c"));
            s.root().to_owned()
        };
        // Another tree with the same scripts shares the folder.
        let other = tree(
            &r.repo,
            &[
                ("MAINTAINERS", "m\n"),
                ("include/linux/a.h", "#define A 1\n"),
                ("include/linux/Kbuild", "x\n"),
                ("scripts/checkpatch.pl", "print qq(hi\\n);\n"),
            ],
        );
        assert_eq!(Scripts::prepare(&ui, &dirs, &r.repo, other).unwrap().root(), root);
        let left = fs::read_dir(dirs.cache().join("scripts")).unwrap().count();
        assert_eq!(left, 2, "the folder and its lock");
    }
}
