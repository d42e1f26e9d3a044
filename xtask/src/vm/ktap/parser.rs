//! Builds the tree of results, line by line, as the output comes.

use super::line::{Kind, Line, Outcome, read};
use super::{Block, Directive, Document, Problem, Status, Test, judge};

/// Nesting deeper than this is output, not structure.
const MAX_DEPTH: usize = 24;
/// Output lines kept per test; the rest is counted.
const MAX_OUTPUT: usize = 400;
/// Longer lines are cut, and damaged if they are results.
const MAX_LINE: usize = 16 * 1024;
/// Results kept in all; a guest must not fill our memory.
const MAX_TESTS: usize = 200_000;

/// A result line, told as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// How many blocks it stands in; 0 is the outermost.
    pub depth: usize,
    /// What the line said.
    pub ok: bool,
    /// Its description.
    pub name: String,
    /// Its directive.
    pub directive: Option<Directive>,
}

/// Reads KTAP as it arrives.
#[derive(Debug, Default)]
pub struct Parser {
    partial: Vec<u8>,
    overlong: bool,
    /// Open blocks, outermost first, each further in than the one before.
    levels: Vec<Level>,
    tests: usize,
    yaml: Option<usize>,
}

#[derive(Debug, Default)]
struct Level {
    indent: usize,
    /// Only output has come so far; the first line of a document gives the indent.
    preamble: bool,
    block: Block,
    /// Where the current document begins in `block.tests`.
    segment: usize,
    /// The current document's plan.
    plan: Option<u64>,
    /// Results had come when the plan did; more may not follow.
    plan_after: Option<usize>,
    children: Option<Block>,
    output: Vec<String>,
    dropped: usize,
    /// The name of the inner block to come.
    next_subtest: Option<String>,
}

/// Reads a whole document.
#[must_use]
pub fn parse(bytes: &[u8]) -> Document {
    let mut parser = Parser::default();
    parser.push(bytes, |_| {});
    parser.finish()
}

