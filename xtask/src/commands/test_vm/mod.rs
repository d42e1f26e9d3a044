//! `cargo xtask test-vm`: boots a kernel in a guest, runs tests in it, and
//! reports what held.

mod extract;
pub(crate) mod group;
mod image;
mod kselftest;
mod mutants;
mod series;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::cli::{Ctx, Outcome};
use crate::error::{Error, Result};
use crate::host::atomic;
use crate::host::ui::Ui;
use crate::report::{Suite, Summary};
use crate::vm::splat::Allow;
use crate::vm::{self, AccelChoice, Backend, GuestRequest, GuestRun, Progress};

/// Options of `test-vm`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct TestVm {
    /// The series whose selftests are run, on a kernel with it. Without one: the base, booted.
    #[arg(long, value_name = "SERIES", conflicts_with = "kernel")]
    pub series: Vec<String>,
    /// The base. Default: the user's, else the series' first one that is at hand.
    #[arg(long, value_name = "BASE", conflicts_with = "kernel")]
    pub base: Option<String>,
    /// More configuration: a fragment of kconfigs/ (debug, kasan), or a file.
    #[arg(long, value_name = "FRAGMENT", value_delimiter = ',', conflicts_with = "kernel")]
    pub config: Vec<String>,
    /// Only these tests, of the series or of --kselftest.
    #[arg(long = "test", value_name = "NAME", conflicts_with = "kernel")]
    pub tests: Vec<String>,
    /// The kernel's own selftests of this collection (a folder of tools/testing/selftests), built
    /// from the tree that is booted. In place of the series' own tests.
    #[arg(long, value_name = "COLLECTION", value_delimiter = ',',
          conflicts_with_all = ["kernel", "mutants", "mutant"])]
    pub kselftest: Vec<String>,
    /// After the tests, builds and boots each mutant of the series: its test must catch it.
    #[arg(long, requires = "series")]
    pub mutants: bool,
    /// Only these mutants.
    #[arg(long, value_name = "NAME", requires = "series")]
    pub mutant: Vec<String>,
    /// Boot this image (bzImage, Image, vmlinux) instead of building one.
    #[arg(long, value_name = "IMAGE")]
    pub kernel: Option<PathBuf>,
    /// The image's configuration, checked before the boot. Default: looked for beside the image
    /// and in its objdir.
    #[arg(long, value_name = "FILE", requires = "kernel")]
    pub kernel_config: Option<PathBuf>,
    /// Where the image's modules are: its objdir, or lib/modules/RELEASE.
    #[arg(long, value_name = "DIR", requires = "kernel")]
    pub modules_dir: Option<PathBuf>,
    /// A module for the guest, which its tests load with modprobe.
    #[arg(long = "module", value_name = "NAME", requires = "kernel")]
    pub modules: Vec<String>,
    /// A test to run: a static program, a script, or C source, which is compiled.
    #[arg(long = "program", value_name = "FILE", requires = "kernel")]
    pub programs: Vec<PathBuf>,
    /// A KUnit suite of the kernel whose results are read.
    #[arg(long = "kunit", value_name = "SUITE", requires = "kernel")]
    pub kunit: Vec<String>,
    /// The architecture. Default: the image's, or the host's.
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// What starts the guest.
    #[arg(long, value_enum, default_value_t = Backend::Qemu)]
    pub backend: Backend,
    /// What runs the guest's instructions. `auto` takes KVM when a kernel has booted on it.
    #[arg(long, value_enum, default_value_t = AccelChoice::Auto)]
    pub accel: AccelChoice,
    /// Seconds each test may take, in place of its own limit.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// Seconds without any sign of life after which the guest counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub silence: u64,
    /// CPUs of the guest. Default: what its tests need.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub smp: Option<u32>,
    /// Memory of the guest, as 512M or 2G. Default: what its tests need.
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u32>,
    /// One more argument for the kernel.
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub append: Vec<String>,
    /// A splat that may be: a regular expression for its head line.
    #[arg(long, value_name = "REGEX")]
    pub allow_splat: Vec<String>,
    /// Do not run failed tests once more in a fresh guest.
    #[arg(long)]
    pub no_retry: bool,
    /// Keep the initramfs and the command beside the logs.
    #[arg(long)]
    pub keep: bool,
    /// Where the results go. Default: out/test/… in the project.
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Results come as KTAP on a virtio port of their own; the console is kept and searched for splats. \
A panic, a hang or a guest that vanishes fails the run, and so does a splat that --allow-splat does \
not name. A test that fails and then passes in a fresh guest is flaky, which is no pass. \
Products: results.json, junit.xml, report.html, results.ktap, console.log, ktap.log.

  cargo xtask test-vm --series cpumap-gro --base 6.12
  cargo xtask test-vm --series cpumap-gro --config debug --mutants
  cargo xtask test-vm --base 6.12 --kselftest net --test gro.sh --backend vng
  cargo xtask test-vm --kernel ~/linux/arch/x86/boot/bzImage --program ./my_test.c
  cargo xtask test-vm --kernel bzImage --kunit list-kunit-test --accel tcg-single";

