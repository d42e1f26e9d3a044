//! Where control goes after an instruction, read from the disassembler's text.

use super::isa::Isa;

/// How a call or jump finds its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is in the instruction: the address, where the text has it.
    Direct(Option<u64>),
    /// In a register.
    Register,
    /// In memory.
    Memory,
    /// In a table behind the instruction.
    Table,
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// To the next instruction.
    Next,
    /// Elsewhere and back.
    Call(Way),
    /// Elsewhere.
    Jump(Way),
    /// Elsewhere or to the next instruction.
    Branch(Option<u64>),
    /// To the caller.
    Return,
}

/// Of an instruction.
pub(super) fn of(isa: Isa, mnemonic: &str, operands: &str) -> Flow {
    match isa {
        Isa::X86 { .. } => x86(mnemonic, operands),
        Isa::Arm64 => arm64(mnemonic, operands),
        Isa::Arm => arm(mnemonic, operands),
        Isa::Riscv { .. } => riscv(mnemonic, operands),
        Isa::PowerPc { .. } => powerpc(mnemonic, operands),
        Isa::S390 => s390(mnemonic, operands),
    }
}

/// The last operand as an address: `0x25`, `#0x34`, `w0, #0x10`.
pub(super) fn address(operands: &str) -> Option<u64> {
    let last = operands.rsplit(',').next()?.trim().trim_start_matches('#');
    match last.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => last.parse().ok(),
    }
}

fn x86(mnemonic: &str, operands: &str) -> Flow {
    // Prefixes come first: `notrack jmp`, `repz ret`.
    let word = mnemonic.split_whitespace().next_back().unwrap_or(mnemonic);
    let way = || {
        if operands.contains('[') {
            Way::Memory
        } else if operands.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            Way::Direct(address(operands))
        } else {
            Way::Register
        }
    };
    match word {
        "call" | "lcall" => Flow::Call(way()),
        "jmp" | "ljmp" => Flow::Jump(way()),
        "ret" | "retf" | "retfq" | "iret" | "iretd" | "iretq" | "sysret" | "sysretq"
        | "sysexit" | "sysexitq" => Flow::Return,
        w if w.starts_with('j') || w.starts_with("loop") || w == "xbegin" => {
            Flow::Branch(address(operands))
        }
        _ => Flow::Next,
    }
}

fn arm64(mnemonic: &str, operands: &str) -> Flow {
    match mnemonic {
        "bl" => Flow::Call(Way::Direct(address(operands))),
        "b" => Flow::Jump(Way::Direct(address(operands))),
        "ret" | "retaa" | "retab" | "eret" | "eretaa" | "eretab" => Flow::Return,
        "cbz" | "cbnz" | "tbz" | "tbnz" => Flow::Branch(address(operands)),
        "br" | "braa" | "brab" | "braaz" | "brabz" => Flow::Jump(Way::Register),
        "blr" | "blraa" | "blrab" | "blraaz" | "blrabz" => Flow::Call(Way::Register),
        m if m.starts_with("b.") || m.starts_with("bc.") => Flow::Branch(address(operands)),
        _ => Flow::Next,
    }
}

const ARM_CONDITIONS: [&str; 14] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"];

