//! A configuration fragment: the lines of a `.config`, each with an optional
//! comment behind it that says where the line counts.
//!
//! The comments are described in `kconfigs/README.md`. One that is none of them
//! is an error: it may have been meant to restrict, and a line that is asked
//! where it should not be fails a build for no reason.

use std::fmt;

use crate::build::kconfig::{Place, Value, is_symbol};
use crate::error::{Error, Result};

/// One line of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The symbol, without `CONFIG_`.
    pub symbol: String,
    /// What it is to be.
    pub value: Value,
    /// Where the line counts.
    pub scope: Scope,
    /// Why it may be dropped, when it may.
    pub optional: Option<String>,
    /// Where it stands.
    pub place: Place,
}

/// The kernels for which a line counts; the default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// From this release on.
    pub since: Option<Release>,
    /// Up to, but not with, this release.
    pub before: Option<Release>,
    /// These architectures (names of `targets.toml`); empty for all.
    pub archs: Vec<String>,
    /// Only trees whose Kconfig has the symbol, and why that is so.
    pub where_defined: Option<String>,
}

/// A kernel release as fragments name it, `6.12`: stable updates do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// VERSION.
    pub major: u32,
    /// PATCHLEVEL.
    pub minor: u32,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Release {
    /// Reads `6.12`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Release> {
        let (major, minor) = text.split_once('.')?;
        let number = |t: &str| t.bytes().all(|b| b.is_ascii_digit()).then(|| t.parse().ok())?;
        Some(Release { major: number(major)?, minor: number(minor)? })
    }
}

/// What a line's scope is compared with.
#[derive(Clone, Debug)]
pub struct Kernel<'a> {
    /// The tree's release.
    pub release: Release,
    /// The architecture, by its name in `targets.toml`.
    pub arch: &'a str,
}

impl Scope {
    /// Whether the line counts for `kernel`; [`Scope::where_defined`] is asked of
    /// the tree apart from this.
    #[must_use]
    pub fn holds(&self, kernel: &Kernel<'_>) -> bool {
        self.since.is_none_or(|since| kernel.release >= since)
            && self.before.is_none_or(|before| kernel.release < before)
            && (self.archs.is_empty() || self.archs.iter().any(|a| a == kernel.arch))
    }
}

/// Reads a fragment; `file` names it in errors.
///
/// # Errors
/// Names the line that is neither a setting, nor a comment, nor empty.
pub fn parse(file: &str, text: &str) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (i, raw) in text.lines().enumerate() {
        let place = Place { file: file.to_owned(), line: i + 1 };
        if let Some(line) = parse_line(raw, &place)? {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// Reads one line; nothing for an empty one or a comment.
///
/// # Errors
/// Names the line.
pub fn parse_line(raw: &str, place: &Place) -> Result<Option<Line>> {
    let text = raw.trim();
    let bad = |why: &str| {
        Error::usage(format!("{place}: `{text}`"))
            .found(why)
            .hint("write CONFIG_NAME=value or `# CONFIG_NAME is not set`; kconfigs/README.md has the comments that may follow")
    };
    if text.is_empty() {
        return Ok(None);
    }
    let (symbol, value, comment) = if let Some(rest) = text.strip_prefix("# CONFIG_") {
        // Only the exact form unsets; any other is talk.
        let Some((symbol, rest)) = rest.split_once(" is not set") else { return Ok(None) };
        if !is_symbol(symbol) || !(rest.is_empty() || rest.starts_with(' ')) {
            return Ok(None);
        }
        (symbol, Value::No, rest)
    } else if text.starts_with('#') {
        return Ok(None);
    } else {
        let Some(rest) = text.strip_prefix("CONFIG_") else {
            return Err(bad("a setting begins with CONFIG_"));
        };
        let (symbol, rest) = rest.split_once('=').ok_or_else(|| bad("it has no `=`"))?;
        let (value, rest) = split_value(rest).map_err(&bad)?;
        (symbol, Value::parse(value), rest)
    };
    if !is_symbol(symbol) {
        return Err(bad("the name has characters that a symbol cannot have"));
    }
    let comment = comment.trim();
    let (scope, optional) = match comment.strip_prefix('#') {
        Some(comment) => parse_scope(comment.trim()).map_err(|why| bad(&why))?,
        None if comment.is_empty() => (Scope::default(), None),
        None => return Err(bad("there is more behind the value")),
    };
    Ok(Some(Line { symbol: symbol.to_owned(), value, scope, optional, place: place.clone() }))
}

/// Splits `value # comment`; a quoted value may hold a `#`.
fn split_value(text: &str) -> Result<(&str, &str), &'static str> {
    let end = if let Some(quoted) = text.strip_prefix('"') {
        let mut escaped = false;
        let close = quoted.char_indices().find(|&(_, c)| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        close.map(|(at, _)| at + 2).ok_or("the string has no end")?
    } else {
        text.find(|c: char| c.is_whitespace() || c == '#').unwrap_or(text.len())
    };
    let (value, rest) = text.split_at_checked(end).ok_or("the string has no end")?;
    if value.is_empty() {
        return Err("nothing stands behind the `=`");
    }
    Ok((value, rest))
}

/// Reads the comment behind a line.
fn parse_scope(comment: &str) -> Result<(Scope, Option<String>), String> {
    let mut scope = Scope::default();
    let mut rest = comment;
    while !rest.is_empty() {
        if let Some(why) = rest.strip_prefix("optional:") {
            return reason(why).map(|why| (scope, Some(why)));
        }
        if let Some(why) = rest.strip_prefix("where defined:") {
            scope.where_defined = Some(reason(why)?);
            return Ok((scope, None));
        }
        let (word, tail) = split_word(rest);
        rest = match word {
            "since" | "before" => {
                let (number, tail) = split_word(tail);
                let release = Release::parse(number)
                    .ok_or_else(|| format!("`{word}` wants a release such as 6.12"))?;
                let slot = if word == "since" { &mut scope.since } else { &mut scope.before };
                *slot = Some(release);
                tail
            }
            "arch" => arch_names(tail, &mut scope.archs)?,
            _ => {
                return Err(format!(
                    "the comment behind the value says `{word}`, which is none of since, before, arch, where defined:, optional:"
                ));
            }
        };
    }
    Ok((scope, None))
}

/// Takes names up to the next word that begins another restriction.
fn arch_names<'a>(mut rest: &'a str, archs: &mut Vec<String>) -> Result<&'a str, String> {
    loop {
        let (word, tail) = split_word(rest);
        if matches!(word, "" | "since" | "before" | "arch" | "where" | "optional:") {
            break;
        }
        archs.push(word.to_owned());
        rest = tail;
    }
    if archs.is_empty() { Err("`arch` wants at least one name".into()) } else { Ok(rest) }
}

