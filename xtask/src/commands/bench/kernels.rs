//! The kernels of a benchmark: all of them are built before the first one is booted.

use crate::bench::Side;
use crate::build::kconfig::dotconfig::DotConfig;
use crate::build::{Built, product};
use crate::cli::Ctx;
use crate::commands::kernel::Kernel;
use crate::commands::test_vm::group::Group;
use crate::error::{Error, Result};
use crate::render::Rendering;
use crate::series::model::{Bench, Fragment};
use crate::tree::Oid;
use crate::vm::Arch;

/// The fragments of a kernel beside the default ones: a name for folders, and the word for the build.
type Fragments = Vec<(String, String)>;

/// One that is built.
struct One {
    side: Side,
    fragments: Fragments,
    built: Built,
}

/// All of them.
pub struct Kernels {
    baseline: Oid,
    patched: Oid,
    all: Vec<One>,
    more: Vec<String>,
    against_itself: bool,
}

impl Kernels {
    /// Builds what `benches` need: of the tree that the series' first patch stands on, then of the
    /// series. Against itself, the baseline is both.
    ///
    /// # Errors
    /// When the series does not apply, or a build fails.
    pub fn build(
        ctx: &Ctx,
        kernel: &Kernel,
        benches: &[&Bench],
        arch: Arch,
        more: &[String],
        against_itself: bool,
    ) -> Result<Kernels> {
        let Some((series, rendering)) = kernel.applied()? else {
            return Err(Error::usage("build kernels to compare").found("no series is named"));
        };
        let mut kernels = Kernels {
            baseline: rendering.onto,
            patched: if against_itself { rendering.onto } else { rendering.head },
            all: Vec::new(),
            more: more.to_vec(),
            against_itself,
        };
        // One side after the other: the worktree goes from one to the other just once.
        for side in Side::BOTH {
            for bench in benches {
                let fragments = kernels.fragments(bench, side);
                let there = |k: &One| k.side == side && k.fragments == fragments;
                if kernels.all.iter().any(there) {
                    continue;
                }
                let same = kernels.all.iter().find(|k| against_itself && k.fragments == fragments);
                let built = match same {
                    Some(same) => same.built.clone(),
                    None => {
                        let label = label(&series.name, rendering, kernels.is_base(side));
                        build(ctx, kernel, (kernels.commit(side), label), arch, &fragments)?
                    }
                };
                kernels.all.push(One { side, fragments, built });
            }
        }
        Ok(kernels)
    }

    fn is_base(&self, side: Side) -> bool {
        side == Side::Baseline || self.against_itself
    }

    fn fragments(&self, bench: &Bench, side: Side) -> Fragments {
        let own: &[Fragment] = if self.is_base(side) { &[] } else { &bench.kconfig_series };
        let named = bench.kconfig.iter().chain(own).map(|f| (f.short().to_owned(), f.word()));
        named.chain(self.more.iter().map(|m| (m.clone(), m.clone()))).collect()
    }

    /// The kernel of a side for a bench.
    ///
    /// # Errors
    /// When it was not built.
    pub fn of(&self, bench: &Bench, side: Side) -> Result<&Built> {
        let fragments = self.fragments(bench, side);
        let one = self.all.iter().find(|k| k.side == side && k.fragments == fragments);
        one.map(|k| &k.built).ok_or_else(|| {
            Error::host(format!("bench {}", bench.name))
                .found(format!("no {} kernel was built for it", side.name()))
        })
    }

    /// Symbols in which the configurations of a bench's kernels differ, sorted.
    ///
    /// # Errors
    /// When a configuration cannot be read.
    pub fn config_differs(&self, bench: &Bench) -> Result<Vec<String>> {
        let read = |side| DotConfig::read(&self.of(bench, side)?.config);
        let (baseline, patched) = (read(Side::Baseline)?, read(Side::Patched)?);
        Ok(baseline.changed(&patched).into_iter().map(str::to_owned).collect())
    }

    /// The commit of a side.
    #[must_use]
    pub fn commit(&self, side: Side) -> Oid {
        match side {
            Side::Baseline => self.baseline,
            Side::Patched => self.patched,
        }
    }

    /// `uname -r` of a side's kernels, and what compiled them.
    #[must_use]
    pub fn release(&self, side: Side) -> (String, String) {
        let Some(one) = self.all.iter().find(|k| k.side == side) else {
            return ("unknown".into(), "unknown".into());
        };
        let compiler = product::read(&one.built.dir).map(|m| m.inputs.compiler.1);
        (one.built.release.clone(), compiler.unwrap_or_else(|| "unknown".into()))
    }
}

fn label(series: &str, rendering: &Rendering, is_base: bool) -> String {
    let base = &rendering.base;
    match is_base {
        false => format!("{}+{series}", base.name),
        true if rendering.onto == base.commit => base.name.clone(),
        // What the series needs first is no part of what is measured.
        true => format!("{}+below-{series}", base.name),
    }
}

/// Builds in the object directory that a test's kernel of the same configuration has.
fn build(
    ctx: &Ctx,
    kernel: &Kernel,
    (commit, mut label): (Oid, String),
    arch: Arch,
    fragments: &Fragments,
) -> Result<Built> {
    let names: Vec<String> = fragments.iter().map(|(name, _)| name.clone()).collect();
    let group = Group::plain(&names);
    let slug = group.slug();
    if !slug.is_empty() {
        label = format!("{label}+{slug}");
    }
    let word = |name: &String| {
        let known = fragments.iter().find(|(short, _)| short == name);
        known.map_or_else(|| name.clone(), |(_, word)| word.clone())
    };
    let own_files = fragments.iter().any(|(short, word)| short != word);
    // The usual name of a product has its fragments' names: not paths of this machine.
    let output = match own_files {
        true => Some(ctx.dirs.out()?.join("kernels").join(&label).join(arch.name())),
        false => None,
    };
    kernel.build(ctx, (commit, &label), arch.name(), |r| {
        group.fill(r);
        r.fragments = group.fragments.iter().map(word).collect();
        r.output = output;
    })
}
