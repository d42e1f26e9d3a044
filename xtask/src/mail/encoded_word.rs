//! Decodes the encoded words of headers (RFC 2047).

use crate::mail::mime::{guessed, to_utf8};
use crate::mail::transfer::{from_base64, from_quoted_printable};
use crate::mail::wrap::is_space;

/// The header's text: encoded words decoded, white space between two of them
/// dropped; what is not well-formed stays as it is.
#[must_use]
pub fn decode(raw: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = raw;
    let mut behind_word = false;
    while let Some(at) = memchr::memmem::find(rest, b"=?") {
        let (before, from) = rest.split_at(at);
        let Some((text, after)) = word(from) else {
            // No word after all: go on behind its two characters.
            let (plain, after) = rest.split_at((at + 2).min(rest.len()));
            out.push_str(&guessed(plain));
            rest = after;
            behind_word = false;
            continue;
        };
        if !(behind_word && before.iter().all(|&c| is_space(c))) {
            out.push_str(&guessed(before));
        }
        out.push_str(&text);
        rest = after;
        behind_word = true;
    }
    out.push_str(&guessed(rest));
    out
}

/// One word `=?charset?encoding?text?=` and what comes after it.
fn word(from: &[u8]) -> Option<(String, &[u8])> {
    let rest = from.strip_prefix(b"=?")?;
    let (charset, rest) = rest.split_at(memchr::memchr(b'?', rest)?);
    let [b'?', encoding, b'?', rest @ ..] = rest else { return None };
    let (text, after) = rest.split_at(memchr::memmem::find(rest, b"?=")?);
    let bytes = match encoding {
        b'q' | b'Q' => from_quoted_printable(text, true),
        b'b' | b'B' => from_base64(text),
        _ => return None,
    };
    // A language may follow the charset (RFC 2231, section 5).
    let charset = charset.split(|&c| c == b'*').next()?;
    Some((to_utf8(&bytes, std::str::from_utf8(charset).ok()?)?, after.get(2..)?))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn words() {
        for (raw, want) in [
            ("=?UTF-8?q?Bj=C3=B6rn=20T=C3=B6pel?= <a@b>", "Björn Töpel <a@b>"),
            ("=?utf-8?B?w7Y=?= =?UTF-8?Q?=C3=B6?= x", "öö x"),
            ("a =?ISO-8859-1?Q?=F6?=", "a ö"),
            ("=?x =?UTF-8?q?a?=", "=?x a"),
            ("=?UTF-8?z?a?=", "=?UTF-8?z?a?="),
            ("a=?", "a=?"),
            ("_ =?UTF-8?q?_?=", "_  "),
        ] {
            assert_eq!(decode(raw.as_bytes()), want, "{raw}");
        }
    }
}
