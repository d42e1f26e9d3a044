//! Kernel modules for a guest: found, unpacked, with what they depend on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSection as _};

use crate::error::{Error, IoContext as _, Result};

/// A module as it goes into the guest.
#[derive(Debug)]
pub(super) struct Module {
    /// Its name, with `_`.
    pub name: String,
    /// The unpacked `.ko`.
    pub bytes: Vec<u8>,
    /// What it depends on, in the order in which to load, itself last.
    pub chain: Vec<String>,
    /// Patterns that the kernel asks modprobe for.
    pub aliases: Vec<String>,
    /// The release of the kernel that it was built for.
    pub release: String,
}

/// Where the modules of one kernel are.
#[derive(Debug)]
pub(super) struct Tree {
    dir: PathBuf,
    files: HashMap<String, PathBuf>,
}

impl Tree {
    /// Looks through `dir`: an objdir (by its `modules.order`) or `lib/modules/RELEASE`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(dir: &Path) -> Result<Tree> {
        let order = dir.join("modules.order");
        let mut files = HashMap::new();
        if let Ok(text) = std::fs::read_to_string(&order) {
            for line in text.lines() {
                // Up to 6.1 the list names .ko files, then .o files.
                let path = dir.join(line).with_extension("ko");
                let kernel = dir.join("kernel").join(line);
                for path in [path, kernel] {
                    insert(&mut files, &path);
                }
            }
        }
        if files.is_empty() {
            for entry in walkdir::WalkDir::new(dir) {
                let entry = entry.map_err(|e| {
                    Error::usage(format!("modules of {}", dir.display())).found(e.to_string())
                })?;
                insert(&mut files, entry.path());
            }
        }
        Ok(Tree { dir: dir.to_owned(), files })
    }

    /// The modules of that name and everything they depend on, each once.
    ///
    /// # Errors
    /// When one is not there or cannot be read.
    pub fn take(&self, names: &[String]) -> Result<Vec<Module>> {
        let mut found: BTreeMap<String, Module> = BTreeMap::new();
        for name in names {
            self.collect(&plain(name), &mut found, &mut BTreeSet::new())?;
        }
        Ok(found.into_values().collect())
    }

    fn collect(
        &self,
        name: &str,
        found: &mut BTreeMap<String, Module>,
        above: &mut BTreeSet<String>,
    ) -> Result<Vec<String>> {
        if let Some(have) = found.get(name) {
            return Ok(have.chain.clone());
        }
        if !above.insert(name.to_owned()) {
            return Err(Error::usage(format!("module {name}")).found("it depends on itself"));
        }
        let path = self.files.get(name).ok_or_else(|| {
            Error::usage(format!("module {name}"))
                .found(format!(
                    "{} has no {name}.ko among {} modules",
                    self.dir.display(),
                    self.files.len()
                ))
                .hint("set its symbol to m in the kernel's configuration")
        })?;
        let bytes = unpack(path)?;
        let info = info(&bytes).ok_or_else(|| {
            Error::usage(format!("module {}", path.display())).found("it is no ELF module")
        })?;
        let mut chain: Vec<String> = Vec::new();
        for dependency in &info.depends {
            for link in self.collect(dependency, found, above)? {
                if !chain.contains(&link) {
                    chain.push(link);
                }
            }
        }
        chain.push(name.to_owned());
        above.remove(name);
        let module = Module {
            name: name.to_owned(),
            bytes,
            chain: chain.clone(),
            aliases: info.aliases,
            release: info.release,
        };
        found.insert(name.to_owned(), module);
        Ok(chain)
    }

    /// The names among `wanted` that are modules here.
    pub fn present(&self, wanted: &[&str]) -> Vec<String> {
        wanted.iter().filter(|w| self.files.contains_key(**w)).map(|w| (*w).to_owned()).collect()
    }
}

fn insert(files: &mut HashMap<String, PathBuf>, path: &Path) {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return };
    let stem = ["", ".xz", ".zst", ".gz"]
        .iter()
        .find_map(|pack| name.strip_suffix(pack)?.strip_suffix(".ko"));
    if let Some(stem) = stem
        && path.is_file()
    {
        files.insert(plain(stem), path.to_owned());
    }
}

fn plain(name: &str) -> String {
    name.replace('-', "_")
}

fn unpack(path: &Path) -> Result<Vec<u8>> {
    let packed = std::fs::read(path).at("read", path)?;
    let mut out = Vec::new();
    let done = match path.extension().and_then(|e| e.to_str()) {
        Some("xz") => liblzma::read::XzDecoder::new(&packed[..]).read_to_end(&mut out),
        Some("zst") => zstd::stream::copy_decode(&packed[..], &mut out).map(|()| 0),
        Some("gz") => flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut out),
        _ => return Ok(packed),
    };
    done.at("unpack", path)?;
    Ok(out)
}

