//! A guest run as a suite of a report. Besides the test points it has two checks
//! of its own: that the guest ran to its end, and that its console has no splat.

use super::GuestRun;
use super::ktap::{Status, Test};
use super::splat::Splat;
use super::verdict::Verdict;
use crate::report::{self, Case, Suite};

impl GuestRun {
    /// The run as a suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        let mut suite = Suite {
            name: self.name.clone(),
            started: self.started.to_string(),
            seconds: self.seconds,
            notes: self.notes.clone(),
            files: vec!["console.log".into(), "ktap.log".into()],
            ..Suite::default()
        };
        for fact in &self.facts {
            suite.fact(&fact.name, fact.value.clone());
        }
        suite.cases.push(self.guest_case());
        for test in &self.document.root.tests {
            for point in test.points() {
                let mut case = case(point);
                if std::ptr::eq(point, test) {
                    case.seconds = self.times.get(&test.name).copied();
                }
                suite.cases.push(case);
            }
        }
        let form = self.document.root.problems.iter().filter(|p| p.fatal);
        if self.verdict.completed() {
            for problem in form {
                let mut case = Case::new("form of the results", report::Status::Fail);
                case.message = Some(problem.text.clone());
                suite.cases.push(case);
            }
        }
        suite.cases.push(self.console_case());
        for splat in self.splats.iter().filter(|s| s.allowed.is_some()) {
            let name = splat.allowed.as_deref().unwrap_or("");
            suite.notes.push(format!("allowed by \"{name}\": {}", splat.title));
        }
        suite
    }

    fn guest_case(&self) -> Case {
        let mut case = Case::new("guest", report::Status::Pass);
        case.seconds = Some(self.seconds);
        if self.verdict.completed() && self.flaky_guest.is_none() {
            return case;
        }
        case.status = match (&self.flaky_guest, &self.verdict) {
            (Some(_), _) => report::Status::Flaky,
            (None, Verdict::Completed) => report::Status::Pass,
            (None, _) => report::Status::Error,
        };
        let mut message = self.flaky_guest.clone().unwrap_or_else(|| self.verdict.sentence());
        if let Some(test) = &self.running {
            message.push_str(&format!("; while {test} ran"));
        }
        if let Some(mend) = self.verdict.mend() {
            message.push_str(&format!(" (mend: {mend})"));
        }
        case.message = Some(message);
        case.output = self.tail.clone();
        case
    }

    fn console_case(&self) -> Case {
        let mut case = Case::new("console", report::Status::Pass);
        if self.console_bytes == 0 {
            case.status = report::Status::Error;
            case.message = Some(
                "the console is empty, so splats could not be seen \
                 (mend: the kernel needs a console on its serial port)"
                    .into(),
            );
            return case;
        }
        let bad: Vec<&Splat> = self.splats.iter().filter(|s| s.allowed.is_none()).collect();
        let Some(first) = bad.first() else { return case };
        let more = bad.len() - 1 + self.more_splats;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        case.status = report::Status::Fail;
        case.message = Some(format!("{}: {}{more}", first.kind.word(), first.title));
        for splat in bad {
            let test = splat.test.as_deref().map_or_else(String::new, |t| format!(" during {t}"));
            let times =
                if splat.count > 1 { format!(", {} times", splat.count) } else { String::new() };
            case.output.push(format!("[line {}{test}{times}]", splat.line));
            case.output.extend(splat.text.iter().cloned());
        }
        case
    }
}

fn case(point: &Test) -> Case {
    let status = match point.status {
        Status::Pass => report::Status::Pass,
        Status::Skip => report::Status::Skip,
        Status::ExpectedFail => report::Status::ExpectedFail,
        Status::Fail => report::Status::Fail,
        Status::Flaky => report::Status::Flaky,
        Status::NotRun => report::Status::NotRun,
        Status::TimedOut | Status::Crashed | Status::Damaged => report::Status::Error,
    };
    let mut case = Case::new(point.path.clone(), status);
    let mut why: Vec<String> =
        point.problems.iter().filter(|p| p.fatal).map(|p| p.text.clone()).collect();
    let reason = point.directive.as_ref().map(|d| d.reason.clone()).filter(|r| !r.is_empty());
    why.extend(reason);
    if status == report::Status::Error && point.status != Status::Damaged {
        why.insert(0, point.status.word().to_owned());
    }
    case.message = (!why.is_empty()).then(|| why.join("; "));
    case.output = point.output.iter().filter(|l| !l.is_empty()).cloned().collect();
    case
}
