//! QEMU's command line for a guest.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::accel::Accel;
use super::{Arch, GuestRequest};
use crate::error::{Error, Result};
use crate::host::process::Cmd;

/// A QEMU machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    /// x86 without PCI and firmware: boots fastest.
    Microvm,
    /// x86 with PCI Express.
    Q35,
    /// Arm's and RISC-V's machine for guests.
    Virt,
}

impl Machine {
    /// Its name, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Machine::Microvm => "microvm",
            Machine::Q35 => "q35",
            Machine::Virt => "virt",
        }
    }

    /// QEMU's `-machine`.
    pub fn option(self) -> &'static str {
        match self {
            // Without ACPI: see kconfig::can_microvm.
            Machine::Microvm => "microvm,acpi=off",
            Machine::Q35 => "q35",
            Machine::Virt => "virt",
        }
    }

    fn serial_bus(self) -> &'static str {
        match self {
            Machine::Microvm => "virtio-serial-device",
            Machine::Q35 | Machine::Virt => "virtio-serial-pci",
        }
    }
}

/// QEMU on this host.
#[derive(Clone, Debug)]
pub(super) struct Qemu {
    pub program: PathBuf,
    /// `7.2.22`.
    pub version: String,
}

impl Qemu {
    /// Finds it.
    ///
    /// # Errors
    /// When it is not there or does not run.
    pub fn find(arch: Arch) -> Result<Qemu> {
        let program = which::which(arch.qemu()).map_err(|_| {
            Error::host(format!("{} is needed to boot {arch} guests", arch.qemu()))
                .found("it is not on PATH")
                .hint(format!("apt-get install {}", arch.qemu_package()))
        })?;
        let output = Cmd::new(&program).arg("--version").timeout(Duration::from_secs(30)).run()?;
        let text = output.text();
        let version = text
            .split_whitespace()
            .find(|w| w.starts_with(|c: char| c.is_ascii_digit()))
            .unwrap_or("unknown");
        Ok(Qemu { version: version.to_owned(), program })
    }

    /// Whether this QEMU has the microvm machine; some distributions leave it out.
    pub fn has_microvm(&self) -> bool {
        let help = Cmd::new(&self.program).args(["-machine", "help"]);
        let help = help.timeout(Duration::from_secs(30)).output();
        help.is_ok_and(|o| o.text().lines().any(|l| l.starts_with("microvm ")))
    }
}

/// The ports between guest and host, by their socket's file name in the run's folder.
pub(super) const CONSOLE: &str = "console";
/// Results.
pub(super) const KTAP: &str = "ktap";
/// Signs of life.
pub(super) const CTL: &str = "ctl";
/// QEMU's own monitor.
pub(super) const QMP: &str = "qmp";

/// The options that give a guest the result port and the control port, which
/// both backends pass to QEMU; `bus` is the virtio-serial device to add.
pub(super) fn port_args(bus: &str, dir: &str) -> Vec<String> {
    let mut args = vec!["-device".into(), format!("{bus},id=kseries")];
    for port in [KTAP, CTL] {
        args.push("-chardev".into());
        args.push(format!("socket,id=kseries-{port},path={dir}{port}"));
        args.push("-device".into());
        args.push(format!(
            "virtserialport,bus=kseries.0,chardev=kseries-{port},name=kseries.{port},id=port-{port}"
        ));
    }
    args.push("-chardev".into());
    args.push(format!("socket,id=kseries-{QMP},path={dir}{QMP}"));
    args.push("-mon".into());
    args.push(format!("chardev=kseries-{QMP},mode=control"));
    args
}

/// The kernel arguments of every guest.
pub(super) fn kernel_args(request: &GuestRequest, accel: &Accel) -> Vec<String> {
    let mut args: Vec<String> = request.arch.console().iter().map(|a| (*a).to_owned()).collect();
    args.extend(
        [
            // A panic ends the guest at once; so does an Oops, whose traces of
            // corruption would only mislead.
            "panic=-1",
            "oops=panic",
            // The marks of where tests begin and end must not be held back.
            "printk.devkmsg=on",
            "loglevel=8",
            "random.trust_cpu=on",
            // Addresses mean the same in each boot, and in vmlinux.
            "nokaslr",
        ]
        .map(String::from),
    );
    if request.arch == super::Arch::X86_64 {
        // By triple fault: microvm has none of the devices that the kernel would
        // try first, and waits for.
        args.push("reboot=t".into());
        // On a busy host the timer may not tick in the moment of the check.
        args.push("no_timer_check".into());
    }
    if accel.is_emulation() {
        // A busy host holds the guest's CPUs up for seconds: that is no stall, and
        // a real one lasts.
        args.push("rcupdate.rcu_cpu_stall_timeout=60".into());
        args.push("watchdog_thresh=30".into());
    }
    args.extend(request.append.iter().cloned());
    args
}

/// The whole command: sockets are named relative to the run's folder, in which
/// QEMU is started, so that no path is too long for a socket.
pub(super) fn command(
    qemu: &Qemu,
    machine: Machine,
    accel: &Accel,
    request: &GuestRequest,
    initrd: Option<&Path>,
    append: &[String],
) -> Cmd {
    let mut cmd = Cmd::new(&qemu.program)
        .args(["-name", "kseries-guest", "-nodefaults", "-no-user-config", "-display", "none"])
        .arg("-no-reboot")
        .args(["-machine", machine.option()])
        .args(["-accel", accel.option()])
        .args(["-cpu", accel.cpu(request.arch)])
        .args(["-smp", &request.smp.to_string()])
        .args(["-m", &format!("{}M", request.memory)])
        .arg("-kernel")
        .arg(&request.image);
    if let Some(initrd) = initrd {
        cmd = cmd.arg("-initrd").arg(initrd);
    }
    cmd.args(["-append", &append.join(" ")])
        .args(["-chardev", &format!("socket,id=kseries-{CONSOLE},path={CONSOLE}")])
        .args(["-serial", &format!("chardev:kseries-{CONSOLE}")])
        .args(port_args(machine.serial_bus(), ""))
        .env_remove("QEMU_AUDIO_DRV")
}
