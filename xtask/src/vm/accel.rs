//! Accelerators. `/dev/kvm` can exist, open, create a machine, and still hang in
//! the first instruction of a kernel: so one counts only when a kernel has
//! booted on it. The answer is remembered for this host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::channel::{Event, forward};
use super::machine::{Machine, Qemu};
use super::{AccelChoice, Arch, GuestRequest};
use crate::error::{Error, Result};
use crate::host::paths::Dirs;
use crate::host::process::{Cmd, code_of};
use crate::host::ui::Ui;
use crate::host::{atomic, lock};

/// A kernel that boots says its first word well within this time.
const FIRST_WORD: Duration = Duration::from_secs(10);
/// It has booted, found no root and reset the machine within this time.
const WHOLE_BOOT: Duration = Duration::from_secs(60);

/// What runs the guest's instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accel {
    /// The host's CPU, with the given model.
    Kvm {
        /// QEMU's name of the CPU model.
        cpu: String,
    },
    /// Emulation, a host thread for each CPU.
    Tcg,
    /// Emulation of all CPUs in one thread.
    TcgSingle,
}

impl Accel {
    /// QEMU's `-accel`.
    #[must_use]
    pub fn option(&self) -> &'static str {
        match self {
            Accel::Kvm { .. } => "kvm",
            Accel::Tcg => "tcg",
            Accel::TcgSingle => "tcg,thread=single",
        }
    }

    /// QEMU's `-cpu`.
    #[must_use]
    pub fn cpu(&self, arch: Arch) -> &str {
        match (self, arch) {
            (Accel::Kvm { cpu }, _) => cpu,
            // Pointer authentication by the architected cipher halves the speed.
            (_, Arch::Arm64) => "max,pauth-impdef=on",
            (_, Arch::X86_64 | Arch::Riscv64) => "max",
        }
    }

    /// Whether time in the guest means little, and tests may be slow.
    #[must_use]
    pub fn is_emulation(&self) -> bool {
        !matches!(self, Accel::Kvm { .. })
    }
}

/// What is known of KVM on one host.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    /// The CPU model a kernel booted with; nothing when none did.
    cpu: Option<String>,
    /// What was seen.
    why: String,
}

/// A choice, and what is to be remembered if the guest then boots without KVM.
#[derive(Debug)]
pub(super) struct Choice {
    pub accel: Accel,
    /// Why it is not KVM, for the report.
    pub why: Option<String>,
    pending: Option<(PathBuf, String, Known)>,
}

impl Choice {
    fn plain(accel: Accel) -> Choice {
        Choice { accel, why: None, pending: None }
    }

    /// Remembers that KVM does not boot, now that this kernel is known to boot
    /// without it: else the fault might be the kernel's.
    pub fn confirmed(&mut self, ui: &Ui) {
        if let Some((file, key, known)) = self.pending.take()
            && let Err(e) = remember(ui, &file, key, known)
        {
            ui.warn(&format!("the answer about KVM could not be kept: {e}"));
        }
    }
}

/// Chooses the accelerator of a guest.
///
/// # Errors
/// When KVM was asked for and no kernel boots on it.
pub(super) fn choose(
    ui: &Ui,
    dirs: &Dirs,
    qemu: &Qemu,
    machine: Machine,
    request: &GuestRequest,
) -> Result<Choice> {
    let emulated = if request.patches_text { Accel::TcgSingle } else { Accel::Tcg };
    match request.accel {
        AccelChoice::Tcg => return Ok(Choice::plain(Accel::Tcg)),
        AccelChoice::TcgSingle => return Ok(Choice::plain(Accel::TcgSingle)),
        AccelChoice::Auto | AccelChoice::Kvm => {}
    }
    let forced = request.accel == AccelChoice::Kvm;
    let refuse = |why: String| {
        Error::host(format!("run a {} guest on KVM", request.arch))
            .found(why)
            .hint("--accel tcg emulates")
    };
    let without = |why: String, pending| {
        if forced {
            return Err(refuse(why));
        }
        Ok(Choice { accel: emulated.clone(), why: Some(why), pending })
    };
    if Arch::host() != Some(request.arch) {
        return without(format!("the host is {}", std::env::consts::ARCH), None);
    }
    let device = Path::new("/dev/kvm");
    if let Err(e) = std::fs::OpenOptions::new().read(true).write(true).open(device) {
        return without(format!("{}: {e}", device.display()), None);
    }
    let (file, key) = (place(dirs), host_key(qemu, request.arch));
    if let Some(known) = recall(&file).remove(&key) {
        return match known.cpu {
            Some(cpu) => Ok(Choice::plain(Accel::Kvm { cpu })),
            None => without(known.why, None),
        };
    }
    let step = ui.step("trying KVM by booting a kernel on it");
    let mut seen = Vec::new();
    for cpu in ["host", "max"] {
        let accel = Accel::Kvm { cpu: cpu.to_owned() };
        match probe(qemu, machine, &accel, request)? {
            Ok(()) => {
                step.done("it works");
                let known = Known { cpu: Some(cpu.to_owned()), why: "a kernel booted".into() };
                remember(ui, &file, key, known)?;
                return Ok(Choice::plain(accel));
            }
            Err(why) => seen.push(format!("-cpu {cpu}: {why}")),
        }
    }
    let why = format!("no kernel boots on /dev/kvm ({})", seen.join("; "));
    step.done(&format!("{why}; emulating from now on (kept in {})", file.display()));
    let known = Known { cpu: None, why: why.clone() };
    without(why, Some((file, key, known)))
}

