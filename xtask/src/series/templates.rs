//! Template files of a project: `templates/NAME/` first, then `templates/`.
//! Nothing outside of `templates/` is ever read, by a link neither.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::error::{Error, IoContext, Result};
use crate::host::paths::stay_below;
use crate::host::regular;

static REFERENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\{%-?\s*(?:include|extends)\s+["'`]([^"'`]+)["'`]"#).ok());

/// Where a template names others that it includes or extends.
#[must_use]
pub fn reference_spans(text: &str) -> Vec<Range<usize>> {
    // Most have none, and a regex is dear to build.
    if !text.contains("include") && !text.contains("extends") {
        return Vec::new();
    }
    let Some(regex) = REFERENCE.as_ref() else { return Vec::new() };
    regex.captures_iter(text).filter_map(|c| c.get(1).map(|m| m.range())).collect()
}

/// The names of the templates that a template includes or extends.
#[must_use]
pub fn references(text: &str) -> Vec<String> {
    let spans = reference_spans(text).into_iter();
    spans.filter_map(|span| text.get(span).map(str::to_owned)).collect()
}

/// The path of a template, `None` when there is none of that name.
///
/// # Errors
/// When the name, or a link behind it, leaves the templates folder.
pub fn find(project: &Path, series: &str, name: &str) -> Result<Option<PathBuf>> {
    let below = stay_below(name, "template")?;
    let root = project.join("templates");
    for folder in [root.join(series), root.clone()] {
        let path = folder.join(below);
        if path.exists() && !path.is_dir() {
            if has_link(&root, &path) {
                stays_below(&root, &path)?;
            }
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Whether there is a link on the way from `root` (itself not counted) to `path`:
/// only one can lead out of it.
fn has_link(root: &Path, path: &Path) -> bool {
    let below = path.ancestors().take_while(|p| *p != root);
    below.into_iter().any(Path::is_symlink)
}

fn stays_below(root: &Path, path: &Path) -> Result<()> {
    let real = fs::canonicalize(path).at("find", path)?;
    let root = fs::canonicalize(root).at("find", root)?;
    if real.starts_with(&root) {
        return Ok(());
    }
    Err(Error::usage(format!("template {}", path.display()))
        .found(format!("it is a link to {}, outside of {}", real.display(), root.display()))
        .hint("copy the file into the templates folder"))
}

/// No source file of the kernel has more than this by far, in bytes; one that has
/// would be rendered for longer than anybody waits.
const LARGEST: u64 = 32 << 20;

/// Reads a template; `None` when there is none of that name.
///
/// # Errors
/// As [`find`], and when it cannot be read or is no UTF-8.
pub fn read(project: &Path, series: &str, name: &str) -> Result<Option<(PathBuf, String)>> {
    let Some(path) = find(project, series, name)? else { return Ok(None) };
    let size = path.metadata().map_or(0, |m| m.len());
    if size > LARGEST {
        return Err(Error::usage(format!("template {}", path.display()))
            .found(format!("it has {} MiB", size >> 20))
            .hint(format!("a template has at most {} MiB", LARGEST >> 20)));
    }
    let bytes = regular::read(&path)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some((path, text))),
        Err(e) => Err(Error::usage(format!("template {} is not UTF-8", path.display()))
            .found(format!("byte {}", e.utf8_error().valid_up_to()))),
    }
}

/// Where a line stands in a template or one that it includes, as `FILE:LINE`, if it
/// stands there as it is.
#[must_use]
pub fn place_of(project: &Path, series: &str, name: &str, line: &str) -> Option<String> {
    let (mut wanted, mut seen) = (vec![name.to_owned()], BTreeSet::new());
    while let Some(name) = wanted.pop() {
        let Ok(Some((path, text))) = read(project, series, &name) else { continue };
        if !seen.insert(name) {
            continue;
        }
        if let Some(at) = text.split('\n').position(|l| l.trim_end() == line.trim_end()) {
            let path = path.strip_prefix(project).unwrap_or(&path);
            return Some(format!("{}:{}", path.display(), at + 1));
        }
        wanted.extend(references(&text));
    }
    None
}

/// Names of the templates that a series sees, sorted.
#[must_use]
pub fn names(project: &Path, series: &str) -> Vec<String> {
    let folder = project.join("templates").join(series);
    let mut names: Vec<String> = walkdir::WalkDir::new(&folder)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|e| !e.file_type().is_dir())
        .filter_map(|e| e.path().strip_prefix(&folder).ok()?.to_str().map(str::to_owned))
        .collect();
    names.sort();
    names
}
