//! A scan after an edit finds what a whole scan finds, whatever the bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|texts: (Vec<u8>, Vec<u8>)| {
    let (old, new) = texts;
    let found = cscan::scan::scan(&old);
    assert_eq!(cscan::scan::rescan(&old, &found, &new), cscan::scan::scan(&new));
});
