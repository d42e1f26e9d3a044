//! Whether a finished `.config` has what was asked; and if not, why.

use std::fmt;
use std::path::Path;

use crate::build::kconfig::dotconfig::DotConfig;
use crate::build::kconfig::expr::{Expr, Tri};
use crate::build::kconfig::merge::{Asked, Request};
use crate::build::kconfig::tree::{Located, Symbols, other_architectures};
use crate::build::kconfig::{Place, Value};
use crate::error::Error;

/// A line that the result does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The symbol, without `CONFIG_`.
    pub symbol: String,
    /// What was asked.
    pub asked: Value,
    /// The line that asked it.
    pub by: Place,
    /// What it came out as.
    pub got: Value,
    /// What stands in its way, one reason a line.
    pub why: Vec<String>,
    /// Why that is no failure, when it is none.
    pub tolerated: Option<String>,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CONFIG_{}={} ({}) came out as {}", self.symbol, self.asked, self.by, self.got)?;
        for why in &self.why {
            write!(f, "\n  {why}")?;
        }
        Ok(())
    }
}

/// The tree whose answer is examined.
#[derive(Debug)]
pub struct Examined<'a> {
    /// Its folder.
    pub source: &'a Path,
    /// `arch/…` of the target.
    pub src_arch: &'a str,
    /// Its symbols.
    pub symbols: &'a Symbols,
    /// The finished configuration.
    pub config: &'a DotConfig,
}

/// Every line of `request` that the configuration does not have.
#[must_use]
pub fn check(tree: &Examined<'_>, request: &Request) -> Vec<Dropped> {
    let mut dropped = Vec::new();
    for (symbol, asked) in &request.asked {
        let got = tree.config.get(symbol);
        let known = tree.symbols.has(symbol);
        if got.same(&asked.value) && known {
            continue;
        }
        let mut why = tree.reasons(symbol, asked);
        // What is not there is not set either; still the line is idle, and may be a slip.
        let idle = (!known && asked.value == Value::No)
            .then(|| "a symbol that is not there cannot be set".to_owned());
        if why.is_empty() {
            why.push("no reason found in the Kconfig files; `make menuconfig` shows it".into());
        }
        dropped.push(Dropped {
            symbol: symbol.clone(),
            asked: asked.value.clone(),
            by: asked.by.clone(),
            got: got.clone(),
            why,
            tolerated: asked.optional.clone().or(idle),
        });
    }
    dropped
}

/// One failure that names every line that was dropped and must not be.
#[must_use]
pub fn failure(dropped: &[Dropped], base: &str) -> Option<Error> {
    let failed: Vec<&Dropped> = dropped.iter().filter(|d| d.tolerated.is_none()).collect();
    if failed.is_empty() {
        return None;
    }
    let names: Vec<String> = failed.iter().map(|d| format!("CONFIG_{}", d.symbol)).collect();
    let mut error = Error::check(format!(
        "the configuration of {base} does not get what was asked: {}",
        names.join(", ")
    ));
    for d in failed {
        error = error.found(d.to_string());
    }
    Some(error.hint(
        "ask what it depends on as well, restrict the line (`# since …`, `# arch …`), or mark it `# optional: WHY`",
    ))
}

