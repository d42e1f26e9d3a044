//! All inputs of a build in one record, the hash over them, and how two of them
//! differ: the hash decides whether anything is run, the difference says why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::build::request::Identity;
use crate::error::{Error, Result};

/// Raised when the tool builds otherwise from the same inputs, so that products
/// of the older rules are not taken for new ones.
pub const RULES: u32 = 1;

/// Everything that the products depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Inputs {
    /// [`RULES`].
    pub rules: u32,
    /// The tree's content.
    pub source: Identity,
    /// `ARCH=`
    pub arch: String,
    /// The make goal that the configuration starts from, or the text of a file.
    pub start: String,
    /// The fragments, name and text, in order.
    pub fragments: Vec<(String, String)>,
    /// The compiler's command and what it says of itself.
    pub compiler: (String, String),
    /// What the linker says of itself.
    pub linker: String,
    /// The compiler for programs of the build itself.
    pub hostcc: String,
    /// `LLVM=`
    pub llvm: Option<String>,
    /// Variables that were given or are in the environment.
    pub variables: BTreeMap<String, String>,
    /// The goals.
    pub goals: Vec<String>,
}

impl Inputs {
    /// SHA-256 over the record, in hexadecimal.
    ///
    /// # Errors
    /// When the record cannot be written as JSON; it always can.
    pub fn hash(&self) -> Result<String> {
        let bytes = serde_json::to_vec(self)
            .map_err(|e| Error::host("cannot hash the inputs").found(e.to_string()))?;
        Ok(hex(&Sha256::digest(bytes)))
    }

    /// What differs from an `older` record, in words; empty when nothing does.
    #[must_use]
    pub fn reasons(&self, older: &Inputs) -> Vec<String> {
        let mut why = Vec::new();
        let mut differs = |what: &str, old: &str, new: &str| {
            if old != new {
                why.push(format!("{what}: {old} → {new}"));
            }
        };
        differs("the tool's own rules changed", &older.rules.to_string(), &self.rules.to_string());
        differs("another source", &short(&older.source), &short(&self.source));
        differs("another architecture", &older.arch, &self.arch);
        differs("another start of the configuration", first(&older.start), first(&self.start));
        differs("another compiler", &older.compiler.0, &self.compiler.0);
        differs("another version of the compiler", &older.compiler.1, &self.compiler.1);
        differs("another linker", &older.linker, &self.linker);
        differs("another host compiler", &older.hostcc, &self.hostcc);
        let llvm = |i: &Inputs| i.llvm.clone().unwrap_or_else(|| "unset".into());
        differs("another LLVM=", &llvm(older), &llvm(self));
        differs("other goals", &older.goals.join(" "), &self.goals.join(" "));
        for name in union(&older.variables, &self.variables) {
            let value =
                |i: &Inputs| i.variables.get(name).map_or("unset", String::as_str).to_owned();
            differs(&format!("variable {name}"), &value(older), &value(self));
        }
        let names =
            |i: &Inputs| i.fragments.iter().map(|f| f.0.clone()).collect::<Vec<_>>().join(" ");
        if names(older) != names(self) {
            differs("other fragments", &names(older), &names(self));
        } else {
            let edited = older.fragments.iter().zip(&self.fragments).filter(|(a, b)| a != b);
            for (_, (name, _)) in edited {
                why.push(format!("the fragment {name} was edited"));
            }
        }
        why
    }
}

