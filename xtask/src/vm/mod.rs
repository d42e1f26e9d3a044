//! Guests: boots a kernel, runs tests in it, and says what became of them.
//!
//! [`run()`] is the entry. A guest is QEMU by itself, with an initramfs made here, or
//! virtme-ng; in both the same small agent runs the tests. Results come as KTAP
//! on a virtio port of their own, signs of life on another, and the console is kept
//! and searched for splats. However a guest ends, there is a [`Verdict`].

mod accel;
mod arch;
mod channel;
mod compile;
pub mod console;
mod elf;
mod guest_files;
mod image;
mod initramfs;
mod kconfig;
pub mod kselftest;
pub mod ktap;
mod machine;
mod modules;
mod plan;
mod qmp;
mod request;
mod run;
mod session;
pub mod splat;
mod summary;
mod symbols;
mod verdict;
mod vng;

use std::collections::BTreeMap;

pub use accel::Accel;
pub use arch::Arch;
pub use image::{Image, find_config, sniff};
pub use request::{AccelChoice, Backend, GuestRequest, Limits, TestKind, TestProgram};
pub use run::{run, run_with};
pub use session::Progress;
pub use verdict::Verdict;

/// Something that a reader must know to weigh a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Fact {
    pub(crate) fn new(name: &str, value: impl Into<String>) -> Fact {
        Fact { name: name.to_owned(), value: value.into() }
    }
}

/// What a guest run showed.
#[derive(Clone, Debug)]
pub struct GuestRun {
    /// What reports call it.
    pub name: String,
    /// When it began.
    pub started: jiff::Timestamp,
    /// How long it took.
    pub seconds: f64,
    /// Seconds until the agent in the guest spoke.
    pub boot_seconds: Option<f64>,
    /// How the guest ended.
    pub verdict: Verdict,
    /// The results.
    pub document: ktap::Document,
    /// Seconds that each test took.
    pub times: BTreeMap<String, f64>,
    /// Splats on the console, also allowed ones.
    pub splats: Vec<splat::Splat>,
    /// Splats beyond those kept.
    pub more_splats: usize,
    /// The console's last lines.
    pub tail: Vec<String>,
    /// How much the console wrote.
    pub console_bytes: u64,
    /// The test that was running when the guest ended.
    pub running: Option<String>,
    /// The circumstances.
    pub facts: Vec<Fact>,
    /// Remarks that are no failure.
    pub notes: Vec<String>,
    /// The guest died the first time, and not the second.
    pub flaky_guest: Option<String>,
}

impl GuestRun {
    /// The tests that did not pass, by name.
    #[must_use]
    pub fn failed_tests(&self) -> Vec<String> {
        let bad = |t: &&ktap::Test| !t.status.is_good();
        self.document.root.tests.iter().filter(bad).map(|t| t.name.clone()).collect()
    }

    /// Whether everything holds: the guest ran to its end, every test passed or was
    /// skipped, and the console has no splat that is not allowed.
    #[must_use]
    pub fn held(&self) -> bool {
        let suite = self.suite();
        suite.counts().failed == 0
    }
}
