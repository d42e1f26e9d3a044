//! The git that our bytes are compared with, in a surrounding of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::mail::SIGNATURE;

/// A repository in a temporary folder.
pub struct Repo {
    dir: tempfile::TempDir,
}

impl Repo {
    /// An empty one.
    pub fn new() -> Repo {
        let repo = Repo { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(repo.path()).unwrap();
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// Its worktree.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// A place beside it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Opens it with libgit2.
    pub fn open(&self) -> git2::Repository {
        git2::Repository::open(self.path()).unwrap()
    }

    /// A git command that must succeed; gives its output.
    pub fn git(&self, args: &[&str]) -> Vec<u8> {
        let out = self.command(args).output().unwrap();
        assert!(
            out.status.success(),
            "git {args:?}: {}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
        out.stdout
    }

    /// A git command in the repository that sees no configuration but its own.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(["-c", "core.abbrev=12", "-c", "user.name=C O Mitter"])
            .args(["-c", "user.email=c@example.org", "-c", "gc.auto=0"])
            .args(args)
            .current_dir(self.path());
        clean(&mut command, self.dir.path());
        command
    }

    /// Feeds a stream to fast-import and brings the attributes into the worktree,
    /// which is where git looks for them.
    pub fn import(&self, stream: &[u8]) {
        let mut child = self
            .command(&["fast-import", "--quiet", "--force"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stream).unwrap();
        assert!(child.wait().unwrap().success());
        self.git(&["read-tree", "main"]);
        let files = self.git(&["ls-files", "-z", "*.gitattributes", ".mailmap"]);
        for file in String::from_utf8(files).unwrap().split_terminator('\0') {
            self.git(&["checkout-index", "-f", "--", file]);
        }
    }

    /// Writes a file of the worktree.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = self.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    /// Commits all of the worktree and gives the id.
    pub fn commit(&self, message: &str) -> git2::Oid {
        self.commit_as("A U Thor <author@example.org>", message)
    }

    /// The same by another author. libgit2 does it, which saves many processes.
    pub fn commit_as(&self, author: &str, message: &str) -> git2::Oid {
        let repo = self.open();
        let mut index = repo.index().unwrap();
        index.add_all(["*"], git2::IndexAddOption::DEFAULT, None).unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
        let tree = repo.find_tree(index.write_tree().unwrap()).unwrap();
        let (name, email) = author.split_once(" <").unwrap();
        let time = git2::Time::new(1_732_881_600, 0);
        let author = git2::Signature::new(name, email.trim_end_matches('>'), &time).unwrap();
        let committer = git2::Signature::new("C O Mitter", "c@example.org", &time).unwrap();
        let parent = repo.head().ok().map(|h| h.peel_to_commit().unwrap());
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        repo.commit(Some("HEAD"), &author, &committer, message, &tree, &parents).unwrap()
    }

    /// The commit at the tip.
    pub fn head(&self) -> git2::Oid {
        self.id("HEAD")
    }

    /// What a name stands for.
    pub fn id(&self, name: &str) -> git2::Oid {
        let out = String::from_utf8(self.git(&["rev-parse", name])).unwrap();
        out.trim().parse().unwrap()
    }

    /// `git format-patch` into a folder beside the repository; gives the files in
    /// their order.
    pub fn format_patch(&self, folder: &str, args: &[&str]) -> Vec<(String, Vec<u8>)> {
        let folder = self.beside(folder);
        let folder_text = folder.to_str().unwrap().to_owned();
        // Ours signs with the version of one git, whichever is installed.
        let signature = format!("--signature={SIGNATURE}");
        let mut all = vec!["format-patch", "-q", "-o", &folder_text, &signature];
        all.extend(args);
        self.git(&all);
        let files = read_all(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        files
    }
}

/// The files of a folder by name.
pub fn read_all(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Takes the user's and the system's configuration out of a command.
pub fn clean(command: &mut Command, home: &Path) {
    for (key, _) in std::env::vars_os() {
        if key.to_string_lossy().starts_with("GIT_") {
            command.env_remove(key);
        }
    }
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC");
}

/// Where two byte strings part, in words.
pub fn difference(ours: &[u8], gits: &[u8]) -> String {
    let at = ours.iter().zip(gits).take_while(|(a, b)| a == b).count();
    let from = ours[..at].iter().rposition(|&c| c == b'\n').map_or(0, |p| p + 1);
    let show = |b: &[u8]| {
        let to = (from + 600).min(b.len());
        String::from_utf8_lossy(&b[from.min(b.len())..to]).into_owned()
    };
    format!("at byte {at}\n=== ours\n{}\n=== git's\n{}", show(ours), show(gits))
}
