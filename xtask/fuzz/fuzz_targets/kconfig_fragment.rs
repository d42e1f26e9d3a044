//! Any fragment is read or refused without a panic, and what is read keeps its symbol
//! and value when it is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::build::kconfig::fragment::{Kernel, Release, parse};
use xtask::build::kconfig::merge::merge;
use xtask::build::kconfig::tree::Symbols;

fuzz_target!(|text: &str| {
    let Ok(lines) = parse("f", text) else { return };
    let kernel = Kernel { release: Release { major: 6, minor: 12 }, arch: "x86_64" };
    let request = merge(&lines, &kernel, &Symbols::default());
    let again = parse("g", &request.to_config()).expect("what is written can be read");
    let again = merge(&again, &kernel, &Symbols::default());
    assert_eq!(request.to_config(), again.to_config());
});
