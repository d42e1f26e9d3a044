//! Which objects are looked at: those of the sources that a series touches, and
//! those that are named; and which of the two trees has each.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use cscan::scan::{ItemKind, scan};

use super::kbuild::builds;
use super::run::LeftOut;
use crate::build::target::Arch;
use crate::error::{Error, Result};
use crate::gates::makefile;
use crate::host::paths::stay_below;
use crate::series::excerpt::did_you_mean;
use crate::tree::view::TreeView;
use crate::tree::{Oid, Store};

/// One of the two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Without the series.
    Before,
    /// With it.
    After,
}

impl Side {
    /// For a reader.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Side::Before => "before",
            Side::After => "after",
        }
    }
}

/// An object to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its path.
    pub object: String,
    /// The trees that have its source.
    pub sides: Vec<Side>,
    /// It was asked for by its name, and is compiled whatever the Makefiles say.
    pub named: bool,
}

/// What is looked at, and what is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The objects, by path.
    pub wanted: Vec<Wanted>,
    /// Objects of touched sources that are none on their own.
    pub left_out: Vec<LeftOut>,
}

/// Functions of a source.
type Defined = BTreeSet<String>;

/// The two trees.
pub struct Sources<'s> {
    before: TreeView<'s>,
    after: TreeView<'s>,
    /// Files that differ.
    touched: Vec<String>,
    defined: RefCell<BTreeMap<(Side, String), Defined>>,
}

/// What is compiled from sources of its own, and is no part of a kernel.
const NOT_OF_A_KERNEL: [&str; 6] =
    ["Documentation/", "rust/", "samples/", "scripts/", "tools/", "usr/"];

