//! `cargo xtask inspect`: the machine code of a series' objects, before and after.

mod compile;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use self::compile::{Compiled, Compiler, Setup};
use crate::build;
use crate::build::inputs::hex;
use crate::build::target::{Targets, host_arch};
use crate::cli::{Ctx, Outcome};
use crate::commands::kernel::Kernel;
use crate::commands::test_vm::group::Group;
use crate::error::{Error, IoContext as _, Result};
use crate::host::output;
use crate::inspect::{
    Chosen, Fragment, Function, Object, Run, Side, Sources, Totals, Wanted, measure,
};
use crate::render::{Choice, Rendering};
use crate::results;
use crate::series::excerpt::did_you_mean;
use crate::series::model::{InspectKernel, Series};

/// Options of `inspect`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Inspect {
    /// The series.
    series: String,
    /// The base. Default: the user's, else the series' first one that is at hand.
    #[arg(long, value_name = "BASE")]
    base: Option<String>,
    /// An optional patch of the series.
    #[arg(long = "with", value_name = "PATCH")]
    with: Vec<String>,
    /// All optional patches of the series.
    #[arg(long)]
    with_optional: bool,
    /// Architectures. Default: those of the series' `[inspect]` table, else this host's.
    #[arg(short = 'a', long, value_name = "ARCH", value_delimiter = ',')]
    arch: Vec<String>,
    /// Only these kernels of the series' `[inspect]` table; `default` is the one its tests want.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    kernel: Vec<String>,
    /// One kernel with more configuration instead: fragments of kconfigs/, or files.
    #[arg(long, value_name = "FRAGMENT", value_delimiter = ',', conflicts_with = "kernel")]
    config: Vec<String>,
    /// gcc, gcc-N, clang or clang-N. Default: what LLVM and CC say, else gcc.
    #[arg(short = 't', long, value_name = "TOOLCHAIN")]
    toolchain: Option<String>,
    /// One more object beside those of the sources that the series touches: net/core/gro.o.
    #[arg(long = "object", value_name = "PATH.o")]
    objects: Vec<String>,
    /// Tells of these functions, changed or not, and of no others.
    #[arg(long = "function", value_name = "NAME")]
    functions: Vec<String>,
    /// Tells of all functions, not only of those whose figures change.
    #[arg(long, conflicts_with = "functions")]
    all: bool,
    /// Keeps the objects beside the results, below before/ and after/.
    #[arg(long)]
    keep: bool,
    /// Where the results go. Default: out/inspect/SERIES/BASE, where cover letters find them.
    #[arg(short = 'o', long, value_name = "DIR")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Both trees are compiled with the configuration that the series' tests want, single objects only. \
Calls and jumps are told apart by the disassembler and by relocations: a retpoline is a call of or \
jump to a thunk, a static call one of its trampoline. A jump table counts where relocations prove \
it. Results: results.json and report.txt in ARCH/KERNEL, which a cover letter sees as `inspect`.

  cargo xtask inspect cpumap-gro --base 6.12
  cargo xtask inspect i40e-if-clause --base 6.12 --arch x86_64,arm64
  cargo xtask inspect dynamic-calls --object net/core/gro.o --function napi_gro_receive
  cargo xtask inspect cpumap-gro --toolchain clang --config ./mine.config --format json";

/// One kernel and what became of it.
struct Done {
    run: Run,
    compiled: Compiled,
}

