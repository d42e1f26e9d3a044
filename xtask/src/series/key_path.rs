//! Where a value stands in a TOML file: the keys and indices that lead to it.
//! Byte spans are looked up only when an error needs one.

use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// One step to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The way from the document's root to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath(Vec<Step>);

impl KeyPath {
    /// The root.
    #[must_use]
    pub fn root() -> KeyPath {
        KeyPath::default()
    }

    /// The value of `key` in this table.
    #[must_use]
    pub fn key(&self, key: &str) -> KeyPath {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.to_owned()));
        KeyPath(steps)
    }

    /// Element `index` of this list. Where a list may also be written as one
    /// value, that value stands for its element 0.
    #[must_use]
    pub fn index(&self, index: usize) -> KeyPath {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        KeyPath(steps)
    }

    /// The bytes that it takes in `text`: of the key and the value for a key, of
    /// the nearest outer value where the path leads nowhere.
    #[must_use]
    pub fn span(&self, text: &str) -> Range<usize> {
        let Ok(root) = DeTable::parse(text) else { return 0..0 };
        let mut span = 0..0;
        let mut table = Some(root.get_ref());
        let mut value: Option<&DeValue<'_>> = None;
        for step in &self.0 {
            let next = match step {
                Step::Key(key) => {
                    let found = table.and_then(|t| {
                        t.iter().find(|(name, _)| name.get_ref().as_ref() == key.as_str())
                    });
                    found.map(|(name, value)| (name.span(), value.get_ref()))
                }
                Step::Index(index) => match value {
                    Some(DeValue::Array(list)) => list.get(*index).map(|v| (v.span(), v.get_ref())),
                    Some(one) if *index == 0 => Some((span.clone(), one)),
                    _ => None,
                },
            };
            let Some((at, found)) = next else { break };
            span = at;
            table = match found {
                DeValue::Table(t) => Some(t),
                _ => None,
            };
            value = Some(found);
        }
        span
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if i == 0 => write!(f, "{key}")?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_keys_and_elements() {
        let text = "a = 1\n[[patch]]\nname = \"x\"\n[[patch.edit]]\nat = { text = \"y\" }\n";
        let root = KeyPath::root();
        let edit = root.key("patch").index(0).key("edit").index(0);
        let of = |p: &KeyPath| text.get(p.span(text)).unwrap().to_owned();
        assert_eq!(of(&root.key("a")), "a");
        assert_eq!(of(&edit), "[[patch.edit]]");
        assert_eq!(of(&edit.key("at").key("text")), "text");
        assert_eq!(of(&edit.key("at").index(0).key("text")), "text", "one for a list");
        assert_eq!(of(&edit.key("none").key("text")), "[[patch.edit]]", "nearest outer");
        assert_eq!(edit.key("at").to_string(), "patch[0].edit[0].at");
    }
}
