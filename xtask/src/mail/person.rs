//! People: a name and a mail address, as git's ident lines, trailers and
//! headers write them.

use crate::error::{Error, Result};

/// A name (may be empty, UTF-8) and a bare mail address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Person {
    /// The name, verbatim: neither quoted nor encoded.
    pub name: String,
    /// The address without angle brackets.
    pub email: String,
}

/// Why `git am` would make another name of this one, or take none: it drops some
/// characters at both ends (git's ident.c), and takes the address in place of a name
/// that looks like one or is long (mailinfo.c).
#[must_use]
pub fn git_changes(name: &str, email: &str) -> Option<&'static str> {
    const DROPPED: [char; 8] = [',', ':', ';', '<', '>', '"', '\\', '\''];
    if name.starts_with(DROPPED) || name.ends_with(DROPPED) {
        return Some("git drops any of , : ; < > \" \\ ' at the ends of a name");
    }
    if name == email {
        return None;
    }
    if name.is_empty() {
        return Some("git takes the address in place of no name");
    }
    if name.contains('@') {
        return Some("git takes what has an @ for the address");
    }
    if name.len() > 60 {
        return Some("git takes the address in place of a name of over 60 bytes");
    }
    let blanks = name.chars().zip(name.chars().skip(1)).any(|(a, b)| a == ' ' && b == ' ');
    (blanks || name.trim() != name).then_some("git makes one blank of several")
}

impl Person {
    /// A person by name and address.
    pub fn new(name: impl Into<String>, email: impl Into<String>) -> Person {
        Person { name: name.into(), email: email.into() }
    }

    /// Reads `Name <address>` or a bare `address`, as series files give it. The
    /// name is taken verbatim but for quotes around the whole of it.
    ///
    /// # Errors
    /// When there is no address with an `@`, or the brackets do not pair.
    pub fn parse(text: &str) -> Result<Person> {
        let bad = |why: &str| {
            Err(Error::usage(format!("the mail address \"{}\"", text.escape_debug()))
                .found(why)
                .hint("write it as: Name <user@host>"))
        };
        let t = text.trim();
        if t.chars().any(char::is_control) {
            return bad("it has a control character");
        }
        let (name, email) = match t.rfind('<') {
            None if t.contains('>') => return bad("a > without a <"),
            None => ("", t),
            Some(at) => {
                let (name, rest) = t.split_at(at);
                match rest.strip_prefix('<').and_then(|r| r.strip_suffix('>')) {
                    Some(email) => (name.trim(), email.trim()),
                    None => return bad("the < has no > at the end"),
                }
            }
        };
        if name.contains(['<', '>']) && !name.starts_with('"') {
            return bad("it holds more than one address");
        }
        if email.contains(|c: char| c.is_whitespace() || "<>,;\"()".contains(c)) {
            return bad("the address has a character that needs quoting");
        }
        match email.split_once('@') {
            Some((user, host)) if !user.is_empty() && !host.is_empty() => {}
            _ => return bad("no user@host in it"),
        }
        Ok(Person::new(unquote(name), email))
    }

    /// As git's ident lines and trailers write it: `Name <address>`.
    #[must_use]
    pub fn verbatim(&self) -> String {
        if self.name.is_empty() {
            format!("<{}>", self.email)
        } else {
            format!("{} <{}>", self.name, self.email)
        }
    }
}

/// Takes the quotes off a name that is one quoted string.
fn unquote(name: &str) -> String {
    let inner = match name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
        Some(inner) if name.len() >= 2 => inner,
        _ => return name.to_owned(),
    };
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            // A bare quote inside: it was not one quoted string after all.
            '"' => return name.to_owned(),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_and_addresses() {
        for (text, name, email) in [
            ("Joe (ARM) <joe@arm.com>", "Joe (ARM)", "joe@arm.com"),
            ("\"Last, First\" <a@b>", "Last, First", "a@b"),
            ("\"a \\\" b\" <a@b>", "a \" b", "a@b"),
            ("\"a\" and \"b\" <a@b>", "\"a\" and \"b\"", "a@b"),
            (" Björn Töpel  <bjorn@kernel.org> ", "Björn Töpel", "bjorn@kernel.org"),
            ("netdev@vger.kernel.org", "", "netdev@vger.kernel.org"),
            ("<x@y>", "", "x@y"),
        ] {
            assert_eq!(Person::parse(text).unwrap(), Person::new(name, email), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_address() {
        for text in ["", "Joe", "Joe <joe>", "Joe <a@b", "a@b>", "J <a b@c>", "a@", "J\n <a@b>"] {
            assert!(Person::parse(text).is_err(), "{text:?}");
        }
    }
}
