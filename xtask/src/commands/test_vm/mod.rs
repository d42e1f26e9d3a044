//! `cargo xtask test-vm`: boots a kernel in a guest, runs tests in it, and
//! reports what held.

mod image;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::{Ctx, Outcome};
use crate::error::{Error, Result};
use crate::host::atomic;
use crate::host::ui::Ui;
use crate::report::Summary;
use crate::vm::splat::Allow;
use crate::vm::{self, AccelChoice, Backend, GuestRequest, GuestRun, Progress};

/// Options of `test-vm`.
#[derive(Debug, Args)]
pub struct TestVm {
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
        let Some(kernel) = &self.kernel else {
            return Err(Error::usage("test-vm without a kernel").hint("--kernel IMAGE boots one"));
        };
        let place = self.place(ctx, &image::label(kernel));
        let staging = atomic::Dir::begin(&place)?;
        let request = self.image_request(kernel, staging.path())?;
        let run = self.guest(ctx, &request)?;
        let summary =
            Summary { title: format!("test-vm {}", request.name), suites: vec![run.suite()] };
        self.finish(ctx, summary, &[run], staging, &place)
    }

    /// The folder of results.
    fn place(&self, ctx: &Ctx, label: &str) -> PathBuf {
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
        if let Some(seconds) = self.timeout {
            for test in &mut request.tests {
                test.timeout = Duration::from_secs(seconds);
            }
            // The time for booting is a minimum: more is given with the tests' time.
            request.limits.boot = request.limits.boot.max(Duration::from_secs(seconds));
        }
        Ok(())
    }

    fn guest(&self, ctx: &Ctx, request: &GuestRequest) -> Result<GuestRun> {
        run_shown(&ctx.ui, ctx, request)
    }

    fn finish(
        &self,
        ctx: &Ctx,
        summary: Summary,
        runs: &[GuestRun],
        staging: atomic::Dir,
        place: &std::path::Path,
    ) -> Result<Outcome> {
        summary.write(staging.path())?;
        let ktap: String = runs.iter().map(|r| r.document.to_ktap()).collect();
        atomic::write(&staging.path().join("results.ktap"), ktap.as_bytes())?;
        staging.commit()?;
        let json = summary.json()?;
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
