//! `cargo xtask bases`: the kernel trees that series are rendered onto: which are
//! known, which are at hand, bring one in, forget one.

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::error::{Error, Result};
use crate::tree::{self, Base, Known, Store};

/// Options of `bases`.
#[derive(Debug, Args)]
pub struct Bases {
    /// What to do; without it, `list`.
    #[command(subcommand)]
    deed: Option<Deed>,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// The bases that have a name, and those that were imported.
    List,
    /// One base: its commit, tree, version and where it came from.
    Show {
        /// A known name, CLONE or CLONE@REV, `URL[#REV]`, a tarball, or `debian:PACKAGE[/SUITE]`.
        base: String,
    },
    /// Bring bases into the store, those that are there already only with --refresh.
    Import {
        /// As for `show`.
        #[arg(required = true)]
        bases: Vec<String>,
        /// Take the newest state, even when one is there.
        #[arg(long)]
        refresh: bool,
    },
    /// Put a base's files into its source folder and print where that is.
    Worktree {
        /// As for `show`.
        base: String,
        /// Another commit of the store instead of the base's own.
        #[arg(long)]
        commit: Option<String>,
    },
    /// Remove imported bases from the store; clones are not touched.
    Forget {
        /// As for `show`.
        #[arg(required = true)]
        bases: Vec<String>,
    },
}

#[derive(Serialize)]
struct Line {
    name: String,
    version: Option<String>,
    commit: Option<String>,
    tree: Option<String>,
    origin: String,
    about: String,
}

impl Line {
    fn of(base: &Base) -> Line {
        Line {
            name: base.name.clone(),
            version: Some(base.version.to_string()),
            commit: Some(base.commit.to_string()),
            tree: Some(base.tree.to_string()),
            origin: base.origin.clone(),
            about: String::new(),
        }
    }
}

impl Bases {
    /// Does it.
    ///
    /// # Errors
    /// When a base cannot be found or brought.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let store = Store::open(&ctx.ui, &ctx.dirs)?;
        match self.deed.as_ref().unwrap_or(&Deed::List) {
            Deed::List => list(ctx, &store)?,
            Deed::Show { base } => {
                show(ctx, &[tree::resolve(&ctx.ui, &ctx.dirs, &store, base)?])?;
            }
            Deed::Import { bases, refresh } => {
                let bring = if *refresh { tree::refresh } else { tree::resolve };
                let done: Result<Vec<Base>> =
                    bases.iter().map(|b| bring(&ctx.ui, &ctx.dirs, &store, b)).collect();
                show(ctx, &done?)?;
            }
            Deed::Worktree { base, commit } => {
                let base = tree::resolve(&ctx.ui, &ctx.dirs, &store, base)?;
                let commit = match commit {
                    Some(text) => tree::Oid::from_str(text).map_err(|e| {
                        Error::usage(format!("--commit {text}"))
                            .found(e.message())
                            .hint("give the id of a commit in full")
                    })?,
                    None => base.commit,
                };
                let worktree = tree::worktree(&ctx.ui, &ctx.dirs, &store, &base, commit)?;
                let path = worktree.path.display().to_string();
                ctx.ui.result(&path, |w| writeln!(w, "{path}"))?;
            }
            Deed::Forget { bases } => {
                for base in bases {
                    tree::forget(&ctx.ui, &ctx.dirs, &store, base)?;
                    ctx.ui.note(&format!("{base}: forgotten"));
                }
            }
        }
        Ok(Outcome::Held)
    }
}

fn list(ctx: &Ctx, store: &Store) -> Result<()> {
    let known = Known::load(&ctx.dirs)?;
    let mut records = tree::record::all(store)?;
    let mut lines = Vec::new();
    for base in known.bases() {
        let at = records.iter().position(|r| r.label == base.name && r.origin == base.origin);
        let record = at.map(|i| records.remove(i));
        lines.push(Line {
            name: base.name.clone(),
            version: record.as_ref().map(|r| r.version.to_string()),
            commit: record.as_ref().map(|r| r.commit.to_string()),
            tree: record.as_ref().map(|r| r.tree.to_string()),
            origin: base.origin.to_string(),
            about: base.about.clone(),
        });
    }
    for r in records {
        lines.push(Line {
            name: r.label,
            version: Some(r.version.to_string()),
            commit: Some(r.commit.to_string()),
            tree: Some(r.tree.to_string()),
            origin: r.origin.to_string(),
            about: String::new(),
        });
    }
    ctx.ui.result(&lines, |w| {
        for l in &lines {
            let version = l.version.as_deref().unwrap_or("not here");
            writeln!(w, "{:<18} {version:<12} {}", l.name, l.origin)?;
        }
        Ok(())
    })
}

fn show(ctx: &Ctx, bases: &[Base]) -> Result<()> {
    let lines: Vec<Line> = bases.iter().map(Line::of).collect();
    ctx.ui.result(&lines, |w| {
        for b in bases {
            writeln!(w, "{}: Linux {}", b.name, b.version)?;
            writeln!(w, "  commit  {}", b.commit)?;
            writeln!(w, "  tree    {}", b.tree)?;
            writeln!(w, "  from    {}", b.origin)?;
        }
        Ok(())
    })
}
