//! What a top-level item is, by the tokens outside of its braces.

use std::ops::Range;

use smallvec::smallvec;

use super::{ItemKind, Names};
use crate::lex::{Token, TokenKind};

/// Attribute macros that take arguments and may stand before or behind a name.
const ATTRIBUTES: [&[u8]; 20] = [
    b"__attribute__",
    b"__printf",
    b"__scanf",
    b"__acquires",
    b"__releases",
    b"__acquire",
    b"__must_hold",
    b"__cond_acquires",
    b"__section",
    b"__aligned",
    b"__alloc_size",
    b"__counted_by",
    b"__assume_aligned",
    b"__diagnose_as",
    b"__realloc_size",
    b"__nonnull",
    b"__declspec",
    b"__alias",
    b"__cleanup",
    b"_Alignas",
];

const KEYWORDS: [&[u8]; 24] = [
    b"int",
    b"void",
    b"char",
    b"short",
    b"long",
    b"float",
    b"double",
    b"signed",
    b"unsigned",
    b"const",
    b"volatile",
    b"static",
    b"extern",
    b"inline",
    b"register",
    b"struct",
    b"union",
    b"enum",
    b"typedef",
    b"typeof",
    b"__typeof__",
    b"_Static_assert",
    b"static_assert",
    b"sizeof",
];

/// What an item turned out to be.
pub(super) struct Class {
    pub kind: ItemKind,
    pub names: Names,
    pub macro_name: Option<Range<usize>>,
}

impl Class {
    fn new(kind: ItemKind, names: Names) -> Class {
        Class { kind, names, macro_name: None }
    }
}

/// Whether a macro's name is written in capitals.
pub(super) fn is_upper(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase)
}

