//! Which compiler builds, and what make must be told for it.
//!
//! The variables that kernel developers set (`CROSS_COMPILE`, `LLVM`, `CC`) mean here
//! what they mean to make; `--toolchain` names one in one word.

use std::time::Duration;

use crate::build::target::{Arch, host_arch};
use crate::build::vars::Vars;
use crate::error::{Error, Result};
use crate::host::process::Cmd;

/// A compiler with its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// For folder names and talk: `gcc-12`, `clang-14`.
    pub name: String,
    /// Whether it is clang.
    pub clang: bool,
    /// The command words of the compiler, without ccache.
    pub cc: String,
    /// The compiler for programs of the build itself.
    pub hostcc: String,
    /// `CROSS_COMPILE=`, empty for a native build.
    pub cross_compile: String,
    /// `LLVM=`, when it is set.
    pub llvm: Option<String>,
    /// What the compiler says of itself.
    pub version: String,
    /// What the linker says of itself.
    pub linker_version: String,
}

/// A toolchain as it was asked for, before anything is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Whether it is clang.
    pub clang: bool,
    /// `-12` of `gcc-12`.
    pub suffix: String,
    /// The compiler's command words.
    pub cc: String,
    /// The compiler for the host.
    pub hostcc: String,
    /// The linker.
    pub ld: String,
    /// `CROSS_COMPILE=`
    pub cross_compile: String,
    /// `LLVM=`
    pub llvm: Option<String>,
}

