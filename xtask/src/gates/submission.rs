//! What is judged: a rendered series as it would be mailed.

use git2::{Oid, Repository};

use super::diff::{self, Change};
use crate::error::{Error, Result};
use crate::mail::{Cover, Mail, Person, Prefix};

/// One patch of a submission.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Its name in the series.
    pub name: String,
    /// The file name of its mail.
    pub file_name: String,
    /// The mail, as it would be sent.
    pub mail: Vec<u8>,
    /// Who wrote it.
    pub author: Person,
    /// The whole commit message.
    pub message: String,
    /// The commit.
    pub commit: Oid,
    /// The tree before it.
    pub before: Oid,
    /// The tree with it.
    pub after: Oid,
    /// What it changes.
    pub changes: Vec<Change>,
}

/// A series on a base, ready to be judged.
#[derive(Clone)]
pub struct Submission<'r> {
    /// Where trees and commits are.
    pub repo: &'r Repository,
    /// The base's commit.
    pub base: Oid,
    /// The base's tree.
    pub base_tree: Oid,
    /// The subject prefix: `PATCH`, `RFC`.
    pub prefix: String,
    /// The list or tree in the brackets: `net-next`.
    pub list: Option<String>,
    /// Who sends it.
    pub sender: Person,
    /// The cover letter, if there is one.
    pub cover: Option<Cover>,
    /// The version, where it is not the first and no changelog has an entry for it.
    pub unexplained: Option<u32>,
    /// The patches, in order.
    pub patches: Vec<Patch>,
}

impl Patch {
    /// The subject line, and the lines behind the blank one.
    #[must_use]
    pub fn subject_and_body(&self) -> (&str, &str) {
        split_message(&self.message)
    }

    /// Fills in what it changes.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn with_changes(mut self, repo: &Repository) -> Result<Patch> {
        self.changes = diff::changes(repo, self.before, self.after)?;
        Ok(self)
    }
}

/// The first line, and what is behind the blank line after it.
#[must_use]
pub fn split_message(message: &str) -> (&str, &str) {
    let (subject, rest) = message.split_once('\n').unwrap_or((message, ""));
    (subject, rest.strip_prefix('\n').unwrap_or(rest))
}

/// The bytes of a file in a tree; `None` when there is no file.
///
/// # Errors
/// When the tree or the blob cannot be read.
pub fn file(repo: &Repository, tree: Oid, path: &str) -> Result<Option<Vec<u8>>> {
    let tree = repo.find_tree(tree)?;
    match tree.get_path(std::path::Path::new(path)) {
        Ok(entry) => match entry.to_object(repo)?.into_blob() {
            Ok(blob) => Ok(Some(blob.content().to_vec())),
            Err(_) => Ok(None),
        },
        Err(e) if e.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// The text of a file in a tree, with what is no UTF-8 replaced; empty when
/// there is no file.
///
/// # Errors
/// As [`file()`].
pub fn text(repo: &Repository, tree: Oid, path: &str) -> Result<String> {
    let bytes = file(repo, tree, path)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What a submission is made from, besides its mails.
#[derive(Clone, Debug)]
pub struct Made<'m> {
    /// The base's commit.
    pub base: Oid,
    /// The commits, in order.
    pub commits: &'m [Oid],
    /// The patches' names, one a commit.
    pub names: &'m [String],
    /// The mails that were written of them.
    pub mails: &'m [Mail],
    /// What stands in the brackets.
    pub prefix: &'m Prefix,
    /// Who sends.
    pub sender: Person,
    /// The cover letter.
    pub cover: Option<Cover>,
    /// The version, where no changelog has an entry for it.
    pub unexplained: Option<u32>,
}

impl<'r> Submission<'r> {
    /// A submission of commits in `repo` and the mails of them.
    ///
    /// # Errors
    /// When a commit cannot be read, or has no mail.
    pub fn of(repo: &'r Repository, made: &Made<'_>) -> Result<Submission<'r>> {
        let mut patches = Vec::with_capacity(made.commits.len());
        let mut before = repo.find_commit(made.base)?.tree_id();
        let base_tree = before;
        for (i, &id) in made.commits.iter().enumerate() {
            let commit = repo.find_commit(id)?;
            let Some(mail) = made.mails.iter().find(|m| m.number == i + 1) else {
                return Err(Error::usage(format!("judge commit {id}")).found("it has no mail"));
            };
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let author = commit.author();
            let patch = Patch {
                name: made.names.get(i).cloned().unwrap_or_else(|| (i + 1).to_string()),
                file_name: mail.file_name.clone(),
                mail: mail.bytes.clone(),
                author: Person::new(text(author.name_bytes()), text(author.email_bytes())),
                message: text(commit.message_bytes()),
                commit: id,
                before,
                after: commit.tree_id(),
                changes: Vec::new(),
            };
            before = patch.after;
            patches.push(patch.with_changes(repo)?);
        }
        Ok(Submission {
            repo,
            base: made.base,
            base_tree,
            prefix: made.prefix.words(),
            list: made.prefix.list.clone(),
            sender: made.sender.clone(),
            cover: made.cover.clone(),
            unexplained: made.unexplained,
            patches,
        })
    }
}
