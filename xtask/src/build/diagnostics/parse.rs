//! Reads a build log line by line into diagnostics and steps.
//!
//! make runs with `--output-sync=target`: the lines of one target come together,
//! its `  CC      net/core/dev.o` first, so what follows belongs to that object.

use crate::build::diagnostics::located::{self, Roots, Word};
use crate::build::diagnostics::{Diagnostic, Severity, Stage};

/// A `  CC [M]  net/core/dev.o` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `CC`, `LD`, `HOSTCC`, `CHECK`, …
    pub tool: String,
    /// What is being made.
    pub target: String,
}

/// More diagnostics than anyone reads: bounds the memory.
const MAX_DIAGNOSTICS: usize = 20_000;
/// Lines kept around one.
const MAX_DETAIL: usize = 40;

/// Reads the lines of a build.
#[derive(Debug)]
pub struct Parser {
    roots: Roots,
    found: Vec<Diagnostic>,
    step: Option<Step>,
    function: Option<String>,
    before: Vec<String>,
    open: bool,
}

impl Parser {
    /// A parser for a build with these folders.
    #[must_use]
    pub fn new(roots: Roots) -> Parser {
        Parser {
            roots,
            found: Vec::new(),
            step: None,
            function: None,
            before: Vec::new(),
            open: false,
        }
    }

    /// Takes one line; gives the step when the line begins one.
    pub fn line(&mut self, line: &str) -> Option<Step> {
        let text = line.trim_end_matches(['\n', '\r']);
        if let Some(step) = parse_step(text) {
            self.close();
            self.function = None;
            self.step = Some(step.clone());
            return Some(step);
        }
        if let Some(diagnostic) = self.located(text).or_else(|| self.unlocated(text)) {
            self.push(diagnostic);
        } else {
            self.context(text);
        }
        None
    }

    /// All that was found.
    #[must_use]
    pub fn finish(self) -> Vec<Diagnostic> {
        self.found
    }

    /// What was found so far.
    #[must_use]
    pub fn found(&self) -> &[Diagnostic] {
        &self.found
    }

    fn push(&mut self, mut diagnostic: Diagnostic) {
        if self.found.len() >= MAX_DIAGNOSTICS {
            return;
        }
        diagnostic.detail = std::mem::take(&mut self.before);
        self.found.push(diagnostic);
        self.open = true;
    }

    fn close(&mut self) {
        self.open = false;
        self.before.clear();
    }

    /// A line that is no diagnostic of its own: leads up to one, or explains the last.
    fn context(&mut self, text: &str) {
        if let Some((_, function)) = text.split_once(": In function ") {
            self.function = Some(function.trim_matches([':', ',', '\'', '‘', '’']).to_owned());
            self.open = false;
        } else if text.ends_with(": At top level:") {
            self.function = None;
            self.open = false;
        }
        let leads = text.starts_with("In file included from ")
            || text.trim_start().starts_with("from ")
            || text.trim_start().starts_with("inlined from ")
            || text.contains(": In function ");
        if leads {
            if text.starts_with("In file included from ") {
                self.close();
            }
            if self.before.len() < MAX_DETAIL {
                self.before.push(text.to_owned());
            }
        } else if self.open {
            let indented = text.starts_with([' ', '\t']) || text.starts_with(">>>");
            let note = located::parse(text).is_some_and(|l| l.word == Word::Note);
            match self.found.last_mut() {
                Some(last) if indented || note => {
                    if last.detail.len() < MAX_DETAIL {
                        last.detail.push(text.to_owned());
                    }
                }
                _ => self.open = false,
            }
        }
    }

    fn blank(&self, severity: Severity, stage: Stage, message: &str) -> Diagnostic {
        Diagnostic {
            severity,
            stage,
            file: String::new(),
            line: None,
            column: None,
            flag: None,
            message: message.to_owned(),
            function: None,
            object: self.step.as_ref().map(|s| s.target.clone()),
            detail: Vec::new(),
        }
    }