/// Index of the token that closes the bracket at `open`.
pub(super) fn close_of(src: &[u8], head: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, token) in head.iter().enumerate().skip(open) {
        match token.of(src) {
            b"(" | b"[" => depth += 1,
            b")" | b"]" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// `extern "C"` before a brace.
pub(super) fn is_linkage(src: &[u8], head: &[Token]) -> bool {
    matches!(head, [e, s] if e.of(src) == b"extern" && s.kind == TokenKind::Literal)
}

/// Whether an item with this head ends with its closing brace, as a function
/// does; a type or an initialiser goes on to `;`.
pub(super) fn ends_with_brace(src: &[u8], head: &[Token]) -> bool {
    !has_assignment(src, head) && aggregate(src, head).is_none()
}

/// Index of `=` outside of brackets.
fn assignment(src: &[u8], head: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, token) in head.iter().enumerate() {
        match token.of(src) {
            b"(" | b"[" => depth += 1,
            b")" | b"]" => depth = depth.saturating_sub(1),
            b"=" if depth == 0 => return Some(i),
            _ => {}
        }
    }
    None
}

fn has_assignment(src: &[u8], head: &[Token]) -> bool {
    assignment(src, head).is_some()
}

/// Indices of the tokens that are no attribute with its arguments and no bracket
/// content, at depth 0.
fn plain(src: &[u8], head: &[Token]) -> Vec<usize> {
    let mut out = Vec::new();
    let mut i = 0;
    while let Some(token) = head.get(i) {
        let text = token.of(src);
        if ATTRIBUTES.contains(&text) && head.get(i + 1).is_some_and(|t| t.of(src) == b"(") {
            i = close_of(src, head, i + 1).map_or(head.len(), |c| c + 1);
            continue;
        }
        if matches!(text, b"[") {
            out.push(i);
            i = close_of(src, head, i).map_or(head.len(), |c| c + 1);
            continue;
        }
        out.push(i);
        i += 1;
    }
    out
}

/// The keyword and tag, when these tokens before a brace begin a type.
fn aggregate(src: &[u8], head: &[Token]) -> Option<(ItemKind, Option<Range<usize>>)> {
    let rest = plain(src, head);
    let at = rest.iter().rposition(|&i| {
        head.get(i).is_some_and(|t| matches!(t.of(src), b"struct" | b"union" | b"enum"))
    })?;
    let keyword = head.get(*rest.get(at)?)?;
    let kind = match keyword.of(src) {
        b"struct" => ItemKind::Struct,
        b"union" => ItemKind::Union,
        _ => ItemKind::Enum,
    };
    let mut tag = None;
    let after = rest.get(at + 1..)?.iter().filter_map(|&i| head.get(i));
    for token in after {
        let text = token.of(src);
        if text == b":" && kind == ItemKind::Enum {
            break;
        }
        if token.kind != TokenKind::Word {
            return None;
        }
        // A second word is an attribute such as __packed, or this is no type.
        if tag.is_none() {
            tag = Some(token.range());
        } else if text.starts_with(b"__") {
            // Keep the tag.
        } else if tag
            .as_ref()
            .is_some_and(|t| src.get(t.clone()).is_some_and(|t| t.starts_with(b"__")))
        {
            tag = Some(token.range());
        } else {
            return None;
        }
    }
    Some((kind, tag))
}

struct Call {
    word: usize,
    open: usize,
    close: usize,
}

/// The declarator's name before its parameter list: among all `word(…)` outside
/// of brackets the one that is neither an attribute before nor one behind it.
fn named_call(src: &[u8], head: &[Token]) -> Option<Call> {
    let mut chosen: Option<Call> = None;
    let mut i = 0;
    let mut type_between = true;
    while let Some(token) = head.get(i) {
        let text = token.of(src);
        let opens = head.get(i + 1).is_some_and(|t| t.of(src) == b"(");
        if token.kind == TokenKind::Word && opens {
            let close = close_of(src, head, i + 1)?;
            let name = !ATTRIBUTES.contains(&text) && !KEYWORDS.contains(&text);
            if name && type_between {
                chosen = Some(Call { word: i, open: i + 1, close });
                type_between = false;
            }
            i = close + 1;
            continue;
        }
        match text {
            b"(" | b"[" => i = close_of(src, head, i)?,
            b"*" => type_between = true,
            _ if token.kind == TokenKind::Word && !text.starts_with(b"__") => type_between = true,
            _ => {}
        }
        i += 1;
    }
    chosen
}

/// `( * name`: a pointer to a function.
fn pointer_name(src: &[u8], head: &[Token]) -> Option<Range<usize>> {
    head.windows(3).find_map(|w| match w {
        [open, star, name]
            if open.of(src) == b"(" && star.of(src) == b"*" && name.kind == TokenKind::Word =>
        {
            Some(name.range())
        }
        _ => None,
    })
}

/// Arguments that are one word each.
fn word_arguments(src: &[u8], head: &[Token], call: &Call) -> Names {
    let inner = head.get(call.open + 1..call.close).unwrap_or_default();
    inner
        .split(|t| t.of(src) == b",")
        .filter_map(|arg| match arg {
            [word] if word.kind == TokenKind::Word => Some(word.range()),
            [word, bracket, ..] if word.kind == TokenKind::Word && bracket.of(src) == b"[" => {
                Some(word.range())
            }
            _ => None,
        })
        .collect()
}

pub(super) fn classify(
    src: &[u8],
    head: &[Token],
    before_brace: usize,
    has_brace: bool,
) -> Vec<Class> {
    let before = if has_brace { head.get(..before_brace).unwrap_or_default() } else { head };
    if has_brace && ends_with_brace(src, before) {
        return vec![function(src, before)];
    }
    let is_typedef = head.first().is_some_and(|t| t.of(src) == b"typedef");
    let mut classes = Vec::new();
    let typed = has_brace && !has_assignment(src, before);
    if typed && let Some((kind, tag)) = aggregate(src, before) {
        classes.push(Class::new(kind, tag.into_iter().collect()));
        let after = head.get(before_brace..).unwrap_or_default();
        let names = declared(src, after);
        if is_typedef {
            classes.push(Class::new(
                ItemKind::Typedef,
                names.into_iter().next_back().into_iter().collect(),
            ));
        } else if !names.is_empty() {
            classes.push(Class::new(ItemKind::Variable, names));
        }
        return classes;
    }
    classes.push(if is_typedef { typedef(src, head) } else { declaration(src, head) });
    classes
}

fn function(src: &[u8], head: &[Token]) -> Class {
    let Some(call) = named_call(src, head) else {
        return Class::new(ItemKind::Other, Names::new());
    };
    let mut names = Names::new();
    if let Some(word) = head.get(call.word) {
        names.push(word.range());
        // SYSCALL_DEFINE3(bpf, …), BPF_CALL_2(f, …): the first argument names it.
        if is_upper(word.of(src))
            && let Some(first) = head.get(call.open + 1).filter(|t| t.kind == TokenKind::Word)
        {
            names.push(first.range());
        }
    }
    Class::new(ItemKind::Function, names)
}

fn typedef(src: &[u8], head: &[Token]) -> Class {
    let name = pointer_name(src, head)
        .or_else(|| {
            let call = named_call(src, head)?;
            head.get(call.word).map(Token::range)
        })
        .or_else(|| declared(src, head).pop());
    Class::new(ItemKind::Typedef, name.into_iter().collect())
}

fn declaration(src: &[u8], head: &[Token]) -> Class {
    let assignment = assignment(src, head);
    let declarator = head.get(..assignment.unwrap_or(head.len())).unwrap_or_default();
    if let Some(call) = named_call(src, declarator) {
        let specifiers = declarator.get(..call.word).unwrap_or_default();
        let storage_only =
            specifiers.iter().all(|t| matches!(t.of(src), b"static" | b"extern" | b"const"));
        if storage_only {
            let mut class =
                Class::new(ItemKind::Invocation, word_arguments(src, declarator, &call));
            class.macro_name = declarator.get(call.word).map(Token::range);
            return class;
        }
        if assignment.is_none() {
            if let Some(name) = pointer_name(src, declarator)
                && declarator.get(call.open).is_none_or(|o| o.start >= name.start)
            {
                return Class::new(ItemKind::Variable, smallvec![name]);
            }
            let name = declarator.get(call.word).map(Token::range);
            return Class::new(ItemKind::Prototype, name.into_iter().collect());
        }
    }
    if let Some(name) = pointer_name(src, declarator) {
        return Class::new(ItemKind::Variable, smallvec![name]);
    }
    let is_forward =
        matches!(declarator, [kw, _] if matches!(kw.of(src), b"struct" | b"union" | b"enum"));
    if is_forward || declarator.len() < 2 {
        return Class::new(ItemKind::Other, Names::new());
    }
    Class::new(ItemKind::Variable, declared(src, declarator))
}

/// Names that a declarator list declares: the word before `,`, `[`, `:`, `=` or
/// the end; behind a name, words that begin with `__` are attributes.
fn declared(src: &[u8], head: &[Token]) -> Names {
    let rest = plain(src, head);
    let tokens: Vec<&Token> = rest.iter().filter_map(|&i| head.get(i)).collect();
    let mut names = Names::new();
    let mut last: Option<&Token> = None;
    let mut named = false;
    for token in tokens {
        match token.of(src) {
            b"," => {
                names.extend(last.take().filter(|_| !named).map(Token::range));
                named = false;
            }
            b"[" | b":" | b"=" => {
                names.extend(last.take().filter(|_| !named).map(Token::range));
                named = true;
            }
            text if token.kind == TokenKind::Word => {
                let keeps = last.is_some_and(|l| {
                    let l = l.of(src);
                    text.starts_with(b"__") && !KEYWORDS.contains(&l) && !l.starts_with(b"__")
                });
                if keeps {
                    // Either a name with an attribute, or a type with a name that
                    // begins with __: both go by it.
                    names.push(token.range());
                } else {
                    last = Some(token);
                }
            }
            _ => {}
        }
    }
    names.extend(last.filter(|_| !named).map(Token::range));
    names
}
