//! `cargo xtask check`: every gate that a maintainer applies to a series.

use std::time::Instant;

use clap::{Args, ValueEnum as _};

use super::fitting::LeftOut;
use super::material::{Material, What};
use crate::cli::{Ctx, Outcome};
use crate::error::{Error, Result};
use crate::gates::accept::{self, Accept};
use crate::gates::run::{Bench, in_short, run};
use crate::gates::{Gate, Report, Row, Status, Submission};
use crate::recipients::Recipients;
use crate::recipients::gather::gather;
use crate::results::check;
use crate::scripts::Scripts;
use crate::series::places;

/// Options of `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The series.
    series: Option<String>,
    #[command(flatten)]
    what: What,
    /// Leaves out the gates that compile kernels.
    #[arg(long)]
    fast: bool,
    /// An architecture to compile for; may be given several times. Default: this host's.
    #[arg(long, value_name = "ARCH")]
    arch: Vec<String>,
    /// Run only this gate; may be given several times.
    #[arg(long, value_enum, value_name = "NAME")]
    gate: Vec<Gate>,
    /// Records that you have read the places that the patches change, as they are on this base.
    #[arg(long, conflicts_with = "range")]
    record: bool,
    /// A gate that could not run does not make the command fail.
    #[arg(long)]
    allow_skipped: bool,
}

impl Check {
    /// Runs the gates; held when none failed and none was skipped.
    ///
    /// # Errors
    /// When the series cannot be rendered or mailed at all.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let mut material = self.what.get_to_check(ctx, self.series.as_deref())?;
        let all = Gate::value_variants().iter().filter(|g| material.is_for(**g));
        let asked: Vec<Gate> =
            if self.gate.is_empty() { all.copied().collect() } else { self.gate.clone() };
        let gates: Vec<Gate> = asked.into_iter().filter(|g| !self.fast || !g.compiles()).collect();
        if gates.is_empty() {
            return Err(Error::usage("check --fast --gate")
                .found("every gate that is named compiles, and --fast leaves those out")
                .hint("leave --fast out"));
        }
        if self.record {
            for (patch, new) in material.record(ctx)? {
                let counted = if new == 1 { "place" } else { "places" };
                ctx.ui.note(&format!("{patch}: {new} {counted} more recorded in {}", places::FILE));
            }
        }
        // Its record is its own: no row of this series tells of it.
        if gates.contains(&Gate::Places) {
            material.unread_below().iter().for_each(|warning| ctx.ui.warn(warning));
        }
        let mails = material.mails(&[], &[])?;
        let submission = material.submission(&mails)?;
        let mut report = judge(ctx, &material, &submission, &gates, &self.arch)?;
        drop(submission);
        keep(ctx, &material, &report)?;
        self.judge_letter(ctx, &mut material, &gates, &mut report)?;
        ctx.ui.result(&report, |w| report.human(w))?;
        for idle in idle(&material.accepted.accept, &report) {
            ctx.ui.note(&idle);
        }
        if self.fast && self.gate.is_empty() {
            ctx.ui.note(&compilers_left_out("without --fast"));
        }
        let skipped = report.count(Status::Skipped);
        if skipped > 0 && report.count(Status::Failed) == 0 && !self.allow_skipped {
            ctx.ui.note(&format!(
                "{skipped} rows could not be judged, so this is not green: mend what they say, \
                 or let it pass with --allow-skipped"
            ));
        }
        Ok(match report.status() {
            Status::Passed => Outcome::Held,
            Status::Skipped if self.allow_skipped && !report.rows.is_empty() => Outcome::Held,
            Status::Skipped | Status::Failed => Outcome::Failed,
        })
    }

    /// Judges a cover letter that tells of these results now that they are there.
    fn judge_letter(
        &self,
        ctx: &Ctx,
        material: &mut Material,
        gates: &[Gate],
        report: &mut Report,
    ) -> Result<()> {
        let changed = material.renew_letter(ctx)?;
        let of_letter = |row: &Row| row.subject == check::LETTER;
        if let Some(e) = &material.lacking {
            for row in report.rows.iter_mut().filter(|r| of_letter(r)) {
                *row = Row::skipped(row.gate, check::LETTER, in_short(e));
            }
        } else if changed {
            let has_row =
                |gate: &&Gate| report.rows.iter().any(|r| r.gate == **gate && of_letter(r));
            let gates: Vec<Gate> = gates.iter().filter(has_row).copied().collect();
            let mails = material.mails(&[], &[])?;
            let submission = material.submission(&mails)?;
            let anew = judge(ctx, material, &submission, &gates, &self.arch)?;
            for row in report.rows.iter_mut().filter(|r| of_letter(r)) {
                let of_gate = |new: &&Row| new.gate == row.gate && of_letter(new);
                if let Some(new) = anew.rows.iter().find(of_gate) {
                    *row = new.clone();
                }
            }
        }
        Ok(())
    }
}

