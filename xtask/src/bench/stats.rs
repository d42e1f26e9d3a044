//! What a handful of boots says: location and spread of each side, the difference of the
//! means with its confidence interval, and whether it is one.
//!
//! Welch's t test (Welch 1947) does not ask that both kernels spread alike; degrees of freedom are
//! Satterthwaite's. Holm's step-down procedure (Holm 1979) keeps the chance that any figure of
//! a run is called different by accident below 5 %. Outliers are those of Iglewicz and Hoaglin (1993):
//! a modified z-score above 3.5.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, StudentsT};
use statrs::statistics::{Data, Median as _, Statistics};

/// Chance of seeing a difference where there is none, over all figures of a run.
pub const ALPHA: f64 = 0.05;
/// Boots of each kernel from which on a verdict is given.
pub const LEAST_RUNS: usize = 3;
/// Values from which on one of them can be told to stand apart.
const LEAST_FOR_OUTLIERS: usize = 5;
/// Modified z-score above which a value is an outlier.
const OUTLIER: f64 = 3.5;

/// One side's boots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// How many boots.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their median.
    pub median: f64,
    /// Their standard deviation (of a sample); nothing for a single boot.
    pub sd: Option<f64>,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// Which of them are outliers, from 0.
    pub outliers: Vec<usize>,
}

impl Sample {
    /// Of values that are finite; nothing where there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Sample> {
        if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        // Of equal numbers the mean is that number, whatever rounding makes of the sum.
        let (min, max) = (Statistics::min(values), Statistics::max(values));
        let equal = min >= max;
        let mean = if equal { min } else { values.mean() };
        let sd = if equal { 0.0 } else { values.std_dev() };
        Some(Sample {
            n: values.len(),
            mean,
            median: median(values),
            sd: (values.len() > 1).then_some(sd),
            min,
            max,
            outliers: outliers(values),
        })
    }
}

fn median(values: &[f64]) -> f64 {
    Data::new(values.to_vec()).median()
}

fn outliers(values: &[f64]) -> Vec<usize> {
    if values.len() < LEAST_FOR_OUTLIERS {
        return Vec::new();
    }
    let middle = median(values);
    let away: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
    // Where most values are equal, their mean deviation takes the place of the median one.
    let (spread, factor) = match median(&away) {
        mad if mad > 0.0 => (mad, 0.6745),
        _ => (away.iter().copied().mean(), 0.7979),
    };
    let far = |a: f64| spread > 0.0 && factor * a / spread > OUTLIER;
    away.iter().enumerate().filter(|(_, a)| far(**a)).map(|(i, _)| i).collect()
}

/// How the means differ: patched less baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// In the figure's unit.
    pub absolute: f64,
    /// Ends of its 95 % confidence interval.
    pub low: f64,
    /// Ends of its 95 % confidence interval.
    pub high: f64,
    /// Two-sided p of no difference, of this figure alone.
    pub p: f64,
    /// The same after Holm's correction over all figures of the run.
    pub p_holm: f64,
}

/// Welch's comparison; nothing with fewer than two boots on a side.
#[must_use]
pub fn welch(baseline: &Sample, patched: &Sample) -> Option<Difference> {
    let absolute = patched.mean - baseline.mean;
    let part = |s: &Sample| s.sd.map(|sd| sd * sd / count(s.n));
    let (a, b) = (part(baseline)?, part(patched)?);
    let error = (a + b).sqrt();
    let scale = baseline.mean.abs().max(patched.mean.abs());
    // No boot differs from another of its side: then either the sides are the same, or no chance
    // is in it.
    if error <= scale * f64::EPSILON {
        let p = if absolute.abs() <= scale * f64::EPSILON { 1.0 } else { 0.0 };
        return Some(Difference { absolute, low: absolute, high: absolute, p, p_holm: p });
    }
    // From the parts' ratios: the squares of very small ones would be nothing.
    let (ra, rb) = (a / (a + b), b / (a + b));
    let freedom = 1.0 / (ra * ra / (count(baseline.n) - 1.0) + rb * rb / (count(patched.n) - 1.0));
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let p = (2.0 * t.sf((absolute / error).abs())).clamp(0.0, 1.0);
    let reach = t.inverse_cdf(1.0 - ALPHA / 2.0) * error;
    Some(Difference { absolute, low: absolute - reach, high: absolute + reach, p, p_holm: p })
}

fn count(n: usize) -> f64 {
    n as f64
}

/// Holm's adjusted p-values, in the order of `p`.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = p.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 0.0_f64;
    for (rank, (at, p)) in order.into_iter().enumerate() {
        least = least.max(p * count(adjusted.len() - rank)).min(1.0);
        if let Some(slot) = adjusted.get_mut(at) {
            *slot = least;
        }
    }
    adjusted
}

#[cfg(test)]
mod tests;
