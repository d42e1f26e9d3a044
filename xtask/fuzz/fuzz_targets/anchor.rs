//! Text anchors: places lie in the file, do not overlap, and match again.
//! The input is the anchor, a NUL, and the file.
#![no_main]

use cscan::anchor::Anchor;
use cscan::lex::Language;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some(at) = input.iter().position(|&b| b == 0) else { return };
    let Ok(text) = std::str::from_utf8(&input[..at]) else { return };
    let src = &input[at + 1..];
    for language in [Language::C, Language::Plain] {
        let Some(anchor) = Anchor::new(text, language) else { continue };
        let mut end = 0;
        for place in anchor.find(src, 0..src.len()) {
            assert!(end <= place.start && place.start < place.end && place.end <= src.len());
            end = place.end;
        }
        let _ = anchor.likeness(src, 0..src.len());
    }
});
