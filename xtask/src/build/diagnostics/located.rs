//! The `file:line:column: severity: message [flag]` form that gcc, clang, gas,
//! sparse, kernel-doc and `conf` share, and the places they name.

use std::path::{Component, Path, PathBuf};

/// A line of that form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<'t> {
    /// The path as written.
    pub path: &'t str,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// What the severity word was.
    pub word: Word,
    /// The message, without the flag.
    pub message: &'t str,
    /// The flag in the form `-Wname`, whether it was an error or not.
    pub flag: Option<String>,
}

/// The severity words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// `error`, `fatal error`, `Error`
    Error,
    /// `warning`, `Warning`
    Warning,
    /// `note`, `info`
    Note,
}

const WORDS: &[(&str, Word)] = &[
    ("fatal error:", Word::Error),
    ("internal compiler error:", Word::Error),
    ("error:", Word::Error),
    ("warning:", Word::Warning),
    ("note:", Word::Note),
    ("info:", Word::Note),
];

/// Reads a line of the form; nothing when it has another.
#[must_use]
pub fn parse(text: &str) -> Option<Located<'_>> {
    // The newer kernel-doc: `Warning: file.c:12 message`.
    if let Some(rest) = text.strip_prefix("Warning: ").or_else(|| text.strip_prefix("WARNING: "))
        && let Some((place, message)) = rest.split_once(' ')
        && let Some((path, line)) = place.rsplit_once(':')
        && let Some(line) = number(line)
    {
        let path = path.trim_end_matches(':');
        return is_path(path).then_some(Located {
            path,
            line: Some(line),
            column: None,
            word: Word::Warning,
            message,
            flag: None,
        });
    }
    let (path, line, column, rest) = place(text)?;
    let rest = rest.trim_start();
    let (word, message) = severity(rest)?;
    let (message, flag) = split_flag(message.trim());
    Some(Located { path, line, column, word, message, flag })
}

/// Reads the severity word that `text` begins with.
#[must_use]
pub fn severity(text: &str) -> Option<(Word, &str)> {
    WORDS.iter().find_map(|&(name, word)| {
        let head = text.get(..name.len())?;
        // gas writes it with a capital.
        let message = text.get(name.len()..)?;
        head.eq_ignore_ascii_case(name).then_some((word, message))
    })
}

/// Splits `path:line:column:` off. A path without a number is one too when it ends
/// in `:` and looks like a file (`cc1:`, `vmlinux.o:`): the caller sorts those out.
fn place(text: &str) -> Option<(&str, Option<u32>, Option<u32>, &str)> {
    let (path, rest) = text.split_once(':')?;
    if !is_path(path) {
        return None;
    }
    let (line, rest) = take_number(rest);
    let (column, rest) = if line.is_some() { take_number(rest) } else { (None, rest) };
    Some((path, line, column, rest))
}

/// Takes `12:` from the front.
fn take_number(text: &str) -> (Option<u32>, &str) {
    match text.split_once(':') {
        Some((digits, rest)) => match number(digits) {
            Some(n) => (Some(n), rest),
            None => (None, text),
        },
        None => (None, text),
    }
}

fn number(digits: &str) -> Option<u32> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

/// Splits `message [-Wflag]`; `[-Werror=flag]` and `[-Werror,-Wflag]` give `-Wflag`.
#[must_use]
pub fn split_flag(message: &str) -> (&str, Option<String>) {
    let Some((head, flag)) = message
        .strip_suffix(']')
        .and_then(|m| m.rsplit_once('['))
        .filter(|(_, flag)| flag.starts_with("-W") && !flag.contains(' '))
    else {
        return (message, None);
    };
    let flag = flag.rsplit(',').next().unwrap_or(flag);
    let flag = match flag.strip_prefix("-Werror=") {
        Some(name) => format!("-W{name}"),
        None => flag.to_owned(),
    };
    (head.trim_end(), Some(flag))
}

