//! Benchmarks: what guests of two kernels measured, compared.
//!
//! A boot is one sample. What a program measures several times within one boot shares the boot's
//! memory layout, caches and timing, so repetitions are averaged into the boot's value, and only
//! boots count as independent. Boots of the two kernels come in pairs, in an order that a
//! recorded seed shuffles within each pair ([`order`]), so that a drift of the host meets
//! both. Means are compared by Welch's t test ([`stats`]), corrected by Holm over all figures of
//! a run. Every value counts: outliers are marked, never dropped.

pub mod figures;
pub mod host;
pub mod kept;
pub mod number;
pub mod order;
pub mod plot;
pub mod stats;
pub mod table;

use serde::{Deserialize, Serialize};

/// Which of the two kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Without the series.
    Baseline,
    /// With it.
    Patched,
}

impl Side {
    /// Both, in the order of tables.
    pub const BOTH: [Side; 2] = [Side::Baseline, Side::Patched];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Side::Baseline => "baseline",
            Side::Patched => "patched",
        }
    }
}
