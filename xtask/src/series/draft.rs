//! A series that is not in its project yet: both of its folders are filled
//! beside their places and take them together, or leave nothing behind.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use fd_lock::RwLock;

use crate::error::{Error, IoContext as _, Result};
use crate::host::atomic::Staging;
use crate::host::paths::stay_below;

use super::Series;
use super::load::load;

/// The longest name that a series may be given; it stands in paths and subjects
/// of mails' ids.
const LONGEST: usize = 100;

/// A series being written.
#[derive(Debug)]
pub struct Draft {
    project: PathBuf,
    name: String,
    staging: Staging,
}

impl Draft {
    /// Begins the series `name` of `project`.
    ///
    /// # Errors
    /// When the name is not well-formed or taken, or the project cannot be
    /// written.
    pub fn begin(project: &Path, name: &str) -> Result<Draft> {
        check_name(name)?;
        sweep(project, name)?;
        check_free(project, name)?;
        let staging = Staging::begin(project)?;
        let draft = Draft { project: project.to_owned(), name: name.to_owned(), staging };
        for folder in draft.folders() {
            let folder = draft.staging.path().join(folder);
            fs::create_dir_all(&folder).at("create folder", &folder)?;
        }
        Ok(draft)
    }

    /// `templates/NAME` and `series/NAME`, in the order in which they take their
    /// places: a series is there once its `series.toml` is.
    fn folders(&self) -> [PathBuf; 2] {
        ["templates", "series"].map(|top| Path::new(top).join(&self.name))
    }

    /// Writes a file of the series' folder.
    ///
    /// # Errors
    /// When the path leaves the folder, or cannot be written.
    pub fn series_file(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.put("series", path, bytes)
    }

    /// Writes a template.
    ///
    /// # Errors
    /// As [`Draft::series_file`].
    pub fn template(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.put("templates", path, bytes)
    }

    fn put(&self, top: &str, path: &str, bytes: &[u8]) -> Result<()> {
        let below = stay_below(path, "file of a series")?;
        let path = self.staging.path().join(top).join(&self.name).join(below);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).at("create folder", folder)?;
        }
        fs::write(&path, bytes).at("write", &path)
    }

    /// Removes every template that was written.
    ///
    /// # Errors
    /// When they cannot be removed.
    pub fn clear_templates(&self) -> Result<()> {
        let folder = self.staging.path().join("templates").join(&self.name);
        fs::remove_dir_all(&folder).at("remove", &folder)?;
        fs::create_dir_all(&folder).at("create folder", &folder)
    }

    /// Reads and checks what was written so far.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load(&self) -> Result<Series> {
        load(self.staging.path(), &self.name)
    }

    /// Puts both folders into the project; gives the paths of the files there,
    /// relative to it.
    ///
    /// # Errors
    /// When the name was taken meanwhile, or a sync or rename fails; nothing is
    /// left then.
    pub fn commit(self) -> Result<Vec<String>> {
        let mut files = Vec::new();
        for entry in walkdir::WalkDir::new(self.staging.path()).sort_by_file_name() {
            let entry = entry.map_err(|e| {
                Error::host(format!("cannot read {}", self.staging.path().display()))
                    .found(e.to_string())
            })?;
            if entry.file_type().is_file() {
                File::open(entry.path()).and_then(|f| f.sync_all()).at("sync", entry.path())?;
                let below = entry.path().strip_prefix(self.staging.path());
                files.extend(below.ok().map(|p| p.display().to_string()));
            }
        }
        check_free(&self.project, &self.name)?;
        // Two folders cannot take their places at once. Until both have, the first
        // says that it is of no use alone.
        let [templates, _] = self.folders();
        let mark = self.staging.path().join(&templates).join(UNFINISHED);
        // Locked while this process lives: what nobody holds is of a killed one.
        let mut alive = RwLock::new(File::create(&mark).at("create", &mark)?);
        let _held = alive.try_write().at("lock", &mark)?;
        let mut placed: Vec<PathBuf> = Vec::new();
        for folder in self.folders() {
            let (from, to) = (self.staging.path().join(&folder), self.project.join(&folder));
            let parent = to.parent().unwrap_or(&self.project);
            let done = fs::create_dir_all(parent)
                .at("create folder", parent)
                .and_then(|()| fs::rename(&from, &to).at("rename into place", &to));
            if let Err(e) = done {
                for path in placed {
                    let _ = fs::remove_dir_all(path);
                }
                return Err(e);
            }
            if let Ok(parent) = File::open(parent) {
                let _ = parent.sync_all();
            }
            placed.push(to);
        }
        let mark = self.project.join(templates).join(UNFINISHED);
        fs::remove_file(&mark).at("remove", &mark)?;
        Ok(files)
    }
}