fn arm(mnemonic: &str, operands: &str) -> Flow {
    // Thumb's mark for the size.
    let mnemonic = mnemonic.trim_end_matches(".w");
    let with_condition = |word: &str| {
        mnemonic
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || ARM_CONDITIONS.contains(&rest))
    };
    let through = |operands: &str| match operands {
        "lr" => Flow::Return,
        _ => Flow::Jump(Way::Register),
    };
    if with_condition("blx") {
        return Flow::Call(if operands.starts_with('#') {
            Way::Direct(address(operands))
        } else {
            Way::Register
        });
    }
    if with_condition("bl") {
        return Flow::Call(Way::Direct(address(operands)));
    }
    if with_condition("bx") || with_condition("bxj") {
        return through(operands);
    }
    if mnemonic == "b" {
        return Flow::Jump(Way::Direct(address(operands)));
    }
    if with_condition("b") || matches!(mnemonic, "cbz" | "cbnz") {
        return Flow::Branch(address(operands));
    }
    if matches!(mnemonic, "tbb" | "tbh") {
        return Flow::Jump(Way::Table);
    }
    if operands.ends_with("pc}") && (mnemonic.starts_with("pop") || mnemonic.starts_with("ldm")) {
        return Flow::Return;
    }
    let Some(from) = operands.strip_prefix("pc, ") else { return Flow::Next };
    if mnemonic.starts_with("ldr") {
        return match from {
            f if f.starts_with("[pc, r") => Flow::Jump(Way::Table),
            f if f.starts_with("[sp]") => Flow::Return,
            _ => Flow::Jump(Way::Memory),
        };
    }
    match mnemonic.get(..3) {
        Some("mov") => through(from),
        Some("add") if from.starts_with("pc, ") => Flow::Jump(Way::Table),
        Some("sub") if from.starts_with("lr") => Flow::Return,
        Some("add" | "sub" | "and" | "orr" | "eor" | "bic" | "rsb") => Flow::Jump(Way::Register),
        _ => Flow::Next,
    }
}

fn riscv(mnemonic: &str, operands: &str) -> Flow {
    let mnemonic = mnemonic.strip_prefix("c.").unwrap_or(mnemonic);
    let (first, rest) = operands.split_once(", ").unwrap_or((operands, ""));
    match mnemonic {
        "ret" | "mret" | "sret" | "uret" => Flow::Return,
        "j" => Flow::Jump(Way::Direct(None)),
        "jal" if first == "zero" => Flow::Jump(Way::Direct(None)),
        "jal" => Flow::Call(Way::Direct(None)),
        "jr" if first == "ra" => Flow::Return,
        "jr" => Flow::Jump(Way::Register),
        "jalr" if rest.is_empty() => Flow::Call(Way::Register),
        "jalr" if first == "zero" && rest.contains("ra") => Flow::Return,
        "jalr" if first == "zero" => Flow::Jump(Way::Register),
        "jalr" => Flow::Call(Way::Register),
        "beq" | "bne" | "blt" | "bge" | "bltu" | "bgeu" | "beqz" | "bnez" | "blez" | "bgez"
        | "bltz" | "bgtz" | "bgt" | "ble" | "bgtu" | "bleu" => Flow::Branch(None),
        _ => Flow::Next,
    }
}

fn powerpc(mnemonic: &str, operands: &str) -> Flow {
    // Marks of what is likely.
    let mnemonic = mnemonic.trim_end_matches(['+', '-']);
    const CONDITIONS: [&str; 14] =
        ["eq", "ne", "lt", "gt", "le", "ge", "so", "ns", "un", "nu", "dnz", "dz", "c", "nl"];
    match mnemonic {
        "bl" | "bla" => Flow::Call(Way::Direct(address(operands))),
        "b" | "ba" => Flow::Jump(Way::Direct(address(operands))),
        m if !m.starts_with('b') => Flow::Next,
        m if m.ends_with("ctrl") => Flow::Call(Way::Register),
        m if m.ends_with("ctr") => Flow::Jump(Way::Register),
        m if m.ends_with("lrl") => Flow::Call(Way::Register),
        m if m.ends_with("lr") => Flow::Return,
        m if CONDITIONS.iter().any(|c| m.get(1..).is_some_and(|m| m.starts_with(c))) => {
            // `bcdadd` and its like are arithmetic.
            if m.starts_with("bcd") { Flow::Next } else { Flow::Branch(address(operands)) }
        }
        _ => Flow::Next,
    }
}

