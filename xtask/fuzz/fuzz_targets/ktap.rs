//! Any bytes from a guest's result port: the reader must not panic, must not
//! depend on how the bytes come in pieces, and what it writes must say what it judged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::vm::ktap::{Parser, parse};

fuzz_target!(|data: &[u8]| {
    let whole = parse(data);
    let mut parser = Parser::default();
    for piece in data.chunks(7) {
        parser.push(piece, |_| {});
    }
    assert_eq!(parser.finish(), whole);
    let written = whole.to_ktap();
    assert_eq!(parse(written.as_bytes()).overall(), whole.overall(), "{written}");
});
