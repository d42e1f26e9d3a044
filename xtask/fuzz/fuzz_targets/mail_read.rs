//! A whole mail, with both ways to read it, down to its patch.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::mail::apply::patches;
use xtask::mail::mailinfo::{self, Options};

fuzz_target!(|mail: &[u8]| {
    for (keep_cr, keep_non_patch) in [(false, false), (true, true)] {
        let Ok(received) = mailinfo::parse(mail, Options { keep_cr, keep_non_patch }) else {
            continue;
        };
        // What am would commit is cleaned up once and for all.
        let message = received.message();
        assert_eq!(mailinfo::stripspace(&message), message);
        let _ = patches(&received.patch);
    }
});
