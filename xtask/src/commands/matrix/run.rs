//! Runs one cell: the verdict in this process, everything else by a command of this tool in a
//! process of its own, so that no cell can take the others with it.

use std::path::PathBuf;
use std::time::Instant;

use super::digest::{Digest, digest};
use super::expected;
use super::plan::{Cell, Step};
use super::state::{Finished, Status};
use super::surroundings::Surroundings;
use crate::cli::Ctx;
use crate::commands::own;
use crate::error::{Error, Kind, Result};
use crate::host::signals;
use crate::render::Verdict;

/// Runs it.
///
/// # Errors
/// When the user ends it, or no process can be started.
pub fn run(ctx: &Ctx, all: &Surroundings<'_>, cell: &Cell) -> Result<Finished> {
    signals::check()?;
    let begun = Instant::now();
    let digest = match all.pair(cell).map(|p| &p.verdict) {
        Some(Err(why)) => Digest {
            status: Some(Status::NotRun),
            summary: format!("the base {} cannot be had", cell.base),
            notes: vec![why.clone()],
            accelerator: None,
        },
        Some(Ok(Verdict::Conflict { .. })) if cell.step != Step::Verdict => Digest {
            status: Some(Status::Failed),
            summary: "the series conflicts with the base".into(),
            ..Digest::default()
        },
        _ if cell.step == Step::Verdict => verdict(all, cell)?,
        _ => by_command(ctx, all, cell)?,
    };
    Ok(Finished {
        cell: cell.clone(),
        linux: all.linux(&cell.base),
        status: digest.status.unwrap_or(Status::Failed),
        summary: digest.summary,
        notes: digest.notes,
        accelerator: digest.accelerator,
        seconds: (begun.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        when: jiff::Timestamp::now(),
        commit: all.commit.clone(),
    })
}

fn verdict(all: &Surroundings<'_>, cell: &Cell) -> Result<Digest> {
    let (verdict, optional) = all.verdict(cell)?;
    let expected = all.expected.of(&cell.series, &cell.base);
    let (status, summary, notes) = expected::compare(&verdict, expected, &optional);
    Ok(Digest { status: Some(status), summary, notes, accelerator: None })
}

fn by_command(ctx: &Ctx, all: &Surroundings<'_>, cell: &Cell) -> Result<Digest> {
    let output = ctx.dirs.out()?.join("matrix").join(folder(cell));
    // One that the base lacks something for must not keep the rest from being checked.
    let optional = all.verdict(cell)?.1.into_iter();
    let optional: Vec<String> =
        optional.filter(|(_, v)| matches!(v, Verdict::Applies)).map(|(name, _)| name).collect();
    let args = command(cell, &optional, &output.display().to_string());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ended = own::run(ctx, &args)?;
    if ended.code == i32::from(Kind::Interrupted.exit_code()) {
        return Err(Error::new(Kind::Interrupted, "ended by the user"));
    }
    Ok(digest(cell.step, &ended))
}

/// Where the products of a guest go, below the project's `out/matrix`.
fn folder(cell: &Cell) -> PathBuf {
    let words = [cell.step.name(), &cell.series, &cell.base];
    let words = words.into_iter().chain(cell.arch.as_deref()).chain(cell.kernel.as_deref());
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    words
        .map(|w| {
            let w: String = w.chars().map(plain).collect();
            // Neither hidden nor upward.
            w.trim_start_matches('.').to_owned()
        })
        .collect()
}

/// The command line of a cell; `optional` are the optional patches that apply.
fn command(cell: &Cell, optional: &[String], output: &str) -> Vec<String> {
    let mut words: Vec<&str> = match cell.step {
        Step::Verdict => vec!["show", &cell.series, "--base", &cell.base],
        Step::Check => vec!["check", &cell.series, "--base", &cell.base, "--fast"],
        Step::Commits => {
            let mut words = vec!["check", &cell.series, "--base", &cell.base];
            for gate in ["builds", "warnings", "sparse"] {
                words.extend(["--gate", gate]);
            }
            words
        }
        Step::Boot | Step::Mutants | Step::Debug => {
            vec!["test-vm", "--series", &cell.series, "--base", &cell.base, "--output", output]
        }
    };
    if matches!(cell.step, Step::Check | Step::Commits) {
        words.extend(optional.iter().flat_map(|name| ["--with", name]));
    }
    if let Some(arch) = &cell.arch {
        words.extend(["--arch", arch]);
    }
    if let Some(kernel) = &cell.kernel {
        words.extend(["--config", kernel]);
    }
    if cell.step == Step::Mutants {
        words.push("--mutants");
    }
    words.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    fn cell(step: Step) -> Cell {
        let arch = step.compiles().then(|| "x86_64".to_owned());
        let kernel = (step == Step::Debug).then(|| "kasan".to_owned());
        Cell { step, series: "s".into(), base: "../l@v6.1".into(), arch, kernel }
    }

    #[test]
    fn every_command_line_is_one_of_this_tool() {
        for step in Step::ALL {
            let words = command(&cell(step), &["p".to_owned()], "/o");
            let line = std::iter::once("xtask").chain(words.iter().map(String::as_str));
            Cli::try_parse_from(line).unwrap_or_else(|e| panic!("{step:?}: {e}"));
        }
        let words = command(&cell(Step::Check), &["p".into(), "q".into()], "/o").join(" ");
        assert_eq!(words, "check s --base ../l@v6.1 --fast --with p --with q");
        let words = command(&cell(Step::Debug), &["p".into()], "/o").join(" ");
        assert_eq!(
            words,
            "test-vm --series s --base ../l@v6.1 --output /o --arch x86_64 --config kasan"
        );
    }

    #[test]
    fn products_stay_below_their_folder() {
        assert_eq!(folder(&cell(Step::Debug)), PathBuf::from("debug/s/_l_v6.1/x86_64/kasan"));
    }
}
