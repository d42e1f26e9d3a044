//! The report as lines for a reader.

use std::io::{self, Write};

use owo_colors::OwoColorize as _;

use super::{Case, Status, Suite, Summary};

/// Lines of output shown of a case that failed; the rest is in the files.
const SHOWN: usize = 15;

impl Summary {
    /// Writes each suite, its failures with what belongs to them, and the counts last.
    ///
    /// # Errors
    /// When `w` cannot be written.
    pub fn write_text(&self, w: &mut dyn Write) -> io::Result<()> {
        for suite in &self.suites {
            write_suite(suite, w)?;
        }
        let c = self.counts();
        writeln!(w, "{} passed, {} failed, {} skipped", c.passed, c.failed, c.skipped)
    }
}

fn write_suite(suite: &Suite, w: &mut dyn Write) -> io::Result<()> {
    writeln!(w, "{}", suite.name.bold())?;
    for fact in &suite.facts {
        writeln!(w, "  {:<12} {}", fact.name, fact.value)?;
    }
    for case in &suite.cases {
        write_case(case, w)?;
    }
    for note in &suite.notes {
        writeln!(w, "  note: {note}")?;
    }
    writeln!(w)
}

fn write_case(case: &Case, w: &mut dyn Write) -> io::Result<()> {
    let word = format!("{:<13}", case.status.word());
    let time = case.seconds.map_or_else(String::new, |s| format!(" ({s:.1} s)"));
    let why = case.message.as_ref().map_or_else(String::new, |m| format!(": {m}"));
    let name = &case.name;
    match case.status {
        Status::Pass | Status::ExpectedFail => writeln!(w, "  {}{name}{time}{why}", word.green())?,
        Status::Skip => writeln!(w, "  {}{name}{why}", word.yellow())?,
        _ => writeln!(w, "  {}{name}{time}{why}", word.red())?,
    }
    if case.status.is_good() {
        return Ok(());
    }
    let skip = case.output.len().saturating_sub(SHOWN);
    if skip > 0 {
        writeln!(w, "      … {skip} lines before")?;
    }
    for line in case.output.iter().skip(skip) {
        writeln!(w, "      {line}")?;
    }
    Ok(())
}
