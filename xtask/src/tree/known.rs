//! The bases that have a name: `bases.toml` of this project, and the user's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::host::paths::Dirs;
use crate::host::regular;
use crate::tree::spec;

/// Where a base comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A git clone on this machine, read-only.
    Clone {
        /// Its folder.
        path: PathBuf,
        /// What is wanted of it; HEAD when not said.
        rev: Option<String>,
    },
    /// A git repository elsewhere.
    Git {
        /// Its URL.
        url: String,
        /// Branch, tag or commit; its HEAD when not said.
        branch: Option<String>,
    },
    /// A Debian package of kernel source.
    Debian {
        /// Its name.
        package: String,
        /// The suite that has it; the system's own when not said.
        suite: Option<String>,
        /// Whether only that suite's will do, even when the system's own have it.
        exact: bool,
    },
    /// A tarball or Debian package on this machine.
    Archive {
        /// Its path.
        path: PathBuf,
    },
    /// A tarball elsewhere.
    ArchiveUrl {
        /// Its URL.
        url: String,
    },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Clone { path, rev: Some(rev) } => write!(f, "{} at {rev}", path.display()),
            Origin::Clone { path, rev: None } => write!(f, "{} at HEAD", path.display()),
            Origin::Git { url, branch: Some(branch) } => write!(f, "{url} {branch}"),
            Origin::Git { url, branch: None } => write!(f, "{url}"),
            Origin::Debian { package, suite: Some(suite), .. } => {
                write!(f, "Debian package {package} ({suite})")
            }
            Origin::Debian { package, suite: None, .. } => write!(f, "Debian package {package}"),
            Origin::Archive { path } => write!(f, "{}", path.display()),
            Origin::ArchiveUrl { url } => write!(f, "{url}"),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    /// The base of commands that are not told one.
    default: Option<String>,
    #[serde(default)]
    base: BTreeMap<String, RawBase>,
    #[serde(default)]
    debian: RawDebian,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBase {
    #[serde(default)]
    about: String,
    git: Option<String>,
    branch: Option<String>,
    debian: Option<String>,
    suite: Option<String>,
    archive: Option<String>,
    clone: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDebian {
    mirror: Option<String>,
    #[serde(rename = "security-mirror")]
    security_mirror: Option<String>,
}

/// One named base.
#[derive(Clone, Debug)]
pub struct KnownBase {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// All named bases.
#[derive(Clone, Debug, Default)]
pub struct Known {
    bases: Vec<KnownBase>,
    default: Option<String>,
    /// Debian mirrors that the user names, for a system that is not Debian.
    pub(crate) mirror: Option<String>,
    pub(crate) security_mirror: Option<String>,
}

impl Known {
    /// The project's list with the user's additions.
    ///
    /// # Errors
    /// When the user's file is not well-formed.
    pub fn load(dirs: &Dirs) -> Result<Known> {
        let mut known = Known::embedded()?;
        let path = dirs.config().join("bases.toml");
        if let Some(text) = regular::text_if_there(&path)? {
            known.add(&text, &path)?;
        }
        Ok(known)
    }

    /// The project's list alone.
    ///
    /// # Errors
    /// Never: a test reads it.
    pub fn embedded() -> Result<Known> {
        let mut known = Known::default();
        known.add(include_str!("../../../bases.toml"), Path::new("bases.toml"))?;
        Ok(known)
    }

    fn add(&mut self, text: &str, path: &Path) -> Result<()> {
        let asked = || format!("the list of bases {}", path.display());
        let raw: RawFile =
            toml::from_str(text).map_err(|e| Error::usage(asked()).found(e.to_string()))?;
        for (name, base) in raw.base {
            let origin = origin(&name, &base).map_err(|e| e.context(asked()))?;
            self.bases.retain(|b| b.name != name);
            self.bases.push(KnownBase { name, about: base.about, origin });
        }
        self.default = raw.default.or(self.default.take());
        self.mirror = raw.debian.mirror.or(self.mirror.take());
        self.security_mirror = raw.debian.security_mirror.or(self.security_mirror.take());
        Ok(())
    }

    /// Every named base: the project's by name, then the user's.
    #[must_use]
    pub fn bases(&self) -> &[KnownBase] {
        &self.bases
    }

    /// The names.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.bases.iter().map(|b| b.name.as_str()).collect()
    }

    /// The base that the user's file names as default.
    #[must_use]
    pub fn default_base(&self) -> Option<&str> {
        self.default.as_deref()
    }

    /// Where the base of this name comes from.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Origin> {
        self.bases.iter().find(|b| b.name == name).map(|b| &b.origin)
    }

    /// The names that may have been meant, the nearest first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        let mut near: Vec<(f32, &str)> = self
            .names()
            .into_iter()
            .map(|n| (similar::TextDiff::from_chars(name, n).ratio(), n))
            .filter(|(ratio, _)| *ratio >= 0.5)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.into_iter().take(3).map(|(_, n)| n).collect()
    }
}

