//! The document: one table a step, with a row for each cell that came to its end, and what else a
//! reader needs to weigh it. What was not run has no row.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::plan::Step;
use super::state::{Finished, Status};

/// What stands above the tables.
#[derive(Clone, Debug)]
pub struct Head {
    /// When it is written.
    pub written: jiff::Timestamp,
    /// The project's commit.
    pub commit: String,
    /// Compilers, by architecture.
    pub compilers: Vec<(String, String)>,
    /// The host.
    pub host: String,
    /// The command that gives these tables again.
    pub again: String,
    /// What no cell was made for, with the reason.
    pub left_out: Vec<String>,
}

/// What a document begins with.
const BEGIN: &str = "# Matrix\n\nWritten by `cargo xtask matrix`.";

/// The longest note; the products have the rest.
const NOTE: usize = 600;

/// Writes the document as Markdown.
#[must_use]
pub fn document(head: &Head, results: &[Finished]) -> String {
    let mut results: Vec<&Finished> = results.iter().collect();
    results.sort_by_key(|f| f.cell.step);
    let (ended, not_run): (Vec<&Finished>, Vec<&Finished>) =
        results.into_iter().partition(|f| f.status != Status::NotRun);
    let mut out = String::from(BEGIN);
    out.push_str(
        " Each row is a cell that was run to its end, at the time \
         that it names; what has no row was not run. A row with a commit of its own was run then, and \
         nothing that could change it has changed since.\n\n",
    );
    facts(&mut out, head, &ended);
    overview(&mut out, &ended);
    for step in Step::ALL {
        let of_it: Vec<&Finished> = ended.iter().copied().filter(|f| f.cell.step == step).collect();
        if !of_it.is_empty() {
            table(&mut out, head, step, &of_it);
        }
    }
    let reasons = not_run.iter().map(|f| format!("{}: {}", f.cell, f.summary));
    let reasons: Vec<String> = reasons.chain(head.left_out.iter().cloned()).collect();
    if !reasons.is_empty() {
        out.push_str("\n## Not run\n");
        for reason in reasons {
            let _ = writeln!(out, "- {}", plain(&reason));
        }
    }
    out
}

fn facts(out: &mut String, head: &Head, ended: &[&Finished]) {
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "| {name} | {value} |");
    };
    row("", "");
    row("---", "---");
    row("written", &format!("{} UTC", time(head.written)));
    row("tool and series", &plain(&format!("commit {}", head.commit)));
    for (arch, compiler) in &head.compilers {
        row(&format!("compiler for {arch}"), &plain(compiler));
    }
    row("host", &plain(&head.host));
    let mut guests: Vec<&str> = ended.iter().filter_map(|f| f.accelerator.as_deref()).collect();
    guests.sort_unstable();
    guests.dedup();
    if !guests.is_empty() {
        row("guests run by", &plain(&guests.join(", ")));
    }
    row("again", &format!("`{}`", head.again.replace('|', "\\|")));
}

/// Whether `text` is a document of this kind.
#[must_use]
pub fn is_one(text: &str) -> bool {
    text.starts_with(BEGIN)
}

/// Rows of an older document that a new one does not have, each by its step and its cell.
#[must_use]
pub fn rows_lost(old: &str, new: &str) -> Vec<String> {
    let new = rows(new);
    rows(old).into_iter().filter(|row| !new.contains(row)).collect()
}

/// What each row of the steps' tables is of: all that stands before how it ended, but for the
/// version of Linux, which goes on.
fn rows(document: &str) -> BTreeSet<String> {
    let mut step = "";
    let mut all = BTreeSet::new();
    for line in document.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            step = name;
        }
        let Some(row) = line.strip_prefix("| ").filter(|_| !step.is_empty()) else { continue };
        let cells: Vec<&str> = row.split(" | ").collect();
        // A series may be named like an end, and stands before it.
        let ends = |(n, c): (usize, &&str)| n > 2 && matches!(*c, "held" | "**FAILED**");
        let Some(end) = cells.iter().enumerate().position(ends) else { continue };
        let of_it = cells.iter().take(end).enumerate().filter(|(n, _)| *n != 2);
        let names: Vec<&str> = of_it.map(|(_, c)| *c).collect();
        all.insert(format!("{step} of {}", names.join(" ")));
    }
    all
}

