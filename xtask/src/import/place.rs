//! Hunks applied as `git apply` applies them: where their line numbers say, or
//! at the nearest place that has all their lines.

use crate::error::{Error, Result};
use crate::mail::apply::{Hunk, LineKind};

/// A line of the file; one that a hunk made cannot be another one's.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t [u8],
    made: bool,
}

/// The text after all hunks.
///
/// # Errors
/// A conflict when the lines of a hunk stand nowhere.
pub fn apply(text: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>> {
    let mut image: Vec<Line<'_>> =
        text.split_inclusive(|&c| c == b'\n').map(|text| Line { text, made: false }).collect();
    for hunk in hunks {
        let side = |without: LineKind| {
            let kept = hunk.lines.iter().filter(move |(kind, _)| *kind != without);
            kept.map(|(_, line)| line.as_slice()).collect::<Vec<&[u8]>>()
        };
        let (old, new) = (side(LineKind::Added), side(LineKind::Removed));
        // A hunk that begins at the first line, or has no lines below, is meant
        // for the beginning or the end of the file.
        let at_start = hunk.old.0 <= 1;
        let at_end = hunk.lines.last().is_none_or(|(kind, _)| *kind != LineKind::Context);
        let guess = match (at_start, at_end) {
            (true, _) => 0,
            (_, true) => image.len().saturating_sub(old.len()),
            _ => hunk.new.0.saturating_sub(1),
        };
        let fits = |at: usize| {
            let Some(there) = image.get(at..at.saturating_add(old.len())) else { return false };
            let whole = (!at_start || at == 0) && (!at_end || at + old.len() == image.len());
            whole && there.iter().zip(&old).all(|(line, old)| !line.made && line.text == *old)
        };
        let Some(at) = nearest(guess.min(image.len()), image.len(), fits) else {
            let first = hunk.lines.iter().find(|(kind, _)| *kind == LineKind::Removed);
            let first = first.or(hunk.lines.first()).map(|(_, l)| l.as_slice()).unwrap_or_default();
            return Err(Error::conflict(format!("the hunk at line {} does not apply", hunk.old.0))
                .found(format!(
                    "its lines stand nowhere: {}",
                    String::from_utf8_lossy(first).trim_end()
                )));
        };
        // Its context too: git takes hunks that share lines for a broken patch.
        let lines = new.into_iter().map(|text| Line { text, made: true });
        image.splice(at..at + old.len(), lines);
    }
    let mut out = Vec::with_capacity(text.len() + 256);
    for (i, line) in image.iter().enumerate() {
        out.extend_from_slice(line.text);
        // A last line without its end may have got others behind it.
        if i + 1 < image.len() && !line.text.ends_with(b"\n") {
            return Err(Error::conflict("a line without its end would stand within the file"));
        }
    }
    Ok(out)
}

/// The nearest line to `guess` that fits, the one below before the one above.
fn nearest(guess: usize, lines: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    if fits(guess) {
        return Some(guess);
    }
    for far in 1..=lines.saturating_add(1) {
        let (below, above) =
            (guess.checked_add(far).filter(|at| *at <= lines), guess.checked_sub(far));
        if below.is_none() && above.is_none() {
            return None;
        }
        if let Some(at) = below.filter(|at| fits(*at)).or(above.filter(|at| fits(*at))) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::apply::{Payload, patches};

    fn run(text: &str, hunks: &str) -> Option<String> {
        let diff = format!("--- a/f\n+++ b/f\n{hunks}");
        let Payload::Hunks(hunks) = patches(diff.as_bytes()).unwrap().remove(0).payload else {
            panic!("no hunks")
        };
        apply(text.as_bytes(), &hunks).ok().map(|b| String::from_utf8(b).unwrap())
    }

    #[test]
    fn hunks_find_the_nearest_place() {
        let change = "@@ -4,3 +4,3 @@\n a\n-b\n+B\n c\n";
        for (text, want) in [
            ("1\n2\n3\na\nb\nc\n", Some("1\n2\n3\na\nB\nc\n")),
            // Moved down, and up.
            ("1\n2\n3\n4\n5\na\nb\nc\n", Some("1\n2\n3\n4\n5\na\nB\nc\n")),
            ("1\na\nb\nc\n", Some("1\na\nB\nc\n")),
            // As far below as above: the one below.
            ("1\na\nb\nc\n5\n6\na\nb\nc\n", Some("1\na\nB\nc\n5\n6\na\nb\nc\n")),
            ("a\nb\nc\n4\n5\n6\na\nb\nc\n", Some("a\nb\nc\n4\n5\n6\na\nB\nc\n")),
            ("a\nb\n", None),
            ("", None),
        ] {
            assert_eq!(run(text, change).as_deref(), want, "{text:?}");
        }
    }

    #[test]
    fn ends_of_the_file_are_kept_to() {
        let first = "@@ -1,2 +1,3 @@\n+x\n a\n b\n";
        assert_eq!(run("a\nb\n", first).unwrap(), "x\na\nb\n");
        assert_eq!(run("0\na\nb\n", first), None);
        let last = "@@ -2,2 +2,3 @@\n a\n b\n+x\n";
        assert_eq!(run("0\n0\na\nb\n", last).unwrap(), "0\n0\na\nb\nx\n");
        assert_eq!(run("0\na\nb\n1\n", last), None);
        assert_eq!(run("", "@@ -0,0 +1 @@\n+x\n").unwrap(), "x\n");
        assert_eq!(run("y\n", "@@ -0,0 +1 @@\n+x\n"), None);
        let open = "@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n";
        assert_eq!(run("a", open).unwrap(), "a\nb\n");
        assert_eq!(run("a\n", open), None);
    }

    #[test]
    fn what_a_hunk_made_is_no_context_of_the_next() {
        let twice = "@@ -2,2 +2,3 @@\n a\n+x\n b\n@@ -7,2 +8,3 @@\n a\n+x\n b\n";
        assert_eq!(
            run("0\na\nb\n0\n0\n0\na\nb\n", twice).unwrap(),
            "0\na\nx\nb\n0\n0\n0\na\nx\nb\n"
        );
    }
}
