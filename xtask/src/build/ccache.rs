//! ccache: how it must be set so that one base's objects serve another's, and
//! what it did in one build.
//!
//! It hits across source folders only when the object directory lies at one place
//! relative to the source, paths below a common folder are made relative
//! (`CCACHE_BASEDIR`), the working folder is not part of the hash
//! (`CCACHE_NOHASHDIR`), and the kernel's build stamps are fixed.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::host::process::Cmd;

/// A ccache that is there, and its settings for one build.
#[derive(Clone, Debug)]
pub struct Ccache {
    env: Vec<(&'static str, String)>,
    log: PathBuf,
}

/// What ccache did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Numbers {
    /// Objects found by their sources.
    pub direct_hits: u64,
    /// Objects found by their preprocessed text.
    pub preprocessed_hits: u64,
    /// Objects compiled.
    pub misses: u64,
    /// Compilations that it could not cache.
    pub uncacheable: u64,
}

impl Numbers {
    /// Objects that need not be compiled.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.direct_hits + self.preprocessed_hits
    }

    /// Objects asked for.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.hits() + self.misses
    }
}

impl Ccache {
    /// Sets it up, when it is there: `cache` is our cache folder, `basedir` the folder
    /// that has both source and objects, when there is one, `state` where the log of this build goes.
    #[must_use]
    pub fn find(cache: &Path, basedir: Option<&Path>, state: &Path) -> Option<Ccache> {
        which::which("ccache").ok()?;
        let log = state.join("ccache.log");
        let mut env = vec![
            ("CCACHE_NOHASHDIR", "1".to_owned()),
            ("CCACHE_STATSLOG", log.display().to_string()),
        ];
        env.extend(basedir.map(|b| ("CCACHE_BASEDIR", b.display().to_string())));
        // The user's own cache and limit count; ours is apart from what they compile else.
        if std::env::var_os("CCACHE_DIR").is_none() {
            env.push(("CCACHE_DIR", cache.join("ccache").display().to_string()));
            if std::env::var_os("CCACHE_MAXSIZE").is_none() {
                env.push(("CCACHE_MAXSIZE", "10G".to_owned()));
            }
        }
        // A log of an earlier build would be counted again.
        let _ = std::fs::remove_file(&log);
        Some(Ccache { env, log })
    }

    /// Gives the settings to a command.
    #[must_use]
    pub fn apply(&self, cmd: Cmd) -> Cmd {
        self.env.iter().fold(cmd, |cmd, (name, value)| cmd.env(name, value))
    }

    /// Reads what this build's compilers did; nothing when the ccache is too old to say.
    #[must_use]
    pub fn numbers(&self) -> Option<Numbers> {
        std::fs::read_to_string(&self.log).ok().map(|log| count(&log))
    }
}

/// Counts the events of a stats log: a `# file` line, then one event a line.
fn count(log: &str) -> Numbers {
    let mut n = Numbers::default();
    for event in log.lines() {
        match event {
            "direct_cache_hit" => n.direct_hits += 1,
            "preprocessed_cache_hit" => n.preprocessed_hits += 1,
            "cache_miss" => n.misses += 1,
            "unsupported_compiler_option"
            | "unsupported_code_directive"
            | "internal_error"
            | "could_not_use_modules"
            | "bad_output_file" => n.uncacheable += 1,
            _ => {}
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_once() {
        let log = "# a.c\ncache_miss\ndirect_cache_miss\nlocal_storage_miss\npreprocessed_cache_miss\n\
                   # a.c\ndirect_cache_hit\nlocal_storage_hit\n# b.c\npreprocessed_cache_hit\n# \nno_input_file\n";
        let n = count(log);
        assert_eq!(n, Numbers { direct_hits: 1, preprocessed_hits: 1, misses: 1, uncacheable: 0 });
        assert_eq!((n.hits(), n.total()), (2, 3));
    }
}
