//! Findings that the series' author accepts, each with the reason:
//! `series/NAME/checks.toml`.
//!
//! ```toml
//! [[accept]]
//! gate = "checkpatch"
//! patch = "dynamic-call-macro"      # optional
//! rule = "MACRO_ARG_REUSE"
//! text = "'_args'"                  # optional: a part of the finding
//! why = "evaluated in one of two branches only"
//! ```

use std::path::Path;

use serde::Deserialize;

use super::{Gate, Row};
use crate::error::{Error, Result};
use crate::host::regular;

/// The file's name in the series' folder.
pub const FILE: &str = "checks.toml";

/// What is accepted, and who is not to be mailed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Accepted {
    /// Findings.
    #[serde(default)]
    pub accept: Vec<Accept>,
    /// Addresses that get no mail though something names them.
    #[serde(default)]
    pub leave_out: Vec<LeaveOut>,
}

/// One kind of finding that is accepted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Accept {
    /// The gate's name.
    pub gate: String,
    /// The patch; any when not given.
    pub patch: Option<String>,
    /// The finding's rule.
    pub rule: String,
    /// A part of the finding's text; any when not given.
    pub text: Option<String>,
    /// The reason, for the reader of the report.
    pub why: String,
}

/// An address that gets no mail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LeaveOut {
    /// The bare address.
    pub address: String,
    /// The reason.
    pub why: String,
}

impl Accepted {
    /// Reads the file of the series in `folder`; without one nothing is accepted.
    ///
    /// # Errors
    /// When it cannot be read or understood, or a reason is empty.
    pub fn load(folder: &Path) -> Result<Accepted> {
        let path = folder.join(FILE);
        let Some(text) = regular::text_if_there(&path)? else { return Ok(Accepted::default()) };
        Accepted::parse(&text).map_err(|e| e.context(format!("read {}", path.display())))
    }

    fn parse(text: &str) -> Result<Accepted> {
        let accepted: Accepted = toml::from_str(text).map_err(|e| {
            Error::usage("the accepted findings are not understood").found(e.to_string())
        })?;
        for a in &accepted.accept {
            if a.why.trim().is_empty() {
                return Err(Error::usage(format!("{} {} is accepted", a.gate, a.rule))
                    .found("no reason is given")
                    .hint("say in \"why\" what makes it right here"));
            }
            if !<Gate as clap::ValueEnum>::value_variants().iter().any(|g| g.name() == a.gate) {
                let names: Vec<&str> =
                    <Gate as clap::ValueEnum>::value_variants().iter().map(|g| g.name()).collect();
                return Err(Error::usage(format!("no gate \"{}\"", a.gate))
                    .found(format!("gates: {}", names.join(", "))));
            }
        }
        Ok(accepted)
    }

    /// Marks what is accepted and judges the rows anew.
    pub fn apply(&self, rows: &mut [Row]) {
        for row in rows {
            for f in &mut row.findings {
                let accept = self.accept.iter().find(|a| {
                    a.gate == row.gate.name()
                        && a.rule == f.rule
                        && a.patch.as_ref().is_none_or(|p| *p == row.subject)
                        && a.text.as_ref().is_none_or(|t| f.text.contains(t.as_str()))
                });
                if let Some(a) = accept.filter(|_| !f.note) {
                    f.accepted = Some(a.why.clone());
                }
            }
            row.judge();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::{Finding, Status};

    #[test]
    fn what_is_accepted_no_longer_fails() {
        let row =
            || Row::of(Gate::Checkpatch, "p", "", vec![Finding::new("A", None, "about x and y")]);
        for (entry, want) in [
            ("gate='checkpatch'\nrule='A'\nwhy='w'", Status::Passed),
            ("gate='checkpatch'\nrule='A'\npatch='p'\ntext='x and'\nwhy='w'", Status::Passed),
            ("gate='checkpatch'\nrule='A'\npatch='q'\nwhy='w'", Status::Failed),
            ("gate='checkpatch'\nrule='A'\ntext='z'\nwhy='w'", Status::Failed),
            ("gate='message'\nrule='A'\nwhy='w'", Status::Failed),
            ("gate='checkpatch'\nrule='B'\nwhy='w'", Status::Failed),
        ] {
            let mut rows = [row()];
            Accepted::parse(&format!("[[accept]]\n{entry}")).unwrap().apply(&mut rows);
            assert_eq!(rows[0].status, want, "{entry}");
        }
    }

    #[test]
    fn bad_files() {
        for bad in [
            "[[accept]]\ngate='checkpatch'\nrule='A'",
            "[[accept]]\ngate='checkpatch'\nrule='A'\nwhy=' '",
            "[[accept]]\ngate='chekpatch'\nrule='A'\nwhy='w'",
            "[[accept]]\ngate='checkpatch'\nrule='A'\nwhy='w'\nx=1",
            "accept",
        ] {
            assert_eq!(Accepted::parse(bad).unwrap_err().kind().exit_code(), 2, "{bad}");
        }
        assert!(Accepted::load(Path::new("/nowhere")).unwrap().accept.is_empty());
    }
}
