//! File names in patch headers: C quotes undone, the first component stripped.

/// A name at the beginning of `text`, quoted or up to `end`; and what follows.
pub fn name(text: &[u8], ends: impl Fn(u8) -> bool) -> Option<(Vec<u8>, &[u8])> {
    match text.strip_prefix(b"\"") {
        Some(quoted) => unquote(quoted),
        None => {
            let end = text.iter().position(|&c| ends(c)).unwrap_or(text.len());
            let (name, rest) = text.split_at(end);
            (!name.is_empty()).then(|| (name.to_vec(), rest))
        }
    }
}

/// What stands before the closing quote, and what follows it.
fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let (&c, after) = rest.split_first()?;
        rest = after;
        match c {
            b'"' => return Some((out, rest)),
            b'\\' => {
                let (&c, after) = rest.split_first()?;
                rest = after;
                out.push(match c {
                    b'a' => 0x07,
                    b'b' => 0x08,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 0x0b,
                    b'f' => 0x0c,
                    b'r' => b'\r',
                    b'"' | b'\\' => c,
                    b'0'..=b'3' => {
                        let (digits, after) = rest.split_at_checked(2)?;
                        rest = after;
                        let mut n = c - b'0';
                        for d in digits {
                            n = n << 3 | d.checked_sub(b'0').filter(|&d| d < 8)?;
                        }
                        n
                    }
                    _ => return None,
                });
            }
            c => out.push(c),
        }
    }
}

/// Without the first component (`a/`, `b/`).
pub fn strip(name: &[u8]) -> Option<Vec<u8>> {
    let at = memchr::memchr(b'/', name)?;
    let rest = name.get(at + 1..)?;
    (!rest.is_empty()).then(|| rest.to_vec())
}

/// The name that both sides of a `diff --git` line share, if they do.
pub fn of_git_line(rest: &[u8]) -> Option<Vec<u8>> {
    if rest.starts_with(b"\"") {
        let (old, rest) = name(rest, |_| false)?;
        let (new, rest) = name(rest.strip_prefix(b" ")?, |_| false)?;
        let (old, new) = (strip(&old)?, strip(&new)?);
        return (rest.is_empty() && old == new).then_some(old);
    }
    if rest.ends_with(b"\"") {
        let at = memchr::memmem::find(rest, b" \"")?;
        let (old, new) = rest.split_at(at);
        let (new, rest) = name(new.get(1..)?, |_| false)?;
        let (old, new) = (strip(old)?, strip(&new)?);
        return (rest.is_empty() && old == new).then_some(old);
    }
    // Names with blanks: the line's halves are equal behind their prefixes.
    memchr::memchr_iter(b' ', rest).find_map(|at| {
        let (old, new) = rest.split_at(at);
        let (old, new) = (strip(old)?, strip(new.get(1..)?)?);
        (old == new).then_some(old)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_lines() {
        for (line, want) in [
            ("a/x b/x", Some("x")),
            ("a/x y b/x y", Some("x y")),
            ("a/x b/x b/x b/x", Some("x b/x")),
            ("\"a/\\303\\266\" \"b/\\303\\266\"", Some("ö")),
            ("a/x b/y", None),
            ("a/ b/", None),
            ("\"a/x", None),
            ("\"a/\\9\" \"b/\\9\"", None),
        ] {
            assert_eq!(of_git_line(line.as_bytes()).as_deref(), want.map(str::as_bytes), "{line}");
        }
    }
}
