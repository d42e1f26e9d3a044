//! A patch, applied to a content: first what is before a form feed, then what is
//! behind it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::mail::apply::patches;

fuzz_target!(|data: &[u8]| {
    let at = data.iter().position(|&c| c == 0x0c).unwrap_or(data.len());
    let (old, patch) = data.split_at(at);
    for file in patches(patch).into_iter().flatten() {
        let _ = file.apply_to(old);
    }
});
