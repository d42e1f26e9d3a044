//! Records of places: any text is read or refused, and what is read is written so that it reads
//! back.
#![no_main]

use xtask::series::places::Places;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(places) = Places::parse(text) {
        let again = Places::parse(&places.text());
        assert!(again.is_ok_and(|again| again == places), "{text:?}");
    }
});
