//! `cargo xtask doctor`: which host tools are there, and what is missing for
//! what.

use clap::Args;
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::error::Result;
use crate::host::tools::{self, Found, Need};

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
        let mut found = tools::with_versions(tools::survey(|_| true));
        for t in &mut found {
            // Python programs that quickstart or ci brought stand in the cache.
            let own = crate::host::setup::python_bin(&ctx.dirs).join(t.name);
            if t.path.is_none() && own.exists() {
                t.path = Some(own);
            }
        }
        let lacks = |need: Need| found.iter().any(|t| t.path.is_none() && t.need == need);
        let outcome = if lacks(Need::Core) { Outcome::Failed } else { Outcome::Held };
        let missing: Vec<&Found> = found.iter().filter(|t| t.path.is_none()).collect();
        let packages = tools::packages(&missing);
        let install = (!packages.is_empty())
            .then(|| format!("apt-get install --no-install-recommends {}", packages.join(" ")));
        let report = Report { install, tools: found };
        ctx.ui.result(&report, |w| {
            for t in &report.tools {
                let mark = match (&t.path, t.need) {
                    (Some(_), _) => "ok     ",
                    (None, Need::Core) => "MISSING",
                    (None, _) => "absent ",
                };
                let version = t.version.as_deref().unwrap_or("");
                let line = format!("{mark}  {:<34} {:<28} {version}", t.name, t.needed_for);
                writeln!(w, "{}", line.trim_end())?;
            }
            if let Some(command) = &report.install {
                writeln!(
                    w,
                    "\nMISSING stops quickstart, absent only some commands; all of it comes with:"
                )?;
                writeln!(w, "  {command}")?;
            }
            Ok(())
        })?;
        Ok(outcome)
    }
}
