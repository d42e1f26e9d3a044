//! A finished `.config`: what each symbol came out as.

use std::collections::HashMap;
use std::path::Path;

use crate::build::kconfig::Value;
use crate::error::{IoContext as _, Result};

/// The settings of a `.config`. What it does not name is `n`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DotConfig {
    values: HashMap<String, Value>,
}

impl DotConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> Result<DotConfig> {
        let bytes = std::fs::read(path).at("read", path)?;
        Ok(DotConfig::parse(&String::from_utf8_lossy(&bytes)))
    }

    /// Reads the text; lines that set nothing are passed over.
    #[must_use]
    pub fn parse(text: &str) -> DotConfig {
        let mut values = HashMap::new();
        for line in text.lines() {
            let Some((name, value)) = line.strip_prefix("CONFIG_").and_then(|l| l.split_once('='))
            else {
                continue;
            };
            values.insert(name.to_owned(), Value::parse(value));
        }
        DotConfig { values }
    }

    /// What the symbol is; `n` when the file does not name it.
    #[must_use]
    pub fn get(&self, symbol: &str) -> &Value {
        self.values.get(symbol).unwrap_or(&Value::No)
    }

    /// Whether the symbol is `y` or `m`.
    #[must_use]
    pub fn is_set(&self, symbol: &str) -> bool {
        matches!(self.get(symbol), Value::Yes | Value::Module)
    }

    /// Symbols whose value differs from `other`'s, sorted.
    #[must_use]
    pub fn changed<'a>(&'a self, other: &'a DotConfig) -> Vec<&'a str> {
        let mut names: Vec<&str> = self
            .values
            .keys()
            .chain(other.values.keys())
            .map(String::as_str)
            .filter(|name| self.get(name) != other.get(name))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_compares() {
        let a =
            DotConfig::parse("# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_S=\"x=y\"\nCONFIG_N=3\n");
        assert_eq!(a.get("A"), &Value::No);
        assert_eq!(a.get("S"), &Value::Literal("\"x=y\"".into()));
        assert!(a.is_set("B") && !a.is_set("N") && !a.is_set("GONE"));
        let b = DotConfig::parse("CONFIG_B=m\nCONFIG_N=3\nCONFIG_A=n\n");
        assert_eq!(a.changed(&b), ["B", "S"]);
    }

    #[test]
    fn numbers_are_compared_by_value() {
        let lit = |t: &str| Value::Literal(t.into());
        assert!(lit("0x10").same(&lit("0x0010")) && lit("8").same(&lit("08")));
        assert!(!lit("8").same(&lit("9")) && !lit("\"8\"").same(&lit("8")));
    }
}
