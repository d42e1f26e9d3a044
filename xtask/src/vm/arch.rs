//! Architectures a guest can have: what QEMU, the kernel's command line and the
//! compiler are called there.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// An architecture of guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Arm64,
    /// 64-bit RISC-V.
    Riscv64,
}

impl Arch {
    /// All of them.
    pub const ALL: [Arch; 3] = [Arch::X86_64, Arch::Arm64, Arch::Riscv64];

    /// The host's, if guests can have it.
    #[must_use]
    pub fn host() -> Option<Arch> {
        std::env::consts::ARCH.parse().ok()
    }

    /// The kernel's name for it, which build targets have too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Arm64 => "arm64",
            Arch::Riscv64 => "riscv64",
        }
    }

    /// The name in GNU triplets and in QEMU's program.
    #[must_use]
    pub fn gnu(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Arm64 => "aarch64",
            Arch::Riscv64 => "riscv64",
        }
    }

    /// QEMU's program.
    #[must_use]
    pub fn qemu(self) -> &'static str {
        match self {
            Arch::X86_64 => "qemu-system-x86_64",
            Arch::Arm64 => "qemu-system-aarch64",
            Arch::Riscv64 => "qemu-system-riscv64",
        }
    }

    /// The Debian package of QEMU's program.
    #[must_use]
    pub fn qemu_package(self) -> &'static str {
        match self {
            Arch::X86_64 => "qemu-system-x86",
            Arch::Arm64 => "qemu-system-arm",
            Arch::Riscv64 => "qemu-system-misc",
        }
    }

    /// The C compiler for programs of the guest, and the package that has it.
    #[must_use]
    pub fn compiler(self) -> (&'static str, &'static str) {
        if Arch::host() == Some(self) {
            return ("gcc", "gcc libc6-dev");
        }
        match self {
            Arch::X86_64 => ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu libc6-dev-amd64-cross"),
            Arch::Arm64 => ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
            Arch::Riscv64 => {
                ("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross")
            }
        }
    }

    /// The name in Debian's packages.
    #[must_use]
    pub fn debian(self) -> &'static str {
        match self {
            Arch::X86_64 => "amd64",
            Arch::Arm64 => "arm64",
            Arch::Riscv64 => "riscv64",
        }
    }

    /// Kernel arguments that bring the console to the first serial port, from the
    /// first instructions on where the kernel can.
    #[must_use]
    pub fn console(self) -> &'static [&'static str] {
        match self {
            Arch::X86_64 => &["console=ttyS0,115200", "earlyprintk=serial,ttyS0,115200"],
            Arch::Arm64 => &["console=ttyAMA0", "earlycon"],
            Arch::Riscv64 => &["console=ttyS0", "earlycon"],
        }
    }

    /// The configuration symbol of that serial port's console.
    #[must_use]
    pub fn serial_symbol(self) -> &'static str {
        match self {
            Arch::X86_64 => "SERIAL_8250_CONSOLE",
            Arch::Arm64 => "SERIAL_AMBA_PL011_CONSOLE",
            Arch::Riscv64 => "SERIAL_OF_PLATFORM",
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Arch {
    type Err = Error;

    fn from_str(name: &str) -> Result<Arch> {
        match name {
            "x86_64" | "x86" | "amd64" => Ok(Arch::X86_64),
            "arm64" | "aarch64" => Ok(Arch::Arm64),
            "riscv64" | "riscv" => Ok(Arch::Riscv64),
            _ => Err(Error::usage(format!("guest architecture \"{}\"", name.escape_default()))
                .found("guests can be x86_64, arm64 or riscv64")
                .hint("name one of these with --arch")),
        }
    }
}
