//! What is asked of a guest.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;

use super::Arch;
use super::splat::Allow;

/// What starts the guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// QEMU by itself, with an initramfs.
    #[default]
    Qemu,
    /// virtme-ng: the host's root file system is the guest's.
    Vng,
}

impl Backend {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Backend::Qemu => "qemu",
            Backend::Vng => "vng",
        }
    }
}

/// Which accelerator is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AccelChoice {
    /// KVM if a kernel boots on it, else emulation.
    #[default]
    Auto,
    /// KVM or nothing.
    Kvm,
    /// Emulation, one host thread a CPU.
    Tcg,
    /// Emulation, all CPUs in one host thread.
    TcgSingle,
}

/// What a test is.
#[derive(Clone, Debug)]
pub enum TestKind {
    /// A program of the guest's architecture, statically linked, or a script.
    Program(PathBuf),
    /// C sources that are compiled into one static program.
    Sources(Vec<PathBuf>),
    /// A KUnit suite: its results are read from debugfs.
    Kunit(String),
    /// A program that is in the guest already.
    InGuest(String),
    /// A program in a folder of programs that goes into the guest whole; it is run
    /// in its own folder, as the kernel's selftests expect.
    Installed {
        /// The folder on the host.
        root: PathBuf,
        /// The program, relative to it.
        program: PathBuf,
    },
}

/// One test to run in a guest.
#[derive(Clone, Debug)]
pub struct TestProgram {
    /// What results call it.
    pub name: String,
    /// What it is.
    pub kind: TestKind,
    /// Folders of files that its sources include, beside their own.
    pub includes: Vec<PathBuf>,
    /// Its arguments.
    pub args: Vec<String>,
    /// It is ended after this time.
    pub timeout: Duration,
}

impl TestProgram {
    /// A test without arguments, with kselftest's 45 seconds.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: TestKind) -> TestProgram {
        TestProgram {
            name: name.into(),
            kind,
            includes: Vec::new(),
            args: Vec::new(),
            timeout: Duration::from_secs(45),
        }
    }

    /// Whether it is a KUnit suite.
    #[must_use]
    pub fn is_kunit(&self) -> bool {
        matches!(self.kind, TestKind::Kunit(_))
    }
}

/// How long a guest may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until its init has spoken.
    pub boot: Duration,
    /// Without any sign of life: console, results, heart-beat.
    pub silence: Duration,
    /// For a guest to end that said goodbye or panicked.
    pub grace: Duration,
    /// In all; without it, what the tests may take and the boot.
    pub total: Option<Duration>,
    /// Console bytes after which the guest is ended.
    pub console: u64,
    /// Bytes of results after which the guest is ended.
    pub results: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            boot: Duration::from_secs(180),
            silence: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            total: None,
            console: 64 << 20,
            results: 64 << 20,
        }
    }
}

/// A guest to run.
#[derive(Clone, Debug)]
pub struct GuestRequest {
    /// What reports call the run.
    pub name: String,
    /// The kernel image.
    pub image: PathBuf,
    /// Its configuration, for the look before the boot.
    pub config: Option<PathBuf>,
    /// Its architecture.
    pub arch: Arch,
    /// What starts it.
    pub backend: Backend,
    /// Which accelerator is wanted.
    pub accel: AccelChoice,
    /// A test patches kernel text while it runs: under emulation that is only
    /// right with all CPUs in one thread.
    pub patches_text: bool,
    /// What runs in it, in order.
    pub tests: Vec<TestProgram>,
    /// Where modules of this kernel are: an objdir, or `lib/modules/RELEASE`.
    pub modules_dir: Option<PathBuf>,
    /// Modules to put into the guest, for the tests to load.
    pub modules: Vec<String>,
    /// Host files to put into the guest (what programs need at run time).
    pub files: Vec<(PathBuf, String)>,
    /// Programs of the host to put into the guest with their libraries.
    pub host_tools: Vec<String>,
    /// Variables for the tests.
    pub env: Vec<(String, String)>,
    /// CPUs.
    pub smp: u32,
    /// Memory in MiB.
    pub memory: u32,
    /// More kernel arguments.
    pub append: Vec<String>,
    /// How long it may take.
    pub limits: Limits,
    /// Splats that may be, besides the built-in list.
    pub allow: Vec<Allow>,
    /// Whether failed tests are run once more in a fresh guest.
    pub retry: bool,
    /// Where console and results are written as they come.
    pub output: PathBuf,
    /// Whether the initramfs and the command stay there too.
    pub keep: bool,
}

impl GuestRequest {
    /// A request with usual values and no tests.
    #[must_use]
    pub fn new(name: impl Into<String>, image: &Path, arch: Arch, output: &Path) -> GuestRequest {
        GuestRequest {
            name: name.into(),
            image: image.to_owned(),
            config: None,
            arch,
            backend: Backend::Qemu,
            accel: AccelChoice::Auto,
            patches_text: false,
            tests: Vec::new(),
            modules_dir: None,
            modules: Vec::new(),
            files: Vec::new(),
            host_tools: Vec::new(),
            env: Vec::new(),
            smp: 2,
            memory: 512,
            append: Vec::new(),
            limits: Limits::default(),
            allow: Vec::new(),
            retry: true,
            output: output.to_owned(),
            keep: false,
        }
    }

    /// The time in all.
    #[must_use]
    pub fn total_time(&self) -> Duration {
        self.limits.total.unwrap_or_else(|| {
            // The guest ends a test that takes too long; this is for a guest that
            // cannot, so it comes a while later.
            let tests: Duration =
                self.tests.iter().map(|t| t.timeout + Duration::from_secs(15)).sum();
            self.limits.boot + tests + Duration::from_secs(30)
        })
    }
}
