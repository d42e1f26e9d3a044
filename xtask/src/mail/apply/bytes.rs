//! Binary patches decoded: base 85, inflate, deltas.

use std::io::Read as _;

use flate2::read::ZlibDecoder;

const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// Appends the bytes that a line holds: a letter for their number, and five
/// digits for each four of them. `None`: not well-formed.
pub fn line(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (&letter, digits) = line.split_first()?;
    let length = match letter {
        b'A'..=b'Z' => usize::from(letter - b'A') + 1,
        b'a'..=b'z' => usize::from(letter - b'a') + 27,
        _ => return None,
    };
    if digits.len() != length.div_ceil(4) * 5 {
        return None;
    }
    let end = out.len() + length;
    for five in digits.chunks(5) {
        let mut n = 0u32;
        for d in five {
            let d = memchr::memchr(*d, DIGITS)?;
            n = n.checked_mul(85)?.checked_add(u32::try_from(d).ok()?)?;
        }
        out.extend_from_slice(&n.to_be_bytes());
    }
    out.truncate(end);
    Some(())
}

/// The inflated data, which must have just `size` bytes.
pub fn inflate(deflated: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    // One byte more than promised is enough to know that the promise is broken.
    let most = u64::try_from(size).ok()?.checked_add(1)?;
    ZlibDecoder::new(deflated).take(most).read_to_end(&mut out).ok()?;
    (out.len() == size).then_some(out)
}

/// What a delta makes of `old`. `None`: it is damaged or meant for another content.
pub fn patch_delta(old: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    if size(&mut rest)? != old.len() {
        return None;
    }
    let result = size(&mut rest)?;
    let mut out = Vec::with_capacity(result.min(old.len() + delta.len()));
    while let Some((&op, after)) = rest.split_first() {
        rest = after;
        if op & 0x80 != 0 {
            let mut field = |bits: u8| {
                let mut n = 0usize;
                for i in 0..bits.count_ones() {
                    let bit = 1u8 << (bits.trailing_zeros() + i);
                    if op & bit != 0 {
                        let (&c, after) = rest.split_first()?;
                        rest = after;
                        n |= usize::from(c) << (8 * i);
                    }
                }
                Some(n)
            };
            let at = field(0x0f)?;
            let length = match field(0x70)? {
                0 => 0x1_0000,
                n => n,
            };
            out.extend_from_slice(old.get(at..at.checked_add(length)?)?);
        } else if op > 0 {
            let (new, after) = rest.split_at_checked(usize::from(op))?;
            out.extend_from_slice(new);
            rest = after;
        } else {
            return None;
        }
        if out.len() > result {
            return None;
        }
    }
    (out.len() == result).then_some(out)
}

fn size(rest: &mut &[u8]) -> Option<usize> {
    let (mut n, mut shift) = (0usize, 0u32);
    loop {
        let (&c, after) = rest.split_first()?;
        *rest = after;
        n |= usize::from(c & 0x7f).checked_shl(shift).filter(|_| shift < 56)?;
        shift += 7;
        if c & 0x80 == 0 {
            return Some(n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas() {
        // Copy 3 from 1, insert "xy".
        let delta = [5, 5, 0x91, 1, 3, 2, b'x', b'y'];
        assert_eq!(patch_delta(b"abcde", &delta).unwrap(), b"bcdxy");
        for cut in 0..delta.len() {
            assert!(patch_delta(b"abcde", &delta[..cut]).is_none(), "{cut}");
        }
        assert!(patch_delta(b"abcd", &delta).is_none());
        assert!(patch_delta(b"abcde", &[5, 9, 0x91, 4, 9]).is_none());
    }

    #[test]
    fn base85_lines() {
        let mut out = Vec::new();
        line(b"Bcmd", &mut out).ok_or(()).unwrap_err();
        line(b"AcL}", &mut out).ok_or(()).unwrap_err();
        assert!(line(b"Z|||||", &mut Vec::new()).is_none());
    }
}
