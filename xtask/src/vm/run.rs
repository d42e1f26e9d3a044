//! One guest run from request to result: looks before it boots, boots, judges,
//! and runs once more what failed, to tell what is broken from what is flaky.

use super::accel::{self, Choice};
use super::channel::RunDir;
use super::guest_files;
use super::image::{self, Image};
use super::kconfig::{self, Config};
use super::ktap::{Status, Test};
use super::machine::{self, Machine, Qemu};
use super::request::{Backend, GuestRequest};
use super::session::{self, Outcome, Progress, Setup};
use super::splat::{Allow, Scanner};
use super::symbols;
use super::verdict::Verdict;
use super::vng::Vng;
use super::{Fact, GuestRun};
use crate::error::{Error, IoContext as _, Result};
use crate::host::paths::Dirs;
use crate::host::process::Stream;
use crate::host::ui::Ui;

/// Boots the guest, runs its tests, and judges. `console.log` and `ktap.log` are
/// written in `request.output` as they come.
///
/// # Errors
/// When the request cannot be carried out on this host, or is wrong in itself.
/// What goes wrong in the guest is in the result.
pub fn run(ui: &Ui, dirs: &Dirs, request: &GuestRequest) -> Result<GuestRun> {
    run_with(ui, dirs, request, &mut |_| {})
}

/// [`run`], telling what happens as it happens.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    ui: &Ui,
    dirs: &Dirs,
    request: &GuestRequest,
    tell: &mut dyn FnMut(&Progress<'_>),
) -> Result<GuestRun> {
    let image = image::sniff(&request.image)?;
    let config = check(request, &image)?;
    std::fs::create_dir_all(&request.output).at("create folder", &request.output)?;
    let mut first = once(ui, dirs, request, &image, config.as_ref(), tell)?;
    if !request.retry {
        return Ok(first);
    }
    let again = to_repeat(&first);
    if again.is_empty() {
        return Ok(first);
    }
    ui.note(&format!("{}: running again what failed: {}", request.name, again.join(", ")));
    let mut second = request.clone();
    second.tests.retain(|t| again.contains(&t.name));
    second.output = request.output.join("second-run");
    std::fs::create_dir_all(&second.output).at("create folder", &second.output)?;
    let second = once(ui, dirs, &second, &image, config.as_ref(), tell)?;
    first.compare(&second);
    Ok(first)
}

/// What can be known to go wrong before anything is started.
fn check(request: &GuestRequest, image: &Image) -> Result<Option<Config>> {
    if image.arch != request.arch {
        return Err(Error::usage(format!("boot {} as {}", request.image.display(), request.arch))
            .found(format!("it is a {} for {}", image.format, image.arch))
            .hint(format!("--arch {}", image.arch)));
    }
    let mut names: Vec<&str> = request.tests.iter().map(|t| t.name.as_str()).collect();
    names.sort_unstable();
    if let Some(name) = names.windows(2).find_map(|w| match w {
        [a, b] if a == b => Some(*a),
        _ => None,
    }) {
        return Err(Error::usage(format!("two tests named \"{name}\"")).hint("rename one"));
    }
    if let Some(name) = names.iter().find(|n| n.is_empty() || n.contains(['\n', '#'])) {
        return Err(Error::usage(format!("a test named \"{}\"", name.escape_default()))
            .found("its name cannot be told in a result line"));
    }
    if request.smp == 0 || request.memory < 64 {
        return Err(Error::usage(format!(
            "a guest of {} CPUs and {} MiB",
            request.smp, request.memory
        ))
        .hint("at least --smp 1 and --memory 64M"));
    }
    let found = || image::find_config(&request.image, image.release.as_deref());
    let Some(path) = request.config.clone().or_else(found) else { return Ok(None) };
    let config = Config::read(&path)?;
    kconfig::preflight(&config, &path, request)?;
    Ok(Some(config))
}

fn machine(request: &GuestRequest, config: Option<&Config>, qemu: &Qemu) -> Machine {
    if request.arch != super::Arch::X86_64 {
        return Machine::Virt;
    }
    let can = config.is_some_and(|c| kconfig::can_microvm(c, request.arch, request.smp));
    if can && qemu.has_microvm() { Machine::Microvm } else { Machine::Q35 }
}

