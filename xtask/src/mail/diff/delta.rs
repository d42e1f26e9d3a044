//! Deltas between binary contents, with the very operations that git chooses.
//!
//! Own code, because a binary patch must have git's bytes: which copy is found
//! depends on how the old content is indexed (blocks of 16 bytes by their Rabin
//! fingerprint, at most 64 to a bucket) and on the order in which candidates are
//! tried. libgit2 does the same inside but hands out only its own choice between
//! delta and whole, made at another level of compression.

use std::sync::LazyLock;

/// Bytes in a fingerprint.
const WINDOW: usize = 16;
/// Candidates kept in a bucket.
const MOST: usize = 64;
/// A match of so many bytes is good enough to stop looking.
const GOOD: usize = 4096;
/// A shorter match is not worth its operation.
const LEAST: usize = 4;
/// Bytes that one copy operation can move.
const LONGEST_COPY: usize = 0x1_0000;
/// Bytes that one insert operation can hold.
const LONGEST_INSERT: usize = 0x7f;
/// The irreducible polynomial of degree 31 by which fingerprints are reduced.
const POLYNOMIAL: u32 = 0xab59_b4d1;

/// Reductions of the eight bits that a byte pushes out at the top, and of a byte
/// that leaves the window.
struct Tables {
    top: [u32; 256],
    leaving: [u32; 256],
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables { top: [0; 256], leaving: [0; 256] };
    for (n, slot) in (0u32..).zip(&mut tables.top) {
        let mut rest = u64::from(n) << 31;
        for bit in (31..39).rev() {
            if rest >> bit & 1 == 1 {
                rest ^= u64::from(POLYNOMIAL) << (bit - 31);
            }
        }
        // The bit that 32-bit arithmetic leaves standing is taken away as well.
        *slot = u32::try_from(rest).unwrap_or(0) | (n & 1) << 31;
    }
    for n in 0..=255u8 {
        let mut val = u32::from(n);
        for _ in 1..WINDOW {
            val = push(&tables.top, val, 0);
        }
        if let Some(slot) = tables.leaving.get_mut(usize::from(n)) {
            *slot = val;
        }
    }
    tables
});

fn push(top: &[u32; 256], val: u32, byte: u8) -> u32 {
    (val << 8 | u32::from(byte)) ^ top.get((val >> 23) as usize).copied().unwrap_or(0)
}

/// A block of the old content: where its last byte is, and its fingerprint.
#[derive(Clone, Copy)]
struct Block {
    at: usize,
    val: u32,
}

/// The old content's blocks by fingerprint.
struct Index {
    buckets: Vec<Vec<Block>>,
    mask: usize,
}

impl Index {
    fn new(old: &[u8]) -> Index {
        let blocks = old.len().saturating_sub(1) / WINDOW;
        let size = (blocks / 4).next_power_of_two().max(16);
        let mut index = Index { buckets: vec![Vec::new(); size], mask: size - 1 };
        let mut last: Option<(u32, usize)> = None;
        // From the end, so that each bucket's newest is the lowest.
        for block in (0..blocks).rev() {
            let begin = block * WINDOW;
            let bytes = old.get(begin + 1..=begin + WINDOW).unwrap_or_default();
            let val = bytes.iter().fold(0, |val, &c| push(&TABLES.top, val, c));
            let at = begin + WINDOW;
            let bucket = val as usize & index.mask;
            let Some(list) = index.buckets.get_mut(bucket) else { continue };
            match (last, list.last_mut()) {
                // Of equal blocks in a row the lowest is kept.
                (Some((same, _)), Some(block)) if same == val => block.at = at,
                _ => list.push(Block { at, val }),
            }
            last = Some((val, at));
        }
        for list in &mut index.buckets {
            list.reverse();
            thin(list);
        }
        index
    }

    fn candidates(&self, val: u32) -> &[Block] {
        self.buckets.get(val as usize & self.mask).map_or(&[], Vec::as_slice)
    }
}

/// Leaves [`MOST`] blocks of a list, evenly.
fn thin(list: &mut Vec<Block>) {
    if list.len() <= MOST {
        return;
    }
    let over = list.len() - MOST;
    let mut kept = Vec::with_capacity(MOST);
    let mut due = 0isize;
    let mut blocks = list.iter();
    while let Some(block) = blocks.next() {
        kept.push(*block);
        due = due.saturating_add_unsigned(over);
        while due > 0 {
            blocks.next();
            due -= MOST as isize;
        }
    }
    *list = kept;
}

