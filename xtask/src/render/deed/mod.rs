//! What edits do to one file: splices of text at found places. A splice never
//! touches a byte outside of its place.

pub mod include;
pub mod maintainers;
pub mod makefile;
mod nesting;

use std::ops::Range;

use super::file_text::FileText;
use super::locate::{Miss, Near, Shape, Spot};
use cscan::lines::{has_crlf, indentation, is_blank, line_at, line_start, lines};

/// New text for a range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// What it takes the place of; empty for an insertion.
    pub span: Range<usize>,
    /// The new bytes.
    pub text: Vec<u8>,
}

/// How text is fitted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fit {
    /// Shift it to the indentation of the place.
    pub indent: bool,
    /// One blank line around; `None`: as the place's kind has it.
    pub separate: Option<bool>,
}

/// Applies splices. They must not overlap.
///
/// # Errors
/// Gives back the first splice that overlaps another one or leaves the file.
pub fn apply(src: &[u8], mut splices: Vec<Splice>) -> Result<Vec<u8>, Splice> {
    // Stable: insertions at one place stay in their order.
    splices.sort_by_key(|s| (s.span.start, s.span.end));
    let added: usize = splices.iter().map(|s| s.text.len()).sum();
    let mut out = Vec::with_capacity(src.len() + added);
    let mut at = 0;
    for splice in splices {
        let kept = src.get(at..splice.span.start);
        let (Some(kept), true) = (kept, splice.span.end <= src.len()) else {
            return Err(splice);
        };
        out.extend_from_slice(kept);
        out.extend_from_slice(&splice.text);
        at = splice.span.end.max(splice.span.start);
    }
    out.extend_from_slice(src.get(at..).unwrap_or_default());
    Ok(out)
}

/// Text before (or behind) a place.
///
/// # Errors
/// When the place shares its line with other code, or text there would change
/// what an `if`, `else` or loop governs.
pub fn insert(
    file: &FileText,
    spot: &Spot,
    before: bool,
    text: &str,
    fit: Fit,
) -> Result<Splice, Miss> {
    let at = if before { spot.span.start } else { spot.span.end };
    if spot.inline() {
        check_lines(file, spot)?;
        if text.trim_end().ends_with(';') {
            nesting::check(file, spot, before)?;
        }
        let text = file_ends(file, strip_newline(text));
        return Ok(Splice { span: at..at, text });
    }
    nesting::check(file, spot, before)?;
    let text = fitted(file, spot, text, fit);
    let separate = fit.separate.unwrap_or(spot.kind.stands_alone() && !spot.inner);
    Ok(Splice { span: at..at, text: between(file, at, &text, separate) })
}

/// Text in a place's stead.
#[must_use]
pub fn replace(file: &FileText, spot: &Spot, text: &str, fit: Fit) -> Splice {
    let text = if spot.inline() {
        file_ends(file, strip_newline(text))
    } else {
        let mut text = fitted(file, spot, text, fit);
        // The last line of a file may have no line break; it stays so.
        let open_end = spot.span.end == file.bytes().len()
            && !spot.span.is_empty()
            && !file.bytes().ends_with(b"\n");
        if open_end {
            text.pop();
        }
        file_ends(file, &text)
    };
    Splice { span: spot.span.clone(), text }
}

/// What is taken out or replaced has lines of its own, or is asked for within one.
///
/// # Errors
/// Says that it shares them.
pub fn check_lines(file: &FileText, spot: &Spot) -> Result<(), Miss> {
    if spot.shape == Shape::Shared { Err(shares_its_line(file, spot)) } else { Ok(()) }
}

/// What an `if`, `else` or loop governs cannot be taken out: it would govern what follows.
///
/// # Errors
/// Says so.
pub fn check_governed(file: &FileText, spot: &Spot) -> Result<(), Miss> {
    // A part of a statement leaves one.
    if spot.inline() && !file.get(spot.span.clone()).ends_with(b";") {
        return Ok(());
    }
    nesting::check_taken(file, spot)
}

/// What an `if`, `else` or loop governs can only be replaced by one statement.
///
/// # Errors
/// Says so.
pub fn check_replaced(file: &FileText, spot: &Spot, text: &str) -> Result<(), Miss> {
    // What takes the place of a whole statement is one, however it lies in its lines.
    if spot.inline() && !file.get(spot.span.clone()).ends_with(b";") {
        return Ok(());
    }
    nesting::check_replaced(file, spot, text)
}

