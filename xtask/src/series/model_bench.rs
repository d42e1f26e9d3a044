//! A series' benchmarks, checked.

use std::path::PathBuf;

pub use super::raw_bench::{Better, FigureKind};

/// A benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bench {
    /// Its name.
    pub name: String,
    /// C files, or one script; absolute.
    pub sources: Vec<PathBuf>,
    /// Kconfig fragments of both kernels.
    pub kconfig: Vec<Fragment>,
    /// Those besides that only the kernel with the series can have.
    pub kconfig_series: Vec<Fragment>,
    /// Arguments.
    pub args: Vec<String>,
    /// Seconds.
    pub timeout: u64,
    /// The series patches kernel text while it runs.
    pub patches_text: bool,
    /// Modules for the guest.
    pub modules: Vec<String>,
    /// CPUs.
    pub smp: u32,
    /// Memory in MiB.
    pub memory: Option<u32>,
    /// What it measures, in the order in which it is told.
    pub figures: Vec<Figure>,
}

/// A Kconfig fragment as a series names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// As it is written: a name of `kconfigs/`, or a path below the series' folder.
    pub name: String,
    /// Where it is, of the series' own.
    pub file: Option<PathBuf>,
}

impl Fragment {
    /// As a build is asked for it.
    #[must_use]
    pub fn word(&self) -> String {
        self.file.as_ref().map_or_else(|| self.name.clone(), |f| f.display().to_string())
    }

    /// A name for folders, wherever the project is.
    #[must_use]
    pub fn short(&self) -> &str {
        self.name.strip_suffix(".config").unwrap_or(&self.name)
    }
}

/// What a benchmark measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// How the output names it.
    pub label: String,
    /// The unit, which stands behind the number.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Whether it is a time, or a count.
    pub kind: FigureKind,
}
