//! `cargo xtask build-kernel`: a kernel image and its metadata.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::build::inputs::fingerprint;
use crate::build::target::host_arch;
use crate::build::{self, Built, Identity, Request, Source, vars};
use crate::cli::{Ctx, Outcome};
use crate::commands::kernel::Kernel;
use crate::error::{Error, IoContext as _, Result};
use crate::host::output;
use crate::render::Choice;
use crate::series::model::Series;

/// Options of `build-kernel`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct BuildKernel {
    /// The series that the base gets. Default: none, the base as it is.
    #[arg(long, value_name = "SERIES")]
    series: Option<String>,
    /// The base: a known name, a path, a URL, debian:PACKAGE.
    #[arg(long, value_name = "BASE")]
    base: Option<String>,
    /// A deliberate break of the series, on top of it.
    #[arg(long, value_name = "MUTANT", requires = "series")]
    mutant: Option<String>,
    /// An optional patch of the series.
    #[arg(long = "with", value_name = "PATCH", requires = "series")]
    with: Vec<String>,
    /// All optional patches of the series.
    #[arg(long, requires = "series")]
    with_optional: bool,
    /// Any kernel tree as it is; nothing in it is written.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["series", "base"])]
    source: Option<PathBuf>,
    /// What it is built for: a name of kconfigs/targets.toml. Default: ARCH, else this host's.
    #[arg(short = 'a', long, visible_alias = "target-arch", value_name = "ARCH")]
    arch: Option<String>,
    /// gcc, gcc-N, clang or clang-N (LLVM=1). Default: what LLVM and CC say, else gcc.
    #[arg(short = 't', long, value_name = "TOOLCHAIN")]
    toolchain: Option<String>,
    /// More configuration: a fragment of kconfigs/, a file, or kselftest:COLLECTION.
    #[arg(long, value_name = "FRAGMENT", value_delimiter = ',')]
    config: Vec<String>,
    /// What the configuration starts from: a make goal (defconfig) or a .config file.
    #[arg(short = 'k', long, value_name = "START")]
    kconfig: Option<String>,
    /// One setting (NET=y, PACKET=m, KASAN=n) or a file of them, over all fragments.
    #[arg(short = 'K', long, value_name = "SYM=VALUE")]
    kconfig_add: Vec<String>,
    /// Leaves out the fragments that each build has (boot, vm, net, bpf).
    #[arg(long)]
    no_default_fragments: bool,
    /// Make goals, instead of the image and the modules: bzImage, net/core/dev.o.
    #[arg(long, value_name = "GOAL", value_delimiter = ',')]
    targets: Vec<String>,
    /// Where the products go. Default: out/kernels/LABEL/TARGET of the project.
    #[arg(short = 'o', long, visible_alias = "output-dir", value_name = "DIR")]
    output: Option<PathBuf>,
    /// The object directory. Default: O, else one that is kept per target.
    #[arg(short = 'b', long, value_name = "DIR")]
    build_dir: Option<PathBuf>,
    /// How many compilers at once. Default: one per processor.
    #[arg(short = 'j', long, value_name = "N")]
    jobs: Option<usize>,
    /// What compilers are called through.
    #[arg(short = 'w', long, default_value = "ccache",
          value_parser = PossibleValuesParser::new(["ccache", "none"]))]
    wrapper: String,
    /// Runs make though the product is of the same inputs.
    #[arg(long)]
    force: bool,
    /// Variables for make: W=1, C=1, KCFLAGS=…; those of the environment count too.
    #[arg(value_name = "VAR=VALUE")]
    variables: Vec<String>,
}

const AFTER_HELP: &str = "\
The configuration starts from nothing, so that a kernel is built in minutes; every line that a \
fragment asks is looked up in the result, and one that was dropped fails the build with its unmet \
dependency. Products: the image, vmlinux, config, modules, build.log, diagnostics.json, \
metadata.json, reproducer.sh.

  cargo xtask build-kernel --base 6.12
  cargo xtask build-kernel --series cpumap-gro --base 6.12 --arch arm64
  cargo xtask build-kernel --source ~/linux --toolchain clang --config kasan
  cargo xtask build-kernel --source ~/linux --targets net/core/ W=1 C=1";

