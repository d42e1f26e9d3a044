//! Preprocessor lines: macros and includes as items, conditionals as branches.

use std::ops::Range;

use smallvec::smallvec;

use super::{Item, ItemKind};
use crate::lex::{Token, TokenKind};
use crate::lines::{line_end, line_start};

/// One branch of a preprocessor conditional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its condition's tokens, one blank between: `X` for `#ifdef X`, `! X` for
    /// `#ifndef X`, `else X` for the `#else` of either.
    pub condition: String,
    /// The directive's lines.
    pub directive: Range<usize>,
    /// The lines up to the next branch or the end.
    pub body: Range<usize>,
    /// From the first directive to `#endif`, lines.
    pub group: Range<usize>,
}

/// What a preprocessor line is.
pub(super) enum Directive {
    Item(Item),
    If { span: Range<usize>, condition: String },
    Else { span: Range<usize>, condition: Option<String> },
    Endif { span: Range<usize> },
    Other,
}

pub(super) fn read(src: &[u8], tokens: &[Token]) -> Directive {
    let (Some(hash), Some(name)) = (tokens.first(), tokens.get(1)) else {
        return Directive::Other;
    };
    let Some(last) = tokens.last() else { return Directive::Other };
    let span = line_start(src, hash.start)..line_end(src, last.end);
    let rest = tokens.get(2..).unwrap_or_default();
    match name.of(src) {
        b"define" => match rest.first() {
            Some(macro_name) => item(ItemKind::Macro, macro_name.range(), hash.start..last.end),
            None => Directive::Other,
        },
        b"include" | b"include_next" => match (rest.first(), rest.last()) {
            (Some(from), Some(to)) => {
                item(ItemKind::Include, from.start..to.end, hash.start..last.end)
            }
            _ => Directive::Other,
        },
        b"ifdef" => Directive::If { span, condition: joined(src, rest) },
        b"ifndef" => Directive::If { span, condition: format!("! {}", joined(src, rest)) },
        b"if" => Directive::If { span, condition: normal_condition(src, rest) },
        b"elif" => Directive::Else { span, condition: Some(normal_condition(src, rest)) },
        b"elifdef" => Directive::Else { span, condition: Some(joined(src, rest)) },
        b"elifndef" => {
            Directive::Else { span, condition: Some(format!("! {}", joined(src, rest))) }
        }
        b"else" => Directive::Else { span, condition: None },
        b"endif" => Directive::Endif { span },
        _ => Directive::Other,
    }
}

fn item(kind: ItemKind, name: Range<usize>, span: Range<usize>) -> Directive {
    Directive::Item(Item {
        kind,
        names: smallvec![name],
        span,
        body: None,
        macro_name: None,
        torn: false,
        glued: false,
    })
}

fn joined(src: &[u8], tokens: &[Token]) -> String {
    let words: Vec<_> = tokens
        .iter()
        .filter(|t| t.kind != TokenKind::Comment)
        .map(|t| String::from_utf8_lossy(t.of(src)))
        .collect();
    words.join(" ")
}

/// A condition's tokens, with `defined(X)` as a whole written `X`, and
/// `!defined(X)` written `! X`, as `#ifdef` and `#ifndef` have it.
#[must_use]
pub fn normal_condition(src: &[u8], tokens: &[Token]) -> String {
    let (not, inner) = match tokens {
        [first, rest @ ..] if first.of(src) == b"!" => (true, rest),
        all => (false, all),
    };
    let name = match inner {
        [d, name] if d.of(src) == b"defined" => Some(name),
        [d, open, name, close]
            if d.of(src) == b"defined" && open.of(src) == b"(" && close.of(src) == b")" =>
        {
            Some(name)
        }
        _ => None,
    };
    match name {
        Some(name) if not => format!("! {}", joined(src, std::slice::from_ref(name))),
        Some(name) => joined(src, std::slice::from_ref(name)),
        None => joined(src, tokens),
    }
}

struct Group<S> {
    first: String,
    saved: S,
    start: usize,
    /// Branches of this group: indices into the list.
    branches: Vec<usize>,
    id: usize,
}

/// The conditionals that are open, and the branches so far.
pub(super) struct Conditionals<S> {
    open: Vec<Group<S>>,
    branches: Vec<Branch>,
    next_id: usize,
}

impl<S> Default for Conditionals<S> {
    fn default() -> Self {
        Conditionals { open: Vec::new(), branches: Vec::new(), next_id: 0 }
    }
}

impl<S: Clone + Default> Conditionals<S> {
    /// In the branch that a header's guard opens, at the beginning of the file.
    pub(super) fn within(guard: &Branch) -> Self {
        let mut all = Conditionals::default();
        all.open(guard.directive.clone(), guard.condition.clone(), &S::default());
        all
    }

    /// Whether this branch is open, and nothing else.
    pub(super) fn is_only(&self, guard: &Branch) -> bool {
        match self.open.as_slice() {
            [group] => {
                group.start == guard.directive.start
                    && group.first == guard.condition
                    && group.branches.len() == 1
            }
            _ => false,
        }
    }

    /// Where in the conditionals a token stands: equal for two tokens in the same
    /// branch of the same conditional.
    pub(super) fn place(&self) -> (usize, usize) {
        self.open.last().map_or((0, 0), |g| (self.open.len(), g.id))
    }

    /// Whether none is open.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn open(&mut self, span: Range<usize>, condition: String, state: &S) {
        self.next_id += 1;
        self.open.push(Group {
            first: condition.clone(),
            saved: state.clone(),
            start: span.start,
            branches: Vec::new(),
            id: self.next_id,
        });
        self.branch(span, condition);
    }

    fn branch(&mut self, span: Range<usize>, condition: String) {
        let index = self.branches.len();
        let Some(group) = self.open.last_mut() else { return };
        group.branches.push(index);
        self.branches.push(Branch {
            condition,
            body: span.end..span.end,
            group: group.start..span.end,
            directive: span,
        });
    }

    fn end_branch(&mut self, at: usize) {
        let index = self.open.last().and_then(|g| g.branches.last()).copied();
        if let Some(branch) = index.and_then(|i| self.branches.get_mut(i)) {
            branch.body.end = at.max(branch.body.start);
        }
    }

    /// Goes on to `#else` or `#elif`; gives back the state before the `#if`.
    pub(super) fn next_branch(
        &mut self,
        span: Range<usize>,
        condition: Option<String>,
    ) -> Option<S> {
        self.end_branch(span.start);
        self.next_id += 1;
        let id = self.next_id;
        let group = self.open.last_mut()?;
        group.id = id;
        let condition = condition.unwrap_or_else(|| format!("else {}", group.first));
        let saved = group.saved.clone();
        self.branch(span, condition);
        Some(saved)
    }

    pub(super) fn close(&mut self, span: Range<usize>) {
        self.end_branch(span.start);
        let Some(group) = self.open.pop() else { return };
        for index in group.branches {
            if let Some(branch) = self.branches.get_mut(index) {
                branch.group.end = span.end;
            }
        }
    }

    /// All branches; those that were never closed end with the file.
    pub(super) fn finish(mut self, end: usize) -> Vec<Branch> {
        while !self.open.is_empty() {
            self.close(end..end);
        }
        self.branches
    }
}
