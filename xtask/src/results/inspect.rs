//! What `inspect` found, a folder for each kernel: known by the tree that was
//! compiled, and by the fragments of its configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use git2::Oid;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Asked, Found, short};
use crate::build::inputs::hex;
use crate::error::{Error, IoContext as _, Result};
use crate::host::{atomic, regular};
use crate::inspect::{Function, Run, Side};

/// Changes when a reader of the old form could misread the new one.
pub const FORM: &str = "kseries-inspect-results/1";
/// The name of the kernel that the selftests want.
pub const DEFAULT: &str = "default";

/// Where results of a series on a base are kept.
#[must_use]
pub fn place(out: &Path, series: &str, base: &str) -> PathBuf {
    out.join("inspect").join(series).join(base)
}

/// Keeps one kernel's results below `place`, and the objects that are given.
///
/// # Errors
/// When they cannot be written.
pub fn keep(place: &Path, run: &Run, objects: &[(Side, &BTreeMap<String, Vec<u8>>)]) -> Result<()> {
    let mut folder = atomic::Dir::begin(&place.join(&run.arch).join(&run.kernel))?;
    let json = serde_json::to_vec_pretty(run)
        .map_err(|e| Error::host("keep the results of inspect").found(e.to_string()))?;
    folder.write("results.json", &json)?;
    let mut text = Vec::new();
    run.human(&mut text, &|_| true, false).at("write", place)?;
    folder.write("report.txt", &text)?;
    for (side, objects) in objects {
        for (path, bytes) in *objects {
            let name = format!("{}/{path}", side.word());
            let file = folder.path().join(&name);
            let parent = file.parent().unwrap_or(&file);
            std::fs::create_dir_all(parent).at("create folder", parent)?;
            folder.write(&name, bytes)?;
        }
    }
    folder.commit()
}

/// What is kept, for the cover letter of the series in `asked`.
pub(super) fn find(out: &Path, asked: &Asked<'_>, tree_of: &dyn Fn(Oid) -> Option<Oid>) -> Found {
    let mut other = None;
    let mut runs = Vec::new();
    for path in files(&place(out, asked.series, asked.base)) {
        match read(&path, asked, tree_of) {
            Ok(run) => runs.push(run),
            Err(why) => other = Some(format!("{} {why}", path.display())),
        }
    }
    if runs.is_empty() {
        return other.map_or(Found::Nothing, Found::Other);
    }
    // One key for both, so that a letter can ask for it in one step.
    let by_name: Map<String, Value> =
        runs.iter().map(|r| (format!("{}/{}", r.arch, r.kernel), view(r))).collect();
    let value = json!({
        "series": asked.series,
        "base": asked.base,
        "runs": runs.iter().map(view).collect::<Vec<_>>(),
        "run": by_name,
    });
    match other {
        Some(other) => Found::Partly(value, other),
        None => Found::This(value),
    }
}

/// `ARCH/KERNEL/results.json` below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let below = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut all: Vec<PathBuf> = entries.map(|e| e.path()).collect();
        // What is being written has a hidden name.
        all.retain(|p| p.file_name().is_none_or(|n| !n.as_encoded_bytes().starts_with(b".")));
        all.sort();
        all
    };
    let kernels = below(folder.to_owned()).into_iter().flat_map(below);
    kernels.map(|k| k.join("results.json")).filter(|f| f.symlink_metadata().is_ok()).collect()
}

/// Results of what is rendered; or why they are none.
fn read(
    path: &Path,
    asked: &Asked<'_>,
    tree_of: &dyn Fn(Oid) -> Option<Oid>,
) -> Result<Run, String> {
    let bytes = regular::read(path).map_err(|e| format!("cannot be used: {e}"))?;
    let run: Run =
        serde_json::from_slice(&bytes).map_err(|e| format!("is no report of inspect: {e}"))?;
    if run.form != FORM {
        return Err(format!("has the form {}, not {FORM}", run.form.escape_debug()));
    }
    let commit = Oid::from_str(&run.after).ok();
    let is_it = commit.is_some_and(|c| c == asked.head || tree_of(c) == Some(asked.tree));
    if !is_it {
        let head = asked.head.to_string();
        return Err(format!("is of commit {}, and this is {}", short(&run.after), short(&head)));
    }
    for fragment in &run.fragments {
        let Some(sha256) = &fragment.sha256 else { continue };
        let now = regular::read(Path::new(&fragment.name)).unwrap_or_default();
        if hex(&Sha256::digest(&now)) != *sha256 {
            return Err(format!("was made before {} changed", fragment.name));
        }
    }
    Ok(run)
}

