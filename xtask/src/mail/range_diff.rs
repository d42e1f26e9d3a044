//! What a series changed since an earlier version of it: `git range-diff` of
//! both, as `git format-patch --range-diff` puts it into the mails.

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::borrowed::Borrowed;

/// git's own creation factor where both sides are versions of one series: nearly
/// any two patches match rather than stand as one removed and one added.
pub const CREATION_FACTOR: u32 = 999;

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
        let borrowed = Borrowed::of(repo)?;
        // The base's attributes choose the function names behind @@. Gits before
        // 2.41 do not know the variable and show others.
        let attributes = repo.find_commit(new.base)?.tree_id();
        let output = borrowed
            .git()
            .env("GIT_ATTR_SOURCE", attributes.to_string())
            // Ids as long as those in the patches, however large the repository.
            .args(["-c", "core.abbrev=12", "range-diff", "--no-color", "--no-notes"])
            .arg(format!("--creation-factor={creation_factor}"))
            .arg(format!("{}..{}", old.base, old.head))
            .arg(format!("{}..{}", new.base, new.head))
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