/// Series down, bases across: the verdict, and how the steps ended there.
fn overview(out: &mut String, ended: &[&Finished]) {
    let mut bases: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<&str, BTreeMap<&str, Vec<&Finished>>> = BTreeMap::new();
    for f in ended {
        if !bases.contains(&f.cell.base.as_str()) {
            bases.push(&f.cell.base);
        }
        rows.entry(&f.cell.series).or_default().entry(&f.cell.base).or_default().push(f);
    }
    if rows.is_empty() {
        return;
    }
    // Series come each with their bases in order, but one may have more than the next.
    let version = |base: &str| {
        let linux = ended.iter().find(|f| f.cell.base == base).map(|f| f.linux.as_str());
        linux.and_then(|l| l.parse::<crate::tree::KernelVersion>().ok())
    };
    bases.sort_by_key(|b| version(b));
    let _ = write!(out, "\n| series |");
    for base in &bases {
        let _ = write!(out, " {} |", plain(base));
    }
    let _ = writeln!(out, "\n|---|{}", "---|".repeat(bases.len()));
    for (series, of_it) in rows {
        let _ = write!(out, "| {} |", plain(series));
        for base in &bases {
            let cells = of_it.get(base).map_or(&[][..], Vec::as_slice);
            let _ = write!(out, " {} |", plain(&in_short(cells)));
        }
        out.push('\n');
    }
}

/// `applies; check, boot held; debug FAILED 1 of 3`.
fn in_short(cells: &[&Finished]) -> String {
    let mut words = Vec::new();
    for step in Step::ALL {
        let of_it = || cells.iter().filter(|f| f.cell.step == step);
        let all = of_it().count();
        let failed = of_it().filter(|f| f.status == Status::Failed).count();
        let first = of_it().next();
        match (step, first) {
            (_, None) => {}
            (Step::Verdict, Some(f)) => {
                let word = f.summary.split([':', ';', ' ']).next().unwrap_or_default();
                let mark = if failed > 0 { " (FAILED)" } else { "" };
                words.push(format!("{word}{mark}"));
            }
            (_, Some(_)) if failed == 0 => words.push(format!("{} held", step.name())),
            (_, Some(_)) if all == 1 => words.push(format!("{} FAILED", step.name())),
            (_, Some(_)) => words.push(format!("{} FAILED, {failed} of {all}", step.name())),
        }
    }
    words.join("; ")
}

