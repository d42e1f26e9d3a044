//! `cargo xtask bench`: a series' benchmarks on the kernel without it and on the kernel with it,
//! boot by boot in turn, compared.

mod guests;
mod kernels;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::bench::kept::{self, FILE, Kept, KernelFacts, Measured};
use crate::bench::{Side, host, order, plot, table};
use crate::cli::{Ctx, Outcome};
use crate::commands::kernel::Kernel;
use crate::commands::test_vm::group::Group;
use crate::error::{Error, Result};
use crate::host::{atomic, signals, size};
use crate::render::Choice;
use crate::series;
use crate::series::model::{Bench as Program, Series};
use crate::vm::{AccelChoice, Arch};

use guests::Guests;
use kernels::Kernels;

/// Options of `bench`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Bench {
    /// The series.
    pub series: String,
    /// The base. Default: the user's, else the series' first one that is at hand.
    #[arg(long, value_name = "BASE")]
    pub base: Option<String>,
    /// The architecture. Default: the host's.
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// More configuration of both kernels: a fragment of kconfigs/, or a file.
    #[arg(long, value_name = "FRAGMENT", value_delimiter = ',')]
    pub config: Vec<String>,
    /// Boots of each kernel. Fewer than 3 give figures and no verdict.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: u16,
    /// Only these benchmarks.
    #[arg(long = "bench", value_name = "NAME")]
    pub benches: Vec<String>,
    /// Measures the baseline against itself: fails when a difference is seen, since then
    /// something else than the series makes one.
    #[arg(long)]
    pub aa: bool,
    /// What shuffles the order of boots within each pair. Default: a new one each time; the report has it.
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// What runs the guest's instructions. `auto` takes KVM when a kernel has booted on it.
    #[arg(long, value_enum, default_value_t = AccelChoice::Auto)]
    pub accel: AccelChoice,
    /// CPUs of the guest. Default: what the benchmark needs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub smp: Option<u32>,
    /// Memory of the guest, as 512M or 2G. Default: what the benchmark needs.
    #[arg(long, value_name = "SIZE", value_parser = size::mebibytes)]
    pub memory: Option<u32>,
    /// Seconds each benchmark may take, in place of its own limit.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// Where the results go. Default: out/bench/SERIES/BASE/ARCH in the project.
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Both kernels are built first, with the same configuration but for what only the series has. A boot \
is one sample: what is repeated within it is averaged. Means are compared by Welch's t test, \
corrected by Holm over all figures; outliers are marked and counted. In an emulator times tell \
nothing of hardware: the report says so in its first line. A slower kernel is a finding, no \
failure; a guest that fails, or a figure that is lacking, is one: the older results stay, and what \
the guest wrote is in a folder beside them whose name ends with -failed.\n\
Products: results.json (every value of every boot), report.txt, table.txt for the cover letter, a \
picture a figure (SVG), runs/ with consoles. A cover letter sees them as `bench`.

  cargo xtask bench cpumap-gro --base 6.12
  cargo xtask bench cpumap-gro --base 6.12 --runs 10 --seed 7
  cargo xtask bench cpumap-gro --base 6.12 --aa";

impl Bench {
    /// Builds, boots and compares; held when all was measured (with `--aa`: when no
    /// difference was seen).
    ///
    /// # Errors
    /// When a kernel cannot be built, a guest does not do its work, or the options do not fit.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let arch = self.target()?;
        // What is wrong in the series or the options is told before a base is fetched.
        let series = series::load(ctx.dirs.project()?, &self.series)?;
        let names: Vec<String> = self.wanted(&series)?.iter().map(|b| b.name.clone()).collect();
        let fingerprint = kept::fingerprint(&series)?;
        let kernel =
            Kernel::get(ctx, Some(&self.series), self.base.as_deref(), &Choice::default())?;
        let Some((series, rendering)) = kernel.applied()? else {
            return Err(Error::usage(format!("bench {}", self.series)).found("no such series"));
        };
        let programs: Vec<&Program> =
            series.benches.iter().filter(|b| names.contains(&b.name)).collect();
        let place = self.place(ctx, &kernel.base.name, arch)?;
        let mut staging = atomic::Dir::begin(&place)?;
        let place = staging.place().to_owned();
        self.spares(&place, &names)?;
        let seed = self.seed.unwrap_or_else(|| fastrand::u32(..));
        let built = Kernels::build(ctx, &kernel, &programs, arch, &self.config, self.aa)?;
        let mut guests = Guests::new(self, arch, staging.path());
        let mut measured = self
            .measure(ctx, &mut guests, &programs, &built, seed)
            .map_err(|e| guests.keep_last(&place, e))?;
        // Each boot compiles the program anew: all of them must have had the same.
        if kept::fingerprint(&series::load(ctx.dirs.project()?, &self.series)?)? != fingerprint {
            return Err(Error::check(format!("bench {}", self.series))
                .found("its benchmarks were changed while they ran")
                .hint("run it again"));
        }
        kept::compare(&mut measured, &programs);