/// The folders that a build names files in.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The kernel tree.
    pub source: PathBuf,
    /// The object directory, in which make works.
    pub objdir: PathBuf,
}

impl Roots {
    /// A path as the build wrote it, relative to the kernel tree, or to the
    /// object directory for what is made there, or as it is.
    #[must_use]
    pub fn relative(&self, path: &str) -> String {
        let full = plain(&self.objdir.join(path));
        for root in [&self.source, &self.objdir] {
            // An object directory may be inside the tree, and the other way round:
            // the deeper one is tried first by the order below.
            let other = if root == &self.source { &self.objdir } else { &self.source };
            if full.starts_with(other) && other.starts_with(root) {
                continue;
            }
            if let Ok(below) = full.strip_prefix(root) {
                return below.display().to_string();
            }
        }
        match full.strip_prefix(&self.source) {
            Ok(below) => below.display().to_string(),
            Err(_) => path.to_owned(),
        }
    }
}

/// Takes `.` and `..` out by the letters of the path.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let l = parse("../net/core/dev.c:12:34: warning: unused variable 'x' [-Wunused-variable]")
            .unwrap();
        assert_eq!((l.path, l.line, l.column), ("../net/core/dev.c", Some(12), Some(34)));
        assert_eq!((l.word, l.message), (Word::Warning, "unused variable 'x'"));
        assert_eq!(l.flag.as_deref(), Some("-Wunused-variable"));
        for (text, flag) in [
            ("a.c:1:2: error: m [-Werror=implicit-fallthrough=]", Some("-Wimplicit-fallthrough=")),
            ("a.c:1:2: error: m [-Werror,-Wunused]", Some("-Wunused")),
            ("a.c:1: error: array[3]", None),
            ("a.c:1: error: m [enabled by default]", None),
        ] {
            assert_eq!(parse(text).unwrap().flag.as_deref(), flag, "{text}");
        }
        for (text, word, line, message) in [
            ("a.c:1:2: fatal error: x.h: No such file", Word::Error, Some(1), "x.h: No such file"),
            ("a.S:7: Error: bad register", Word::Error, Some(7), "bad register"),
            ("drivers/Kconfig:3:warning: ignored", Word::Warning, Some(3), "ignored"),
            ("net/x.c:9: warning: no description", Word::Warning, Some(9), "no description"),
            ("Warning: net/x.c:9 no description", Word::Warning, Some(9), "no description"),
            ("WARNING: net/x.c:9: no description", Word::Warning, None, ""),
            ("cc1: error: bad", Word::Error, None, "bad"),
        ] {
            if message.is_empty() {
                assert!(parse(text).is_none_or(|l| l.word == word), "{text}");
                continue;
            }
            let l = parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((l.word, l.line, l.message), (word, line, message), "{text}");
        }
        for bad in [
            "",
            ":",
            "make[1]: *** [x] Error 1",
            "  CC      a.o",
            "a b:1: error: x",
            "x: y",
            "Warning: x",
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn places_are_named_by_the_tree() {
        let roots = Roots { source: "/c/w/source".into(), objdir: "/c/w/obj/x".into() };
        for (path, relative) in [
            ("/c/w/source/net/a.c", "net/a.c"),
            ("../../source/net/a.c", "net/a.c"),
            ("net/a.o", "net/a.o"),
            ("./include/generated/x.h", "include/generated/x.h"),
            ("/usr/include/gelf.h", "/usr/include/gelf.h"),
        ] {
            assert_eq!(roots.relative(path), relative);
        }
        let inside = Roots { source: "/s".into(), objdir: "/s/build".into() };
        assert_eq!(inside.relative("../net/a.c"), "net/a.c");
        assert_eq!(inside.relative("net/a.o"), "net/a.o");
        let same = Roots { source: "/s".into(), objdir: "/s".into() };
        assert_eq!(same.relative("net/a.c"), "net/a.c");
    }
}
