//! Headers, addresses, dates and trailers; and that a name which was written can
//! be read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::mail::{Date, Person, address, encoded_word, fixes, headers, mime};
use xtask::recipients;

fuzz_target!(|data: &[u8]| {
    let _ = mime::split(data);
    let value = encoded_word::decode(data);
    let _ = address::from_header(&value);
    let _ = Date::parse(&value);
    let _ = Person::parse(&value);
    let _ = fixes::faults(&value);
    if let Ok(trailers) = recipients::trailer::of(&value) {
        for trailer in trailers {
            let _ = recipients::address::parse(&trailer.value);
        }
    }
    let mut line = Vec::new();
    headers::subject(&mut line, "[PATCH] ", data);
    // A control character or a fold of blanks does not come back as it was.
    let plain = std::str::from_utf8(data).is_ok_and(|t| {
        !t.is_empty() && !t.contains(|c: char| c.is_control() || c.is_whitespace())
    });
    if plain {
        let (headers, _) = mime::split(&line);
        let back = headers.first().map(|(_, v)| encoded_word::decode(v)).unwrap_or_default();
        assert_eq!(back.trim_start_matches("[PATCH] ").as_bytes(), data);
    }
});
