//! Two texts made short before they are compared.
//!
//! A patch changes a few lines of a file of 12,000. A line diff hashes each byte of
//! both sides, and keeps a record of each line, before it sees that nearly all of
//! them agree.

use std::collections::HashMap;

use memchr::{memchr, memchr_iter, memrchr};

use crate::scan::{BuildHashed, Line, lines};
use crate::{same_begin, same_end};

/// Two texts that have the line diff of two longer ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// In place of the old text.
    pub old: Vec<u8>,
    /// In place of the new text.
    pub new: Vec<u8>,
    /// How many lines less both have above the first that differs.
    pub above: usize,
}

/// Two texts with the line diff of `old` and `new`, apart from line numbers.
///
/// It holds for diffs as git makes them, as far as they look at lines:
///
/// - Whether two are the same, and, where a group of changed lines can slide, whether
///   one is blank and how far it is indented. So a line becomes its indentation and
///   a number.
/// - Lines that both texts begin and end with are set aside. Near the others they
///   are where a group may slide to; that ends at a line that is the same as none
///   of the others.
/// - Of the others it is asked how often they occur in the whole of the other text: not
///   at all, or less or more often than about the root of its number of lines, which
///   is the same for all numbers between two powers of four. So of the lines far
///   away some stay that are the same as one of the others, and as many more as make
///   that number.
#[must_use]
pub fn shorten(old: &[u8], new: &[u8]) -> Short {
    let begin = same_begin(old, new);
    let begin = memrchr(b'\n', old.get(..begin).unwrap_or_default()).map_or(0, |at| at + 1);
    let (head, old) = old.split_at(begin);
    let new = new.get(begin..).unwrap_or_default();
    let tail = tail(old, new);
    let old = old.get(..old.len() - tail.len()).unwrap_or_default();
    let new = new.get(..new.len() - tail.len()).unwrap_or_default();

    let mut between = Between::default();
    let (old, old_lines) = between.numbered(old);
    let (new, new_lines) = between.numbered(new);
    let mut far = Far::default();
    let (_, near_head) = head.split_at(between.far_above(head, &mut far));
    let above = far.lines;
    let (near_tail, _) = tail.split_at(between.far_below(tail, &mut far));
    let (near_head, near_tail) = (between.known(near_head), between.known(near_tail));

    let near = count(&near_head) + count(&near_tail);
    let filling = far.filling([old_lines + near, new_lines + near], &between);
    // In the place of lines that are left out, so not at an end that is near.
    let (fill_head, fill_tail, above) = if far.lines > above {
        (&[][..], &filling[..], above)
    } else {
        (&filling[..], &[][..], above - count(&filling))
    };
    let text = |middle: &[u8]| [fill_head, &near_head, middle, &near_tail, fill_tail].concat();
    Short { old: text(&old), new: text(&new), above }
}

/// The whole lines that both texts end with.
fn tail<'t>(old: &'t [u8], new: &[u8]) -> &'t [u8] {
    let same = same_end(old, new);
    let tail = old.get(old.len() - same..).unwrap_or_default();
    let begins_line = |text: &[u8]| {
        let before = text.get(..text.len() - same).and_then(<[u8]>::last);
        before.is_none_or(|&c| c == b'\n')
    };
    if begins_line(old) && begins_line(new) {
        return tail;
    }
    memchr(b'\n', tail).and_then(|at| tail.get(at + 1..)).unwrap_or_default()
}

fn count(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count() + usize::from(text.last().is_some_and(|&c| c != b'\n'))
}

/// Lines that stay beyond the one at which every slide ends: git looks over up to 20
/// blank ones, and shows three.
const MARGIN: usize = 24;

/// The lines between the ends that both texts share.
struct Between<'t> {
    numbers: HashMap<Line<'t>, u32, BuildHashed>,
    /// A bit of each hash, since most lines at the ends are none of these.
    bits: [u64; 128],
}

