//! Whether `Fixes:` lines have the form that the kernel's documents ask for
//! (submitting-patches): a wrong one is noticed by every tool that follows fixes,
//! after the mail has gone out.

/// What is wrong with a `Fixes:` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line in the message, from 1.
    pub line: usize,
    /// The line itself.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// The right form of a `Fixes:` line.
pub const FORM: &str = "Fixes: 0123456789ab (\"subject of that commit\")";

/// Checks every `Fixes:` line of a message: at least 12 digits of the id, and the
/// whole subject in quotes and parentheses, on one line.
#[must_use]
pub fn faults(message: &str) -> Vec<Fault> {
    let lines = message.lines().enumerate().skip(1);
    lines
        .filter_map(|(i, line)| {
            let value = line.get(..6).filter(|k| k.eq_ignore_ascii_case("fixes:"))?;
            let why = fault(line.get(value.len()..)?.trim())?;
            Some(Fault { line: i + 1, text: line.to_owned(), why })
        })
        .collect()
}

fn fault(value: &str) -> Option<&'static str> {
    let (id, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
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
            assert_eq!(faults(&format!("s\n\n{line}\n")).is_empty(), good, "{line}");
        }
    }
}
