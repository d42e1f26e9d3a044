//! `--range-diff`: which earlier version a series is compared with.

use clap::Args;
use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::RangeDiff;
use crate::mail::range_diff::{self, CREATION_FACTOR, Range};
use crate::send::{previous, record};
use crate::series::Series;
use crate::tree::Store;

/// Options of a range-diff.
#[derive(Debug, Args)]
pub struct Previous {
    /// Shows in the cover letter (or the only patch) what changed since PREVIOUS:
    /// `vN` as it was sent, or a commit or range OLD..NEW of the repository.
    /// Default: the version that was sent last before this one.
    #[arg(long, value_name = "PREVIOUS", num_args = 0..=1, require_equals = true)]
    #[allow(clippy::option_option)]
    range_diff: Option<Option<String>>,
    /// `--creation-factor` of git range-diff.
    #[arg(long, value_name = "PERCENT", default_value_t = CREATION_FACTOR, requires = "range_diff")]
    creation_factor: u32,
}

impl Previous {
    /// Tells of a version that was taken for a series: `--range-diff v1`.
    pub fn explain(&self, name: &str, e: Error) -> Error {
        let version = name.strip_prefix('v').is_some_and(|n| n.parse::<u32>().is_ok());
        if version && self.range_diff == Some(None) {
            e.hint(format!("for the version: --range-diff={name}"))
        } else {
            e
        }
    }

    /// Compares the commits of a rendered series.
    ///
    /// # Errors
    /// When PREVIOUS is no version that was sent and no commits, or cannot be
    /// made into commits.
    pub fn of_series(
        &self,
        store: &Store,
        series: &Series,
        base: Oid,
        commits: &[Oid],
    ) -> Result<Option<RangeDiff>> {
        let Some(asked) = &self.range_diff else { return Ok(None) };
        let new = Range { base, head: commits.last().copied().unwrap_or(base) };
        let (name, version) = (&series.name, series.version);
        let sent = match asked.as_deref().map(|text| (text, number(text))) {
            None => previous::newest(&series.folder(), version)?.ok_or_else(|| {
                Error::usage(format!("--range-diff of {name} v{version}"))
                    .found("no version before it was sent")
                    .hint("name one with --range-diff=PREVIOUS, or leave the option out")
            })?,
            Some((text, Some(v))) => record::load(&series.folder(), v)?.ok_or_else(|| {
                Error::usage(format!("--range-diff={text}"))
                    .found(format!("v{v} of {name} was never sent"))
                    .hint("series/NAME/sent/ has those that were")
            })?,
            Some((text, None)) => {
                let old = range_diff::previous(store.repo(), text, new)?;
                return self.compare(store.repo(), before(version), (old, new));
            }
        };
        let old = previous::commits(store, &sent)?;
        self.compare(store.repo(), Some(sent.meta.version), (old, new))
    }

    /// Compares commits of a repository.
    ///
    /// # Errors
    /// When PREVIOUS does not name commits there.
    pub fn of_range(
        &self,
        repo: &Repository,
        version: u32,
        new: Range,
    ) -> Result<Option<RangeDiff>> {
        let Some(asked) = &self.range_diff else { return Ok(None) };
        let Some(name) = asked else {
            return Err(Error::usage("--range-diff of a range")
                .found("what was sent of it is not kept, so there is no version to compare with")
                .hint("name the commits of the version before: --range-diff=OLD..NEW"));
        };
        let old = range_diff::previous(repo, name, new)?;
        self.compare(repo, before(version), (old, new))
    }

    fn compare(
        &self,
        repo: &Repository,
        against: Option<u32>,
        ranges: (Range, Range),
    ) -> Result<Option<RangeDiff>> {
        RangeDiff::of(repo, against, ranges, self.creation_factor).map(Some)
    }
}

/// The version before `version`, where there is one.
pub(super) fn before(version: u32) -> Option<u32> {
    version.checked_sub(1).filter(|&v| v > 0)
}

/// The N of `vN`.
fn number(text: &str) -> Option<u32> {
    text.strip_prefix('v').and_then(|n| n.parse().ok()).filter(|&n| n > 0)
}
