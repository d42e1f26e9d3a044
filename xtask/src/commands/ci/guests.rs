//! The stages of `ci` that build kernels and boot them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::proofs::BASE;
use super::{Stage, Status};
use crate::commands::matrix::expected::Expected;
use crate::commands::own::{self, Ended};
use crate::error::Result;

/// The mutant of each series that the gate runs each time; all others with
/// `--full`.
const MUTANTS: &[(&str, &str)] = &[
    ("cpumap-gro", "no-gro"),
    ("dynamic-calls", "wrong-callee-kept"),
    ("i40e-if-clause", "exit-consumed-swapped"),
];

/// Every series on the main base, x86_64, plain QEMU.
///
/// # Errors
/// When the user ends it.
pub fn selftests(stage: &mut Stage) -> Result<()> {
    let project = stage.ctx.dirs.project()?.to_owned();
    for name in crate::series::list(&project)? {
        // Tests on kernels with optional patches need a kernel each, of which
        // ccache has next to nothing: KUnit, and trampolines even more, change
        // what all sources include. With --full.
        let series = crate::series::load(&project, &name)?;
        let tests = series.tests.iter().filter(|t| stage.full || t.with.is_empty());
        let mut args = vec!["--series", &name, "--base", BASE];
        args.extend(tests.flat_map(|t| ["--test", &t.name]));
        if series.tests.is_empty() {
            stage.add(format!("{name} on {BASE}"), Status::Skipped, "it has no guest test yet");
        } else {
            guest(stage, &format!("{name} on {BASE}"), &args)?;
        }
    }
    Ok(())
}

/// A kernel with what virtme-ng asks for, booted by it.
///
/// # Errors
/// When the user ends it.
pub fn virtme_ng(stage: &mut Stage) -> Result<()> {
    if !stage.full {
        stage.add("cpumap-gro by virtme-ng", Status::Skipped, "with --full");
        return Ok(());
    }
    let args = ["--series", "cpumap-gro", "--base", BASE, "--backend", "vng"];
    guest(stage, "cpumap-gro by virtme-ng", &args)
}

/// The arm64 kernel, cross-compiled and booted.
///
/// # Errors
/// When the user ends it.
pub fn arm64(stage: &mut Stage) -> Result<()> {
    let args = ["--series", "cpumap-gro", "--base", BASE, "--arch", "arm64"];
    guest(stage, "cpumap-gro on arm64", &args)
}

/// Breaks of the series, which their tests must catch.
///
/// # Errors
/// When the user ends it.
pub fn mutants(stage: &mut Stage) -> Result<()> {
    if stage.full {
        for series in crate::series::list(stage.ctx.dirs.project()?)? {
            let args = ["--series", &series, "--base", BASE, "--mutants"];
            guest(stage, &format!("mutants of {series}"), &args)?;
        }
        return Ok(());
    }
    let project = stage.ctx.dirs.project()?.to_owned();
    for (name, mutant) in MUTANTS {
        // Only the kernel of the test that must catch it: all were booted before.
        let series = crate::series::load(&project, name)?;
        let all = crate::series::load_mutants(&series)?;
        let test = all.iter().find(|m| m.name == *mutant).map(|m| m.test.clone());
        let mut args = vec!["--series", *name, "--base", BASE, "--mutant", *mutant];
        args.extend(test.iter().flat_map(|t| ["--test", t.as_str()]));
        guest(stage, &format!("mutant {mutant} of {name}"), &args)?;
    }
    Ok(())
}

/// What the gate cannot afford each time: the other bases, and debug kernels.
///
/// # Errors
/// When the user ends it.
pub fn everything(stage: &mut Stage) -> Result<()> {
    if !stage.full {
        stage.add("other bases and debug kernels", Status::Skipped, "with --full");
        return Ok(());
    }
    let listed = Expected::load(stage.ctx.dirs.project()?)?;
    let others: BTreeSet<&str> = listed
        .0
        .values()
        .flat_map(|b| b.keys())
        .map(String::as_str)
        .filter(|b| *b != BASE)
        .collect();
    let others = Vec::from_iter(others).join(",");
    cells(stage, &["matrix", "--steps", "boot", "--base", &others])?;
    // KCSAN finds races of the base too: `matrix` has it, the gate does not.
    cells(stage, &["matrix", "--steps", "debug", "--flavour", "debug,kasan", "--base", BASE])
}

/// Runs `matrix` and takes each of its cells as a check.
fn cells(stage: &mut Stage, args: &[&str]) -> Result<()> {
    let ended = own::run(stage.ctx, args)?;
    let all = ended.json.get("cells").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    stage.check(
        &ended.line,
        !all.is_empty(),
        if all.is_empty() { ended.why() } else { String::new() },
    );
    for cell in all {
        let word = |key: &str| cell.get(key).and_then(Value::as_str).unwrap_or_default();
        let parts = ["step", "series", "base", "arch", "kernel"].map(word);
        let name = parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ");
        let notes = cell.get("notes").and_then(Value::as_array).into_iter().flatten();
        let notes = notes.filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        let held = word("status") == "held";
        let detail = if held { String::new() } else { format!("\n{notes}") };
        stage.check(name, held, format!("{}{detail}", word("summary")));
    }
    Ok(())
}

/// Runs `test-vm` and takes each of its cases as a check.
fn guest(stage: &mut Stage, what: &str, args: &[&str]) -> Result<()> {
    let ended = own::run(stage.ctx, &[&["test-vm"][..], args].concat())?;
    let cases = take_cases(stage, what, &ended);
    let detail = if ended.code == 0 { format!("{cases} cases") } else { ended.why() };
    stage.check(what, ended.code == 0 && cases > 0, detail);
    Ok(())
}

fn take_cases(stage: &mut Stage, what: &str, ended: &Ended) -> usize {
    let suites = ended.json.get("suites").and_then(Value::as_array);
    let mut taken = 0;
    for case in suites.into_iter().flatten().filter_map(|s| s.get("cases")?.as_array()).flatten() {
        let text = |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = format!("{what}: {}", text("name"));
        match text("status") {
            "pass" | "expected-fail" => stage.record(&name, Status::Passed, text("message")),
            "skip" => stage.add(name, Status::Skipped, text("message")),
            word => stage.add(name, Status::Failed, format!("{word} {}", text("message"))),
        }
        taken += 1;
    }
    taken
}
