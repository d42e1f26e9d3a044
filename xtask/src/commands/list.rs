//! `cargo xtask list`: the series of the project.

use clap::Args;
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::error::Result;
use crate::series;

/// Options of `list`.
#[derive(Debug, Args)]
pub struct List {}

#[derive(Serialize)]
struct Line {
    name: String,
    title: String,
    version: u32,
    patches: usize,
    optional: usize,
    tests: usize,
    benches: usize,
    bases: Vec<String>,
}

impl List {
    /// Lists the series, sorted by name.
    ///
    /// # Errors
    /// When one of them does not hold.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let project = ctx.dirs.project()?;
        let mut lines = Vec::new();
        let (names, others) = series::load::list_all(project)?;
        for other in others {
            ctx.ui.warn(&format!("left out: {other}"));
        }
        for name in names {
            let s = series::load(project, &name)?;
            let optional = s.patches.iter().filter(|p| p.optional).count();
            lines.push(Line {
                name,
                title: s.title,
                version: s.version,
                patches: s.patches.len() - optional,
                optional,
                tests: s.tests.len(),
                benches: s.benches.len(),
                bases: s.bases,
            });
        }
        if lines.is_empty() {
            ctx.ui.note("no series yet: cargo xtask new-series NAME makes one");
        }
        let width = lines.iter().map(|l| l.name.chars().count()).max().unwrap_or(0);
        ctx.ui.result(&lines, |w| {
            for l in &lines {
                let more = if l.optional > 0 { format!("+{}", l.optional) } else { String::new() };
                writeln!(
                    w,
                    "{:<width$}  v{} {}{more} patches  {}",
                    l.name, l.version, l.patches, l.title
                )?;
            }
            Ok(())
        })?;
        Ok(Outcome::Held)
    }
}