fn reason(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a reason must stand behind the colon".into()),
        why => Ok(why.to_owned()),
    }
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Line {
        let lines = parse("f", text).unwrap();
        assert_eq!(lines.len(), 1, "{text}");
        lines.into_iter().next().unwrap()
    }

    #[test]
    fn values() {
        for (text, symbol, value) in [
            ("CONFIG_NET=y", "NET", Value::Yes),
            ("CONFIG_PACKET=m", "PACKET", Value::Module),
            ("CONFIG_A=n", "A", Value::No),
            ("# CONFIG_A is not set", "A", Value::No),
            ("# CONFIG_A is not set # before 5.18", "A", Value::No),
            ("CONFIG_NR_CPUS=8  # arch arm64", "NR_CPUS", Value::Literal("8".into())),
            (
                r##"CONFIG_C="a # \"b\"" # since 6.1"##,
                "C",
                Value::Literal(r##""a # \"b\"""##.into()),
            ),
            ("CONFIG_64BIT=y\r", "64BIT", Value::Yes),
        ] {
            let line = one(text);
            assert_eq!((line.symbol.as_str(), line.value), (symbol, value), "{text}");
        }
    }

    #[test]
    fn scopes() {
        let line = one("CONFIG_A=y # arch arm64 riscv64 since 5.12 before 6.9");
        let holds = |arch, major, minor| {
            line.scope.holds(&Kernel { arch, release: Release { major, minor } })
        };
        assert!(holds("arm64", 5, 12) && holds("riscv64", 6, 8));
        assert!(!holds("x86_64", 6, 1) && !holds("arm64", 5, 10) && !holds("arm64", 6, 9));
        assert_eq!(
            one("CONFIG_A=y # optional: not everywhere").optional.unwrap(),
            "not everywhere"
        );
        let line = one("CONFIG_A=y # since 6.1 where defined: renamed since then");
        assert_eq!(line.scope.where_defined.unwrap(), "renamed since then");
        assert!(Release::parse("6.12") > Release::parse("6.2"));
    }

    #[test]
    fn comments_and_blanks_are_nothing() {
        let text = "# talk\n\n   \n# CONFIG_A is not set by us\n#CONFIG_B=y\n# CONFIG_C is y\n";
        // The first of these is a line that restricts by a word nobody knows.
        let e = parse("f", text).unwrap_err().to_string();
        assert!(e.contains("f:4") && e.contains("more behind the value"), "{e}");
        assert!(parse("f", "# talk\n\n#CONFIG_B=y\n# CONFIG_C is y\n").unwrap().is_empty());
    }

    #[test]
    fn bad_lines_name_their_place() {
        for bad in [
            "NET=y",
            "CONFIG_NET",
            "CONFIG_NET=",
            "CONFIG_NET= y",
            "CONFIG_N-T=y",
            "CONFIG_=y",
            "CONFIG_NET=y n",
            "CONFIG_C=\"no end",
            "CONFIG_NET=y # sicne 5.12",
            "CONFIG_NET=y # since",
            "CONFIG_NET=y # since 5",
            "CONFIG_NET=y # arch",
            "CONFIG_NET=y # arch since 5.10",
            "CONFIG_NET=y # optional:",
            "CONFIG_NET=y # where defined",
        ] {
            let e = parse("net", &format!("\n{bad}\n")).unwrap_err();
            assert!(e.to_string().starts_with("net:2: "), "{bad}: {e}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in ".{0,200}") {
            let _ = parse("f", &text);
            let _ = parse("f", &format!("CONFIG_A={text}"));
            let _ = parse("f", &format!("CONFIG_A=y # {text}"));
        }
    }
}
