//! The variables of a kernel build, from the command line and the environment,
//! with make's own precedence: `NAME=value` given as an argument beats the environment.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::build::inputs::hex;
use crate::error::{Error, Result};

/// Variables that change what is built: they are inputs. Others stay the host's affair.
const INPUTS: &[&str] = &[
    "KCFLAGS",
    "KCPPFLAGS",
    "KAFLAGS",
    "KRUSTFLAGS",
    "HOSTCFLAGS",
    "HOSTLDFLAGS",
    "W",
    "C",
    "CF",
    "CHECK",
    "WERROR",
    "LLVM_IAS",
    "LOCALVERSION",
    "KBUILD_BUILD_TIMESTAMP",
    "KBUILD_BUILD_USER",
    "KBUILD_BUILD_HOST",
    "KBUILD_BUILD_VERSION",
    "KBUILD_MODPOST_WARN",
    "KBUILD_EXTRA_SYMBOLS",
    "SOURCE_DATE_EPOCH",
    "ARCH",
    "CROSS_COMPILE",
    "LLVM",
    "CC",
    "HOSTCC",
    "LD",
    "O",
    "KBUILD_OUTPUT",
    "V",
];

/// Which of them the tool sets by itself, from its own options.
const OURS: &[&str] = &["ARCH", "CROSS_COMPILE", "LLVM", "CC", "HOSTCC", "O", "KBUILD_OUTPUT"];

/// Inputs that change few objects, or none: objects may be shared across them.
const LIGHT: &[&str] = &[
    "C",
    "CF",
    "CHECK",
    "LOCALVERSION",
    "SOURCE_DATE_EPOCH",
    "KBUILD_BUILD_TIMESTAMP",
    "KBUILD_BUILD_USER",
    "KBUILD_BUILD_HOST",
    "KBUILD_BUILD_VERSION",
    "KBUILD_MODPOST_WARN",
    "LD",
];

/// The variables of one build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vars {
    given: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
}

impl Vars {
    /// The given ones over those of this process's environment.
    #[must_use]
    pub fn new(given: &[(String, String)]) -> Vars {
        let environment = INPUTS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect();
        Vars { given: given.iter().cloned().collect(), environment }
    }

    /// Only these, for tests.
    #[must_use]
    pub fn of(given: &[(&str, &str)]) -> Vars {
        let given = given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Vars { given, environment: BTreeMap::new() }
    }

    /// The value that counts.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.given.get(name).or_else(|| self.environment.get(name)).map(String::as_str)
    }

    /// The value, or one that the tool takes in its place.
    #[must_use]
    pub fn or(&self, name: &str, default: &str) -> String {
        self.get(name).unwrap_or(default).to_owned()
    }

    /// `O=`, else `KBUILD_OUTPUT`, as make has it.
    #[must_use]
    pub fn objdir(&self) -> Option<&str> {
        self.get("O").or_else(|| self.get("KBUILD_OUTPUT")).filter(|o| !o.is_empty())
    }

    /// What is passed on to make's command line: what was given, without what the tool sets.
    pub fn for_make(&self) -> impl Iterator<Item = (&str, &str)> {
        self.given.iter().map(|(n, v)| (n.as_str(), v.as_str())).filter(|(n, _)| !OURS.contains(n))
    }

    /// Everything that counts as an input, sorted; the tool's own settings come elsewhere.
    #[must_use]
    pub fn inputs(&self) -> BTreeMap<String, String> {
        let mut all = self.environment.clone();
        all.extend(self.given.clone());
        all.retain(|name, _| !OURS.contains(&name.as_str()) && name != "V");
        all
    }

    /// A name for those that change the command line of every compiler, so that their
    /// objects are kept apart: `W1`, a hash for anything longer; nothing for none.
    #[must_use]
    pub fn objects_name(&self) -> Option<String> {
        let mut inputs = self.inputs();
        inputs.retain(|name, value| !LIGHT.contains(&name.as_str()) && !value.is_empty());
        let text: Vec<String> = inputs.iter().map(|(n, v)| format!("{n}{v}")).collect();
        let text = text.join("-");
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        match text.len() {
            0 => None,
            n if n <= 16 && plain => Some(text),
            _ => hex(&Sha256::digest(&text)).get(..8).map(str::to_owned),
        }
    }
}

/// Reads `NAME=value`.
///
/// # Errors
/// When it is not of that form.
pub fn parse(word: &str) -> Result<(String, String)> {
    let named = word.split_once('=').filter(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    named.map(|(n, v)| (n.to_owned(), v.to_owned())).ok_or_else(|| {
        Error::usage(format!("`{word}` is no variable for make"))
            .hint("variables are NAME=value, such as W=1; make goals go behind --targets")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_other_flags_are_kept_apart() {
        let name = |vars: &[(&str, &str)]| Vars::of(vars).objects_name();
        assert_eq!(name(&[("C", "1"), ("ARCH", "arm64"), ("KCFLAGS", "")]), None);
        assert_eq!(name(&[("W", "1"), ("C", "1")]).as_deref(), Some("W1"));
        let flags = name(&[("KCFLAGS", "-O1 -g")]).unwrap();
        assert_eq!(flags.len(), 8);
        assert_ne!(name(&[("KCFLAGS", "-O2 -g")]).unwrap(), flags);
    }

    #[test]
    fn precedence() {
        let mut vars = Vars::of(&[("W", "1"), ("O", "/x"), ("CC", "gcc")]);
        vars.environment = [("W", "2"), ("KBUILD_OUTPUT", "/y"), ("KCFLAGS", "-g"), ("V", "1")]
            .map(|(n, v)| (n.to_owned(), v.to_owned()))
            .into();
        assert_eq!(vars.get("W"), Some("1"));
        assert_eq!(vars.objdir(), Some("/x"));
        assert_eq!(vars.for_make().collect::<Vec<_>>(), [("W", "1")]);
        let inputs: Vec<_> = vars.inputs().into_iter().collect();
        assert_eq!(inputs, [("KCFLAGS".into(), "-g".into()), ("W".into(), "1".into())]);
        assert_eq!(parse("W=1=2").unwrap(), ("W".into(), "1=2".into()));
        for bad in ["W", "=1", "a b=1", "bzImage"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
