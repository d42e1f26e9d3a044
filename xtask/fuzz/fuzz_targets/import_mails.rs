//! A file of mails, down to the series in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::import::letter::Letter;
use xtask::import::{Incoming, b4, cover, escape, mails, mbox, place, quilt};
use xtask::mail::apply::{Payload, patches};

fuzz_target!(|text: &[u8]| {
    let letters: Vec<Letter> =
        mbox::split(text).iter().filter_map(|m| Letter::read(m, "m".into()).ok()).collect();
    for letter in &letters {
        let _ = letter.check_structure();
        let _ = cover::parse(&letter.text());
        let _ = escape::escape(&letter.text());
        for file in patches(&letter.received.patch).unwrap_or_default() {
            if let Payload::Hunks(hunks) = &file.payload {
                let _ = place::apply(text, hunks);
            }
        }
    }
    let _ = b4::take(&String::from_utf8_lossy(text), &mut Incoming::default());
    for strip in [0, 1] {
        if let Ok(patch) = quilt::patch(text, "x.patch", strip, None) {
            assert!(!patch.subject().is_empty());
        }
    }
    if let Ok(incoming) = mails::incoming(letters, None) {
        assert!(!incoming.patches.is_empty());
        assert!(incoming.patches.iter().all(|p| !p.subject().is_empty()));
    }
});
