//! Boots a kernel with a benchmark, and takes what it measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bench::Side;
use crate::bench::figures;
use crate::bench::host::Load;
use crate::bench::kept::{Boot, Machine};
use crate::build::Built;
use crate::cli::Ctx;
use crate::error::{Error, IoContext as _, Kind, Result};
use crate::host::{atomic, output};
use crate::report::{Case, Status};
use crate::series::model::Bench as Program;
use crate::vm::{self, Arch, GuestRequest, GuestRun, Progress, TestKind, TestProgram, ktap};

use super::Bench;

/// Lines of what a guest wrote that an error shows.
const SHOWN: usize = 20;

/// The guests of a run: all on one kind of machine.
pub struct Guests<'a> {
    options: &'a Bench,
    arch: Arch,
    place: PathBuf,
    machine: Option<Machine>,
    guest: String,
    notes: Vec<String>,
    /// Where the last one wrote.
    last: Option<PathBuf>,
}

impl<'a> Guests<'a> {
    /// Guests whose consoles go below `place`.
    pub fn new(options: &'a Bench, arch: Arch, place: &Path) -> Guests<'a> {
        let (machine, guest, notes, last) = (None, String::new(), Vec::new(), None);
        Guests { options, arch, place: place.to_owned(), machine, guest, notes, last }
    }

    /// Whether they were emulated. Nothing that has not booted was run by hardware.
    pub fn emulated(&self) -> bool {
        self.machine.as_ref().is_none_or(|m| m.accelerator != "kvm")
    }

    /// What ran them.
    ///
    /// # Errors
    /// When none was booted.
    pub fn machine(&self) -> Result<Machine> {
        self.machine.clone().ok_or_else(|| Error::host("bench").found("no guest was booted"))
    }

    /// The last guest: machine, CPUs, memory.
    pub fn guest(&self) -> &str {
        &self.guest
    }

    /// What is to be told of them.
    pub fn warnings(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The run has failed, and `results` stays as it was: what the last guest wrote goes into a
    /// folder beside it, which `error` is made to name.
    pub fn keep_last(&self, results: &Path, error: Error) -> Error {
        let last = self.last.as_deref().filter(|l| l.is_dir());
        let Some(last) = last.filter(|_| error.kind() != Kind::Interrupted) else { return error };
        match keep(last, results, &error) {
            Ok(kept) => error.hint(format!("what the guest wrote is in {}", kept.display())),
            Err(e) => error.found(format!("what the guest wrote is lost: {e}")),
        }
    }

    /// Boots `kernel` once and runs the program in it.
    ///
    /// # Errors
    /// When the guest cannot be started, does not run to its end, its console has a splat, the
    /// program does not pass, or its figures are not those of the series.
    pub fn boot(
        &mut self,
        ctx: &Ctx,
        program: &Program,
        kernel: &Built,
        side: Side,
        pair: usize,
    ) -> Result<Boot> {
        let folder = self.place.join("runs").join(&program.name);
        let output = folder.join(format!("{pair:03}-{}", side.name()));
        self.last = Some(output.clone());
        let request = self.request(program, kernel, side, &output)?;
        let load = Load::now();
        let run = vm::run_with(&ctx.ui, &ctx.dirs, &request, &mut |_: &Progress<'_>| {})?;
        self.same_machine(&run)?;
        let output = result(&request.name, &run, program)?;
        let values = figures::read(program, &output)
            .map_err(|e| e.context(format!("{}, pair {pair}", request.name)))?;
        Ok(Boot {
            pair,
            side,
            started: run.started.to_string(),
            seconds: run.seconds,
            load,
            values,
            output,
        })
    }

    fn request(
        &self,
        program: &Program,
        kernel: &Built,
        side: Side,
        output: &Path,
    ) -> Result<GuestRequest> {
        let name = format!("{} on the {} kernel", program.name, side.name());
        let Some(image) = &kernel.image else {
            return Err(Error::host(format!("boot {name}")).found("no image was built"));
        };
        let mut request = GuestRequest::new(name, image, self.arch, output);
        let root = kernel.modules_root.as_ref();
        request.config = Some(kernel.config.clone());
        request.modules_dir = root.map(|r| r.join("lib/modules").join(&kernel.release));
        request.modules.clone_from(&program.modules);
        request.patches_text = program.patches_text;
        request.accel = self.options.accel;
        request.smp = self.options.smp.unwrap_or(program.smp);
        request.memory = self.options.memory.or(program.memory).unwrap_or(request.memory);
        // A second try would be another boot than the one that was drawn.
        request.retry = false;
        let timeout = Duration::from_secs(self.options.timeout.unwrap_or(program.timeout));
        request.tests = vec![TestProgram {
            args: program.args.clone(),
            timeout,
            ..TestProgram::new(&program.name, kind(program))
        }];
        Ok(request)
    }

    /// Boots on different machines are not comparable.
    fn same_machine(&mut self, run: &GuestRun) -> Result<()> {
        let fact = |name: &str| run.facts.iter().find(|f| f.name == name).map(|f| f.value.clone());
        let machine = Machine {
            accelerator: fact("accelerator").unwrap_or_else(|| "unknown".into()),
            qemu: fact("QEMU").unwrap_or_else(|| "unknown".into()),
            no_kvm: fact("no KVM"),
        };
        self.guest = fact("machine").unwrap_or_default();
        for note in &run.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let known = self.machine.get_or_insert_with(|| machine.clone());
        if (&known.accelerator, &known.qemu) == (&machine.accelerator, &machine.qemu) {
            return Ok(());
        }
        Err(Error::host(run.name.clone())
            .found(format!(
                "it ran on {} of QEMU {}, and others on {} of {}",
                machine.accelerator, machine.qemu, known.accelerator, known.qemu
            ))
            .hint("name the accelerator with --accel, and run it again"))
    }
}

/// Moves a guest's folder to a place of its own beside the results; gives that place.
fn keep(guest: &Path, results: &Path, error: &Error) -> Result<PathBuf> {
    let mut staging = failed(results)?;
    for entry in std::fs::read_dir(guest).at("read", guest)? {
        let entry = entry.at("read", guest)?;
        let to = staging.path().join(entry.file_name());
        std::fs::rename(entry.path(), &to).at("move", &entry.path())?;
    }
    let told = serde_json::json!({ "form": FAILED, "error": error.to_string() });
    // By this file a later failure knows that the folder may be replaced.
    staging.write("metadata.json", format!("{told:#}\n").as_bytes())?;
    let place = staging.place().to_owned();
    staging.commit()?;
    Ok(place)
}

/// The form of what says why a guest's folder was kept.
const FAILED: &str = "kseries-bench-failed/1";

/// `RESULTS-failed`, or with a number behind it: the user named none of them, so that nothing
/// but what an earlier failure left is replaced.
fn failed(results: &Path) -> Result<atomic::Dir> {
    let name = results.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1..=99 {
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        let place = results.with_file_name(format!("{name}-failed{more}"));
        let is_ours = output::form(&place.join("metadata.json")).is_some_and(|f| f == FAILED);
        if is_ours || place.symlink_metadata().is_err() {
            return atomic::Dir::begin(&place);
        }
    }
    Err(Error::host("keep what the guest wrote").found("every name for it is taken"))
}

fn kind(program: &Program) -> TestKind {
    match program.sources.as_slice() {
        [one] if one.extension().is_none_or(|e| e != "c") => TestKind::Program(one.clone()),
        _ => TestKind::Sources(program.sources.clone()),
    }
}

/// What the program wrote, if all of the guest holds and the program passed.
fn result(name: &str, run: &GuestRun, program: &Program) -> Result<Vec<String>> {
    let suite = run.suite();
    let bad: Vec<&Case> = suite.cases.iter().filter(|c| !c.status.is_good()).collect();
    if let Some(first) = bad.first() {
        let mut error = Error::check(name.to_owned());
        for case in bad.iter().take(5) {
            let why = case.message.as_deref().unwrap_or("");
            error = error.found(format!("{}: {} {why}", case.name, case.status.word()));
        }
        let shown = first.output.iter().rev().take(SHOWN).rev();
        let shown: Vec<&str> = shown.map(String::as_str).collect();
        if !shown.is_empty() {
            error = error.found(shown.join("\n"));
        }
        return Err(error.hint("there are no results of this run; older ones are as they were"));
    }
    let test = run.document.root.tests.iter().find(|t| t.name == program.name);
    let skipped = suite.cases.iter().find(|c| c.status == Status::Skip);
    match test {
        Some(test) if skipped.is_none() && test.status == ktap::Status::Pass => {
            Ok(figures::lines_of(test))
        }
        _ => {
            let why = skipped.and_then(|c| c.message.clone());
            Err(Error::check(name.to_owned())
                .found(format!("it was not measured: {}", why.unwrap_or_else(|| "skipped".into())))
                .hint("a benchmark that cannot run on a base belongs to no comparison there"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kept::tests::bench;
    use crate::series::model::{Better, FigureKind};
    use crate::vm::Verdict;

    fn run(verdict: Verdict, ktap: &str) -> GuestRun {
        GuestRun {
            name: "g".into(),
            started: jiff::Timestamp::UNIX_EPOCH,
            seconds: 1.0,
            boot_seconds: Some(0.5),
            verdict,
            document: ktap::parse(ktap.as_bytes()),
            times: std::collections::BTreeMap::new(),
            splats: Vec::new(),
            more_splats: 0,
            tail: vec!["the last line".into()],
            console_bytes: 1,
            running: None,
            facts: Vec::new(),
            notes: Vec::new(),
            flaky_guest: None,
        }
    }

    #[test]
    fn what_a_failed_guest_wrote_is_kept_beside_the_results() {
        let t = tempfile::tempdir().unwrap();
        let results = t.path().join("x86_64");
        for n in ["1", "2"] {
            let guest = t.path().join("staging/001-patched");
            std::fs::create_dir_all(&guest).unwrap();
            std::fs::write(guest.join("console.log"), n).unwrap();
            let kept = keep(&guest, &results, &Error::check("stream: fail")).unwrap();
            assert_eq!(kept, t.path().join("x86_64-failed"));
            assert_eq!(std::fs::read_to_string(kept.join("console.log")).unwrap(), n);
            let why = std::fs::read_to_string(kept.join("metadata.json")).unwrap();
            assert!(why.contains("stream: fail"), "{why}");
        }
        assert!(!results.exists());
        // Results that are called so are none of its own.
        let other = t.path().join("r-failed");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("results.json"), r#"{"form": "kseries-bench-results/1"}"#)
            .unwrap();
        std::fs::create_dir(t.path().join("guest")).unwrap();
        let kept = keep(&t.path().join("guest"), &t.path().join("r"), &Error::check("x")).unwrap();
        assert!(kept.ends_with("r-failed-2") && other.join("results.json").is_file());
    }

    #[test]
    fn only_work_that_was_done_is_measured() {
        let program = bench(&[("rate", "kpps", Better::Higher, FigureKind::Time)]);
        let inner = |line: &str| {
            let ok = if line.starts_with("not") { "not ok" } else { "ok" };
            let head = "KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n  # rate: 5 kpps\n";
            format!("{head}  {line}\n{ok} 1 stream\n")
        };
        let of = |verdict, text: &str| result("stream", &run(verdict, text), &program);
        let lines = of(Verdict::Completed, &inner("ok 1 - all came")).unwrap();
        assert_eq!(figures::read(&program, &lines).unwrap()["rate"], [5.0]);
        for (verdict, text, says) in [
            (Verdict::Completed, inner("not ok 1 - all came"), "all came: fail"),
            (Verdict::Completed, inner("ok 1 - all came # SKIP no tap"), "no tap"),
            (
                Verdict::Completed,
                "KTAP version 1\n1..1\nok 1 stream # SKIP no tap\n".into(),
                "no tap",
            ),
            (Verdict::Hung { seconds: 60 }, inner("ok 1 - all came"), "the last line"),
            (Verdict::Completed, String::new(), "not measured"),
        ] {
            let e = of(verdict, &text).unwrap_err();
            assert!(e.kind() == Kind::Check && e.to_string().contains(says), "{text}: {e}");
        }
    }
}