/// As templates see it.
fn view(run: &Run) -> Value {
    let functions: Map<String, Value> = run
        .functions()
        .map(|f| (f.name.clone(), serde_json::to_value(f).unwrap_or_default()))
        .collect();
    let changed: Vec<&Function> = run.functions().filter(|f| f.differs()).collect();
    json!({
        "arch": run.arch,
        "kernel": run.kernel,
        "compiler": run.compiler,
        "date": run.date.get(..10).unwrap_or_default(),
        "total": run.total,
        "changed": run.changed,
        "functions": changed,
        "function": functions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::{Counts, Fragment, Kind, Object, Totals};
    use crate::render::cover::INSPECT;

    fn function(name: &str, before: u64, after: u64) -> Function {
        let counts = |jump_tables| Some(Counts { jump_tables, bytes: 10, ..Counts::default() });
        let kind = if before == after { Kind::Same } else { Kind::Changed };
        let (before, after) = (counts(before), counts(after));
        Function { name: name.into(), was: None, kind, why: None, before, after }
    }

    fn run(after: Oid, arch: &str, kernel: &str) -> Run {
        let functions = vec![function("f", 1, 0), function("g", 2, 2)];
        Run {
            form: FORM.into(),
            series: "s".into(),
            base: "6.12".into(),
            before: "b".into(),
            after: after.to_string(),
            tree: "t".into(),
            arch: arch.into(),
            kernel: kernel.into(),
            compiler: "gcc 12.2".into(),
            config: "c".into(),
            fragments: Vec::new(),
            date: "2026-01-02T03:04:05Z".into(),
            total: Totals::of(&functions),
            changed: Totals::of(functions.iter().filter(|f| f.differs())),
            left_out: Vec::new(),
            objects: vec![Object { object: "a.o".into(), functions }],
        }
    }

    #[test]
    fn kernels_of_this_tree_count() {
        let t = tempfile::tempdir().unwrap();
        let out = t.path().join("out");
        let id = |n: u8| Oid::from_bytes(&[n; 20]).unwrap();
        let (head, tree) = (id(1), id(9));
        let asked = Asked { series: "s", folder: t.path(), base: "6.12", spec: "6.12", head, tree };
        // Commit 3 is another one with the same tree.
        let tree_of = |commit| (commit == id(3)).then_some(tree);
        let seen = || match find(&out, &asked, &tree_of) {
            Found::This(v) => Ok(v),
            Found::Partly(_, what) | Found::Other(what) => Err(what),
            Found::Nothing => Err("nothing".to_owned()),
        };
        let keep = |run: &Run| keep(&place(&out, "s", "6.12"), run, &[]).unwrap();
        assert_eq!(seen().unwrap_err(), "nothing");
        keep(&run(id(2), "x86_64", "default"));
        assert!(seen().unwrap_err().contains("results.json is of commit 0202"));
        keep(&run(head, "x86_64", "default"));
        keep(&run(id(3), "arm64", "default"));
        let fragment = t.path().join("plain.config");
        std::fs::write(&fragment, "CONFIG_A=y\n").unwrap();
        let mut plain = run(head, "x86_64", "no-retpolines");
        plain.fragments.push(Fragment {
            name: fragment.display().to_string(),
            sha256: Some(hex(&Sha256::digest("CONFIG_A=y\n"))),
        });
        keep(&plain);
        let v = seen().unwrap();
        assert_eq!(v["runs"].as_array().unwrap().len(), 3);
        let mut known = INSPECT.map(str::to_owned).to_vec();
        known.sort();
        assert_eq!(v.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), known);
        let one = &v["run"]["x86_64/no-retpolines"];
        assert_eq!(one["changed"]["before"]["jump_tables"], 1);
        assert_eq!(one["total"]["after"]["jump_tables"], 2);
        assert_eq!(one["function"]["g"]["after"]["jump_tables"], 2);
        assert_eq!(one["functions"].as_array().unwrap().len(), 1);

        std::fs::write(&fragment, "CONFIG_A=m\n").unwrap();
        // Of those that are of something else the user hears.
        match find(&out, &asked, &tree_of) {
            Found::Partly(v, what) => {
                assert_eq!(v["runs"].as_array().unwrap().len(), 2);
                assert!(what.contains("plain.config changed"), "{what}");
            }
            _ => panic!("{:?}", seen()),
        }
        std::fs::remove_dir_all(place(&out, "s", "6.12").join("arm64")).unwrap();
        std::fs::remove_dir_all(place(&out, "s", "6.12").join("x86_64/default")).unwrap();
        assert!(seen().unwrap_err().contains("plain.config changed"));
        let file = place(&out, "s", "6.12").join("x86_64/no-retpolines/results.json");
        std::fs::write(&file, "{").unwrap();
        assert!(seen().unwrap_err().contains("is no report of inspect"));
        // What is damaged might be anybody's, and is not replaced.
        std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
        let mut old = run(head, "x86_64", "no-retpolines");
        old.form = "x".into();
        keep(&old);
        assert!(seen().unwrap_err().contains("has the form x"));
    }
}
