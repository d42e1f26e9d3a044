//! Commits with given authors and dates.

use git2::Oid;
use jiff::Timestamp;
use jiff::tz::Offset;

use crate::error::{Error, Result};
use crate::tree::object::ObjectKind;
use crate::tree::store::Store;

/// Who, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The person's name, not quoted.
    pub name: String,
    /// The address, without angle brackets.
    pub email: String,
    /// The moment.
    pub when: Timestamp,
    /// The clock it was read on.
    pub offset: Offset,
}

impl Signature {
    /// The line's end in a commit object: `Name <mail> 1700000000 +0100`.
    fn line(&self) -> Result<String> {
        for (what, text) in [("name", &self.name), ("address", &self.email)] {
            let bad = text.is_empty() || text.trim() != text.as_str();
            if bad || text.contains(['<', '>', '\n', '\0']) {
                return Err(Error::usage(format!("the {what} \"{}\"", text.escape_debug()))
                    .found("git cannot write it: it is empty, begins or ends with a blank, or has one of < > or a line end"));
            }
        }
        let minutes = self.offset.seconds() / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        let (h, m) = (minutes.abs() / 60, minutes.abs() % 60);
        let seconds = self.when.as_second();
        Ok(format!("{} <{}> {seconds} {sign}{h:02}{m:02}", self.name, self.email))
    }
}

/// A commit to be.
#[derive(Clone, Debug)]
pub struct CommitSpec {
    /// The tree.
    pub tree: Oid,
    /// Its parents, the first first.
    pub parents: Vec<Oid>,
    /// Who wrote it.
    pub author: Signature,
    /// Who put it here.
    pub committer: Signature,
    /// The whole message, as it is to stand.
    pub message: String,
}

/// Writes the commit; the same spec gives the same id everywhere.
///
/// # Errors
/// When a name or the message cannot stand in a commit, or the store cannot be
/// written.
pub fn commit(store: &Store, spec: &CommitSpec) -> Result<Oid> {
    store.write(ObjectKind::Commit, &bytes(spec)?)
}

/// The bytes of the commit object.
pub(crate) fn bytes(spec: &CommitSpec) -> Result<Vec<u8>> {
    use std::fmt::Write as _;
    if spec.message.contains('\0') {
        return Err(Error::usage("a commit message").found("it has a NUL byte"));
    }
    let mut text = format!("tree {}\n", spec.tree);
    for parent in &spec.parents {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "parent {parent}");
    }
    let (author, committer) = (spec.author.line()?, spec.committer.line()?);
    let _ = write!(text, "author {author}\ncommitter {committer}\n\n{}", spec.message);
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::testing::{MAKEFILE, Place, git};
    use std::process::Command;

    fn signature(name: &str, email: &str, minutes: i32) -> Signature {
        Signature {
            name: name.into(),
            email: email.into(),
            when: Timestamp::from_second(1_732_838_400).unwrap(),
            offset: Offset::from_seconds(minutes * 60).unwrap(),
        }
    }

    #[test]
    fn commits_are_gits() {
        let p = Place::new();
        let clone = p.clone("linux", &[("Makefile", MAKEFILE)]);
        let store = p.store();
        let base = crate::tree::resolve(&p.ui, &p.dirs, &store, clone.to_str().unwrap()).unwrap();
        let cases = [("Bj\u{f6}rn T", 90, "+0130"), ("B, T (x)", -330, "-0530"), ("C", 0, "+0000")];
        for (name, minutes, zone) in cases {
            let who = signature(name, "b@t", minutes);
            let message = "net: one\n\nWhy.\n\nSigned-off-by: B T <b@t>\n".to_owned();
            std::fs::write(p.path("m"), &message).unwrap();
            let ours = commit(
                &store,
                &CommitSpec {
                    tree: base.tree,
                    parents: vec![base.commit],
                    author: who.clone(),
                    committer: who,
                    message,
                },
            )
            .unwrap();
            let date = format!("1732838400 {zone}");
            let mut git_commit = Command::new("git");
            git_commit.current_dir(&clone).args(["commit-tree", "HEAD^{tree}", "-p", "HEAD"]);
            git_commit.arg("-F").arg(p.path("m"));
            for who in ["AUTHOR", "COMMITTER"] {
                git_commit.env(format!("GIT_{who}_NAME"), name);
                git_commit.env(format!("GIT_{who}_EMAIL"), "b@t");
                git_commit.env(format!("GIT_{who}_DATE"), &date);
            }
            let out = git_commit.output().unwrap();
            let theirs = String::from_utf8_lossy(&out.stdout);
            assert_eq!(theirs.trim_end(), ours.to_string(), "{name}");
            git(store.path(), &["cat-file", "-e", &ours.to_string()]);
        }
    }

    #[test]
    fn names_that_git_cannot_write_are_refused() {
        let cases =
            [("", "a@b"), ("a<b", "a@b"), ("a", "a>"), ("a\nb", "c"), (" a", "b"), ("a", "")];
        for (name, email) in cases {
            assert!(signature(name, email, 0).line().is_err(), "{name:?} {email:?}");
        }
    }
}
