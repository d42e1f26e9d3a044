//! Writes strings as TOML has them, in the form that a person would choose:
//! several lines as several lines.

use std::fmt::Write as _;

/// A TOML string that reads back as `text`.
#[must_use]
pub fn string(text: &str) -> String {
    let several = text.trim_end_matches('\n').contains('\n');
    let mut out = String::with_capacity(text.len() + 8);
    // A line break right behind the opening quotes does not count.
    out.push_str(if several { "\"\"\"\n" } else { "\"" });
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' if several => out.push('\n'),
            '\n' => out.push_str("\\n"),
            // Tabs may stand in strings of either kind, and are seen better there.
            '\t' if several => out.push('\t'),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push_str(if several { "\"\"\"" } else { "\"" });
    out
}

/// A list of strings, in one line where it fits.
#[must_use]
pub fn list(texts: &[String]) -> String {
    let items: Vec<String> = texts.iter().map(|t| string(t)).collect();
    let line = format!("[{}]", items.join(", "));
    if line.len() <= 100 {
        return line;
    }
    format!("[\n  {},\n]", items.join(",\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms() {
        assert_eq!(string("a \"b\" \\ \t"), r#""a \"b\" \\ \t""#);
        assert_eq!(string("\ta\nb"), "\"\"\"\n\ta\nb\"\"\"");
        assert_eq!(string("a\n"), r#""a\n""#);
        assert_eq!(list(&["a".into(), "b".into()]), r#"["a", "b"]"#);
    }

    proptest! {
        #[test]
        fn any_text_reads_back(text in "(?s).{0,40}", lines in "[ab\"\\\\\r\n\t\u{0}\u{7f}]{0,20}") {
            for text in [text, lines] {
                let toml: toml::Table = format!("x = {}\ny = {}\n", string(&text), list(&vec![text.clone(); 3])).parse().unwrap();
                prop_assert_eq!(toml["x"].as_str().unwrap(), text.as_str());
                prop_assert_eq!(toml["y"].as_array().unwrap().len(), 3);
            }
        }
    }
}