impl Examined<'_> {
    fn reasons(&self, symbol: &str, asked: &Asked) -> Vec<String> {
        let definitions = self.symbols.definitions(symbol);
        if definitions.is_empty() {
            return vec![self.unknown(symbol)];
        }
        let wanted = match asked.value {
            Value::Module => Tri::Module,
            Value::No => return self.kept_set(symbol),
            _ => Tri::Yes,
        };
        let mut why: Vec<String> = Vec::new();
        for located in definitions {
            why.extend(self.hindrances(located, wanted));
        }
        if why.is_empty() && asked.value == Value::Module && self.config.get(symbol) == &Value::Yes
        {
            why = self.kept_set(symbol);
        }
        why
    }

    fn unknown(&self, symbol: &str) -> String {
        let elsewhere = other_architectures(self.source, self.src_arch, symbol);
        if !elsewhere.is_empty() {
            return format!("not defined for {}, only for {}", self.src_arch, elsewhere.join(", "));
        }
        match self.symbols.similar(symbol).as_slice() {
            [] => "no Kconfig file of this tree defines it".into(),
            near => {
                format!("no Kconfig file of this tree defines it; near to it: {}", near.join(", "))
            }
        }
    }

    /// Why a symbol is on (or built in) though that was not asked.
    fn kept_set(&self, symbol: &str) -> Vec<String> {
        let mut why: Vec<String> = self
            .symbols
            .selectors(symbol)
            .iter()
            .filter(|s| self.config.is_set(&s.symbol))
            .filter(|s| s.condition.as_ref().is_none_or(|c| c.eval(self.config) != Some(Tri::No)))
            .map(|s| format!("selected by {} ({})", s.symbol, self.config.get(&s.symbol)))
            .collect();
        why.sort_unstable();
        why.dedup();
        if why.is_empty() && self.symbols.definitions(symbol).iter().all(|l| !l.definition.prompt) {
            why.push("it has no prompt: its default sets it".into());
        }
        why.truncate(5);
        why
    }

    /// What keeps one definition from reaching `wanted`.
    fn hindrances(&self, located: &Located, wanted: Tri) -> Vec<String> {
        let d = &located.definition;
        let place = format!("{}:{}", located.file, d.line);
        let mut why = Vec::new();
        for expr in &d.depends {
            why.extend(expr.unmet(self.config, wanted).into_iter().map(|e| self.unmet(e, &place)));
        }
        if !why.is_empty() {
            return why;
        }
        if !d.prompt {
            let names: Vec<&str> =
                self.symbols.selectors(&d.name).iter().map(|s| s.symbol.as_str()).take(5).collect();
            return vec![match names.as_slice() {
                [] => format!("it has no prompt, its default decides ({place})"),
                names => format!("it has no prompt: {} can select it ({place})", names.join(", ")),
            }];
        }
        for expr in &d.visible {
            why.extend(
                expr.unmet(self.config, Tri::Module)
                    .into_iter()
                    .map(|e| format!("its prompt is hidden: {}", self.unmet(e, &place))),
            );
        }
        let rivals = self.symbols.rivals(located);
        if let Some(chosen) = rivals.into_iter().find(|r| self.config.get(r) == &Value::Yes) {
            why.push(format!("another member of its choice is set: {chosen} ({place})"));
        }
        let macros = d.depends.iter().flat_map(Expr::macros);
        why.extend(macros.map(|m| format!("the toolchain may not pass {m} ({place})")));
        why
    }

    fn unmet(&self, expr: &Expr, place: &str) -> String {
        let values: Vec<String> = expr
            .symbols()
            .into_iter()
            .map(|s| match self.symbols.has(s) {
                true => format!("{s} is {}", self.config.get(s)),
                false => format!("{s} is not in this tree"),
            })
            .collect();
        format!("unmet dependency: {expr} ({}; {place})", values.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::kconfig::fragment::{Kernel, Release, parse};
    use crate::build::kconfig::merge::merge;

    const KCONFIG: &str = "\
config NET
	bool \"net\"
config MOD
	tristate \"mod\"
	depends on NET && (BT || WIFI)
config HIDDEN
	bool
config SEL
	bool \"x\"
	select HIDDEN if NET
config EXP
	bool \"x\" if EXPERT
choice
config ONE
	bool \"1\"
config TWO
	bool \"2\"
endchoice
config CC
	bool \"x\"
	depends on $(cc-option,-fx)
config BUILTIN
	tristate \"x\"
config BT
	tristate \"x\"
";

    fn dropped(config: &str, asked: &str) -> Vec<Dropped> {
        let t = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(t.path().join("arch/arm64")).unwrap();
        std::fs::write(t.path().join("Kconfig"), KCONFIG).unwrap();
        std::fs::write(t.path().join("arch/arm64/Kconfig"), "config ARM64_X\n\tbool\n").unwrap();
        let symbols = Symbols::read(t.path(), "x86");
        let kernel = Kernel { release: Release { major: 6, minor: 12 }, arch: "x86_64" };
        let request = merge(&parse("f", asked).unwrap(), &kernel, &symbols);
        let config = DotConfig::parse(config);
        let tree =
            Examined { source: t.path(), src_arch: "x86", symbols: &symbols, config: &config };
        check(&tree, &request)
    }

    #[test]
    fn reasons() {
        for (config, asked, why) in [
            ("", "CONFIG_NETS=y", "no Kconfig file of this tree defines it; near to it: NET"),
            ("", "CONFIG_QQQQQQ=y", "no Kconfig file of this tree defines it"),
            ("", "CONFIG_ARM64_X=y", "not defined for x86, only for arm64"),
            (
                "CONFIG_NET=y",
                "CONFIG_MOD=m",
                "unmet dependency: BT || WIFI (BT is n, WIFI is not in this tree; Kconfig:3)",
            ),
            ("", "CONFIG_HIDDEN=y", "it has no prompt: SEL can select it (Kconfig:6)"),
            (
                "CONFIG_HIDDEN=y\nCONFIG_SEL=y\nCONFIG_NET=y",
                "CONFIG_HIDDEN=n",
                "selected by SEL (y)",
            ),
            (
                "",
                "CONFIG_EXP=y",
                "its prompt is hidden: unmet dependency: EXPERT (EXPERT is not in this tree; Kconfig:11)",
            ),
            (
                "CONFIG_TWO=y",
                "CONFIG_ONE=y",
                "another member of its choice is set: TWO (Kconfig:14)",
            ),
            ("", "CONFIG_CC=y", "the toolchain may not pass $(cc-option,-fx) (Kconfig:19)"),
            (
                "CONFIG_NET=y\nCONFIG_MOD=m\nCONFIG_BT=m",
                "CONFIG_MOD=y",
                "unmet dependency: BT || WIFI (BT is m, WIFI is not in this tree; Kconfig:3)",
            ),
        ] {
            let all = dropped(config, asked);
            assert_eq!(all.len(), 1, "{asked}");
            assert_eq!(all[0].why, [why], "{asked}");
            assert!(all[0].tolerated.is_none());
            let shown = failure(&all, "6.12").unwrap().to_string();
            assert!(shown.contains("f:1") && shown.contains(&all[0].symbol), "{shown}");
        }
    }

    #[test]
    fn what_holds_or_is_tolerated_does_not_fail() {
        assert!(
            dropped("CONFIG_NET=y\nCONFIG_BT=m", "CONFIG_NET=y\nCONFIG_BT=m\nCONFIG_CC=n\n")
                .is_empty()
        );
        let all = dropped("", "CONFIG_NET=y # optional: just so\nCONFIG_GONE=n\n");
        assert_eq!(all.len(), 2);
        assert!(failure(&all, "6.12").is_none());
        assert!(failure(&dropped("CONFIG_BUILTIN=y", "CONFIG_BUILTIN=m"), "x").is_some());
    }
}
