//! What the gates found: findings, rows, and how they are told.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::Gate;

/// How a row ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing stands against it.
    Passed,
    /// The gate could not run; that is not green.
    Skipped,
    /// Something must be mended, or accepted with a reason.
    Failed,
}

/// One thing that a gate found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule, in the gate's own terms: `LONG_LINE`, `subject-length`.
    pub rule: String,
    /// Where: `net/core/dev.c:12`, `message:3`.
    pub place: Option<String>,
    /// What.
    pub text: String,
    /// Only told; it does not fail the row.
    pub note: bool,
    /// Why the series' author accepts it.
    pub accepted: Option<String>,
}

impl Finding {
    /// Something to mend.
    pub fn new(rule: &str, place: impl Into<Option<String>>, text: impl Into<String>) -> Finding {
        let (rule, place, text) = (rule.to_owned(), place.into(), text.into());
        Finding { rule, place, text, note: false, accepted: None }
    }

    /// Something to know.
    pub fn note(rule: &str, place: impl Into<Option<String>>, text: impl Into<String>) -> Finding {
        Finding { note: true, ..Finding::new(rule, place, text) }
    }

    /// Whether the row fails by it.
    #[must_use]
    pub fn fails(&self) -> bool {
        !self.note && self.accepted.is_none()
    }
}

/// One gate on one patch, on the cover letter, or on the whole series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The gate.
    pub gate: Gate,
    /// The patch's name, `cover` or `series`.
    pub subject: String,
    /// How it ended.
    pub status: Status,
    /// Figures, or why it was not run.
    pub detail: String,
    /// What was found, notes included.
    pub findings: Vec<Finding>,
}

impl Row {
    /// A row that ran; its findings decide how it ended.
    pub fn of(gate: Gate, subject: &str, detail: impl Into<String>, found: Vec<Finding>) -> Row {
        let mut row = Row {
            gate,
            subject: subject.to_owned(),
            status: Status::Passed,
            detail: detail.into(),
            findings: found,
        };
        row.judge();
        row
    }

    /// A row that could not run.
    pub fn skipped(gate: Gate, subject: &str, why: impl Into<String>) -> Row {
        Row { status: Status::Skipped, ..Row::of(gate, subject, why, Vec::new()) }
    }

    /// Sets the status from the findings; a skipped row stays skipped.
    pub(super) fn judge(&mut self) {
        if self.status != Status::Skipped {
            let failed = self.findings.iter().any(Finding::fails);
            self.status = if failed { Status::Failed } else { Status::Passed };
        }
    }
}

/// All rows of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The series.
    pub series: String,
    /// The base's name.
    pub base: String,
    /// The base's commit.
    pub base_commit: String,
    /// The rows, in the gates' order and then the patches'.
    pub rows: Vec<Row>,
    /// Patches that have no rows because they do not apply here, with the verdict.
    pub left_out: Vec<(String, String)>,
    /// Seconds in all.
    pub seconds: f64,
}

impl Report {
    /// The worst row's status; no rows at all is not green either.
    #[must_use]
    pub fn status(&self) -> Status {
        self.rows.iter().map(|r| r.status).max().unwrap_or(Status::Skipped)
    }

    /// How many rows ended so.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|r| r.status == status).count()
    }

    /// The table, the findings below it, and the counts.
    ///
    /// # Errors
    /// When `w` cannot be written.
    pub fn human(&self, w: &mut dyn Write) -> io::Result<()> {
        let mut table = tabled::builder::Builder::default();
        table.push_record(["gate", "patch", "status", ""]);
        for r in &self.rows {
            let status = match r.status {
                Status::Passed => "passed",
                Status::Skipped => "SKIPPED",
                Status::Failed => "FAILED",
            };
            table.push_record([r.gate.name(), &r.subject, status, &r.told()]);
        }
        let mut table = table.build();
        table.with(tabled::settings::Style::blank());
        for line in table.to_string().lines() {
            writeln!(w, "{}", line.trim_end())?;
        }
        for r in &self.rows {
            for (i, f) in r.findings.iter().enumerate() {
                if i == 0 {
                    writeln!(w, "\n{} {}:", r.gate.name(), r.subject)?;
                }
                f.human(w)?;
            }
        }
        for (patch, verdict) in &self.left_out {
            writeln!(w, "\n{patch} is not judged: {verdict}")?;
        }
        let count = |s| self.count(s);
        let (passed, failed) = (count(Status::Passed), count(Status::Failed));
        let skipped = count(Status::Skipped);
        writeln!(
            w,
            "\n{} on {}: {passed} passed, {failed} failed, {skipped} skipped ({:.1} s)",
            self.series, self.base, self.seconds
        )
    }
}

impl Row {
    fn told(&self) -> String {
        let failing = self.findings.iter().filter(|f| f.fails()).count();
        let accepted = self.findings.iter().filter(|f| f.accepted.is_some()).count();
        let notes = self.findings.iter().filter(|f| f.note).count();
        let mut parts = Vec::new();
        for (n, one, many) in [
            (failing, "finding", "findings"),
            (accepted, "accepted", "accepted"),
            (notes, "note", "notes"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        }
        if !self.detail.is_empty() {
            parts.insert(0, self.detail.clone());
        }
        parts.join("; ")
    }
}

impl Finding {
    fn human(&self, w: &mut dyn Write) -> io::Result<()> {
        let mark = match (&self.accepted, self.note) {
            (Some(_), _) => "accepted ",
            (None, true) => "note ",
            (None, false) => "",
        };
        write!(w, "  {mark}{}: ", self.rule)?;
        if let Some(place) = &self.place {
            write!(w, "{place}: ")?;
        }
        let mut lines = self.text.lines();
        writeln!(w, "{}", lines.next().unwrap_or_default())?;
        lines.try_for_each(|l| writeln!(w, "      {l}"))?;
        match &self.accepted {
            Some(why) => writeln!(w, "      because: {why}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::testing;

    fn report(rows: Vec<Row>) -> Report {
        let left_out = vec![("old".into(), "absorbed".into())];
        Report { left_out, ..testing::report(rows) }
    }

    #[test]
    fn a_skipped_row_is_not_green_and_a_failed_one_is_worse() {
        let passed = || Row::of(Gate::Message, "p", "", vec![Finding::note("r", None, "t")]);
        let skipped = || Row::skipped(Gate::KernelDoc, "p", "python3 is not installed");
        let failed = || Row::of(Gate::Message, "p", "", vec![Finding::new("r", None, "t")]);
        for (rows, want) in [
            (vec![], Status::Skipped),
            (vec![passed()], Status::Passed),
            (vec![skipped(), passed()], Status::Skipped),
            (vec![failed(), skipped()], Status::Failed),
        ] {
            assert_eq!(report(rows).status(), want);
        }
    }

    #[test]
    fn what_a_reader_sees() {
        let mut accepted = Finding::new("CAMELCASE", Some("a.c:3".to_owned()), "Avoid");
        accepted.accepted = Some("the hardware's name".into());
        let rows = vec![
            Row::of(Gate::Checkpatch, "one", "12 lines", vec![accepted]),
            Row::of(Gate::Message, "two", "", vec![Finding::new("x", None, "bad\nline")]),
            Row::skipped(Gate::KernelDoc, "two", "python3 is not installed"),
        ];
        let mut text = Vec::new();
        report(rows).human(&mut text).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap());
    }
}