fn place(dirs: &Dirs) -> PathBuf {
    dirs.cache().join("vm").join("accelerators.json")
}

/// What the answer depends on: the host's kernel and CPU, and QEMU.
fn host_key(qemu: &Qemu, arch: Arch) -> String {
    let kernel = nix::sys::utsname::uname()
        .map_or_else(|_| "unknown".into(), |u| u.release().to_string_lossy().into_owned());
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find(|l| l.starts_with("model name") || l.starts_with("CPU part"))
        .and_then(|l| l.split_once(':'))
        .map_or("unknown", |(_, m)| m.trim());
    format!("{arch} | Linux {kernel} | {model} | QEMU {}", qemu.version)
}

fn recall(file: &Path) -> BTreeMap<String, Known> {
    // A file that cannot be read is as good as none: the probe is run again.
    std::fs::read(file).ok().and_then(|b| serde_json::from_slice(&b).ok()).unwrap_or_default()
}

fn remember(ui: &Ui, file: &Path, key: String, known: Known) -> Result<()> {
    let _lock = lock::take(ui, &file.with_extension("lock"), "the list of accelerators")?;
    let mut all = recall(file);
    all.insert(key, known);
    let bytes = serde_json::to_vec_pretty(&all)
        .map_err(|e| Error::host("cannot write the list of accelerators").found(e.to_string()))?;
    atomic::write(file, &bytes)
}

/// Boots the kernel without a root: it must speak, find that it has none, panic
/// and reset. The inner error says what happened instead.
fn probe(
    qemu: &Qemu,
    machine: Machine,
    accel: &Accel,
    request: &GuestRequest,
) -> Result<Result<(), String>> {
    let end = ["panic=-1", "reboot=t", "no_timer_check"];
    let append: Vec<String> =
        request.arch.console().iter().copied().chain(end).map(String::from).collect();
    let cmd = Cmd::new(&qemu.program)
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"])
        .args(["-machine", machine.option(), "-accel", accel.option()])
        .args(["-cpu", accel.cpu(request.arch), "-smp", "1", "-m", "256M"])
        .arg("-kernel")
        .arg(&request.image)
        .args(["-append", &append.join(" "), "-serial", "stdio"]);
    let mut running = cmd.spawn()?;
    let (tx, rx) = mpsc::sync_channel(64);
    let [mut console, mut said] = [Vec::new(), Vec::new()];
    for (stream, pipe) in running.take_outputs() {
        let tx = tx.clone();
        let wrap = match stream {
            crate::host::process::Stream::Out => Event::Console,
            crate::host::process::Stream::Err => Event::Said,
        };
        std::thread::spawn(move || forward(pipe, &tx, wrap));
    }
    drop(tx);
    let begun = Instant::now();
    loop {
        match rx.recv_timeout(Duration::from_millis(50)) {
            Ok(Event::Console(bytes)) => console.extend(bytes),
            Ok(Event::Said(bytes)) => said.extend(bytes),
            Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        crate::host::signals::check()?;
        let spoke = contains(&console, b"Linux version ");
        if begun.elapsed() > if spoke { WHOLE_BOOT } else { FIRST_WORD } {
            let after = begun.elapsed().as_secs();
            running.kill();
            return Ok(Err(if spoke {
                format!("the kernel began to boot and did not end within {after} s")
            } else {
                format!("the kernel said nothing for {after} s")
            }));
        }
    }
    let code = code_of(running.wait()?);
    if code == 0 && contains(&console, b"Linux version ") {
        return Ok(Ok(()));
    }
    let text = String::from_utf8_lossy(&said);
    let first = text.lines().next().unwrap_or("it said nothing").to_owned();
    Ok(Err(format!("QEMU ended with code {code}: {first}")))
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    memchr::memmem::find(bytes, what).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ui::Format;

    #[test]
    fn an_answer_is_kept_beside_others_and_a_broken_list_is_none() {
        let t = tempfile::tempdir().unwrap();
        let file = t.path().join("vm/a.json");
        let ui = Ui::new(Format::Human);
        let known = |cpu: Option<&str>| Known { cpu: cpu.map(Into::into), why: "x".into() };
        remember(&ui, &file, "a".into(), known(None)).unwrap();
        remember(&ui, &file, "b".into(), known(Some("host"))).unwrap();
        let all = recall(&file);
        assert_eq!(all["a"].cpu, None);
        assert_eq!(all["b"].cpu.as_deref(), Some("host"));
        std::fs::write(&file, "{").unwrap();
        assert!(recall(&file).is_empty());
    }
}
