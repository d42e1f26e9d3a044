//! Instructions of a function, one after the other.

use capstone::Capstone;

use super::elf::{Function, Section};
use super::flow::{self, Flow};
use super::isa::Isa;
use crate::error::{Error, Result};

/// One instruction.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    /// Its place in the section.
    pub start: u64,
    /// The next one's.
    pub end: u64,
    pub flow: Flow,
    /// A place in the code that it computes: arm64's `adr`.
    pub code_address: Option<u64>,
    /// As the disassembler writes it.
    pub text: String,
}

/// The instructions of a function, and how many of its bytes are none.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub instructions: Vec<Instruction>,
    pub undecoded: u64,
}

/// Disassembles the functions of one object.
pub(super) struct Decoder {
    isa: Isa,
    plain: Capstone,
    thumb: Option<Capstone>,
}

impl Decoder {
    /// For an instruction set.
    pub fn new(isa: Isa) -> Result<Decoder> {
        let thumb = (isa == Isa::Arm).then(|| isa.capstone(true)).transpose()?;
        Ok(Decoder { isa, plain: isa.capstone(false)?, thumb })
    }

    /// The instructions of `function` in its section.
    pub fn decode(&self, section: &Section<'_>, function: &Function) -> Result<Decoded> {
        let capstone = match &self.thumb {
            Some(thumb) if function.thumb => thumb,
            _ => &self.plain,
        };
        let mut out = Decoded::default();
        let mut at = function.start;
        for (end, is_data) in stretches(section, function) {
            if !is_data {
                self.stretch(capstone, section, (at, end), function.thumb, &mut out)?;
            }
            at = end;
        }
        Ok(out)
    }

    fn stretch(
        &self,
        capstone: &Capstone,
        section: &Section<'_>,
        (mut at, end): (u64, u64),
        thumb: bool,
        out: &mut Decoded,
    ) -> Result<()> {
        while at < end {
            let code = bytes(section, at, end);
            if code.is_empty() {
                break;
            }
            let failed = |e: capstone::Error| Error::host("disassemble").found(e.to_string());
            let mut instructions = capstone.disasm_iter(code, at).map_err(failed)?;
            while let Some(i) = instructions.next() {
                let (mnemonic, operands) =
                    (i.mnemonic().unwrap_or_default(), i.op_str().unwrap_or_default());
                let adr = self.isa == Isa::Arm64 && mnemonic == "adr";
                let next = at.saturating_add(i.len() as u64);
                out.instructions.push(Instruction {
                    start: at,
                    end: next,
                    flow: flow::of(self.isa, mnemonic, operands),
                    code_address: if adr { flow::address(operands) } else { None },
                    text: format!("{mnemonic} {operands}"),
                });
                at = next;
            }
            if at < end {
                // It stands before something that it does not know.
                let step = self.isa.step(bytes(section, at, end), thumb) as u64;
                let next = at.saturating_add(step).min(end);
                out.undecoded += next - at;
                at = next;
            }
        }
        Ok(())
    }
}

fn bytes<'s>(section: &'s Section<'_>, from: u64, to: u64) -> &'s [u8] {
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    range.and_then(|(from, to)| section.bytes.get(from..to)).unwrap_or_default()
}

/// Where the stretches of code and of data in a function end, in order; whether data.
fn stretches(section: &Section<'_>, function: &Function) -> Vec<(u64, bool)> {
    let marks = &section.data_marks;
    let begin = marks.partition_point(|(at, _)| *at <= function.start);
    let mut is_data = begin.checked_sub(1).and_then(|i| marks.get(i)).is_some_and(|m| m.1);
    let mut out = Vec::new();
    for (at, data) in marks.get(begin..).unwrap_or_default() {
        if *at >= function.end {
            break;
        }
        if *data != is_data {
            out.push((*at, is_data));
            is_data = *data;
        }
    }
    out.push((function.end, is_data));
    out
}
