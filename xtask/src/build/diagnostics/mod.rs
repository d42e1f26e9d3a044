//! What a build says: warnings and errors as data, whichever tool wrote them.
//!
//! [`parse::Parser`] reads a build log line by line, [`compare::compare`] tells the
//! warnings that a patch brings from those that the base had, and
//! [`classify::classify`] recognises failures that are the host's and not the source's.

pub mod classify;
pub mod compare;
pub mod located;
pub mod parse;

use std::fmt;

use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// It was built nevertheless.
    Warning,
    /// It was not.
    Error,
}

/// Which tool of the build wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// `conf`: the configuration.
    Kconfig,
    /// The compiler, for the kernel.
    Compile,
    /// The compiler, for a program of the build itself.
    HostTool,
    /// The assembler.
    Assemble,
    /// The linker.
    Link,
    /// objtool.
    Objtool,
    /// modpost: symbols and sections of modules.
    Modpost,
    /// sparse, by `C=1` or `C=2`.
    Sparse,
    /// kernel-doc comments, by `W=1`.
    KernelDoc,
    /// make itself, or a script it ran.
    Make,
}

/// One warning or error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Who wrote it.
    pub stage: Stage,
    /// The file, relative to the kernel tree (or to the object directory, when it is
    /// made there); empty when none is named.
    pub file: String,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The compiler's option that turns it off, `-Wunused-variable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<String>,
    /// What it says.
    pub message: String,
    /// The function it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// What was being made, `net/core/dev.o`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The lines around it: include chain, source line, notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            f.write_str(&self.file)?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        write!(f, "{severity}: {}", self.message)?;
        if let Some(flag) = &self.flag {
            write!(f, " [{flag}]")?;
        }
        Ok(())
    }
}

/// The first error, in the order in which the build met them; make's own report
/// of a failed target only counts when nothing else was said.
#[must_use]
pub fn first_error(all: &[Diagnostic]) -> Option<&Diagnostic> {
    let mut errors = all.iter().filter(|d| d.severity == Severity::Error);
    errors.clone().find(|d| d.stage != Stage::Make).or_else(|| errors.next())
}
