//! Lines of a file: numbers of offsets, whole lines around a span, blank lines,
//! and the comment that stands right above.

use std::ops::Range;

/// Number of the line (from 1) that has the byte at `offset`.
#[must_use]
pub fn line_number(src: &[u8], offset: usize) -> usize {
    let before = src.get(..offset.min(src.len())).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// Start of the line that has `offset`.
#[must_use]
pub fn line_start(src: &[u8], offset: usize) -> usize {
    let before = src.get(..offset.min(src.len())).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |n| n + 1)
}

/// One behind the line break of the line that has `offset`, or the file's end.
#[must_use]
pub fn line_end(src: &[u8], offset: usize) -> usize {
    let rest = src.get(offset..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(src.len(), |n| offset + n + 1)
}

/// The line that has `offset`, without its line break.
#[must_use]
pub fn line_at(src: &[u8], offset: usize) -> &[u8] {
    let line = src.get(line_start(src, offset)..line_end(src, offset)).unwrap_or_default();
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Each line's range with its line break, within whole-line `region`.
pub fn lines(src: &[u8], region: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let end = region.end.min(src.len());
    let mut at = region.start;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let next = line_end(src, at).min(end);
        let line = at..next;
        at = next;
        Some(line)
    })
}

/// Whether a line has nothing but white space.
#[must_use]
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// The whole lines of C that `span` takes, when nothing but white space and
/// comments shares its first and last line; a comment that begins behind it on
/// its last line belongs to it to that comment's end.
#[must_use]
pub fn whole_lines_c(src: &[u8], span: Range<usize>) -> Option<Range<usize>> {
    let start = line_start(src, span.start);
    let mut before = src.get(start..span.start)?.trim_ascii_start();
    while let Some(comment) = before.strip_prefix(b"/*") {
        let close = memchr::memmem::find(comment, b"*/")?;
        before = comment.get(close + 2..)?.trim_ascii_start();
    }
    if !before.is_empty() {
        return None;
    }
    let mut at = span.end;
    loop {
        match src.get(at) {
            None => return Some(start..src.len()),
            Some(b'\n') => return Some(start..at + 1),
            Some(b'\\') if matches!(src.get(at + 1), Some(b'\n' | b'\r')) => at += 1,
            Some(b'/') => match src.get(at + 1) {
                Some(b'/') => return Some(start..line_end(src, at)),
                Some(b'*') => {
                    let close = memchr::memmem::find(src.get(at + 2..)?, b"*/")?;
                    at += close + 4;
                }
                _ => return None,
            },
            Some(b) if b.is_ascii_whitespace() => at += 1,
            Some(_) => return None,
        }
    }
}

/// The whole lines of plain text that `span` takes, when nothing else is on them.
#[must_use]
pub fn whole_lines_plain(src: &[u8], span: Range<usize>) -> Option<Range<usize>> {
    let start = line_start(src, span.start);
    let end = line_end(src, span.end.max(span.start));
    // A span that ends with its line break ends there.
    let end =
        if span.end > span.start && src.get(span.end - 1) == Some(&b'\n') { span.end } else { end };
    let blank = is_blank(src.get(start..span.start)?) && is_blank(src.get(span.end..end)?);
    blank.then_some(start..end)
}

/// The comment that ends on the line right above `offset` (a line's start) and
/// has its lines for itself.
#[must_use]
pub fn comment_above(src: &[u8], offset: usize) -> Option<Range<usize>> {
    let mut start = offset;
    let above = |at: usize| (at > 0).then(|| line_start(src, at - 1)..at);
    // Lines of `//`, as many as follow one another.
    while let Some(line) = above(start) {
        if !src.get(line.clone())?.trim_ascii().starts_with(b"//") {
            break;
        }
        start = line.start;
    }
    if start < offset {
        return Some(start..offset);
    }
    let last = above(offset)?;
    let text = src.get(last.clone())?.trim_ascii_end();
    if !text.ends_with(b"*/") {
        return None;
    }
    let close = last.start + text.len();
    let open = memchr::memmem::rfind(src.get(..close - 2)?, b"/*")?;
    let start = line_start(src, open);
    is_blank(src.get(start..open)?).then_some(start..offset)
}

/// The white space that the line of `offset` begins with.
#[must_use]
pub fn indentation(src: &[u8], offset: usize) -> &[u8] {
    let line = line_at(src, offset);
    let n = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    line.get(..n).unwrap_or_default()
}

/// Whether the file's lines end with CR LF: its first line does.
#[must_use]
pub fn has_crlf(src: &[u8]) -> bool {
    memchr::memchr(b'\n', src).is_some_and(|n| n > 0 && src.get(n - 1) == Some(&b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_of_c() {
        let cases: [(&str, &str, Option<&str>); 10] = [
            ("\ta;\n\tb;\n", "b;", Some("\tb;\n")),
            ("\ta; b;\n", "b;", None),
            ("\ta; b;\n", "a;", None),
            ("a; /* x\n y */\nb;\n", "a;", Some("a; /* x\n y */\n")),
            ("/* q */ a; // r\n", "a;", Some("/* q */ a; // r\n")),
            ("x\na;", "a;", Some("a;")),
            ("#define F \\\n\ta; \\\n\tb;\n", "a;", Some("\ta; \\\n")),
            ("x /* y\n*/ a;\n", "a;", None),
            ("a; /* open\n", "a;", None),
            ("a; / b\n", "a;", None),
        ];
        for (src, span, want) in cases {
            let at = src.rfind(span).unwrap();
            let got = whole_lines_c(src.as_bytes(), at..at + span.len());
            assert_eq!(got.map(|r| &src[r]), want, "{src}");
        }
    }

    #[test]
    fn comments_above() {
        let cases: [(&str, Option<&str>); 7] = [
            ("x\n/**\n * doc\n */\nf", Some("/**\n * doc\n */\n")),
            ("/* one */\nf", Some("/* one */\n")),
            ("// a\n// b\nf", Some("// a\n// b\n")),
            ("/* far */\n\nf", None),
            ("x; /* trailing */\nf", None),
            ("f", None),
            ("*/\nf", None),
        ];
        for (src, want) in cases {
            let at = src.rfind('f').unwrap();
            assert_eq!(comment_above(src.as_bytes(), at).map(|r| &src[r]), want, "{src}");
        }
    }
}
