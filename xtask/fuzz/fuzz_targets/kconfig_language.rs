//! Any Kconfig file and expression is read without a panic, and an expression that is
//! written as it was read means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xtask::build::kconfig::dotconfig::DotConfig;
use xtask::build::kconfig::expr::Expr;
use xtask::build::kconfig::lang;

fuzz_target!(|text: &str| {
    let _ = lang::parse(text);
    let config = DotConfig::parse(text);
    if let Some(expr) = text.lines().next().and_then(Expr::parse) {
        let shown = expr.to_string();
        let again = Expr::parse(&shown).expect("what is shown can be read");
        assert_eq!(again.eval(&config), expr.eval(&config), "{shown}");
    }
});