/// Reads `--toolchain` and the variables.
///
/// # Errors
/// When the word names no toolchain.
pub fn asked(word: Option<&str>, arch: &Arch, vars: &Vars) -> Result<Asked> {
    let llvm = vars.get("LLVM").filter(|v| !v.is_empty() && *v != "0");
    let (clang, suffix, llvm) = match (word, llvm) {
        (Some(word), _) => {
            let (family, suffix) = match word.split_once('-') {
                Some((family, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => {
                    (family, format!("-{n}"))
                }
                None => (word, String::new()),
                Some(_) => return Err(unknown(word)),
            };
            match family {
                "gcc" => (false, suffix, None),
                "clang" | "llvm" => {
                    let llvm = if suffix.is_empty() { "1".to_owned() } else { suffix.clone() };
                    (true, suffix, Some(llvm))
                }
                _ => return Err(unknown(word)),
            }
        }
        // LLVM=1, LLVM=-15, LLVM=/opt/llvm/bin/
        (None, Some(llvm)) => {
            let suffix = if llvm.starts_with('-') { llvm.to_owned() } else { String::new() };
            (true, suffix, Some(llvm.to_owned()))
        }
        (None, None) => (false, String::new(), None),
    };
    let cross_compile = match vars.get("CROSS_COMPILE") {
        Some(prefix) => prefix.to_owned(),
        None if arch.name == host_arch() => String::new(),
        None => arch.cross_compile.clone(),
    };
    let folder = llvm.as_deref().filter(|l| l.ends_with('/')).unwrap_or("");
    let (cc, hostcc, ld) = if clang {
        let cc = format!("{folder}clang{suffix}");
        (cc.clone(), cc, format!("{folder}ld.lld{suffix}"))
    } else {
        (format!("{cross_compile}gcc{suffix}"), "gcc".to_owned(), format!("{cross_compile}ld"))
    };
    let cc = vars.get("CC").map_or(cc, str::to_owned);
    let hostcc = vars.get("HOSTCC").map_or(hostcc, str::to_owned);
    let ld = vars.get("LD").map_or(ld, str::to_owned);
    Ok(Asked { clang: clang || cc.contains("clang"), suffix, cc, hostcc, ld, cross_compile, llvm })
}

fn unknown(word: &str) -> Error {
    Error::usage(format!("--toolchain {word}"))
        .found("toolchains are gcc, gcc-N, clang, clang-N (llvm and llvm-N mean the same)")
        .hint("for another compiler give make's own variable: CC=…")
}

impl Asked {
    /// Asks compiler and linker for their versions.
    ///
    /// # Errors
    /// When one cannot be run.
    pub fn probe(self) -> Result<Toolchain> {
        let version = first_line(&self.cc)?;
        let linker_version = first_line(&self.ld)?;
        let family = if self.clang { "clang" } else { "gcc" };
        // Taken from what it says, so that `gcc` and `gcc-12` share objects where they are the same.
        let name = match major(&version) {
            Some(n) => format!("{family}-{n}"),
            None => format!("{family}{}", self.suffix),
        };
        Ok(Toolchain {
            name,
            clang: self.clang,
            cc: self.cc,
            hostcc: self.hostcc,
            cross_compile: self.cross_compile,
            llvm: self.llvm,
            version,
            linker_version,
        })
    }
}

fn first_line(command: &str) -> Result<String> {
    let words = shell_words::split(command)
        .map_err(|e| Error::usage(format!("the command `{command}`")).found(e.to_string()))?;
    let Some((program, args)) = words.split_first() else {
        return Err(
            Error::usage("an empty compiler command").hint("set CC to a compiler, or unset it")
        );
    };
    let out = Cmd::new(program)
        .args(args)
        .arg("--version")
        .env("LC_ALL", "C")
        .timeout(Duration::from_secs(20))
        .run()?;
    Ok(out.text().lines().next().unwrap_or_default().to_owned())
}

/// The major version in `gcc (Debian 12.2.0-14) 12.2.0`, `Debian clang version 14.0.6`.
fn major(version: &str) -> Option<u32> {
    let number = |word: &str| {
        let (major, rest) = word.split_once('.')?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| major.parse().ok())?
    };
    // The parentheses hold the distribution's own number.
    let mut depth = 0usize;
    version.split_whitespace().find_map(|word| {
        depth += word.matches('(').count();
        let found = if depth == 0 { number(word) } else { None };
        depth = depth.saturating_sub(word.matches(')').count());
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::target::Targets;

    fn ask(word: Option<&str>, arch: &str, vars: &[(&str, &str)]) -> Result<Asked> {
        let targets = Targets::load(None).unwrap();
        asked(word, targets.arch(arch).unwrap(), &Vars::of(vars))
    }

    #[test]
    fn words_and_variables() {
        if host_arch() != "x86_64" {
            return;
        }
        for (word, arch, vars, cc, cross, llvm) in [
            (None, "x86_64", &[][..], "gcc", "", None),
            (Some("gcc-11"), "x86_64", &[], "gcc-11", "", None),
            (None, "arm64", &[], "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-", None),
            (Some("gcc-12"), "arm64", &[], "aarch64-linux-gnu-gcc-12", "aarch64-linux-gnu-", None),
            (None, "arm64", &[("CROSS_COMPILE", "a-")], "a-gcc", "a-", None),
            (Some("clang"), "x86_64", &[], "clang", "", Some("1")),
            (Some("llvm-14"), "arm64", &[], "clang-14", "aarch64-linux-gnu-", Some("-14")),
            (None, "x86_64", &[("LLVM", "-15")], "clang-15", "", Some("-15")),
            (None, "x86_64", &[("LLVM", "/o/")], "/o/clang", "", Some("/o/")),
            (None, "x86_64", &[("LLVM", "0")], "gcc", "", None),
            (Some("gcc"), "x86_64", &[("LLVM", "1")], "gcc", "", None),
            (None, "x86_64", &[("CC", "ccache gcc")], "ccache gcc", "", None),
        ] {
            let a = ask(word, arch, vars).unwrap();
            let got = (a.cc.as_str(), a.cross_compile.as_str(), a.llvm.as_deref());
            assert_eq!(got, (cc, cross, llvm), "{word:?} {arch} {vars:?}");
        }
        for bad in ["tcc", "gcc-", "gcc-x", "gcc-12-13", ""] {
            assert!(ask(Some(bad), "x86_64", &[]).is_err(), "{bad}");
        }
    }

    #[test]
    fn majors() {
        for (text, n) in [
            ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", Some(12)),
            ("aarch64-linux-gnu-gcc (Debian 12.2.0-14) 12.2.0", Some(12)),
            ("Debian clang version 14.0.6", Some(14)),
            ("gcc (GCC) 15.1.1 20250425 (Red Hat 15.1.1-1)", Some(15)),
            ("something", None),
        ] {
            assert_eq!(major(text), n, "{text}");
        }
    }
}
