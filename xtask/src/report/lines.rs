//! Figures in the lines that a test writes beside its results:
//! `native XDP: 23.37 wire packets per skb (5843 / 250)`.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

// A label may have anything but a colon; the unit ends where a bracket begins.
static FIGURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^([^:]*[^:\s])\s*[:=]\s+(-?[0-9]+(?:\.[0-9]+)?)(?:\s*(%|[A-Za-z][^(,;]*))?").ok()
});

/// What one line measures: label, number as it is written, unit.
#[must_use]
pub fn figure(line: &str) -> Option<(&str, &str, &str)> {
    let found = FIGURE.as_ref()?.captures(line.trim())?;
    let part = |n| found.get(n).map_or("", |m| m.as_str().trim());
    let (label, number, unit) = (part(1), part(2), part(3));
    // `12:30`, `0x1f`, an address: the number must end there.
    let rest = line.trim().get(found.get(2)?.end()..)?;
    let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "._:x".contains(c));
    (ends || unit == "%").then_some((label, number, unit))
}

/// The figures of a case by label; one that comes more often has its first value,
/// and the least and greatest.
pub fn figures<'l>(lines: impl Iterator<Item = &'l str>) -> Value {
    let mut all: Map<String, Value> = Map::new();
    for (label, number, unit) in lines.filter_map(figure) {
        let less = |a: &Value, b: &str| -> bool {
            let number = |t: &str| t.parse::<f64>().unwrap_or(f64::NAN);
            a.as_str().is_some_and(|a| number(a) <= number(b))
        };
        let new = || json!({ "value": number, "min": number, "max": number, "unit": unit, "n": 0 });
        let entry = all.entry(label.to_owned()).or_insert_with(new);
        let Some(entry) = entry.as_object_mut() else { continue };
        if entry.get("min").is_some_and(|min| !less(min, number)) {
            entry.insert("min".to_owned(), number.into());
        }
        if entry.get("max").is_some_and(|max| less(max, number)) {
            entry.insert("max".to_owned(), number.into());
        }
        let n = entry.get("n").and_then(Value::as_u64).unwrap_or(0);
        entry.insert("n".to_owned(), (n + 1).into());
    }
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_lines_measure_something() {
        for (line, want) in [
            (
                "native XDP: 23.37 wire packets per skb (5843 / 250)",
                Some(("native XDP", "23.37", "wire packets per skb")),
            ),
            ("latency P50 = -3.62 %", Some(("latency P50", "-3.62", "%"))),
            ("hits: 12", Some(("hits", "12", ""))),
            ("hits: 12%", Some(("hits", "12", "%"))),
            ("rate: 15.19 Gbit/s, 5 runs", Some(("rate", "15.19", "Gbit/s"))),
            ("at: 12:30", None),
            ("mask: 0x1f", None),
            ("release: 6.12.117", None),
            ("lost 0 datagrams", None),
            ("5 of 5 namespaces deleted", None),
            (": 3", None),
            ("x: ", None),
        ] {
            assert_eq!(figure(line), want, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_stands_in_the_line(line in "\\PC{0,20}[:=]? ?-?[0-9.]{0,6} ?\\PC{0,20}") {
            if let Some((label, number, unit)) = figure(&line) {
                proptest::prop_assert!(!label.is_empty() && !label.contains(':'));
                proptest::prop_assert!(number.parse::<f64>().is_ok());
                proptest::prop_assert!([label, number, unit].iter().all(|p| line.contains(p)));
            }
            let _ = figures(std::iter::once(line.as_str()));
        }
    }

    #[test]
    fn repeated_figures_have_a_range() {
        let v = figures(["a: 17.25 x", "b: 1", "a: 22.2 x", "a: 9 x"].into_iter());
        assert_eq!(
            v["a"],
            json!({"value": "17.25", "min": "9", "max": "22.2", "unit": "x", "n": 3})
        );
        assert_eq!(v["b"]["n"], 1);
    }
}
