//! What a build needs of the host, asked before anything is run: each thing
//! that is missing, what for, and the package that brings it, all in one answer.

use std::time::Duration;

use crate::build::target::Arch;
use crate::build::toolchain::Asked;
use crate::error::{Error, Result};
use crate::host::process::Cmd;

/// Something that must be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// A program's name, or a header as `#include` has it.
    pub name: String,
    /// What the build does with it.
    pub used_for: String,
    /// Debian's package.
    pub package: String,
}

fn need(name: &str, used_for: &str, package: &str) -> Need {
    Need { name: name.into(), used_for: used_for.into(), package: package.into() }
}

/// Symbols of a configuration that call for a tool.
const BY_SYMBOL: &[(&str, &str, &str, &str)] = &[
    ("KERNEL_LZ4", "lz4", "compresses the image", "lz4"),
    ("KERNEL_ZSTD", "zstd", "compresses the image", "zstd"),
    ("KERNEL_XZ", "xz", "compresses the image", "xz-utils"),
    ("KERNEL_LZMA", "lzma", "compresses the image", "xz-utils"),
    ("KERNEL_LZO", "lzop", "compresses the image", "lzop"),
    ("KERNEL_BZIP2", "bzip2", "compresses the image", "bzip2"),
    ("KERNEL_GZIP", "gzip", "compresses the image", "gzip"),
    ("DEBUG_INFO_BTF", "pahole", "writes BTF", "pahole"),
    ("MODULE_SIG", "openssl/evp.h", "signs modules", "libssl-dev"),
    ("SYSTEM_TRUSTED_KEYRING", "openssl/evp.h", "builds the trusted keyring", "libssl-dev"),
    ("MODULE_COMPRESS_XZ", "xz", "compresses modules", "xz-utils"),
    ("MODULE_COMPRESS_ZSTD", "zstd", "compresses modules", "zstd"),
    ("IKHEADERS", "cpio", "packs the kernel's headers", "cpio"),
    ("UNWINDER_ORC", "gelf.h", "builds objtool", "libelf-dev"),
    ("STACK_VALIDATION", "gelf.h", "builds objtool", "libelf-dev"),
    ("OBJTOOL", "gelf.h", "builds objtool", "libelf-dev"),
];

/// What any build with this toolchain needs.
#[must_use]
pub fn of_toolchain(toolchain: &Asked, arch: &Arch) -> Vec<Need> {
    let mut needs = vec![
        need("make", "runs the kernel's build", "make"),
        need("flex", "generates the lexers of kconfig and dtc", "flex"),
        need("bison", "generates the parsers of kconfig and dtc", "bison"),
        need("bc", "computes the kernel's time constants", "bc"),
        need("perl", "generates assembly and headers", "perl"),
        need(
            first_word(&toolchain.hostcc),
            "compiles the programs of the build itself",
            if toolchain.clang { "clang" } else { "gcc" },
        ),
        need("sys/types.h", "compiles the programs of the build itself", "libc6-dev"),
    ];
    let cc = program(&toolchain.cc);
    if toolchain.clang {
        let n = &toolchain.suffix;
        needs.push(need(cc, "compiles the kernel", &format!("clang{n}")));
        needs.push(need(program(&toolchain.ld), "links the kernel (LLVM=1)", &format!("lld{n}")));
        let folder = toolchain.llvm.as_deref().filter(|l| l.ends_with('/')).unwrap_or("");
        for tool in ["ar", "nm", "objcopy", "strip", "readelf"] {
            let name = format!("{folder}llvm-{tool}{n}");
            needs.push(need(&name, "handles object files (LLVM=1)", &format!("llvm{n}")));
        }
    } else {
        let cross = !toolchain.cross_compile.is_empty();
        let package = if cross { arch.package.clone() } else { "gcc".into() };
        let used_for = if cross {
            format!("compiles for {}", arch.name)
        } else {
            "compiles the kernel".into()
        };
        needs.push(need(
            cc,
            &used_for,
            &format!("{package}{}", numbered(&toolchain.suffix, cross)),
        ));
        let binutils = if cross {
            format!("binutils-{}", toolchain.cross_compile.trim_end_matches('-'))
        } else {
            "binutils".to_owned()
        };
        needs.push(need(program(&toolchain.ld), "links the kernel", &binutils));
    }
    if arch.src_arch == "x86" {
        needs.push(need("gelf.h", "builds objtool", "libelf-dev"));
    }
    needs.dedup();
    needs
}

/// `gcc-12` is a package; cross compilers have the number before the triple, so
/// only the unnumbered one can be named for sure.
fn numbered(suffix: &str, cross: bool) -> &str {
    if cross { "" } else { suffix }
}