impl Inspect {
    /// Compiles, compares, keeps and tells.
    ///
    /// # Errors
    /// When the series does not apply, a name means nothing, or something does not build.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let choice = Choice { with: self.with.iter().cloned().collect(), all: self.with_optional };
        let kernel = Kernel::get(ctx, Some(&self.series), self.base.as_deref(), &choice)?;
        let Some((series, rendering)) = kernel.applied()? else {
            return Err(Error::usage("inspect a series").found("none is named"));
        };
        let before = rendering.onto;
        let before_tree = kernel.store.repo().find_commit(before)?.tree_id();
        let sources = Sources::new(&kernel.store, before_tree, rendering.tree)?;
        let targets = Targets::load(ctx.dirs.project().ok())?;
        let kernels = self.kernels(series, rendering)?;
        let named: Vec<String> =
            series.inspect.objects.iter().chain(&self.objects).cloned().collect();
        let place = match &self.output {
            Some(path) => path.clone(),
            None => results::inspect::place(&ctx.dirs.out()?, &series.name, &kernel.base.name),
        };
        let place = output::resolve(&place)?;
        // All names are looked up before there is a worktree, which takes its time.
        let mut setups: Vec<(Setup, Chosen)> = Vec::new();
        for name in self.arches(series) {
            let arch = targets.arch(&name)?;
            let chosen = sources.objects(arch, &named)?;
            for k in &kernels {
                let setup = Setup {
                    arch: arch.name.clone(),
                    kernel: self.label(&k.name),
                    fragments: k.config.clone(),
                };
                // An architecture has several names.
                let known = setups.iter().any(|(s, _)| *s == setup);
                if !known && k.is_for(&targets, &arch.name)? {
                    setups.push((setup, chosen.clone()));
                }
            }
        }
        if setups.is_empty() {
            return Err(Error::usage("the kernels to inspect")
                .found("none of them is for an architecture that is asked for")
                .hint("name another with --arch, or other kernels with --kernel"));
        }
        for (setup, _) in &setups {
            let (arch, toolchain) = (targets.arch(&setup.arch)?, self.toolchain.as_deref());
            build::plan::check_names(&ctx.dirs, arch, toolchain, &setup.fragments)?;
        }
        let compiler = Compiler {
            ctx,
            kernel: &kernel,
            sources: &sources,
            series: &series.name,
            before,
            after: rendering.head,
            toolchain: self.toolchain.as_deref(),
        };
        let mut all = Vec::new();
        for (setup, Chosen { wanted, left_out }) in &setups {
            let compiled = compiler.objects(setup, wanted)?;
            let objects = compare(&compiled, wanted, &sources)?;
            let run = Run {
                form: results::inspect::FORM.to_owned(),
                series: series.name.clone(),
                base: kernel.base.name.clone(),
                before: before.to_string(),
                after: rendering.head.to_string(),
                tree: rendering.tree.to_string(),
                arch: setup.arch.clone(),
                kernel: setup.kernel.clone(),
                compiler: compiled.compiler.clone(),
                config: compiled.config.clone(),
                fragments: fragments(&setup.fragments)?,
                date: jiff::Timestamp::now().to_string(),
                total: Totals::of(objects.iter().flat_map(|o| &o.functions)),
                changed: Totals::of(
                    objects.iter().flat_map(|o| &o.functions).filter(|f| f.differs()),
                ),
                left_out: left_out.iter().chain(&compiled.left_out).cloned().collect(),
                objects,
            };
            all.push(Done { run, compiled });
        }
        self.check_functions(&all)?;
        for done in &all {
            self.keep(done, &place)?;
        }
        self.tell(ctx, all, &place)
    }

    fn shows(&self, f: &Function) -> bool {
        if self.functions.is_empty() {
            self.all || f.differs()
        } else {
            self.functions.iter().any(|n| f.is_named(n))
        }
    }

    fn keep(&self, done: &Done, place: &std::path::Path) -> Result<()> {
        let objects: &[_] = if self.keep {
            &[(Side::Before, &done.compiled.before), (Side::After, &done.compiled.after)]
        } else {
            &[]
        };
        results::inspect::keep(place, &done.run, objects)
    }

    fn tell(&self, ctx: &Ctx, all: Vec<Done>, place: &std::path::Path) -> Result<Outcome> {
        let shows = |f: &Function| self.shows(f);
        let mut runs: Vec<Run> = all.into_iter().map(|d| d.run).collect();
        let brief = self.functions.is_empty() && !self.all;
        let mut text = Vec::new();
        for run in &runs {
            run.human(&mut text, &shows, brief)
                .and_then(|()| writeln_to(&mut text))
                .at("write", place)?;
        }
        runs.iter_mut().for_each(|r| r.retain(shows));
        let json = json!({ "folder": place.display().to_string(), "runs": runs });
        ctx.ui.result(&json, |w| {
            w.write_all(&text)?;
            writeln!(w, "results in {}", place.display())
        })?;
        Ok(Outcome::Held)
    }

    fn arches(&self, series: &Series) -> Vec<String> {
        let mut all = match (self.arch.as_slice(), series.inspect.arches.as_slice()) {
            ([], []) => vec![host_arch().to_owned()],
            ([], of_series) => of_series.to_vec(),
            (named, _) => named.to_vec(),
        };
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|a| seen.insert(a.clone()));
        all
    }

    /// The kernels that are asked for: what the tests want, and more.
    fn kernels(&self, series: &Series, rendering: &Rendering) -> Result<Vec<InspectKernel>> {
        let has = |name: &String| rendering.patches.iter().any(|p| p.name == *name);
        let all = |more: &[String]| {
            let mut groups = Group::all(series, &[], more);
            groups.retain(|g| g.with.iter().all(has));
            // Without tests of its own that could be run: what every kernel has.
            let first = groups.into_iter().next();
            first.unwrap_or_else(|| Group::plain(more)).fragments
        };
        let named = |name: &str, config: &[String], arches: &[String]| InspectKernel {
            name: name.to_owned(),
            config: all(config),
            arches: arches.to_vec(),
        };
        if !self.config.is_empty() {
            let config = self.config.iter().map(|w| absolute(w)).collect::<Vec<_>>();
            return Ok(vec![named(&slug(&self.config), &config, &[])]);
        }
        let mut kernels = vec![named(results::inspect::DEFAULT, &[], &[])];
        kernels.extend(series.inspect.kernels.iter().map(|k| named(&k.name, &k.config, &k.arches)));
        let names: Vec<String> = kernels.iter().map(|k| k.name.clone()).collect();
        if let Some(unknown) = self.kernel.iter().find(|k| !names.contains(k)) {
            return Err(Error::usage(format!("--kernel {unknown}"))
                .found(format!("the series has: {}", names.join(", ")))
                .hint("add it to `[inspect]` in series.toml, or give fragments with --config"));
        }
        kernels.retain(|k| self.kernel.is_empty() || self.kernel.contains(&k.name));
        Ok(kernels)
    }

    /// A kernel's name with what makes it another one.
    fn label(&self, kernel: &str) -> String {
        match &self.toolchain {
            Some(toolchain) => slug(&[kernel.to_owned(), toolchain.clone()]),
            None => kernel.to_owned(),
        }
    }

    /// Names that no object has are slips.
    fn check_functions(&self, all: &[Done]) -> Result<()> {
        let functions = || all.iter().flat_map(|d| d.run.functions());
        for name in &self.functions {
            if functions().any(|f| f.is_named(name)) {
                continue;
            }
            let error = Error::usage(format!("--function {name}"))
                .found("none of the objects has such a function, before or after");
            let known = functions().map(|f| f.name.as_str());
            return Err(match did_you_mean(name, known) {
                Some(near) => error.hint(format!("did you mean {near}?")),
                None => error.hint("--all tells of all of them; it may be inlined everywhere"),
            });
        }
        Ok(())
    }
}