/// The place taken out.
#[must_use]
pub fn delete(file: &FileText, spot: &Spot, fit: Fit) -> Splice {
    let src = file.bytes();
    let mut span = spot.span.clone();
    if spot.inline() {
        let blank = |at: Option<usize>| {
            at.and_then(|i| src.get(i)).is_some_and(|b| matches!(b, b' ' | b'\t'))
        };
        // One blank is enough where there was one on either side.
        if blank(span.start.checked_sub(1)) {
            while blank(Some(span.end)) {
                span.end += 1;
            }
        } else if line_start(src, span.start) + indentation(src, span.start).len() == span.start {
            // At a line's beginning what follows moves up to it.
            while blank(Some(span.end)) {
                span.end += 1;
            }
        }
        return Splice { span, text: Vec::new() };
    }
    let separate = fit.separate.unwrap_or(spot.kind.stands_alone() && !spot.inner);
    if separate {
        let above_blank = span.start == 0 || is_blank(line_at(src, span.start - 1));
        if above_blank {
            while span.end < src.len() && is_blank(line_at(src, span.end)) {
                span.end = cscan::lines::line_end(src, span.end);
            }
            // Nothing follows: the blank line above would end the file.
            if span.end == src.len() {
                while span.start > 0 && is_blank(line_at(src, span.start - 1)) {
                    span.start = line_start(src, span.start - 1);
                }
            }
        }
    }
    Splice { span, text: Vec::new() }
}

fn shares_its_line(file: &FileText, spot: &Spot) -> Miss {
    Miss::Unfit {
        what: format!("the place at {}", file.position(spot.span.start)),
        why: "it shares its lines with other code; name all of them, or `tokens` in them"
            .to_owned(),
        at: Near::at(file, spot.span.start),
    }
}

fn strip_newline(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// With the file's line ends.
fn file_ends(file: &FileText, text: &str) -> Vec<u8> {
    if has_crlf(file.bytes()) {
        text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes()
    } else {
        text.as_bytes().to_vec()
    }
}

/// With a final newline, and shifted where that is asked.
fn fitted(file: &FileText, spot: &Spot, text: &str, fit: Fit) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if !fit.indent {
        return text;
    }
    let indent = String::from_utf8_lossy(&place_indentation(file, spot)).into_owned();
    let lines = super::filters::dedent(&text);
    let lines = lines.split_inclusive('\n').map(|line| {
        if line.trim().is_empty() { line.to_owned() } else { format!("{indent}{line}") }
    });
    lines.collect()
}

/// The indentation that code at this place has: of its first line, and of an
/// empty body one tab more than its brace.
fn place_indentation(file: &FileText, spot: &Spot) -> Vec<u8> {
    let src = file.bytes();
    let first = lines(src, spot.span.clone()).find(|l| !is_blank(file.get(l.clone())));
    match first {
        Some(line) => indentation(src, line.start).to_vec(),
        None if spot.inner && spot.span.start > 0 => {
            let mut indent = indentation(src, spot.span.start - 1).to_vec();
            if line_at(src, spot.span.start - 1).trim_ascii_end().ends_with(b"{") {
                indent.push(b'\t');
            }
            indent
        }
        None => indentation(src, spot.span.start).to_vec(),
    }
}

/// Text to insert at a line's start, with the blank lines that keep it apart.
fn between(file: &FileText, at: usize, text: &str, separate: bool) -> Vec<u8> {
    let src = file.bytes();
    let mut out = String::new();
    // A last line without line break gets one.
    if at == src.len() && at > 0 && !src.ends_with(b"\n") {
        out.push('\n');
    }
    if separate {
        let text = text.trim_start_matches('\n');
        let text = text.trim_end_matches('\n');
        let above = (at > 0).then(|| line_at(src, at - 1).trim_ascii());
        let below = (at < src.len()).then(|| line_at(src, at).trim_ascii());
        // No blank line right inside of a conditional.
        let keeps_above = above.is_some_and(|l| {
            !l.is_empty() && !is_directive(l, &[b"if", b"ifdef", b"ifndef", b"else", b"elif"])
        });
        let keeps_below =
            below.is_some_and(|l| !l.is_empty() && !is_directive(l, &[b"endif", b"else", b"elif"]));
        if keeps_above {
            out.push('\n');
        }
        out.push_str(text);
        out.push('\n');
        if keeps_below {
            out.push('\n');
        }
    } else {
        out.push_str(text);
    }
    file_ends(file, &out)
}

fn is_directive(line: &[u8], names: &[&[u8]]) -> bool {
    line.strip_prefix(b"#").is_some_and(|rest| {
        let rest = rest.trim_ascii_start();
        let end = rest.iter().position(|b| !b.is_ascii_alphabetic()).unwrap_or(rest.len());
        rest.get(..end).is_some_and(|word| names.contains(&word))
    })
}

#[cfg(test)]
mod tests;
