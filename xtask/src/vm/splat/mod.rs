//! Splats: what a kernel writes to its console when something is wrong with it.
//!
//! A test can pass while the kernel warns; the run then fails, unless an
//! [`Allow`] entry names the splat. The rules err towards finding: a trace
//! without a known head line is a splat too.

mod rules;

use regex::Regex;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::vm::ktap::strip_printk;

pub use rules::Kind;

/// Lines kept of one splat.
const MAX_LINES: usize = 120;
/// Splats kept in one run; more are counted.
const MAX_SPLATS: usize = 100;

/// Head lines kept that came within one splat.
const MAX_FOLLOWED: usize = 20;
/// A panic so many lines after the end of a splat belongs to it.
const AFTER_END: usize = 4;

/// One splat, with what followed from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Splat {
    /// What it is.
    pub kind: Kind,
    /// Its head line.
    pub title: String,
    /// Where it begins in the console, from 1.
    pub line: usize,
    /// The test that was running.
    pub test: Option<String>,
    /// Head lines that came within it: the Oops after a BUG, the panic after an Oops.
    pub followed_by: Vec<String>,
    /// The lines themselves, bounded, without time stamps.
    pub text: Vec<String>,
    /// How often the same head line came.
    pub count: usize,
    /// The name of the [`Allow`] entry that lets it pass.
    pub allowed: Option<String>,
}

impl Splat {
    /// Keeps a line, up to a bound that holds over all that follows from one splat.
    fn keep(&mut self, text: &str) {
        if self.text.len() < 2 * MAX_LINES {
            self.text.push(text.to_owned());
        }
    }
}

/// A splat that is known and does not fail a run.
#[derive(Clone, Debug)]
pub struct Allow {
    /// What a report calls the entry.
    pub name: String,
    /// Matches the head line.
    pub pattern: Regex,
    /// Why it may be.
    pub why: String,
}

impl Allow {
    /// An entry of the user's.
    ///
    /// # Errors
    /// When the pattern is no regular expression, or one that matches any line.
    pub fn new(name: &str, pattern: &str, why: &str) -> Result<Allow> {
        let asked = || Error::usage(format!("allowed splat \"{}\"", pattern.escape_default()));
        let regex = Regex::new(pattern).map_err(|e| asked().found(e.to_string()))?;
        if regex.is_match("") {
            return Err(asked()
                .found("it matches every line, so no splat would ever be seen")
                .hint("name the function or the words of the head line"));
        }
        Ok(Allow { name: name.to_owned(), pattern: regex, why: why.to_owned() })
    }

    /// Entries that hold for every kernel.
    ///
    /// # Errors
    /// Never, unless the built-in patterns are broken.
    pub fn built_in() -> Result<Vec<Allow>> {
        Ok(vec![Allow::new(
            "unprivileged-ebpf",
            r"Unprivileged eBPF is enabled",
            "a notice on the host's mitigations, not a fault of the kernel under test",
        )?])
    }
}

/// Searches a console, line by line.
#[derive(Clone, Debug)]
pub struct Scanner {
    allow: Vec<Allow>,
    found: Vec<Splat>,
    dropped: usize,
    open: Option<Open>,
    /// The splat that ended last, and the line after its end.
    ended: Option<(usize, usize)>,
    line: usize,
    test: Option<String>,
    /// The line of a "cut here" mark that no head line has followed yet.
    cut_here: Option<usize>,
    /// The first panic's head line.
    panic: Option<String>,
}

#[derive(Clone, Debug)]
struct Open {
    index: usize,
    lines: usize,
}

impl Scanner {
    /// Begins a search.
    #[must_use]
    pub fn new(allow: Vec<Allow>) -> Scanner {
        Scanner {
            allow,
            found: Vec::new(),
            dropped: 0,
            open: None,
            ended: None,
            line: 0,
            test: None,
            cut_here: None,
            panic: None,
        }
    }

