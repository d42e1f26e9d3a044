//! Finds the base that a series is imported on.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::host::paths::{Dirs, as_project_names};
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
        let spec = lasting(spec, &known, dirs)?;
        return Ok(Found { base, spec });
    }
    let say = |spec: &str, why: &str| ui.note(&format!("base {spec}: {why}"));
    if let Some(spec) = &incoming.base {
        let base = tree::resolve(ui, dirs, store, spec)?;
        let found = match at_hand(ui, dirs, store, &known, base.commit) {
            Some(known) => known,
            None => Found { base, spec: lasting(spec, &known, dirs)? },
        };
        say(&found.spec, "what the commits stand on");
        return Ok(found);
    }
    let Some(commit) = incoming.base_commit else {
        return Err(Error::usage("nothing says what the series was made on")
            .found("no base-commit line in its mails")
            .hint("name the tree with --base; cargo xtask bases list"));
    };
    if let Some(found) = at_hand(ui, dirs, store, &known, commit) {
        say(&found.spec, &format!("it is the base-commit of the mails, {commit}"));
        return Ok(found);
    }
    for path in repo.map(Path::to_owned).into_iter().chain(clones(store)) {
        if let Ok(base) = at(ui, dirs, store, &known, &path, commit) {
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

/// The known base at hand that is this commit. One that cannot be read hides nothing of the others.
fn at_hand(ui: &Ui, dirs: &Dirs, store: &Store, known: &Known, commit: Oid) -> Option<Found> {
    known.names().into_iter().find_map(|name| {
        let base = tree::lookup(ui, dirs, store, name).ok()??;
        (base.commit == commit).then(|| Found { base, spec: name.to_owned() })
    })
}

fn at(
    ui: &Ui,
    dirs: &Dirs,
    store: &Store,
    known: &Known,
    path: &Path,
    commit: Oid,
) -> Result<Found> {
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let spec = format!("{}@{commit}", full.display());
    let base = tree::resolve(ui, dirs, store, &spec)?;
    Ok(Found { base, spec: lasting(&spec, known, dirs)? })
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

/// A spec that means the same from another folder, and where it can on another machine: the name
/// of a known base, else a path from the project.
fn lasting(spec: &str, known: &Known, dirs: &Dirs) -> Result<String> {
    if known.get(spec).is_some() {
        return Ok(spec.to_owned());
    }
    let origin = settled(BaseSpec::parse(spec, known)?.origin);
    if let Some(base) = known.bases().iter().find(|b| settled(b.origin.clone()) == origin) {
        return Ok(base.name.clone());
    }
    let named = |path: &Path| Ok::<_, Error>(as_project_names(dirs.project()?, path));
    Ok(match origin {
        Origin::Clone { path, rev: Some(rev) } => format!("{}@{rev}", named(&path)?),
        Origin::Clone { path, rev: None } | Origin::Archive { path } => named(&path)?,
        _ => spec.to_owned(),
    })
}

/// With links followed, so that one folder has one name.
fn settled(mut origin: Origin) -> Origin {
    if let Origin::Clone { path, .. } | Origin::Archive { path } = &mut origin
        && let Ok(full) = fs::canonicalize(&*path)
    {
        *path = full;
    }
    origin
}
