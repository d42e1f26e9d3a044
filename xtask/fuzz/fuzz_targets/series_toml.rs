//! `series.toml`: any text is read or refused with a position.
#![no_main]

use std::path::Path;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(e) = xtask::series::load::from_text(text, Path::new("/nonexistent"), "fuzz") {
        assert!(!e.asked().is_empty());
    }
});
