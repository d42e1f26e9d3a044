//! Runs gates over a submission, one after the other.

use super::accept::Accepted;
use super::{
    Gate, Row, Submission, applies, checkpatch, compile, kconfig, kernel_doc, maintainers, message,
    places, recipients, spelling, trailers,
};
use crate::error::{Error, Kind, Result};
use crate::host::paths::Dirs;
use crate::host::ui::Ui;
use crate::recipients::Recipients;
use crate::scripts::Scripts;

/// What the gates need besides the submission.
pub struct Bench<'b> {
    /// Talks to the user.
    pub ui: &'b Ui,
    /// The cache.
    pub dirs: &'b Dirs,
    /// The base's scripts, or why they cannot be had.
    pub scripts: Result<Scripts<'b>>,
    /// Who would get the mails, or why that is not known.
    pub recipients: Result<Recipients>,
    /// What compiles, or why nothing can.
    pub compiler: Result<Box<dyn compile::Compiler + 'b>>,
    /// What the author accepts.
    pub accepted: &'b Accepted,
    /// Whether it is a series, and no range of commits.
    pub is_series: bool,
    /// The places that nobody has read as they are, where the series has a record of them.
    pub unread: Option<&'b [places::OfPatch]>,
}

/// The rows of `gates`, in their order.
///
/// # Errors
/// When the user ends it. A gate that cannot run gives a skipped row.
pub fn run(bench: &Bench<'_>, s: &Submission, gates: &[Gate]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &gate in gates {
        let step = bench.ui.step(format!("gate {}", gate.name()));
        let mut found = match one(bench, s, gate) {
            Ok(found) => found,
            Err(e) if e.kind() == Kind::Interrupted => return Err(e),
            Err(e) => vec![Row::skipped(gate, "series", in_short(&e))],
        };
        bench.accepted.apply(&mut found);
        let worst = found.iter().map(|r| r.status).max();
        step.done(match worst {
            Some(super::Status::Failed) => "failed",
            Some(super::Status::Passed) => "passed",
            Some(super::Status::Skipped) | None => "skipped",
        });
        rows.append(&mut found);
    }
    Ok(rows)
}

fn one(bench: &Bench<'_>, s: &Submission, gate: Gate) -> Result<Vec<Row>> {
    let scripts = || bench.scripts.as_ref().map_err(again);
    match gate {
        Gate::Applies => applies::check(s),
        Gate::Checkpatch => checkpatch::check(s, scripts()?),
        Gate::Message => message::check(s),
        Gate::Trailers => trailers::check(s),
        Gate::Spelling => spelling::check(s),
        Gate::KernelDoc => kernel_doc::check(s, scripts()?),
        Gate::Recipients => recipients::check(s, bench.recipients.as_ref().map_err(again)?),
        Gate::Maintainers => maintainers::check(s),
        Gate::Kconfig => kconfig::check(s),
        Gate::Places => places::check(bench.is_series, bench.unread),
        Gate::Builds | Gate::Warnings | Gate::Sparse => {
            compile::check(s, gate, bench.compiler.as_ref().map_err(again)?.as_ref())
        }
    }
}

/// The same failure once more, for the next gate that needs what is not there.
fn again(e: &Error) -> Error {
    let error = Error::new(e.kind(), e.asked());
    let error = e.what_was_found().iter().fold(error, |error, f| error.found(f.clone()));
    e.hints().iter().fold(error, |error, h| error.hint(h.clone()))
}

/// A failure in one line, with its mend.
#[must_use]
pub fn in_short(e: &Error) -> String {
    let found = e.what_was_found().first().and_then(|f| f.lines().last());
    let parts = [Some(e.asked()), found, e.hints().first().map(String::as_str)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