    /// Takes one line, without its end.
    pub fn line(&mut self, raw: &str) {
        self.line += 1;
        let text = strip_printk(raw).trim_end();
        if let Some(mark) = text.trim_start().strip_prefix("kseries: ") {
            self.mark(mark);
            return;
        }
        if text.contains("[ cut here ]") {
            self.open = None;
            self.cut_here = Some(self.line);
            return;
        }
        if let Some(kind) = rules::head(text) {
            self.head(kind, text);
            return;
        }
        let Some(open) = &mut self.open else {
            if rules::is_trace(text) {
                self.head(Kind::Trace, text);
            }
            return;
        };
        open.lines += 1;
        let over = open.lines > MAX_LINES;
        let last = rules::is_end(text);
        if let Some(splat) = self.found.get_mut(open.index)
            && !over
        {
            splat.keep(text);
        }
        if over || last {
            self.ended = Some((open.index, self.line + 1));
            self.open = None;
        }
    }

    /// The guest marks in the console where a test begins and ends.
    fn mark(&mut self, mark: &str) {
        self.open = None;
        if let Some(name) = mark.strip_prefix("begin ") {
            self.test = Some(name.trim().to_owned());
        } else if mark.starts_with("end ") {
            self.test = None;
        }
    }

    fn head(&mut self, kind: Kind, text: &str) {
        if kind == Kind::Panic && self.panic.is_none() {
            self.panic = Some(text.trim().to_owned());
        }
        let line = self.cut_here.take().unwrap_or(self.line);
        // The panic that an Oops leads to comes right after the end of its trace.
        if let Some((index, after)) = self.ended.take()
            && kind == Kind::Panic
            && self.line <= after + AFTER_END
        {
            self.open = Some(Open { index, lines: 0 });
        }
        if let Some(open) = &mut self.open
            && let Some(splat) = self.found.get_mut(open.index)
            && (rules::follows(kind) || splat.kind == Kind::Trace)
        {
            open.lines += 1;
            if splat.followed_by.len() < MAX_FOLLOWED {
                splat.followed_by.push(text.to_owned());
            }
            splat.keep(text);
            if splat.kind == Kind::Trace {
                // The trace had no head of its own until now.
                splat.kind = kind;
            }
            // A panic is never what an allowed warning leads to.
            if kind == Kind::Panic || kind == Kind::Oops {
                splat.allowed = None;
            }
            return;
        }
        let same = normal(text);
        if let Some(index) =
            self.found.iter().position(|s| s.kind == kind && normal(&s.title) == same)
        {
            if let Some(splat) = self.found.get_mut(index) {
                splat.count += 1;
            }
            // Its lines are there already: skip over this one's.
            self.open = Some(Open { index, lines: MAX_LINES });
            return;
        }
        if self.found.len() >= MAX_SPLATS {
            self.dropped += 1;
            self.open = None;
            return;
        }
        let allowed = self.allow.iter().find(|a| a.pattern.is_match(text)).map(|a| a.name.clone());
        self.found.push(Splat {
            kind,
            title: text.trim().to_owned(),
            line,
            test: self.test.clone(),
            followed_by: Vec::new(),
            text: vec![text.to_owned()],
            count: 1,
            allowed,
        });
        self.open = Some(Open { index: self.found.len() - 1, lines: 0 });
    }

    /// Whether a splat that ends the kernel has come: nothing more is to be waited for.
    #[must_use]
    pub fn panicked(&self) -> Option<&str> {
        self.panic.as_deref()
    }

    /// What was found, in the order of the console, and how many more there were.
    #[must_use]
    pub fn finish(self) -> (Vec<Splat>, usize) {
        (self.found, self.dropped)
    }
}

/// A head line without the numbers that differ each time: counts, process ids,
/// addresses.
fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let decimal = !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit());
        let address = bare.len() > 7 && bare.bytes().all(|b| b.is_ascii_hexdigit());
        out.push_str(if decimal || address { "N " } else { word });
    }
    out
}

#[cfg(test)]
mod tests;
