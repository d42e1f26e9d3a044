//! Object directories: one per source and target, kept between builds, locked
//! while one works in it, with a note of what was last built there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::build::diagnostics::{Diagnostic, Severity};
use crate::build::inputs::Inputs;
use crate::build::make::Finished;
use crate::error::{Error, IoContext as _, Result};
use crate::host::lock::{self, Lock};
use crate::host::paths::Dirs;
use crate::host::ui::Ui;

/// Our folder in an object directory.
const STATE: &str = ".xtask";

/// A locked object directory.
#[derive(Debug)]
pub struct Objdir {
    /// The folder.
    pub path: PathBuf,
    _lock: Lock,
}

/// What is remembered of the last build in an object directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct State {
    /// Its inputs.
    pub inputs: Option<Inputs>,
    /// The source's folder.
    pub source: PathBuf,
    /// Whether it came to its end.
    pub finished: bool,
    /// The warnings of each object: an object that is not made anew still has them.
    pub diagnostics: BTreeMap<String, Vec<Diagnostic>>,
}

impl State {
    /// Forgets what belongs to no object (the configuration, make itself), which is
    /// said anew each time, and errors: what failed is made anew, or is no longer asked.
    pub fn begin(&mut self) {
        self.diagnostics.remove("");
        for all in self.diagnostics.values_mut() {
            all.retain(|d| d.severity == Severity::Warning);
        }
        self.diagnostics.retain(|_, all| !all.is_empty());
    }

    /// Puts the diagnostics of what was made anew in the place of the old ones.
    pub fn take(&mut self, made: &Finished) {
        for target in &made.targets {
            self.diagnostics.remove(target);
        }
        for d in &made.diagnostics {
            let object = d.object.clone().unwrap_or_default();
            self.diagnostics.entry(object).or_default().push(d.clone());
        }
    }

    /// The diagnostics of all objects.
    #[must_use]
    pub fn all(&self) -> Vec<Diagnostic> {
        self.diagnostics.values().flatten().cloned().collect()
    }
}

/// Refuses a path that make would cut, take for a variable, or give to a shell.
/// The kernel's Makefile stops at the part before a space or a colon, and says nothing.
///
/// # Errors
/// Names the character.
pub fn refuse_odd_path(path: &Path, what: &str) -> Result<()> {
    let fail = |found: String| {
        Err(Error::usage(format!("{what} {}", path.display()))
            .found(found)
            .hint("make and the kernel's scripts cannot use such a path: choose one of letters, digits and . _ - + ="))
    };
    let Some(text) = path.to_str() else { return fail("it is not UTF-8".into()) };
    let odd = |c: char| !(c.is_alphanumeric() || "/._-+=@,".contains(c));
    match text.chars().find(|&c| odd(c)) {
        Some(' ') => fail("it has a space".into()),
        Some(':') => fail("it has a colon".into()),
        Some(c) => fail(format!("it has the character {c:?}")),
        None => Ok(()),
    }
}

/// Where the object directory of a target is.
///
/// # Errors
/// When the path cannot be used, or lies where the source is.
pub fn place(
    dirs: &Dirs,
    source: &Path,
    objdirs: Option<&Path>,
    explicit: Option<&Path>,
    target: &str,
) -> Result<PathBuf> {
    let path = match (explicit, objdirs) {
        (Some(path), _) => std::path::absolute(path).at("find", path)?,
        (None, Some(folder)) => folder.join(target),
        (None, None) => dirs.cache().join("objdirs").join(name_of(source)).join(target),
    };
    refuse_odd_path(&path, "the object directory")?;
    if canonical(&path) == canonical(source) {
        return Err(Error::usage(format!("the object directory {}", path.display()))
            .found("it is the source folder, and a source is not written to")
            .hint("name another with --build-dir or O="));
    }
    Ok(path)
}

/// A folder name that is unlike for unlike sources, and still tells which it is.
#[must_use]
pub fn name_of(source: &Path) -> String {
    let full = canonical(source);
    let hash = Sha256::digest(full.as_os_str().as_encoded_bytes());
    let short: String = hash.iter().take(4).map(|b| format!("{b:02x}")).collect();
    let name: String = full
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' })
        .collect();
    format!("{name}-{short}")
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Objdir {
    /// Makes the folder if it is not there, and waits for who else builds in it.
    ///
    /// # Errors
    /// When it cannot be made, or the user ends the wait.
    pub fn open(ui: &Ui, path: PathBuf) -> Result<Objdir> {
        let state = path.join(STATE);
        let what = format!("the object directory {}", path.display());
        let lock = lock::take(ui, &state.join("lock"), &what)?;
        Ok(Objdir { path, _lock: lock })
    }

    /// Our own folder in it.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        self.path.join(STATE)
    }

    /// The log of the build under way, or of the last one.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.state_dir().join("build.log")
    }

    /// The `.config`.
    #[must_use]
    pub fn dot_config(&self) -> PathBuf {
        self.path.join(".config")
    }

    /// What is remembered; nothing when it is new, or what is there cannot be read.
    #[must_use]
    pub fn state(&self) -> Option<State> {
        let bytes = std::fs::read(self.state_dir().join("state.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Remembers.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn remember(&self, state: &State) -> Result<()> {
        let bytes = serde_json::to_vec(state)
            .map_err(|e| Error::host("cannot write down what was built").found(e.to_string()))?;
        crate::host::atomic::write(&self.state_dir().join("state.json"), &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_refused() {
        for good in ["/a/b.c/d_e-f+g", "/home/jörg/x", "a"] {
            assert!(refuse_odd_path(Path::new(good), "x").is_ok(), "{good}");
        }
        for (bad, why) in [
            ("/a b", "a space"),
            ("/a:b", "a colon"),
            ("/a$b", "'$'"),
            ("/a\nb", "'\\n'"),
            ("/a#b", "'#'"),
            ("/a'b", "'\\''"),
        ] {
            let e = refuse_odd_path(Path::new(bad), "the object directory").unwrap_err();
            assert!(e.to_string().contains(why), "{bad}: {e}");
        }
    }

    #[test]
    fn places() {
        let t = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(t.path(), &t.path().join("cache"));
        let source = t.path().join("linux");
        std::fs::create_dir(&source).unwrap();
        let kept = place(&dirs, &source, None, None, "x86_64-gcc-12").unwrap();
        assert!(
            kept.starts_with(t.path().join("cache/objdirs")) && kept.ends_with("x86_64-gcc-12")
        );
        assert_ne!(name_of(&source), name_of(t.path()));
        let beside = place(&dirs, &source, Some(Path::new("/w/obj")), None, "x").unwrap();
        assert_eq!(beside, Path::new("/w/obj/x"));
        assert!(place(&dirs, &source, None, Some(&source), "x").is_err());
        assert!(place(&dirs, &source, None, Some(Path::new("/tmp/a b")), "x").is_err());
    }

    #[test]
    fn state_comes_back() {
        let t = tempfile::tempdir().unwrap();
        let ui = Ui::new(crate::host::ui::Format::Human);
        let objdir = Objdir::open(&ui, t.path().join("o")).unwrap();
        assert!(objdir.state().is_none());
        let state = State { finished: true, ..State::default() };
        objdir.remember(&state).unwrap();
        assert_eq!(objdir.state(), Some(state));
        std::fs::write(objdir.state_dir().join("state.json"), "{").unwrap();
        assert!(objdir.state().is_none());
    }
}
