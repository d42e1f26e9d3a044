//! Binary patches: what one side becomes and back again, deflated and in base 85.

use flate2::{Compress, Compression, FlushCompress, Status};

use crate::error::{Error, Result};
use crate::mail::diff::delta;

/// The digits of base 85, as RFC 1924 has them.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes that one line holds.
const LINE: usize = 52;

/// Appends the binary patch from `old` to `new`, with its way back.
///
/// # Errors
/// When zlib fails, which only lack of memory can make it do.
pub fn write(out: &mut Vec<u8>, old: &[u8], new: &[u8]) -> Result<()> {
    out.extend_from_slice(b"GIT binary patch\n");
    one_way(out, old, new)?;
    one_way(out, new, old)
}

/// The whole new content or the delta to it, whichever is shorter deflated.
fn one_way(out: &mut Vec<u8>, from: &[u8], to: &[u8]) -> Result<()> {
    let whole = deflate(to)?;
    let delta = match delta::create(from, to, whole.len()) {
        Some(delta) => Some((delta.len(), deflate(&delta)?)),
        None => None,
    };
    let (what, size, deflated) = match delta {
        Some((size, delta)) if delta.len() < whole.len() => ("delta", size, delta),
        _ => ("literal", to.len(), whole),
    };
    out.extend_from_slice(format!("{what} {size}\n").as_bytes());
    for line in deflated.chunks(LINE) {
        out.push(length_letter(line.len()));
        base85(out, line);
        out.push(b'\n');
    }
    out.push(b'\n');
    Ok(())
}

/// As git does it: zlib at its fastest, all input first, then the end.
fn deflate(bytes: &[u8]) -> Result<Vec<u8>> {
    let failed = || Error::host("cannot deflate a binary file for its patch");
    let mut zlib = Compress::new(Compression::fast(), true);
    let mut out = Vec::with_capacity(bytes.len() / 2 + 64);
    let mut rest = bytes;
    let mut flush = FlushCompress::None;
    loop {
        let before = zlib.total_in();
        out.reserve(rest.len() / 2 + 4096);
        let status = zlib.compress_vec(rest, &mut out, flush).map_err(|_| failed())?;
        let taken = usize::try_from(zlib.total_in() - before).map_err(|_| failed())?;
        rest = rest.get(taken..).unwrap_or_default();
        if status == Status::StreamEnd {
            return Ok(out);
        }
        if rest.is_empty() {
            flush = FlushCompress::Finish;
        }
    }
}

/// `A` to `Z` for 1 to 26, `a` to `z` for 27 to 52.
fn length_letter(length: usize) -> u8 {
    let n = u8::try_from(length).unwrap_or(0);
    if n <= 26 { b'A' + n.saturating_sub(1) } else { b'a' + (n - 27) }
}

fn base85(out: &mut Vec<u8>, bytes: &[u8]) {
    for four in bytes.chunks(4) {
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(four) {
            *to = *from;
        }
        let mut n = u32::from_be_bytes(word);
        let mut digits = [0; 5];
        for d in digits.iter_mut().rev() {
            *d = DIGITS.get((n % 85) as usize).copied().unwrap_or(b'0');
            n /= 85;
        }
        out.extend_from_slice(&digits);
    }
}