fn origin(name: &str, raw: &RawBase) -> Result<Origin> {
    let bad = |why: &str| {
        Error::usage(format!("base \"{name}\"")).found(why).hint(
            "give it one of: git (with branch), debian (with suite), archive, clone (with branch)",
        )
    };
    // Relative to what would be anyone's guess.
    let place = |path: &str| {
        let path = spec::expand_home(path);
        if path.is_absolute() { Ok(path) } else { Err(bad("its path is not absolute")) }
    };
    let origin = match (&raw.git, &raw.debian, &raw.archive, &raw.clone) {
        (Some(url), None, None, None) => {
            Origin::Git { url: url.clone(), branch: raw.branch.clone() }
        }
        (None, Some(package), None, None) => {
            spec::check_debian(name, package, raw.suite.as_deref())?;
            Origin::Debian { package: package.clone(), suite: raw.suite.clone(), exact: false }
        }
        (None, None, Some(at), None) if at.contains("://") => {
            Origin::ArchiveUrl { url: at.clone() }
        }
        (None, None, Some(at), None) => Origin::Archive { path: place(at)? },
        (None, None, None, Some(path)) => {
            Origin::Clone { path: place(path)?, rev: raw.branch.clone() }
        }
        (None, None, None, None) => return Err(bad("it does not say where it comes from")),
        _ => return Err(bad("it says more than one place to come from")),
    };
    let has_branch = matches!(origin, Origin::Git { .. } | Origin::Clone { .. });
    if raw.branch.is_some() && !has_branch {
        return Err(bad("a branch means nothing there"));
    }
    if raw.suite.is_some() && raw.debian.is_none() {
        return Err(bad("a suite means nothing there"));
    }
    Ok(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projects_list_is_well_formed() {
        let known = Known::embedded().unwrap();
        for name in ["net-next", "bpf-next", "mainline", "5.10", "6.1", "6.12", "7.2", "7.3"] {
            assert!(known.get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_users_list_adds_and_replaces() {
        let mut known = Known::embedded().unwrap();
        known
            .add("default = \"mine\"\n[base.mine]\nclone = \"/l\"\nbranch = \"v6\"\n[base.\"6.1\"]\narchive = \"/a.tar\"\n", Path::new("u"))
            .unwrap();
        assert_eq!(known.default_base(), Some("mine"));
        assert_eq!(known.get("6.1"), Some(&Origin::Archive { path: "/a.tar".into() }));
        assert_eq!(known.names().iter().filter(|n| **n == "6.1").count(), 1);
    }

    #[test]
    fn bad_lists_say_where() {
        for (text, says) in [
            ("[base.x]\n", "where it comes from"),
            ("[base.x]\ngit = \"u\"\ndebian = \"p\"\n", "more than one place"),
            ("[base.x]\ndebian = \"p\"\nbranch = \"b\"\n", "branch means nothing"),
            ("[base.x]\ngit = \"u\"\nsuite = \"b\"\n", "suite means nothing"),
            ("[base.x]\ndebian = \"-o\"\n", "no name of a Debian package"),
            ("[base.x]\nclone = \"linux\"\n", "not absolute"),
            ("[base.x]\ngti = \"u\"\n", "unknown field `gti`"),
            ("base = 1\n", "line 1"),
        ] {
            let e = Known::default().add(text, Path::new("f.toml")).unwrap_err().to_string();
            assert!(e.contains(says) && e.contains("f.toml"), "{text}: {e}");
        }
    }
}
