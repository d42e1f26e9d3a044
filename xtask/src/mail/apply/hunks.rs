//! Hunks applied to a text, each exactly at the line that its header names.

use crate::error::{Error, Result};
use crate::mail::apply::parse::{Hunk, Kind};

/// The text after all hunks.
///
/// # Errors
/// A conflict when a line is not there, or another stands in its place.
pub fn apply(text: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 8 + 256);
    let mut rest = text;
    // Lines of the old and of the new text that are behind us.
    let (mut olds, mut news) = (0, 0);
    for hunk in hunks {
        // A hunk without old lines names the line that it follows.
        let first = |(start, count): (usize, usize)| match count {
            0 => Some(start),
            _ => start.checked_sub(1),
        };
        let conflict = |line: usize, found: &[u8], wanted: &[u8]| {
            let show = |l: &[u8]| String::from_utf8_lossy(l).trim_end().to_owned();
            Error::conflict(format!("the hunk at line {} does not apply", hunk.old.0))
                .found(format!("line {line}: {}", show(found)))
                .found(format!("the patch has: {}", show(wanted)))
        };
        let disorder = || {
            Error::conflict(format!("the hunk at line {} does not apply", hunk.old.0))
                .found("it stands before the hunk above it, or counts lines otherwise")
        };
        let (begin, new_begin) = first(hunk.old).zip(first(hunk.new)).ok_or_else(disorder)?;
        let skip = begin.checked_sub(olds).ok_or_else(disorder)?;
        if news + skip != new_begin {
            return Err(disorder());
        }
        if skip > 0 {
            let (same, after) = rest.split_at(linewise::behind(rest, skip));
            // Only the last line of a text can lack its end, and it has none behind it.
            if linewise::count_ends(same) < skip {
                return Err(conflict(begin, b"(the text ends before it)", b""));
            }
            out.extend_from_slice(same);
            rest = after;
        }
        (olds, news) = (begin, new_begin);
        for (kind, line) in &hunk.lines {
            if *kind != Kind::Added {
                let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
                let (found, after) = rest.split_at(end);
                if found != line.as_slice() || found.is_empty() {
                    return Err(conflict(olds + 1, found, line));
                }
                rest = after;
                olds += 1;
            }
            if *kind != Kind::Removed {
                if out.last().is_some_and(|&c| c != b'\n') {
                    return Err(conflict(olds, b"(a line without end)", line));
                }
                out.extend_from_slice(line);
                news += 1;
            }
        }
    }
    if !rest.is_empty() && out.last().is_some_and(|&c| c != b'\n') {
        return Err(Error::conflict("the last hunk does not apply")
            .found("it ends the text, which goes on"));
    }
    out.extend_from_slice(rest);
    Ok(out)
}
