//! Numbers as a reader wants them: four significant digits, and a sign where it is a
//! difference.

/// Four significant digits, no exponent in any usual range.
#[must_use]
pub fn plain(x: f64) -> String {
    let x = if x == 0.0 { 0.0 } else { x };
    if !x.is_finite() || (x != 0.0 && !(1e-9..1e15).contains(&x.abs())) {
        return format!("{x:.3e}");
    }
    with_decimals(x, decimals(x, 4))
}

/// As [`plain`], with `±` and the spread to as many decimals.
#[must_use]
pub fn spread(mean: f64, sd: Option<f64>) -> String {
    let whole = plain(mean);
    let Some(sd) = sd else { return whole };
    if whole.contains('e') {
        return format!("{whole} ± {}", plain(sd));
    }
    let places = whole.split_once('.').map_or(0, |(_, d)| d.len());
    // A spread that would read as none has digits of its own.
    let places = if sd > 0.0 { places.max(decimals(sd, 1)).min(places + 3) } else { places };
    format!("{whole} ± {}", with_decimals(sd, places))
}

/// A change in per cent: one decimal, two below one per cent.
#[must_use]
pub fn percent(x: f64) -> String {
    let places = if x.abs() < 0.995 { 2 } else { 1 };
    let text = format!("{x:+.places$}");
    // Not "-0.00".
    if text.bytes().all(|b| b"+-0.".contains(&b)) { "0".into() } else { text }
}

/// Decimals that leave `digits` significant ones.
fn decimals(x: f64, digits: usize) -> usize {
    if x == 0.0 {
        return 0;
    }
    let mut magnitude = x.abs();
    let mut places = digits.saturating_sub(1);
    while magnitude >= 10.0 && places > 0 {
        magnitude /= 10.0;
        places -= 1;
    }
    let mut magnitude = x.abs();
    while magnitude < 1.0 && places < 15 {
        magnitude *= 10.0;
        places += 1;
    }
    places
}

fn with_decimals(x: f64, places: usize) -> String {
    format!("{x:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_a_reader_wants_them() {
        for (x, want) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1.000"),
            (22.4137, "22.41"),
            (-3.62, "-3.620"),
            (123_456.7, "123457"),
            (0.012_346, "0.01235"),
            (999.96, "1000.0"),
            (1e20, "1.000e20"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(plain(x), want);
        }
        for (mean, sd, want) in [
            (22.4137, Some(0.31), "22.41 ± 0.31"),
            (123_456.7, Some(812.4), "123457 ± 812"),
            (1.0, Some(0.0), "1.000 ± 0.000"),
            (1.0, Some(0.000_04), "1.000 ± 0.00004"),
            (5.0, None, "5.000"),
        ] {
            assert_eq!(spread(mean, sd), want);
        }
        for (x, want) in
            [(14.63, "+14.6"), (-0.5, "-0.50"), (0.0, "0"), (-0.001, "0"), (1830.25, "+1830.2")]
        {
            assert_eq!(percent(x), want);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_number_has_a_short_text(x in proptest::num::f64::ANY, sd in proptest::num::f64::ANY) {
            proptest::prop_assert!(plain(x).len() <= 24, "{}", plain(x));
            let _ = spread(x, Some(sd));
            let _ = percent(x);
        }
    }
}