impl Default for Between<'_> {
    fn default() -> Self {
        Between { numbers: HashMap::default(), bits: [0; 128] }
    }
}

fn bit(hash: u64) -> (usize, u64) {
    ((hash >> 57) as usize, 1 << (hash >> 51 & 63))
}

impl<'t> Between<'t> {
    /// The lines of `text`, each of which gets a number, and how many they are.
    fn numbered(&mut self, text: &'t [u8]) -> (Vec<u8>, usize) {
        let mut out = Vec::with_capacity(text.len() / 4 + 64);
        let mut count = 0;
        lines(text, |line| {
            let next = self.numbers.len() as u32 + 1;
            let number = *self.numbers.entry(line).or_insert_with(|| {
                let (word, bit) = bit(line.hash);
                if let Some(bits) = self.bits.get_mut(word) {
                    *bits |= bit;
                }
                next
            });
            write(&mut out, line.text, number);
            count += 1;
        });
        (out, count)
    }

    fn number(&self, line: &Line<'_>) -> Option<u32> {
        let (word, bit) = bit(line.hash);
        let bits = self.bits.get(word).copied().unwrap_or_default();
        if bits & bit == 0 { None } else { self.numbers.get(line).copied() }
    }

    /// The lines of `text`, with numbers where they have one.
    fn known(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() / 4 + 64);
        lines(text, |line| write(&mut out, line.text, self.number(&line).unwrap_or(0)));
        out
    }

    /// Where what is near begins in the text above.
    fn far_above(&self, text: &[u8], far: &mut Far) -> usize {
        let (mut at, mut last, mut count, mut above_last) = (0, 0, 0_usize, 0_usize);
        let mut known = Vec::new();
        lines(text, |line| {
            match self.number(&line) {
                Some(number) => known.push((at, number)),
                None => (last, above_last) = (at, count),
            }
            at += line.text.len();
            count += 1;
        });
        for _ in 0..MARGIN {
            let above = text.get(..last.saturating_sub(1)).unwrap_or_default();
            last = memrchr(b'\n', above).map_or(0, |end| end + 1);
        }
        far.lines += above_last.saturating_sub(MARGIN);
        for (_, number) in known.into_iter().take_while(|(at, _)| *at < last) {
            *far.known.entry(number).or_default() += 1;
        }
        last
    }

    /// Where what is near ends in the text below.
    fn far_below(&self, text: &[u8], far: &mut Far) -> usize {
        let (mut near, mut ended) = (0, 0);
        let mut at = 0;
        while ended <= MARGIN {
            let rest = text.get(at..).unwrap_or_default();
            let line = crate::first(rest);
            if line.is_empty() {
                return text.len();
            }
            // The first that has no number, and the margin behind it.
            lines(line, |line| {
                if ended > 0 || self.number(&line).is_none() {
                    ended += 1;
                }
            });
            at += line.len();
            near = at;
        }
        self.add(text.get(near..).unwrap_or_default(), far);
        near
    }

    fn add(&self, text: &[u8], far: &mut Far) {
        lines(text, |line| {
            far.lines += 1;
            if let Some(number) = self.number(&line) {
                *far.known.entry(number).or_default() += 1;
            }
        });
    }
}

/// What is far from the lines between.
#[derive(Default)]
struct Far {
    lines: usize,
    /// How often it has a line that has a number.
    known: HashMap<u32, usize>,
}