/// `512`, `512M` or `2G` in MiB.
fn memory(text: &str) -> std::result::Result<u32, String> {
    let (number, unit) = match text.strip_suffix(['M', 'm']) {
        Some(number) => (number, 1),
        None => match text.strip_suffix(['G', 'g']) {
            Some(number) => (number, 1024),
            None => (text, 1),
        },
    };
    let number: u32 = number.parse().map_err(|_| "a number of MiB, or with M or G".to_owned())?;
    number.checked_mul(unit).filter(|m| *m >= 64).ok_or_else(|| "between 64M and 4096G".into())
}

impl TestVm {
    /// Runs the guests; held when everything in their report holds.
    ///
    /// # Errors
    /// When a guest cannot be started, or the options do not fit together.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        match &self.kernel {
            Some(kernel) => self.run_image(ctx, kernel),
            None => self.run_built(ctx),
        }
    }

    fn run_image(&self, ctx: &Ctx, kernel: &Path) -> Result<Outcome> {
        let place = self.place(ctx, image::label(kernel).as_ref());
        let staging = atomic::Dir::begin(&place)?;
        let request = self.image_request(kernel, staging.path())?;
        let run = self.guest(ctx, &request)?;
        let mut results = Results::new(format!("test-vm {}", request.name));
        results.add(run.suite(), Some(run));
        results.finish(ctx, staging, &place)
    }

    fn run_built(&self, ctx: &Ctx) -> Result<Outcome> {
        let arch = self.target()?;
        let all: Vec<Option<&str>> = match self.series.as_slice() {
            [] => vec![None],
            names => names.iter().map(|n| Some(n.as_str())).collect(),
        };
        let groups = self.groups(ctx, &all)?;
        // The base is only known when the first group is rendered.
        let mut prepared = Vec::new();
        for (series, group) in groups {
            prepared.push((series, self.prepare(ctx, series, group)?));
        }
        let base = prepared.first().map_or("", |(_, p)| p.kernel.base.name.as_str());
        let what = if self.series.is_empty() { "base".to_owned() } else { self.series.join("+") };
        let place = self.place(ctx, &Path::new(&what).join(base).join(arch.name()));
        let staging = atomic::Dir::begin(&place)?;
        let mut results = Results::new(format!("test-vm {what} on {base}, {arch}"));
        let single = prepared.len() == 1;
        for (series, prepared) in &prepared {
            let mut files = match series {
                Some(name) if all.len() > 1 => format!("{name}/"),
                _ => String::new(),
            };
            let slug = prepared.group.slug();
            if !single && !slug.is_empty() {
                files = format!("{files}{slug}/");
            }
            let (suite, run) =
                self.run_group(ctx, prepared, &staging.path().join(&files), &files)?;
            let failed = run.as_ref().map(GuestRun::failed_tests);
            results.add(suite, run);
            if self.mutants || !self.mutant.is_empty() {
                let files = format!("{files}mutants/");
                let failed = failed.unwrap_or_default();
                let at = staging.path().join(&files);
                results.add(self.run_mutants(ctx, prepared, &failed, &at, &files)?, None);
            }
        }
        results.finish(ctx, staging, &place)
    }

    /// The fragments on top of what each test asks. Without its own, virtme-ng's init is not found
    /// in the guest.
    fn more_fragments(&self) -> Vec<String> {
        let backend = (self.backend == Backend::Vng).then(|| "vng".to_owned());
        let collections = self.kselftest.iter().map(|c| format!("kselftest:{c}"));
        self.config.iter().cloned().chain(backend).chain(collections).collect()
    }

    /// The groups of all series' tests.
    fn groups<'n>(
        &self,
        ctx: &Ctx,
        all: &[Option<&'n str>],
    ) -> Result<Vec<(Option<&'n str>, group::Group)>> {
        let mut groups = Vec::new();
        let mut known = Vec::new();
        let more = self.more_fragments();
        for name in all {
            let Some(name) = name.filter(|_| self.kselftest.is_empty()) else {
                groups.push((*name, group::Group::plain(&more)));
                continue;
            };
            let series = crate::series::load(ctx.dirs.project()?, name)?;
            known.extend(series.tests.iter().map(|t| t.name.clone()));
            let of_it = group::Group::all(&series, &self.tests, &more);
            groups.extend(of_it.into_iter().map(|g| (Some(name), g)));
        }
        let unknown = |t: &&String| self.kselftest.is_empty() && !known.contains(t);
        match self.tests.iter().find(unknown) {
            Some(test) => Err(Error::usage(format!("--test {test}"))
                .found("no series named here has such a test")
                .hint(format!("there are: {}", known.join(", ")))),
            None => Ok(groups),
        }
    }

    /// The folder of results.
    fn place(&self, ctx: &Ctx, label: &Path) -> PathBuf {
        let out = || ctx.dirs.out().unwrap_or_else(|_| "out".into());
        self.output.clone().unwrap_or_else(|| out().join("test").join(label))
    }

    /// What every request of this command has in common.
    fn options(&self, request: &mut GuestRequest) -> Result<()> {
        request.backend = self.backend;
        request.accel = self.accel;
        request.append.extend(self.append.iter().cloned());
        request.limits.silence = Duration::from_secs(self.silence);
        request.retry = !self.no_retry;
        request.keep = self.keep;
        request.smp = self.smp.unwrap_or(request.smp);
        request.memory = self.memory.unwrap_or(request.memory);
        for pattern in &self.allow_splat {
            request.allow.push(Allow::new(pattern, pattern, "given with --allow-splat")?);
        }
        self.set_time_limits(request);
        Ok(())
    }

    fn set_time_limits(&self, request: &mut GuestRequest) {
        if let Some(seconds) = self.timeout {
            for test in &mut request.tests {
                test.timeout = Duration::from_secs(seconds);
            }
            // The time for booting is a minimum: more is given with the tests' time.
            request.limits.boot = request.limits.boot.max(Duration::from_secs(seconds));
        }
    }

    fn guest(&self, ctx: &Ctx, request: &GuestRequest) -> Result<GuestRun> {
        run_shown(&ctx.ui, ctx, request)
    }
}

