//! KTAP, the kernel's test result format, as a tree.
//!
//! The reader is [`Parser`]; what it makes is a [`Document`]. The format is
//! described in the kernel's `Documentation/dev-tools/ktap.rst`; programs in the
//! wild bend it, so here is the one rule for each bend:
//!
//! - A directive is one of the words `SKIP`, `TODO`, `XFAIL`, `XPASS`,
//!   `TIMEOUT`, `ERROR` in any case, as a whole word, after a `#` that has white
//!   space (or nothing) before it, with or without a space after it. Any other `#` belongs
//!   to the description.
//! - `SKIP` is a skip whether the line says `ok` or `not ok`. `TODO` and `XFAIL`
//!   make a `not ok` an expected failure; with `ok` they are an unexpected pass,
//!   which passes with a warning. `TIMEOUT` and `ERROR` fail whatever the line says.
//! - The plan may stand before or after the results. A plan that does not fit
//!   the number of results fails the block.
//! - Nesting is by indentation of any width, or by a `# ` before the lines of the inner
//!   document, as kselftest's runner writes it. A parent that says `ok` above a
//!   failed child is inconsistent, and fails.
//! - Carriage returns, terminal colours and printk's time stamp before a line
//!   are taken off. A result line with another message inside, or cut before its
//!   line end, is damaged: it is reported and never counts as a pass.

mod judge;
mod line;
mod parser;
mod write;

use serde::Serialize;

pub(crate) use line::{plain, strip_printk};
pub use parser::{Parser, Seen, parse};

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It passed.
    Pass,
    /// It failed.
    Fail,
    /// It did not run, by its own decision.
    Skip,
    /// It failed, and was marked as known to fail (`TODO`, `XFAIL`).
    ExpectedFail,
    /// It took longer than it was given.
    TimedOut,
    /// The guest or the program ended in the middle of it.
    Crashed,
    /// It was planned and never begun, or its result never came.
    NotRun,
    /// Its result line was cut or had other text inside.
    Damaged,
    /// It failed, and passed when it was run again: not a pass.
    Flaky,
}

impl Status {
    /// Whether a run with this in it can be called passed.
    #[must_use]
    pub fn is_good(self) -> bool {
        matches!(self, Status::Pass | Status::Skip | Status::ExpectedFail)
    }

    /// The word for reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Skip => "skip",
            Status::ExpectedFail => "expected-fail",
            Status::TimedOut => "timed-out",
            Status::Crashed => "crashed",
            Status::NotRun => "not-run",
            Status::Damaged => "damaged",
            Status::Flaky => "flaky",
        }
    }
}

/// The word after `#` on a result line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Did not run.
    Skip,
    /// Not finished yet: may fail.
    Todo,
    /// Known to fail.
    Xfail,
    /// Known to fail, but passed.
    Xpass,
    /// Took too long.
    Timeout,
    /// Could not be carried out.
    Error,
}

/// A directive and the text after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Directive {
    /// Which.
    pub word: Word,
    /// The reason given.
    pub reason: String,
}

/// Something about the form of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Whether it fails the test or block it was found in.
    pub fatal: bool,
    /// What was found.
    pub text: String,
}

/// One test point, with the subtests that were written before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Test {
    /// The number on its line.
    pub number: Option<u64>,
    /// Its description, or `test N` where it has none.
    pub name: String,
    /// Names from the outermost in, joined by `/`; a second test of the same name in
    /// one block gets `#2`, so paths are unique.
    pub path: String,
    /// What its line said; nothing when no line came.
    pub reported: Option<bool>,
    /// The directive on its line.
    pub directive: Option<Directive>,
    /// What became of it, its children considered.
    pub status: Status,
    /// Diagnostic and other lines that belong to it, in order, bounded.
    pub output: Vec<String>,
    /// Remarks on its form.
    pub problems: Vec<Problem>,
    /// Its subtests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<Block>,
    #[serde(skip)]
    damaged: bool,
}

