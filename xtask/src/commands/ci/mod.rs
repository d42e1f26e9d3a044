//! `cargo xtask ci`: everything that the project's own CI runs, with real counts.
//!
//! Each stage ends in checks; a stage that cannot go on is a failed check and
//! the stages that do not depend on it still run. The last line of stdout is
//! `N passed, N failed, N skipped` over all of them.

use std::collections::BTreeSet;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::error::{Error, Kind, Result};

mod debian;
mod guests;
mod mail_server;
mod mails;
mod parity;
mod prerequisites;
mod proofs;
mod source;

/// Options of `ci`.
#[derive(Debug, Args)]
pub struct Ci {
    /// Run only these stages (see --list).
    #[arg(long, value_name = "STAGE")]
    only: Vec<String>,
    /// Leave these stages out.
    #[arg(long, value_name = "STAGE")]
    skip: Vec<String>,
    /// List the stages and end.
    #[arg(long)]
    list: bool,
    /// Run also what the gate cannot afford each time: all bases built and booted,
    /// debug kernels, every mutant, the patches of every distribution kernel.
    #[arg(long)]
    full: bool,
}

/// How one check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// It was not run; the detail says why.
    Skipped,
}

/// One check of a stage.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The stage it belongs to.
    pub stage: &'static str,
    /// What is checked.
    pub name: String,
    /// How it ended.
    pub status: Status,
    /// Figures, or why it failed or was not run.
    pub detail: String,
}

/// Collects the checks of the running stage.
#[derive(Debug)]
pub struct Stage<'c> {
    /// The surroundings of the run.
    pub ctx: &'c Ctx,
    /// Whether the long form was asked for.
    pub full: bool,
    name: &'static str,
    checks: Vec<Check>,
}

impl Stage<'_> {
    /// Adds a check that ended.
    pub fn add(&mut self, name: impl Into<String>, status: Status, detail: impl Into<String>) {
        let check = Check { stage: self.name, name: name.into(), status, detail: detail.into() };
        let mark = match status {
            Status::Passed => "passed ",
            Status::Failed => "FAILED ",
            Status::Skipped => "skipped",
        };
        let line = format!("{mark} {}: {} {}", check.stage, check.name, check.detail);
        self.ctx.ui.note(line.trim_end());
        self.checks.push(check);
    }

    /// Adds a check without a line of talk, for those that come by the hundred.
    pub fn record(&mut self, name: &str, status: Status, detail: &str) {
        let (name, detail) = (name.to_owned(), detail.to_owned());
        self.checks.push(Check { stage: self.name, name, status, detail });
    }

    /// Adds a check that passed or failed.
    pub fn check(&mut self, name: impl Into<String>, held: bool, detail: impl Into<String>) {
        self.add(name, if held { Status::Passed } else { Status::Failed }, detail);
    }
}

/// A stage: its name, what it shows, and what it does.
struct Plan {
    name: &'static str,
    shows: &'static str,
    run: fn(&mut Stage) -> Result<()>,
}

const STAGES: &[Plan] = &[
    Plan { name: "tools", shows: "what the host lacks is installed", run: source::tools },
    Plan { name: "source", shows: "format, lints, documentation", run: source::lints },
    Plan {
        name: "licences",
        shows: "every dependency's licence fits GPL-2.0",
        run: source::licences,
    },
    Plan { name: "tests", shows: "the fast tests", run: source::tests },
    Plan { name: "parity", shows: "mails in the bytes of git format-patch", run: parity::parity },
    Plan { name: "verdicts", shows: "every series on every base", run: proofs::verdicts },
    Plan { name: "am", shows: "git am gives the printed trees", run: proofs::git_am },
    Plan { name: "gates", shows: "every gate on every series", run: mails::gates },
    Plan { name: "mails", shows: "sent, fetched by b4, applied", run: mails::mails },
    Plan { name: "selftests", shows: "every series in a guest, x86_64", run: guests::selftests },
    Plan { name: "mutants", shows: "breaks are caught", run: guests::mutants },
    Plan { name: "vng", shows: "a guest by virtme-ng", run: guests::virtme_ng },
    Plan { name: "arm64", shows: "a cross-compiled kernel in a guest", run: guests::arm64 },
    Plan { name: "everything", shows: "other bases, debug kernels", run: guests::everything },
];