    fn located(&self, text: &str) -> Option<Diagnostic> {
        let l = located::parse(text)?;
        let severity = match l.word {
            Word::Error => Severity::Error,
            Word::Warning => Severity::Warning,
            Word::Note => return None,
        };
        // `cc1: all warnings being treated as errors` says nothing of its own.
        if l.message.ends_with("warnings being treated as errors") {
            return None;
        }
        let mut d = self.blank(severity, self.stage_of(&l, text), l.message);
        if let Some(message) = l.message.strip_prefix("objtool: ") {
            d.stage = Stage::Objtool;
            message.clone_into(&mut d.message);
        }
        // Without a line it is a program (`cc1:`, `ld:`) or an object file.
        if l.line.is_some() || d.stage == Stage::Objtool {
            d.file = self.roots.relative(l.path);
        }
        d.line = l.line;
        d.column = l.column;
        d.flag = l.flag;
        d.function = self.function.clone().filter(|_| d.stage == Stage::Compile);
        Some(d)
    }

    fn stage_of(&self, l: &located::Located<'_>, text: &str) -> Stage {
        let name = l.path.rsplit('/').next().unwrap_or(l.path);
        if name.starts_with("Kconfig") || name == ".config" {
            return Stage::Kconfig;
        }
        if l.line.is_none() && is_linker(name) {
            return Stage::Link;
        }
        let tool = self.step.as_ref().map_or("", |s| s.tool.as_str());
        match tool {
            "CHECK" => Stage::Sparse,
            "KDOC" => Stage::KernelDoc,
            t if t.starts_with("HOST") => Stage::HostTool,
            // kernel-doc runs within the compile step, and gives no column.
            _ if l.column.is_none() && l.line.is_some() && is_kernel_doc(l.message, text) => {
                Stage::KernelDoc
            }
            "AS" => Stage::Assemble,
            _ if name.ends_with(".S") || text.contains(": Error: ") => Stage::Assemble,
            _ => Stage::Compile,
        }
    }

    fn unlocated(&self, text: &str) -> Option<Diagnostic> {
        if let Some(d) = self.modpost(text).or_else(|| self.linker(text)) {
            return Some(d);
        }
        if let Some(message) = text.strip_prefix("WARNING: unmet direct dependencies") {
            let message = format!("unmet direct dependencies{message}");
            return Some(self.blank(Severity::Warning, Stage::Kconfig, &message));
        }
        // `make[3]: *** [scripts/Makefile.build:229: net/core/dev.o] Error 1`,
        // `Makefile:12: *** text.  Stop.`
        if let Some((who, message)) = text.split_once(": *** ") {
            let mut d = self.blank(Severity::Error, Stage::Make, message);
            let program = who.split('[').next().unwrap_or(who);
            if !program.ends_with("make")
                && let Some((path, line)) = who.rsplit_once(':')
            {
                d.file = self.roots.relative(path);
                d.line = line.parse().ok();
            }
            d.object = failed_target(message).map(str::to_owned).or(d.object);
            return Some(d);
        }
        if is_missing_command(text) {
            return Some(self.blank(Severity::Error, Stage::Make, text));
        }
        // No compiler's form, and yet what ends the build.
        let ends = text.contains("No space left on device")
            || text.starts_with("BTF: ")
            || text.starts_with("virtual memory exhausted");
        ends.then(|| self.blank(Severity::Error, Stage::Make, text))
    }

    fn modpost(&self, text: &str) -> Option<Diagnostic> {
        let (severity, rest) = match text.strip_prefix("ERROR: modpost: ") {
            Some(rest) => (Severity::Error, rest),
            None => (Severity::Warning, text.strip_prefix("WARNING: modpost: ")?),
        };
        let mut d = self.blank(severity, Stage::Modpost, rest);
        // `"foo" [drivers/x.ko] undefined!`, `vmlinux: section mismatch …`,
        // `missing MODULE_LICENSE() in a/b.o`
        let module = rest.split_once('[').and_then(|(_, r)| r.split_once(']')).map(|(m, _)| m);
        let object = rest.split_once(": ").map(|(o, _)| o).filter(|o| !o.contains(' '));
        let last = rest.rsplit(' ').next().filter(|w| w.ends_with(".o"));
        d.file = module.or(object).or(last).unwrap_or_default().to_owned();
        Some(d)
    }

