//! The function that a hunk header names: the nearest line above the hunk that
//! looks like the head of a function in the file's language.
//!
//! What looks like one is git's choice for each `diff=LANGUAGE` attribute; the
//! rules below accept the same lines. libgit2 has no rules for Rust and device
//! trees, asks the machine's configuration for them, and does not trim a name
//! that it has cut.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::mail::commit::trim_end;

/// A function name is cut at so many bytes.
const LONGEST: usize = 80;

/// The rules of one language, asked in order until one matches.
#[derive(Debug)]
pub struct Language {
    name: &'static str,
    rules: &'static [Rule],
    compiled: OnceLock<Vec<(Regex, bool)>>,
}

#[derive(Debug)]
enum Rule {
    /// A line that matches is a head; the first group, if any, is what is shown.
    Head(&'static str),
    /// A line that matches is none, whatever the later rules say.
    Never(&'static str),
}
use Rule::{Head, Never};

macro_rules! languages {
    ($($name:literal: $rules:expr;)*) => {
        static LANGUAGES: [Language; [$($name),*].len()] =
            [$(Language { name: $name, rules: &$rules, compiled: OnceLock::new() }),*];
    };
}

languages! {
    // Anything that begins in the first column with a word, but no label.
    "cpp": [
        Never(r"^[ \t]*[A-Za-z_]\w*:[[:space:]]*(?:$|/[/*])"),
        Head(r"^(?:::[[:space:]]*)?[A-Za-z_].*$"),
    ];
    // Nodes, not properties.
    "dts": [
        Never(";"),
        Never("="),
        Head(r"^[ \t]*((?:/[ \t]*\{|&?[A-Za-z_]).*)"),
    ];
    "rust": [Head(concat!(
        r"^[\t ]*((?:pub(?:\([^)]+\))?[\t ]+)?",
        r#"(?:(?:async|const|unsafe|extern[\t ]+"[^"]+")[\t ]+)?"#,
        r"(?:struct|enum|union|mod|trait|fn|impl|macro_rules!)[< \t]+[^;]*)$",
    ))];
    "python": [Head(r"^[ \t]*((?:class|(?:async[ \t]+)?def)[ \t].*)$")];
    // `name()` whatever follows; with `function`, up to the bracket of its body.
    "bash": [Head(concat!(
        r"^[ \t]*([A-Za-z_]\w*[ \t]*\([ \t]*\)|",
        r"function[ \t]+[A-Za-z_]\w*(?:[ \t]*\([ \t]*\)|[ \t]+)[ \t]*(?:\{|\(\(?|\[\[))",
    ))];
    "markdown": [Head(r"^ {0,3}#{1,6}[ \t].*")];
}

impl Language {
    /// The language of `diff=NAME`, where it is known.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<&'static Language> {
        LANGUAGES.iter().find(|l| l.name.as_bytes() == name)
    }

    fn compiled(&self) -> &[(Regex, bool)] {
        self.compiled.get_or_init(|| {
            let compile = |rule: &Rule| {
                let (pattern, head) = match rule {
                    Head(p) => (p, true),
                    Never(p) => (p, false),
                };
                // The tests compile every rule.
                let regex = RegexBuilder::new(pattern).unicode(false).build().ok()?;
                Some((regex, head))
            };
            self.rules.iter().filter_map(compile).collect()
        })
    }

    fn head<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        for (regex, head) in self.compiled() {
            if let Some(found) = regex.captures(line) {
                return found.get(1).or(found.get(0)).filter(|_| *head).map(|m| m.as_bytes());
            }
        }
        None
    }
}

/// The name to show for a hunk that begins behind `above`, the text of the old
/// file before it; without a language, the nearest line that begins with a letter,
/// `_` or `$`.
#[must_use]
pub fn above<'t>(above: &'t [u8], language: Option<&Language>) -> Option<&'t [u8]> {
    let mut rest = above;
    while !rest.is_empty() {
        let body = rest.strip_suffix(b"\n").unwrap_or(rest);
        let begin = memchr::memrchr(b'\n', body).map_or(0, |at| at + 1);
        let line = rest.get(begin..)?;
        let head = match language {
            Some(language) => language.head(line),
            None => line
                .first()
                .is_some_and(|&c| c.is_ascii_alphabetic() || c == b'_' || c == b'$')
                .then_some(line),
        };
        if let Some(head) = head {
            let head = trim_end(head.get(..LONGEST).unwrap_or(head));
            return (!head.is_empty()).then_some(valid(head));
        }
        rest = rest.get(..begin)?;
    }
    None
}

/// The name up to what is no character, where the cut went through one.
fn valid(head: &[u8]) -> &[u8] {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(e) => head
            .get(..e.valid_up_to())
            .and_then(|head| std::str::from_utf8(head).ok())
            .unwrap_or_default(),
    };
    // git counts these two among what is no character.
    let end = text.find(['\u{fffe}', '\u{ffff}']).unwrap_or(text.len());
    head.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles() {
        for l in &LANGUAGES {
            assert_eq!(l.compiled().len(), l.rules.len(), "{}", l.name);
        }
    }

    #[test]
    fn heads() {
        for (language, text, want) in [
            ("cpp", "int f(void)\n{\nout:\n\tx();\n", Some("int f(void)")),
            ("cpp", "a\n:: b()\nout: /* x */\n", Some(":: b()")),
            ("cpp", "#define X\n\n", None),
            ("dts", "/ {\n\tmodel = \"x\";\n\tcpu@0 {\n", Some("cpu@0 {")),
            (
                "rust",
                "impl X {\n    pub(crate) unsafe fn f(\n        a: u8;\n",
                Some("pub(crate) unsafe fn f("),
            ),
            ("python", "class X:\n  x = 1\n", Some("class X:")),
            ("", "label:\n\tx\n", Some("label:")),
            ("", ".globl x\n", None),
        ] {
            let found = above(text.as_bytes(), Language::named(language.as_bytes()));
            assert_eq!(found, want.map(str::as_bytes), "{language} {text:?}");
        }
    }

    #[test]
    fn a_cut_does_not_go_through_a_character() {
        let line = format!("{}ö\n", "a".repeat(79));
        assert_eq!(above(line.as_bytes(), None).map(<[u8]>::len), Some(79));
        assert_eq!(above(b"ab\xffc\n", None), Some(&b"ab"[..]));
    }

    #[test]
    fn a_long_name_is_cut_and_then_trimmed() {
        let line = format!("{} {}\n", "a".repeat(79), "b");
        assert_eq!(above(line.as_bytes(), None).map(<[u8]>::len), Some(79));
    }
}
