//! `cargo xtask matrix`: every series on every base, step by step: a table, JSON, and a dated
//! document.
//!
//! Cells are run one after the other, since a build takes all cores. What each gave is kept in the
//! cache at once, so that a run that was ended goes on with `--resume`.

mod digest;
mod document;
pub mod expected;
pub mod plan;
mod progress;
mod run;
mod state;
mod surroundings;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use self::document::Head;
use self::plan::{Cell, Plan, Step, Wanted};
use self::progress::Progress;
use self::state::{Finished, State, Status};
use self::surroundings::Surroundings;
use crate::build::target::host_arch;
use crate::cli::{Ctx, Outcome};
use crate::error::{Error, Kind, Result};
use crate::host::{atomic, regular};
use crate::render::Verdict;

/// Where the document is, below the project, if `--write` names no other place.
const DOCUMENT: &str = "ci/matrix.md";

/// Options of `matrix`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Matrix {
    /// The series. Default: all.
    #[arg(value_name = "SERIES")]
    series: Vec<String>,
    /// A base. Default: those that ci/verdicts.toml lists for each series, else the series' own.
    #[arg(long, value_name = "BASE", value_delimiter = ',')]
    base: Vec<String>,
    /// An architecture to build and boot for. Default: this host's.
    #[arg(long, value_name = "ARCH", value_delimiter = ',')]
    arch: Vec<String>,
    /// What to prove.
    #[arg(long, value_enum, value_name = "STEP", value_delimiter = ',',
          default_values_t = [Step::Verdict])]
    steps: Vec<Step>,
    /// A debug kernel of the step debug. Default: all flavours of kconfigs/targets.toml.
    #[arg(long, value_name = "FLAVOUR", value_delimiter = ',')]
    flavour: Vec<String>,
    /// Writes the tables as a dated document. Default of FILE: ci/matrix.md of the project.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "",
          value_parser = markdown)]
    write: Option<PathBuf>,
    /// Takes what held in earlier runs of the same sources, instead of running it again; the
    /// document then has their other steps and architectures too.
    #[arg(long)]
    resume: bool,
    /// Ends with the first cell that fails.
    #[arg(long)]
    fail_fast: bool,
    /// Lists the cells, with what is kept of them, and ends. Which cells there are is
    /// a question of verdicts: bases that are not at hand are fetched first.
    #[arg(long)]
    list: bool,
}

const AFTER_HELP: &str = "\
A cell that fails does not stop the others. verdict takes seconds and check a minute in all; commits, \
boot, mutants and debug build kernels, one after the other, and can go on over night: what is \
finished is kept, and --resume goes on from there after an interrupt. A kept result counts as long as \
series, base, compiler and the tool's part in the step are the same.

  cargo xtask matrix
  cargo xtask matrix --steps verdict,check --write
  cargo xtask matrix --steps commits,boot,mutants --base 6.1,6.12 --resume --write
  cargo xtask matrix --steps commits --arch x86_64,arm64
  cargo xtask matrix cpumap-gro --steps debug --flavour debug,kasan --resume";

/// The name of a document, which a series' name cannot be taken for.
fn markdown(text: &str) -> std::result::Result<PathBuf, String> {
    let is_markdown = text.is_empty() || text.strip_suffix(".md").is_some_and(|s| !s.is_empty());
    if is_markdown { Ok(text.into()) } else { Err("the document's name ends in .md".into()) }
}

/// A row of `--list`.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    cell: Cell,
    /// It held, of the same sources: `--resume` takes it.
    kept: bool,
    /// What it took the last time.
    seconds: Option<f64>,
}

/// The result.
#[derive(Serialize)]
struct Report {
    held: usize,
    failed: usize,
    not_run: usize,
    seconds: f64,
    commit: String,
    left_out: Vec<String>,
    cells: Vec<Finished>,
}