fn union<'a>(a: &'a BTreeMap<String, String>, b: &'a BTreeMap<String, String>) -> Vec<&'a str> {
    let mut names: Vec<&str> = a.keys().chain(b.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn first(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

fn short(source: &Identity) -> String {
    let (kind, id) = match source {
        Identity::Tree { tree, .. } => ("tree", tree),
        Identity::Files { fingerprint } => ("files", fingerprint),
    };
    format!("{kind} {}", id.get(..12).unwrap_or(id))
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The fingerprint of a folder that is not known by a git tree: names, sizes, modes
/// and times of modification of all files, which is what make goes by as well.
/// Version control does not count, nor do the folders of `skip`, such as an object
/// directory that a user keeps in the tree.
///
/// # Errors
/// When the folder cannot be read.
pub fn fingerprint(source: &Path, skip: &[PathBuf]) -> Result<String> {
    use std::os::unix::fs::MetadataExt as _;
    let mut hash = Sha256::new();
    let walk = walkdir::WalkDir::new(source).sort_by_file_name().into_iter();
    let counts = |e: &walkdir::DirEntry| {
        e.file_name() != ".git" && skip.iter().all(|s| s.as_path() != e.path())
    };
    for entry in walk.filter_entry(counts) {
        let unreadable = |e: walkdir::Error| {
            Error::host(format!("cannot read the source {}", source.display())).found(e.to_string())
        };
        let entry = entry.map_err(unreadable)?;
        if entry.file_type().is_dir() {
            continue;
        }
        let meta = entry.metadata().map_err(unreadable)?;
        let name = entry.path().strip_prefix(source).unwrap_or(entry.path());
        hash.update(name.as_os_str().as_encoded_bytes());
        for n in [
            meta.size(),
            u64::from(meta.mode()),
            meta.mtime().cast_unsigned(),
            meta.mtime_nsec().cast_unsigned(),
        ] {
            hash.update(n.to_le_bytes());
        }
    }
    Ok(hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> Inputs {
        Inputs {
            rules: RULES,
            source: Identity::Tree { tree: "a".repeat(40), commit: "c".into() },
            arch: "x86_64".into(),
            start: "allnoconfig".into(),
            fragments: vec![("net".into(), "CONFIG_NET=y".into())],
            compiler: ("gcc".into(), "gcc 12".into()),
            linker: "ld 2.40".into(),
            hostcc: "gcc".into(),
            llvm: None,
            variables: BTreeMap::new(),
            goals: vec!["bzImage".into()],
        }
    }

    #[test]
    fn every_change_changes_the_hash_and_is_said() {
        let base = inputs();
        assert!(base.reasons(&base).is_empty());
        type Change = fn(&mut Inputs);
        let changes: &[(Change, &str)] = &[
            (
                |i| i.source = Identity::Tree { tree: "b".repeat(40), commit: "c".into() },
                "another source: tree aaaaaaaaaaaa → tree bbbbbbbbbbbb",
            ),
            (
                |i| i.compiler.1 = "gcc 13".into(),
                "another version of the compiler: gcc 12 → gcc 13",
            ),
            (|i| i.fragments[0].1.push('x'), "the fragment net was edited"),
            (|i| i.fragments.push(("bpf".into(), String::new())), "other fragments: net → net bpf"),
            (
                |i| {
                    i.variables.insert("W".into(), "1".into());
                },
                "variable W: unset → 1",
            ),
            (|i| i.llvm = Some("1".into()), "another LLVM=: unset → 1"),
            (|i| i.goals.push("modules".into()), "other goals: bzImage → bzImage modules"),
            (|i| i.rules += 1, "the tool's own rules changed: 1 → 2"),
        ];
        for (change, why) in changes {
            let mut new = inputs();
            change(&mut new);
            assert_eq!(new.reasons(&base), [*why]);
            assert_ne!(new.hash().unwrap(), base.hash().unwrap());
        }
    }

    #[test]
    fn a_fingerprint_sees_edits_and_not_git() {
        let t = tempfile::tempdir().unwrap();
        std::fs::write(t.path().join("a"), "1").unwrap();
        let one = fingerprint(t.path(), &[]).unwrap();
        std::fs::create_dir(t.path().join(".git")).unwrap();
        std::fs::write(t.path().join(".git/x"), "1").unwrap();
        assert_eq!(fingerprint(t.path(), &[]).unwrap(), one);
        let build = t.path().join("build");
        std::fs::create_dir(&build).unwrap();
        std::fs::write(build.join("x"), "1").unwrap();
        assert_eq!(fingerprint(t.path(), std::slice::from_ref(&build)).unwrap(), one);
        assert_ne!(fingerprint(t.path(), &[]).unwrap(), one);
        std::fs::remove_dir_all(build).unwrap();
        std::fs::write(t.path().join("a"), "12").unwrap();
        assert_ne!(fingerprint(t.path(), &[]).unwrap(), one);
        assert!(fingerprint(&t.path().join("none"), &[]).is_err());
    }
}