impl<'s> Sources<'s> {
    /// Of two trees in the store.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn new(store: &'s Store, before: Oid, after: Oid) -> Result<Sources<'s>> {
        let repo = store.repo();
        let (old, new) = (repo.find_tree(before)?, repo.find_tree(after)?);
        let diff = repo.diff_tree_to_tree(Some(&old), Some(&new), None)?;
        let mut touched = BTreeSet::new();
        for delta in diff.deltas() {
            for file in [delta.old_file(), delta.new_file()] {
                let path = file.path().and_then(|p| p.to_str());
                touched.extend(path.map(str::to_owned));
            }
        }
        Ok(Sources {
            before: TreeView::new(store, before),
            after: TreeView::new(store, after),
            touched: touched.into_iter().collect(),
            defined: RefCell::default(),
        })
    }

    fn view(&self, side: Side) -> &TreeView<'s> {
        match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        }
    }

    /// The source of an object in one of the trees.
    fn source(&self, side: Side, object: &str) -> Result<Option<String>> {
        let stem = object.strip_suffix(".o").unwrap_or(object);
        for extension in ["c", "S"] {
            let path = format!("{stem}.{extension}");
            if self.view(side).entry(&path)?.is_some_and(|(mode, _)| mode.is_blob()) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Whether the Makefiles of one tree build an object with a configuration, whose
    /// symbols `is_set` knows; nothing where the text of none names it.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub fn builds(
        &self,
        side: Side,
        object: &str,
        is_set: &dyn Fn(&str) -> bool,
    ) -> Result<Option<bool>> {
        // One of its folder names it, or of a folder above, with the way down.
        let known = self.says(side, object, is_set)?;
        if known == Some(false) {
            return Ok(known);
        }
        // kbuild may not even go down to its folder.
        for (at, _) in object.match_indices('/') {
            let folder = object.get(..=at).unwrap_or_default();
            if self.says(side, folder, is_set)? == Some(false) {
                return Ok(Some(false));
            }
        }
        Ok(known)
    }

    /// What the Makefiles above an object or a folder (`net/core/`) say of it.
    fn says(&self, side: Side, path: &str, is_set: &dyn Fn(&str) -> bool) -> Result<Option<bool>> {
        let mut known = None;
        let slashes = path.match_indices('/').map(|(at, _)| at + 1);
        for at in std::iter::once(0).chain(slashes).filter(|at| *at < path.len()) {
            let (folder, name) = path.split_at_checked(at).unwrap_or(("", path));
            for file in ["Makefile", "Kbuild"] {
                if let Some(makefile) = self.view(side).read(&format!("{folder}{file}"))? {
                    let text = String::from_utf8_lossy(&makefile.bytes);
                    let said = builds(&text, name, is_set);
                    known = said.map(|b| b || known == Some(true)).or(known);
                }
            }
        }
        Ok(known)
    }

    /// The objects of the touched sources that a kernel of `arch` can have, and the
    /// `named` ones.
    ///
    /// # Errors
    /// When a name is no object, or has a source in neither tree; when there is none at all.
    pub fn objects(&self, arch: &Arch, named: &[String]) -> Result<Chosen> {
        let mut paths: BTreeSet<String> = BTreeSet::new();
        for path in self.touched.iter().filter(|p| is_of_kernel(p, arch)) {
            let stem = path.strip_suffix(".c").or_else(|| path.strip_suffix(".S"));
            paths.extend(stem.map(|stem| format!("{stem}.o")));
        }
        for object in named {
            stay_below(object, "object")?;
            if !object.ends_with(".o") {
                return Err(Error::usage(format!("object {object}"))
                    .found("its name does not end with .o")
                    .hint("name what is made of one source file, such as net/core/dev.o"));
            }
            paths.insert(object.clone());
        }
        let mut chosen = Chosen::default();
        for object in paths {
            let is_named = named.contains(&object);
            let (mut sides, mut included) = (Vec::new(), false);
            for side in [Side::Before, Side::After] {
                let Some(source) = self.source(side, &object)? else { continue };
                let view = self.view(side);
                let (repo, tree) = (view.store().repo(), view.tree_id());
                if !is_named && makefile::is_part_of_another(repo, tree, &source)? {
                    included = true;
                } else {
                    sides.push(side);
                }
            }
            if !sides.is_empty() {
                chosen.wanted.push(Wanted { object, sides, named: is_named });
            } else if included {
                let why = "another source includes its own".to_owned();
                chosen.left_out.push(LeftOut { object, why });
            } else {
                return Err(self.no_source(&object)?);
            }
        }
        if chosen.wanted.is_empty() {
            return Err(Error::usage(format!("objects for {}", arch.name))
                .found("the series touches no .c or .S file of such a kernel")
                .hint("name one that its headers are used in: --object net/core/dev.o"));
        }
        Ok(chosen)
    }

    fn no_source(&self, object: &str) -> Result<Error> {
        let stem = object.strip_suffix(".o").unwrap_or(object);
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        let mut near = Vec::new();
        for listed in self.after.list(folder)?.unwrap_or_default() {
            let stem = listed.name.strip_suffix(".c").or_else(|| listed.name.strip_suffix(".S"));
            near.extend(stem.map(str::to_owned));
        }
        let error = Error::usage(format!("object {object}"))
            .found(format!("neither tree has {stem}.c or {stem}.S"));
        Ok(match did_you_mean(name, near.iter().map(String::as_str)) {
            Some(near) if folder.is_empty() => error.hint(format!("did you mean {near}.o?")),
            Some(near) => error.hint(format!("did you mean {folder}/{near}.o?")),
            None => error.hint("name it as make does, from the top of the tree"),
        })
    }

    /// Whether the source of an object, or a file that the series touches, defines a
    /// function of that name. What cannot be read defines none.
    #[must_use]
    pub fn defines(&self, side: Side, object: &str, function: &str) -> bool {
        let own = self.source(side, object).ok().flatten();
        let others = self.touched.iter().filter(|p| p.ends_with(".h") || p.ends_with(".c"));
        own.iter().chain(others).any(|path| {
            let key = (side, path.clone());
            if let Some(known) = self.defined.borrow().get(&key) {
                return known.contains(function);
            }
            let bytes = self.view(side).read(path).ok().flatten().map(|f| f.bytes);
            let defined = functions(&bytes.unwrap_or_default());
            let found = defined.contains(function);
            self.defined.borrow_mut().insert(key, defined);
            found
        })
    }
}

/// The functions that C defines, by name.
fn functions(source: &[u8]) -> Defined {
    let scan = scan(source);
    let functions = scan.items.iter().filter(|i| i.kind == ItemKind::Function);
    let names = functions.flat_map(|i| &i.names).filter_map(|n| source.get(n.clone()));
    names.map(|n| String::from_utf8_lossy(n).into_owned()).collect()
}

/// Whether a source can be part of a kernel for `arch`.
fn is_of_kernel(path: &str, arch: &Arch) -> bool {
    let ours = path
        .strip_prefix("arch/")
        .is_none_or(|p| p.split('/').next() == Some(arch.src_arch.as_str()));
    ours && !NOT_OF_A_KERNEL.iter().any(|n| path.starts_with(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::target::Targets;

    #[test]
    fn which_sources_are_of_a_kernel() {
        let targets = Targets::load(None).unwrap();
        for (path, arch, want) in [
            ("net/a.c", "x86_64", true),
            ("arch/x86/a.c", "x86_64", true),
            ("arch/x86/a.c", "arm64", false),
            ("arch/powerpc/a.S", "ppc64le", true),
            ("tools/testing/selftests/a.c", "arm64", false),
        ] {
            assert_eq!(is_of_kernel(path, targets.arch(arch).unwrap()), want, "{path} {arch}");
        }
    }

    #[test]
    fn functions_of_a_source() {
        let found =
            functions(b"static int f(void)\n{\n\treturn g();\n}\nint g(void);\nint x = 1;\n");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["f"]);
    }
}
