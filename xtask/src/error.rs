//! The one error type that commands return: what was asked, what was found,
//! and the mend, with the kind that decides the exit code.
//!
//! Modules may have typed errors of their own; they become an [`Error`] where a
//! command could show them.

use std::fmt;
use std::io;
use std::path::Path;

/// A result whose error a user can act upon.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure it is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A check did not hold (exit code 1).
    Check,
    /// Usage or bad input (exit code 2).
    Usage,
    /// The host lacks something: a tool, space, a permission (exit code 3).
    Host,
    /// A locator found no place or several; a patch does not apply (exit code 4).
    Conflict,
    /// The user ended it: Ctrl-C or a termination signal (exit code 130).
    Interrupted,
}

impl Kind {
    /// The process exit code of this kind.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Check => 1,
            Kind::Usage => 2,
            Kind::Host => 3,
            Kind::Conflict => 4,
            Kind::Interrupted => 130,
        }
    }
}

/// A failure: one line of what was asked and went wrong, what was found in its
/// place, and what mends it.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    asked: String,
    found: Vec<String>,
    hint: Vec<String>,
}

impl Error {
    /// A failure of `kind`; `asked` says what was wanted and did not come about.
    pub fn new(kind: Kind, asked: impl Into<String>) -> Self {
        Error { kind, asked: asked.into(), found: Vec::new(), hint: Vec::new() }
    }
    /// A check that does not hold.
    pub fn check(asked: impl Into<String>) -> Self {
        Self::new(Kind::Check, asked)
    }
    /// Bad usage or bad input.
    pub fn usage(asked: impl Into<String>) -> Self {
        Self::new(Kind::Usage, asked)
    }
    /// Something the host lacks.
    pub fn host(asked: impl Into<String>) -> Self {
        Self::new(Kind::Host, asked)
    }
    /// A locator or patch that does not fit the tree.
    pub fn conflict(asked: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, asked)
    }
    /// Adds what was found in place of what was asked.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found.push(found.into());
        self
    }
    /// Adds what mends it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.push(hint.into());
        self
    }
    /// Puts the failure into a wider one: `asked` becomes the first line, the
    /// old first line the first thing found.
    #[must_use]
    pub fn context(mut self, asked: impl Into<String>) -> Self {
        let inner = std::mem::replace(&mut self.asked, asked.into());
        self.found.insert(0, inner);
        self
    }
    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }
    /// What was asked, in one line.
    #[must_use]
    pub fn asked(&self) -> &str {
        &self.asked
    }
    /// What was found, outermost first.
    #[must_use]
    pub fn what_was_found(&self) -> &[String] {
        &self.found
    }
    /// What mends it.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.hint
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.asked)?;
        for found in &self.found {
            for (i, line) in found.lines().enumerate() {
                write!(f, "\n  {}{line}", if i == 0 { "found: " } else { "       " })?;
            }
        }
        for hint in &self.hint {
            for (i, line) in hint.lines().enumerate() {
                write!(f, "\n  {}{line}", if i == 0 { "mend:  " } else { "       " })?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<git2::Error> for Error {
    fn from(e: git2::Error) -> Self {
        Error::host(format!("git: {}", e.message()))
    }
}

/// Turns an I/O error at `path` into a failure that names both, with the mend
/// where there is a usual one.
pub fn io_error(doing: &str, path: &Path, e: &io::Error) -> Error {
    let asked = format!("cannot {doing} {}", path.display());
    // What std says of bytes that are no text: the file is wrong, not the host.
    if doing == "read" && e.kind() == io::ErrorKind::InvalidData {
        return Error::usage(asked)
            .found("it is not UTF-8")
            .hint("convert it, as with iconv -f latin1 -t utf-8");
    }
    let error = Error::host(asked).found(e.to_string());
    match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            error.hint("free some space there, or put the cache elsewhere with XDG_CACHE_HOME")
        }
        io::ErrorKind::PermissionDenied => error.hint("check who owns it and its mode"),
        io::ErrorKind::ReadOnlyFilesystem => {
            error.hint("the file system is mounted read-only; name another place")
        }
        _ => error,
    }
}

/// Adds the path and the deed to an I/O result.
pub trait IoContext<T> {
    /// `doing` is a verb phrase without its object: "read", "create", "rename".
    ///
    /// # Errors
    /// The same failure, with path and deed.
    fn at(self, doing: &str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, doing: &str, path: &Path) -> Result<T> {
        self.map_err(|e| io_error(doing, path, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_none_is_bad_input() {
        let t = tempfile::tempdir().unwrap();
        let path = t.path().join("x");
        std::fs::write(&path, b"K\xf6ln").unwrap();
        let e = std::fs::read_to_string(&path).at("read", &path).unwrap_err();
        assert_eq!(e.kind(), Kind::Usage);
        assert!(e.to_string().contains("not UTF-8"), "{e}");
    }

    #[test]
    fn display_has_found_and_mend_lines() {
        let e =
            Error::usage("no series \"x\"").found("series/a\nseries/b").hint("cargo xtask list");
        assert_eq!(
            e.context("generate-series").to_string(),
            "generate-series\n  found: no series \"x\"\n  found: series/a\n         series/b\n  mend:  cargo xtask list"
        );
    }

    #[test]
    fn kinds_have_the_documented_exit_codes() {
        let codes: Vec<u8> =
            [Kind::Check, Kind::Usage, Kind::Host, Kind::Conflict].map(Kind::exit_code).to_vec();
        assert_eq!(codes, [1, 2, 3, 4]);
    }
}
