//! What a report is made from.

use serde::Serialize;

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Passed.
    Pass,
    /// Failed.
    Fail,
    /// Could not be carried to its end: a crash, a time-out, a cut result.
    Error,
    /// Did not run, for a reason it gave.
    Skip,
    /// Failed, as it is known to.
    ExpectedFail,
    /// Failed, then passed when run again: not a pass.
    Flaky,
    /// Never begun.
    NotRun,
}

impl Status {
    /// Whether a run with this in it can be called passed.
    #[must_use]
    pub fn is_good(self) -> bool {
        matches!(self, Status::Pass | Status::Skip | Status::ExpectedFail)
    }

    /// The word for readers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Error => "error",
            Status::Skip => "skip",
            Status::ExpectedFail => "expected-fail",
            Status::Flaky => "flaky",
            Status::NotRun => "not-run",
        }
    }
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// Its path within the suite, parts joined by `/`; unique there.
    pub name: String,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass, in one line; the reason of a skip.
    pub message: Option<String>,
    /// What it wrote, or what belongs to the failure.
    pub output: Vec<String>,
    /// How long it took, where that is known.
    pub seconds: Option<f64>,
}

impl Case {
    /// A case with nothing more to say.
    #[must_use]
    pub fn new(name: impl Into<String>, status: Status) -> Case {
        Case { name: name.into(), status, message: None, output: Vec::new(), seconds: None }
    }
}

/// Something that a reader must know to weigh the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// `kernel`, `accelerator` …
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The cases of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Suite {
    /// What was run: `cpumap-gro on 6.12, x86_64`.
    pub name: String,
    /// When it began, as RFC 3339 in UTC.
    pub started: String,
    /// How long it took.
    pub seconds: f64,
    /// Under which circumstances.
    pub facts: Vec<Fact>,
    /// What was checked, in order.
    pub cases: Vec<Case>,
    /// Remarks that are no failure.
    pub notes: Vec<String>,
    /// Files beside the report: console, KTAP as it came.
    pub files: Vec<String>,
}

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Passed, or failed as expected.
    pub passed: u64,
    /// Everything that makes a run fail.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
}

impl Counts {
    fn add(&mut self, status: Status) {
        match status {
            Status::Pass | Status::ExpectedFail => self.passed += 1,
            Status::Skip => self.skipped += 1,
            Status::Fail | Status::Error | Status::Flaky | Status::NotRun => self.failed += 1,
        }
    }
}

impl Suite {
    /// Adds a fact.
    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.facts.push(Fact { name: name.to_owned(), value: value.into() });
    }

    /// How many cases ended how.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.cases.iter().for_each(|c| counts.add(c.status));
        counts
    }
}

/// A whole report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// What was asked.
    pub title: String,
    /// One entry a run.
    pub suites: Vec<Suite>,
}

impl Summary {
    /// How many cases ended how, over all suites.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.suites.iter().flat_map(|s| &s.cases).for_each(|c| counts.add(c.status));
        counts
    }

    /// Whether something was checked, and all of it holds.
    #[must_use]
    pub fn held(&self) -> bool {
        let counts = self.counts();
        counts.failed == 0 && counts.passed > 0
    }
}
