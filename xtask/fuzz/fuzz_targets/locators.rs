//! Every kind of locator with every part, on any bytes: places lie in the file,
//! and whole-line places begin at a line. The input is a value, a NUL, the file.
#![no_main]

use xtask::render::file_text::FileText;
use xtask::render::locate::{Captured, Finder};
use xtask::series::locator::{Kind, Locator, Place};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some(at) = input.iter().position(|&b| b == 0) else { return };
    let Ok(value) = std::str::from_utf8(&input[..at]) else { return };
    let src = &input[at + 1..];
    for path in ["a.c", "Kconfig", "a.rst"] {
        let file = FileText::new(path, src.to_vec());
        let captured = Captured::from([("a".to_owned(), 0..src.len())]);
        let finder = Finder { file: &file, captured: &captured, candidates: true };
        for kind in Kind::ALL {
            for part in std::iter::once(None).chain(kind.parts().iter().copied().map(Some)) {
                let place = Place {
                    steps: vec![(kind, value.to_owned())],
                    part,
                    has: Vec::new(),
                    has_not: Vec::new(),
                    nth: None,
                    or_text: None,
                };
                for spot in finder.find(&[], &Locator::Place(place), true).unwrap_or_default() {
                    assert!(spot.fits(src), "{kind:?} {part:?} {spot:?}");
                }
            }
        }
    }
});
