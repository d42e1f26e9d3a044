//! A cheap scan for the top-level items of a C file, so that only the slice that
//! matters is parsed: functions, types, variables, prototypes, macros, includes,
//! and the branches of preprocessor conditionals.
//!
//! It knows comments, strings and conditionals, and kernel style: a `}` in
//! column 0 ends a top-level item. An item that begins in one preprocessor branch
//! and ends in another is marked torn, and no locator touches it.

mod again;
mod directive;
mod head;

use std::ops::Range;

use smallvec::SmallVec;

use crate::lex::{Language, Lexer, Token, TokenKind};
use crate::lines::{line_at, line_start};

pub use again::rescan;
pub use directive::Branch;
pub use directive::normal_condition;
use directive::{Conditionals, Directive};

/// What a top-level item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ItemKind {
    Function,
    Struct,
    Union,
    Enum,
    Typedef,
    Prototype,
    Variable,
    Macro,
    Include,
    /// A macro's use at file scope: `EXPORT_SYMBOL(x);`, `DEFINE_MUTEX(m);`.
    Invocation,
    Other,
}

/// Places of names: mostly one, and an item is copied with each edit of its file.
pub type Names = SmallVec<[Range<usize>; 1]>;

/// A top-level item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// The names that it goes by; of an invocation its plain arguments.
    pub names: Names,
    /// From its first token to its last.
    pub span: Range<usize>,
    /// Between its braces.
    pub body: Option<Range<usize>>,
    /// Of an invocation: the macro.
    pub macro_name: Option<Range<usize>>,
    /// It begins in one preprocessor branch and ends in another.
    pub torn: bool,
    /// A macro's use without `;` stands right above it, and may belong to it.
    pub glued: bool,
}

impl Item {
    /// Whether it goes by `name`.
    #[must_use]
    pub fn is_named(&self, src: &[u8], name: &str) -> bool {
        self.names.iter().any(|n| src.get(n.clone()) == Some(name.as_bytes()))
    }
}

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Items by their start. Macros and includes may lie within others.
    pub items: Vec<Item>,
    /// Preprocessor branches by their start.
    pub branches: Vec<Branch>,
}

impl Scan {
    /// The items that go by `name`.
    #[must_use]
    pub fn named(&self, src: &[u8], name: &str) -> Vec<&Item> {
        self.items.iter().filter(|i| i.is_named(src, name)).collect()
    }

    /// The items of these kinds that have a body and a part of `range`.
    #[must_use]
    pub fn with_body(&self, kinds: &[ItemKind], range: &Range<usize>) -> Vec<&Item> {
        self.items
            .iter()
            .filter(|i| kinds.contains(&i.kind) && i.body.is_some())
            .filter(|i| i.span.start < range.end && range.start < i.span.end)
            .collect()
    }
}

/// Scans a C file; any bytes are taken.
#[must_use]
pub fn scan(src: &[u8]) -> Scan {
    let mut scanner = Scanner::new(src);
    scanner.run(0, |_, _| false);
    scanner.found()
}

fn begins_directive(src: &[u8], from: usize, token: &Token) -> bool {
    token.of(src) == b"#" && {
        let start = line_start(src, token.start);
        start >= from && {
            let blank = src.get(start..token.start).unwrap_or_default();
            let above = src.get(..start).unwrap_or_default().trim_ascii_end();
            let continued = src
                .get(above.len()..start)
                .is_some_and(|gap| memchr::memchr_iter(b'\n', gap).count() == 1)
                && above.ends_with(b"\\");
            blank.iter().all(u8::is_ascii_whitespace) && !continued
        }
    }
}

#[derive(Clone, Debug)]
struct Pending {
    start: usize,
    /// Tokens outside of braces.
    head: Vec<Token>,
    /// How many of `head` stand before the brace.
    before_brace: usize,
    open: Option<usize>,
    close: Option<usize>,
    ends_with_brace: bool,
    place: (usize, usize),
    torn: bool,
    glued: bool,
}

/// What a conditional saves and restores.
#[derive(Clone, Debug, Default)]
struct State {
    pending: Option<Pending>,
    braces: usize,
    parens: usize,
}

struct Scanner<'s> {
    src: &'s [u8],
    state: State,
    conditionals: Conditionals<State>,
    items: Vec<Item>,
}