impl Far {
    /// Lines in the place of these, where the rest of both texts has `short` lines.
    fn filling(&self, short: [usize; 2], between: &Between<'_>) -> Vec<u8> {
        let limit = short.map(|lines| root(lines + self.lines)).into_iter().max().unwrap_or(0);
        let mut out = Vec::new();
        let mut filled = 0;
        if !self.known.is_empty() {
            let mut numbers: Vec<_> = between.numbers.iter().map(|(l, n)| (*n, l)).collect();
            numbers.sort_unstable_by_key(|(number, _)| *number);
            for (number, line) in numbers {
                let often = self.known.get(&number).copied().unwrap_or(0).min(limit);
                filled += often;
                (0..often).for_each(|_| write(&mut out, line.text, number));
            }
        }
        let missing = short.map(|lines| {
            let wanted = root_of_four(lines + self.lines);
            wanted.saturating_sub(lines + filled)
        });
        for _ in 0..missing.into_iter().max().unwrap_or(0) {
            write(&mut out, b"x\n", 0);
        }
        out
    }
}

/// About the root of a number, as git's diff takes it.
fn root(n: usize) -> usize {
    1 << (usize::BITS - n.leading_zeros()).div_ceil(2)
}

/// The least number that has that root.
fn root_of_four(n: usize) -> usize {
    let twos = (usize::BITS - n.leading_zeros()).div_ceil(2);
    if n == 0 { 0 } else { 1 << (2 * (twos - 1)) }
}

/// Appends what stands for a line. One that is blank, or has an odd blank before its
/// text, stands for itself: no number begins with a blank.
fn write(out: &mut Vec<u8>, line: &[u8], number: u32) {
    let blanks = line.iter().take_while(|&&c| c == b' ' || c == b'\t').count();
    let (indent, rest) = line.split_at(blanks);
    if rest.first().is_none_or(|&c| c.is_ascii_whitespace() || c == b'\x0b') {
        out.extend_from_slice(line);
        return;
    }
    out.extend_from_slice(indent);
    let mut left = number;
    loop {
        out.push(0x80 | (left & 0x7f) as u8);
        left >>= 7;
        if left == 0 {
            break;
        }
    }
    if rest.last() == Some(&b'\n') {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_their_indentation_and_a_number() {
        let old = "int first;\n\n\tint second;\nold\n\tx\nold\n\r\nlast";
        let new = "int first;\n\n\tint second;\nnew\n\tx\nold\n\r\nlast";
        let short = shorten(old.as_bytes(), new.as_bytes());
        assert_eq!(short.old, b"\x80\n\n\t\x80\n\x81\n\t\x80\n\x81\n\r\n\x80");
        assert_eq!(short.new, b"\x80\n\n\t\x80\n\x82\n\t\x80\n\x81\n\r\n\x80");
        assert_eq!(short.above, 0);
    }

    #[test]
    fn a_line_without_its_end_is_another_one() {
        let short = shorten(b"a\nb", b"a\nb\n");
        assert_eq!((&short.old[..], &short.new[..]), (&b"\x80\n\x81"[..], &b"\x80\n\x82\n"[..]));
        let many: Vec<u8> = (0..300).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let short = shorten(&many, b"");
        assert!(short.old.ends_with(b"\xac\x82\n") && short.new.is_empty());
    }

    #[test]
    fn far_lines_count_but_are_left_out() {
        let far = "far away\n".repeat(500) + &"old\n".repeat(70);
        let old = format!("{far}{}old\n{far}", "near\n".repeat(60));
        let new = old.replacen("near\nold\n", "near\nnew\n", 1);
        let short = shorten(old.as_bytes(), new.as_bytes());
        // 1,201 lines: the root is 64, and 1,024 have the same.
        assert_eq!(count(&short.old), 1024);
        assert_eq!(memchr::memmem::find_iter(&short.old, b"\x81\n").count(), 64 + 1);
        assert_eq!(short.above, 500 + 70 + 60 - 25);
    }

    #[test]
    fn roots() {
        for (n, is) in [(0, 1), (1, 2), (3, 2), (4, 4), (15, 4), (16, 8), (4095, 64), (4096, 128)] {
            assert_eq!(root(n), is, "{n}");
            assert_eq!(root(root_of_four(n)), is, "{n}");
            assert!(root_of_four(n) <= n);
        }
    }
}
