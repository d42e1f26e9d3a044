//! Any bytes as an object: read or refused without a panic, and no function is
//! counted to have more than its bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::inspect::measure;

fuzz_target!(|data: &[u8]| {
    let Ok(functions) = measure(data) else { return };
    for f in functions {
        let c = f.counts;
        assert!(c.bytes <= data.len() as u64 && c.undecoded <= c.bytes);
        assert!(c.indirect_calls + c.indirect_jumps + c.direct_calls <= c.bytes);
        assert!(c.table_jumps <= c.indirect_jumps + c.thunk_jumps);
    }
});