impl<'s> Scanner<'s> {
    fn new(src: &'s [u8]) -> Scanner<'s> {
        let (state, conditionals) = (State::default(), Conditionals::default());
        Scanner { src, state, conditionals, items: Vec::new() }
    }

    /// Scans from the line that begins at `from`, until `stop` says so behind a
    /// token outside of directives.
    fn run(&mut self, from: usize, mut stop: impl FnMut(&Scanner<'_>, &Token) -> bool) {
        let src = self.src;
        let mut lexer = Lexer::new(src, from..src.len(), Language::C);
        // A token that was read to see whether a directive goes on.
        let mut ahead: Option<Token> = None;
        loop {
            if ahead.is_none() && self.state.braces > 0 {
                lexer.skip_code();
            }
            let Some(token) = ahead.take().or_else(|| lexer.next()) else { break };
            if token.kind == TokenKind::Comment {
                continue;
            }
            if !token.directive {
                self.token(token);
                if stop(self, &token) {
                    break;
                }
                continue;
            }
            let mut tokens = vec![token];
            for next in lexer.by_ref() {
                // A directive ends with its line; the next one's `#` is the first
                // token of another line.
                if !next.directive || begins_directive(src, token.end, &next) {
                    ahead = Some(next);
                    break;
                }
                if next.kind != TokenKind::Comment {
                    tokens.push(next);
                }
            }
            self.directive(&tokens);
        }
    }

    fn found(self) -> Scan {
        let branches = self.conditionals.finish(self.src.len());
        let mut items = self.items;
        items.sort_by_key(|i| (i.span.start, std::cmp::Reverse(i.span.end)));
        Scan { items, branches }
    }

    /// Between items, outside of conditionals: what follows is scanned as if the
    /// file began here.
    fn is_fresh(&self) -> bool {
        self.is_between() && self.conditionals.is_empty()
    }

    fn is_between(&self) -> bool {
        let State { pending, braces, parens } = &self.state;
        pending.is_none() && *braces == 0 && *parens == 0
    }

    fn directive(&mut self, tokens: &[Token]) {
        let directive = directive::read(self.src, tokens);
        let conditional = !matches!(directive, Directive::Item(_) | Directive::Other);
        // It is complete, and must not be seen in each branch.
        if conditional && self.state.parens == 0 && self.is_bare_invocation() {
            self.finish(None);
        }
        match directive {
            Directive::Item(item) => self.items.push(item),
            Directive::If { span, condition } => {
                self.conditionals.open(span, condition, &self.state);
            }
            Directive::Else { span, condition } => {
                if let Some(saved) = self.conditionals.next_branch(span, condition) {
                    self.state = saved;
                }
            }
            Directive::Endif { span } => self.conditionals.close(span),
            Directive::Other => {}
        }
    }

    fn token(&mut self, token: Token) {
        let text = token.of(self.src);
        let mut glued = false;
        if self.state.braces == 0 && self.state.parens == 0 && self.ends_without_semicolon(&token) {
            glued = self.adjoins(&token);
            self.finish(None);
        }
        match text {
            b"{" => self.open_brace(token),
            b"}" => self.close_brace(token),
            _ if self.state.braces > 0 => {}
            b";" if self.state.parens == 0 => {
                self.begin(token);
                self.finish(Some(token.end));
            }
            _ => {
                match text {
                    b"(" => self.state.parens += 1,
                    b")" => self.state.parens = self.state.parens.saturating_sub(1),
                    _ => {}
                }
                self.begin(token);
                if let Some(p) = &mut self.state.pending {
                    p.glued |= glued;
                    p.head.push(token);
                }
            }
        }
    }

    fn begin(&mut self, token: Token) {
        if self.state.pending.is_none() {
            self.state.pending = Some(Pending {
                start: token.start,
                head: Vec::new(),
                before_brace: 0,
                open: None,
                close: None,
                ends_with_brace: false,
                place: self.conditionals.place(),
                torn: false,
                glued: false,
            });
        }
    }

    fn open_brace(&mut self, token: Token) {
        if self.state.braces == 0 && self.state.parens == 0 {
            self.begin(token);
            if let Some(p) = &mut self.state.pending {
                if head::is_linkage(self.src, &p.head) {
                    // extern "C" { … }: its content is top level too.
                    self.state.pending = None;
                    return;
                }
                if p.open.is_none() {
                    p.before_brace = p.head.len();
                    p.open = Some(token.end);
                    p.ends_with_brace = head::ends_with_brace(self.src, &p.head);
                }
            }
        }
        self.state.braces += 1;
    }

    fn close_brace(&mut self, token: Token) {
        if self.state.braces == 0 {
            // A stray one: of extern "C", or of a conditional that does not balance.
            return;
        }
        self.state.braces -= 1;
        let is_function = self.state.pending.as_ref().is_none_or(|p| p.ends_with_brace);
        if self.state.braces > 0 && self.ends_item_by_style(&token, is_function) {
            self.state.braces = 0;
            if let Some(p) = &mut self.state.pending {
                p.torn = true;
            }
        }
        if self.state.braces == 0 && self.state.parens == 0 {
            let Some(p) = &mut self.state.pending else { return };
            if p.close.is_none() {
                p.close = Some(token.start);
            }
            if p.ends_with_brace {
                self.finish(Some(token.end));
            }
        }
    }

    /// Whether a `}` in column 0 ends the top-level item around it, whatever the
    /// count of braces says: a function's stands alone on its line, a type's has
    /// `;` or attributes behind it.
    fn ends_item_by_style(&self, token: &Token, is_function: bool) -> bool {
        if line_start(self.src, token.start) != token.start {
            return false;
        }
        let line = line_at(self.src, token.start);
        let rest = line.get(1..).unwrap_or_default().trim_ascii_start();
        match rest.first() {
            None => is_function,
            Some(b'/') => is_function,
            Some(b';') => !is_function,
            Some(b) => !is_function && (b.is_ascii_alphabetic() || *b == b'_'),
        }
    }

    /// A macro's use without `;` ends before a blank line, or where the next line
    /// begins with a word: `MODULE_ALIAS("x")`, then `static int …`.
    fn ends_without_semicolon(&self, token: &Token) -> bool {
        let Some(p) = &self.state.pending else { return false };
        let Some(last) = p.head.last() else { return false };
        if p.open.is_some() {
            return false;
        }
        let complete = last.kind == TokenKind::Word || last.of(self.src) == b")";
        if complete && token.of(self.src) != b"{" && self.has_blank_line(last.end..token.start) {
            return true;
        }
        token.kind == TokenKind::Word
            && line_start(self.src, token.start) == token.start
            && self.is_bare_invocation()
    }

    /// Whether what stands there so far is a macro's use and nothing else.
    fn is_bare_invocation(&self) -> bool {
        let Some(p) = self.state.pending.as_ref().filter(|p| p.open.is_none()) else {
            return false;
        };
        let [first, second, ..] = p.head.as_slice() else { return false };
        second.of(self.src) == b"("
            && head::is_upper(first.of(self.src))
            && head::close_of(self.src, &p.head, 1) == Some(p.head.len() - 1)
    }

    fn has_blank_line(&self, gap: Range<usize>) -> bool {
        let gap = self.src.get(gap).unwrap_or_default();
        let mut lines = gap.split(|&b| b == b'\n').skip(1).peekable();
        while let Some(line) = lines.next() {
            // The last piece is the line of the token behind the gap.
            if lines.peek().is_some() && line.trim_ascii().is_empty() {
                return true;
            }
        }
        false
    }

    fn adjoins(&self, token: &Token) -> bool {
        let last = self.state.pending.as_ref().and_then(|p| p.head.last());
        last.is_some_and(|l| !self.has_blank_line(l.end..token.start))
    }

    fn finish(&mut self, end: Option<usize>) {
        self.state.parens = 0;
        let Some(p) = self.state.pending.take() else { return };
        let Some(end) = end.or(p.head.last().map(|t| t.end)) else { return };
        if p.head.is_empty() {
            return;
        }
        let torn = p.torn || p.place != self.conditionals.place();
        let body = match (p.open, p.close) {
            (Some(open), Some(close)) if open <= close => Some(open..close),
            _ => None,
        };
        let found = head::classify(self.src, &p.head, p.before_brace, p.open.is_some());
        for class in found {
            self.items.push(Item {
                kind: class.kind,
                names: class.names,
                span: p.start..end,
                body: body.clone(),
                macro_name: class.macro_name,
                torn,
                glued: p.glued,
            });
        }
    }
}

#[cfg(test)]
mod tests;
