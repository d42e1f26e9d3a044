//! `cargo xtask doctor`: which host tools are there, and what is missing for
//! what.

use clap::Args;
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::error::Result;
use crate::host::tools::{self, Found};

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {}

#[derive(Serialize)]
struct Report {
    tools: Vec<Found>,
    install: Option<String>,
}

impl Doctor {
    /// Lists the tools; held when all that the main jobs need is there.
    ///
    /// # Errors
    /// When the report cannot be written.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let found = tools::survey();
        let missing: Vec<&Found> =
            found.iter().filter(|t| t.path.is_none() && t.required).collect();
        let outcome = if missing.is_empty() { Outcome::Held } else { Outcome::Failed };
        let report = Report { install: tools::install_command(&missing), tools: found };
        ctx.ui.result(&report, |w| {
            for t in &report.tools {
                let mark = match (&t.path, t.required) {
                    (Some(_), _) => "ok     ",
                    (None, true) => "MISSING",
                    (None, false) => "absent ",
                };
                let version = t.version.as_deref().unwrap_or("");
                writeln!(w, "{mark}  {:<28} {:<34} {version}", t.name, t.needed_for)?;
            }
            if let Some(command) = &report.install {
                writeln!(w, "\ninstall what is missing with:\n  {command}")?;
            }
            Ok(())
        })?;
        Ok(outcome)
    }
}
