//! The gates a maintainer applies to a series before it is worth reading.
//!
//! Each gate judges a [`Submission`] and gives one row a patch. A gate that
//! could not run says so: its row is skipped, which is not green.

pub mod accept;
pub mod applies;
pub mod checkout;
pub mod checkpatch;
pub mod compile;
pub mod diff;
pub mod kconfig;
pub mod kernel_doc;
pub mod maintainers;
pub mod makefile;
pub mod message;
pub mod places;
pub mod recipients;
pub mod report;
pub mod run;
pub mod spelling;
pub mod submission;
#[cfg(test)]
pub(crate) mod testing;
pub mod trailers;

use serde::{Deserialize, Serialize};

pub use report::{Finding, Report, Row, Status};
pub use submission::{Patch, Submission};

/// A gate.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// `git am` in a checkout of the base gives the rendered commits.
    Applies,
    /// `scripts/checkpatch.pl --strict` of the base.
    Checkpatch,
    /// Subject and body of each message, and the cover letter.
    Message,
    /// Sign-offs, Fixes, Link, Cc stable.
    Trailers,
    /// Words of the base's `scripts/spelling.txt`.
    Spelling,
    /// New warnings of the base's kernel-doc.
    KernelDoc,
    /// Everyone whom `get_maintainer.pl` names is a recipient.
    Recipients,
    /// New files have an entry in MAINTAINERS.
    Maintainers,
    /// New Kconfig symbols have help and are defined.
    Kconfig,
    /// The places that are changed are as somebody has read them.
    Places,
    /// Each commit builds.
    Builds,
    /// New compiler warnings with W=1 in the touched objects.
    Warnings,
    /// New warnings of sparse in the touched objects.
    Sparse,
}

impl Gate {
    /// Its name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Gate::Applies => "applies",
            Gate::Checkpatch => "checkpatch",
            Gate::Message => "message",
            Gate::Trailers => "trailers",
            Gate::Spelling => "spelling",
            Gate::KernelDoc => "kernel-doc",
            Gate::Recipients => "recipients",
            Gate::Maintainers => "maintainers",
            Gate::Kconfig => "kconfig",
            Gate::Places => "places",
            Gate::Builds => "builds",
            Gate::Warnings => "warnings",
            Gate::Sparse => "sparse",
        }
    }

    /// Whether it compiles kernels, so that `--fast` leaves it out.
    #[must_use]
    pub fn compiles(self) -> bool {
        matches!(self, Gate::Builds | Gate::Warnings | Gate::Sparse)
    }
}
