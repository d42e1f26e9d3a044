//! Raw diffs on a tree in memory: read or refused. The input is the diff, a NUL,
//! and the content of the file `f`.
#![no_main]

use xtask::render::overlay::{Base, Overlay};
use xtask::render::source::Memory;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let at = input.iter().position(|&b| b == 0).unwrap_or(input.len());
    let mut memory = Memory::default();
    memory.files.insert("f".into(), input.get(at + 1..).unwrap_or_default().to_vec());
    let base = Base::new(&memory);
    let mut tree = Overlay::new(&base);
    let _ = xtask::render::diff::apply(&mut tree, &input[..at]);
});
