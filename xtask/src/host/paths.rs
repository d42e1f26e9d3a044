//! Where things are: the project folder, its products, and the folders of the
//! user (XDG) for the cache and the configuration.

use std::path::{Component, Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy as _, Xdg};

use crate::error::{Error, Result};

/// The folder name below the user's cache and configuration folders.
const APP: &str = "kseries";

/// The folders of one run.
#[derive(Clone, Debug)]
pub struct Dirs {
    project: Option<PathBuf>,
    cache: PathBuf,
    config: PathBuf,
}

impl Dirs {
    /// Finds them: the project is `named`, or the nearest folder upward from the
    /// current one with a `series/` in it.
    ///
    /// # Errors
    /// When `named` has no `series/`, or the home folder is not known.
    pub fn locate(named: Option<&Path>) -> Result<Dirs> {
        let xdg = Xdg::new().map_err(|e| {
            Error::host("cannot find the user's folders")
                .found(e.to_string())
                .hint("set HOME, or XDG_CACHE_HOME and XDG_CONFIG_HOME")
        })?;
        let project = match named {
            Some(dir) if dir.join("series").is_dir() => {
                Some(std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()))
            }
            Some(dir) => {
                return Err(Error::usage(format!("--project {}", dir.display()))
                    .found("it has no folder series/")
                    .hint("name the folder that holds series/, or make it with new-series"));
            }
            None => nearest_project(),
        };
        Ok(Dirs { project, cache: xdg.cache_dir().join(APP), config: xdg.config_dir().join(APP) })
    }

    /// As [`Dirs::locate`]; a named folder that has no `series/` becomes a project.
    ///
    /// # Errors
    /// When it is no folder, or the home folder is not known.
    pub fn locate_or_begin(named: Option<&Path>) -> Result<Dirs> {
        let Some(dir) = named.filter(|dir| dir.is_dir()) else { return Dirs::locate(named) };
        let project = Some(std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()));
        Ok(Dirs { project, ..Dirs::locate(None)? })
    }

    /// Folders for a test or an embedding program.
    #[must_use]
    pub fn at(project: &Path, cache: &Path) -> Dirs {
        Dirs {
            project: Some(project.to_owned()),
            cache: cache.to_owned(),
            config: cache.join("config"),
        }
    }

    /// The project folder.
    ///
    /// # Errors
    /// When there is none upward from here.
    pub fn project(&self) -> Result<&Path> {
        self.project.as_deref().ok_or_else(|| {
            Error::usage("this command works on a project")
                .found("no folder with series/ here or upward")
                .hint("change into one, or name it with --project DIR")
        })
    }

    /// Downloads, the store, worktrees, object folders and ccache. Nothing
    /// depends on its being there.
    #[must_use]
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The user's configuration folder.
    #[must_use]
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// Where products go: `out/` in the project.
    ///
    /// # Errors
    /// When there is no project.
    pub fn out(&self) -> Result<PathBuf> {
        Ok(self.project()?.join("out"))
    }
}

fn nearest_project() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find(|d| d.join("series").is_dir()).map(Path::to_owned)
}

/// How a file of the project names a place that is kept with it: relative to the project where
/// it is in it, around it or in the folder beside it, so that another machine may have both. What
/// is farther away is named from the root. Links are followed.
#[must_use]
pub fn as_project_names(project: &Path, place: &Path) -> String {
    let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (project, place) = (full(project), full(place));
    let near = project.ancestors().enumerate().find_map(|(up, folder)| {
        let rest = place.strip_prefix(folder).ok()?.to_str()?;
        let start = if up == 0 { "./".to_owned() } else { "../".repeat(up) };
        (up < 2 || rest.is_empty()).then(|| start + rest)
    });
    near.unwrap_or_else(|| place.display().to_string())
}

/// What a file of the project names, as it is meant here: `./x` and `../x` are relative to the
/// project in whatever folder a command is run. Any other name stays as it is.
#[must_use]
pub fn as_meant_here(project: &Path, name: &str) -> String {
    let is_relative = name.starts_with("./") || name.starts_with("../");
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    match project.canonicalize() {
        Ok(project) if is_relative && here.is_ok_and(|here| here != project) => {
            below_project(&project, name)
        }
        _ => name.to_owned(),
    }
}

fn below_project(project: &Path, name: &str) -> String {
    let (mut folder, mut rest) = (project, name);
    loop {
        if let Some(below) = rest.strip_prefix("../") {
            (folder, rest) = (folder.parent().unwrap_or(folder), below);
        } else if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else {
            break;
        }
    }
    // Behind `../` may stand a revision: the folder itself is meant.
    let between = if rest.is_empty() || rest.starts_with('@') { "" } else { "/" };
    format!("{}{between}{rest}", folder.display())
}

