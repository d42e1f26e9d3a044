//! Jump tables, and which jumps go through one.
//!
//! A table of addresses or distances that relocations fill in is proved by where
//! they point: into the inside of the function that refers to it, where nobody but a
//! jump goes. Where the assembler could fill it in (arm64: distances from a label), the
//! function adds what it reads from constant data to the address of a label of its own.

use std::collections::BTreeSet;

use super::decode::Instruction;
use super::elf::{Content, Function, Link, Relocation, Unit};
use super::flow::{Flow, Way};
use super::isa::Isa;

/// How far before a jump what it goes by is looked for.
const REACH: usize = 32;
/// How far behind an address its table may begin: one whose first cases are none.
const AHEAD: u64 = 64;

/// A place: section and offset.
pub(super) type Place = (usize, u64);

/// The function that is looked at.
pub(super) struct Tables<'u> {
    unit: &'u Unit<'u>,
    function: &'u Function,
    /// Its ranges: parts that were split off are its own.
    own: Vec<&'u Function>,
    instructions: &'u [Instruction],
    /// What of constant data each instruction refers to.
    constants: Vec<Option<Place>>,
}

impl<'u> Tables<'u> {
    pub fn new(
        unit: &'u Unit<'u>,
        function: &'u Function,
        own: Vec<&'u Function>,
        instructions: &'u [Instruction],
    ) -> Tables<'u> {
        let section = unit.sections.get(&function.section);
        let constant = |i: &Instruction| {
            let relocations = section.map_or(&[][..], |s| s.relocations(i.start, i.end));
            relocations.iter().find_map(|r| {
                let (section, at) = reached(unit.isa, r, i.start, i.end)?;
                let constant = unit.sections.get(&section)?.content == Content::Constant;
                constant.then_some((section, u64::try_from(at).ok()?))
            })
        };
        let constants = instructions.iter().map(constant).collect();
        Tables { unit, function, own, instructions, constants }
    }

    /// Whether a place is in the function, its parts included.
    pub fn is_own(&self, section: usize, at: u64) -> bool {
        self.own.iter().any(|f| f.section == section && (f.start..f.end).contains(&at))
    }

    /// The tables that relocations prove.
    pub fn proven(&self) -> BTreeSet<Place> {
        self.constants.iter().flatten().filter_map(|place| self.table(*place)).collect()
    }

    /// The table that constant data at a place has.
    fn table(&self, (section, at): Place) -> Option<Place> {
        let data = self.unit.sections.get(&section)?;
        let inside = |r: &&Relocation| {
            let Some((of, mut to)) = r.place else { return false };
            if r.link == Link::Relative {
                // The distance is from the table, and the addend makes up for that.
                to = to.wrapping_sub(r.offset.wrapping_sub(at).cast_signed());
            }
            let entry = (of, to) == (self.function.section, self.function.start.cast_signed());
            !entry && u64::try_from(to).is_ok_and(|to| self.is_own(of, to))
        };
        let near = data.relocations(at, at.saturating_add(AHEAD));
        near.iter().find(inside).map(|r| (section, r.offset))
    }

    /// The table that the jump at number `i` goes through.
    pub fn of_jump(&self, i: usize, way: Way) -> Option<Place> {
        let jump = self.instructions.get(i)?;
        if way == Way::Table {
            return Some((self.function.section, jump.start));
        }
        if way == Way::Memory
            && let Some(place) = self.constants.get(i).copied().flatten()
        {
            return self.table(place);
        }
        let first = i.saturating_sub(REACH);
        let before = self.instructions.get(first..i).unwrap_or_default();
        let constants = self.constants.get(first..i).unwrap_or_default();
        let (mut label, mut data) = (false, None);
        for (instruction, constant) in before.iter().zip(constants).rev() {
            // What stands before does not run into this.
            if matches!(instruction.flow, Flow::Jump(_) | Flow::Return) {
                break;
            }
            if let Some(place) = constant {
                if let Some(table) = self.table(*place) {
                    return Some(table);
                }
                data = data.or(Some(*place));
            }
            let address = instruction.code_address;
            label |= address.is_some_and(|at| self.is_own(self.function.section, at));
        }
        if !label {
            return None;
        }
        // The address of the data may have been moved out of a loop.
        let earlier = || self.constants.get(..first)?.iter().rev().copied().flatten().next();
        data.or_else(earlier)
    }
}

/// The place that an instruction reaches by a relocation.
pub(super) fn reached(isa: Isa, r: &Relocation, start: u64, end: u64) -> Option<(usize, i64)> {
    let (section, at) = r.place?;
    // The addend makes up for the distance between the field and what the processor
    // counts from: the next instruction on x86, this one on s390.
    let correction = match (isa, r.link) {
        (Isa::X86 { .. }, Link::Relative | Link::Got) => end.wrapping_sub(r.offset).cast_signed(),
        (Isa::S390, Link::Relative) => start.wrapping_sub(r.offset).cast_signed(),
        _ => 0,
    };
    Some((section, at.wrapping_add(correction)))
}