/// Results on one level of nesting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The format version its first line named.
    pub version: Option<u64>,
    /// How many results it announced, over all its documents.
    pub planned: Option<u64>,
    /// Why the whole block was skipped (`1..0 # SKIP why`).
    pub skipped: Option<String>,
    /// Why it gave up (`Bail out!`).
    pub bail: Option<String>,
    /// Its tests in order.
    pub tests: Vec<Test>,
    /// Remarks on its form.
    pub problems: Vec<Problem>,
    /// Lines after the last result, bounded.
    pub output: Vec<String>,
    #[serde(skip)]
    subtest: Option<String>,
}

/// A whole document, judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Document {
    /// The outermost block.
    pub root: Block,
}

/// How a document ends, over all its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overall {
    /// At least one test passed or failed as expected, and nothing is wrong.
    Passed,
    /// Every test was skipped.
    Skipped,
    /// Something failed, is missing, or nothing was there at all.
    Failed,
}

/// How many test points ended how. Points are leaves of the tree, and inner
/// nodes that fail on their own account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Passed.
    pub passed: u64,
    /// Failed, crashed, timed out, damaged or flaky.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
    /// Failed as expected.
    pub expected_failures: u64,
    /// Planned and never run.
    pub not_run: u64,
}

impl Counts {
    /// Counts one point.
    pub fn add(&mut self, status: Status) {
        match status {
            Status::Pass => self.passed += 1,
            Status::Skip => self.skipped += 1,
            Status::ExpectedFail => self.expected_failures += 1,
            Status::NotRun => self.not_run += 1,
            Status::Fail | Status::TimedOut | Status::Crashed | Status::Damaged | Status::Flaky => {
                self.failed += 1
            }
        }
    }
}

impl Document {
    /// How it ends.
    #[must_use]
    pub fn overall(&self) -> Overall {
        let root = &self.root;
        let fatal = root.problems.iter().any(|p| p.fatal) || root.bail.is_some();
        if fatal || root.tests.iter().any(|t| !t.status.is_good()) {
            Overall::Failed
        } else if root.tests.is_empty() {
            if root.skipped.is_some() { Overall::Skipped } else { Overall::Failed }
        } else if root.tests.iter().all(|t| t.status == Status::Skip) {
            Overall::Skipped
        } else {
            Overall::Passed
        }
    }

    /// Every test point, depth first, as [`Counts`] counts them.
    #[must_use]
    pub fn points(&self) -> Vec<&Test> {
        let mut points = Vec::new();
        collect_points(&self.root, &mut points);
        points
    }

    /// How many points ended how.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for test in self.points() {
            counts.add(test.status);
        }
        counts
    }
}

fn collect_points<'d>(block: &'d Block, points: &mut Vec<&'d Test>) {
    for test in &block.tests {
        test.collect_points(points);
    }
}

impl Test {
    /// This test's points: itself, or its leaves.
    #[must_use]
    pub fn points(&self) -> Vec<&Test> {
        let mut points = Vec::new();
        self.collect_points(&mut points);
        points
    }

    fn collect_points<'d>(&'d self, points: &mut Vec<&'d Test>) {
        let below = self.children.as_ref().filter(|c| !c.tests.is_empty());
        let Some(children) = below else {
            points.push(self);
            return;
        };
        let before = points.len();
        collect_points(children, points);
        // A parent that fails though no child did is a point of its own, else
        // its failure would be counted nowhere; so is one that was cut short.
        let failed = |t: &Test| !t.status.is_good() && t.status != Status::NotRun;
        let told = points.iter().skip(before).any(|t| failed(t));
        let cut = matches!(self.status, Status::TimedOut | Status::Crashed);
        if !self.status.is_good() && (cut || !told) {
            points.push(self);
        }
    }
}

#[cfg(test)]
mod tests;
