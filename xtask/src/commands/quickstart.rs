//! `cargo xtask quickstart`: everything, on a fresh machine: missing tools, the
//! distribution's kernel source, every series rendered and mailed, a kernel built
//! and booted, the selftests run, and what was proved.
//!
//! Each series needs a kernel of its own, of some minutes: the first that can be
//! tested shows the whole way, the others are tested when they are asked for.

use std::time::Instant;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::own::{self, Ended};
use crate::cli::{Ctx, Outcome};
use crate::error::Result;
use crate::host::setup;
use crate::host::tools::Need;
use crate::series;
use crate::tree::Store;

/// Options of `quickstart`.
#[derive(Debug, Args)]
pub struct Quickstart {
    /// Install what is missing without asking.
    #[arg(long)]
    yes: bool,
    /// The base. Default: the distribution's newest kernel source.
    #[arg(long, value_name = "BASE", default_value = "6.12")]
    base: String,
    /// Only these series, each in a guest. Default: all are rendered and mailed,
    /// the first that has tests is tested in a guest.
    #[arg(long = "series", value_name = "SERIES")]
    only: Vec<String>,
    /// Test every series in a guest, each with a kernel of its own.
    #[arg(long, conflicts_with = "no_guests")]
    all: bool,
    /// Render and mail only; build and boot nothing.
    #[arg(long)]
    no_guests: bool,
}

/// What is known of one series at the end.
#[derive(Debug, Serialize)]
struct Proved {
    series: String,
    /// The verdict, or why there is none.
    verdict: String,
    /// Where its mails are.
    mails: Option<String>,
    /// The tree that the mails give when they are applied.
    tree: Option<String>,
    /// `passed`, `failed`, or why no test was run.
    tests: String,
    /// Counts of test points.
    counts: Option<Value>,
    /// Where the results are.
    results: Option<String>,
    held: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    base: String,
    seconds: f64,
    series: Vec<Proved>,
}

impl Quickstart {
    /// Does it; held when every series is rendered (or rightly is not) and all
    /// selftests passed.
    ///
    /// # Errors
    /// When tools or the base cannot be had.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let begun = Instant::now();
        let project = ctx.dirs.project()?;
        let names = if self.only.is_empty() { series::list(project)? } else { self.only.clone() };
        setup::ensure(&ctx.ui, |t| t.need == Need::Core, self.yes)?;
        let store = Store::open(&ctx.ui, &ctx.dirs)?;
        let base = crate::tree::resolve(&ctx.ui, &ctx.dirs, &store, &self.base)?;
        ctx.ui.note(&format!("base {}: Linux {}, {}", base.name, base.version, base.origin));
        let mut report = Report { base: self.base.clone(), seconds: 0.0, series: Vec::new() };
        // All mails first: they are there within seconds.
        for name in &names {
            report.series.push(self.mails(ctx, name)?);
        }
        let mut tested = 0;
        for proved in &mut report.series {
            let asked = self.all || !self.only.is_empty() || tested == 0;
            tested += usize::from(self.guest(ctx, proved, asked)?);
        }
        report.seconds = (begun.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        report.show(ctx)?;
        let held = report.series.iter().all(|s| s.held);
        Ok(if held { Outcome::Held } else { Outcome::Failed })
    }

    fn mails(&self, ctx: &Ctx, name: &str) -> Result<Proved> {
        let made = own::run(ctx, &["generate-series", name, "--base", &self.base])?;
        let entry = of_series(&made.json);
        let text = |key: &str| entry.and_then(|e| e.get(key)?.as_str().map(str::to_owned));
        Ok(Proved {
            series: name.to_owned(),
            verdict: text("verdict").unwrap_or_else(|| made.why()),
            mails: text("folder"),
            tree: text("tree"),
            tests: String::new(),
            counts: None,
            results: None,
            held: made.code == 0,
        })
    }

    /// Tests a series in a guest, if it is `asked` for and there is something to
    /// test; whether it was.
    fn guest(&self, ctx: &Ctx, proved: &mut Proved, asked: bool) -> Result<bool> {
        let name = proved.series.clone();
        let loaded = series::load(ctx.dirs.project()?, &name)?;
        proved.tests = if proved.verdict != "applies" {
            "nothing to test here".into()
        } else if loaded.tests.is_empty() {
            "the series has none".into()
        } else if self.no_guests {
            "left out".into()
        } else if !asked {
            format!("not run: cargo xtask test-vm --series {name} --base {}", self.base)
        } else {
            // Tests on kernels with optional patches are for `test-vm` and `ci`.
            let mut args = vec!["test-vm", "--series", &name, "--base", &self.base];
            for test in loaded.tests.iter().filter(|t| t.with.is_empty()) {
                args.extend(["--test", &test.name]);
            }
            let tested = own::run(ctx, &args)?;
            proved.take(&tested);
            return Ok(true);
        };
        Ok(false)
    }
}

/// The entry of the only series in the JSON of `generate-series`.
fn of_series(json: &Value) -> Option<&Value> {
    match json {
        Value::Array(all) => all.first(),
        Value::Object(o) => match o.get("series") {
            Some(Value::Array(all)) => all.first(),
            _ => Some(json),
        },
        _ => None,
    }
}

impl Proved {
    fn take(&mut self, tested: &Ended) {
        self.held &= tested.code == 0;
        self.counts = tested.json.get("counts").cloned();
        self.results = tested.json.get("folder").and_then(Value::as_str).map(str::to_owned);
        self.tests = match tested.code {
            0 => "passed".into(),
            1 if self.counts.is_some() => "FAILED".into(),
            _ => tested.why(),
        };
    }
}

impl Report {
    fn show(&self, ctx: &Ctx) -> Result<()> {
        ctx.ui.result(self, |w| {
            writeln!(w, "\nProved on {} in {:.0} s:", self.base, self.seconds)?;
            for s in &self.series {
                writeln!(w, "\n{}: {}", s.series, s.verdict)?;
                if let Some(mails) = &s.mails {
                    writeln!(w, "  mails    {mails}")?;
                }
                if let Some(tree) = &s.tree {
                    writeln!(w, "  tree     {tree} (the mails were applied again and give it)")?;
                }
                let counts = s.counts.as_ref().map(counts_line).unwrap_or_default();
                writeln!(w, "  tests    {}{counts}", s.tests)?;
                if let Some(results) = &s.results {
                    writeln!(w, "  results  {results}")?;
                }
            }
            Ok(())
        })
    }
}

fn counts_line(counts: &Value) -> String {
    let Some(counts) = counts.as_object() else { return String::new() };
    let parts: Vec<String> = counts
        .iter()
        .filter(|(_, v)| v.as_u64().is_some_and(|n| n > 0))
        .map(|(name, v)| format!("{v} {name}"))
        .collect();
    format!(": {}", parts.join(", "))
}