/// The delta that makes `new` of `old`; `None` when either is empty or it would
/// take more than `most` bytes.
#[must_use]
pub fn create(old: &[u8], new: &[u8], most: usize) -> Option<Vec<u8>> {
    if old.is_empty() || new.is_empty() {
        return None;
    }
    let index = Index::new(old);
    let mut out = Writer { bytes: Vec::new(), pending: 0 };
    out.size(old.len());
    out.size(new.len());
    let mut at = new.len().min(WINDOW);
    for &c in new.get(..at)? {
        out.insert(c);
    }
    let mut val = fingerprint(new, at);
    // The best match so far: where in the old content, and of how many bytes.
    let (mut from, mut length) = (0usize, 0usize);
    while at < new.len() {
        if length < GOOD {
            let leaving = new.get(at.checked_sub(WINDOW)?).copied()?;
            val ^= TABLES.leaving.get(usize::from(leaving)).copied()?;
            val = push(&TABLES.top, val, new.get(at).copied()?);
            (from, length) = index.best(old, new.get(at..)?, val, (from, length));
        }
        if length < LEAST {
            out.insert(new.get(at).copied()?);
            at += 1;
            length = 0;
        } else {
            while out.pending > 0 && from > 0 && old.get(from - 1) == new.get(at - 1) {
                from -= 1;
                at -= 1;
                length += 1;
                out.take_back();
            }
            let now = length.min(LONGEST_COPY);
            out.copy(from, now);
            at += now;
            from += now;
            length -= now;
            if from > 0xffff_ffff {
                length = 0;
            }
            if length < GOOD {
                val = fingerprint(new, at);
            }
        }
        if out.bytes.len() > most {
            return None;
        }
    }
    (out.bytes.len() <= most).then_some(out.bytes)
}

/// The fingerprint of the window that ends before `end`.
fn fingerprint(text: &[u8], end: usize) -> u32 {
    let window = text.get(end.saturating_sub(WINDOW)..end).unwrap_or_default();
    window.iter().fold(0, |val, &c| push(&TABLES.top, val, c))
}

impl Index {
    /// A match for the beginning of `rest` that is longer than `best`, or `best`.
    fn best(&self, old: &[u8], rest: &[u8], val: u32, best: (usize, usize)) -> (usize, usize) {
        let mut best = best;
        for block in self.candidates(val) {
            if block.val != val {
                continue;
            }
            let there = old.get(block.at..).unwrap_or_default();
            // Later candidates have no more bytes behind them.
            if there.len().min(rest.len()) <= best.1 {
                break;
            }
            let length = there.iter().zip(rest).take_while(|(a, b)| a == b).count();
            if length > best.1 {
                best = (block.at, length);
                if length >= GOOD {
                    break;
                }
            }
        }
        best
    }
}

/// The operations, with an insert under way at their end.
struct Writer {
    bytes: Vec<u8>,
    pending: usize,
}

impl Writer {
    fn size(&mut self, mut n: usize) {
        while n >= 0x80 {
            self.bytes.push((n & 0x7f) as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
    }

    fn insert(&mut self, byte: u8) {
        if self.pending == 0 {
            self.bytes.push(0);
        }
        self.bytes.push(byte);
        self.pending += 1;
        self.count();
        if self.pending == LONGEST_INSERT {
            self.pending = 0;
        }
    }

    /// Takes the last inserted byte back, which a copy covers as well.
    fn take_back(&mut self) {
        self.bytes.pop();
        self.pending -= 1;
        if self.pending == 0 {
            self.bytes.pop();
        } else {
            self.count();
        }
    }

    /// Writes the length of the insert before its bytes.
    fn count(&mut self) {
        let place = self.bytes.len().checked_sub(self.pending + 1);
        if let Some(slot) = place.and_then(|at| self.bytes.get_mut(at)) {
            *slot = self.pending as u8;
        }
    }

    fn copy(&mut self, from: usize, length: usize) {
        self.pending = 0;
        let op = self.bytes.len();
        self.bytes.push(0x80);
        let fields = (0..4).map(|i| from >> (8 * i)).chain((0..2).map(|i| length >> (8 * i)));
        let mut mark = 0x80;
        for (bit, field) in fields.enumerate() {
            let byte = (field & 0xff) as u8;
            if byte != 0 {
                self.bytes.push(byte);
                mark |= 1 << bit;
            }
        }
        if let Some(slot) = self.bytes.get_mut(op) {
            *slot = mark;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_forgets_what_left_its_window() {
        let text: Vec<u8> = (0..100u32).map(|i| (i * i % 251) as u8).collect();
        let mut val = fingerprint(&text, WINDOW);
        for at in WINDOW..text.len() {
            val ^= TABLES.leaving[usize::from(text[at - WINDOW])];
            val = push(&TABLES.top, val, text[at]);
            assert_eq!(val, fingerprint(&text, at + 1));
        }
    }

    #[test]
    fn lists_are_thinned_evenly() {
        let mut list: Vec<Block> = (0..640).map(|at| Block { at, val: 0 }).collect();
        thin(&mut list);
        assert_eq!(list.len(), MOST);
        assert!(list.windows(2).all(|w| w[1].at - w[0].at == 10));
    }
}
