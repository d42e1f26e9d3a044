//! Adds a line to a kernel Makefile: `obj-$(CONFIG_X) += x.o`.

use super::super::file_text::FileText;
use super::super::locate::Spot;
use super::{Splice, file_ends};
use cscan::lines::{line_at, line_end, line_start, lines};

fn words(line: &[u8]) -> Vec<&[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect()
}

/// Whether the next line of a Makefile belongs to this one.
fn continues(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b"\\")
}

/// One behind the last of the lines that make one with what ends at `at`: a line put between
/// them would be words of theirs.
fn whole_line_end(src: &[u8], at: usize) -> usize {
    let mut end = if line_start(src, at) == at { at } else { line_end(src, at) };
    while end < src.len() && end.checked_sub(1).is_some_and(|last| continues(line_at(src, last))) {
        end = line_end(src, end);
    }
    end
}

/// The insertion behind `at`, or behind the last `obj-` line outside of
/// conditionals; `Ok(None)` when the line is there already.
///
/// # Errors
/// Says so when there is no such line.
pub fn add(file: &FileText, at: Option<&Spot>, line: &str) -> Result<Option<Splice>, String> {
    let src = file.bytes();
    let wanted = words(line.as_bytes());
    let mut depth = 0_usize;
    let mut last = None;
    let mut continued = false;
    let mut in_list = false;
    for range in lines(src, 0..src.len()) {
        let text = file.get(range.clone());
        let found = words(text);
        if found == wanted {
            return Ok(None);
        }
        if !continued {
            match found.first().copied() {
                Some(b"ifdef" | b"ifndef" | b"ifeq" | b"ifneq") => depth += 1,
                Some(b"endif") => depth = depth.saturating_sub(1),
                _ => {}
            }
            in_list = depth == 0 && found.first().is_some_and(|w| w.starts_with(b"obj-"));
        }
        if in_list {
            last = Some(range.end);
        }
        continued = continues(text);
    }
    let at = match at {
        Some(spot) => whole_line_end(src, spot.span.end),
        None => {
            last.ok_or("it has no obj- line outside of conditionals; name a place with `at`")?
        }
    };
    let mut text = String::new();
    if at == src.len() && at > 0 && !src.ends_with(b"\n") {
        text.push('\n');
    }
    text.push_str(line.trim());
    text.push('\n');
    Ok(Some(Splice { span: at..at, text: file_ends(file, &text) }))
}
