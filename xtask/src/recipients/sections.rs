//! The sections of a MAINTAINERS file, and which of them a path belongs to, by
//! the rules that the file's own head describes.

use std::cell::OnceCell;

use regex::Regex;

/// One section.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its first line.
    pub title: String,
    /// Number of that line, from 1.
    pub line: usize,
    /// `S:`, in lower case.
    pub status: String,
    /// The `M:` values.
    pub maintainers: Vec<String>,
    /// The `F:` values, as they are written.
    pub files: Vec<String>,
    excluded: Vec<Pattern>,
    patterns: Vec<Pattern>,
    names: Vec<Name>,
}

/// Tells whether a path is a folder of the tree.
pub type IsFolder<'f> = &'f dyn Fn(&str) -> bool;

/// `F:` or `X:` as it is written: `net/` (all below), `net/*` (that folder
/// alone), `drivers/foo` (a file, or all below a folder of that name).
#[derive(Clone, Debug)]
struct Pattern(String);

impl Pattern {
    fn matches(&self, path: &str, is_folder: IsFolder<'_>) -> bool {
        let text = self.0.as_str();
        if !begins(text.as_bytes(), path.as_bytes()) {
            return false;
        }
        let slashes = |t: &str| t.bytes().filter(|&b| b == b'/').count();
        // The final slash of a folder may be left out.
        if !text.ends_with('/') && !text.contains(['*', '?']) && is_folder(text) {
            return path.get(text.len()..).is_some_and(|rest| rest.starts_with('/'));
        }
        text.ends_with('/') || slashes(text) == slashes(path)
    }
}

/// Whether `text` begins with something that `pattern` stands for: `*` for any
/// bytes, `?` for one.
fn begins(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // Where to go on when what followed the last star did not fit.
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), text.get(seen)) {
            (None, _) => return true,
            (Some(b'*'), _) => {
                star = Some((at + 1, seen));
                at += 1;
            }
            (Some(&p), Some(&t)) if p == b'?' || p == t => {
                at += 1;
                seen += 1;
            }
            (Some(_), _) => match star {
                Some((after, taken)) if taken < text.len() => {
                    star = Some((after, taken + 1));
                    (at, seen) = (after, taken + 1);
                }
                _ => return false,
            },
        }
    }
}

/// `N:`, a regular expression that few questions need compiled.
#[derive(Clone, Debug)]
struct Name(String, OnceCell<Option<Regex>>);

impl Name {
    fn matches(&self, path: &str) -> bool {
        // Perl and Rust agree on what these simple patterns mean.
        let regex = self.1.get_or_init(|| Regex::new(&self.0).ok());
        regex.as_ref().is_some_and(|r| r.is_match(path))
    }
}

impl Section {
    /// Whether `path` belongs to it.
    #[must_use]
    pub fn covers(&self, path: &str, is_folder: IsFolder<'_>) -> bool {
        if self.excluded.iter().any(|p| p.matches(path, is_folder)) {
            return false;
        }
        self.patterns.iter().any(|p| p.matches(path, is_folder))
            || self.names.iter().any(|n| n.matches(path))
    }

    /// Whether it is the one for everything.
    #[must_use]
    pub fn is_the_rest(&self) -> bool {
        self.title == "THE REST"
    }
}

/// Reads the sections.
#[must_use]
pub fn parse(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut before = "";
    for (number, line) in (1..).zip(text.lines()) {
        let Some((letter, value)) = entry(line) else {
            before = line;
            continue;
        };
        // A section begins with the line above its first entry.
        if entry(before).is_none() {
            let title = before.trim().to_owned();
            sections.push(Section { title, line: number - 1, ..Section::default() });
        }
        before = line;
        let Some(section) = sections.last_mut() else { continue };
        match letter {
            'S' => section.status = value.to_ascii_lowercase(),
            'M' => section.maintainers.push(value.to_owned()),
            'F' => {
                section.files.push(value.to_owned());
                section.patterns.push(Pattern(value.to_owned()));
            }
            'X' => section.excluded.push(Pattern(value.to_owned())),
            'N' => section.names.push(Name(value.to_owned(), OnceCell::new())),
            _ => {}
        }
    }
    // The head describes the letters in the same form, with a blank title.
    sections
        .retain(|s| !s.title.is_empty() && !s.title.ends_with(':') && !s.title.starts_with('-'));
    sections
}

fn entry(line: &str) -> Option<(char, &str)> {
    let letter = line.chars().next().filter(char::is_ascii_uppercase)?;
    let value = line.get(1..)?.strip_prefix(':')?;
    value.starts_with(char::is_whitespace).then(|| (letter, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
List of maintainers
===================

	M: *Mail* patches to
	F: *Files*

Maintainers List
----------------

NETWORKING [GENERAL]
M:	\"David\" <d@x>
L:	netdev@x
S:	Maintained
F:	net/
X:	net/bluetooth/
X:	net/rfkill*

XDP (eXpress Data Path)
M:	A <a@x>
S:	Obsolete
N:	xdp
K:	xdp

TREE OF FOLDER
S:	Orphan
F:	drivers/foo
F:	include/*/foo.h
F:	kernel/a?c.c

THE REST
M:	L <l@x>
S:	Buried alive in reporters
F:	*
F:	*/
";

    #[test]
    fn which_sections_cover_a_path() {
        let sections = parse(TEXT);
        let titles: Vec<&str> = sections.iter().map(|s| s.title.as_str()).collect();
        assert_eq!(
            titles,
            ["NETWORKING [GENERAL]", "XDP (eXpress Data Path)", "TREE OF FOLDER", "THE REST"]
        );
        assert_eq!((sections[1].status.as_str(), sections[0].line), ("obsolete", 10));
        for (path, want) in [
            ("net/core/dev.c", &[0, 3][..]),
            ("net/core/xdp.c", &[0, 1, 3]),
            ("net/bluetooth/a.c", &[3]),
            ("net/rfkill.c", &[3]),
            ("net/rfkill/a.c", &[0, 3]),
            ("drivers/foo/a/b.c", &[2, 3]),
            ("drivers/foobar.c", &[3]),
            ("drivers/foobar/a.c", &[3]),
            ("include/linux/foo.h", &[2, 3]),
            ("include/a/b/foo.h", &[3]),
            ("kernel/abc.c", &[2, 3]),
            ("Makefile", &[3]),
        ] {
            let covers: Vec<usize> = (0..sections.len())
                .filter(|&i| sections[i].covers(path, &|p| p == "drivers/foo"))
                .collect();
            assert_eq!(covers, want, "{path}");
        }
    }
}
