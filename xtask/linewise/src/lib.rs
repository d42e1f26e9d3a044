//! Texts as lines of bytes: where a line begins, and two texts made short before
//! they are compared.
//!
//! This is a crate of its own so that it is optimised even where the rest is built
//! for quick compiling.

mod scan;
mod short;

pub use short::{Short, shorten};

use memchr::{memchr, memchr_iter};

/// The byte behind `lines` lines of `text`, or its end where it has fewer.
#[must_use]
pub fn behind(text: &[u8], lines: usize) -> usize {
    let (mut at, mut left) = (0, lines);
    // Ends are counted many at once, and told one by one only in the last block.
    for block in text.chunks(BLOCK) {
        let ends = memchr_iter(b'\n', block).count();
        if ends < left {
            left -= ends;
            at += block.len();
            continue;
        }
        return match left.checked_sub(1) {
            None => at,
            Some(nth) => memchr_iter(b'\n', block).nth(nth).map_or(text.len(), |end| at + end + 1),
        };
    }
    text.len()
}

/// Bytes that are counted at once.
const BLOCK: usize = 2048;

/// Line ends in `text`.
#[must_use]
pub fn count_ends(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count()
}

/// The first line of `text`, with its end.
#[must_use]
pub fn first(text: &[u8]) -> &[u8] {
    let end = memchr(b'\n', text).map_or(text.len(), |at| at + 1);
    text.get(..end).unwrap_or(text)
}

/// Bytes of two texts that are the same at their begin.
#[must_use]
pub fn same_begin(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    for step in STEPS {
        while let (Some(x), Some(y)) = (a.get(same..same + step), b.get(same..same + step))
            && x == y
        {
            same += step;
        }
    }
    same
}

/// Bytes of two texts that are the same at their end.
#[must_use]
pub fn same_end(a: &[u8], b: &[u8]) -> usize {
    let (mut x, mut y) = (a, b);
    for step in STEPS {
        while let (Some((above, p)), Some((above_too, q))) = (
            x.len().checked_sub(step).map(|at| x.split_at(at)),
            y.len().checked_sub(step).map(|at| y.split_at(at)),
        ) && p == q
        {
            (x, y) = (above, above_too);
        }
    }
    a.len() - x.len()
}

/// Compared in steps: a byte at a time would cost as much as what is saved.
const STEPS: [usize; 3] = [1024, 32, 1];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn where_lines_of_a_long_text_begin() {
        let text: Vec<u8> = (0..5000).flat_map(|n| vec![b'x'; n % 7]).collect();
        let text: Vec<u8> = text.chunks(3).flat_map(|c| [c, b"\n"].concat()).collect();
        let mut at = 0;
        for lines in 0..6000 {
            assert_eq!(behind(&text, lines), at, "{lines}");
            at += first(&text[at..]).len();
        }
    }

    #[test]
    fn where_lines_begin() {
        let text = b"a\nbc\n\nd";
        for (lines, at) in [(0, 0), (1, 2), (2, 5), (3, 6), (4, 7), (9, 7)] {
            assert_eq!(behind(text, lines), at);
        }
        assert_eq!((first(text), first(b"d"), first(b"")), (&b"a\n"[..], &b"d"[..], &b""[..]));
    }

    proptest! {
        #[test]
        fn same_ends(a in "[ab]{0,80}", b in "[ab]{0,80}", c in "[ab]{0,2000}") {
            let begin = [format!("{c}{a}"), format!("{c}{b}")];
            let same = same_begin(begin[0].as_bytes(), begin[1].as_bytes());
            prop_assert!(same >= c.len() && begin[0][..same] == begin[1][..same]);
            prop_assert!(begin[0].get(same..=same) != begin[1].get(same..=same) || begin[0].len() == same);
            let end = [format!("{a}{c}"), format!("{b}{c}")];
            let same = same_end(end[0].as_bytes(), end[1].as_bytes());
            prop_assert!(same >= c.len() && end[0].ends_with(&end[1][end[1].len() - same..]));
        }
    }
}
