//! Braces of C that Tera takes for its own: `int a[] = {{0}};` would become
//! `int a[] = 0;` without a word.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::error::{Error, Result};
use crate::series::excerpt::Document;

/// How C is written in a template.
pub const MEND: &str =
    "braces of C need a blank between them, `{ {0} }`, or stand in {% raw %}…{% endraw %}";

// What is in raw blocks and comments comes first, and is passed over.
static CONSTANT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?s)\{%-?\s*raw\s*-?%\}.*?\{%-?\s*endraw\s*-?%\}|\{#.*?#\}|(\{\{-?\s*[-+]?[0-9][0-9.]*\s*-?\}\}|\{\{\s*(?:true|false|"[^"{}]*[^\s"{}][^"{}]*")\s*\}\})"#,
    )
    .ok()
});

/// Whoever wants a constant in a template writes the constant: in tags it is C. Only blanks may
/// stand there, `{{ "  " }}`, where the ones before it are cut off.
///
/// # Errors
/// Names the first place.
pub fn check(document: &Document) -> Result<()> {
    match constant(&document.text) {
        Some(span) => Err(document
            .error(
                span,
                "a constant in the braces of a template: it would stand there without them",
            )
            .hint(MEND)),
        None => Ok(()),
    }
}

fn constant(text: &str) -> Option<Range<usize>> {
    // Most templates have none, and the expression takes longer to compile than they to render.
    text.match_indices("{{").find(|(i, _)| {
        let inside = text.get(i + 2..).unwrap_or_default().trim_start_matches(['-', '+', ' ']);
        let constant = |c: char| c.is_ascii_digit() || c == '"';
        inside.starts_with(constant) || inside.starts_with("true") || inside.starts_with("false")
    })?;
    CONSTANT.as_ref()?.captures_iter(text).find_map(|c| c.get(1)).map(|found| found.range())
}

/// Adds how C is written to what Tera does not understand, where it begins like C.
pub fn hint(error: Error, text: &str, at: usize) -> Error {
    let line = text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1);
    let line = text.get(line..).unwrap_or_default().lines().next().unwrap_or_default();
    // An expression of a template begins with a name, and a tag has an end: it may stand in a
    // later line, but seldom does.
    let like_c = line.match_indices("{{").any(|(i, _)| {
        let inside = line.get(i + 2..).unwrap_or_default().trim_start_matches(['-', ' ']);
        !inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }) || line.contains("{%") && !line.contains("%}");
    if like_c { error.hint(MEND) } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_c() {
        for (text, want) in [
            ("int a[] = {{0}};", Some("{{0}}")),
            ("int a[] = {{ -1 }};", Some("{{ -1 }}")),
            ("char *a[] = {{\"x\"}};", Some("{{\"x\"}}")),
            ("{{ vars.n }} {{ 'a' ~ b }} {{ 2 * n }}", None),
            ("struct s x = {{ \"a b\" }};", Some("{{ \"a b\" }}")),
            ("bool b[] = {{true}};", Some("{{true}}")),
            ("{{ \"a\" | upper }} {{ \"\t\" }}", None),
            ("{% raw %}{{0}}{% endraw %}", None),
            ("{%- raw -%}\n{{0}}\n{%- endraw %} {{1}}", Some("{{1}}")),
            ("{# {{0}} #}", None),
            ("{ {0} }", None),
        ] {
            assert_eq!(constant(text).and_then(|r| text.get(r)), want, "{text}");
        }
    }

    #[test]
    fn only_what_looks_like_c_is_told_how_c_is_written() {
        for (text, at, want) in [
            ("a\nint a[] = {{}};\n", 14, true),
            ("struct s a = {{.x = 1}};", 15, true),
            ("printf(\"{%d}\");", 9, true),
            ("{{ a b }}", 5, false),
            ("{% fi a %}", 3, false),
            ("{{}}\n{{ a b }}", 9, false),
            ("", 7, false),
        ] {
            let e = hint(Error::usage("x"), text, at);
            assert_eq!(!e.hints().is_empty(), want, "{text}");
        }
    }
}
