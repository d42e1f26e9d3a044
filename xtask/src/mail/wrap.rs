//! Wraps text by columns exactly as git does in headers and shortlogs.
//!
//! Own code, since the bytes must be git's: breaks are taken at white space
//! only, a line break in the text is kept when a blank line or a line that does
//! not begin with a letter or digit follows, a tab counts to the next multiple
//! of eight, and a text that is not UTF-8 counts bytes. No wrapping crate does that.

use unicode_width::UnicodeWidthChar as _;

/// Where the first line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// On a new line, indented by so many spaces.
    Indent(usize),
    /// Behind so many columns that are written already: the text goes on there
    /// or, when its first word does not fit, on the next line.
    Behind(usize),
}

/// Appends `text` to `out`, wrapped at `width` columns; lines after the first
/// are indented by `indent`. No line end is put after the last.
pub fn wrapped(out: &mut Vec<u8>, text: &[u8], first: First, indent: usize, width: usize) {
    let utf8 = std::str::from_utf8(text).is_ok();
    let (mut pad, mut column) = match first {
        First::Indent(n) => (n, n),
        First::Behind(n) => (0, n),
    };
    // The place up to which all is written, and the last place where to break.
    let mut line = 0;
    let mut space = matches!(first, First::Behind(_)).then_some(0);
    let mut at = 0;
    loop {
        let c = byte(text, at);
        if c.is_none_or(is_space) {
            let mut end_line = false;
            if column <= width || space.is_none() {
                if c.is_none() && at == line {
                    return;
                }
                let from = match space {
                    Some(space) => space,
                    None => {
                        out.resize(out.len() + pad, b' ');
                        line
                    }
                };
                out.extend_from_slice(text.get(from..at).unwrap_or_default());
                if c.is_none() {
                    return;
                }
                let mut next = at;
                match c {
                    Some(b'\t') => column |= 7,
                    Some(b'\n') => {
                        next += 1;
                        match byte(text, next) {
                            Some(b'\n') => {
                                out.push(b'\n');
                                end_line = true;
                            }
                            Some(c) if c.is_ascii_alphanumeric() => out.push(b' '),
                            _ => end_line = true,
                        }
                    }
                    _ => {}
                }
                space = Some(next);
                if !end_line {
                    column += 1;
                    at += 1;
                }
            } else {
                end_line = true;
            }
            if end_line {
                out.push(b'\n');
                let from = space.unwrap_or(at);
                at = from + usize::from(byte(text, from).is_some_and(is_space));
                line = at;
                space = None;
                pad = indent;
                column = indent;
            }
            continue;
        }
        let (bytes, columns) = if utf8 { char_at(text, at) } else { (1, 1) };
        at += bytes;
        column += columns;
    }
}

/// Columns that `text` takes on a terminal, as git counts them.
#[must_use]
pub fn columns(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().map(|c| c.width().unwrap_or(0)).sum(),
        Err(_) => text.len(),
    }
}

/// Bytes and columns of the character that begins at `at`.
fn char_at(text: &[u8], at: usize) -> (usize, usize) {
    let length = match text.get(at) {
        Some(0xf0..) => 4,
        Some(0xe0..) => 3,
        Some(0xc0..) => 2,
        _ => 1,
    };
    let one = text.get(at..at + length).and_then(|c| std::str::from_utf8(c).ok());
    one.and_then(|s| s.chars().next()).map_or((1, 1), |c| (length, c.width().unwrap_or(0)))
}

fn byte(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).copied()
}

/// Git's notion of white space: no vertical tab, no form feed.
#[must_use]
pub fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | b'\r')
}
