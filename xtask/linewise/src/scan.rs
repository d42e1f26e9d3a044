//! The lines of a text with a hash each, found in words of eight bytes.

use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A line with its end.
#[derive(Clone, Copy, Debug)]
pub struct Line<'t> {
    /// Its bytes.
    pub text: &'t [u8],
    /// The same for lines that are the same.
    pub hash: u64,
}

impl PartialEq for Line<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Line<'_> {}

impl Hash for Line<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Takes the hash that a line has.
#[derive(Default)]
pub struct Hashed(u64);

/// Makes them.
pub type BuildHashed = BuildHasherDefault<Hashed>;

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mixed(self.0, u64::from(byte));
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        // Tables take their places from the low bits too; what differs is in the high
        // ones after a multiplication.
        self.0.rotate_left(26)
    }
}

fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Line ends in each byte.
const ENDS: u64 = 0x0a0a_0a0a_0a0a_0a0a;
const ONES: u64 = 0x0101_0101_0101_0101;

/// Shows each line of `text` to `take`, in order.
pub fn lines<'t>(text: &'t [u8], mut take: impl FnMut(Line<'t>)) {
    let (mut begin, mut at, mut hash) = (0, 0, 0);
    while let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*word);
        // The lowest bit that is set is in the first byte that is a line end.
        let differs = word ^ ENDS;
        let found = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if found == 0 {
            hash = mixed(hash, word);
            at += 8;
            continue;
        }
        let bytes = found.trailing_zeros() / 8 + 1;
        hash = mixed(hash, word << (64 - 8 * bytes));
        at += bytes as usize;
        take(Line { text: text.get(begin..at).unwrap_or_default(), hash });
        (begin, hash) = (at, 0);
    }
    // Fewer than eight bytes are left.
    let mut rest = 0;
    while let Some(&byte) = text.get(at) {
        // As in a word: the last byte of a line is the highest.
        rest = rest >> 8 | u64::from(byte) << 56;
        at += 1;
        if byte == b'\n' {
            take(Line { text: text.get(begin..at).unwrap_or_default(), hash: mixed(hash, rest) });
            (begin, hash, rest) = (at, 0, 0);
        }
    }
    if begin < text.len() {
        take(Line { text: text.get(begin..).unwrap_or_default(), hash: mixed(hash, rest) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_with_one_hash_each(text in "([a-b\n]{0,3}|[ -~]{0,20}\n){0,30}", before in "[a-b]{0,9}") {
            let mut found = Vec::new();
            lines(text.as_bytes(), |line| found.push(line));
            let expected: Vec<&[u8]> = text.as_bytes().split_inclusive(|&c| c == b'\n').collect();
            prop_assert_eq!(found.iter().map(|l| l.text).collect::<Vec<_>>(), expected);
            // Wherever it stands.
            let other = format!("{before}\n{text}");
            let mut again = Vec::new();
            lines(other.as_bytes(), |line| again.push(line));
            for (one, other) in found.iter().zip(&again[1..]) {
                prop_assert_eq!(one.hash, other.hash);
            }
        }
    }
}
