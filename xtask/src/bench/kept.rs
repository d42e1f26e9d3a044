//! `results.json` of a benchmark: every value of every boot, what they were measured on, and
//! what comes of them. A reader knows by it whether it is of the commits in question.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::figures::{self, Values};
use super::host::{Host, Load};
use super::stats::{self, ALPHA, Difference, LEAST_RUNS, Sample};
use super::{Side, number};
use crate::build::inputs::hex;
use crate::error::{Error, IoContext as _, Result};
use crate::host::regular;
use crate::series::model::{Bench, Better, Figure, FigureKind, Fragment, Series};

/// Changes when a reader of the old form could misread the new one.
const FORM: &str = "kseries-bench-results/1";
/// The file.
pub const FILE: &str = "results.json";

/// All of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The form of this document.
    pub form: String,
    /// The series.
    pub series: String,
    /// The base's name.
    pub base: String,
    /// Its version.
    pub version: String,
    /// The architecture.
    pub arch: String,
    /// The baseline was measured against itself.
    pub against_itself: bool,
    /// Fragments that were asked for beside those of the series.
    pub config: Vec<String>,
    /// Times are those of an emulator.
    pub emulated: bool,
    /// When it ended, RFC 3339 in UTC.
    pub date: String,
    /// A hash over the benchmarks: their programs, and what `series.toml` says of them.
    pub fingerprint: String,
    /// Boots of each kernel and bench.
    pub runs: usize,
    /// What shuffled the order within each pair.
    pub seed: u32,
    /// The two kernels.
    pub kernels: Vec<KernelFacts>,
    /// What runs the guests.
    pub machine: Machine,
    /// The host.
    pub host: Host,
    /// What to weigh the results with.
    pub warnings: Vec<String>,
    /// The benchmarks.
    pub benches: Vec<Measured>,
}

/// A kernel that was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelFacts {
    /// Which.
    pub side: Side,
    /// Its commit.
    pub commit: String,
    /// Its tree.
    pub tree: String,
    /// `uname -r`.
    pub release: String,
    /// What compiled it.
    pub compiler: String,
}

/// What runs the guests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// QEMU's `-accel`.
    pub accelerator: String,
    /// QEMU's version.
    pub qemu: String,
    /// Why it is not KVM, where that is so.
    pub no_kvm: Option<String>,
}

/// One benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// The machine: its type, CPUs, memory.
    pub guest: String,
    /// Symbols of the configuration in which the kernels differ.
    pub config_differs: Vec<String>,
    /// In the order in which they were.
    pub boots: Vec<Boot>,
    /// What comes of them.
    pub figures: Vec<Compared>,
}

/// One boot.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// The pair, from 1.
    pub pair: usize,
    /// The kernel.
    pub side: Side,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// How long the guest ran.
    pub seconds: f64,
    /// The host just before.
    pub load: Load,
    /// All that was measured, repetitions included.
    pub values: Values,
    /// What the program wrote.
    pub output: Vec<String>,
}

/// One figure of both kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// What.
    pub label: String,
    /// The unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// A time, or a count.
    pub kind: FigureKind,
    /// The boots of the baseline.
    pub baseline: Sample,
    /// Those of the patched kernel.
    pub patched: Sample,
    /// Patched less baseline.
    pub difference: Option<Difference>,
    /// What it comes to: `faster`, `slower`, `no difference seen` …
    pub verdict: String,
}

/// No figure differs by more than chance would have it.
pub const SAME: &str = "no difference seen";
/// Nothing can be said.
pub const TOO_FEW: &str = "too few boots";

impl Compared {
    /// The difference in per cent of the baseline's mean; nothing where that is zero.
    #[must_use]
    pub fn percent(&self, absolute: f64) -> Option<f64> {
        let percent = absolute / self.baseline.mean.abs() * 100.0;
        percent.is_finite().then_some(percent)
    }

    /// The change for a reader: in per cent, or where that makes no sense in the figure's unit.
    #[must_use]
    pub fn change(&self) -> String {
        let Some(d) = &self.difference else { return "-".into() };
        self.percent(d.absolute)
            .map_or_else(|| signed(d.absolute), |p| format!("{} %", number::percent(p)))
    }

    /// The ends of the interval, as [`Compared::change`] has it.
    #[must_use]
    pub fn interval(&self) -> String {
        let Some(d) = &self.difference else { return "-".into() };
        match self.percent(d.low).zip(self.percent(d.high)) {
            Some((low, high)) => format!("{} … {} %", number::percent(low), number::percent(high)),
            None => format!("{} … {}", signed(d.low), signed(d.high)),
        }
    }

    /// Whether the means are called different.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.baseline.n.min(self.patched.n) >= LEAST_RUNS
            && self.difference.as_ref().is_some_and(|d| d.p_holm < ALPHA)
    }

    fn judge(&mut self) {
        let up = self.difference.as_ref().is_some_and(|d| d.absolute > 0.0);
        let word = if self.baseline.n.min(self.patched.n) < LEAST_RUNS {
            TOO_FEW
        } else if !self.differs() {
            SAME
        } else {
            let good = match self.better {
                Better::Higher => Some(up),
                Better::Lower => Some(!up),
                Better::Neither => None,
            };
            match (good, self.kind) {
                (Some(true), FigureKind::Time) => "faster",
                (Some(false), FigureKind::Time) => "slower",
                (Some(true), FigureKind::Count) => "better",
                (Some(false), FigureKind::Count) => "worse",
                (None, _) if up => "higher",
                (None, _) => "lower",
            }
        };
        word.clone_into(&mut self.verdict);
    }
}

