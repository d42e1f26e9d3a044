//! The machine code of relocatable kernel objects, by function: size, calls and
//! jumps by kind, jump tables; and how the code before a series differs from the
//! code with it.
//!
//! Objects are read as ELF and disassembled, and what an instruction reaches is
//! taken from its relocations: a retpoline is a direct call of a thunk, a static call
//! one of a trampoline, and a jump goes through a table when relocations show one.

mod compare;
mod count;
mod counts;
mod decode;
mod elf;
mod flow;
mod isa;
mod kbuild;
mod matching;
mod objects;
mod run;
mod table;
#[cfg(test)]
mod tests;

pub use compare::{Function, Kind, Object, Totals, Why};
pub use count::{Measured, measure};
pub use counts::Counts;
pub use objects::{Chosen, Side, Sources, Wanted};
pub use run::{Fragment, LeftOut, Run};
