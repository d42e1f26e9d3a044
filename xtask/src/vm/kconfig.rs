//! What a kernel's configuration must have for a guest, looked up before it is
//! booted: a missing console driver shows as silence otherwise.

use std::collections::HashMap;
use std::path::Path;

use super::{Arch, Backend, GuestRequest};
use crate::error::{Error, IoContext as _, Result};

/// A `.config`, read.
#[derive(Clone, Debug, Default)]
pub struct Config(HashMap<String, String>);

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> Result<Config> {
        let bytes = std::fs::read(path).at("read the configuration", path)?;
        Ok(Config::parse(&String::from_utf8_lossy(&bytes)))
    }

    fn parse(text: &str) -> Config {
        let lines = text.lines().filter_map(|l| l.strip_prefix("CONFIG_")?.split_once('='));
        Config(lines.map(|(k, v)| (k.to_owned(), v.to_owned())).collect())
    }

    /// Whether the symbol is built in.
    #[must_use]
    pub fn yes(&self, symbol: &str) -> bool {
        self.0.get(symbol).is_some_and(|v| v == "y")
    }

    /// Whether it is built in, or as a module.
    #[must_use]
    pub fn any(&self, symbol: &str) -> bool {
        self.0.get(symbol).is_some_and(|v| v == "y" || v == "m")
    }
}

/// A need: any one of the symbols fulfils it.
struct Need(&'static [&'static str], &'static str);

const ALWAYS: &[Need] = &[
    Need(&["PRINTK"], "a console that can be searched for splats"),
    Need(&["BINFMT_ELF"], "any program"),
    Need(&["PROC_FS"], "finding the result port"),
    Need(&["SYSFS"], "finding the result port"),
    Need(&["DEVTMPFS"], "opening the result port"),
    Need(&["VIRTIO_CONSOLE"], "the result port"),
    Need(&["VIRTIO_PCI", "VIRTIO_MMIO"], "the result port"),
];
const QEMU: &[Need] = &[Need(&["BLK_DEV_INITRD"], "the guest's init")];
const VNG: &[Need] = &[
    Need(&["9P_FS", "VIRTIO_FS"], "virtme-ng: the host's root as the guest's"),
    Need(&["OVERLAY_FS"], "virtme-ng: writing in the guest"),
    Need(&["BINFMT_SCRIPT"], "virtme-ng's init"),
];
const KUNIT: &[Need] = &[
    Need(&["KUNIT"], "a KUnit test"),
    Need(&["KUNIT_DEBUGFS"], "reading a KUnit suite's results"),
    Need(&["DEBUG_FS"], "reading a KUnit suite's results"),
];

/// Checks a configuration against what a run needs.
///
/// # Errors
/// When something is missing; all of it is named.
pub fn preflight(config: &Config, path: &Path, request: &GuestRequest) -> Result<()> {
    let kunit = request.tests.iter().any(super::TestProgram::is_kunit);
    let lists = [
        ALWAYS,
        if request.backend == Backend::Vng { VNG } else { QEMU },
        if kunit { KUNIT } else { &[] },
    ];
    let modules = request.modules_dir.is_some();
    let mut missing = Vec::new();
    for Need(symbols, what) in lists.into_iter().flatten() {
        // A module can be loaded from the initramfs, but only what it does not need itself.
        let there =
            |s: &&str| config.yes(s) || (modules && config.any(s) && s.starts_with("VIRTIO"));
        if !symbols.iter().any(there) {
            missing.push(format!("CONFIG_{}=y: {what}", symbols.join("=y or CONFIG_")));
        }
    }
    let serial = request.arch.serial_symbol();
    if !config.yes(serial) {
        missing.push(format!("CONFIG_{serial}=y: the console"));
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!("boot a kernel configured by {}", path.display()))
        .found(format!("it lacks\n{}", missing.join("\n")))
        .hint(
            "add the fragment kconfigs/vm.config to its configuration (build-kernel --config vm)",
        ))
}

/// Whether the microvm machine can be used. It is run without ACPI, since with it a
/// kernel finds no timer to calibrate by under emulation; then devices are told on
/// the command line, and CPUs by the MP table.
#[must_use]
pub fn can_microvm(config: &Config, arch: Arch, smp: u32) -> bool {
    arch == Arch::X86_64
        && config.yes("VIRTIO_MMIO")
        && config.yes("VIRTIO_MMIO_CMDLINE_DEVICES")
        && config.yes("VIRTIO_CONSOLE")
        && (smp == 1 || config.yes("X86_MPPARSE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "CONFIG_PRINTK=y\nCONFIG_BINFMT_ELF=y\nCONFIG_PROC_FS=y\nCONFIG_SYSFS=y\n\
        CONFIG_DEVTMPFS=y\nCONFIG_VIRTIO_CONSOLE=y\nCONFIG_VIRTIO_MMIO=y\nCONFIG_BLK_DEV_INITRD=y\n\
        CONFIG_SERIAL_8250_CONSOLE=y\n# CONFIG_ACPI is not set\n";

    #[test]
    fn what_is_missing_is_named() {
        let request = GuestRequest::new("x", Path::new("/k"), Arch::X86_64, Path::new("/out"));
        let path = Path::new(".config");
        preflight(&Config::parse(GOOD), path, &request).unwrap();
        let bad = GOOD.replace("VIRTIO_CONSOLE=y", "VIRTIO_CONSOLE=m").replace("SERIAL", "X");
        let e = preflight(&Config::parse(&bad), path, &request).unwrap_err().to_string();
        assert!(e.contains("CONFIG_VIRTIO_CONSOLE=y: the result port"), "{e}");
        assert!(e.contains("CONFIG_SERIAL_8250_CONSOLE=y: the console"), "{e}");
    }

    #[test]
    fn microvm_needs_a_way_to_find_devices_and_cpus() {
        let with = |more: &str| Config::parse(&format!("{GOOD}{more}"));
        assert!(!can_microvm(&with(""), Arch::X86_64, 1));
        let cmdline = "CONFIG_VIRTIO_MMIO_CMDLINE_DEVICES=y";
        assert!(can_microvm(&with(cmdline), Arch::X86_64, 1));
        assert!(!can_microvm(&with(cmdline), Arch::X86_64, 2));
        assert!(!can_microvm(&with(cmdline), Arch::Arm64, 1));
        let smp = format!("{cmdline}\nCONFIG_X86_MPPARSE=y");
        assert!(can_microvm(&with(&smp), Arch::X86_64, 2));
    }
}
