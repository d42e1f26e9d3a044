//! `cargo xtask show SERIES`: a series with its verdict on every base at hand.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::commands::series_mail;
use crate::error::Result;
use crate::render::{self, Choice, RenderOptions, Verdict, execute, plan};
use crate::series;
use crate::series::places::Unread;
use crate::tree::{self, Base, KernelVersion, Known, Store};

/// Options of `show`.
#[derive(Debug, Args)]
pub struct Show {
    /// The series.
    series: String,
    /// Only this base; it is fetched when it is not at hand.
    #[arg(long, value_name = "BASE")]
    base: Option<String>,
    /// Judges the optional patches too.
    #[arg(long)]
    with_optional: bool,
}

#[derive(Serialize)]
struct Report {
    name: String,
    title: String,
    version: u32,
    author: String,
    patches: Vec<String>,
    tests: Vec<String>,
    benches: Vec<String>,
    mutants: Vec<String>,
    bases: Vec<OnBase>,
    not_at_hand: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct OnBase {
    base: String,
    version: KernelVersion,
    #[serde(flatten)]
    verdict: Verdict,
    patches: Vec<OnPatch>,
    probes: BTreeMap<String, bool>,
}

#[derive(Serialize)]
struct OnPatch {
    name: String,
    #[serde(flatten)]
    verdict: Verdict,
    /// Places that nobody has read as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<Unread>,
}

impl Show {
    /// Loads, checks and judges the series.
    ///
    /// # Errors
    /// When the series or one of its mutants does not hold, or a base cannot be read.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let series = series::load(ctx.dirs.project()?, &self.series)?;
        let mutants = series::load_mutants(&series)?;
        let mut warnings = series::lint::lint(&series, &mutants)?;
        for warning in &warnings {
            ctx.ui.warn(warning);
        }
        let store = Store::open(&ctx.ui, &ctx.dirs)?;
        let (bases, not_at_hand) = self.bases(ctx, &store, &series.bases, &mut warnings)?;
        let options =
            RenderOptions { optional: Choice { all: self.with_optional, ..Choice::default() } };
        let mut on = Vec::new();
        for base in &bases {
            let plan = render::judge(&store, &series, base, &options)?;
            let messages = plan.patches.iter().map(|p| (p.name.as_str(), p.message.as_str()));
            for fault in series_mail::faults(&series, messages) {
                let fault = format!("{}: {fault}", base.name);
                ctx.ui.warn(&fault);
                warnings.push(fault);
            }
            let names: Vec<&str> = plan.patches.iter().map(|p| p.name.as_str()).collect();
            let optional = series_mail::optional(&series, &names);
            let unread = plan
                .patches
                .iter()
                .filter_map(|p| series_mail::unread(&series, base, &p.name, &p.unread, &optional));
            let below = plan.unread_below.iter();
            let below =
                below.filter_map(|(name, unread)| series_mail::unread_below(base, name, unread));
            for warning in below.chain(unread) {
                ctx.ui.warn(&warning);
                warnings.push(warning);
            }
            let source = execute::StoreSource::new(&store, base.tree);
            on.push(OnBase {
                base: base.name.clone(),
                version: base.version.clone(),
                verdict: plan.verdict,
                patches: plan
                    .patches
                    .into_iter()
                    .map(|p| OnPatch { name: p.name, verdict: p.verdict, unread: p.unread })
                    .collect(),
                probes: plan::answers(&series, &execute::facts(base), &source)?,
            });
        }
        let report = Report {
            name: series.name.clone(),
            title: series.title.clone(),
            version: series.version,
            author: series.author.to_string(),
            patches: series
                .patches
                .iter()
                .map(|p| format!("{}{}", p.name, if p.optional { " (optional)" } else { "" }))
                .collect(),
            tests: series.tests.iter().map(|t| t.name.clone()).collect(),
            benches: series.benches.iter().map(|b| b.name.clone()).collect(),
            mutants: mutants.iter().map(|m| format!("{}: {}", m.name, m.title)).collect(),
            bases: on,
            not_at_hand,
            warnings,
        };
        ctx.ui.result(&report, |w| human(w, &report))?;
        Ok(Outcome::Held)
    }

    /// The bases to judge, and those of the series that are not at hand.
    fn bases(
        &self,
        ctx: &Ctx,
        store: &Store,
        of_series: &[String],
        warnings: &mut Vec<String>,
    ) -> Result<(Vec<Base>, Vec<String>)> {
        if let Some(spec) = &self.base {
            return Ok((vec![tree::resolve(&ctx.ui, &ctx.dirs, store, spec)?], Vec::new()));
        }
        let known = Known::load(&ctx.dirs)?;
        let mut seen = BTreeSet::new();
        let mut bases = Vec::new();
        let mut missing = Vec::new();
        let names = of_series.iter().map(String::as_str).chain(known.names());
        for name in names {
            if !seen.insert(name.to_owned()) {
                continue;
            }
            match tree::lookup(&ctx.ui, &ctx.dirs, store, name) {
                Ok(Some(base)) => bases.push(base),
                Ok(None) => missing.push(name.to_owned()),
                // One that is gone, or never was, hides nothing of the others.
                Err(e) => {
                    let warning = format!("base {} is left out: {e}", name.escape_debug());
                    ctx.ui.warn(&warning);
                    warnings.push(warning);
                }
            }
        }
        bases.sort_by(|a, b| a.version.cmp(&b.version).then(a.name.cmp(&b.name)));
        Ok((bases, missing))
    }
}

fn human(w: &mut dyn std::io::Write, r: &Report) -> std::io::Result<()> {
    writeln!(w, "{} v{}: {}", r.name, r.version, r.title)?;
    writeln!(w, "author   {}", r.author)?;
    for (what, list) in [
        ("patches", &r.patches),
        ("tests", &r.tests),
        ("benches", &r.benches),
        ("mutants", &r.mutants),
    ] {
        for (i, line) in list.iter().enumerate() {
            writeln!(w, "{:<8} {line}", if i == 0 { what } else { "" })?;
        }
    }
    writeln!(w)?;
    for on in &r.bases {
        writeln!(w, "{:<12} Linux {:<12} {}", on.base, on.version.to_string(), on.verdict.word())?;
        for p in on.patches.iter().filter(|p| p.verdict != Verdict::Applies) {
            writeln!(w, "  {}: {}", p.name, p.verdict.to_string().replace('\n', "\n  "))?;
        }
    }
    if r.bases.is_empty() {
        writeln!(w, "no base is at hand")?;
    }
    if !r.not_at_hand.is_empty() {
        writeln!(w, "not at hand: {}", r.not_at_hand.join(", "))?;
    }
    Ok(())
}
