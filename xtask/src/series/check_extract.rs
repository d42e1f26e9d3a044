//! Checks the files that selftests include from the trees.

use crate::error::Result;

use super::check::Checker;
use super::key_path::KeyPath;
use super::model::Extract;
use super::raw::RawTest;

impl Checker<'_> {
    /// Those of a test, the base's ones first.
    pub(super) fn extracts(&self, raw: &RawTest, path: &KeyPath) -> Result<Vec<Extract>> {
        let mut all: Vec<Extract> = Vec::new();
        for (key, map) in [("extract-base", &raw.extract_base), ("extract", &raw.extract)] {
            for (name, capture) in map {
                let path = path.key(key).key(name);
                let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
                if !name.chars().all(plain) || name.trim_matches('.').is_empty() {
                    return Err(self
                        .source
                        .error_at(&path, format!("\"{name}\" is no plain file name"))
                        .hint("letters, digits, `-`, `_` and `.`"));
                }
                if all.iter().any(|e| e.name == *name) {
                    return Err(self.source.error_at(&path, format!("a second file {name}")));
                }
                if capture.file.is_none() {
                    return Err(self
                        .source
                        .error_at(&path, "it names no file of the tree")
                        .hint("file = \"net/core/dev.c\""));
                }
                let place = self.capture(capture, &path)?;
                all.push(Extract { name: name.clone(), from_base: key != "extract", place });
            }
        }
        Ok(all)
    }
}
