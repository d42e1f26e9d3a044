//! Results for readers: a report that tells what they were measured on, and the table for a
//! cover letter.

use std::fmt::Write as _;

use tabled::builder::Builder;
use tabled::settings::Style;

use super::kept::{Compared, Kept, Measured, SAME, TOO_FEW};
use super::stats::LEAST_RUNS;
use super::{Side, number};
use crate::series::model::FigureKind;

/// Columns of a mail's line.
const MAIL: usize = 75;

/// What a reader must know first; nothing where times are those of hardware.
#[must_use]
pub fn caution(kept: &Kept) -> Option<String> {
    let counts = kept.figures().any(|(_, f)| f.kind == FigureKind::Count);
    kept.emulated.then(|| {
        format!(
            "Times are of an emulator ({}) and tell nothing of hardware{}.",
            kept.machine.accelerator,
            if counts { "; only counts do" } else { "" }
        )
    })
}

/// The report.
#[must_use]
pub fn report(kept: &Kept) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = |text: &str| lines.push(text.to_owned());
    if let Some(caution) = caution(kept) {
        line(&caution);
        line("");
    }
    let itself = if kept.against_itself { ", the baseline against itself" } else { "" };
    line(&format!(
        "{} on {} (Linux {}), {}{itself}",
        kept.series, kept.base, kept.version, kept.arch
    ));
    for kernel in &kept.kernels {
        let commit = kernel.commit.get(..12).unwrap_or(&kernel.commit);
        line(&format!(
            "{:<9} {commit}, {}, {}",
            kept.name(kernel.side),
            kernel.release,
            kernel.compiler
        ));
    }
    let machine = &kept.machine;
    line(&format!("guests    QEMU {}, {}", machine.qemu, machine.accelerator));
    if let Some(why) = &machine.no_kvm {
        line(&format!("no KVM    {why}"));
    }
    let host = &kept.host;
    let governor = host.governor.as_deref().unwrap_or("unknown");
    line(&format!(
        "host      {}, {} CPUs, Linux {}, governor {governor}",
        host.cpu, host.cpus, host.kernel
    ));
    line(&format!(
        "boots     {} of each kernel, order shuffled within each pair (seed {})",
        kept.runs, kept.seed
    ));
    if !kept.config.is_empty() {
        line(&format!("config    with {} besides", kept.config.join(", ")));
    }
    let mut out = lines.join("\n") + "\n";
    for bench in &kept.benches {
        let _ = writeln!(out, "\n{} ({})", bench.name, bench.guest);
        if !bench.config_differs.is_empty() {
            let symbols = bench.config_differs.join(", ");
            let _ = writeln!(out, "the kernels' configurations differ in {symbols}");
        }
        out.push_str(&figures(kept, bench));
        line_outliers(kept, bench, &mut out);
    }
    out.push_str(LEGEND);
    if kept.figures().any(|(_, f)| f.verdict == TOO_FEW) {
        let _ =
            writeln!(out, "Fewer than {LEAST_RUNS} boots of each kernel give no verdict: --runs 5");
    }
    for warning in &kept.warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    out
}

const LEGEND: &str = "
mean ± standard deviation over boots; 95 % interval of the difference of the means (Welch);
p after Holm's correction over all figures, from which the verdict comes
";

fn figures(kept: &Kept, bench: &Measured) -> String {
    let mut table = Builder::default();
    table.push_record([
        "figure",
        "unit",
        "n",
        kept.name(Side::Baseline),
        kept.name(Side::Patched),
        "medians",
        "change",
        "95 % interval",
        "p",
        "",
    ]);
    for f in &bench.figures {
        let n = if f.baseline.n == f.patched.n {
            f.baseline.n.to_string()
        } else {
            format!("{}, {}", f.baseline.n, f.patched.n)
        };
        let medians =
            format!("{} → {}", number::plain(f.baseline.median), number::plain(f.patched.median));
        table.push_record([
            f.label.clone(),
            f.unit.clone(),
            n,
            number::spread(f.baseline.mean, f.baseline.sd),
            number::spread(f.patched.mean, f.patched.sd),
            medians,
            f.change(),
            f.interval(),
            f.difference.as_ref().map_or_else(|| "-".into(), |d| p_value(d.p_holm)),
            f.verdict.clone(),
        ]);
    }
    let mut table = table.build();
    table.with(Style::blank());
    table.to_string().lines().fold(String::new(), |all, l| all + l.trim_end() + "\n")
}

fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".into() } else { format!("{p:.4}") }
}

/// Values that stand apart: they are in all that was computed.
fn line_outliers(kept: &Kept, bench: &Measured, out: &mut String) {
    for figure in &bench.figures {
        for (side, sample) in [(Side::Baseline, &figure.baseline), (Side::Patched, &figure.patched)]
        {
            let boots: Vec<_> = bench.boots.iter().filter(|b| b.side == side).collect();
            for boot in sample.outliers.iter().filter_map(|i| boots.get(*i)) {
                let values = boot.values.get(&figure.label).map_or(&[][..], Vec::as_slice);
                let values: Vec<String> = values.iter().map(|v| number::plain(*v)).collect();
                let _ = writeln!(
                    out,
                    "outlier, counted: {} of {}, pair {}: {} (median {})",
                    figure.label,
                    kept.name(side),
                    boot.pair,
                    values.join(", "),
                    number::plain(sample.median)
                );
            }
        }
    }
}

/// The table for a cover letter: plain columns, no line beyond a mail's; of all figures, or of
/// one kind of them.
#[must_use]
pub fn letter(kept: &Kept, kind: Option<FigureKind>) -> String {
    let [baseline, patched] = Side::BOTH.map(|side| kept.name(side));
    let mut rows = vec![Row::of(["", baseline, patched, "change", ""])];
    let mut same = false;
    for bench in &kept.benches {
        if kept.benches.len() > 1 {
            rows.push(Row::of([&format!("{}:", bench.name), "", "", "", ""]));
        }
        for figure in bench.figures.iter().filter(|f| kind.is_none_or(|k| f.kind == k)) {
            same |= figure.verdict == SAME;
            rows.push(row(figure));
        }
    }
    let width = |column: usize| {
        let cells = rows.iter().map(|r| r.0.get(column).map_or(0, |c| c.chars().count()));
        // A label that is longer has a line of its own.
        cells.filter(|w| column > 0 || *w <= LABEL).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        row.write(&widths, &mut out);
    }
    if same {
        let _ = writeln!(out, "   ~: {SAME}");
    }
    out
}

/// Columns of a label beside its figures.
const LABEL: usize = 26;

/// Label, baseline, patched, change, verdict.
struct Row([String; 5]);

impl Row {
    fn of(cells: [&str; 5]) -> Row {
        Row(cells.map(str::to_owned))
    }

