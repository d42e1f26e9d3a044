//! What a run of the matrix consists of: steps, cells, and which cells there are.
//! Pure: verdicts come in, a list of cells goes out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::render::Verdict;

/// What is proved of a series on a base. The order is the one in which they are run: what is cheap
/// and tells most comes first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// It applies, is absorbed or is blocked, as ci/verdicts.toml expects.
    Verdict,
    /// The gates that need no compiler: git am, checkpatch --strict, trailers, kernel-doc …
    Check,
    /// Each commit, optional patches included, builds and brings no warning with W=1.
    Commits,
    /// The selftests pass in a guest.
    Boot,
    /// Each mutant is caught by the test that it names.
    Mutants,
    /// The selftests pass without a splat under lockdep, KASAN and KCSAN.
    Debug,
}

impl Step {
    /// All of them, in order.
    pub const ALL: [Step; 6] =
        [Step::Verdict, Step::Check, Step::Commits, Step::Boot, Step::Mutants, Step::Debug];

    /// Its name on the command line and in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Step::Verdict => "verdict",
            Step::Check => "check",
            Step::Commits => "commits",
            Step::Boot => "boot",
            Step::Mutants => "mutants",
            Step::Debug => "debug",
        }
    }

    /// What it shows, for the document's reader.
    #[must_use]
    pub fn shows(self) -> &'static str {
        match self {
            Step::Verdict => "what each series is on each base, as `ci/verdicts.toml` expects",
            Step::Check => "every gate that needs no compiler, optional patches included",
            Step::Commits => {
                "each commit builds, optional patches included, and brings no warning with W=1"
            }
            Step::Boot => "the selftests in a guest",
            Step::Mutants => "each deliberate break is caught by the test that it names",
            Step::Debug => "the selftests on debug kernels, without a splat",
        }
    }

    /// Whether it compiles, so that architecture and compiler matter.
    #[must_use]
    pub fn compiles(self) -> bool {
        self >= Step::Commits
    }

    /// Whether it boots guests.
    #[must_use]
    pub fn boots(self) -> bool {
        self >= Step::Boot
    }
}

/// One thing to prove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The step.
    pub step: Step,
    /// The series.
    pub series: String,
    /// The base, as it was asked for.
    pub base: String,
    /// The architecture, where one matters.
    pub arch: Option<String>,
    /// The debug kernel, a flavour of `targets.toml`.
    pub kernel: Option<String>,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} on {}", self.step.name(), self.series, self.base)?;
        for word in self.arch.iter().chain(&self.kernel) {
            write!(f, ", {word}")?;
        }
        Ok(())
    }
}

/// A series on a base, judged.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The series.
    pub series: String,
    /// The base, as it was asked for.
    pub base: String,
    /// The verdict on the series without its optional patches; or why there is none.
    pub verdict: Result<Verdict, String>,
}

/// What to run it with.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The steps.
    pub steps: Vec<Step>,
    /// The architectures that kernels are built for.
    pub arches: Vec<String>,
    /// The debug kernels.
    pub flavours: Vec<String>,
    /// Debug kernels that cannot be built, each with its architecture and the reason.
    pub impossible: Vec<(String, String, String)>,
}

/// The cells, in the order in which they are run; and what is left out, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The cells.
    pub cells: Vec<Cell>,
    /// Reasons.
    pub left_out: Vec<String>,
}

/// Lays out the cells. A series that does not apply has nothing but its verdict; one that conflicts
/// keeps its cells, so that they are seen to fail.
#[must_use]
pub fn plan(pairs: &[Pair], wanted: &Wanted) -> Plan {
    let mut plan = Plan::default();
    for step in Step::ALL.into_iter().filter(|s| wanted.steps.contains(s)) {
        for pair in pairs {
            let stands_aside =
                matches!(pair.verdict, Ok(Verdict::Absorbed { .. } | Verdict::Blocked { .. }));
            if step != Step::Verdict && stands_aside {
                continue;
            }
            let mut add = |arch: Option<&String>, kernel: Option<&String>| {
                plan.cells.push(Cell {
                    step,
                    series: pair.series.clone(),
                    base: pair.base.clone(),
                    arch: arch.cloned(),
                    kernel: kernel.cloned(),
                });
            };
            match step {
                Step::Verdict | Step::Check => add(None, None),
                Step::Commits | Step::Boot | Step::Mutants => {
                    wanted.arches.iter().for_each(|a| add(Some(a), None));
                }
                Step::Debug => {
                    for arch in &wanted.arches {
                        let can = |f: &&String| {
                            !wanted.impossible.iter().any(|(i, a, _)| i == *f && a == arch)
                        };
                        wanted.flavours.iter().filter(can).for_each(|f| add(Some(arch), Some(f)));
                    }
                }
            }
        }
    }
    if wanted.steps.contains(&Step::Debug) {
        let reasons =
            wanted.impossible.iter().map(|(f, a, why)| format!("debug {f} on {a}: {why}"));
        plan.left_out.extend(reasons);
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(series: &str, base: &str, verdict: Result<Verdict, String>) -> Pair {
        Pair { series: series.into(), base: base.into(), verdict }
    }

    fn absorbed() -> Verdict {
        Verdict::Absorbed { marker: "m".into(), why: String::new() }
    }

    #[test]
    fn only_what_applies_or_conflicts_has_more_than_a_verdict() {
        let pairs = [
            pair("a", "1", Ok(Verdict::Applies)),
            pair("a", "2", Ok(absorbed())),
            pair("a", "3", Ok(Verdict::Blocked { lacks: "x".into(), why: String::new() })),
            pair("a", "4", Ok(Verdict::Conflict { conflicts: Vec::new() })),
            pair("a", "5", Err("no such base".into())),
        ];
        let wanted = Wanted {
            // Not in order: they are run in the steps' own.
            steps: vec![Step::Check, Step::Verdict],
            ..Wanted::default()
        };
        let told: Vec<String> = plan(&pairs, &wanted).cells.iter().map(Cell::to_string).collect();
        assert_eq!(
            told,
            [
                "verdict: a on 1",
                "verdict: a on 2",
                "verdict: a on 3",
                "verdict: a on 4",
                "verdict: a on 5",
                "check: a on 1",
                "check: a on 4",
                "check: a on 5",
            ]
        );
    }

    #[test]
    fn architectures_and_debug_kernels_multiply() {
        let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let wanted = Wanted {
            steps: vec![Step::Boot, Step::Debug],
            arches: own(&["x86_64", "arm64"]),
            flavours: own(&["debug", "kcsan"]),
            impossible: vec![(
                "kcsan".into(),
                "arm64".into(),
                "cc has not what KCSAN needs".into(),
            )],
        };
        let plan = plan(&[pair("a", "1", Ok(Verdict::Applies))], &wanted);
        let told: Vec<String> = plan.cells.iter().map(Cell::to_string).collect();
        assert_eq!(
            told,
            [
                "boot: a on 1, x86_64",
                "boot: a on 1, arm64",
                "debug: a on 1, x86_64, debug",
                "debug: a on 1, x86_64, kcsan",
                "debug: a on 1, arm64, debug",
            ]
        );
        assert_eq!(plan.left_out, ["debug kcsan on arm64: cc has not what KCSAN needs"]);
    }
}