/// What the symbols of a configuration need besides.
#[must_use]
pub fn of_configuration(is_set: impl Fn(&str) -> bool) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for &(symbol, name, used_for, package) in BY_SYMBOL {
        if is_set(symbol) && needs.iter().all(|n| n.name != name) {
            needs.push(need(name, &format!("{used_for} (CONFIG_{symbol})"), package));
        }
    }
    needs
}

/// Looks for all of them.
///
/// # Errors
/// One failure that names everything that is missing.
pub fn check(needs: &[Need], hostcc: &str) -> Result<()> {
    let missing: Vec<&Need> = needs.iter().filter(|n| !is_there(&n.name, hostcc)).collect();
    if missing.is_empty() {
        return make_is_new_enough();
    }
    let names: Vec<&str> = missing.iter().map(|n| n.name.as_str()).collect();
    let mut error = Error::host(format!("the build needs {}", names.join(", ")));
    for n in &missing {
        error = error.found(format!("no {}: it {} (package {})", n.name, n.used_for, n.package));
    }
    let mut packages: Vec<&str> = missing.iter().map(|n| n.package.as_str()).collect();
    packages.sort_unstable();
    packages.dedup();
    Err(error.hint(format!("apt-get install --no-install-recommends {}", packages.join(" "))))
}

fn is_there(name: &str, hostcc: &str) -> bool {
    if !name.ends_with(".h") {
        return which::which(name).is_ok();
    }
    // Only the compiler knows where it looks.
    let mut words = hostcc.split_whitespace();
    let Some(program) = words.next() else { return false };
    Cmd::new(program)
        .args(words)
        .args(["-E", "-x", "c", "-o", "/dev/null", "-"])
        .stdin(format!("#include <{name}>\n"))
        .timeout(Duration::from_secs(20))
        .output()
        // Without a compiler there is a better complaint than this one.
        .map_or(true, |o| o.ok())
}

/// `--output-sync`, which keeps the lines of one target together, came with make 4.0.
fn make_is_new_enough() -> Result<()> {
    let out = Cmd::new("make").arg("--version").timeout(Duration::from_secs(20)).run()?.text();
    let line = out.lines().next().unwrap_or_default();
    let major =
        line.strip_prefix("GNU Make ").and_then(|v| v.split('.').next()?.parse::<u32>().ok());
    if major.is_some_and(|m| m >= 4) {
        return Ok(());
    }
    Err(Error::host("the build needs GNU make 4.0 or later")
        .found(line)
        .hint("apt-get install make"))
}

/// The program of a command such as `ccache gcc -m64`.
fn program(command: &str) -> &str {
    command.split_whitespace().find(|w| *w != "ccache").unwrap_or(command)
}

fn first_word(command: &str) -> &str {
    program(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::target::Targets;
    use crate::build::toolchain::asked;
    use crate::build::vars::Vars;

    fn packages(toolchain: &str, arch: &str) -> Vec<String> {
        let targets = Targets::load(None).unwrap();
        let arch = targets.arch(arch).unwrap();
        let toolchain = asked(Some(toolchain), arch, &Vars::default()).unwrap();
        of_toolchain(&toolchain, arch)
            .into_iter()
            .map(|n| format!("{}={}", n.name, n.package))
            .collect()
    }

    #[test]
    fn needs_of_toolchains() {
        let has = |all: &[String], one: &str| all.iter().any(|n| n == one);
        let gcc = packages("gcc", "arm64");
        assert!(has(&gcc, "aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu"), "{gcc:?}");
        assert!(has(&gcc, "aarch64-linux-gnu-ld=binutils-aarch64-linux-gnu"), "{gcc:?}");
        assert!(!has(&gcc, "gelf.h=libelf-dev"));
        let clang = packages("clang-14", "x86_64");
        for one in
            ["clang-14=clang-14", "ld.lld-14=lld-14", "llvm-ar-14=llvm-14", "gelf.h=libelf-dev"]
        {
            assert!(has(&clang, one), "{one}: {clang:?}");
        }
    }

    #[test]
    fn needs_of_symbols_are_named_once() {
        let all = of_configuration(|s| matches!(s, "KERNEL_LZ4" | "OBJTOOL" | "UNWINDER_ORC"));
        let names: Vec<_> = all.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names, ["lz4", "gelf.h"]);
    }

    #[test]
    fn all_that_is_missing_is_named_at_once() {
        let needs = [
            need("sh", "is there", "dash"),
            need("no-such-tool", "does this", "p1"),
            need("no/such/header.h", "does that", "p2"),
        ];
        let e = check(&needs, "gcc").unwrap_err();
        assert_eq!(e.kind(), crate::error::Kind::Host);
        let text = e.to_string();
        for part in [
            "no no-such-tool: it does this (package p1)",
            "no/such/header.h",
            "install --no-install-recommends p1 p2",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("dash"));
    }
}