        let loads = measured.iter().flat_map(|m| &m.boots).map(|b| &b.load);
        let mut kept = Kept {
            form: Kept::form(),
            series: self.series.clone(),
            base: kernel.base.name.clone(),
            version: rendering.base.version.to_string(),
            arch: arch.name().to_owned(),
            against_itself: self.aa,
            // Those that every kernel has do not make it another one.
            config: Group::plain(&self.config).fragments,
            emulated: guests.emulated(),
            date: jiff::Timestamp::now().to_string(),
            fingerprint,
            runs: usize::from(self.runs),
            seed,
            kernels: facts(&kernel, &built)?,
            machine: guests.machine()?,
            host: host::Host::here(),
            warnings: host::disturbed(loads).into_iter().collect(),
            benches: Vec::new(),
        };
        kept.benches = measured;
        kept.warnings.extend(guests.warnings());
        for warning in &kept.warnings {
            ctx.ui.warn(warning);
        }
        let report = write(&mut staging, &kept)?;
        staging.commit()?;
        self.show(ctx, &kept, &report, &place)?;
        let differs = kept.figures().any(|(_, f)| f.differs());
        Ok(if self.aa && differs { Outcome::Failed } else { Outcome::Held })
    }

    fn target(&self) -> Result<Arch> {
        match &self.arch {
            Some(name) => name.parse(),
            None => Arch::host().ok_or_else(|| {
                Error::usage("bench on this host")
                    .found(format!("guests cannot be {}", std::env::consts::ARCH))
                    .hint("--arch x86_64 emulates one that can")
            }),
        }
    }

    /// The benchmarks that are asked for.
    fn wanted<'s>(&self, series: &'s Series) -> Result<Vec<&'s Program>> {
        let all = &series.benches;
        if all.is_empty() {
            return Err(Error::usage(format!("bench {}", series.name))
                .found("the series has no benchmark")
                .hint(format!(
                    "describe one as [[bench]] in series/{}/series.toml; series/README.md tells how",
                    series.name
                )));
        }
        if let Some(name) = self.benches.iter().find(|n| all.iter().all(|b| b.name != **n)) {
            let known: Vec<&str> = all.iter().map(|b| b.name.as_str()).collect();
            return Err(Error::usage(format!("--bench {name}"))
                .found(format!("{} has no such benchmark", series.name))
                .hint(format!("there are: {}", known.join(", "))));
        }
        let asked = |b: &&Program| self.benches.is_empty() || self.benches.contains(&b.name);
        Ok(all.iter().filter(asked).collect())
    }

    /// The folder of results. A run of the baseline against itself is no result of the series.
    fn place(&self, ctx: &Ctx, base: &str, arch: Arch) -> Result<PathBuf> {
        if let Some(output) = &self.output {
            return Ok(output.clone());
        }
        let kind = if self.aa { "bench-aa" } else { "bench" };
        let slug = Group::plain(&self.config).slug();
        let folder = if slug.is_empty() { slug } else { format!("+{slug}") };
        let folder = format!("{}{folder}", arch.name());
        Ok(ctx.dirs.out()?.join(kind).join(&self.series).join(base).join(folder))
    }

    /// Results of something else are not thrown away: of other benchmarks than `names` for a
    /// look at some, of another series, of what cannot be read.
    fn spares(&self, place: &Path, names: &[String]) -> Result<()> {
        let refused = |found: String| {
            Err(Error::usage(format!("bench {}, results into {}", self.series, place.display()))
                .found(found)
                .hint("name another folder with --output"))
        };
        let kept = match Kept::read(&place.join(FILE)) {
            Ok(Some(kept)) => kept,
            Ok(None) => return Ok(()),
            // A whole run renews what an older version of this tool left.
            Err(_) if self.benches.is_empty() => return Ok(()),
            Err(e) => return refused(format!("what is there would be replaced: {e}")),
        };
        if (kept.series.as_str(), kept.against_itself) != (self.series.as_str(), self.aa) {
            let what = if kept.against_itself { " against itself" } else { "" };
            return refused(format!("it has results of {}{what}", kept.series));
        }
        let others = kept.benches.iter().map(|b| b.name.as_str());
        let others: Vec<&str> = others.filter(|o| names.iter().all(|n| n != o)).collect();
        if self.benches.is_empty() || others.is_empty() {
            return Ok(());
        }
        refused(format!("it has results of {} too, which would be replaced", others.join(", ")))
    }

    fn measure(
        &self,
        ctx: &Ctx,
        guests: &mut Guests<'_>,
        programs: &[&Program],
        kernels: &Kernels,
        seed: u32,
    ) -> Result<Vec<Measured>> {
        let runs = usize::from(self.runs);
        let mut all = Vec::new();
        for program in programs {
            // Each program has the order that it would have alone.
            let label = format!("{}: boots of two kernels", program.name);
            let step = ctx.ui.progress(label, 2 * u64::from(self.runs), false);
            let mut boots = Vec::new();
            for (n, pair) in order::pairs(runs, seed).into_iter().enumerate() {
                for side in pair {
                    signals::check()?;
                    let kernel = kernels.of(program, side)?;
                    boots.push(guests.boot(ctx, program, kernel, side, n + 1)?);
                    step.advance(1);
                }
            }
            step.done(&format!("{} boots", boots.len()));
            let guest = guests.guest().to_owned();
            let (figures, name) = (Vec::new(), program.name.clone());
            let config_differs = kernels.config_differs(program)?;
            all.push(Measured { name, guest, config_differs, boots, figures });
        }
        Ok(all)
    }

    fn show(&self, ctx: &Ctx, kept: &Kept, report: &str, place: &Path) -> Result<()> {
        let mut json = serde_json::to_value(kept)
            .map_err(|e| Error::host("write the results as JSON").found(e.to_string()))?;
        if let Some(object) = json.as_object_mut() {
            object.insert("folder".into(), place.display().to_string().into());
        }
        ctx.ui.result(&json, |w| {
            write!(w, "{report}")?;
            writeln!(w, "results in {}", place.display())
        })
    }
}

/// Fills the folder of results; gives the report.
fn write(staging: &mut atomic::Dir, kept: &Kept) -> Result<String> {
    let report = table::report(kept);
    staging.write(FILE, &kept.json()?)?;
    staging.write("report.txt", report.as_bytes())?;
    let caution = table::caution(kept).map(|c| format!("{c}\n\n")).unwrap_or_default();
    staging.write("table.txt", format!("{caution}{}", table::letter(kept, None)).as_bytes())?;
    for (bench, figure) in kept.figures() {
        let svg = plot::svg(kept, bench, figure)?;
        staging.write(&plot::file_name(&bench.name, &figure.label), svg.as_bytes())?;
    }
    Ok(report)
}

/// What the kernels are.
fn facts(kernel: &Kernel, kernels: &Kernels) -> Result<Vec<KernelFacts>> {
    let mut facts = Vec::new();
    for side in Side::BOTH {
        let commit = kernels.commit(side);
        let (release, compiler) = kernels.release(side);
        facts.push(KernelFacts {
            side,
            commit: commit.to_string(),
            tree: kernel.store.repo().find_commit(commit)?.tree_id().to_string(),
            release,
            compiler,
        });
    }
    Ok(facts)
}
