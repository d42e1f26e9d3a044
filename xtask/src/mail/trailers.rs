//! The trailers of a commit message: who they name, and whether `Fixes:` lines
//! have the form that the kernel's documents ask for.

use crate::mail::person::Person;

/// One `Key: value` line. Its value is verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// The line in the message, from 1.
    pub line: usize,
    /// The key as written.
    pub key: String,
    /// What follows the colon, trimmed.
    pub value: String,
}

/// All lines of a message that have the form of a trailer, the subject apart.
#[must_use]
pub fn find(message: &str) -> Vec<Trailer> {
    let lines = message.lines().enumerate().skip(1);
    lines
        .filter_map(|(i, line)| {
            let (key, value) = line.split_once(':')?;
            let first = key.chars().next()?;
            let fits = first.is_ascii_alphabetic()
                && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            let value = value.trim();
            (fits && !value.is_empty()).then(|| Trailer {
                line: i + 1,
                key: key.to_owned(),
                value: value.to_owned(),
            })
        })
        .collect()
}

/// The people that a trailer asks to copy; none where its key names no people.
///
/// `Cc:` and every `…-by:` do. Never a `prerequisite-message-id:`, which looks like
/// an address but is none.
#[must_use]
pub fn people(trailer: &Trailer) -> Vec<Person> {
    let key = trailer.key.to_ascii_lowercase();
    if key == "cc" || key.ends_with("-by") { addresses(&trailer.value) } else { Vec::new() }
}

/// The addresses in a text: several may be separated by commas; what follows an
/// address (`# v5.10+`, `(maintainer:NET)`) does not count.
#[must_use]
pub fn addresses(text: &str) -> Vec<Person> {
    pieces(text).into_iter().filter_map(|piece| address(&piece)).collect()
}

/// Splits at commas outside quotes, brackets and comments; a `#` outside them
/// ends the text.
fn pieces(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let (mut quoted, mut escaped, mut angle, mut depth) = (false, false, false, 0u32);
    for c in text.chars() {
        let plain = !quoted && !angle && depth == 0;
        match c {
            _ if escaped => {}
            '"' if depth == 0 => quoted = !quoted,
            '<' if !quoted => angle = true,
            '>' if !quoted => angle = false,
            '(' if !quoted && !angle => depth += 1,
            ')' if !quoted && !angle => depth = depth.saturating_sub(1),
            // Part of a name like "J#r" it is not: a blank stands before it.
            '#' if plain && out.last().is_none_or(|p| p.is_empty() || p.ends_with([' ', '\t'])) => {
                break;
            }
            ',' if plain && out.last().is_some_and(|p| p.contains('@')) => {
                out.push(String::new());
                continue;
            }
            _ => {}
        }
        escaped = c == '\\' && quoted && !escaped;
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out
}

/// The address in one piece.
fn address(piece: &str) -> Option<Person> {
    let piece = piece.trim();
    if let Some(end) = piece.rfind('>') {
        return Person::parse(piece.get(..=end)?).ok();
    }
    let word = piece.split_whitespace().find(|w| w.contains('@'))?;
    Person::parse(word.trim_end_matches([';', ',', '.'])).ok()
}

/// What is wrong with a `Fixes:` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadFixes {
    /// The line in the message, from 1.
    pub line: usize,
    /// The line itself.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// The right form of a `Fixes:` line.
pub const FIXES_FORM: &str = "Fixes: 0123456789ab (\"subject of that commit\")";

/// Checks every `Fixes:` line of a message: at least 12 digits of the id, and the
/// whole subject in quotes and parentheses, on one line.
#[must_use]
pub fn bad_fixes(message: &str) -> Vec<BadFixes> {
    let lines = message.lines().enumerate().skip(1);
    lines
        .filter_map(|(i, line)| {
            let value = line.get(..6).filter(|k| k.eq_ignore_ascii_case("fixes:"))?;
            let why = fixes_fault(line.get(value.len()..)?.trim())?;
            Some(BadFixes { line: i + 1, text: line.to_owned(), why })
        })
        .collect()
}

fn fixes_fault(value: &str) -> Option<&'static str> {
    let (id, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    // A link to a report is what some trees write; it names no commit.
    if !id.bytes().all(|c| c.is_ascii_hexdigit()) || id.is_empty() {
        return Some("it does not begin with a commit id");
    }
    if !(12..=40).contains(&id.len()) {
        return Some("the id needs 12 digits or more");
    }
    let rest = rest.trim();
    if !rest.starts_with("(\"") {
        return Some("the subject of that commit is missing");
    }
    if !rest.ends_with("\")") || rest.len() < 5 {
        return Some("the subject does not end on that line");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> Vec<(String, String)> {
        addresses(value).into_iter().map(|p| (p.name, p.email)).collect()
    }

    #[test]
    fn addresses_in_trailers() {
        for (value, want) in [
            ("stable@vger.kernel.org # v5.10+", &[("", "stable@vger.kernel.org")][..]),
            ("<stable@vger.kernel.org> # 6.1.x: abc: def", &[("", "stable@vger.kernel.org")]),
            (
                "Joe Doe <joe@x.org>, Last, First <lf@x.org>",
                &[("Joe Doe", "joe@x.org"), ("Last, First", "lf@x.org")],
            ),
            ("\"Last, First\" <lf@x.org>, b@y", &[("Last, First", "lf@x.org"), ("", "b@y")]),
            ("Joe (ARM) <joe@arm.com>", &[("Joe (ARM)", "joe@arm.com")]),
            ("Björn Töpel <bjorn@kernel.org>", &[("Björn Töpel", "bjorn@kernel.org")]),
            ("J. Hacker <j@x> (maintainer:NET)", &[("J. Hacker", "j@x")]),
            ("netdev@vger.kernel.org (open list:NETWORKING)", &[("", "netdev@vger.kernel.org")]),
            ("nobody", &[]),
            (
                "syzbot+0123@syzkaller.appspotmail.com",
                &[("", "syzbot+0123@syzkaller.appspotmail.com")],
            ),
        ] {
            let want: Vec<(String, String)> =
                want.iter().map(|(n, e)| ((*n).to_owned(), (*e).to_owned())).collect();
            assert_eq!(of(value), want, "{value}");
        }
    }

    #[test]
    fn only_people_are_copied() {
        let message = "net: x\n\nSee: a@b\nprerequisite-message-id: <x@y>\nMessage-ID: <z@y>\n\
            Link: https://lore.kernel.org/r/x@y\nCc: a@b\nReviewed-by: C D <c@d>\nFixes: x\n";
        let found: Vec<String> = find(message).iter().flat_map(people).map(|p| p.email).collect();
        assert_eq!(found, ["a@b", "c@d"]);
    }

    #[test]
    fn fixes_lines() {
        for (line, good) in [
            ("Fixes: 0123456789ab (\"net: x\")", true),
            ("Fixes: 0123456789abcdef0123456789abcdef01234567 (\"net: (x) \"y\"\")", true),
            ("Fixes: ?", false),
            ("Fixes: 01234567 (\"net: x\")", false),
            ("Fixes: 0123456789ab (\"net: a subject that goes on", false),
            ("Fixes: 0123456789ab", false),
            ("Fixes: 0123456789ab net: x", false),
            ("Fixes: commit 0123456789ab (\"x\")", false),
        ] {
            assert_eq!(bad_fixes(&format!("s\n\n{line}\n")).is_empty(), good, "{line}");
        }
    }
}
