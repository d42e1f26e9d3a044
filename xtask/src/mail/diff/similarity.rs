//! How similar two contents are, as git measures it for renames: what share of
//! the bigger one stands in both, counted by pieces that end at a line end or
//! after 64 bytes.

use std::collections::HashMap;

/// The score of equal contents.
pub const EQUAL: u32 = 60_000;
/// Pieces are told apart by a number below this prime.
const PRIME: u32 = 107_927;
/// The longest piece.
const PIECE: u32 = 64;

/// The pieces of a content: how many bytes fall to each number.
#[derive(Debug, Default)]
pub struct Pieces {
    bytes: HashMap<u32, u64>,
    /// Size of the content.
    pub size: u64,
}

impl Pieces {
    /// Counts the pieces of a content; in a text, a carriage return before a
    /// line end does not count.
    #[must_use]
    pub fn of(content: &[u8], text: bool) -> Pieces {
        let mut pieces = Pieces { bytes: HashMap::new(), size: content.len() as u64 };
        let (mut low, mut high, mut length) = (0u32, 0u32, 0u32);
        let mut rest = content;
        while let Some((&c, after)) = rest.split_first() {
            rest = after;
            if text && c == b'\r' && rest.first() == Some(&b'\n') {
                continue;
            }
            (low, high) =
                ((low << 7 ^ high >> 25).wrapping_add(u32::from(c)), high << 7 ^ low >> 25);
            length += 1;
            if length == PIECE || c == b'\n' {
                pieces.add(low, high, length);
                (low, high, length) = (0, 0, 0);
            }
        }
        if length > 0 {
            pieces.add(low, high, length);
        }
        pieces
    }

    fn add(&mut self, low: u32, high: u32, length: u32) {
        let number = low.wrapping_add(high.wrapping_mul(0x61)) % PRIME;
        *self.bytes.entry(number).or_default() += u64::from(length);
    }

    /// Score of this content against another, up to [`EQUAL`].
    #[must_use]
    pub fn score(&self, other: &Pieces) -> u32 {
        let most = self.size.max(other.size);
        if other.size == 0 || most == 0 {
            return 0;
        }
        let copied: u64 = self
            .bytes
            .iter()
            .map(|(number, bytes)| other.bytes.get(number).map_or(0, |o| *o.min(bytes)))
            .sum();
        u32::try_from(copied * u64::from(EQUAL) / most).unwrap_or(EQUAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores() {
        let pieces = |t: &str| Pieces::of(t.as_bytes(), true);
        assert_eq!(pieces("a\nb\nc\nd\n").score(&pieces("a\nb\nc\nd\n")), EQUAL);
        assert_eq!(pieces("a\nb\nc\nd\n").score(&pieces("a\nb\nc\nx\n")), EQUAL * 3 / 4);
        assert_eq!(pieces("a\r\nb\r\n").score(&pieces("a\nb\n")), EQUAL * 4 / 6);
        assert_eq!(pieces("a").score(&pieces("")), 0);
    }
}
