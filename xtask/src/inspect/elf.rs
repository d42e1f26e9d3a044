//! Relocatable ELF objects: their functions, sections, and what relocations name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use object::{
    BinaryFormat, Object as _, ObjectKind, ObjectSection as _, ObjectSymbol as _, RelocationFlags,
    RelocationKind, RelocationTarget, SectionFlags, SymbolKind, elf,
};

use super::isa::Isa;
use crate::error::{Error, Result};

/// What a section has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Code,
    /// Data that is not written to once the kernel runs.
    Constant,
    Other,
}

/// A section.
#[derive(Debug)]
pub(super) struct Section<'d> {
    pub content: Content,
    pub bytes: Cow<'d, [u8]>,
    /// By offset.
    pub relocations: Vec<Relocation>,
    /// Where data begins (true) and ends (false) among the instructions, by offset.
    pub data_marks: Vec<(u64, bool)>,
}

impl Section<'_> {
    /// Those at `from` and behind it, before `to`.
    pub fn relocations(&self, from: u64, to: u64) -> &[Relocation] {
        let begin = self.relocations.partition_point(|r| r.offset < from);
        let end = self.relocations.partition_point(|r| r.offset < to);
        self.relocations.get(begin..end).unwrap_or_default()
    }
}

/// How a relocation is used, as far as that makes a difference here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// The address itself.
    Absolute,
    /// The distance from the place of the relocation.
    Relative,
    /// Through the global offset table.
    Got,
    /// RISC-V's pair of instructions for a far call.
    CallPair,
}

/// A relocation.
#[derive(Clone, Debug)]
pub(super) struct Relocation {
    pub offset: u64,
    /// The symbol's name; empty where it is a section.
    pub name: String,
    /// The section that has the symbol, and the place in it, addend included.
    pub place: Option<(usize, i64)>,
    pub link: Link,
}

/// A function: a range of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// Its names, the most public one first.
    pub names: Vec<String>,
    pub section: usize,
    pub start: u64,
    pub end: u64,
    /// Of Arm: its instructions are those of Thumb.
    pub thumb: bool,
}

/// An object that was read.
#[derive(Debug)]
pub(super) struct Unit<'d> {
    pub isa: Isa,
    pub sections: BTreeMap<usize, Section<'d>>,
    /// By section and start.
    pub functions: Vec<Function>,
}

/// Symbols that mark bytes in front of a function: hashes of its type, room for patches.
const NO_FUNCTIONS: [&str; 2] = ["__cfi_", "__pfx_"];

impl<'d> Unit<'d> {
    /// Reads an object.
    ///
    /// # Errors
    /// When it is none, or of a machine whose code cannot be read.
    pub fn read(bytes: &'d [u8]) -> Result<Unit<'d>> {
        if bytes.starts_with(b"BC\xc0\xde") {
            return Err(Error::usage("read an object")
                .found("it is LLVM bitcode: link-time optimisation is on, and makes the code later")
                .hint("leave it out with CONFIG_LTO_NONE=y"));
        }
        let damaged = |e: object::Error| Error::usage("read an object").found(e.to_string());
        let file = object::File::parse(bytes).map_err(damaged)?;
        if file.format() != BinaryFormat::Elf || file.kind() != ObjectKind::Relocatable {
            return Err(Error::usage("read an object")
                .found(format!("{:?} {:?}, no relocatable ELF", file.format(), file.kind()))
                .hint("name what a compiler makes of one source file"));
        }
        let big = file.endianness() == object::Endianness::Big;
        let isa = Isa::of(file.architecture(), big)?;
        let mut sections = BTreeMap::new();
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            if !sh_flags.contains(elf::SHF_ALLOC) {
                continue;
            }
            let name = section.name_bytes().unwrap_or_default();
            let content = if sh_flags.contains(elf::SHF_EXECINSTR) {
                Content::Code
            } else if !sh_flags.contains(elf::SHF_WRITE) || name.starts_with(b".data.rel.ro") {
                Content::Constant
            } else {
                Content::Other
            };
            let bytes = section.uncompressed_data().map_err(damaged)?;
            let relocations = relocations(&file, &section, isa, &bytes);
            let index = section.index().0;
            let data_marks = Vec::new();
            sections.insert(index, Section { content, bytes, relocations, data_marks });
        }
        let mut unit = Unit { isa, sections, functions: Vec::new() };
        unit.symbols(&file)?;
        Ok(unit)
    }

