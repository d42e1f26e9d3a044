//! Filters and functions that templates have beside Tera's own: for text that
//! was captured from a tree and must fit in somewhere else.

use tera::{Kwargs, State, Tera, TeraResult};

use crate::series::version::Version;

use cscan::anchor::Anchor;
use cscan::lex::Language;

/// Columns of a tab.
const TAB: usize = 8;

/// Registers them; `version` is the base's.
pub fn register(tera: &mut Tera, version: Version) {
    tera.register_filter("shift", |text: &str, args: Kwargs, _: &State| -> TeraResult<String> {
        Ok(shift(text, args.must_get::<i64>("by")?))
    });
    tera.register_filter("dedent", |text: &str, _: Kwargs, _: &State| dedent(text));
    tera.register_filter("without", |text: &str, args: Kwargs, _: &State| -> TeraResult<String> {
        keep_lines(text, args.must_get::<&str>("line")?, false)
    });
    tera.register_filter("only", |text: &str, args: Kwargs, _: &State| -> TeraResult<String> {
        keep_lines(text, args.must_get::<&str>("line")?, true)
    });
    tera.register_filter("wrap", |text: &str, args: Kwargs, _: &State| -> TeraResult<String> {
        Ok(wrap(text, args.get::<usize>("width")?.unwrap_or(75)))
    });
    tera.register_filter("comment", |text: &str, args: Kwargs, _: &State| -> TeraResult<String> {
        Ok(comment(text, args.get::<usize>("tabs")?.unwrap_or(0)))
    });
    tera.register_function("since", move |args: Kwargs, _: &State| -> TeraResult<bool> {
        let wanted = args.must_get::<&str>("v")?;
        let wanted: Version = wanted.parse().map_err(|e: String| tera::Error::message(e))?;
        Ok(version >= wanted)
    });
}

/// Lines with `by` tabs more, or less; blank lines stay empty.
fn shift(text: &str, by: i64) -> String {
    let shifted = text.split('\n').map(|line| {
        if line.trim().is_empty() {
            return String::new();
        }
        if by >= 0 {
            return "\t".repeat(usize::try_from(by.min(64)).unwrap_or(0)) + line;
        }
        let mut rest = line;
        for _ in 0..by.unsigned_abs().min(64) {
            let Some(less) =
                rest.strip_prefix('\t').or_else(|| rest.strip_prefix(&" ".repeat(TAB)))
            else {
                break;
            };
            rest = less;
        }
        rest.to_owned()
    });
    shifted.collect::<Vec<_>>().join("\n")
}

/// Lines without the indentation that all have.
pub fn dedent(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let prefix = text
        .split('\n')
        .filter(|l| !l.trim().is_empty())
        .map(|l| l.get(..indent(l)).unwrap_or(""))
        .reduce(|a, b| {
            let shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
            a.get(..shared).unwrap_or("")
        })
        .unwrap_or("");
    let lines = text
        .split('\n')
        .map(|l| if l.trim().is_empty() { "" } else { l.strip_prefix(prefix).unwrap_or(l) });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines that are, or are not, this anchor.
fn keep_lines(text: &str, line: &str, keep: bool) -> TeraResult<String> {
    let anchor = Anchor::new(line, Language::C)
        .ok_or_else(|| tera::Error::message(format!("\"{line}\" has no token to compare")))?;
    let kept = text.split('\n').filter(|l| {
        let bytes = l.as_bytes();
        anchor.is(bytes, &cscan::lex::tokens(bytes, 0..bytes.len(), Language::C)) == keep
    });
    Ok(kept.collect::<Vec<_>>().join("\n"))
}

/// Paragraphs filled to `width` columns.
fn wrap(text: &str, width: usize) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let mut lines = vec![String::new()];
        for word in paragraph.split_whitespace() {
            let Some(line) = lines.last_mut() else { break };
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(word.to_owned());
            } else {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
        }
        lines.join("\n")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// A kernel comment of the text, indented by tabs.
fn comment(text: &str, tabs: usize) -> String {
    let indent = "\t".repeat(tabs.min(16));
    let text = text.replace("*/", "* /");
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    match lines.as_slice() {
        [one] if TAB * tabs + one.chars().count() + 6 <= 80 => format!("{indent}/* {one} */"),
        _ => {
            let mut out = format!("{indent}/*");
            for line in lines {
                out.push('\n');
                out.push_str(&indent);
                out.push_str(if line.is_empty() { " *" } else { " * " });
                out.push_str(line);
            }
            out.push('\n');
            out.push_str(&indent);
            out.push_str(" */");
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifting_and_dedenting() {
        assert_eq!(shift("\ta\n\n\t\tb", -1), "a\n\n\tb");
        assert_eq!(shift("a\n  b", -2), "a\n  b");
        assert_eq!(shift("        a", -1), "a");
        assert_eq!(shift("a\n \nb", 2), "\t\ta\n\n\t\tb");
        assert_eq!(dedent("\t\ta\n\n\t\t\tb"), "a\n\n\tb");
        assert_eq!(dedent("\ta\n    b"), "\ta\n    b");
        assert_eq!(dedent(""), "");
    }

    #[test]
    fn lines_by_anchor() {
        let text = "\ta = 1;\n\tb(x);\n\ta=1; /* again */";
        assert_eq!(keep_lines(text, "a = 1;", false).unwrap(), "\tb(x);");
        assert_eq!(keep_lines(text, "b(...);", true).unwrap(), "\tb(x);");
        assert!(keep_lines(text, "/* */", true).is_err());
    }

    #[test]
    fn wrapping_and_comments() {
        assert_eq!(wrap("a b c d", 3), "a b\nc d");
        assert_eq!(wrap("a\nb\n\nlongword x", 4), "a b\n\nlongword\nx");
        assert_eq!(comment("one", 1), "\t/* one */");
        assert_eq!(comment("one\n\ntwo */", 0), "/*\n * one\n *\n * two * /\n */");
    }
}
