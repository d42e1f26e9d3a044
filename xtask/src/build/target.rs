//! Build targets: what `targets.toml` says of an architecture, and the toolchain
//! that a user names.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, IoContext as _, Result};

const BUILT_IN: &str = include_str!("../../../kconfigs/targets.toml");

/// The file, as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawTargets {
    default_fragments: Option<Vec<String>>,
    #[serde(default)]
    flavours: BTreeMap<String, String>,
    #[serde(default)]
    arch: BTreeMap<String, Arch>,
}

/// One architecture.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Arch {
    /// The name, which is the table's key.
    #[serde(skip)]
    pub name: String,
    /// Other names that users give it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// `ARCH=` for make.
    pub make_arch: String,
    /// The folder below `arch/`.
    pub src_arch: String,
    /// The prefix of the cross tools, `CROSS_COMPILE=`.
    pub cross_compile: String,
    /// The make goal that makes the image.
    pub image: String,
    /// Where that image is, below the object directory.
    pub image_path: String,
    /// The make goal that a configuration starts from.
    pub start: String,
    /// Fragments that each build of it has.
    #[serde(default)]
    pub fragments: Vec<String>,
    /// Debian's package of the cross compiler.
    pub package: String,
    /// The QEMU program that boots it.
    pub qemu: String,
}

/// All targets that a project knows.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The fragments of a build that names none.
    pub default_fragments: Vec<String>,
    flavours: BTreeMap<String, String>,
    archs: BTreeMap<String, Arch>,
}

impl Targets {
    /// The built-in targets, with the project's own over them.
    ///
    /// # Errors
    /// When the project's file cannot be read or has an unknown key.
    pub fn load(project: Option<&Path>) -> Result<Targets> {
        let mut raw = parse(BUILT_IN, Path::new("built-in targets.toml"))?;
        if let Some(path) = project.map(|p| p.join("kconfigs/targets.toml")).filter(|p| p.exists())
        {
            let bytes = std::fs::read(&path).at("read", &path)?;
            let own = parse(&String::from_utf8_lossy(&bytes), &path)?;
            raw.default_fragments = own.default_fragments.or(raw.default_fragments);
            raw.flavours.extend(own.flavours);
            raw.arch.extend(own.arch);
        }
        for (name, arch) in &mut raw.arch {
            arch.name.clone_from(name);
        }
        Ok(Targets {
            default_fragments: raw.default_fragments.unwrap_or_default(),
            flavours: raw.flavours,
            archs: raw.arch,
        })
    }

    /// An architecture by its name, an alias, or the kernel's name for it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn arch(&self, name: &str) -> Result<&Arch> {
        self.archs
            .get(name)
            .or_else(|| {
                let named = |a: &&Arch| a.make_arch == name || a.aliases.iter().any(|n| n == name);
                self.archs.values().find(named)
            })
            .ok_or_else(|| {
                let known: Vec<&str> = self.archs.keys().map(String::as_str).collect();
                Error::usage(format!("--arch {name}"))
                    .found(format!("known architectures: {}", known.join(", ")))
                    .hint("describe another in kconfigs/targets.toml")
            })
    }

    /// The names of the architectures.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.archs.keys().map(String::as_str).collect()
    }

    /// The names of all flavours.
    #[must_use]
    pub fn all_flavours(&self) -> Vec<&str> {
        self.flavours.keys().map(String::as_str).collect()
    }

    /// Those of `fragments` that make a flavour of their own.
    #[must_use]
    pub fn flavours<'f>(&self, fragments: &'f [String]) -> Vec<&'f str> {
        let mut found: Vec<&str> = fragments
            .iter()
            .map(String::as_str)
            .filter(|f| self.flavours.contains_key(*f))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn parse(text: &str, path: &Path) -> Result<RawTargets> {
    toml::from_str(text).map_err(|e| {
        Error::usage(format!("cannot read {}", path.display()))
            .found(e.to_string())
            .hint("the built-in kconfigs/targets.toml shows every key")
    })
}

/// The name of the architecture that this host has, as `uname -m` says it.
#[must_use]
pub fn host_arch() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        "s390x" => "s390",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases() {
        let targets = Targets::load(None).unwrap();
        for (asked, name) in [
            ("x86_64", "x86_64"),
            ("aarch64", "arm64"),
            ("riscv", "riscv64"),
            ("s390x", "s390"),
            ("powerpc", "ppc64le"),
        ] {
            assert_eq!(targets.arch(asked).unwrap().name, name);
        }
        let e = targets.arch("z80").unwrap_err().to_string();
        assert!(e.contains("arm64"), "{e}");
        let fragments = ["net", "kasan", "debug", "debug"].map(String::from);
        assert_eq!(targets.flavours(&fragments), ["debug", "kasan"]);
        assert!(targets.arch(host_arch()).is_ok());
    }

    #[test]
    fn every_fragment_named_is_there() {
        use crate::build::kconfig::sources::Shelves;
        let targets = Targets::load(None).unwrap();
        let shelves = Shelves { project: None, source: Path::new("/none") };
        let archs = targets.archs.values().flat_map(|a| &a.fragments);
        for name in targets.default_fragments.iter().chain(archs).chain(targets.flavours.keys()) {
            shelves.fragment(name).unwrap();
        }
    }

    #[test]
    fn a_projects_table_is_laid_over() {
        let t = tempfile::tempdir().unwrap();
        let file = t.path().join("kconfigs/targets.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "default-fragments = [\"boot\"]\n[flavours]\nmine = \"x\"\n")
            .unwrap();
        let targets = Targets::load(Some(t.path())).unwrap();
        assert_eq!(targets.default_fragments, ["boot"]);
        assert_eq!(targets.flavours(&["mine".into(), "kasan".into()]), ["kasan", "mine"]);
        std::fs::write(&file, "[arch.x86_64]\nmake_arch = \"x\"\n").unwrap();
        let e = Targets::load(Some(t.path())).unwrap_err().to_string();
        assert!(e.contains("make_arch"), "{e}");
    }
}