/// Whether a new series may have this name: letters, digits, `-` and `_`.
///
/// # Errors
/// When it has other characters, begins with `-`, or is too long.
pub fn check_name(name: &str) -> Result<()> {
    let good = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= LONGEST;
    if good {
        return Ok(());
    }
    Err(Error::usage(format!("a series named \"{}\"", name.escape_default()))
        .found(format!("it names a folder: letters, digits, - and _, at most {LONGEST} of them"))
        .hint("choose one such as cpumap-gro"))
}

/// In `templates/NAME` until `series/NAME` is there as well.
const UNFINISHED: &str = ".unfinished";

/// Removes what a killed run left of the series; one that came to its end but for
/// the mark is whole.
fn sweep(project: &Path, name: &str) -> Result<()> {
    let templates = project.join("templates").join(name);
    let mark = templates.join(UNFINISHED);
    let Ok(file) = File::open(&mark) else { return Ok(()) };
    if RwLock::new(file).try_write().is_err() {
        return Ok(());
    }
    if project.join("series").join(name).symlink_metadata().is_ok() {
        return fs::remove_file(&mark).at("remove", &mark);
    }
    fs::remove_dir_all(&templates).at("remove", &templates)
}

fn check_free(project: &Path, name: &str) -> Result<()> {
    for top in ["series", "templates"] {
        let path = project.join(top).join(name);
        if path.symlink_metadata().is_ok() {
            let error = Error::usage(format!("a new series {name}"))
                .found(format!("{} is there already", path.display()));
            return Err(error.hint("choose another name, or move what is there out of the way"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = walkdir::WalkDir::new(folder)
            .min_depth(1)
            .into_iter()
            .map(|e| e.unwrap().path().strip_prefix(folder).unwrap().display().to_string())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn both_folders_or_none() {
        let t = tempfile::tempdir().unwrap();
        let draft = Draft::begin(t.path(), "a").unwrap();
        draft.series_file("series.toml", b"x").unwrap();
        drop(draft);
        assert!(entries(t.path()).is_empty());
        let draft = Draft::begin(t.path(), "a").unwrap();
        draft.series_file("series.toml", b"x").unwrap();
        draft.template("b/c.msg", b"y").unwrap();
        assert_eq!(draft.commit().unwrap(), ["series/a/series.toml", "templates/a/b/c.msg"]);
        assert!(!entries(t.path()).iter().any(|n| n.contains(".writing-")));
    }

    #[test]
    fn what_a_killed_run_left_is_swept() {
        let t = tempfile::tempdir().unwrap();
        let half = t.path().join("templates/a");
        fs::create_dir_all(&half).unwrap();
        fs::write(half.join("x.msg"), "x").unwrap();
        assert!(Draft::begin(t.path(), "a").is_err(), "a user's own");
        fs::write(half.join(UNFINISHED), "").unwrap();
        let draft = Draft::begin(t.path(), "a").unwrap();
        draft.series_file("series.toml", b"x").unwrap();
        draft.template("b.msg", b"y").unwrap();
        draft.commit().unwrap();
        assert_eq!(entries(&half), ["b.msg"]);
        // Both were there already.
        fs::write(half.join(UNFINISHED), "").unwrap();
        assert!(Draft::begin(t.path(), "a").is_err());
        assert_eq!(entries(&half), ["b.msg"]);
    }

    #[test]
    fn what_is_taken_stays_as_it_was() {
        let t = tempfile::tempdir().unwrap();
        let draft = Draft::begin(t.path(), "a").unwrap();
        draft.series_file("series.toml", b"x").unwrap();
        // Someone else is faster, with one of the two folders.
        fs::create_dir_all(t.path().join("series/a")).unwrap();
        assert!(draft.commit().is_err());
        assert!(Draft::begin(t.path(), "a").is_err());
        assert_eq!(entries(t.path()), ["series", "series/a"]);
        std::os::unix::fs::symlink("/nowhere", t.path().join("series/b")).unwrap();
        assert!(Draft::begin(t.path(), "b").is_err());
    }

    #[test]
    fn names_stay_in_the_folder() {
        for bad in ["", "..", "a/b", "a.b", "-a", ".a", "ä", "a b", "a\n", &"x".repeat(101)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
        for good in ["a", "cpumap-gro", "x_1", "9p"] {
            check_name(good).unwrap();
        }
        let t = tempfile::tempdir().unwrap();
        let draft = Draft::begin(t.path(), "a").unwrap();
        assert!(draft.template("../x", b"").is_err() && draft.series_file("/x", b"").is_err());
    }
}