impl BuildKernel {
    /// Builds, and tells where the products are.
    ///
    /// # Errors
    /// As [`build::build`].
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let make_vars =
            self.variables.iter().map(|v| vars::parse(v)).collect::<Result<Vec<_>>>()?;
        if let Some(output) = &self.output {
            output::check_ours(&output::resolve(output)?)?;
        }
        let arch = self.arch(&make_vars);
        let built = match &self.source {
            Some(path) => {
                let source = path_source(path, &self.folders_inside(ctx, &make_vars))?;
                let mut request = Request::new(source, &arch);
                self.fill(&mut request, make_vars);
                build::build(&ctx.ui, &ctx.dirs, &request)?
            }
            None => self.build_base(ctx, &arch, make_vars)?,
        };
        show(ctx, &built)?;
        Ok(Outcome::Held)
    }

    /// Folders that may lie in a source without being a part of it.
    fn folders_inside(&self, ctx: &Ctx, make_vars: &[(String, String)]) -> Vec<PathBuf> {
        let vars = vars::Vars::new(make_vars);
        let named = [self.build_dir.clone(), self.output.clone(), vars.objdir().map(PathBuf::from)];
        let all = named.into_iter().flatten().chain(ctx.dirs.out().ok());
        all.filter_map(|p| std::path::absolute(p).ok()).collect()
    }

    /// Builds a base of the store, with a series on it or as it is.
    fn build_base(&self, ctx: &Ctx, arch: &str, make_vars: Vec<(String, String)>) -> Result<Built> {
        let choice = Choice { with: self.with.iter().cloned().collect(), all: self.with_optional };
        let kernel = Kernel::get(ctx, self.series.as_deref(), self.base.as_deref(), &choice)?;
        let Some((commit, label)) = kernel.commit(self.mutant.as_deref())? else {
            let mutant = self.mutant.as_deref().unwrap_or_default();
            return Err(Error::check(format!("mutant {mutant} on {}", kernel.base.name))
                .found("it makes no sense on this base"));
        };
        let fragments = match &kernel.series {
            Some((series, _)) => self.series_fragments(ctx, series),
            None => Vec::new(),
        };
        kernel.build(ctx, (commit, &label), arch, |request| {
            self.fill(request, make_vars);
            request.fragments.splice(0..0, fragments);
        })
    }

    /// What the series' tests want to be configured. Tests may want several kernels
    /// that exclude each other: the first that can be had counts, and that is said.
    fn series_fragments(&self, ctx: &Ctx, series: &Series) -> Vec<String> {
        let mut wanted: Vec<(&str, &Vec<String>)> = Vec::new();
        for test in &series.tests {
            let possible = self.with_optional || test.with.iter().all(|p| self.with.contains(p));
            if possible && wanted.iter().all(|(_, kconfig)| *kconfig != &test.kconfig) {
                wanted.push((&test.name, &test.kconfig));
            }
        }
        if let [(name, _), (_, _), ..] = wanted.as_slice() {
            ctx.ui.note(&format!(
                "the tests of {} want {} kernels: this is the one of {name}; --config adds to it",
                series.name,
                wanted.len()
            ));
        }
        wanted.first().map(|(_, kconfig)| (*kconfig).clone()).unwrap_or_default()
    }

    /// Sets what the options say.
    fn fill(&self, request: &mut Request, make_vars: Vec<(String, String)>) {
        request.toolchain.clone_from(&self.toolchain);
        request.kconfig.clone_from(&self.kconfig);
        request.fragments.clone_from(&self.config);
        request.default_fragments = !self.no_default_fragments;
        request.kconfig_add.clone_from(&self.kconfig_add);
        request.make_vars = make_vars;
        request.goals.clone_from(&self.targets);
        request.objdir.clone_from(&self.build_dir);
        request.output.clone_from(&self.output);
        request.jobs = self.jobs;
        request.ccache = self.wrapper == "ccache";
        request.force = self.force;
    }

    fn arch(&self, make_vars: &[(String, String)]) -> String {
        let given = make_vars.iter().find(|(n, _)| n == "ARCH").map(|(_, v)| v.clone());
        self.arch
            .clone()
            .or(given)
            .or_else(|| std::env::var("ARCH").ok().filter(|a| !a.is_empty()))
            .unwrap_or_else(|| host_arch().to_owned())
    }
}

fn path_source(path: &Path, skip: &[PathBuf]) -> Result<Source> {
    let path = std::path::absolute(path).at("find", path)?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
    Ok(Source {
        label: name.unwrap_or_else(|| "kernel".into()),
        identity: Identity::Files { fingerprint: fingerprint(&path, skip)? },
        path,
        objdirs: None,
    })
}

fn show(ctx: &Ctx, built: &Built) -> Result<()> {
    let warnings = built.diagnostics.len();
    ctx.ui.result(built, |w| {
        let line =
            |w: &mut dyn std::io::Write, name: &str, value: &str| writeln!(w, "{name:<10} {value}");
        if !built.release.is_empty() {
            line(w, "release", &built.release)?;
        }
        for (name, path) in [("image", &built.image), ("vmlinux", &built.vmlinux)] {
            if let Some(path) = path {
                line(w, name, &path.display().to_string())?;
            }
        }
        line(w, "config", &built.config.display().to_string())?;
        line(w, "metadata", &built.metadata.display().to_string())?;
        for module in &built.modules {
            line(w, "module", &module.display().to_string())?;
        }
        line(w, "warnings", &warnings.to_string())?;
        for d in built.diagnostics.iter().take(20) {
            writeln!(w, "  {d}")?;
        }
        if warnings > 20 {
            writeln!(w, "  … all of them: {}", built.dir.join("diagnostics.json").display())?;
        }
        Ok(())
    })
}
