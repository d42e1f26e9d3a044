//! Any bytes from a guest's console: the scanner must not panic, and what it keeps
//! is bounded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::vm::splat::{Allow, Scanner};

fuzz_target!(|data: &[u8]| {
    let mut scanner = Scanner::new(Allow::built_in().unwrap_or_default());
    for line in String::from_utf8_lossy(data).lines() {
        scanner.line(line);
    }
    let (found, _) = scanner.finish();
    assert!(found.len() <= 100);
    assert!(found.iter().all(|s| s.text.len() <= 260));
});