    fn write(&self, widths: &[usize], out: &mut String) {
        let [label, baseline, patched, change, verdict] = &self.0;
        let width = |n: usize| widths.get(n).copied().unwrap_or(0);
        let (first, second, third, fourth) = (width(0), width(1), width(2), width(3));
        let mut beside = label.as_str();
        if label.chars().count() > first {
            let _ = writeln!(out, "   {label}");
            beside = "";
        }
        let line = format!(
            "   {beside:<first$}  {baseline:>second$}  {patched:>third$}  {change:>fourth$}  {verdict}"
        );
        let line = line.trim_end();
        match line.strip_suffix(verdict.as_str()).filter(|_| line.chars().count() > MAIL) {
            Some(short) => {
                let _ = writeln!(out, "{}\n      {verdict}", short.trim_end());
            }
            None => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
}

fn row(f: &Compared) -> Row {
    let unit = if f.unit.is_empty() { String::new() } else { format!(" ({})", f.unit) };
    let (change, verdict) = match f.verdict.as_str() {
        SAME => ("~".to_owned(), ""),
        verdict => (f.change(), verdict),
    };
    Row([
        format!("{}{unit}", f.label),
        number::spread(f.baseline.mean, f.baseline.sd),
        number::spread(f.patched.mean, f.patched.sd),
        change,
        verdict.to_owned(),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::kept::tests::{kept, usual};
    use super::*;

    #[test]
    fn an_emulator_is_named_in_the_first_line() {
        let text = report(&usual(true));
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            "Times are of an emulator (tcg) and tell nothing of hardware; only counts do."
        );
        let text = report(&usual(false));
        assert!(
            !text.contains("emulator") && text.starts_with("s on 6.12 (Linux 6.12.3), x86_64\n")
        );
    }

    #[test]
    fn the_report_has_all_that_a_table_must_tell() {
        let text = report(&usual(false));
        for what in [
            "baseline  010101010101, 6.12.3, gcc 12.2.0",
            "QEMU 10.0, kvm",
            "C, 2 CPUs, Linux 6.1, governor unknown",
            "5 of each kernel, order shuffled within each pair (seed 7)",
            "stream (microvm, 2 CPUs, 512 MiB)\nthe kernels' configurations differ in GRO_MORE\n",
            "99.80 ± 1.04",
            "+0.10 %",
            "no difference seen",
            "<0.0001",
            "better",
        ] {
            assert!(text.contains(what), "{what}:\n{text}");
        }
        assert!(!text.contains("warning") && !text.contains("give no verdict"));
    }

    #[test]
    fn outliers_are_shown() {
        let mut values = Vec::new();
        for rate in [100.0, 101.0, 99.0, 100.5, 60.0] {
            values.extend([(Side::Baseline, 100.0, 1.0), (Side::Patched, rate, 1.0)]);
        }
        let text = report(&kept(&values, false));
        let line = "outlier, counted: rate of patched, pair 5: 60.00 (median 100.0)";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn a_kernel_against_itself_has_no_patched_one() {
        let mut kept = usual(false);
        kept.against_itself = true;
        let text = report(&kept) + &letter(&kept, None);
        assert!(text.contains("the baseline against itself\n"), "{text}");
        assert!(text.contains("again") && !text.contains("patched"), "{text}");
    }

    #[test]
    fn few_boots_are_told() {
        let text = report(&kept(&[(Side::Baseline, 1.0, 1.0), (Side::Patched, 2.0, 1.0)], false));
        assert!(text.contains("give no verdict") && text.contains(TOO_FEW), "{text}");
    }

    #[test]
    fn the_letters_table_fits_a_mail() {
        let mut kept = usual(true);
        kept.benches[0].figures[1].unit = "wire packets in one buffer".into();
        let text = letter(&kept, None);
        assert_eq!(
            text,
            concat!(
                "                     baseline       patched     change\n",
                "   rate (MB/s)   99.80 ± 1.04  99.90 ± 1.04          ~\n",
                "   packets per skb (wire packets in one buffer)\n",
                "                1.000 ± 0.000  23.00 ± 0.01  +2199.8 %  better\n",
                "   ~: no difference seen\n",
            )
        );
        let counts = letter(&kept, Some(FigureKind::Count));
        assert!(!counts.contains("rate") && !counts.contains('~'), "{counts}");

        let figure = &mut kept.benches[0].figures[1];
        (figure.baseline.mean, figure.patched.mean) = (-123_456_789.0, 987_654_321_987.0);
        figure.label = "x".repeat(26);
        let bench = kept.benches[0].clone();
        kept.benches.push(bench);
        let text = letter(&kept, None);
        assert!(text.lines().all(|l| l.chars().count() <= MAIL), "{text}");
        assert_eq!(text.matches("stream:").count(), 2);
    }
}
