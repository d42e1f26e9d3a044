//! Fragments merged into one request: later lines win, and where two that
//! count disagree, that is said.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::build::kconfig::fragment::{Kernel, Line};
use crate::build::kconfig::tree::Symbols;
use crate::build::kconfig::{Place, Value};

/// What is asked for one symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The value.
    pub value: Value,
    /// The line that asks it.
    pub by: Place,
    /// Why it may be dropped.
    pub optional: Option<String>,
}

/// All that is asked of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// By symbol.
    pub asked: BTreeMap<String, Asked>,
    /// Lines that a later line overruled, in words.
    pub overruled: Vec<String>,
}

/// Merges `lines`, which come in order of precedence, for one kernel.
#[must_use]
pub fn merge(lines: &[Line], kernel: &Kernel<'_>, tree: &Symbols) -> Request {
    let mut request = Request::default();
    for line in lines {
        let counts = line.scope.holds(kernel)
            && (line.scope.where_defined.is_none() || tree.has(&line.symbol));
        if !counts {
            continue;
        }
        let asked = Asked {
            value: line.value.clone(),
            by: line.place.clone(),
            optional: line.optional.clone(),
        };
        match request.asked.get(&line.symbol) {
            // A wish does not overrule a must.
            Some(old) if old.optional.is_none() && asked.optional.is_some() => continue,
            Some(old) if !old.value.same(&asked.value) => request.overruled.push(format!(
                "CONFIG_{}: {} asks {}, {} asks {}; the later counts",
                line.symbol, old.by, old.value, asked.by, asked.value
            )),
            // The first that asks it is the one to name.
            Some(old) if old.optional.is_none() => continue,
            _ => {}
        }
        request.asked.insert(line.symbol.clone(), asked);
    }
    request
}

impl Request {
    /// The request in the form that the kernel's `conf` reads.
    #[must_use]
    pub fn to_config(&self) -> String {
        let mut text = String::new();
        for (symbol, asked) in &self.asked {
            // Writing to a String cannot fail.
            let _ = match asked.value {
                Value::No => writeln!(text, "# CONFIG_{symbol} is not set"),
                ref value => writeln!(text, "CONFIG_{symbol}={value}"),
            };
        }
        text
    }

    /// Whether a symbol is asked to be `y` or `m`.
    #[must_use]
    pub fn wants(&self, symbol: &str) -> bool {
        self.asked.get(symbol).is_some_and(|a| matches!(a.value, Value::Yes | Value::Module))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::kconfig::fragment::{Release, parse};

    #[test]
    fn the_later_wins_and_is_named() {
        let mut lines = parse("boot", "CONFIG_A=y\nCONFIG_B=y # optional: x\nCONFIG_C=y # since 7.0\nCONFIG_D=y # where defined: x\n").unwrap();
        lines.extend(
            parse("mine", "# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_B=m # optional: y\n").unwrap(),
        );
        let kernel = Kernel { release: Release { major: 6, minor: 12 }, arch: "x86_64" };
        let r = merge(&lines, &kernel, &Symbols::default());
        assert_eq!(r.to_config(), "# CONFIG_A is not set\nCONFIG_B=y\n");
        assert_eq!(r.overruled, ["CONFIG_A: boot:1 asks y, mine:1 asks n; the later counts"]);
        assert_eq!(r.asked["B"].optional, None);
        assert!(r.wants("B") && !r.wants("A"));
    }
}
