//! Objects that are put together byte by byte: each kind of call and jump.

use object::write::{Object, Relocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope, elf,
};
use proptest::prelude::*;

use super::*;

/// An object under construction.
struct Made {
    object: Object<'static>,
    text: SectionId,
    constants: SectionId,
}

impl Made {
    fn new(architecture: Architecture) -> Made {
        let mut object = Object::new(BinaryFormat::Elf, architecture, Endianness::Little);
        let text = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
        let constants =
            object.add_section(Vec::new(), b".rodata".to_vec(), SectionKind::ReadOnlyData);
        Made { object, text, constants }
    }

    fn symbol(
        &mut self,
        name: &str,
        section: SymbolSection,
        (value, size): (u64, u64),
    ) -> SymbolId {
        self.object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section,
            flags: SymbolFlags::None,
        })
    }

    fn extern_symbol(&mut self, name: &str) -> SymbolId {
        self.symbol(name, SymbolSection::Undefined, (0, 0))
    }

    /// Adds a function of these bytes, and gives where it begins.
    fn function(&mut self, name: &str, code: &[u8]) -> u64 {
        let at = self.object.append_section_data(self.text, code, 16);
        self.symbol(name, SymbolSection::Section(self.text), (at, code.len() as u64));
        at
    }

    fn relocate(
        &mut self,
        section: SectionId,
        offset: u64,
        symbol: SymbolId,
        r_type: elf::RelocationType,
        addend: i64,
    ) {
        let flags = RelocationFlags::Elf { r_type };
        self.object.add_relocation(section, Relocation { offset, symbol, addend, flags }).unwrap();
    }

    fn measure(&self) -> Vec<Measured> {
        measure(&self.object.write().unwrap()).unwrap()
    }

    fn counts(&self, name: &str) -> Counts {
        let all = self.measure();
        all.iter().find(|f| f.names.iter().any(|n| n == name)).unwrap().counts
    }
}

/// An x86 function that does one of each, and its table.
fn x86() -> Made {
    let mut m = Made::new(Architecture::X86_64);
    let code: &[u8] = &[
        0xff, 0xd0, // call *%rax
        0xff, 0x53, 0x08, // call *8(%rbx)
        0xe8, 0, 0, 0, 0, // call __x86_indirect_thunk_rax
        0xe8, 0, 0, 0, 0, // call other
        0xe8, 0, 0, 0, 0, // call __SCT__x
        0xe8, 0, 0, 0, 0, // call __fentry__
        0xff, 0x15, 0, 0, 0, 0, // call *pv_ops(%rip)
        0x74, 0x02, // je +2
        0xeb, 0x00, // jmp +0
        0x3e, 0xff, 0x24, 0xc5, 0, 0, 0, 0, // notrack jmp *table(,%rax,8)
        0x90, 0x90, // the cases
        0xe9, 0, 0, 0, 0, // jmp other
        0xff, 0xe1, // jmp *%rcx
        0xe9, 0, 0, 0, 0, // jmp __x86_indirect_thunk_rcx
        0xe9, 0, 0, 0, 0,    // jmp __x86_return_thunk
        0xc3, // ret
    ];
    let at = m.function("f", code);
    m.object.append_section_data(m.constants, &[0; 16], 8);
    let text = m.object.section_symbol(m.text);
    let constants = m.object.section_symbol(m.constants);
    let (section, table) = (m.text, m.constants);
    for (offset, name) in [
        (6, "__x86_indirect_thunk_rax"),
        (11, "other"),
        (16, "__SCT__x"),
        (21, "__fentry__"),
        (27, "pv_ops"),
        (46, "other"),
        (53, "__x86_indirect_thunk_rcx"),
        (58, "__x86_return_thunk"),
    ] {
        let symbol = m.extern_symbol(name);
        m.relocate(section, at + offset, symbol, elf::R_X86_64_PLT32, -4);
    }
    m.relocate(section, at + 39, constants, elf::R_X86_64_32S, 0);
    for case in 0..2u8 {
        let to = i64::from(case) + 43;
        m.relocate(table, u64::from(case) * 8, text, elf::R_X86_64_64, to);
    }
    m
}

