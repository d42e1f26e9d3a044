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
