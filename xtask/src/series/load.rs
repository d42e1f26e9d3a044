//! Finds and reads series and their mutants.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::host::regular;

use super::check;
use super::excerpt::{Document, did_you_mean};
use super::model::{Mutant, Series};
use super::prerequisites;

/// Names of the series of a project, sorted.
///
/// # Errors
/// When `series/` cannot be read.
pub fn list(project: &Path) -> Result<Vec<String>> {
    list_all(project).map(|(names, _)| names)
}

/// As [`list`], with a line for each folder that has something in the place of a
/// series and cannot be read as one.
///
/// # Errors
/// When `series/` cannot be read.
pub fn list_all(project: &Path) -> Result<(Vec<String>, Vec<String>)> {
    let folder = project.join("series");
    let (mut names, mut others) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(&folder).at("read", &folder)? {
        let entry = entry.at("read", &folder)?;
        let path = entry.path().join("series.toml");
        // Hidden ones are somebody else's: an editor's, a version control's.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match (path.metadata(), entry.file_name().into_string()) {
            (Ok(meta), Ok(name)) if meta.is_file() => names.push(name),
            (Ok(meta), Ok(_)) if !meta.is_file() => {
                others.push(format!("{} is no regular file", path.display()));
            }
            (Ok(_), _) => others.push(format!("{}: its name is not UTF-8", path.display())),
            (Err(e), _) if path.is_symlink() => others.push(format!("{}: {e}", path.display())),
            // A file, or a folder without a series.
            (Err(e), _) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            (Err(e), _) => others.push(format!("{}: {e}", path.display())),
        }
    }
    names.sort();
    others.sort();
    Ok((names, others))
}

/// Reads and checks one series, and looks that the series it needs first are there.
///
/// # Errors
/// When there is none of that name, or it does not hold; points to the place.
pub fn load(project: &Path, name: &str) -> Result<Series> {
    let series = alone(project, name)?;
    prerequisites::of(&series)?;
    Ok(series)
}

/// As [`load`], whatever it needs first.
pub(super) fn alone(project: &Path, name: &str) -> Result<Series> {
    let plain = !name.is_empty() && !name.contains(['/', '\0']) && !name.starts_with('.');
    let path = project.join("series").join(name).join("series.toml");
    if !plain || !path.exists() {
        let known = list(project)?;
        let error = Error::usage(format!("no series \"{}\"", name.escape_default()))
            .found(format!("{} is not there", path.display()));
        return Err(match did_you_mean(name, known.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean \"{near}\"?")),
            None if known.is_empty() => error.hint("there are none yet: cargo xtask new-series"),
            None => error.hint(format!("there are: {}", known.join(", "))),
        });
    }
    let source = read(&path, format!("series/{name}/series.toml"))?;
    from_document(&source, project, name)
}

/// Checks the text of a `series.toml` as that of series `name`; templates and
/// sources are looked for in `project`.
///
/// # Errors
/// As [`load`].
pub fn from_text(text: &str, project: &Path, name: &str) -> Result<Series> {
    from_document(&Document::new(format!("series/{name}/series.toml"), text), project, name)
}

fn from_document(source: &Document, project: &Path, name: &str) -> Result<Series> {
    let raw = source.parse_toml()?;
    check::series(&raw, source, project, name)
}

/// Reads and checks the mutants of a series, sorted by name.
///
/// # Errors
/// When one of them does not hold; points to the place.
pub fn load_mutants(series: &Series) -> Result<Vec<Mutant>> {
    let folder = series.folder().join("mutants");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).at("read", &folder)? {
        let path = entry.at("read", &folder)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    let mut mutants = Vec::new();
    for path in files {
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        let source = read(&path, format!("series/{}/mutants/{stem}.toml", series.name))?;
        let raw = source.parse_toml()?;
        mutants.push(check::mutant(&raw, &source, series, &stem)?);
    }
    Ok(mutants)
}

fn read(path: &Path, label: String) -> Result<Document> {
    let bytes = regular::read(path)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Document { label, text }),
        Err(e) => Err(Error::usage(format!("{label} is not UTF-8"))
            .found(format!("byte {}", e.utf8_error().valid_up_to()))),
    }
}
