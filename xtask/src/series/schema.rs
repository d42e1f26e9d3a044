//! The JSON Schema of `series.toml`, made from the types it is read into, so
//! that editors complete it. It is published as `series/series.schema.json`.

use super::raw::{RawMutant, RawSeries};

/// The schema of `series.toml` as text with a final newline.
#[must_use]
pub fn series() -> String {
    text(&schemars::schema_for!(RawSeries))
}

/// The schema of a mutant's file as text with a final newline.
#[must_use]
pub fn mutant() -> String {
    text(&schemars::schema_for!(RawMutant))
}

fn text(schema: &schemars::Schema) -> String {
    let mut text = serde_json::to_string_pretty(schema).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Every key that the schemas know, from the definitions down.
    fn keys(schema: &serde_json::Value, out: &mut std::collections::BTreeSet<String>) {
        if let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) {
            for (key, value) in properties {
                out.insert(key.clone());
                keys(value, out);
            }
        }
        if let Some(definitions) = schema.get("$defs").and_then(|d| d.as_object()) {
            definitions.values().for_each(|d| keys(d, out));
        }
    }

    #[test]
    fn the_reference_names_every_key_and_part() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../series");
        let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let mut known = std::collections::BTreeSet::new();
        for text in [super::series(), super::mutant()] {
            keys(&serde_json::from_str(&text).unwrap(), &mut known);
        }
        let parts = [
            "whole",
            "full",
            "doc",
            "head",
            "body",
            "declarations",
            "statements",
            "parameters",
            "export",
            "condition",
            "then",
            "else",
            "arguments",
            "expression",
            "help",
        ];
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let words: std::collections::BTreeSet<&str> = page.split(|c| !is_word(c)).collect();
        let missing: Vec<&str> =
            known.iter().map(String::as_str).chain(parts).filter(|k| !words.contains(k)).collect();
        assert!(missing.is_empty(), "series/README.md says nothing of {missing:?}");
    }

    /// Writes the files anew when `UPDATE_SCHEMA` is set.
    #[test]
    fn the_published_schemas_are_in_step() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../series");
        for (name, text) in
            [("series.schema.json", super::series()), ("mutant.schema.json", super::mutant())]
        {
            let path = folder.join(name);
            if std::env::var_os("UPDATE_SCHEMA").is_some() {
                std::fs::write(&path, &text).unwrap();
            }
            let published = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                published == text,
                "series/{name} is stale: UPDATE_SCHEMA=1 cargo test schema writes it anew"
            );
        }
    }
}