impl Matrix {
    /// Runs the cells; held when each of them does. A series that conflicts with a base has the
    /// exit code of conflicts.
    ///
    /// # Errors
    /// On a name that means nothing, or when the user ends it.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let all = Surroundings::gather(ctx, &self.series, &self.base)?;
        let plan = plan::plan(&all.pairs, &self.wanted(&all)?);
        let state = State::of(ctx.dirs.cache());
        if self.list {
            list(ctx, &all, &plan, &state)?;
            return Ok(Outcome::Held);
        }
        if plan.cells.is_empty() {
            return Err(Error::usage("fill the matrix")
                .found("there is no cell: no series applies to a base that was asked for")
                .hint("cargo xtask matrix shows the verdicts"));
        }
        // Told before the cells are run, not after a night.
        let place = self.write.as_ref().map(|named| place(named, &all.project)).transpose()?;
        let finished = self.cells(ctx, &all, &plan, &state)?;
        if let Some(place) = &place {
            self.document(ctx, &all, &plan, &state, &finished, place)?;
        }
        let planned = plan.cells.len();
        let report = Report::of(finished, planned, plan.left_out, all.commit.clone());
        report.write(ctx)?;
        let conflict = all.pairs.iter().any(|p| matches!(p.verdict, Ok(Verdict::Conflict { .. })));
        Ok(match (conflict, report.held == planned) {
            (true, _) => Outcome::Conflict,
            (false, true) => Outcome::Held,
            (false, false) => Outcome::Failed,
        })
    }

    fn wanted(&self, all: &Surroundings<'_>) -> Result<Wanted> {
        let mut wanted = Wanted { steps: self.steps.clone(), ..Wanted::default() };
        let host = host_arch().to_owned();
        let arches = if self.arch.is_empty() { vec![host] } else { self.arch.clone() };
        for name in &arches {
            let arch = all.targets.arch(name)?.name.clone();
            if !wanted.arches.contains(&arch) {
                wanted.arches.push(arch);
            }
        }
        let known = all.targets.all_flavours();
        if let Some(name) = self.flavour.iter().find(|f| !known.contains(&f.as_str())) {
            return Err(Error::usage(format!("--flavour {name}"))
                .found(format!("flavours: {}", known.join(", ")))
                .hint("describe another in kconfigs/targets.toml"));
        }
        let known = known.into_iter().map(str::to_owned);
        wanted.flavours =
            known.filter(|f| self.flavour.is_empty() || self.flavour.contains(f)).collect();
        if wanted.steps.contains(&Step::Debug) {
            for arch in &wanted.arches {
                for flavour in &wanted.flavours {
                    let why = all.impossible(flavour, arch);
                    let why = why.map(|why| (flavour.clone(), arch.clone(), why));
                    wanted.impossible.extend(why);
                }
            }
        }
        Ok(wanted)
    }

    /// Runs the cells that are not kept, and gives all that ended.
    fn cells(
        &self,
        ctx: &Ctx,
        all: &Surroundings<'_>,
        plan: &Plan,
        state: &State,
    ) -> Result<Vec<Finished>> {
        let mut progress = Progress::new(plan, state);
        let mut finished = Vec::new();
        for cell in &plan.cells {
            let key = all.key(cell)?;
            let kept = key.as_ref().filter(|_| self.resume).and_then(|k| state.held(cell, k));
            if let Some(kept) = kept {
                progress.kept(ctx, &kept);
                finished.push(kept);
                continue;
            }
            progress.begin(ctx, cell);
            let result = match run::run(ctx, all, cell) {
                Ok(result) => result,
                Err(e) if e.kind() == Kind::Interrupted => {
                    return Err(e.hint("--resume goes on with what is not finished"));
                }
                Err(e) => return Err(e.context(cell.to_string())),
            };
            if let Some(key) = &key {
                state.keep(key, &result)?;
            }
            progress.end(ctx, &result);
            let failed = result.status != Status::Held;
            finished.push(result);
            if failed && self.fail_fast {
                ctx.ui.note("the rest is not run, since --fail-fast was given");
                break;
            }
        }
        Ok(finished)
    }

    /// Writes the document: what ended in this run and, with `--resume`, what is kept of the same
    /// sources.
    fn document(
        &self,
        ctx: &Ctx,
        all: &Surroundings<'_>,
        plan: &Plan,
        state: &State,
        finished: &[Finished],
        place: &Path,
    ) -> Result<()> {
        let mut results = finished.to_vec();
        if self.resume {
            let own = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
            let everything = Wanted {
                steps: Step::ALL.to_vec(),
                arches: own(all.targets.names()),
                flavours: own(all.targets.all_flavours()),
                impossible: Vec::new(),
            };
            for cell in plan::plan(&all.pairs, &everything).cells {
                // The key asks for a compiler, which need not be there for what was never run.
                if plan.cells.contains(&cell) || state.seconds(&cell).is_none() {
                    continue;
                }
                let key = all.key(&cell)?;
                results.extend(key.and_then(|k| state.kept(&cell, &k)));
            }
        }
        let head = Head {
            written: jiff::Timestamp::now(),
            commit: all.commit.clone(),
            compilers: all.compilers(),
            host: surroundings::host(),
            again: self.again(&results),
            left_out: plan.left_out.clone(),
        };
        let text = document::document(&head, &results);
        let lost = document::rows_lost(&old_document(place)?, &text);
        if let Some(first) = lost.first() {
            // Nights went into them.
            let beside = beside(place);
            atomic::write(&beside, text.as_bytes())?;
            return Err(Error::check(format!("write {}", place.display()))
                .found(format!("{} of its rows are not in this run: {first}, …", lost.len()))
                .hint(format!("the new tables are in {}", beside.display()))
                .hint("--resume takes what held before; name another file with --write FILE"));
        }
        atomic::write(place, text.as_bytes())?;
        ctx.ui.note(&format!("written: {}", place.display()));
        Ok(())
    }

    /// The document that `--write` names.
    fn named(&self) -> Option<&PathBuf> {
        self.write.as_ref().filter(|p| !p.as_os_str().is_empty())
    }

    /// The command line that gives all of the tables, without what has no part in them.
    fn again(&self, results: &[Finished]) -> String {
        let mut words = vec!["cargo".to_owned(), "xtask".into(), "matrix".into()];
        words.extend(self.series.iter().cloned());
        // With --resume the tables have more than this run was asked for.
        let there = |s: &Step| self.steps.contains(s) || results.iter().any(|f| f.cell.step == *s);
        let steps = Step::ALL.iter().filter(|s| there(s)).map(|s| s.name().to_owned()).collect();
        let mut arches = self.arch.clone();
        for arch in results.iter().filter_map(|f| f.cell.arch.as_ref()) {
            if !arches.contains(arch) {
                arches.push(arch.clone());
            }
        }
        if arches == [host_arch()] && self.arch.is_empty() {
            arches.clear();
        }
        for (option, values) in [
            ("--base", &self.base),
            ("--arch", &arches),
            ("--steps", &steps),
            ("--flavour", &self.flavour),
        ] {
            if !values.is_empty() {
                words.extend([option.to_owned(), values.join(",")]);
            }
        }
        words.extend(self.resume.then(|| "--resume".to_owned()));
        words.push("--write".into());
        words.extend(self.named().map(|p| p.to_string_lossy().into_owned()));
        shell_words::join(words)
    }
}

