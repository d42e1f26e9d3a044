//! How a body travels: as it is, declared as 8bit, or quoted-printable; and the
//! way back, with base64 too, which others' mails use.

/// A line of more bytes than this cannot be sent (RFC 5322, section 2.1.1).
const LONGEST: usize = 998;
/// The longest line of a quoted-printable body (RFC 2045, section 6.7).
const ENCODED: usize = 76;

/// The headers that declare a body of UTF-8.
#[must_use]
pub fn declaration(encoding: &str) -> String {
    format!(
        "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n\
         Content-Transfer-Encoding: {encoding}\n"
    )
}

/// Whether the body would be changed or refused on its way: it has a carriage
/// return (`git am` and mail servers drop those at line ends) or a line that is
/// too long.
#[must_use]
pub fn needs_encoding(body: &[u8]) -> bool {
    memchr::memchr(b'\r', body).is_some()
        || body.split(|&c| c == b'\n').any(|line| line.len() > LONGEST)
}

/// The body in quoted-printable.
///
/// Own code: the crates for it read a carriage return before a line end as part
/// of the line end, and just that one must survive.
#[must_use]
pub fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + body.len() / 16);
    for line in body.split_inclusive(|&c| c == b'\n') {
        let (text, end) = match line.strip_suffix(b"\n") {
            Some(text) => (text, &b"\n"[..]),
            None => (line, &b""[..]),
        };
        // What programs on the way would take for something of theirs.
        let first = text.starts_with(b"From ") || text.starts_with(b".");
        let mut column = 0;
        for (i, &c) in text.iter().enumerate() {
            let last = i + 1 == text.len();
            let plain = match c {
                b'=' => false,
                b' ' | b'\t' => !last,
                _ => c.is_ascii_graphic() && !(i == 0 && first),
            };
            let width = if plain { 1 } else { 3 };
            if column + width > ENCODED - usize::from(!last) {
                out.extend_from_slice(b"=\n");
                column = 0;
            }
            column += width;
            if plain {
                out.push(c);
            } else {
                out.extend_from_slice(format!("={c:02X}").as_bytes());
            }
        }
        out.extend_from_slice(end);
    }
    out
}

/// A quoted-printable text decoded; what is not well-formed stays as it is.
/// `word`: as in a header, where `_` is a blank.
#[must_use]
pub fn from_quoted_printable(text: &[u8], word: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        if c != b'=' {
            out.push(if word && c == b'_' { b' ' } else { c });
            continue;
        }
        match after {
            [b'\n', tail @ ..] => rest = tail,
            [] => {}
            [a, b, tail @ ..] if hex(*a).is_some() && hex(*b).is_some() => {
                out.push(hex(*a).unwrap_or(0) << 4 | hex(*b).unwrap_or(0));
                rest = tail;
            }
            _ => out.push(c),
        }
    }
    out
}

fn hex(c: u8) -> Option<u8> {
    char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

/// A base64 text decoded; bytes outside the alphabet are passed over.
#[must_use]
pub fn from_base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut have) = (0u32, 0);
    for &c in text {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            // Padding ends a quantum; texts may have been joined behind it.
            b'=' => {
                (bits, have) = (0, 0);
                continue;
            }
            _ => continue,
        };
        bits = bits << 6 | u32::from(digit);
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have & 0xff) as u8);
            bits &= (1 << have) - 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_has_to_be_encoded() {
        assert!(!needs_encoding(b"a\nb\n"));
        assert!(needs_encoding(b"a\r\n"));
        assert!(!needs_encoding(&[b'a'; 998]));
        assert!(needs_encoding(&[b'a'; 999]));
    }

    #[test]
    fn quoted_printable_lines() {
        for (text, want) in [
            ("a=b\r\n", "a=3Db=0D\n"),
            ("a \n\t\nb", "a=20\n=09\nb"),
            ("From x\n.\n", "=46rom x\n=2E\n"),
            ("ö", "=C3=B6"),
        ] {
            assert_eq!(quoted_printable(text.as_bytes()), want.as_bytes(), "{text:?}");
        }
        let long = quoted_printable(&[b'x'; 200]);
        assert!(long.split(|&c| c == b'\n').all(|l| l.len() <= 76));
    }

    #[test]
    fn base64() {
        for (text, want) in [("YQ==", "a"), ("YWI=", "ab"), ("YW\nJj", "abc"), ("YQ==YQ==", "aa")] {
            assert_eq!(from_base64(text.as_bytes()), want.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn quoted_printable_goes_round(body: Vec<u8>) {
            let there = quoted_printable(&body);
            prop_assert!(there.split(|&c| c == b'\n').all(|l| l.len() <= 76));
            prop_assert!(there.is_ascii());
            prop_assert_eq!(from_quoted_printable(&there, false), body);
        }
    }
}
