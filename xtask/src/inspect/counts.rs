//! What is counted of a function's machine code.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Figures of one function, or the sum of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Bytes, as the symbol says.
    pub bytes: u64,
    /// Calls through a register or memory.
    pub indirect_calls: u64,
    /// Jumps through a register or memory: tail calls, and those through tables.
    pub indirect_jumps: u64,
    /// Calls of a thunk that makes them indirect: retpolines, expolines.
    pub thunk_calls: u64,
    /// Jumps to such a thunk.
    pub thunk_jumps: u64,
    /// Those of both kinds of jumps that go through a jump table.
    pub table_jumps: u64,
    /// Jump tables.
    pub jump_tables: u64,
    /// Calls of a function by its name.
    pub direct_calls: u64,
    /// Jumps to another function by its name.
    pub tail_calls: u64,
    /// Calls of, and jumps to, the trampoline of a static call.
    pub static_calls: u64,
    /// Indirect calls that are made direct at boot: paravirt operations.
    pub boot_patched_calls: u64,
    /// Bytes that are no instruction known to the disassembler.
    pub undecoded: u64,
}

impl Counts {
    /// Name and value of each figure, in the order of the fields.
    #[must_use]
    pub fn each(&self) -> [(&'static str, u64); 12] {
        [
            ("bytes", self.bytes),
            ("indirect calls", self.indirect_calls),
            ("indirect jumps", self.indirect_jumps),
            ("thunk calls", self.thunk_calls),
            ("thunk jumps", self.thunk_jumps),
            ("table jumps", self.table_jumps),
            ("jump tables", self.jump_tables),
            ("direct calls", self.direct_calls),
            ("tail calls", self.tail_calls),
            ("static calls", self.static_calls),
            ("boot-patched calls", self.boot_patched_calls),
            ("undecoded bytes", self.undecoded),
        ]
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.bytes += other.bytes;
        self.indirect_calls += other.indirect_calls;
        self.indirect_jumps += other.indirect_jumps;
        self.thunk_calls += other.thunk_calls;
        self.thunk_jumps += other.thunk_jumps;
        self.table_jumps += other.table_jumps;
        self.jump_tables += other.jump_tables;
        self.direct_calls += other.direct_calls;
        self.tail_calls += other.tail_calls;
        self.static_calls += other.static_calls;
        self.boot_patched_calls += other.boot_patched_calls;
        self.undecoded += other.undecoded;
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(all: I) -> Counts {
        let mut sum = Counts::default();
        all.for_each(|c| sum += c);
        sum
    }
}