/// Accepted findings that nothing in the report is: perhaps mended since, or misspelt.
fn idle(accepted: &[Accept], report: &Report) -> Vec<String> {
    let judged = |a: &&Accept| {
        let mut rows = report.rows.iter().filter(|r| r.gate.name() == a.gate).peekable();
        rows.peek().is_some() && rows.all(|r| r.status != Status::Skipped)
    };
    let found = |a: &Accept| {
        let rows = report.rows.iter().filter(|r| r.gate.name() == a.gate);
        rows.flat_map(|r| r.findings.iter().map(move |f| (r, f))).any(|(r, f)| {
            f.accepted.as_deref() == Some(&a.why)
                && f.rule == a.rule
                && a.patch.as_ref().is_none_or(|p| *p == r.subject)
        })
    };
    let idle = accepted.iter().filter(judged).filter(|a| !found(a));
    idle.map(|a| {
        let of = a.patch.as_ref().map_or_else(String::new, |p| format!(" of {p}"));
        format!(
            "{} accepts {} of {}{of}, and on this base there is no such finding",
            accept::FILE,
            a.rule,
            a.gate
        )
    })
    .collect()
}

/// Keeps rows for the cover letter.
///
/// # Errors
/// When there is no project; what cannot be written is told.
pub fn keep(ctx: &Ctx, material: &Material, report: &Report) -> Result<()> {
    let Some(folder) = material.series_folder() else { return Ok(()) };
    let (head, sender) = (material.head().to_string(), material.sender().verbatim());
    let kept = check::keep(&ctx.dirs.out()?, &folder, &head, &sender, report);
    // They serve cover letters alone.
    kept.unwrap_or_else(|e| ctx.ui.warn(&format!("the results are not kept: {e}")));
    Ok(())
}

/// What a run without a compiler does not tell; `how` brings it.
pub fn compilers_left_out(how: &str) -> String {
    let gates = Gate::value_variants().iter().filter(|g| g.compiles());
    let names: Vec<&str> = gates.map(|g| g.name()).collect();
    format!("not judged: {} (they compile kernels); {how} they are", names.join(", "))
}

/// The rows of `gates` on a submission.
///
/// # Errors
/// When the user ends it.
pub fn judge(
    ctx: &Ctx,
    material: &Material,
    submission: &Submission<'_>,
    gates: &[Gate],
    arches: &[String],
) -> Result<Report> {
    let begun = Instant::now();
    let scripts = Scripts::prepare(&ctx.ui, &ctx.dirs, submission.repo, submission.base_tree);
    let recipients = match &scripts {
        Ok(scripts) if gates.contains(&Gate::Recipients) => {
            gather(&ctx.dirs, scripts, submission, &material.wishes)
        }
        _ => Ok(Recipients::default()),
    };
    let left_out = LeftOut::default();
    let bench = Bench {
        ui: &ctx.ui,
        dirs: &ctx.dirs,
        scripts,
        recipients,
        compiler: material.compiler(ctx, arches, &left_out),
        accepted: &material.accepted,
        is_series: material.is_for(Gate::Places),
        unread: material.unread.as_deref(),
    };
    let mut rows = run(&bench, submission, gates)?;
    for row in rows.iter_mut().filter(|r| matches!(r.gate, Gate::Warnings | Gate::Sparse)) {
        let arch = row.detail.split(',').next().unwrap_or_default();
        let objects = left_out.of(&row.subject, arch);
        if !objects.is_empty() {
            let more = format!(", not built by its configuration: {}", objects.join(" "));
            row.detail.push_str(&more);
        }
    }
    Ok(Report {
        series: material.name.clone(),
        base: material.base_name.clone(),
        base_commit: material.base.to_string(),
        rows,
        left_out: material.left_out.clone(),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::Finding;
    use crate::gates::testing::report;

    #[test]
    fn acceptances_of_nothing_are_told() {
        let accept = |patch: Option<&str>, rule: &str| Accept {
            gate: "checkpatch".into(),
            patch: patch.map(str::to_owned),
            rule: rule.into(),
            text: None,
            why: "it is right here".into(),
        };
        let finding = |rule: &str| Finding {
            accepted: Some("it is right here".into()),
            ..Finding::new(rule, None, "x")
        };
        let row = |found| Row::of(Gate::Checkpatch, "a", "", found);
        let accepted = [accept(None, "LONG"), accept(Some("b"), "LONG"), accept(None, "LNOG")];
        let told = idle(&accepted, &report(vec![row(vec![finding("LONG")])]));
        assert_eq!(
            told,
            [
                "checks.toml accepts LONG of checkpatch of b, and on this base there is no such finding",
                "checks.toml accepts LNOG of checkpatch, and on this base there is no such finding"
            ]
        );
        // Of a gate that did not run, or not on each patch, nothing is known.
        let skipped = Row::skipped(Gate::Checkpatch, "b", "no perl");
        for rows in [vec![], vec![row(vec![finding("LONG")]), skipped]] {
            assert!(idle(&accepted, &report(rows)).is_empty());
        }
    }
}
