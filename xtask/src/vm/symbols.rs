//! Where the CPUs of a hung guest stand: program counters out of QEMU's register
//! dump, named by the kernel's symbols.

use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSymbol as _, SymbolKind};

/// Each CPU's place, as `CPU 0 in spin_forever+0x12`.
pub(super) fn places(registers: &str, image: &Path) -> Vec<String> {
    let counters = counters(registers);
    if counters.is_empty() {
        return Vec::new();
    }
    let symbols = vmlinux(image).and_then(|p| read(&p)).unwrap_or_default();
    counters
        .iter()
        .enumerate()
        .map(|(cpu, pc)| match name(&symbols, *pc) {
            Some(name) => format!("CPU {cpu} in {name}"),
            None => format!("CPU {cpu} at {pc:#x}"),
        })
        .collect()
}

/// The program counters, in the order of the CPUs: `RIP=` on x86, `PC=` on Arm,
/// ` pc ` on RISC-V.
fn counters(registers: &str) -> Vec<u64> {
    let mut out = Vec::new();
    for line in registers.lines() {
        let words = line.split_whitespace().collect::<Vec<_>>();
        for (i, word) in words.iter().enumerate() {
            let hex = word
                .strip_prefix("RIP=")
                .or_else(|| word.strip_prefix("PC="))
                .or_else(|| if *word == "pc" { words.get(i + 1).copied() } else { None });
            out.extend(hex.and_then(|h| u64::from_str_radix(h, 16).ok()));
        }
    }
    out
}

/// The kernel with its symbols: beside the image, or at the top of its objdir.
fn vmlinux(image: &Path) -> Option<PathBuf> {
    let dir = image.parent()?;
    let top = dir.ancestors().nth(3).filter(|_| dir.ends_with("boot"));
    [Some(dir), top].into_iter().flatten().map(|d| d.join("vmlinux")).find(|p| p.is_file())
}

/// Function symbols by address.
fn read(vmlinux: &Path) -> Option<Vec<(u64, String)>> {
    let bytes = std::fs::read(vmlinux).ok()?;
    let file = object::File::parse(&bytes[..]).ok()?;
    let mut out: Vec<(u64, String)> = file
        .symbols()
        .filter(|s| s.kind() == SymbolKind::Text && s.address() != 0)
        .filter_map(|s| Some((s.address(), s.name().ok()?.to_owned())))
        .collect();
    out.sort();
    Some(out)
}

fn name(symbols: &[(u64, String)], pc: u64) -> Option<String> {
    let after = symbols.partition_point(|(address, _)| *address <= pc);
    let (address, name) = symbols.get(after.checked_sub(1)?)?;
    // User space, or a module: no symbol of the kernel is near.
    let offset = pc - address;
    (offset < 1 << 20).then(|| format!("{name}+{offset:#x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_each_architecture() {
        let x86 = "CPU#0\r\nRAX=1\r\nRIP=ffffffff81000010 RFL=00000046\r\n\r\nCPU#1\r\nRIP=0000000000401000 RFL=1\r\n";
        assert_eq!(counters(x86), [0xffff_ffff_8100_0010, 0x40_1000]);
        assert_eq!(counters("CPU#0\n PC=ffff800008001234 X00=1\n"), [0xffff_8000_0800_1234]);
        assert_eq!(
            counters("V      =   0\n pc       ffffffff80001234\n mhartid  0\n"),
            [0xffff_ffff_8000_1234]
        );
        assert!(counters("nothing pc RIP= PC=zz").is_empty());
    }

    #[test]
    fn the_nearest_symbol_below() {
        let symbols = [(0x1000, "a".to_owned()), (0x2000, "b".to_owned())];
        let table =
            [(0x1004, Some("a+0x4")), (0x2000, Some("b+0x0")), (0xfff, None), (u64::MAX, None)];
        for (pc, want) in table {
            assert_eq!(name(&symbols, pc).as_deref(), want);
        }
    }
}
