//! Talks to the user: results on stdout, talk and progress on stderr.
//!
//! On a terminal long steps show a bar or a spinner, elsewhere one plain line
//! when they begin and one when they end. `NO_COLOR` is respected. A closed pipe
//! ends the output and is no failure.

use std::io::{self, IsTerminal as _, Write};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use owo_colors::OwoColorize as _;
use serde::Serialize;

use crate::error::{Error, Result};

/// The form of results on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines and tables for a reader.
    Human,
    /// One JSON document.
    Json,
}

/// The user's end of a run.
#[derive(Clone, Debug)]
pub struct Ui {
    format: Format,
    bars: bool,
}

impl Ui {
    /// Progress bars are drawn when stderr is a terminal that can redraw.
    #[must_use]
    pub fn new(format: Format) -> Ui {
        let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        Ui { format, bars: io::stderr().is_terminal() && !dumb }
    }

    /// The form of results.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes a command's result: `value` as JSON, or what `human` writes.
    ///
    /// # Errors
    /// When stdout cannot be written, but not when its reader has gone.
    pub fn result<T: Serialize>(
        &self,
        value: &T,
        human: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        // Whole before the first byte goes out: half a document is none.
        let json = match self.format {
            Format::Human => String::new(),
            Format::Json => serde_json::to_string_pretty(value).map_err(|e| {
                Error::host("cannot write the result as JSON")
                    .found(e.to_string())
                    .hint("the work is done; --format human tells of it")
            })?,
        };
        let mut out = io::BufWriter::new(anstream::AutoStream::auto(io::stdout().lock()));
        let done = match self.format {
            Format::Human => human(&mut out),
            Format::Json => writeln!(out, "{json}"),
        };
        match done.and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::host("cannot write the result to stdout").found(e.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// One line of talk.
    pub fn note(&self, line: &str) {
        self.line(line);
    }

    /// A line that the user should not miss, though the work goes on.
    pub fn warn(&self, line: &str) {
        self.line(&format!("{} {line}", "warning:".yellow().bold()));
    }

    /// Says why a command failed.
    pub fn error(&self, e: &Error) {
        self.line(&format!("{} {e}", "error:".red().bold()));
    }

    fn line(&self, line: &str) {
        // A closed stderr must not end the work.
        let _ = writeln!(anstream::stderr(), "{line}");
    }

    /// Begins a step of unknown length.
    #[must_use]
    pub fn step(&self, label: impl Into<String>) -> Step {
        self.begin(label.into(), None, "{spinner} {msg} {elapsed}")
    }

    /// Begins a step of `total` units (bytes where `bytes`, items otherwise).
    #[must_use]
    pub fn progress(&self, label: impl Into<String>, total: u64, bytes: bool) -> Step {
        let style = if bytes {
            "{msg} {wide_bar} {bytes}/{total_bytes} {eta}"
        } else {
            "{msg} {wide_bar} {pos}/{len} {eta}"
        };
        self.begin(label.into(), Some(total), style)
    }

    fn begin(&self, label: String, total: Option<u64>, style: &str) -> Step {
        let bar = if self.bars {
            let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar.set_message(label.clone());
            bar.enable_steady_tick(Duration::from_millis(120));
            Some(bar)
        } else {
            self.line(&format!("{label} …"));
            None
        };
        Step { ui: self.clone(), label, bar, begun: Instant::now() }
    }
}

/// A step under way; dropped without [`Step::done`] it just stops showing.
#[derive(Debug)]
pub struct Step {
    ui: Ui,
    label: String,
    bar: Option<ProgressBar>,
    begun: Instant,
}

impl Step {
    /// Counts `n` more units done.
    pub fn advance(&self, n: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(n);
        }
    }

    /// Shows what it is at; only drawn on a terminal.
    pub fn message(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}: {text}", self.label));
        }
    }

    /// Ends the step with one line: label, `result` and the time it took.
    pub fn done(self, result: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let took = self.begun.elapsed().as_secs_f64();
        self.ui.line(&format!("{}: {result} ({took:.1} s)", self.label));
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