    fn symbols(&mut self, file: &object::File<'d>) -> Result<()> {
        // By place; what is more public, then the name, decides which name is first.
        let mut functions: BTreeMap<(usize, u64, u64), Vec<(u8, String)>> = BTreeMap::new();
        for symbol in file.symbols() {
            let Some(index) = symbol.section_index().map(|i| i.0) else { continue };
            let Some(section) = self.sections.get_mut(&index) else { continue };
            if section.content != Content::Code {
                continue;
            }
            let name =
                String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned();
            let mark = |letter: &str| {
                name.strip_prefix(letter)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if mark("$d") || mark("$x") || mark("$a") || mark("$t") {
                section.data_marks.push((symbol.address(), mark("$d")));
                continue;
            }
            let kind =
                matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown | SymbolKind::Label);
            let is_function =
                kind && symbol.size() > 0 && !NO_FUNCTIONS.iter().any(|p| name.starts_with(p));
            if !is_function || name.is_empty() {
                continue;
            }
            let outside = || {
                Error::usage("read an object").found(format!("{name} lies outside of its section"))
            };
            let end = symbol.address().checked_add(symbol.size()).ok_or_else(outside)?;
            if end > (section.bytes.len() as u64).saturating_add(1) {
                return Err(outside());
            }
            let rank = if symbol.is_local() { 2 } else { u8::from(symbol.is_weak()) };
            functions.entry((index, symbol.address(), end)).or_default().push((rank, name));
        }
        for section in self.sections.values_mut() {
            section.data_marks.sort_unstable();
        }
        for ((section, start, end), mut names) in functions {
            names.sort();
            let names = names.into_iter().map(|(_, name)| name).collect();
            let thumb = self.isa == Isa::Arm && start & 1 == 1;
            let odd = u64::from(thumb);
            self.functions.push(Function {
                names,
                section,
                start: start - odd,
                end: end - odd,
                thumb,
            });
        }
        let size = |u: &Unit<'_>, f: &Function| {
            u.sections.get(&f.section).map_or(0, |s| s.bytes.len() as u64)
        };
        if let Some(f) = self.functions.iter().find(|f| f.end > size(self, f)) {
            let name = f.names.first().map_or("", String::as_str);
            return Err(
                Error::usage("read an object").found(format!("{name} lies outside of its section"))
            );
        }
        Ok(())
    }

    /// The function that begins at, or has, a place.
    pub fn function_at(&self, section: usize, at: i64) -> Option<&Function> {
        let at = u64::try_from(at).ok()?;
        let behind = self.functions.partition_point(|f| (f.section, f.start) <= (section, at));
        let before = self.functions.get(..behind).unwrap_or_default();
        before.last().filter(|f| f.section == section && at < f.end)
    }
}

fn relocations<'d>(
    file: &object::File<'d>,
    section: &object::Section<'d, '_>,
    isa: Isa,
    bytes: &[u8],
) -> Vec<Relocation> {
    let mut out = Vec::new();
    for (offset, relocation) in section.relocations() {
        let RelocationTarget::Symbol(index) = relocation.target() else { continue };
        let Ok(symbol) = file.symbol_by_index(index) else { continue };
        let mut addend = relocation.addend();
        if relocation.has_implicit_addend() {
            addend = addend.wrapping_add(implicit(bytes, offset));
        }
        let address = symbol.address().cast_signed();
        let place = symbol.section_index().map(|s| (s.0, address.wrapping_add(addend)));
        let name = match symbol.kind() {
            SymbolKind::Section => String::new(),
            _ => String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default()).into_owned(),
        };
        out.push(Relocation {
            offset,
            name,
            place,
            link: link(relocation.kind(), relocation.flags(), isa),
        });
    }
    out.sort_by_key(|r| r.offset);
    out
}

/// The word at a place: what a relocation without an addend of its own adds.
fn implicit(bytes: &[u8], offset: u64) -> i64 {
    let at = usize::try_from(offset).ok();
    let word = at.and_then(|at| bytes.get(at..)?.first_chunk::<4>());
    word.map_or(0, |w| i64::from(i32::from_le_bytes(*w)))
}

fn link(kind: RelocationKind, flags: RelocationFlags, isa: Isa) -> Link {
    let RelocationFlags::Elf { r_type } = flags else { return Link::Absolute };
    match (isa, r_type) {
        (Isa::X86 { bits64: true }, elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX) => {
            Link::Got
        }
        (Isa::Riscv { .. }, elf::R_RISCV_CALL | elf::R_RISCV_CALL_PLT) => Link::CallPair,
        // Half the distance, but the addend is whole.
        (Isa::S390, elf::R_390_PC32DBL | elf::R_390_PLT32DBL) => Link::Relative,
        _ => match kind {
            RelocationKind::Relative | RelocationKind::PltRelative => Link::Relative,
            RelocationKind::GotRelative => Link::Got,
            _ => Link::Absolute,
        },
    }
}