fn signed(x: f64) -> String {
    let sign = if x > 0.0 { "+" } else { "" };
    format!("{sign}{}", number::plain(x))
}

/// Compares the boots of all benches: figures in the order of the series, p-values corrected over
/// all of them.
pub fn compare(measured: &mut [Measured], benches: &[&Bench]) {
    for (measured, bench) in measured.iter_mut().zip(benches) {
        let boots = |side| measured.boots.iter().filter(move |b| b.side == side);
        let sample =
            |f: &Figure, side| Sample::of(&figures::of_boots(f, boots(side).map(|b| &b.values)));
        let compared = bench.figures.iter().filter_map(|figure| {
            let baseline = sample(figure, Side::Baseline)?;
            let patched = sample(figure, Side::Patched)?;
            Some(Compared {
                label: figure.label.clone(),
                unit: figure.unit.clone(),
                better: figure.better,
                kind: figure.kind,
                difference: stats::welch(&baseline, &patched),
                baseline,
                patched,
                verdict: String::new(),
            })
        });
        measured.figures = compared.collect();
    }
    let all = || measured.iter().flat_map(|m| &m.figures).filter_map(|f| f.difference.as_ref());
    let p: Vec<f64> = all().map(|d| d.p).collect();
    let mut adjusted = stats::holm(&p).into_iter();
    for figure in measured.iter_mut().flat_map(|m| &mut m.figures) {
        if let Some(difference) = &mut figure.difference {
            difference.p_holm = adjusted.next().unwrap_or(1.0);
        }
        figure.judge();
    }
}

impl Kept {
    /// The form that this version of the tool writes.
    #[must_use]
    pub fn form() -> String {
        FORM.to_owned()
    }

    /// Every figure with its bench.
    pub fn figures(&self) -> impl Iterator<Item = (&Measured, &Compared)> {
        self.benches.iter().flat_map(|b| b.figures.iter().map(move |f| (b, f)))
    }

    /// A kernel's facts.
    #[must_use]
    pub fn kernel(&self, side: Side) -> Option<&KernelFacts> {
        self.kernels.iter().find(|k| k.side == side)
    }

    /// What a side is called.
    #[must_use]
    pub fn name(&self, side: Side) -> &'static str {
        if self.against_itself && side == Side::Patched { "again" } else { side.name() }
    }

    /// The document.
    ///
    /// # Errors
    /// When it cannot be written as JSON; it always can.
    pub fn json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self)
            .map_err(|e| Error::host("write the results as JSON").found(e.to_string()))
    }

    /// Reads one; nothing where there is none.
    ///
    /// # Errors
    /// When what is there cannot be read as one.
    pub fn read(path: &Path) -> Result<Option<Kept>> {
        let Some(bytes) = regular::read_if_there(path)? else { return Ok(None) };
        let damaged = |why: String| {
            Error::usage(format!("{} is no report of bench", path.display())).found(why)
        };
        let kept: Kept = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
        if kept.form == FORM {
            return Ok(Some(kept));
        }
        Err(damaged(format!("its form is {}, not {FORM}", kept.form.escape_debug())))
    }
}

/// A hash over what a series' benchmarks are: their tables in `series.toml`, their sources with
/// all that lies beside them (headers are found there), and their own fragments.
///
/// # Errors
/// When a file cannot be read.
pub fn fingerprint(series: &Series) -> Result<String> {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update(bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    let mut folders = std::collections::BTreeSet::new();
    for bench in &series.benches {
        let names = |all: &[Fragment]| all.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
        let folder = series.folder();
        let sources: Vec<_> =
            bench.sources.iter().map(|s| s.strip_prefix(&folder).unwrap_or(s)).collect();
        let Bench { name, args, timeout, patches_text, modules, smp, memory, figures, .. } = bench;
        let of_it = (name, args, timeout, patches_text, modules, smp, memory, figures);
        let fragments = (names(&bench.kconfig), names(&bench.kconfig_series));
        add(format!("{of_it:?} {sources:?} {fragments:?}").as_bytes());
        for file in
            bench.kconfig.iter().chain(&bench.kconfig_series).filter_map(|f| f.file.as_ref())
        {
            add(&std::fs::read(file).at("read", file)?);
        }
        folders.extend(bench.sources.iter().filter_map(|s| s.parent()).map(Path::to_owned));
    }
    for folder in &folders {
        let entries = std::fs::read_dir(folder).at("read", folder)?;
        let mut files = Vec::new();
        for entry in entries {
            files.push(entry.at("read", folder)?.path());
        }
        // An editor's files come and go.
        files.retain(|f| {
            let name = f.file_name().unwrap_or_default().as_encoded_bytes();
            f.is_file() && !name.starts_with(b".") && !name.ends_with(b"~")
        });
        files.sort();
        for file in files {
            add(file.file_name().unwrap_or_default().as_encoded_bytes());
            add(&std::fs::read(&file).at("read", &file)?);
        }
    }
    Ok(hex(&hash.finalize()))
}

#[cfg(test)]
pub(crate) mod tests;
