//! git on the objects of a repository, and on nothing else of it: a bare
//! repository of its own that only borrows them. Neither the user's
//! configuration nor that of the repository plays a part in what it prints, and
//! nothing is written to a repository of the user's.

use std::os::unix::ffi::OsStrExt as _;

use git2::Repository;
use tempfile::TempDir;

use crate::error::{Error, IoContext as _, Result};
use crate::host::process::Cmd;

/// Variables of an outer git, or of its user, that would change the output.
const GONE: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_DIFF_OPTS",
    "GIT_EXTERNAL_DIFF",
    "GIT_LITERAL_PATHSPECS",
    "GIT_PAGER",
];

/// The repository; it is gone when this is dropped.
#[derive(Debug)]
pub struct Borrowed {
    place: TempDir,
}

impl Borrowed {
    /// With the objects of `repo`.
    ///
    /// # Errors
    /// When it cannot be written, or git cannot name the objects' folder.
    pub fn of(repo: &Repository) -> Result<Borrowed> {
        let place = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
        let write = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            std::fs::write(&path, bytes).at("write", &path)
        };
        for folder in ["objects/info", "refs"] {
            let path = place.path().join(folder);
            std::fs::create_dir_all(&path).at("create folder", &path)?;
        }
        write("HEAD", b"ref: refs/heads/none\n")?;
        write("config", b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n")?;
        let objects = repo.commondir().join("objects");
        let objects = objects.canonicalize().at("find", &objects)?;
        let mut line = objects.as_os_str().as_bytes().to_vec();
        if line.contains(&b'\n') {
            return Err(Error::usage(format!("the repository {}", repo.path().display()))
                .found("git cannot borrow objects from a path with a line end"));
        }
        line.push(b'\n');
        write("objects/info/alternates", &line)?;
        // Commits whose parents are not there.
        let shallow = repo.commondir().join("shallow");
        match std::fs::read(&shallow) {
            Ok(bytes) => write("shallow", &bytes)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(e).at("read", &shallow),
        }
        Ok(Borrowed { place })
    }

    /// git in it.
    #[must_use]
    pub fn git(&self) -> Cmd {
        let place = self.place.path();
        GONE.iter()
            .fold(Cmd::new("git"), |cmd, name| cmd.env_remove(name))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("HOME", place)
            .env("XDG_CONFIG_HOME", place)
            .env("LC_ALL", "C.UTF-8")
            .arg("--git-dir")
            .arg(place)
            .cwd(place)
            .hint("apt-get install git")
    }
}