impl Parser {
    /// Takes the next bytes, and tells of each result line in them.
    pub fn push(&mut self, bytes: &[u8], mut seen: impl FnMut(&Seen)) {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (head, tail) = rest.split_at(at);
            self.keep(head);
            let line = std::mem::take(&mut self.partial);
            let overlong = std::mem::take(&mut self.overlong);
            if let Some(s) = self.line(&line, overlong) {
                seen(&s);
            }
            rest = tail.get(1..).unwrap_or(&[]);
        }
        self.keep(rest);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.partial.len());
        self.overlong |= bytes.len() > room;
        self.partial.extend(bytes.iter().take(room));
    }

    /// Judges what has come. A last line without its end was cut.
    #[must_use]
    pub fn finish(mut self) -> Document {
        let last = std::mem::take(&mut self.partial);
        if !last.is_empty() {
            self.line(&last, true);
        }
        while self.levels.len() > 1 {
            self.close_level();
        }
        let root = self.levels.pop().map(|level| close(level, true)).unwrap_or_default();
        judge::document(root)
    }

    fn line(&mut self, raw: &[u8], cut: bool) -> Option<Seen> {
        let line = read(raw);
        if self.in_yaml(&line, raw) {
            self.note_last(super::line::plain(raw).trim_end().to_owned());
            return None;
        }
        match line.kind {
            Kind::Version(version) => {
                self.enter(line.indent, |level| level.begin_document(version));
                None
            }
            Kind::Plan { last, skip } => {
                self.enter(line.indent, |level| level.plan(last, skip));
                None
            }
            Kind::Result(outcome) => self.result(line.indent, outcome, cut),
            Kind::Bail(why) => {
                self.enter(line.indent, |level| level.block.bail = Some(why));
                None
            }
            Kind::Subtest(name) => {
                self.subtest(line.indent, name);
                None
            }
            Kind::Diagnostic(text) | Kind::Other(text) => {
                self.output(text);
                None
            }
        }
    }

    /// Opens or finds the level at `indent`, closing the ones further in.
    fn enter(&mut self, indent: usize, work: impl FnOnce(&mut Level)) -> usize {
        if let Some(only) = self.levels.first_mut().filter(|l| l.preamble) {
            only.preamble = false;
            only.indent = indent;
        }
        // What ends here belongs to the block that holds it: one that is open,
        // or one between, which begins with this line.
        let mut inner: Option<Block> = None;
        while let Some(level) = self.levels.pop_if(|l| l.indent > indent) {
            let block = close(level, false);
            match self.levels.last_mut().filter(|l| l.indent >= indent) {
                Some(outer) => outer.adopt(block),
                None => inner = Some(block),
            }
        }
        let depth = self.levels.len();
        match self.levels.last_mut() {
            Some(top) if top.indent == indent => {}
            Some(top) if depth >= MAX_DEPTH => {
                top.block.problem_once(false, "nested too deeply; read at a lower depth");
            }
            top => {
                let subtest = top.and_then(|t| t.next_subtest.take());
                let block = Block { subtest, ..Block::default() };
                self.levels.push(Level { indent, block, children: inner, ..Level::default() });
            }
        }
        if let Some(top) = self.levels.last_mut() {
            work(top);
        }
        self.levels.len().saturating_sub(1)
    }

    fn close_level(&mut self) {
        let Some(inner) = self.levels.pop() else { return };
        let inner = close(inner, false);
        if let Some(top) = self.levels.last_mut() {
            top.adopt(inner);
        }
    }

    fn result(&mut self, indent: usize, outcome: Outcome, cut: bool) -> Option<Seen> {
        if self.tests >= MAX_TESTS {
            if let Some(root) = self.levels.first_mut() {
                root.block
                    .problem_once(true, "more results than can be kept; the rest is not read");
            }
            return None;
        }
        self.tests += 1;
        let Outcome { ok, number, name, directive, damaged } = outcome;
        let damaged = damaged || cut;
        let seen = Seen { depth: 0, ok: ok && !damaged, name, directive };
        let mut told = seen.clone();
        told.depth = self.enter(indent, |level| {
            level.result(number, ok, damaged, &seen);
        });
        Some(told)
    }

    fn subtest(&mut self, indent: usize, name: String) {
        let fresh = self.levels.last().is_none_or(|l| l.indent < indent);
        self.enter(indent, |level| {
            let unnamed = level.block.subtest.is_none()
                && level.block.tests.is_empty()
                && level.children.is_none();
            // KUnit names the block from within, Perl's TAP from its parent.
            if fresh || unnamed {
                level.block.subtest = Some(name.clone());
            }
            if !fresh {
                level.next_subtest = Some(name);
            }
        });
    }

    fn output(&mut self, text: String) {
        if self.levels.is_empty() {
            if text.is_empty() {
                return;
            }
            self.levels.push(Level { preamble: true, ..Level::default() });
        }
        if let Some(top) = self.levels.last_mut() {
            top.keep_output(text);
        }
    }

    /// A YAML block (`---` to `...`) describes the result before it.
    fn in_yaml(&mut self, line: &Line, raw: &[u8]) -> bool {
        match self.yaml {
            Some(indent) if line.indent < indent => {
                self.yaml = None;
                false
            }
            // A result inside was never meant as YAML, and must not be lost.
            Some(_) if !matches!(line.kind, Kind::Other(_) | Kind::Diagnostic(_)) => {
                self.yaml = None;
                false
            }
            Some(_) => {
                if raw.trim_ascii() == b"..." {
                    self.yaml = None;
                }
                true
            }
            None if raw.trim_ascii() == b"---" && line.indent > 0 => {
                let after = self.levels.last().is_some_and(|l| !l.block.tests.is_empty());
                self.yaml = after.then_some(line.indent);
                after
            }
            None => false,
        }
    }

    fn note_last(&mut self, text: String) {
        if let Some(test) = self.levels.last_mut().and_then(|l| l.block.tests.last_mut())
            && test.output.len() < MAX_OUTPUT
        {
            test.output.push(text);
        }
    }
}

impl Level {
    fn begin_document(&mut self, version: u64) {
        if self.block.version.is_some() || self.plan.is_some() || self.has_results() {
            self.end_document();
        }
        self.block.version.get_or_insert(version);
    }

    fn has_results(&self) -> bool {
        self.block.tests.len() > self.segment
    }

    fn plan(&mut self, last: u64, skip: Option<String>) {
        if self.plan.is_some() {
            self.block.problem(true, "a second plan in one document");
            return;
        }
        self.plan = Some(last);
        if self.has_results() {
            self.plan_after = Some(self.block.tests.len());
        }
        if last == 0 {
            self.block.skipped = Some(skip.unwrap_or_else(|| "nothing planned".into()));
        }
    }

