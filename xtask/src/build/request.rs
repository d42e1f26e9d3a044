//! What a caller asks of a build, and what it is handed back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::build::diagnostics::Diagnostic;

/// The kernel tree that is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its folder. Nothing in it is written.
    pub path: PathBuf,
    /// A short name for folders and talk: `6.12`, `6.12+cpumap-gro`.
    pub label: String,
    /// What its content is known by.
    pub identity: Identity,
    /// Where object directories go; nothing for a folder of the cache made from
    /// the path. Keeping it at one place relative to the tree lets ccache serve
    /// one tree's objects to another.
    pub objdirs: Option<PathBuf>,
}

/// What tells one content of a tree from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identity {
    /// A git tree: the same everywhere.
    Tree {
        /// The tree's id.
        tree: String,
        /// The commit that has it.
        commit: String,
    },
    /// Names, sizes and times of all files, as make itself judges: only good on this machine.
    Files {
        /// SHA-256 over them.
        fingerprint: String,
    },
}

/// What to build.
#[derive(Clone, Debug)]
pub struct Request {
    /// The tree.
    pub source: Source,
    /// Architecture, by any name that `targets.toml` knows.
    pub arch: String,
    /// `gcc`, `gcc-12`, `clang`, `clang-14`; nothing for what the environment says.
    pub toolchain: Option<String>,
    /// Make goal or file that the configuration starts from; nothing for the architecture's.
    pub kconfig: Option<String>,
    /// Fragments besides the default ones.
    pub fragments: Vec<String>,
    /// Whether the fragments that each build has are used.
    pub default_fragments: bool,
    /// Single settings, `NET=y`.
    pub kconfig_add: Vec<String>,
    /// Variables for make, `W=1`.
    pub make_vars: Vec<(String, String)>,
    /// Make goals; empty for the image and the modules.
    pub goals: Vec<String>,
    /// Object directory; nothing for one that is kept per target.
    pub objdir: Option<PathBuf>,
    /// Where products go; nothing for `out/kernels/…` of the project.
    pub output: Option<PathBuf>,
    /// How many compilers at once; nothing for one per processor.
    pub jobs: Option<usize>,
    /// Whether ccache is used when it is there.
    pub ccache: bool,
    /// Whether to run make though the product is of the same inputs.
    pub force: bool,
}

impl Request {
    /// The usual build of `source`: default fragments, goals and toolchain.
    #[must_use]
    pub fn new(source: Source, arch: &str) -> Request {
        Request {
            source,
            arch: arch.to_owned(),
            toolchain: None,
            kconfig: None,
            fragments: Vec::new(),
            default_fragments: true,
            kconfig_add: Vec::new(),
            make_vars: Vec::new(),
            goals: Vec::new(),
            objdir: None,
            output: None,
            jobs: None,
            ccache: true,
            force: false,
        }
    }
}

/// A finished build.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Built {
    /// The folder with all products.
    pub dir: PathBuf,
    /// The bootable image; nothing when only other goals were asked.
    pub image: Option<PathBuf>,
    /// The kernel with its symbols.
    pub vmlinux: Option<PathBuf>,
    /// The configuration.
    pub config: PathBuf,
    /// `metadata.json`.
    pub metadata: PathBuf,
    /// The folder to give as `INSTALL_MOD_PATH` was: it has `lib/modules/RELEASE`.
    pub modules_root: Option<PathBuf>,
    /// Each module.
    pub modules: Vec<PathBuf>,
    /// `uname -r`.
    pub release: String,
    /// The architecture, by its name in `targets.toml`.
    pub arch: String,
    /// The hash over all inputs.
    pub inputs_hash: String,
    /// Whether make had nothing to do since the product was of the same inputs.
    pub up_to_date: bool,
    /// All warnings of the objects that this build is made of, those of objects that
    /// were not made anew included.
    #[serde(skip)]
    pub diagnostics: Vec<Diagnostic>,
    /// Seconds, by phase.
    pub seconds: BTreeMap<String, f64>,
    /// What ccache did.
    pub ccache: Option<crate::build::ccache::Numbers>,
    /// How many targets make worked on, by tool.
    pub steps: BTreeMap<String, usize>,
    /// Where the object directory is kept.
    pub objdir: PathBuf,
}