/// What is collected, and written at the end.
struct Results {
    summary: Summary,
    ktap: String,
}

impl Results {
    fn new(title: String) -> Results {
        Results { summary: Summary { title, suites: Vec::new() }, ktap: String::new() }
    }

    fn add(&mut self, suite: Suite, run: Option<GuestRun>) {
        // A suite without a case (no mutant for these tests) tells nothing.
        if !suite.cases.is_empty() {
            self.summary.suites.push(suite);
        }
        self.ktap.extend(run.map(|r| r.document.to_ktap()));
    }

    fn finish(self, ctx: &Ctx, staging: atomic::Dir, place: &Path) -> Result<Outcome> {
        let Results { summary, ktap } = self;
        summary.write(staging.path())?;
        atomic::write(&staging.path().join("results.ktap"), ktap.as_bytes())?;
        staging.commit()?;
        let mut json = summary.json()?;
        if let Some(object) = json.as_object_mut() {
            object.insert("folder".into(), place.display().to_string().into());
        }
        ctx.ui.result(&json, |w| {
            summary.write_text(w)?;
            writeln!(w, "results in {}", place.display())
        })?;
        Ok(if summary.held() { Outcome::Held } else { Outcome::Failed })
    }
}

/// Runs a guest, showing what it is at.
fn run_shown(ui: &Ui, ctx: &Ctx, request: &GuestRequest) -> Result<GuestRun> {
    let step = ui.step(format!("guest {}", request.name));
    let mut test = String::new();
    let run = vm::run_with(ui, &ctx.dirs, request, &mut |progress| match progress {
        Progress::Booted { seconds, release } => {
            step.message(&format!("booted {release} in {seconds:.1} s"));
        }
        Progress::Begin(name) => {
            test = (*name).to_owned();
            step.message(name);
        }
        Progress::Seen(seen) => {
            let word = if seen.ok { "ok" } else { "not ok" };
            step.message(&format!("{test}: {word} {}", seen.name));
        }
    })?;
    step.done(&run.verdict.sentence());
    Ok(run)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::cli::{Cli, Command};

    #[test]
    fn virtme_ng_brings_its_fragment() {
        for (line, want) in [
            ("test-vm --series s", &[][..]),
            ("test-vm --series s --backend vng", &["vng"]),
            ("test-vm --series s --backend vng --config debug", &["debug", "vng"]),
            ("test-vm --kselftest net --backend vng", &["vng", "kselftest:net"]),
        ] {
            let words = std::iter::once("xtask").chain(line.split(' '));
            let Command::TestVm(args) = Cli::try_parse_from(words).unwrap().command else {
                panic!("{line}: another command");
            };
            assert_eq!(args.more_fragments(), want, "{line}");
        }
    }
}
