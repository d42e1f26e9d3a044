//! Says which cell is run, how it ended, and how long the rest may take.

use super::plan::{Cell, Plan, Step};
use super::state::{Finished, State, Status};
use crate::cli::Ctx;

/// The progress of a run.
pub struct Progress {
    /// What each cell took the last time, and its step.
    cells: Vec<(Step, Option<f64>)>,
    at: usize,
    /// What this run's cells took.
    took: Vec<(Step, f64)>,
}

impl Progress {
    /// At the beginning.
    #[must_use]
    pub fn new(plan: &Plan, state: &State) -> Progress {
        let cells = plan.cells.iter().map(|c| (c.step, state.seconds(c))).collect();
        Progress { cells, at: 0, took: Vec::new() }
    }

    /// Seconds that the cells from here on may take, and whether some of them could not be
    /// estimated at all: what a cell took the last time, else what others of its step take.
    fn left(&self) -> (f64, bool) {
        let mut sum = 0.0;
        let mut unknown = false;
        for (step, last) in self.cells.iter().skip(self.at) {
            let of_step = |all: Vec<f64>| {
                let n = u32::try_from(all.len()).ok().filter(|n| *n > 0)?;
                Some(all.iter().sum::<f64>() / f64::from(n))
            };
            let now = self.took.iter().filter(|(s, _)| s == step).map(|(_, t)| *t).collect();
            let before = self.cells.iter().filter(|(s, _)| s == step).filter_map(|(_, t)| *t);
            match last.or_else(|| of_step(now)).or_else(|| of_step(before.collect())) {
                Some(seconds) => sum += seconds,
                None => unknown = true,
            }
        }
        (sum, unknown)
    }

    /// Says that a cell begins.
    pub fn begin(&self, ctx: &Ctx, cell: &Cell) {
        ctx.ui.note(&format!("[{}/{}] {cell}{}", self.at + 1, self.cells.len(), told(self.left())));
    }

    /// Says how a cell ended.
    pub fn end(&mut self, ctx: &Ctx, result: &Finished) {
        self.at += 1;
        self.took.push((result.cell.step, result.seconds));
        let word = match result.status {
            Status::Held => "held",
            Status::Failed => "FAILED",
            Status::NotRun => "not run",
        };
        ctx.ui.note(&format!(
            "{word}: {}: {} ({:.1} s)",
            result.cell, result.summary, result.seconds
        ));
    }

    /// Says that a cell is kept from an earlier run.
    pub fn kept(&mut self, ctx: &Ctx, result: &Finished) {
        self.at += 1;
        ctx.ui.note(&format!(
            "[{}/{}] {}: held on {}: {}",
            self.at,
            self.cells.len(),
            result.cell,
            result.when.strftime("%Y-%m-%d %H:%M UTC"),
            result.summary
        ));
    }
}

/// `, about 12 min left`; nothing where that would be a guess, or is no time at all.
fn told((seconds, unknown): (f64, bool)) -> String {
    if seconds < 5.0 {
        return String::new();
    }
    let time = match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    };
    format!(" ({} {time} left)", if unknown { "more than" } else { "about" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_time_then_this_run_then_others_of_the_step() {
        let progress = |at, cells: &[(Step, Option<f64>)], took: &[(Step, f64)]| Progress {
            cells: cells.to_vec(),
            at,
            took: took.to_vec(),
        };
        let (boot, check) = (Step::Boot, Step::Check);
        for (p, want) in [
            (progress(0, &[(boot, Some(10.0)), (boot, Some(20.0))], &[]), (30.0, false)),
            (progress(1, &[(boot, Some(10.0)), (boot, Some(20.0))], &[]), (20.0, false)),
            (progress(1, &[(boot, None), (boot, None)], &[(boot, 7.0)]), (7.0, false)),
            (progress(0, &[(boot, Some(10.0)), (boot, None)], &[]), (20.0, false)),
            (progress(0, &[(check, None), (boot, Some(3.0))], &[]), (3.0, true)),
            (progress(2, &[(check, None), (boot, None)], &[]), (0.0, false)),
        ] {
            assert_eq!(p.left(), want);
        }
    }

    #[test]
    fn times() {
        for (left, want) in [
            ((1.0, false), ""),
            ((40.0, false), " (about 40 s left)"),
            ((720.0, false), " (about 12 min left)"),
            ((9000.0, true), " (more than 2.5 h left)"),
        ] {
            assert_eq!(told(left), want);
        }
    }
}
