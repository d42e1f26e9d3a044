//! All symbols that a kernel tree defines for one architecture: the root Kconfig
//! and what it sources, read into one table.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::build::kconfig::expr::Expr;
use crate::build::kconfig::lang::{Definition, Statement, parse};

/// A definition and the file it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The file, relative to the tree.
    pub file: String,
    /// The definition.
    pub definition: Definition,
}

/// Who selects a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The symbol that has the `select`.
    pub symbol: String,
    /// Its condition.
    pub condition: Option<Expr>,
}

/// The symbols of a tree.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    defined: HashMap<String, Vec<Located>>,
    selected: HashMap<String, Vec<Selector>>,
}

/// More files than any tree has by far: ends a `source` that goes in circles.
const MAX_FILES: usize = 20_000;

impl Symbols {
    /// Reads the tree at `source` for the architecture whose folder is
    /// `arch/SRC_ARCH`. Files that are not there are passed over, as `osource` does.
    #[must_use]
    pub fn read(source: &Path, src_arch: &str) -> Symbols {
        let mut symbols = Symbols::default();
        let mut queue: Vec<(PathBuf, Vec<Expr>)> = vec![(PathBuf::from("Kconfig"), Vec::new())];
        let mut seen = BTreeSet::new();
        while let Some((file, conditions)) = queue.pop() {
            if seen.len() >= MAX_FILES || !seen.insert(file.clone()) {
                continue;
            }
            let Ok(bytes) = std::fs::read(source.join(&file)) else { continue };
            for statement in parse(&String::from_utf8_lossy(&bytes)) {
                match statement {
                    Statement::Symbol(mut definition) => {
                        let mut depends = conditions.clone();
                        depends.append(&mut definition.depends);
                        definition.depends = depends;
                        symbols.add(&file, definition);
                    }
                    Statement::Source { path, relative, conditions: inner } => {
                        let path = expand(&path, src_arch);
                        let base = if relative { file.parent() } else { None };
                        let path = base.map_or_else(|| PathBuf::from(&path), |b| b.join(&path));
                        let all = conditions.iter().cloned().chain(inner).collect();
                        queue.push((path, all));
                    }
                }
            }
        }
        symbols
    }

    fn add(&mut self, file: &Path, definition: Definition) {
        for (target, condition) in &definition.selects {
            self.selected
                .entry(target.clone())
                .or_default()
                .push(Selector { symbol: definition.name.clone(), condition: condition.clone() });
        }
        self.defined
            .entry(definition.name.clone())
            .or_default()
            .push(Located { file: file.display().to_string(), definition });
    }

    /// Whether the tree has the symbol.
    #[must_use]
    pub fn has(&self, symbol: &str) -> bool {
        self.defined.contains_key(symbol)
    }

    /// Whether any was found at all: a folder without a Kconfig has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.defined.is_empty()
    }

    /// The definitions of a symbol.
    #[must_use]
    pub fn definitions(&self, symbol: &str) -> &[Located] {
        self.defined.get(symbol).map_or(&[], Vec::as_slice)
    }

    /// Who selects it.
    #[must_use]
    pub fn selectors(&self, symbol: &str) -> &[Selector] {
        self.selected.get(symbol).map_or(&[], Vec::as_slice)
    }

    /// The other members of the choice that a definition belongs to.
    #[must_use]
    pub fn rivals(&self, of: &Located) -> Vec<&str> {
        let Some(choice) = of.definition.choice else { return Vec::new() };
        let mut names: Vec<&str> = self
            .defined
            .values()
            .flatten()
            .filter(|l| l.file == of.file && l.definition.choice == Some(choice))
            .map(|l| l.definition.name.as_str())
            .filter(|&name| name != of.definition.name)
            .collect();
        names.sort_unstable();
        names
    }

    /// Symbols whose names are near to one that is not there, nearest first.
    #[must_use]
    pub fn similar(&self, symbol: &str) -> Vec<&str> {
        let mut ranked: BTreeMap<(usize, &str), ()> = BTreeMap::new();
        for name in self.defined.keys() {
            let distance = strsim::damerau_levenshtein(symbol, name);
            let near = distance <= 1 + symbol.len() / 5;
            if near || (symbol.len() > 4 && name.ends_with(&format!("_{symbol}"))) {
                ranked.insert((distance, name), ());
            }
        }
        ranked.into_keys().take(3).map(|(_, name)| name).collect()
    }
}

fn expand(path: &str, src_arch: &str) -> String {
    path.replace("$(SRCARCH)", src_arch).replace("$SRCARCH", src_arch)
}

/// The other architectures whose own Kconfig defines the symbol.
#[must_use]
pub fn other_architectures(source: &Path, src_arch: &str, symbol: &str) -> Vec<String> {
    let Ok(folders) = std::fs::read_dir(source.join("arch")) else { return Vec::new() };
    let mut names: Vec<String> = folders
        .flatten()
        .filter_map(|folder| {
            let name = folder.file_name().into_string().ok().filter(|n| n != src_arch)?;
            let text = std::fs::read(folder.path().join("Kconfig")).ok()?;
            let found = parse(&String::from_utf8_lossy(&text))
                .iter()
                .any(|s| matches!(s, Statement::Symbol(d) if d.name == symbol));
            found.then_some(name)
        })
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_followed_with_their_conditions() {
        let t = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = t.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "Kconfig",
            "source \"arch/$(SRCARCH)/Kconfig\"\nif NET\nsource \"net/Kconfig\"\nendif\n",
        );
        write(
            "arch/x86/Kconfig",
            "config X86\n\tdef_bool y\n\tselect HAVE_X if NET\nsource \"Kconfig\"\n",
        );
        write("arch/arm64/Kconfig", "config ARM64\n\tdef_bool y\n");
        write("net/Kconfig", "config PACKET\n\ttristate \"x\"\nrsource \"sub/Kconfig\"\n");
        write("net/sub/Kconfig", "config HAVE_X\n\tbool\n");
        let s = Symbols::read(t.path(), "x86");
        assert!(s.has("X86") && s.has("HAVE_X") && !s.has("ARM64"));
        let packet = &s.definitions("PACKET")[0];
        assert_eq!(packet.definition.depends, [Expr::Symbol("NET".into())]);
        assert_eq!(s.definitions("HAVE_X")[0].definition.depends, [Expr::Symbol("NET".into())]);
        assert_eq!(s.selectors("HAVE_X")[0].symbol, "X86");
        assert_eq!(s.similar("PACKETS"), ["PACKET"]);
        assert_eq!(other_architectures(t.path(), "x86", "ARM64"), ["arm64"]);
        assert!(Symbols::read(&t.path().join("none"), "x86").is_empty());
    }
}
