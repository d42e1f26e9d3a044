//! The scan of a C file: any bytes are taken, and items lie in the file.
//! `cargo +nightly fuzz run scan` in xtask/.
#![no_main]

libfuzzer_sys::fuzz_target!(|src: &[u8]| {
    let scan = cscan::scan::scan(src);
    for item in &scan.items {
        assert!(item.span.start <= item.span.end && item.span.end <= src.len());
        if let Some(body) = &item.body {
            assert!(item.span.start <= body.start && body.end <= item.span.end);
        }
        for name in &item.names {
            assert!(name.end <= src.len());
        }
    }
    for branch in &scan.branches {
        assert!(branch.group.start <= branch.body.start && branch.body.end <= src.len());
    }
});