fn writeln_to(text: &mut Vec<u8>) -> std::io::Result<()> {
    text.push(b'\n');
    Ok(())
}

impl InspectKernel {
    /// Whether it is for an architecture, by any of its names.
    fn is_for(&self, targets: &Targets, arch: &str) -> Result<bool> {
        for name in &self.arches {
            if targets.arch(name)?.name == arch {
                return Ok(true);
            }
        }
        Ok(self.arches.is_empty())
    }
}

/// A path that a user gave, wherever the build is run.
fn absolute(word: &str) -> String {
    let is_path = word.starts_with(['/', '.']) || word.ends_with(".config");
    let path = std::path::absolute(word).ok().filter(|_| is_path);
    path.map_or_else(|| word.to_owned(), |p| p.to_string_lossy().into_owned())
}

/// A word for folders, of fragments and paths of such.
fn slug(words: &[String]) -> String {
    let stem = |w: &String| {
        let name = w.rsplit('/').next().unwrap_or(w);
        name.strip_suffix(".config").unwrap_or(name).to_owned()
    };
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
    let words: Vec<String> = words.iter().map(stem).collect();
    let slug: String = words.join("+").chars().map(plain).collect();
    let slug = slug.trim_start_matches('.');
    if slug.is_empty() { "kernel".to_owned() } else { slug.to_owned() }
}

fn fragments(names: &[String]) -> Result<Vec<Fragment>> {
    let one = |name: &String| {
        let path = std::path::Path::new(name);
        let sha256 = if path.is_absolute() {
            Some(hex(&Sha256::digest(std::fs::read(path).at("read", path)?)))
        } else {
            None
        };
        Ok(Fragment { name: name.clone(), sha256 })
    };
    names.iter().map(one).collect()
}

/// The objects before and after; those that were left out have no part in it.
fn compare(compiled: &Compiled, wanted: &[Wanted], sources: &Sources<'_>) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for Wanted { object, .. } in wanted {
        let of = |side: Side| {
            let Some(bytes) = compiled.of(side).get(object) else { return Ok(None) };
            let measured = measure(bytes);
            measured.map(Some).map_err(|e| e.context(format!("{object}, {}", side.word())))
        };
        let (before, after) = (of(Side::Before)?, of(Side::After)?);
        if before.is_none() && after.is_none() {
            continue;
        }
        let defines = |side: Side, name: &str| sources.defines(side, object, name);
        objects.push(Object::compare(
            object,
            &before.unwrap_or_default(),
            &after.unwrap_or_default(),
            &defines,
        ));
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_folders() {
        for (words, want) in [
            (&["kasan"][..], "kasan"),
            (&["a/no-retpolines.config", "debug"], "no-retpolines+debug"),
            (&["kselftest:net"], "kselftest_net"),
            (&["../.config"], "kernel"),
            (&["default", "clang-14"], "default+clang-14"),
        ] {
            let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            assert_eq!(slug(&words), want);
        }
    }
}