#[test]
fn each_kind_of_call_and_jump() {
    let m = x86();
    let want = Counts {
        bytes: 63,
        indirect_calls: 2,
        indirect_jumps: 2,
        thunk_calls: 1,
        thunk_jumps: 1,
        table_jumps: 1,
        jump_tables: 1,
        direct_calls: 1,
        tail_calls: 1,
        static_calls: 1,
        boot_patched_calls: 1,
        undecoded: 0,
    };
    assert_eq!(m.counts("f"), want);
}

#[test]
fn pointers_to_functions_are_no_jump_table() {
    let mut m = Made::new(Architecture::X86_64);
    // jmp *array(,%rax,8), an array of functions: of another one, and of itself.
    let at = m.function("f", &[0xff, 0x24, 0xc5, 0, 0, 0, 0, 0x90]);
    let other = m.function("g", &[0xc3]);
    m.object.append_section_data(m.constants, &[0; 16], 8);
    let text = m.object.section_symbol(m.text);
    let constants = m.object.section_symbol(m.constants);
    let (section, table) = (m.text, m.constants);
    m.relocate(section, at + 3, constants, elf::R_X86_64_32S, 0);
    m.relocate(table, 0, text, elf::R_X86_64_64, other.cast_signed());
    m.relocate(table, 8, text, elf::R_X86_64_64, at.cast_signed());
    let counts = m.counts("f");
    assert_eq!((counts.indirect_jumps, counts.table_jumps, counts.jump_tables), (1, 0, 0));
}

#[test]
fn distances_from_a_table_are_one_too() {
    // As -fPIE has it: lea table(%rip), %rdx; movslq (%rdx,%rax,4), %rax; add %rdx, %rax; jmp *%rax
    let mut m = Made::new(Architecture::X86_64);
    let code = [
        0x48, 0x8d, 0x15, 0, 0, 0, 0, 0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0x90,
        0xc3,
    ];
    let at = m.function("f", &code);
    m.object.append_section_data(m.constants, &[0; 16], 8);
    let text = m.object.section_symbol(m.text);
    let constants = m.object.section_symbol(m.constants);
    let (section, table) = (m.text, m.constants);
    // The table is at 8.
    m.relocate(section, at + 3, constants, elf::R_X86_64_PC32, 8 - 4);
    m.relocate(table, 8, text, elf::R_X86_64_PC32, at.cast_signed() + 16);
    m.relocate(table, 12, text, elf::R_X86_64_PC32, at.cast_signed() + 17 + 4);
    let counts = m.counts("f");
    assert_eq!((counts.indirect_jumps, counts.table_jumps, counts.jump_tables), (1, 1, 1));
}

/// `adrp x1, data; add x1, x1, :lo12:data; ldrb w0, [x1, w0, uxtw]; adr x1, LABEL;
/// add x0, x1, w0, sxtb #2; br x0; LABEL: ret`
fn arm64(label: bool) -> Made {
    let mut m = Made::new(Architecture::Aarch64);
    let words: [u32; 7] = [
        0x9000_0001,
        0x9100_0021,
        0x3860_4820,
        if label { 0x1000_0061 } else { 0xd503_201f },
        0x8b20_8820,
        0xd61f_0000,
        0xd65f_03c0,
    ];
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let at = m.function("f", &code);
    m.object.append_section_data(m.constants, &[0; 16], 8);
    let constants = m.object.section_symbol(m.constants);
    let section = m.text;
    m.relocate(section, at, constants, elf::R_AARCH64_ADR_PREL_PG_HI21, 8);
    m.relocate(section, at + 4, constants, elf::R_AARCH64_ADD_ABS_LO12_NC, 8);
    m
}

#[test]
fn a_table_without_relocations_is_told_by_its_label() {
    for (label, tables) in [(true, 1), (false, 0)] {
        let counts = arm64(label).counts("f");
        let found = (counts.indirect_jumps, counts.table_jumps, counts.jump_tables);
        assert_eq!(found, (1, tables, tables));
        assert_eq!((counts.bytes, counts.undecoded), (28, 0));
    }
}

#[test]
fn names_that_are_no_function_and_names_of_one() {
    let mut m = Made::new(Architecture::X86_64);
    for name in ["__cfi_f", "__pfx_f", "f"] {
        m.function(name, &[0x90, 0xc3]);
    }
    let text = m.text;
    m.symbol("alias", SymbolSection::Section(text), (32, 2));
    let all = m.measure();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].names, ["alias", "f"]);
}

