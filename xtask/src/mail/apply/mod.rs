//! Applies mailed patches in the object database, exactly: every context line
//! must stand where the patch says it stands.
//!
//! This is the reader's half of the round trip. It has its own patch parser,
//! hunk engine and tree writer and takes nothing from the half that wrote the
//! mails, so that an error there cannot hide here.

mod bytes;
mod hunks;
mod names;
mod parse;
mod tree;

use git2::{Odb, Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::input::Mail;
use crate::mail::mailinfo::{self, Received};
use crate::mail::person::Person;

pub use bytes::patch_delta;
pub use hunks::apply as apply_hunks;
pub use parse::{FilePatch, Hunk, Kind as LineKind, Payload, patches};

/// What a mail came to.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The tree after it.
    pub tree: Oid,
    /// The author, as `git am` would record it.
    pub author: Person,
    /// The text of the Date header that counts.
    pub date: Option<String>,
    /// The commit message, as `git am` would record it.
    pub message: Vec<u8>,
}

/// Applies the patches in `mails`, one on top of the other, onto `base_tree`;
/// a cover letter is passed over. Nothing is written to the repository.
///
/// # Errors
/// [`Conflict`](crate::error::Kind::Conflict) when a patch does not apply
/// exactly; usage errors when a mail cannot be read.
pub fn apply(repo: &Repository, base_tree: Oid, mails: &[Mail]) -> Result<Vec<Applied>> {
    let mut applier = Applier::new(repo, Some(base_tree), mailinfo::Options::default())?;
    mails
        .iter()
        .filter(|m| m.number > 0)
        .map(|m| {
            applier.mail(&m.bytes).map_err(|e| e.context(format!("{} does not apply", m.file_name)))
        })
        .collect()
}

/// Applies mails one after the other.
pub struct Applier<'r> {
    tree: tree::Overlay<'r>,
    options: mailinfo::Options,
}

impl<'r> Applier<'r> {
    /// Begins at `base_tree`; `None` is an empty one.
    ///
    /// # Errors
    /// When the object database cannot be opened.
    pub fn new(
        repo: &'r Repository,
        base_tree: Option<Oid>,
        options: mailinfo::Options,
    ) -> Result<Applier<'r>> {
        Ok(Applier::reading(repo.odb()?, base_tree, options))
    }

    /// As [`Applier::new`], with an object database that may be shared.
    pub(super) fn reading(
        odb: Odb<'r>,
        base_tree: Option<Oid>,
        options: mailinfo::Options,
    ) -> Applier<'r> {
        Applier { tree: tree::Overlay::new(odb, base_tree), options }
    }

    /// Reads one mail and applies its patch.
    ///
    /// # Errors
    /// As [`apply`].
    pub fn mail(&mut self, bytes: &[u8]) -> Result<Applied> {
        let received = mailinfo::parse(bytes, self.options)?;
        self.received(&received)
    }

    /// Applies the patch of a mail that was read already.
    ///
    /// # Errors
    /// As [`apply`].
    pub fn received(&mut self, received: &Received) -> Result<Applied> {
        let patches = patches(&received.patch)?;
        if patches.is_empty() {
            return Err(Error::usage("no patch in the mail")
                .found(format!("subject: {}", received.subject))
                .hint("give patches only, without the cover letter"));
        }
        self.tree.apply(&patches)?;
        let author = received.author.clone().ok_or_else(|| {
            Error::usage("no author in the mail").found("its From header has no address")
        })?;
        Ok(Applied {
            tree: self.tree.id()?,
            author,
            date: received.date.clone(),
            message: received.message(),
        })
    }

    /// Writes the blobs and trees that the repository lacks, so that the last
    /// tree can be committed.
    ///
    /// # Errors
    /// When the object database cannot be written.
    pub fn write(&mut self) -> Result<Oid> {
        self.tree.write()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::diff::binary;
    use crate::mail::diff::hunks::{self, Content};
    use proptest::prelude::*;

    /// A text of few different lines, so that much of it repeats.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            "[a-c]",
            "int [a-c];",
            "",
            "\\\\ No newline",
            "-- ",
            "@@ -1 \\+1 @@",
            "[ -~\r\t]{0,9}"
        ];
        (proptest::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, ended)| {
            let mut text = lines.join("\n").into_bytes();
            if ended && !text.is_empty() {
                text.push(b'\n');
            }
            text
        })
    }

    fn only(diff: &[u8]) -> FilePatch {
        let mut all = patches(diff).unwrap();
        assert_eq!(all.len(), 1, "{}", String::from_utf8_lossy(diff));
        all.remove(0)
    }

    proptest! {
        #[test]
        fn what_was_written_gives_the_new_text(old in text(), new in text()) {
            prop_assume!(old != new);
            let mut diff = b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n".to_vec();
            let (a, b) = (Content::Text(old.clone()), Content::Text(new.clone()));
            let (added, deleted) = hunks::write(&mut diff, &a, &b, None).unwrap();
            prop_assert_eq!(hunks::count_lines(&old) + added, hunks::count_lines(&new) + deleted);
            diff.extend_from_slice(b"-- \n2.47.3\n\n");
            prop_assert_eq!(only(&diff).apply_to(&old).unwrap(), new);
        }

        #[test]
        fn what_was_written_gives_the_new_bytes(old: Vec<u8>, tail: Vec<u8>, at: proptest::sample::Index, grow in 0..3usize) {
            // The new content shares most of the old one.
            let old = old.repeat(1 + 20 * grow);
            let mut new = old.clone();
            let at = at.index(new.len() + 1);
            new.splice(at..at, tail);
            let mut diff = b"diff --git a/x b/x\nindex 1..2 100644\n".to_vec();
            binary::write(&mut diff, &old, &new).unwrap();
            prop_assert_eq!(only(&diff).apply_to(&old).unwrap(), new);
        }

        #[test]
        fn no_text_makes_the_reader_fall(text: Vec<u8>, lines in proptest::collection::vec(
            prop_oneof![
                "diff --git a/x b/x", "--- a/x", "\\+\\+\\+ b/x", "@@ -[0-3],[0-3] \\+[0-3] @@", "[ +-][a-b]", "",
                "GIT binary patch", "(literal|delta) [0-9]", "index 1..2", "rename (from|to) x", "new file mode 1?00644",
                "\\\\ No newline at end of file", "zcmV", "old mode 9",
            ], 0..30)) {
            let _ = patches(&text);
            if let Ok(found) = patches(lines.join("\n").as_bytes()) {
                for patch in found {
                    let _ = patch.apply_to(b"a\nb\n");
                }
            }
        }
    }
}
