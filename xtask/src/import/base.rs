//! Finds the base that a series is imported on.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::host::paths::Dirs;
use crate::host::ui::Ui;
use crate::tree::{self, Base, BaseSpec, Known, Oid, Origin, Store};

use super::incoming::Incoming;
use super::range;

/// A base, and what a series calls it.
#[derive(Debug)]
pub struct Found {
    /// The base.
    pub base: Base,
    /// The spec for `bases`.
    pub spec: String,
}

/// The base named `wanted`; else the one that the source names, by a path or by
/// its `base-commit`, which is sought among the bases at hand, in `repo`, and in
/// the clones that the store knows.
///
/// # Errors
/// When it cannot be had, or nothing names one.
pub fn find(
    ui: &Ui,
    dirs: &Dirs,
    store: &Store,
    incoming: &mut Incoming,
    wanted: Option<&str>,
    repo: Option<&Path>,
) -> Result<Found> {
    let known = Known::load(dirs)?;
    if let Some(spec) = wanted {
        let base = tree::resolve(ui, dirs, store, spec)?;
        if let Some(made_on) = incoming.base_commit.filter(|c| *c != base.commit) {
            ui.note(&format!("the series was made on {made_on}; it is imported on {}", base.name));
        }
        // Commits stand on a tree of their own.
        if let Some(own) = &incoming.base {
            let own = tree::resolve(ui, dirs, store, own)?;
            if own.tree != base.tree {
                range::detach(store, own.tree, incoming)?;
            }
        }
        let spec = lasting(spec, &known)?;
        return Ok(Found { base, spec });
    }
    let say = |spec: &str, why: &str| ui.note(&format!("base {spec}: {why}"));
    if let Some(spec) = &incoming.base {
        let base = tree::resolve(ui, dirs, store, spec)?;
        say(spec, "what the commits stand on");
        return Ok(Found { base, spec: spec.clone() });
    }
    let Some(commit) = incoming.base_commit else {
        return Err(Error::usage("nothing says what the series was made on")
            .found("no base-commit line in its mails")
            .hint("name the tree with --base; cargo xtask bases list"));
    };
    for name in known.names() {
        if let Some(base) = tree::lookup(ui, dirs, store, name)?.filter(|b| b.commit == commit) {
            say(name, &format!("it is the base-commit of the mails, {commit}"));
            return Ok(Found { base, spec: name.to_owned() });
        }
    }
    for path in repo.map(Path::to_owned).into_iter().chain(clones(store)) {
        if let Ok(base) = at(ui, dirs, store, &path, commit) {
            let whose = if repo.is_some_and(|r| r == path) { "--repo" } else { "a known clone" };
            say(&base.spec, &format!("{whose} has the base-commit of the mails"));
            return Ok(base);
        }
    }
    Err(Error::usage(format!("the base commit {commit} is not at hand"))
        .found("neither among the bases in the store, nor in a clone that is known")
        .hint("name a clone that has it with --repo PATH")
        .hint("or another tree with --base"))
}

fn at(ui: &Ui, dirs: &Dirs, store: &Store, path: &Path, commit: Oid) -> Result<Found> {
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let spec = format!("{}@{commit}", full.display());
    Ok(Found { base: tree::resolve(ui, dirs, store, &spec)?, spec })
}

/// The clones whose objects the store reads.
fn clones(store: &Store) -> Vec<std::path::PathBuf> {
    let list = fs::read_to_string(store.path().join("objects/info/alternates"));
    let list = list.unwrap_or_default();
    let clone = |objects: &str| {
        let git = Path::new(objects).parent()?;
        // A checkout is named by its folder, a bare repository by itself.
        let top = if git.ends_with(".git") { git.parent()? } else { git };
        Some(top.to_owned())
    };
    list.lines().filter_map(clone).collect()
}

/// A spec that means the same from another folder.
fn lasting(spec: &str, known: &Known) -> Result<String> {
    Ok(match BaseSpec::parse(spec, known)?.origin {
        _ if known.get(spec).is_some() => spec.to_owned(),
        Origin::Clone { path, rev: Some(rev) } => format!("{}@{rev}", path.display()),
        Origin::Clone { path, rev: None } | Origin::Archive { path } => path.display().to_string(),
        _ => spec.to_owned(),
    })
}