#[test]
fn a_jump_to_a_part_of_its_own_is_no_tail_call() {
    let mut m = Made::new(Architecture::X86_64);
    let at = m.function("f", &[0xe9, 0, 0, 0, 0]);
    let cold = m.function("f.cold", &[0xe9, 0, 0, 0, 0]);
    let text = m.object.section_symbol(m.text);
    let section = m.text;
    m.relocate(section, at + 1, text, elf::R_X86_64_PC32, cold.cast_signed() - 4);
    m.relocate(section, cold + 1, text, elf::R_X86_64_PC32, at.cast_signed() - 2);
    assert_eq!((m.counts("f").tail_calls, m.counts("f.cold").tail_calls), (0, 0));
}

#[test]
fn the_code_is_the_same_wherever_it_lies() {
    let code = |before: &[u8]| {
        let mut m = Made::new(Architecture::X86_64);
        m.function("first", before);
        // call g, which lies behind it; je to itself.
        m.function("f", &[0xe8, 0x0b, 0, 0, 0, 0x74, 0xfe, 0xc3]);
        m.function("g", &[0xc3]);
        m.measure().into_iter().find(|f| f.names == ["f"]).unwrap().code
    };
    assert_eq!(code(&[0x90]), code(&[0x90; 40]));
}

#[test]
fn bytes_that_are_no_instruction_are_told() {
    let mut m = Made::new(Architecture::X86_64);
    // Two bytes that 64-bit mode does not have, and a return.
    m.function("f", &[0x06, 0x07, 0xc3]);
    let counts = m.counts("f");
    assert_eq!((counts.undecoded, counts.bytes), (2, 3));
}

#[test]
fn what_is_no_object_is_refused() {
    let refused = |bytes: &[u8]| measure(bytes).unwrap_err();
    for bytes in [&b""[..], b"\x7fELF", b"int f(void) { return 1; }\n"] {
        assert_eq!(refused(bytes).kind(), crate::error::Kind::Usage);
    }
    assert!(refused(b"BC\xc0\xde").to_string().contains("LLVM bitcode"));
    let me = std::fs::read("/proc/self/exe").unwrap();
    assert!(refused(&me).to_string().contains("no relocatable ELF"));
    let foreign = Made::new(Architecture::Mips).object.write().unwrap();
    let e = refused(&foreign);
    assert_eq!(e.kind(), crate::error::Kind::Host);
    assert!(e.to_string().contains("Mips"), "{e}");
    let mut m = Made::new(Architecture::X86_64);
    m.function("f", &[0xc3]);
    let text = m.text;
    m.symbol("long", SymbolSection::Section(text), (0, u64::MAX));
    assert!(refused(&m.object.write().unwrap()).to_string().contains("outside of its section"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = measure(&bytes);
    }

    #[test]
    fn damaged_objects_are_read_or_refused(
        which in 0..2usize,
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let made = if which == 0 { x86() } else { arm64(true) };
        let mut bytes = made.object.write().unwrap();
        for (at, byte) in places {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = measure(&bytes);
    }

    /// Whatever the code is, it is counted whole, and no jump is counted twice.
    #[test]
    fn any_code_is_counted(
        code in prop::collection::vec(any::<u8>(), 1..120),
        architecture in prop::sample::select(vec![
            Architecture::X86_64, Architecture::I386, Architecture::Aarch64, Architecture::Arm,
            Architecture::Riscv64, Architecture::PowerPc64,
        ]),
    ) {
        let mut m = Made::new(architecture);
        m.function("f", &code);
        let counts = m.counts("f");
        prop_assert_eq!(counts.bytes, code.len() as u64);
        prop_assert!(counts.undecoded <= counts.bytes);
        let all = counts.indirect_calls + counts.indirect_jumps + counts.direct_calls
            + counts.tail_calls + counts.thunk_calls + counts.thunk_jumps;
        prop_assert!(all <= counts.bytes);
        prop_assert!(counts.table_jumps <= counts.indirect_jumps + counts.thunk_jumps);
    }
}
