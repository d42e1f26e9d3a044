//! What one boot measured: the figures that the series names, each of them, and no other.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::report::lines;
use crate::series::excerpt::did_you_mean;
use crate::series::model::{Bench, Figure};
use crate::vm::ktap;

/// Beyond this a number is taken for a mistake: squares of it are still finite.
const GREATEST: f64 = 1e100;

/// Values by label, in the order in which they came.
pub type Values = BTreeMap<String, Vec<f64>>;

/// Reads the lines of a program that passed. A figure may come several times: repetitions.
///
/// # Errors
/// When the lines have a figure that the series does not name, or one of another unit, or lack one.
pub fn read(bench: &Bench, lines: &[String]) -> Result<Values> {
    let mut values = Values::new();
    if lines.iter().any(|l| l.starts_with("… ") && l.ends_with(" more lines")) {
        return Err(Error::usage(format!("bench {}", bench.name))
            .found("it wrote more lines than are kept of a test, and figures may be among the rest")
            .hint("let it write fewer: a mean, in place of each repetition"));
    }
    for line in lines {
        let Some((label, number, unit)) = lines::figure(line) else { continue };
        let known = bench.figures.iter().find(|f| f.label == label);
        let Some(figure) = known else { return Err(unknown(bench, label, line)) };
        if figure.unit != unit {
            return Err(wrong(bench, line)
                .found(format!("its unit is \"{unit}\"; series.toml has \"{}\"", figure.unit))
                .hint("change the one or the other"));
        }
        match number.parse::<f64>() {
            Ok(n) if n.abs() <= GREATEST => values.entry(label.to_owned()).or_default().push(n),
            _ => return Err(wrong(bench, line).found("the number is too large")),
        }
    }
    let lacking: Vec<&str> = bench
        .figures
        .iter()
        .map(|f| f.label.as_str())
        .filter(|l| !values.contains_key(*l))
        .collect();
    if lacking.is_empty() {
        return Ok(values);
    }
    let hint = format!("it has to write `# {}: NUMBER UNIT`", lacking.join(": …`, `# "));
    Err(Error::usage(format!("bench {}", bench.name))
        .found(format!("it passed, and did not write {}", quoted(&lacking)))
        .hint(hint))
}

fn wrong(bench: &Bench, line: &str) -> Error {
    let line: String = line.chars().take(200).collect();
    Error::usage(format!("bench {}: `{}`", bench.name, line.trim().escape_debug()))
}

fn unknown(bench: &Bench, label: &str, line: &str) -> Error {
    let known = bench.figures.iter().map(|f| f.label.as_str());
    let error = wrong(bench, line).found("`figures` of series.toml has none of that label");
    match did_you_mean(label, known.clone()) {
        Some(near) => error.hint(format!("did you mean \"{near}\"?")),
        None => error
            .hint(format!("it has: {}; name this one too, or write it without a colon", {
                known.collect::<Vec<_>>().join(", ")
            })),
    }
}

fn quoted(labels: &[&str]) -> String {
    labels.iter().map(|l| format!("\"{l}\"")).collect::<Vec<_>>().join(", ")
}

/// The value of each boot: the mean of its repetitions.
#[must_use]
pub fn of_boots<'v>(figure: &Figure, boots: impl Iterator<Item = &'v Values>) -> Vec<f64> {
    let mean = |values: &Vec<f64>| {
        let mut iter = values.iter();
        let first = *iter.next()?;
        // Of one value that value, to the last bit.
        let (sum, n) = iter.fold((first, 1.0), |(sum, n), v| (sum + v, n + 1.0));
        Some(sum / n)
    };
    boots.filter_map(|values| values.get(&figure.label).and_then(mean)).collect()
}

/// All lines that a test wrote, its subtests' included, in their order.
#[must_use]
pub fn lines_of(test: &ktap::Test) -> Vec<String> {
    let mut lines = Vec::new();
    add(test, &mut lines);
    lines
}

fn add(test: &ktap::Test, lines: &mut Vec<String>) {
    for below in test.children.iter() {
        below.tests.iter().for_each(|t| add(t, lines));
        lines.extend(below.output.iter().cloned());
    }
    lines.extend(test.output.iter().cloned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kept;
    use crate::series::model::{Better, FigureKind};

    fn bench() -> Bench {
        let time = |label, unit| (label, unit, Better::Higher, FigureKind::Time);
        kept::tests::bench(&[time("rate", "kpps"), time("hits", "")])
    }

    fn of(text: &str) -> Result<Values> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        read(&bench(), &lines)
    }

    #[test]
    fn a_boot_has_each_figure_and_no_other() {
        let values = of("warming up\nrate: 12.5 kpps\nhits: 3\nrate: 13.5 kpps (9 / 2)\n").unwrap();
        assert_eq!(values["rate"], [12.5, 13.5]);
        assert_eq!(of_boots(&bench().figures[0], [&values, &values].into_iter()), [13.0, 13.0]);
        for (text, says) in [
            ("rate: 1 kpps", "did not write \"hits\""),
            ("", "did not write \"rate\", \"hits\""),
            ("rate: 1 kpps\nhits: 1\nrte: 1 kpps", "did you mean \"rate\"?"),
            ("rate: 1 kpps\nhits: 1\nCPU time of the guest: 1 s", "it has: rate, hits"),
            ("rate: 1 Mpps\nhits: 1", "its unit is \"Mpps\"; series.toml has \"kpps\""),
            ("rate: 1 kpps\nhits: 1\n… 3 more lines", "more lines than are kept"),
            (&format!("hits: 1{}", "0".repeat(400)), "too large"),
        ] {
            let e = of(text).unwrap_err().to_string();
            assert!(e.contains(says), "{text}: {e}");
        }
    }

    #[test]
    fn lines_come_from_all_of_a_program() {
        let text = "KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n  # rate: 1 kpps\n  ok 1 whole\n\
                    \x20 # hits: 2\nok 1 b\n";
        let document = ktap::parse(text.as_bytes());
        let lines = lines_of(&document.root.tests[0]);
        let values = read(&bench(), &lines).unwrap();
        assert_eq!((values["rate"][0], values["hits"][0]), (1.0, 2.0));
    }
}