/// Where the document goes: behind a link is where it leads to. What is there must be one.
fn place(named: &Path, project: &Path) -> Result<PathBuf> {
    let place =
        if named.as_os_str().is_empty() { project.join(DOCUMENT) } else { named.to_owned() };
    let cannot = |found: String| {
        Error::usage(format!("write {}", place.display()))
            .found(found)
            .hint("name another file with --write FILE")
    };
    if place.is_symlink() && !place.exists() {
        return Err(cannot("it is a link to what is not there".to_owned()));
    }
    let place = place.canonicalize().unwrap_or_else(|_| place.clone());
    let folder = place.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(cannot(format!("there is no folder {}", folder.display())));
    }
    // What cannot be written now will not be after a night.
    tempfile::tempfile_in(folder)
        .map_err(|e| cannot(format!("no file can be made in {}: {e}", folder.display())))?;
    old_document(&place)?;
    Ok(place)
}

/// The document in a file; empty where none is.
fn old_document(file: &Path) -> Result<String> {
    let text = regular::text_if_there(file)?.unwrap_or_default();
    if text.trim().is_empty() || document::is_one(&text) {
        return Ok(text);
    }
    Err(Error::usage(format!("write {}", file.display()))
        .found("it is there, and no document of cargo xtask matrix")
        .hint("name another file with --write FILE"))
}

