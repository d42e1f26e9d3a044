//! Small repositories and reports for the gates' tests.

use git2::{Oid, Repository, Signature};

use super::{Patch, Report, Row, Submission};
use crate::mail::Person;

/// A repository in a folder of its own.
pub struct Repo {
    pub repo: Repository,
    _dir: tempfile::TempDir,
}

impl Repo {
    pub fn new() -> Repo {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(dir.path()).unwrap();
        Repo { repo, _dir: dir }
    }

    /// A submission of patches given as (name, message, files of the tree after).
    pub fn submission(
        &self,
        base: Files<'_>,
        patches: &[(&str, &str, Files<'_>)],
    ) -> Submission<'_> {
        let me = Person::new("Jane Hacker", "jane@example.org");
        let base_tree = tree(&self.repo, base);
        let base = commit(&self.repo, base_tree, None, "base\n");
        let (mut before, mut parent) = (base_tree, base);
        let mut out = Vec::new();
        for (i, (name, message, files)) in patches.iter().enumerate() {
            let after = tree(&self.repo, files);
            let commit = commit(&self.repo, after, Some(parent), message);
            let patch = Patch {
                name: (*name).to_owned(),
                file_name: format!("{:04}-{name}.patch", i + 1),
                mail: Vec::new(),
                author: me.clone(),
                message: (*message).to_owned(),
                commit,
                before,
                after,
                changes: Vec::new(),
            };
            out.push(patch.with_changes(&self.repo).unwrap());
            (before, parent) = (after, commit);
        }
        Submission {
            repo: &self.repo,
            base,
            base_tree,
            prefix: "PATCH".into(),
            list: Some("net-next".into()),
            sender: me,
            cover: None,
            unexplained: None,
            patches: out,
        }
    }

    /// A submission of one patch that only has a message.
    pub fn message(&self, message: &str) -> Submission<'_> {
        self.submission(&[("a.c", "1\n")], &[("p", message, &[("a.c", "2\n")])])
    }
}

/// Paths and texts of a tree.
pub type Files<'f> = &'f [(&'f str, &'f str)];

/// A tree of these files.
pub fn tree(repo: &Repository, files: Files<'_>) -> Oid {
    let mut index = git2::Index::new().unwrap();
    for (path, text) in files {
        index
            .add(&git2::IndexEntry {
                ctime: git2::IndexTime::new(0, 0),
                mtime: git2::IndexTime::new(0, 0),
                dev: 0,
                ino: 0,
                mode: 0o100_644,
                uid: 0,
                gid: 0,
                file_size: 0,
                id: repo.blob(text.as_bytes()).unwrap(),
                flags: 0,
                flags_extended: 0,
                path: path.as_bytes().to_vec(),
            })
            .unwrap();
    }
    index.write_tree_to(repo).unwrap()
}

/// A commit of Jane Hacker's.
pub fn commit(repo: &Repository, tree: Oid, parent: Option<Oid>, message: &str) -> Oid {
    let when = git2::Time::new(1_700_000_000, 0);
    let jane = Signature::new("Jane Hacker", "jane@example.org", &when).unwrap();
    let parent = parent.map(|p| repo.find_commit(p).unwrap());
    let parents: Vec<&git2::Commit> = parent.iter().collect();
    let tree = repo.find_tree(tree).unwrap();
    repo.commit(None, &jane, &jane, message, &tree, &parents).unwrap()
}

/// A report of these rows.
pub fn report(rows: Vec<Row>) -> Report {
    Report {
        series: "s".into(),
        base: "6.12".into(),
        base_commit: "b".into(),
        rows,
        left_out: Vec::new(),
        seconds: 1.0,
    }
}
