//! The addresses in one header or trailer value, as people write them there.

use crate::mail::Person;

/// What a value holds: addresses, and pieces that were meant as one but are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The people and lists, in order.
    pub people: Vec<Person>,
    /// Pieces with no usable address, each with the reason.
    pub broken: Vec<(String, String)>,
}

/// Reads every address of `value`. A comment behind `#`, text in brackets or
/// parentheses behind an address, and quotes around a name are left out; an
/// unquoted comma in a name (`Last, First <a@b>`) is understood.
#[must_use]
pub fn parse(value: &str) -> Found {
    let mut found = Found::default();
    let mut pending = String::new();
    for piece in pieces(without_comment(value)) {
        if !pending.is_empty() {
            pending.push(',');
        }
        pending.push_str(piece);
        if piece.contains('@') {
            take(&mut found, &pending);
            pending.clear();
        }
    }
    if !pending.trim().is_empty() {
        take(&mut found, &pending);
    }
    found
}

/// The value up to a `#` that begins a word: `stable@… # v5.10+`.
fn without_comment(value: &str) -> &str {
    let mut before = ' ';
    for (at, c) in value.char_indices() {
        if c == '#' && before.is_whitespace() {
            return value.get(..at).unwrap_or(value);
        }
        before = c;
    }
    value
}

/// Splits at commas that stand outside of quotes and angle brackets.
fn pieces(value: &str) -> Vec<&str> {
    let (mut out, mut begin, mut quoted, mut angle, mut escaped) = (vec![], 0, false, false, false);
    // A quote that is never closed is no quote: O"Neil must not swallow the rest.
    let pairs = value.matches('"').count().is_multiple_of(2);
    for (at, c) in value.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if pairs => quoted = !quoted,
            '<' if !quoted => angle = true,
            '>' if !quoted => angle = false,
            ',' if !quoted && !angle => {
                out.extend(value.get(begin..at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    out.extend(value.get(begin..));
    out
}

fn take(found: &mut Found, piece: &str) {
    let piece = piece.trim();
    let address = match (piece.find('<'), piece.rfind('>')) {
        // What follows the bracket is a remark: `(arm64)`, `[tested on …]`.
        (Some(open), Some(close)) if open < close => piece.get(..=close).unwrap_or(piece),
        // A bare address may have a remark too.
        (None, None) => piece.split_whitespace().find(|w| w.contains('@')).unwrap_or(piece),
        _ => piece,
    };
    match Person::parse(address) {
        Ok(person) => found.people.push(person),
        Err(e) => {
            let why = e.what_was_found().first().cloned().unwrap_or_default();
            found.broken.push((piece.to_owned(), why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_people_write_them() {
        for (value, want) in [
            ("netdev@vger.kernel.org", &["<netdev@vger.kernel.org>"][..]),
            ("<stable@vger.kernel.org> # v5.10+", &["<stable@vger.kernel.org>"]),
            ("stable@vger.kernel.org # 5.10, 6.1: x@y", &["<stable@vger.kernel.org>"]),
            ("stable <stable@vger.kernel.org>\t# 6.1", &["stable <stable@vger.kernel.org>"]),
            ("A B <a@x>, C D <c@x>", &["A B <a@x>", "C D <c@x>"]),
            ("a@x, b@y,c@z", &["<a@x>", "<b@y>", "<c@z>"]),
            ("\"Last, First\" <a@b>, x@y", &["Last, First <a@b>", "<x@y>"]),
            ("Last, First <a@b>", &["Last, First <a@b>"]),
            ("Joe (ARM) <joe@arm.com>", &["Joe (ARM) <joe@arm.com>"]),
            ("Björn Töpel <bjorn@kernel.org> (arm64)", &["Björn Töpel <bjorn@kernel.org>"]),
            ("T <t@x> [on i40e, mlx5]", &["T <t@x>"]),
            (
                "syzbot+0123456789abcdef@syzkaller.appspotmail.com",
                &["<syzbot+0123456789abcdef@syzkaller.appspotmail.com>"],
            ),
            ("a@x (reporter)", &["<a@x>"]),
            ("A <a@x>,", &["A <a@x>"]),
            ("", &[]),
        ] {
            let found = parse(value);
            let seen: Vec<String> = found.people.iter().map(Person::verbatim).collect();
            assert_eq!(seen, want, "{value}");
        }
    }

    #[test]
    fn what_is_no_address_is_told() {
        for value in ["Jane Hacker", "Jane <jane>", "Jane <jane@x", "Jane <a b@c>", "O\"Neil, x"] {
            let found = parse(value);
            assert!(found.people.is_empty() && found.broken.len() == 1, "{value}: {found:?}");
        }
        assert_eq!(parse("A <a@x> # Jane <jane>").people.len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn any_value_is_read_without_panic(value in "\\PC*") {
            let found = parse(&value);
            for p in found.people {
                proptest::prop_assert!(p.email.contains('@'));
            }
        }
    }
}
