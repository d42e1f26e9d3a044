//! File names as git writes them in diffs: as they are, or in C quotes when
//! they have a control character, a quote, a backslash or a byte above ASCII
//! (`core.quotePath` as it is by default).

/// Whether a name has to be quoted.
#[must_use]
pub fn needs_quotes(name: &[u8]) -> bool {
    name.iter().any(|&c| !(0x20..0x7f).contains(&c) || matches!(c, b'"' | b'\\'))
}

/// Appends prefix and name, quoted as one where the name needs it.
pub fn push(out: &mut Vec<u8>, prefix: &str, name: &[u8]) {
    if !needs_quotes(name) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(name);
        return;
    }
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    for &c in name {
        let letter = match c {
            0x07 => b'a',
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0b => b'v',
            0x0c => b'f',
            b'\r' => b'r',
            b'"' | b'\\' => c,
            0x20..0x7f => {
                out.push(c);
                continue;
            }
            _ => {
                out.extend_from_slice(format!("\\{c:03o}").as_bytes());
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
    out.push(b'"');
}

/// The name, quoted where it needs it.
#[must_use]
pub fn quoted(prefix: &str, name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(prefix.len() + name.len() + 2);
    push(&mut out, prefix, name);
    out
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names() {
        for (name, want) in [
            (&b"a b"[..], "a/a b"),
            (b"-x", "a/-x"),
            (b"a\"b\\c", "\"a/a\\\"b\\\\c\""),
            ("ö".as_bytes(), "\"a/\\303\\266\""),
            (b"\x01\x07\x08\t\n\x0b\x0c\r\x7f", "\"a/\\001\\a\\b\\t\\n\\v\\f\\r\\177\""),
        ] {
            assert_eq!(quoted("a/", name), want.as_bytes());
        }
    }
}
