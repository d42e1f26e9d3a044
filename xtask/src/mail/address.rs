//! The author in a From line, as git reads it.

use crate::mail::person::Person;

/// Name and address of a From header's value, already decoded; `None` when
/// there is no address in it.
///
/// git's rules, not RFC 5322's: comments stay in the name, and no name, one of
/// more than 60 bytes, or one with an `@` or bracket in it gives way to the
/// address.
#[must_use]
pub fn from_header(value: &str) -> Option<Person> {
    let text = unquoted(value);
    let Some(at) = text.find('@') else { return bogus(value) };
    let begin =
        text.get(..at)?.rfind(|c: char| c == '<' || c.is_ascii_whitespace()).map_or(0, |b| b + 1);
    let rest = text.get(begin..)?;
    let end = rest.find([' ', '\n', '\t', '\r', '\x0b', '\x0c', '>']).unwrap_or(rest.len());
    let email = rest.get(..end)?;
    let before = text.get(..begin)?;
    let before = before.strip_suffix('<').unwrap_or(before);
    let after = rest.get(end..)?;
    let after = after.get(1..).unwrap_or_default();
    let name = format!("{before} {after}");
    let name = name.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let inner = name.strip_prefix('(').and_then(|n| n.strip_suffix(')'));
    Some(sane(inner.unwrap_or(&name), email))
}

/// An address without `@`.
fn bogus(value: &str) -> Option<Person> {
    let (name, rest) = value.split_once('<')?;
    let (email, _) = rest.split_once('>')?;
    Some(sane(name.trim(), email))
}

fn sane(name: &str, email: &str) -> Person {
    let odd = !(1..=60).contains(&name.len()) || name.contains(['@', '<', '>']);
    Person::new(if odd { email } else { name }, email)
}

/// The text with its quoted strings taken out of their quotes; a comment keeps
/// its parentheses.
fn unquoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    let mut quoted = false;
    let mut depth = 0u32;
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted || depth > 0 => out.extend(chars.next()),
            '"' if depth == 0 => quoted = !quoted,
            '(' if !quoted => {
                depth += 1;
                out.push(c);
            }
            ')' if depth > 0 && !quoted => {
                depth -= 1;
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors() {
        for (value, name, email) in [
            ("Joe Doe <joe@x>", "Joe Doe", "joe@x"),
            ("\"Last, First\" <a@b>", "Last, First", "a@b"),
            ("\"Joe (ARM)\" <a@b>", "Joe (ARM)", "a@b"),
            ("joe@x (Joe Doe)", "Joe Doe", "joe@x"),
            ("John (zzz) Doe <john@x> (Comment)", "John (zzz) Doe (Comment)", "john@x"),
            ("<a@b>", "a@b", "a@b"),
            ("Al <a@b>", "Al", "a@b"),
            ("Joe Doe <joe>", "Joe Doe", "joe"),
            ("\"a \\\" b\" <a@b>", "a \" b", "a@b"),
        ] {
            assert_eq!(from_header(value), Some(Person::new(name, email)), "{value}");
        }
        assert_eq!(from_header("nobody"), None);
    }
}