#[derive(Serialize)]
struct Report {
    passed: usize,
    failed: usize,
    skipped: usize,
    seconds: f64,
    checks: Vec<Check>,
}

impl Ci {
    /// Runs the stages; held when no check failed and at least one passed.
    ///
    /// # Errors
    /// On an unknown stage, or when the user ends it.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let known: BTreeSet<&str> = STAGES.iter().map(|s| s.name).collect();
        for name in self.only.iter().chain(&self.skip) {
            if !known.contains(name.as_str()) {
                return Err(Error::usage(format!("no stage \"{name}\""))
                    .found(format!("stages: {}", Vec::from_iter(known).join(", ")))
                    .hint("cargo xtask ci --list"));
            }
        }
        if self.list {
            let rows: Vec<(&str, &str)> = STAGES.iter().map(|s| (s.name, s.shows)).collect();
            ctx.ui.result(&rows, |w| {
                rows.iter().try_for_each(|(name, shows)| writeln!(w, "{name:<12} {shows}"))
            })?;
            return Ok(Outcome::Held);
        }
        let begun = Instant::now();
        let mut checks = Vec::new();
        for plan in STAGES {
            let wanted = self.only.is_empty() || self.only.iter().any(|o| o == plan.name);
            if !wanted || self.skip.iter().any(|s| s == plan.name) {
                continue;
            }
            ctx.ui.note(&format!("==> {}: {}", plan.name, plan.shows));
            let mut stage = Stage { ctx, full: self.full, name: plan.name, checks: Vec::new() };
            let stage_begun = Instant::now();
            match (plan.run)(&mut stage) {
                Err(e) if e.kind() == Kind::Interrupted => return Err(e),
                Err(e) => stage.check("the stage runs to its end", false, e.to_string()),
                Ok(()) if stage.checks.is_empty() => {
                    stage.check("the stage has checks", false, "it ran none");
                }
                Ok(()) => {}
            }
            ctx.ui.note(&format!(
                "<== {}: {:.1} s",
                plan.name,
                stage_begun.elapsed().as_secs_f64()
            ));
            checks.append(&mut stage.checks);
        }
        let report = Report::of(checks, begun.elapsed().as_secs_f64());
        report.write(ctx)?;
        Ok(if report.failed == 0 && report.passed > 0 { Outcome::Held } else { Outcome::Failed })
    }
}

impl Report {
    fn of(checks: Vec<Check>, seconds: f64) -> Report {
        let count = |s: Status| checks.iter().filter(|c| c.status == s).count();
        Report {
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            skipped: count(Status::Skipped),
            seconds,
            checks,
        }
    }

    fn write(&self, ctx: &Ctx) -> Result<()> {
        let json = serde_json::to_vec_pretty(self)
            .map_err(|e| Error::usage("write the report").found(e.to_string()))?;
        crate::host::atomic::write(&ctx.dirs.out()?.join("ci").join("results.json"), &json)?;
        ctx.ui.result(self, |w| {
            for c in self.checks.iter().filter(|c| c.status == Status::Failed) {
                writeln!(w, "FAILED {}: {}", c.stage, c.name)?;
                c.detail.lines().try_for_each(|l| writeln!(w, "    {l}"))?;
            }
            for c in self.checks.iter().filter(|c| c.status == Status::Skipped) {
                writeln!(w, "skipped {}: {} ({})", c.stage, c.name, c.detail)?;
            }
            writeln!(w, "{:.0} s in all", self.seconds)?;
            writeln!(w, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
        })
    }
}
