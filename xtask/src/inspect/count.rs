//! Counts a function's instructions by where control goes.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::counts::Counts;
use super::decode::{Decoder, Instruction};
use super::elf::{Function, Link, Relocation, Section, Unit};
use super::flow::{Flow, Way};
use super::matching::stem;
use super::table::{Place, Tables, reached};
use crate::error::Result;

/// A function of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Its names, the most public one first.
    pub names: Vec<String>,
    /// Its figures.
    pub counts: Counts,
    /// A hash over its instructions and what they name, wherever they lie.
    pub code: u64,
}

/// The functions of an object, by their place in it.
///
/// # Errors
/// When it is no relocatable ELF object, is damaged, or is of a machine whose code
/// cannot be read.
pub fn measure(object: &[u8]) -> Result<Vec<Measured>> {
    let unit = Unit::read(object)?;
    let decoder = Decoder::new(unit.isa)?;
    let mut by_stem: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
    for function in &unit.functions {
        for name in &function.names {
            by_stem.entry(stem(name)).or_default().push(function);
        }
    }
    let mut all = Vec::new();
    for function in &unit.functions {
        let Some(section) = unit.sections.get(&function.section) else { continue };
        // What is in a trampoline is patched, and each has its bytes.
        if function.names.first().is_some_and(|n| role(n) == Role::StaticCall) {
            continue;
        }
        let decoded = decoder.decode(section, function)?;
        let same = function.names.iter().filter_map(|n| by_stem.get(stem(n))).flatten();
        let own: Vec<&Function> = std::iter::once(function).chain(same.copied()).collect();
        let tables = Tables::new(&unit, function, own, &decoded.instructions);
        let mut counter = Counter {
            unit: &unit,
            section,
            function,
            instructions: &decoded.instructions,
            seen: tables.proven(),
            tables,
            counts: Counts::default(),
            hash: DefaultHasher::new(),
        };
        counter.run();
        let mut counts = counter.counts;
        counts.bytes = function.end - function.start;
        counts.undecoded = decoded.undecoded;
        counts.jump_tables = counter.seen.len() as u64;
        all.push(Measured { names: function.names.clone(), counts, code: counter.hash.finish() });
    }
    Ok(all)
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Plain,
    /// Makes an indirect call or jump.
    Thunk,
    /// Makes a return.
    ReturnThunk,
    StaticCall,
    /// A call that is there for tracing, and mostly patched out.
    Tracing,
}

fn role(name: &str) -> Role {
    if name.starts_with("__x86_indirect_") || name == "__llvm_retpoline_r11" {
        return Role::Thunk;
    }
    if let Some(register) = name.strip_prefix("__s390_indirect_jump_") {
        let link = register == "r14" || register.starts_with("r14use");
        return if link { Role::ReturnThunk } else { Role::Thunk };
    }
    if name.starts_with("__x86_return_") {
        return Role::ReturnThunk;
    }
    if name.starts_with("__SCT__") {
        return Role::StaticCall;
    }
    match name {
        "__fentry__" | "_mcount" | "mcount" | "__gnu_mcount_nc" => Role::Tracing,
        _ => Role::Plain,
    }
}

/// Where a direct call or jump goes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// Into the function itself, at this offset, or one of its parts.
    Own(i64),
    /// To something with a name.
    Name(String),
    Unknown,
}

struct Counter<'u> {
    unit: &'u Unit<'u>,
    section: &'u Section<'u>,
    function: &'u Function,
    instructions: &'u [Instruction],
    tables: Tables<'u>,
    seen: BTreeSet<Place>,
    counts: Counts,
    hash: DefaultHasher,
}

impl<'u> Counter<'u> {
    fn run(&mut self) {
        for (i, instruction) in self.instructions.iter().enumerate() {
            let relocations = self.section.relocations(instruction.start, instruction.end);
            self.digest(instruction, relocations);
            match instruction.flow {
                Flow::Call(way) => self.call(i, instruction, way, relocations),
                Flow::Jump(way) => self.jump(i, instruction, way, relocations),
                Flow::Branch(to) => {
                    let target = self.target(instruction, relocations, to);
                    self.leave(&target);
                }
                Flow::Next | Flow::Return => {}
            }
        }
    }

