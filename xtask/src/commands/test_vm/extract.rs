//! Writes the files that a test's sources include from the trees: pieces of the
//! base, and of the tree that is tested, which may be a mutant's.

use std::path::{Path, PathBuf};

use crate::commands::kernel::Kernel;
use crate::error::Result;
use crate::host::atomic;
use crate::render::execute::StoreSource;
use crate::render::extract::extract;
use crate::series::model::Test;
use crate::tree::Oid;

/// Writes them below `output`; the folders that the compiler must look into.
///
/// # Errors
/// A conflict when a tree has not what the test names, and when a file cannot be written.
pub(super) fn write(
    kernel: &Kernel,
    commit: Oid,
    test: &Test,
    output: &Path,
) -> Result<Vec<PathBuf>> {
    if test.extracts.is_empty() {
        return Ok(Vec::new());
    }
    let tree = kernel.store.repo().find_commit(commit)?.tree_id();
    let series = StoreSource::new(&kernel.store, tree);
    let base = StoreSource::new(&kernel.store, kernel.base.tree);
    // An absolute path: the compiler may be run from anywhere.
    let folder = std::path::absolute(output).unwrap_or_else(|_| output.to_owned());
    let folder = folder.join("extract").join(&test.name);
    for file in &test.extracts {
        let source = if file.from_base { &base } else { &series };
        let text = extract(source, file).map_err(|e| e.context(format!("test {}", test.name)))?;
        atomic::write(&folder.join(&file.name), text.as_bytes())?;
    }
    Ok(vec![folder])
}