    fn linker(&self, text: &str) -> Option<Diagnostic> {
        // `ld: net/core/dev.o: in function `f':` only leads up to the line below it.
        if let Some((place, message)) = text.split_once(": undefined reference to ") {
            let symbol = message.trim_matches(['`', '\'', '"']);
            let mut d = self.blank(
                Severity::Error,
                Stage::Link,
                &format!("undefined reference to '{symbol}'"),
            );
            // `dev.c:(.text+0x12)`, `/src/net/core/dev.c:12`, after `ld: ` or not.
            let place = place.rsplit(": ").next().unwrap_or(place);
            let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
            d.file = self.roots.relative(file);
            d.line = line.parse().ok();
            return Some(d);
        }
        let (program, message) = text.split_once(": ")?;
        let name = program.rsplit('/').next().unwrap_or(program);
        if !is_linker(name) || message.contains("in function") {
            return None;
        }
        let fatal = ["cannot find", "multiple definition", "undefined symbol", "relocation"];
        let severity = match located::severity(message) {
            Some((Word::Warning, _)) => Severity::Warning,
            Some((Word::Error, _)) => Severity::Error,
            _ if fatal.iter().any(|f| message.contains(f)) => Severity::Error,
            _ => return None,
        };
        let message = located::severity(message).map_or(message, |(_, m)| m.trim_start());
        Some(self.blank(severity, Stage::Link, message))
    }
}

fn is_linker(name: &str) -> bool {
    matches!(name, "ld" | "ld.bfd" | "ld.lld" | "ld.gold")
        || ["-ld", "-ld.bfd", "-ld.lld"].iter().any(|s| name.ends_with(s))
}

/// kernel-doc's messages have no flag and name what is not described.
fn is_kernel_doc(message: &str, text: &str) -> bool {
    const PHRASES: &[&str] = &[
        "not described in",
        "No description found",
        "no structured comments found",
        "doesn't start a kernel-doc comment",
        "isn't a kernel-doc",
        "expecting prototype for",
        "Excess ",
        "duplicate section name",
        "Function parameter",
        "function parameter",
        "bad line:",
        "missing initial short description",
        "contents before sections",
    ];
    text.starts_with("Warning: ") || PHRASES.iter().any(|p| message.contains(p))
}

/// `/bin/sh: 1: lz4c: not found`, `scripts/x.sh: line 3: lz4c: command not found`
fn is_missing_command(text: &str) -> bool {
    let mut parts = text.split(": ");
    let (Some(_shell), Some(line)) = (parts.next(), parts.next()) else { return false };
    let line = line.strip_prefix("line ").unwrap_or(line);
    let numbered = !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit());
    numbered && (text.ends_with(": not found") || text.ends_with(": command not found"))
}

/// The target in `[scripts/Makefile.build:229: net/core/dev.o] Error 1`.
fn failed_target(message: &str) -> Option<&str> {
    let inner = message.strip_prefix('[')?.split_once(']')?.0;
    inner.rsplit(": ").next()
}

/// Reads a step line: two blanks, the tool in capitals, perhaps `[M]`, the target.
#[must_use]
pub fn parse_step(text: &str) -> Option<Step> {
    let rest = text.strip_prefix("  ")?;
    let mut words = rest.split_whitespace();
    let tool = words.next().filter(|w| rest.starts_with(w))?;
    let capital =
        |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.');
    if !tool.bytes().all(capital) || !tool.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let mut target = words.next()?;
    if matches!(target, "[M]" | "[U]" | "[S]") {
        target = words.next()?;
    }
    // Prose may begin with a capital word; a target is the last word of its line.
    (words.next().is_none()).then(|| Step { tool: tool.to_owned(), target: target.to_owned() })
}

#[cfg(test)]
mod tests;
