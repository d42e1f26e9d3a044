//! `[[bench]]` of `series.toml` as it is written.

use schemars::JsonSchema;
use serde::Deserialize;

use super::raw::RawGuest;

/// A benchmark: a program that runs in guests of two kernels, without the series and with it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawBench {
    /// Its name.
    pub name: String,
    /// C files below the series' folder, built as one static program; or one script.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Kconfig fragments of both kernels: of kconfigs/, or with a slash, a file below the series' folder.
    #[serde(default)]
    pub kconfig: Vec<String>,
    /// The same for symbols that only the kernel with the series has.
    #[serde(default)]
    pub kconfig_series: Vec<String>,
    /// Arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// Seconds after which it counts as hung (default 300).
    pub timeout: Option<u64>,
    /// The series patches kernel text while it runs: under TCG only `thread=single` is sound.
    #[serde(default)]
    pub patches_text: bool,
    /// Kernel modules that the guest must have.
    #[serde(default)]
    pub modules: Vec<String>,
    /// What the guest must be like.
    #[serde(default)]
    pub needs_guest: RawGuest,
    /// What it measures: each of these in every boot, and nothing else.
    #[serde(default)]
    pub figures: Vec<RawFigure>,
}

/// A figure that the program writes as a comment, `# LABEL: NUMBER UNIT`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawFigure {
    /// What is measured.
    pub label: String,
    /// In which unit; empty for a bare number.
    #[serde(default)]
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Whether it is a time, or a count.
    #[serde(default)]
    pub kind: FigureKind,
}

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: it is shown, and not judged good or bad.
    Neither,
}

/// What a figure is, for a reader who knows what it was measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// A time or a rate (default): of an emulator, it says nothing of hardware.
    #[default]
    Time,
    /// A count or a ratio of counts: it means something in an emulator too.
    Count,
}
