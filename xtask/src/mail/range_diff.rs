//! What a series changed since an earlier version of it: `git range-diff` of
//! both, as `git format-patch --range-diff` puts it into the mails.
//!
//! git runs in a bare repository of its own that only borrows objects, so that
//! neither the user's configuration nor that of the repository plays a part,
//! and nothing is written to a repository of the user's.

use std::path::Path;

use git2::{Oid, Repository};

use crate::error::{Error, IoContext as _, Result};
use crate::host::process::Cmd;

/// git's own creation factor where both sides are versions of one series: nearly
/// any two patches match rather than stand as one removed and one added.
pub const CREATION_FACTOR: u32 = 999;

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

/// Commits behind `base` up to `head`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The commit before the first one.
    pub base: Oid,
    /// The last one.
    pub head: Oid,
}

/// The block in a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeDiff {
    /// The version that is compared with; `None` says no version.
    pub against: Option<u32>,
    /// What `git range-diff` printed.
    pub text: Vec<u8>,
}

impl RangeDiff {
    /// Compares `new` with `old`; `repo` has the commits of both.
    ///
    /// # Errors
    /// When git is missing or fails, as it does where objects are missing.
    pub fn of(
        repo: &Repository,
        against: Option<u32>,
        (old, new): (Range, Range),
        creation_factor: u32,
    ) -> Result<RangeDiff> {
        let place = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
        borrow(repo, place.path())?;
        // The base's attributes choose the function names behind @@. Gits before
        // 2.41 do not know the variable and show others.
        let attributes = repo.find_commit(new.base)?.tree_id();
        let output = GONE
            .iter()
            .fold(Cmd::new("git"), |cmd, name| cmd.env_remove(name))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_ATTR_SOURCE", attributes.to_string())
            .env("HOME", place.path())
            .env("XDG_CONFIG_HOME", place.path())
            .env("LC_ALL", "C.UTF-8")
            .arg("--git-dir")
            .arg(place.path())
            // Ids as long as those in the patches, however large the repository.
            .args(["-c", "core.abbrev=12", "range-diff", "--no-color", "--no-notes"])
            .arg(format!("--creation-factor={creation_factor}"))
            .arg(format!("{}..{}", old.base, old.head))
            .arg(format!("{}..{}", new.base, new.head))
            .cwd(place.path())
            .hint("apt-get install git")
            .run()?;
        Ok(RangeDiff { against, text: output.stdout })
    }

    /// Appends the title and the block.
    pub fn write(&self, out: &mut Vec<u8>) {
        let title = match self.against {
            Some(version) => format!("Range-diff against v{version}:\n"),
            None => "Range-diff:\n".to_owned(),
        };
        out.extend_from_slice(title.as_bytes());
        out.extend_from_slice(&self.text);
    }
}

/// The commits that a name of `repo` means as an earlier version of `new`: a
/// range `OLD..NEW`, or a commit, which counts from where both part.
///
/// # Errors
/// When the name means nothing there, or shares no history with `new`.
pub fn previous(repo: &Repository, name: &str, new: Range) -> Result<Range> {
    let ask = || Error::usage(format!("--range-diff={}", name.escape_debug()));
    let bad = |e: git2::Error| {
        ask().found(e.message().to_owned()).hint("name a commit, or a range OLD..NEW")
    };
    if name.contains("...") {
        return Err(ask()
            .found("a symmetric difference is no version of a series")
            .hint("write it as OLD..NEW"));
    }
    let commit = |text: &str| -> Result<Oid> {
        let text = if text.is_empty() { "HEAD" } else { text };
        let object = repo.revparse_single(text).map_err(bad)?;
        Ok(object.peel_to_commit().map_err(bad)?.id())
    };
    if let Some((from, to)) = name.split_once("..") {
        return Ok(Range { base: commit(from)?, head: commit(to)? });
    }
    let head = commit(name)?;
    let base = repo.merge_base(head, new.head).map_err(|_| {
        ask()
            .found("it shares no history with the commits that are formatted")
            .hint("write it as a range OLD..NEW")
    })?;
    Ok(Range { base, head })
}

/// Makes `place` a bare repository with the objects of `repo`.
fn borrow(repo: &Repository, place: &Path) -> Result<()> {
    let write = |name: &str, bytes: &[u8]| {
        let path = place.join(name);
        std::fs::write(&path, bytes).at("write", &path)
    };
    for folder in ["objects/info", "refs"] {
        let path = place.join(folder);
        std::fs::create_dir_all(&path).at("create folder", &path)?;
    }
    write("HEAD", b"ref: refs/heads/none\n")?;
    write("config", b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n")?;
    let objects = repo.commondir().join("objects");
    let objects = objects.canonicalize().at("find", &objects)?;
    let mut line = std::os::unix::ffi::OsStrExt::as_bytes(objects.as_os_str()).to_vec();
    if line.contains(&b'\n') {
        return Err(Error::usage(format!("the repository {}", repo.path().display()))
            .found("git cannot borrow objects from a path with a line end"));
    }
    line.push(b'\n');
    write("objects/info/alternates", &line)?;
    // Commits whose parents are not there.
    let shallow = repo.commondir().join("shallow");
    match std::fs::read(&shallow) {
        Ok(bytes) => write("shallow", &bytes),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e).at("read", &shallow),
    }
}