    fn call(&mut self, i: usize, instruction: &Instruction, way: Way, relocations: &[Relocation]) {
        let target = match way {
            Way::Direct(to) => self.target(instruction, relocations, to),
            _ => match self.linked(i, instruction, relocations) {
                Some(target) => target,
                None if relocations.iter().any(|r| r.name == "pv_ops") => {
                    self.counts.boot_patched_calls += 1;
                    return;
                }
                None => {
                    self.counts.indirect_calls += 1;
                    return;
                }
            },
        };
        match &target {
            Target::Name(name) => match role(name) {
                Role::Thunk => self.counts.thunk_calls += 1,
                Role::StaticCall => self.counts.static_calls += 1,
                Role::Tracing => {}
                Role::Plain | Role::ReturnThunk => self.counts.direct_calls += 1,
            },
            Target::Own(_) | Target::Unknown => self.counts.direct_calls += 1,
        }
    }

    fn jump(&mut self, i: usize, instruction: &Instruction, way: Way, relocations: &[Relocation]) {
        let target = match way {
            Way::Direct(to) => Some(self.target(instruction, relocations, to)),
            _ => self.linked(i, instruction, relocations),
        };
        match target {
            Some(Target::Name(name)) if role(&name) == Role::Thunk => {
                self.counts.thunk_jumps += 1;
                self.through_table(i, Way::Register);
            }
            Some(target) => self.leave(&target),
            None => {
                self.counts.indirect_jumps += 1;
                self.through_table(i, way);
            }
        }
    }

    fn through_table(&mut self, i: usize, way: Way) {
        if let Some(table) = self.tables.of_jump(i, way) {
            self.counts.table_jumps += 1;
            self.seen.insert(table);
        }
    }

    /// A direct jump, conditional or not: it may be a tail call.
    fn leave(&mut self, target: &Target) {
        let Target::Name(name) = target else { return };
        match role(name) {
            Role::StaticCall => self.counts.static_calls += 1,
            Role::Thunk => self.counts.thunk_jumps += 1,
            Role::Plain => self.counts.tail_calls += 1,
            Role::ReturnThunk | Role::Tracing => {}
        }
    }

    /// The target of what only looks indirect: the linker makes it direct.
    fn linked(
        &self,
        i: usize,
        instruction: &Instruction,
        relocations: &[Relocation],
    ) -> Option<Target> {
        if relocations.iter().any(|r| r.link == Link::Got) {
            return Some(self.target(instruction, relocations, None));
        }
        let before = self.instructions.get(i.checked_sub(1)?)?;
        let pair = self.section.relocations(before.start, before.end);
        let pair: Vec<Relocation> =
            pair.iter().filter(|r| r.link == Link::CallPair).cloned().collect();
        (!pair.is_empty()).then(|| self.target(before, &pair, None))
    }

    fn target(&self, i: &Instruction, relocations: &[Relocation], to: Option<u64>) -> Target {
        for r in relocations {
            let place = reached(self.unit.isa, r, i.start, i.end);
            if let Some((section, at)) = place {
                match self.place(section, at) {
                    Target::Unknown if !r.name.is_empty() => return Target::Name(r.name.clone()),
                    Target::Unknown => {}
                    known => return known,
                }
            } else if !r.name.is_empty() {
                return Target::Name(r.name.clone());
            }
        }
        to.map_or(Target::Unknown, |to| self.place(self.function.section, to.cast_signed()))
    }

    fn place(&self, section: usize, at: i64) -> Target {
        if u64::try_from(at).is_ok_and(|at| self.tables.is_own(section, at)) {
            return Target::Own(at.wrapping_sub(self.function.start.cast_signed()));
        }
        match self.unit.function_at(section, at) {
            Some(f) => Target::Name(f.names.first().cloned().unwrap_or_default()),
            None => Target::Unknown,
        }
    }

    fn digest(&mut self, i: &Instruction, relocations: &[Relocation]) {
        let to = match i.flow {
            Flow::Call(Way::Direct(to)) | Flow::Jump(Way::Direct(to)) | Flow::Branch(to) => to,
            _ => i.code_address,
        };
        if to.is_none() && relocations.is_empty() {
            i.text.hash(&mut self.hash);
            return;
        }
        // Places are others when something else in the section is longer or shorter.
        let text = if to.is_some() { without_address(&i.text) } else { &i.text };
        text.hash(&mut self.hash);
        match self.target(i, relocations, to) {
            Target::Own(at) => at.hash(&mut self.hash),
            Target::Name(name) => name.hash(&mut self.hash),
            Target::Unknown => {}
        }
    }
}

/// All but the last operand.
fn without_address(text: &str) -> &str {
    let end = text.rfind(',').or_else(|| text.find(' ')).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}