    fn result(&mut self, number: Option<u64>, ok: bool, damaged: bool, seen: &Seen) {
        let due = (self.block.tests.len() - self.segment) as u64 + 1;
        let mut problems = Vec::new();
        let mut remark = |fatal, text: String| problems.push(Problem { fatal, text });
        match number {
            Some(n) if n != due => remark(false, format!("numbered {n} where {due} was due")),
            None => remark(false, format!("no number where {due} was due")),
            Some(_) => {}
        }
        let name = if seen.name.is_empty() {
            remark(false, "no description".into());
            format!("test {}", number.unwrap_or(due))
        } else {
            seen.name.clone()
        };
        if damaged {
            remark(true, "the line was cut, or another message stands in it".into());
        }
        if self.block.bail.is_some() {
            remark(false, "a result after \"Bail out!\"".into());
        }
        let mut output = std::mem::take(&mut self.output);
        let dropped = std::mem::take(&mut self.dropped);
        if dropped > 0 {
            output.push(format!("… {dropped} more lines"));
        }
        self.next_subtest = None;
        self.block.tests.push(Test {
            number,
            name,
            path: String::new(),
            reported: Some(ok),
            directive: seen.directive.clone(),
            status: Status::Fail,
            output,
            problems,
            children: self.children.take(),
            damaged,
        });
    }

    fn keep_output(&mut self, text: String) {
        if self.output.len() < MAX_OUTPUT {
            self.output.push(text);
        } else {
            self.dropped += 1;
        }
    }

    /// Takes an inner block that has ended, to be given to the next result.
    fn adopt(&mut self, inner: Block) {
        match &mut self.children {
            None => self.children = Some(inner),
            Some(have) => have.append(inner),
        }
    }

    /// Checks the plan of the document that ends here, and notes what is missing.
    fn end_document(&mut self) {
        let have = (self.block.tests.len() - self.segment) as u64;
        if self.plan_after.is_some_and(|at| at < self.block.tests.len()) {
            self.block.problem(false, "the plan stands in the middle of the results");
        }
        match self.plan {
            None if have > 0 => self.block.problem(false, "no plan"),
            Some(plan) => {
                let total = self.block.planned.unwrap_or(0).saturating_add(plan);
                self.block.planned = Some(total);
                if plan != have {
                    let text = format!("plan mismatch: {plan} planned, {have} reported");
                    self.block.problem(self.block.bail.is_none(), &text);
                }
                judge::add_not_run(&mut self.block, have, plan);
            }
            None => {}
        }
        self.segment = self.block.tests.len();
        self.plan = None;
        self.plan_after = None;
    }
}

fn close(mut level: Level, outermost: bool) -> Block {
    // An inner block whose parent never reported: the parent did not come to an end.
    if let Some(children) = level.children.take() {
        let name = children.subtest.clone().or_else(|| level.next_subtest.take());
        let mut test = Test::missing(name.unwrap_or_else(|| "unfinished test".into()));
        test.output = std::mem::take(&mut level.output);
        test.children = Some(children);
        level.block.tests.push(test);
    }
    level.end_document();
    level.block.output = std::mem::take(&mut level.output);
    if level.dropped > 0 {
        level.block.output.push(format!("… {} more lines", level.dropped));
    }
    if outermost && level.block.tests.is_empty() && level.block.skipped.is_none() {
        level.block.problem(true, "no results");
    }
    level.block
}

impl Block {
    pub(super) fn problem(&mut self, fatal: bool, text: &str) {
        // Misshapen output of any length must not grow this without bound.
        if self.problems.len() < 100 {
            self.problems.push(Problem { fatal, text: text.to_owned() });
        }
    }

    fn problem_once(&mut self, fatal: bool, text: &str) {
        if !self.problems.iter().any(|p| p.text == text) {
            self.problem(fatal, text);
        }
    }

    fn append(&mut self, mut other: Block) {
        self.version = self.version.or(other.version);
        self.planned = match (self.planned, other.planned) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.bail = self.bail.take().or(other.bail);
        self.skipped = self.skipped.take().or(other.skipped);
        self.subtest = self.subtest.take().or(other.subtest);
        self.tests.append(&mut other.tests);
        self.problems.append(&mut other.problems);
        self.output.append(&mut other.output);
    }
}