fn table(out: &mut String, head: &Head, step: Step, cells: &[&Finished]) {
    let held = cells.iter().filter(|f| f.status == Status::Held).count();
    let seconds: f64 = cells.iter().map(|f| f.seconds).sum();
    let _ = writeln!(out, "\n## {}", step.name());
    let _ =
        writeln!(out, "{}: {held} of {} held, {seconds:.1} s in all.\n", step.shows(), cells.len());
    let mut columns = vec!["series", "base", "Linux"];
    if step.compiles() {
        columns.push("arch");
    }
    if step == Step::Debug {
        columns.push("kernel");
    }
    columns.extend(["", "what was seen", "s", "when (UTC)"]);
    let _ = writeln!(out, "| {} |", columns.join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(columns.len()));
    for f in cells {
        let c = &f.cell;
        let mut row = vec![plain(&c.series), plain(&c.base), plain(&f.linux)];
        if step.compiles() {
            row.push(plain(c.arch.as_deref().unwrap_or_default()));
        }
        if step == Step::Debug {
            row.push(plain(c.kernel.as_deref().unwrap_or_default()));
        }
        row.push(if f.status == Status::Held { "held".into() } else { "**FAILED**".into() });
        row.push(plain(&f.summary));
        row.push(format!("{:.1}", f.seconds));
        let other = f.commit != head.commit;
        let commit = if other { format!(", commit {}", f.commit) } else { String::new() };
        row.push(plain(&format!("{}{commit}", time(f.when))));
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    notes(out, cells);
}

/// Each note once, with the cells that have it.
fn notes(out: &mut String, cells: &[&Finished]) {
    // By note and series, in the order of their first cells; below, the bases.
    let mut all: Vec<((&str, &str), Vec<String>)> = Vec::new();
    for f in cells {
        let mut place = f.cell.base.clone();
        for word in f.cell.arch.iter().chain(&f.cell.kernel) {
            place = format!("{place} {word}");
        }
        for note in &f.notes {
            let key = (note.as_str(), f.cell.series.as_str());
            match all.iter_mut().find(|(k, _)| *k == key) {
                Some((_, places)) => places.push(place.clone()),
                None => all.push((key, vec![place.clone()])),
            }
        }
    }
    if !all.is_empty() {
        out.push('\n');
    }
    for ((note, series), places) in all {
        let _ = writeln!(out, "- {series} on {}: {}", plain(&places.join(", ")), plain(note));
    }
}

fn time(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Text that Markdown takes for text, in one line.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for (i, word) in text.split_whitespace().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        for c in word.chars() {
            if "\\|*<`[".contains(c) {
                out.push('\\');
            }
            out.push(c);
        }
        if out.len() > NOTE {
            out.push_str(" …");
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::matrix::plan::Cell;

    fn cell(step: Step, series: &str, base: &str, status: Status, summary: &str) -> Finished {
        Finished {
            cell: Cell {
                step,
                series: series.into(),
                base: base.into(),
                arch: step.compiles().then(|| "x86_64".into()),
                kernel: (step == Step::Debug).then(|| "kasan".into()),
            },
            linux: format!("{base}.7"),
            status,
            summary: summary.into(),
            notes: Vec::new(),
            accelerator: step.boots().then(|| "tcg".into()),
            seconds: 2.0,
            when: jiff::Timestamp::UNIX_EPOCH,
            commit: "c0ffee".into(),
        }
    }

    fn head() -> Head {
        Head {
            written: jiff::Timestamp::UNIX_EPOCH,
            commit: "c0ffee".into(),
            compilers: vec![("x86_64".into(), "gcc 12.2.0".into())],
            host: "x86_64, 2 cores".into(),
            again: "cargo xtask matrix --steps verdict,debug".into(),
            left_out: vec!["debug kcsan on arm64: cc has not what KCSAN needs".into()],
        }
    }

    #[test]
    fn what_a_reader_sees() {
        let noted = |mut f: Finished, note: &str| {
            f.notes.push(note.into());
            f
        };
        let mut earlier = cell(Step::Verdict, "b", "5.10", Status::Held, "applies");
        earlier.commit = "0ff1ce".into();
        let all = [
            cell(Step::Debug, "b", "6.12", Status::Failed, "3 passed, 1 failed"),
            cell(Step::Verdict, "a", "6.12", Status::Held, "absorbed: field \"x\" | y"),
            noted(
                cell(Step::Check, "b", "5.10", Status::Held, "4 of 4 rows"),
                "explained: <p>\n *q*",
            ),
            noted(
                cell(Step::Check, "b", "6.12", Status::Held, "4 of 4 rows"),
                "explained: <p>\n *q*",
            ),
            cell(Step::Verdict, "b", "6.12", Status::Held, "applies"),
            earlier,
            cell(Step::Boot, "b", "6.12", Status::NotRun, "there is no qemu"),
        ];
        insta::assert_snapshot!(document(&head(), &all));
    }

    #[test]
    fn what_was_not_run_makes_no_table() {
        let all = [cell(Step::Boot, "b", "6.12", Status::NotRun, "there is no qemu")];
        let text = document(&head(), &all);
        assert!(!text.contains("## boot"), "{text}");
        assert!(text.contains("- boot: b on 6.12, x86_64: there is no qemu\n"), "{text}");
        assert!(!text.contains("| series |"), "{text}");
    }

    #[test]
    fn no_text_breaks_a_table() {
        for (text, want) in [
            ("a|b\nc", "a\\|b c"),
            ("`x` [y](z)", "\\`x\\` \\[y](z)"),
            ("a_b <c> *d*", "a_b \\<c> \\*d\\*"),
        ] {
            assert_eq!(plain(text), want);
        }
        assert!(plain(&"word ".repeat(1000)).len() < NOTE + 20);
    }
}
