//! The report as JUnit XML, which CI systems show.

use std::time::Duration;

use quick_junit::{
    NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite, XmlString,
};

use super::{Case, Status, Suite, Summary};
use crate::error::{Error, Result};

impl Summary {
    /// The report as JUnit XML. Control characters, which XML cannot hold, are left out.
    ///
    /// # Errors
    /// When the document cannot be written.
    pub fn junit(&self) -> Result<String> {
        let mut report = Report::new(&self.title);
        for suite in &self.suites {
            report.add_test_suite(suite_of(suite));
        }
        report
            .to_string()
            .map_err(|e| Error::host("cannot write the results as JUnit").found(e.to_string()))
    }
}

fn suite_of(suite: &Suite) -> TestSuite {
    let mut out = TestSuite::new(suite.name.as_str());
    out.set_time(seconds(suite.seconds));
    for fact in &suite.facts {
        out.add_property(Property::new(fact.name.as_str(), fact.value.as_str()));
    }
    for case in &suite.cases {
        out.add_test_case(case_of(suite, case));
    }
    if !suite.notes.is_empty() {
        out.set_system_out(suite.notes.join("\n"));
    }
    out
}

fn case_of(suite: &Suite, case: &Case) -> TestCase {
    let message = || XmlString::new(case.message.as_deref().unwrap_or(case.status.word()));
    let non_success = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_message(message()).set_type(case.status.word());
        if !case.output.is_empty() {
            status.set_description(case.output.join("\n"));
        }
        status
    };
    let status = match case.status {
        Status::Pass => TestCaseStatus::success(),
        Status::Skip => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(message());
            status
        }
        Status::ExpectedFail => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(message()).set_type("expected-fail");
            status
        }
        Status::Fail | Status::Flaky => non_success(NonSuccessKind::Failure),
        Status::Error | Status::NotRun => non_success(NonSuccessKind::Error),
    };
    let mut out = TestCase::new(case.name.as_str(), status);
    // Readers group by class name: the run, and the blocks above the test point.
    let class = case.name.rsplit_once('/').map(|(above, _)| above);
    out.set_classname(match class {
        Some(above) => format!("{}: {above}", suite.name),
        None => suite.name.clone(),
    });
    if let Some(s) = case.seconds {
        out.set_time(seconds(s));
    }
    if case.status == Status::Pass && !case.output.is_empty() {
        out.set_system_out(case.output.join("\n"));
    }
    out
}

fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s).unwrap_or_default()
}