fn once(
    ui: &Ui,
    dirs: &Dirs,
    request: &GuestRequest,
    image: &Image,
    config: Option<&Config>,
    tell: &mut dyn FnMut(&Progress<'_>),
) -> Result<GuestRun> {
    let started = jiff::Timestamp::now();
    let qemu = Qemu::find(request.arch)?;
    let machine = match request.backend {
        Backend::Qemu => machine(request, config, &qemu),
        Backend::Vng => Machine::Q35,
    };
    let mut choice = accel::choose(ui, dirs, &qemu, machine, request)?;
    let append = machine::kernel_args(request, &choice.accel);
    let slow = choice.accel.is_emulation();
    let mut facts = facts(request, image, &qemu, machine, &choice);
    let (run, cmd, console_on);
    match request.backend {
        Backend::Qemu => {
            run = RunDir::new(None)?;
            let initrd = if request.keep {
                request.output.join("initramfs.cpio")
            } else {
                run.path().join("initramfs.cpio")
            };
            let initrd = std::path::absolute(&initrd).at("find", &initrd)?;
            let size = guest_files::initramfs(dirs, request, config, slow, &initrd)?;
            let image_size = request.image.metadata().map_or(0, |m| m.len());
            super::initramfs::fits(size, image_size, request.memory)?;
            let mut request = request.clone();
            request.image = std::path::absolute(&request.image).at("find", &request.image)?;
            cmd = machine::command(&qemu, machine, &choice.accel, &request, Some(&initrd), &append)
                .cwd(run.path());
            console_on = None;
        }
        Backend::Vng => {
            let vng = Vng::find(dirs)?;
            facts.push(Fact::new("virtme-ng", vng.version.clone()));
            // Below the cache: virtme-ng hides the host's /tmp and /run.
            run = RunDir::new(Some(&dirs.cache().join("vm/runs")))?;
            let (agent, plan) = guest_files::folder(dirs, request, slow, run.path())?;
            let mut request = request.clone();
            request.image = std::path::absolute(&request.image).at("find", &request.image)?;
            cmd = vng.command(&request, &choice.accel, run.path(), &agent, &plan, &append)?;
            console_on = Some(Stream::Err);
        }
    }
    if request.keep {
        let path = request.output.join("command.sh");
        crate::host::atomic::write(&path, format!("{}\n", cmd.display()).as_bytes())?;
    }
    let mut allow = Allow::built_in()?;
    allow.extend(request.allow.iter().cloned());
    let setup = Setup {
        cmd: &cmd,
        run: &run,
        output: &request.output,
        limits: request.limits,
        total: request.total_time(),
        scanner: Scanner::new(allow),
        console_on,
    };
    let outcome = session::run(setup, tell)?;
    if outcome.transcript.booted {
        choice.confirmed(ui);
    }
    Ok(result(request, outcome, facts, started))
}

fn facts(
    request: &GuestRequest,
    image: &Image,
    qemu: &Qemu,
    machine: Machine,
    choice: &Choice,
) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("kernel", image.release.clone().unwrap_or_else(|| image.format.into())),
        Fact::new("image", request.image.display().to_string()),
        Fact::new("arch", request.arch.name()),
        Fact::new("backend", request.backend.name()),
        Fact::new(
            "machine",
            format!("{}, {} CPUs, {} MiB", machine.name(), request.smp, request.memory),
        ),
        Fact::new("accelerator", choice.accel.option()),
        Fact::new("QEMU", qemu.version.clone()),
    ];
    if let Some(why) = &choice.why {
        facts.push(Fact::new("no KVM", why.clone()));
    }
    facts
}

fn result(
    request: &GuestRequest,
    outcome: Outcome,
    mut facts: Vec<Fact>,
    started: jiff::Timestamp,
) -> GuestRun {
    let Outcome {
        verdict,
        mut document,
        transcript,
        release,
        boot_seconds,
        times,
        running,
        seconds,
        registers,
    } = outcome;
    let names: Vec<String> = request.tests.iter().map(|t| t.name.clone()).collect();
    if !verdict.completed() || document.root.tests.len() < names.len() {
        let how = match verdict {
            Verdict::TimedOut { .. } => Status::TimedOut,
            _ => Status::Crashed,
        };
        document.complete(&names, running.as_deref(), how);
    }
    if let Some(release) = release
        && let Some(kernel) = facts.iter_mut().find(|f| f.name == "kernel")
    {
        kernel.value = release;
    }
    if let Some(boot) = boot_seconds {
        facts.push(Fact::new("boot", format!("{boot:.1} s until the agent spoke")));
    }
    if let Some(registers) = registers {
        let places = symbols::places(&registers, &request.image);
        facts.push(Fact::new("CPUs", places.join(", ")));
    }
    let mut notes = Vec::new();
    if transcript.total == 0 && verdict.completed() {
        notes.push("the console is empty, so splats could not be seen".to_owned());
    }
    GuestRun {
        name: request.name.clone(),
        started,
        seconds,
        boot_seconds,
        verdict,
        document,
        times: times.into_iter().filter_map(|(i, s)| Some((names.get(i)?.clone(), s))).collect(),
        splats: transcript.splats,
        more_splats: transcript.more_splats,
        tail: transcript.last,
        console_bytes: transcript.total,
        running,
        facts,
        notes,
        flaky_guest: None,
    }
}

/// The tests to run again: those that failed, and those a dying guest took along.
fn to_repeat(run: &GuestRun) -> Vec<String> {
    // A guest that does not boot will not boot again.
    if run.boot_seconds.is_none() || matches!(run.verdict, Verdict::ConsoleFlood { .. }) {
        return Vec::new();
    }
    let bad = |t: &&Test| !t.status.is_good();
    run.document.root.tests.iter().filter(bad).map(|t| t.name.clone()).collect()
}

impl GuestRun {
    /// Takes in what a second run of the failed tests showed: a test that failed
    /// and then passed is flaky, one that had never begun has its result now.
    fn compare(&mut self, second: &GuestRun) {
        for test in &mut self.document.root.tests {
            let Some(again) = second.document.root.tests.iter().find(|t| t.name == test.name)
            else {
                continue;
            };
            if test.status == Status::NotRun {
                *test = again.clone();
                continue;
            }
            if !test.status.is_good() && again.status.is_good() {
                test.set_flaky();
            }
        }
        if !self.verdict.completed() && second.verdict.completed() {
            self.flaky_guest = Some(format!(
                "{} the first time, and ran to its end when run again",
                self.verdict.sentence()
            ));
        }
        for splat in &second.splats {
            if !self.splats.iter().any(|s| s.title == splat.title) {
                self.splats.push(splat.clone());
            }
        }
        self.notes.push(format!("run again in a fresh guest: {}", second.verdict.sentence()));
    }
}
