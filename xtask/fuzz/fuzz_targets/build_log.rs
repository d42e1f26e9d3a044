//! Any build log is read without a panic, and a build has nothing new over itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::build::compare;
use xtask::build::diagnostics::classify::classify;
use xtask::build::diagnostics::located::Roots;
use xtask::build::diagnostics::parse::Parser;

fuzz_target!(|log: &str| {
    let mut parser = Parser::new(Roots { source: "/w/source".into(), objdir: "/w/obj".into() });
    for line in log.split_inclusive('\n') {
        parser.line(line);
    }
    let found = parser.finish();
    let _ = classify(&found);
    assert!(compare(&found, &found).clean());
});
