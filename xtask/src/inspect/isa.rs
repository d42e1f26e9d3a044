//! Instruction sets: which one an object has, and the disassembler for it.

use capstone::{Arch, Capstone, Endian, ExtraMode, Mode, NO_EXTRA_MODE};
use object::Architecture;

use crate::error::{Error, Result};

/// An instruction set that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isa {
    X86 { bits64: bool },
    Arm64,
    Arm,
    Riscv { bits64: bool },
    PowerPc { big: bool },
    S390,
}

impl Isa {
    /// That of an object.
    pub fn of(architecture: Architecture, big_endian: bool) -> Result<Isa> {
        match architecture {
            Architecture::X86_64 => Ok(Isa::X86 { bits64: true }),
            Architecture::I386 => Ok(Isa::X86 { bits64: false }),
            Architecture::Aarch64 => Ok(Isa::Arm64),
            Architecture::Arm if !big_endian => Ok(Isa::Arm),
            Architecture::Riscv64 => Ok(Isa::Riscv { bits64: true }),
            Architecture::Riscv32 => Ok(Isa::Riscv { bits64: false }),
            Architecture::PowerPc64 => Ok(Isa::PowerPc { big: big_endian }),
            Architecture::S390x => Ok(Isa::S390),
            other => {
                let order = if big_endian { ", big-endian" } else { "" };
                Err(Error::host(format!("read the machine code of {other:?}{order}"))
                    .found("this tool disassembles x86, arm64, arm, riscv, powerpc and s390")
                    .hint("choose one of those with --arch"))
            }
        }
    }

    /// The disassembler; that of Thumb for Arm where `thumb`.
    pub fn capstone(self, thumb: bool) -> Result<Capstone> {
        let none = || NO_EXTRA_MODE;
        let opened = match self {
            Isa::X86 { bits64: true } => Capstone::new_raw(Arch::X86, Mode::Mode64, none(), None),
            Isa::X86 { bits64: false } => Capstone::new_raw(Arch::X86, Mode::Mode32, none(), None),
            Isa::Arm64 => Capstone::new_raw(Arch::ARM64, Mode::Arm, none(), None),
            Isa::Arm => {
                let mode = if thumb { Mode::Thumb } else { Mode::Arm };
                Capstone::new_raw(Arch::ARM, mode, std::iter::once(ExtraMode::V8), None)
            }
            Isa::Riscv { bits64 } => {
                let mode = if bits64 { Mode::RiscV64 } else { Mode::RiscV32 };
                Capstone::new_raw(Arch::RISCV, mode, std::iter::once(ExtraMode::RiscVC), None)
            }
            Isa::PowerPc { big } => {
                let order = if big { Endian::Big } else { Endian::Little };
                Capstone::new_raw(Arch::PPC, Mode::Mode64, none(), Some(order))
            }
            Isa::S390 => Capstone::new_raw(Arch::SYSZ, Mode::Default, none(), Some(Endian::Big)),
        };
        opened.map_err(|e| Error::host("start the disassembler").found(e.to_string()))
    }

    /// How far behind something that is no instruction the next one may begin.
    pub fn step(self, bytes: &[u8], thumb: bool) -> usize {
        let first = bytes.first().copied().unwrap_or(0);
        match self {
            Isa::X86 { .. } => 1,
            Isa::Arm64 | Isa::PowerPc { .. } => 4,
            Isa::Arm => {
                if thumb {
                    2
                } else {
                    4
                }
            }
            // The two lowest bits of the first parcel.
            Isa::Riscv { .. } => {
                if first & 3 == 3 {
                    4
                } else {
                    2
                }
            }
            // The two highest bits of the first byte.
            Isa::S390 => match first >> 6 {
                0 => 2,
                3 => 6,
                _ => 4,
            },
        }
    }
}
