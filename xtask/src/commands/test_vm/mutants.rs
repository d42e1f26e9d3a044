//! Proves that the tests can fail: each mutant of a series is built and booted,
//! and the test point that it names must fail.

use std::path::Path;

use super::TestVm;
use super::series::Prepared;
use crate::cli::Ctx;
use crate::error::{Error, Kind, Result};
use crate::report::{Case, Status, Suite};
use crate::series::Mutant;
use crate::vm::Arch;

impl TestVm {
    /// Runs the mutants whose test is in this group; each is a case of the suite, which
    /// passes when the mutant is caught.
    pub(super) fn run_mutants(
        &self,
        ctx: &Ctx,
        prepared: &Prepared,
        failed_before: &[String],
        place: &Path,
        files: &str,
    ) -> Result<Suite> {
        let arch = self.target()?;
        let mut suite = Suite {
            name: format!("mutants of {}, {arch}", prepared.label),
            started: jiff::Timestamp::now().to_string(),
            ..Suite::default()
        };
        let begun = std::time::Instant::now();
        for mutant in self.wanted(prepared)? {
            if failed_before.contains(&mutant.test) {
                let mut case = Case::new(&mutant.name, Status::NotRun);
                case.message = Some(format!("test {} fails without it", mutant.test));
                suite.cases.push(case);
                continue;
            }
            let at = place.join(&mutant.name);
            let case = match self.run_mutant(ctx, prepared, &mutant, arch, &at) {
                Ok(case) => case,
                // A mutant that does not build is caught by nobody.
                Err(e) if e.kind() == Kind::Check => failed(&mutant, &e.to_string()),
                Err(e) => return Err(e.context(format!("mutant {}", mutant.name))),
            };
            if at.is_dir() {
                suite.files.push(format!("{files}{}/console.log", mutant.name));
            }
            suite.cases.push(case);
        }
        suite.seconds = begun.elapsed().as_secs_f64();
        Ok(suite)
    }

    fn wanted(&self, prepared: &Prepared) -> Result<Vec<Mutant>> {
        let mut all = prepared.kernel.mutants()?;
        if let Some(name) = self.mutant.iter().find(|n| !all.iter().any(|m| m.name == **n)) {
            let names: Vec<&str> = all.iter().map(|m| m.name.as_str()).collect();
            return Err(Error::usage(format!("--mutant {name}"))
                .found("the series has no such mutant")
                .hint(format!("there are: {}", names.join(", "))));
        }
        let named = |m: &Mutant| self.mutant.is_empty() || self.mutant.contains(&m.name);
        all.retain(|m| named(m) && prepared.group.tests.contains(&m.test));
        Ok(all)
    }

    fn run_mutant(
        &self,
        ctx: &Ctx,
        prepared: &Prepared,
        mutant: &Mutant,
        arch: Arch,
        place: &Path,
    ) -> Result<Case> {
        if let Some(patch) = mutant.with.iter().find(|w| !prepared.group.with.contains(*w)) {
            let mut case = Case::new(&mutant.name, Status::Skip);
            case.message =
                Some(format!("it breaks patch {patch}, which test {} is run without", mutant.test));
            return Ok(case);
        }
        let Some((commit, _)) = prepared.kernel.commit(Some(&mutant.name))? else {
            let mut case = Case::new(&mutant.name, Status::Skip);
            case.message = Some("it makes no sense on this base".into());
            return Ok(case);
        };
        let label = format!("{}+{}", prepared.label, mutant.name);
        let built = Self::build(ctx, prepared, commit, &label, arch)?;
        let mut request = self.series_request(prepared, (commit, &built), arch, place)?;
        request.name = format!("{label}, {arch}");
        request.tests.retain(|t| t.name == mutant.test);
        // What a mutant breaks may well come and go: it needs to fail once.
        request.retry = false;
        std::fs::create_dir_all(place)
            .map_err(|e| crate::error::io_error("create folder", place, &e))?;
        let run = self.guest(ctx, &request)?;
        Ok(judge(mutant, &run.suite()))
    }
}

/// Whether the named point failed. `caught-by` is part of a point's path, or, for
/// a break that the kernel itself reports, of what is said of the guest's end or of the console.
fn judge(mutant: &Mutant, suite: &Suite) -> Case {
    let prefix = format!("{}: ", mutant.test);
    let wanted = mutant.caught_by.strip_prefix(&prefix).unwrap_or(&mutant.caught_by);
    let bad: Vec<&Case> = suite.cases.iter().filter(|c| !c.status.is_good()).collect();
    let names = |c: &&&Case| {
        let kernel = matches!(c.name.as_str(), "guest" | "console");
        let said = || c.message.as_deref().is_some_and(|m| m.contains(wanted));
        // A test that was not reached has caught nothing.
        (c.status != Status::NotRun && c.name.contains(wanted)) || (kernel && said())
    };
    if let Some(point) = bad.iter().find(names) {
        let mut case = Case::new(&mutant.name, Status::Pass);
        case.seconds = Some(suite.seconds);
        case.message = Some(format!("caught by {}", point.name));
        return case;
    }
    let mut case = match bad.first() {
        None => failed(mutant, &format!("not caught: all {} points passed", suite.cases.len())),
        Some(_) => {
            let names: Vec<&str> = bad.iter().map(|c| c.name.as_str()).collect();
            failed(
                mutant,
                &format!("not caught by \"{wanted}\"; what failed: {}", names.join(", ")),
            )
        }
    };
    case.seconds = Some(suite.seconds);
    case.output.extend(bad.iter().flat_map(|c| &c.message).cloned());
    case
}

fn failed(mutant: &Mutant, why: &str) -> Case {
    let mut case = Case::new(&mutant.name, Status::Fail);
    let mut lines = why.lines();
    case.message = lines.next().map(str::to_owned);
    case.output = std::iter::once(format!("{}: {}", mutant.title, mutant.why))
        .chain(lines.map(str::to_owned))
        .collect();
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::excerpt::Document;

    fn mutant(caught_by: &str) -> Mutant {
        Mutant {
            name: "m".into(),
            source: Document { label: String::new(), text: String::new() },
            title: "t".into(),
            why: "w".into(),
            test: "gro".into(),
            caught_by: caught_by.into(),
            with: Vec::new(),
            when: Vec::new(),
            edits: Vec::new(),
        }
    }

    #[test]
    fn only_the_named_point_catches() {
        let case = |name: &str, status, message: Option<&str>| Case {
            message: message.map(Into::into),
            ..Case::new(name, status)
        };
        let suite = Suite {
            cases: vec![
                case("guest", Status::Error, Some("the kernel panicked: NULL pointer dereference")),
                case("gro/aggregates", Status::Fail, None),
                case("gro/replaced", Status::NotRun, None),
                case("gro/loss", Status::Pass, None),
                case("console", Status::Fail, Some("warning: WARNING: at kernel/bpf/cpumap.c")),
            ],
            ..Suite::default()
        };
        let table = [
            ("gro: aggregates", Status::Pass),
            ("aggregates", Status::Pass),
            ("loss", Status::Fail),
            ("replaced", Status::Fail),
            ("NULL pointer", Status::Pass),
            ("cpumap.c", Status::Pass),
            ("something else", Status::Fail),
        ];
        for (caught_by, want) in table {
            assert_eq!(judge(&mutant(caught_by), &suite).status, want, "{caught_by}");
        }
        let good = Suite { cases: vec![case("gro/loss", Status::Pass, None)], ..Suite::default() };
        let missed = judge(&mutant("loss"), &good);
        assert_eq!(missed.message.as_deref(), Some("not caught: all 1 points passed"));
    }
}
