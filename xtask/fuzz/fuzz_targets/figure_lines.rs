//! Figures in the lines of tests and benchmarks: any text is read, and what is read of a line
//! stands in it.
#![no_main]

use xtask::report::lines;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = lines::figures(text.lines());
    for line in text.lines() {
        if let Some((label, number, unit)) = lines::figure(line) {
            assert!(!label.is_empty() && !label.contains(':'));
            assert!(number.parse::<f64>().is_ok());
            assert!([label, number, unit].iter().all(|part| line.contains(part)));
        }
    }
});