/// Bytes of a path, at most.
const LONGEST: usize = 4095;
/// Folders on the way to a file, at most.
pub const DEEPEST: usize = 256;

/// Checks that `path`, which came from a series file, stays below the folder it
/// is relative to, and gives it back in plain form.
///
/// # Errors
/// When it is absolute, empty, has `..`, a NUL byte, or names something in `.git`.
pub fn stay_below<'p>(path: &'p str, what: &str) -> Result<&'p Path> {
    let bad = |why: &str| {
        Err(Error::usage(format!("{what} \"{}\"", path.escape_default()))
            .found(why)
            .hint("name it relative to its folder, without \"..\""))
    };
    if path.is_empty() {
        return bad("it is empty");
    }
    if path.contains('\0') {
        return bad("it has a NUL byte");
    }
    // The kernel takes no longer one, and each folder is a step of recursion.
    if path.len() > LONGEST || path.matches('/').count() >= DEEPEST {
        return Err(Error::usage(format!(
            "{what} \"{}…\"",
            path.chars().take(60).collect::<String>().escape_default()
        ))
        .found(format!("over {LONGEST} bytes, or {DEEPEST} folders deep"))
        .hint("name a shorter path"));
    }
    let p = Path::new(path);
    for c in p.components() {
        match c {
            Component::Normal(part) if is_dot_git(part.as_encoded_bytes()) => {
                return bad("it goes into .git, or git takes it for that on some file systems");
            }
            Component::Normal(_) => {}
            Component::CurDir => return bad("it has a \".\" component"),
            Component::ParentDir => return bad("it leaves its folder with \"..\""),
            Component::RootDir | Component::Prefix(_) => return bad("it is absolute"),
        }
    }
    if path.contains("//") || path.contains("/./") || path.ends_with('/') || path.ends_with("/.") {
        return bad("it is not in plain form");
    }
    Ok(p)
}

/// Whether git refuses a component of a path since it names `.git`, on any file
/// system: NTFS knows it as `git~1` too, without blanks and dots at the end, and
/// with a stream behind a colon (git's path.c, `is_ntfs_dotgit`).
#[must_use]
pub fn is_dot_git(name: &[u8]) -> bool {
    name.split(|c| *c == b'\\').any(|part| {
        let part = part.split(|c| *c == b':').next().unwrap_or_default();
        [&b".git"[..], b"git~1"].iter().any(|wanted| {
            part.split_at_checked(wanted.len()).is_some_and(|(head, rest)| {
                head.eq_ignore_ascii_case(wanted) && rest.iter().all(|c| matches!(c, b' ' | b'.'))
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{as_meant_here, as_project_names, stay_below};

    #[test]
    fn places_near_a_project_are_named_from_it() {
        let t = tempfile::tempdir().unwrap();
        let top = t.path().canonicalize().unwrap();
        let project = top.join("a/b/project");
        for folder in ["a/b/project/linux", "a/b/linux", "a/linux"] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        for (place, name) in [
            ("a/b/project/linux", "./linux"),
            ("a/b/project", "./"),
            ("a/b/linux", "../linux"),
            ("a/b", "../"),
            ("a", "../../"),
        ] {
            assert_eq!(as_project_names(&project, &top.join(place)), name, "{place}");
            let here = top.join(place).display().to_string();
            assert_eq!(as_meant_here(&project, name), here);
            assert_eq!(as_meant_here(&project, &format!("{name}@v6")), format!("{here}@v6"));
        }
        let far = top.join("a/linux").display().to_string();
        assert_eq!(as_project_names(&project, &top.join("a/linux")), far);
        for name in [far.as_str(), "6.12", "debian:linux-source-6.1", "https://h/x.git#../y"] {
            assert_eq!(as_meant_here(&project, name), name);
        }
    }

    #[test]
    fn paths_have_an_end() {
        assert!(stay_below(&format!("{}x", "a/".repeat(254)), "file").is_ok());
        let e = stay_below(&format!("{}x", "a/".repeat(1500)), "file").unwrap_err();
        assert!(e.to_string().contains("folders deep"), "{e}");
        assert!(stay_below(&"a".repeat(4096), "file").is_err());
    }

    #[test]
    fn paths_stay_below() {
        for good in
            ["a", "net/core/dev.c", ".clang-format", ".gitignore", "git~10", "a b/c", "a..b"]
        {
            assert!(stay_below(good, "file").is_ok(), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "..",
            "a/../../b",
            "./a",
            "a/./b",
            ".git/config",
            "a/.GIT/x",
            "GIT~1/x",
            "a/.git. .",
            ".git::$INDEX_ALLOCATION/x",
            "a\\.git",
            "a//b",
            "a/",
            "a\0b",
        ] {
            assert!(stay_below(bad, "file").is_err(), "{bad:?}");
        }
    }
}