fn s390(mnemonic: &str, operands: &str) -> Flow {
    let (first, second) = operands.split_once(", ").unwrap_or((operands, ""));
    match mnemonic {
        "brasl" | "bras" => Flow::Call(Way::Direct(address(operands))),
        // Register 0 stands for no branch at all.
        "basr" if second == "%r0" => Flow::Next,
        "basr" => Flow::Call(Way::Register),
        "bas" => Flow::Call(Way::Memory),
        "j" | "jg" | "bru" | "brul" => Flow::Jump(Way::Direct(address(operands))),
        "b" => Flow::Jump(Way::Memory),
        "lpswe" => Flow::Return,
        "bcr" => match (first, second) {
            ("0", _) | (_, "%r0") => Flow::Next,
            (_, "%r14") => Flow::Return,
            _ => Flow::Jump(Way::Register),
        },
        // `br`, and with a condition `ber`, `bner`, `bnhr`.
        m if m.starts_with('b') && m.ends_with('r') && second.is_empty() => match first {
            "%r14" => Flow::Return,
            _ => Flow::Jump(Way::Register),
        },
        m if m.starts_with('j') || m.starts_with("brc") || m.starts_with("brx") => {
            Flow::Branch(address(operands))
        }
        // Compare and branch: `crj`, `cgij`, `clgrjl`.
        m if m.starts_with('c') && m.contains('j') => Flow::Branch(address(operands)),
        _ => Flow::Next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_control_goes() {
        use Flow::{Branch, Call, Jump, Next, Return};
        use Way::{Direct, Memory, Register, Table};
        let x86 = Isa::X86 { bits64: true };
        let (riscv, power) = (Isa::Riscv { bits64: true }, Isa::PowerPc { big: false });
        for (isa, text, want) in [
            (x86, "call 0x25", Call(Direct(Some(0x25)))),
            (x86, "call rax", Call(Register)),
            (x86, "call qword ptr [rbx + 8]", Call(Memory)),
            (x86, "notrack jmp|rax", Jump(Register)),
            (x86, "jmp qword ptr [rdi*8]", Jump(Memory)),
            (x86, "jmp 0x9e", Jump(Direct(Some(0x9e)))),
            (x86, "ja 0x1b4", Branch(Some(0x1b4))),
            (x86, "repz ret|", Return),
            (x86, "mov rax, qword ptr [rax]", Next),
            (Isa::Arm64, "b.ls #0x10", Branch(Some(0x10))),
            (Isa::Arm64, "tbz w0, #3, #0x20", Branch(Some(0x20))),
            (Isa::Arm64, "braaz x1", Jump(Register)),
            (Isa::Arm64, "blr x1", Call(Register)),
            (Isa::Arm64, "bic x0, x0, x1", Next),
            (Isa::Arm, "ble #8", Branch(Some(8))),
            (Isa::Arm, "blle #8", Call(Direct(Some(8)))),
            (Isa::Arm, "blx r3", Call(Register)),
            (Isa::Arm, "bx lr", Return),
            (Isa::Arm, "ldrls pc, [pc, r0, lsl #2]", Jump(Table)),
            (Isa::Arm, "pop {r4, pc}", Return),
            (Isa::Arm, "mov pc, r3", Jump(Register)),
            (riscv, "c.jr a5", Jump(Register)),
            (riscv, "c.jr ra", Return),
            (riscv, "jalr ra", Call(Register)),
            (riscv, "jalr zero, 0(a5)", Jump(Register)),
            (power, "bctrl", Call(Register)),
            (power, "beqlr", Return),
            (power, "bdnz 0x10", Branch(Some(0x10))),
            (power, "bcdadd. v1, v2, v3, 0", Next),
            (Isa::S390, "br %r14", Return),
            (Isa::S390, "br %r1", Jump(Register)),
            (Isa::S390, "bcr 0, %r7", Next),
            (Isa::S390, "basr %r14, %r1", Call(Register)),
            (Isa::S390, "basr %r13, %r0", Next),
            (Isa::S390, "cgijne %r1, 0, 0x10", Branch(Some(0x10))),
        ] {
            let split = text.split_once('|').or_else(|| text.split_once(' '));
            let (mnemonic, operands) = split.unwrap_or((text, ""));
            assert_eq!(of(isa, mnemonic, operands), want, "{text}");
        }
    }
}
