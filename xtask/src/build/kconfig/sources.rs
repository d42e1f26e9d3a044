//! Where fragments come from: the project's `kconfigs/`, the ones built into the
//! tool, a path, the tree's own selftests, or a single setting on the command line.

use std::path::{Path, PathBuf};

use crate::build::kconfig::fragment::{self, Line};
use crate::build::kconfig::{Place, is_symbol};
use crate::error::{Error, IoContext as _, Result};

/// The fragments that are built in, so that an installed tool needs no folder.
const BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/fragments.rs"));

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct Shelves<'a> {
    /// The project's folder, when there is a project.
    pub project: Option<&'a Path>,
    /// The kernel tree, for `kselftest:`.
    pub source: &'a Path,
}

/// One fragment as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// As it was asked for.
    pub name: String,
    /// Its text, which is an input of the build.
    pub text: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

impl Shelves<'_> {
    /// Finds a fragment by the word that a user gave to `--config`.
    ///
    /// # Errors
    /// When there is none of that name, or it has a bad line.
    pub fn fragment(&self, word: &str) -> Result<Fragment> {
        if let Some(collection) = word.strip_prefix("kselftest:") {
            return self.kselftest(word, collection);
        }
        let looks_like_path = word.starts_with(['/', '.', '~']) || word.ends_with(".config");
        if looks_like_path {
            let path = Path::new(word);
            let text = std::fs::read(path).at("read the fragment", path);
            let text = text.map_err(|e| e.hint("name a fragment of kconfigs/, or a file"))?;
            return read(word, &String::from_utf8_lossy(&text), false);
        }
        if let Some(path) = self.in_project(word) {
            let text = std::fs::read(&path).at("read", &path)?;
            return read(word, &String::from_utf8_lossy(&text), false);
        }
        match BUILT_IN.iter().find(|(name, _)| *name == word) {
            Some((_, text)) => read(word, text, false),
            None => Err(Error::usage(format!("no configuration fragment \"{word}\""))
                .found(format!("there are: {}", self.names().join(", ")))
                .hint("write it as kconfigs/NAME.config, or give a path such as ./my.config")),
        }
    }

    /// The settings of `--kconfig-add`: `NET=y`, `CONFIG_NET=y`, or a file.
    ///
    /// # Errors
    /// When it is neither.
    pub fn addition(&self, word: &str) -> Result<Fragment> {
        let plain = word.strip_prefix("CONFIG_").unwrap_or(word);
        let setting = plain.split_once('=').is_some_and(|(name, _)| is_symbol(name));
        if !setting {
            if Path::new(word).is_file() {
                let text = std::fs::read(word).at("read the fragment", Path::new(word))?;
                return read(word, &String::from_utf8_lossy(&text), false);
            }
            return self.fragment(word).map_err(|e| {
                e.context(format!("--kconfig-add {word}"))
                    .hint("a setting is NAME=y, NAME=m, NAME=n or NAME=value")
            });
        }
        let place = Place { file: format!("--kconfig-add {word}"), line: 0 };
        let text = format!("CONFIG_{plain}");
        let lines = fragment::parse_line(&text, &place)?.into_iter().collect();
        Ok(Fragment { name: word.to_owned(), text, lines })
    }

    /// The configuration that a selftest collection of the tree asks for. It is
    /// written for the tree's own defconfig and names what an architecture may
    /// lack: all of it counts as optional.
    fn kselftest(&self, word: &str, collection: &str) -> Result<Fragment> {
        crate::host::paths::stay_below(collection, "selftest collection")?;
        let folder = self.source.join("tools/testing/selftests").join(collection);
        let path = folder.join("config");
        if !folder.is_dir() {
            return Err(Error::usage(format!("no selftest collection \"{collection}\""))
                .found(format!("{} is not there", folder.display()))
                .hint("ls tools/testing/selftests in the kernel tree lists them"));
        }
        // A collection without needs has no such file.
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(e).at("read", &path),
        };
        read(word, &String::from_utf8_lossy(&text), true)
    }

    fn in_project(&self, name: &str) -> Option<PathBuf> {
        crate::host::paths::stay_below(name, "fragment").ok()?;
        let path = self.project?.join("kconfigs").join(format!("{name}.config"));
        path.is_file().then_some(path)
    }

    /// All names, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
        if let Some(folder) = self.project.map(|p| p.join("kconfigs")) {
            for entry in walkdir::WalkDir::new(&folder).into_iter().flatten() {
                let name = entry.path().strip_prefix(&folder).ok().and_then(|p| p.to_str());
                names.extend(name.and_then(|n| n.strip_suffix(".config")).map(str::to_owned));
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn read(name: &str, text: &str, lenient: bool) -> Result<Fragment> {
    let lines = if lenient { lenient_lines(name, text) } else { fragment::parse(name, text)? };
    Ok(Fragment { name: name.to_owned(), text: text.to_owned(), lines })
}

/// A selftest's lines: none is a must, and what is no setting is passed over.
fn lenient_lines(name: &str, text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for (i, raw) in text.lines().enumerate() {
        let place = Place { file: name.to_owned(), line: i + 1 };
        if let Ok(Some(mut line)) = fragment::parse_line(raw, &place) {
            line.optional = Some("a selftest's wish".into());
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_fragment_reads() {
        assert!(BUILT_IN.iter().any(|(name, _)| *name == "arch/arm64"));
        let shelves = Shelves { project: None, source: Path::new("/none") };
        for (name, _) in BUILT_IN {
            let f = shelves.fragment(name).unwrap();
            assert!(!f.lines.is_empty(), "{name}");
        }
    }

    #[test]
    fn the_project_comes_first_and_paths_and_settings_are_taken() {
        let t = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(t.path().join("kconfigs")).unwrap();
        std::fs::write(t.path().join("kconfigs/net.config"), "CONFIG_MINE=y\n").unwrap();
        let selftest = t.path().join("tools/testing/selftests/net");
        std::fs::create_dir_all(&selftest).unwrap();
        std::fs::write(selftest.join("config"), "CONFIG_X=m\nnoise\n").unwrap();
        let shelves = Shelves { project: Some(t.path()), source: t.path() };
        assert_eq!(shelves.fragment("net").unwrap().lines[0].symbol, "MINE");
        let path = t.path().join("kconfigs/net.config");
        assert_eq!(shelves.fragment(path.to_str().unwrap()).unwrap().lines[0].symbol, "MINE");
        assert_eq!(shelves.addition(path.to_str().unwrap()).unwrap().lines.len(), 1);
        for word in ["KASAN=n", "CONFIG_KASAN=n"] {
            let line = &shelves.addition(word).unwrap().lines[0];
            assert_eq!(
                (line.symbol.as_str(), line.place.to_string()),
                ("KASAN", format!("--kconfig-add {word}"))
            );
        }
        let wish = &shelves.fragment("kselftest:net").unwrap().lines[..];
        assert!(wish.len() == 1 && wish[0].optional.is_some());
        for bad in ["nett", "../net", "kselftest:nix", "kselftest:../..", "./none.config"] {
            assert!(shelves.fragment(bad).is_err(), "{bad}");
        }
        for bad in ["KASAN", "A-B=y", "A=\"x"] {
            assert!(shelves.addition(bad).is_err(), "{bad}");
        }
    }
}
