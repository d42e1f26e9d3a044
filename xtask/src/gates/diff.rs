//! What a patch changes, file by file, with the lines that it adds.

use git2::{Delta, DiffFindOptions, DiffOptions, Oid, Repository};

use crate::error::Result;

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It has another name, and perhaps other content.
    Renamed,
    /// Its content or mode is other than before.
    Modified,
}

/// One file that a patch changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name with the patch; before it when it is deleted.
    pub path: String,
    /// Its name before.
    pub old_path: String,
    /// What happened.
    pub deed: Deed,
    /// The lines that the patch adds: number in the new file, and text.
    pub added: Vec<(u32, String)>,
}

impl Change {
    /// The file's name without its folders.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the name ends in `.` and one of `extensions`.
    #[must_use]
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        self.file_name().rsplit_once('.').is_some_and(|(_, e)| extensions.contains(&e))
    }
}

/// The changes between two trees.
///
/// # Errors
/// When a tree or blob cannot be read.
pub fn changes(repo: &Repository, before: Oid, after: Oid) -> Result<Vec<Change>> {
    let (before, after) = (repo.find_tree(before)?, repo.find_tree(after)?);
    let mut options = DiffOptions::new();
    options.context_lines(0);
    let mut diff = repo.diff_tree_to_tree(Some(&before), Some(&after), Some(&mut options))?;
    diff.find_similar(Some(DiffFindOptions::new().renames(true)))?;
    let mut changes = Vec::new();
    for (at, delta) in diff.deltas().enumerate() {
        let name = |file: git2::DiffFile<'_>| {
            file.path_bytes().map(|p| String::from_utf8_lossy(p).into_owned()).unwrap_or_default()
        };
        let deed = match delta.status() {
            Delta::Added | Delta::Copied => Deed::Added,
            Delta::Deleted => Deed::Deleted,
            Delta::Renamed => Deed::Renamed,
            _ => Deed::Modified,
        };
        let (old_path, new_path) = (name(delta.old_file()), name(delta.new_file()));
        let path = if deed == Deed::Deleted { old_path.clone() } else { new_path };
        changes.push(Change { path, old_path, deed, added: added_lines(&diff, at)? });
    }
    Ok(changes)
}

fn added_lines(diff: &git2::Diff<'_>, at: usize) -> Result<Vec<(u32, String)>> {
    let mut added = Vec::new();
    // A binary file has no patch of lines.
    let Some(patch) = git2::Patch::from_diff(diff, at)? else { return Ok(added) };
    for hunk in 0..patch.num_hunks() {
        for line in 0..patch.num_lines_in_hunk(hunk)? {
            let line = patch.line_in_hunk(hunk, line)?;
            if line.origin() == '+' {
                let text = String::from_utf8_lossy(line.content());
                let text = text.trim_end_matches(['\n', '\r']).to_owned();
                added.push((line.new_lineno().unwrap_or(0), text));
            }
        }
    }
    Ok(added)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::testing::{Repo, tree};

    #[test]
    fn every_deed() {
        let r = Repo::new();
        let long = "a line of some length\n".repeat(20);
        let before = tree(&r.repo, &[("a/x.c", "1\n2\n"), ("a/old.c", &long), ("gone", "x\n")]);
        let after =
            tree(&r.repo, &[("a/x.c", "1\nnew\n2\nend"), ("b/new.c", &long), ("b/Kconfig", "k\n")]);
        let seen: Vec<(String, Deed, usize)> = changes(&r.repo, before, after)
            .unwrap()
            .into_iter()
            .map(|c| (c.path, c.deed, c.added.len()))
            .collect();
        let want = [
            ("a/x.c", Deed::Modified, 2),
            ("b/Kconfig", Deed::Added, 1),
            ("b/new.c", Deed::Renamed, 0),
            ("gone", Deed::Deleted, 0),
        ];
        let mut seen: Vec<_> = seen.iter().map(|(p, d, n)| (p.as_str(), *d, *n)).collect();
        seen.sort_by_key(|s| s.0);
        assert_eq!(seen, want);
    }
}