/// Where new tables go that must replace nothing: `FILE.new`, `FILE.new2`, …
fn beside(place: &Path) -> PathBuf {
    let name = |suffix: &str| {
        let mut name = place.to_owned().into_os_string();
        name.push(".new");
        name.push(suffix);
        PathBuf::from(name)
    };
    let all = std::iter::once(name("")).chain((2_u32..).map(|n| name(&n.to_string())));
    let mut free = all.skip_while(|path| path.symlink_metadata().is_ok());
    free.next().unwrap_or_else(|| name(""))
}

fn list(ctx: &Ctx, all: &Surroundings<'_>, plan: &Plan, state: &State) -> Result<()> {
    let mut rows = Vec::new();
    for cell in &plan.cells {
        let key = all.key(cell)?;
        let kept = key.is_some_and(|k| state.held(cell, &k).is_some());
        rows.push(Listed { cell: cell.clone(), kept, seconds: state.seconds(cell) });
    }
    for reason in &plan.left_out {
        ctx.ui.note(&format!("left out: {reason}"));
    }
    ctx.ui.result(&rows, |w| {
        for row in &rows {
            let kept = if row.kept { "held    " } else { "to run  " };
            let took = row.seconds.map_or_else(String::new, |s| format!(" (took {s:.1} s)"));
            writeln!(w, "{kept}{}{took}", row.cell)?;
        }
        Ok(())
    })
}

impl Report {
    fn of(cells: Vec<Finished>, planned: usize, left_out: Vec<String>, commit: String) -> Report {
        let count = |s: Status| cells.iter().filter(|c| c.status == s).count();
        let (held, failed) = (count(Status::Held), count(Status::Failed));
        Report {
            held,
            failed,
            not_run: planned.saturating_sub(held + failed),
            seconds: cells.iter().map(|c| c.seconds).sum(),
            commit,
            left_out,
            cells,
        }
    }

    fn write(&self, ctx: &Ctx) -> Result<()> {
        ctx.ui.result(self, |w| self.human(w))
    }

    fn human(&self, w: &mut dyn Write) -> std::io::Result<()> {
        let mut table = tabled::builder::Builder::default();
        for f in &self.cells {
            let status = match f.status {
                Status::Held => "held",
                Status::Failed => "FAILED",
                Status::NotRun => "NOT RUN",
            };
            let seconds = format!("{:.1} s", f.seconds);
            table.push_record([status, &f.cell.to_string(), &f.summary, &seconds]);
        }
        let mut table = table.build();
        table.with(tabled::settings::Style::blank());
        for line in table.to_string().lines() {
            writeln!(w, "{}", line.trim_end())?;
        }
        for f in self.cells.iter().filter(|f| f.status != Status::Held) {
            writeln!(w, "\n{}", f.cell)?;
            for line in f.notes.iter().flat_map(|n| n.lines()) {
                writeln!(w, "    {line}")?;
            }
        }
        for reason in &self.left_out {
            writeln!(w, "\nleft out: {reason}")?;
        }
        let (held, failed, not_run) = (self.held, self.failed, self.not_run);
        writeln!(w, "\n{held} held, {failed} failed, {not_run} not run ({:.1} s)", self.seconds)
    }
}