#[derive(Debug, Default, PartialEq)]
struct Info {
    release: String,
    depends: Vec<String>,
    aliases: Vec<String>,
}

/// What the `.modinfo` section says: `key=value` strings, each ended by a NUL.
fn info(bytes: &[u8]) -> Option<Info> {
    let file = object::File::parse(bytes).ok()?;
    let section = file.section_by_name(".modinfo")?;
    let data = section.uncompressed_data().ok()?;
    let mut out = Info::default();
    for entry in data.split(|b| *b == 0) {
        let Some((key, value)) = std::str::from_utf8(entry).ok().and_then(|e| e.split_once('='))
        else {
            continue;
        };
        match key {
            "depends" => {
                out.depends = value.split(',').filter(|d| !d.is_empty()).map(plain).collect();
            }
            "vermagic" => value.split(' ').next().unwrap_or("").clone_into(&mut out.release),
            "alias" => out.aliases.push(value.to_owned()),
            _ => {}
        }
    }
    Some(out)
}

/// The lists that modprobe reads, busybox's and the agent's: `modules.dep` (a file,
/// and what to load before it, last first) and `modules.alias`.
pub(super) fn lists(modules: &[Module]) -> [(&'static str, String); 2] {
    let (mut dep, mut alias) = (String::new(), String::new());
    for m in modules {
        let before: String =
            m.chain.iter().rev().skip(1).map(|link| format!(" {link}.ko")).collect();
        dep.push_str(&format!("{}.ko:{before}\n", m.name));
        for pattern in
            m.aliases.iter().filter(|a| !a.is_empty() && !a.contains(char::is_whitespace))
        {
            alias.push_str(&format!("alias {pattern} {}\n", m.name));
        }
    }
    [("modules.dep", dep), ("modules.alias", alias)]
}

/// The folder of the modules in a guest, by their own word on the kernel's release.
pub(super) fn folder(modules: &[Module]) -> String {
    let release = modules.iter().map(|m| m.release.as_str()).find(|r| !r.is_empty());
    let plain = release.filter(|r| !r.contains('/') && *r != "." && *r != "..");
    format!("lib/modules/{}", plain.unwrap_or("unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::write::{Object, SectionId};

    fn module(depends: &str, alias: &str) -> Vec<u8> {
        let mut o = Object::new(
            object::BinaryFormat::Elf,
            object::Architecture::X86_64,
            object::Endianness::Little,
        );
        let id: SectionId =
            o.add_section(Vec::new(), b".modinfo".to_vec(), object::SectionKind::ReadOnlyData);
        let text =
            format!("license=GPL\0vermagic=6.12.1 SMP\0depends={depends}\0alias={alias}\0\0");
        o.append_section_data(id, text.as_bytes(), 1);
        o.write().unwrap()
    }

    fn tree(files: &[(&str, Vec<u8>)]) -> (tempfile::TempDir, Tree) {
        let t = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = t.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let tree = Tree::open(t.path()).unwrap();
        (t, tree)
    }

    #[test]
    fn dependencies_come_first_and_packed_modules_are_unpacked() {
        let zst = zstd::encode_all(&module("", "net-pf-17")[..], 3).unwrap();
        let (_t, tree) = tree(&[
            ("net/a-b.ko", module("c,d", "")),
            ("net/c.ko.zst", zst),
            ("d.ko", module("c", "x y")),
            ("README", b"no".to_vec()),
        ]);
        let got = tree.take(&["a_b".into(), "c".into()]).unwrap();
        let [(_, dep), (_, alias)] = lists(&got);
        assert_eq!(dep, "a_b.ko: d.ko c.ko\nc.ko:\nd.ko: c.ko\n");
        assert_eq!(alias, "alias net-pf-17 c\n");
        assert_eq!(folder(&got), "lib/modules/6.12.1");
        assert_eq!(got[1].bytes, module("", "net-pf-17"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let (_t, tree) =
            tree(&[("a.ko", module("b", "")), ("b.ko", module("a", "")), ("x.ko", b"no".to_vec())]);
        for (name, want) in
            [("zz", "has no zz.ko"), ("a", "depends on itself"), ("x", "no ELF module")]
        {
            let e = tree.take(&[name.to_owned()]).unwrap_err().to_string();
            assert!(e.contains(want), "{e}");
        }
    }

    #[test]
    fn an_objdir_is_read_by_its_list() {
        for list in ["net/p/af_packet.ko\n", "net/p/af_packet.o\n"] {
            let (_t, tree) = tree(&[
                ("modules.order", list.as_bytes().to_vec()),
                ("net/p/af_packet.ko", module("", "")),
                ("stale.ko", module("", "")),
            ]);
            assert_eq!(tree.present(&["af_packet", "stale"]), ["af_packet"]);
        }
    }
}
