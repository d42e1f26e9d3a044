//! Failures that are the host's and not the source's: a compiler that is newer
//! than the kernel knows, a missing header or program, no space, no memory. Each has
//! a known mend, and an exit code other than that of a source which does not compile.

use serde::Serialize;

use crate::build::diagnostics::{Diagnostic, Stage, first_error};

/// A recognised failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The source does not compile; nothing of the host is at fault.
    Source,
    /// The compiler or linker does not fit this kernel.
    ToolchainMismatch,
    /// A program or library that the build needs is missing.
    MissingTool,
    /// A file system is full.
    NoSpace,
    /// A compiler was ended by the system, or could not get memory.
    NoMemory,
}

/// A class, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Classified {
    /// The class.
    pub class: Class,
    /// What it means, in one line.
    pub meaning: String,
    /// What mends it.
    pub mend: String,
}

struct Rule {
    class: Class,
    /// All of these must be in the text.
    has: &'static [&'static str],
    meaning: &'static str,
    mend: &'static str,
}

const C23: &str =
    "gcc 15 and later take C23 for granted, where `bool`, `false` and `true` are keywords";
const OLDER: &str = "use an older compiler (--toolchain gcc-12), or a later stable update of this kernel, which has the fix";

/// Ordered: the first that fits counts.
const RULES: &[Rule] = &[
    rule(
        Class::NoSpace,
        &["No space left on device"],
        "a file system is full",
        "free some space where it was being written",
    ),
    rule(
        Class::NoSpace,
        &["Disk quota exceeded"],
        "the disk quota is used up",
        "free some space where it was being written",
    ),
    rule(
        Class::NoMemory,
        &["internal compiler error", "Killed"],
        "the system ended a compiler, most often for want of memory",
        "use fewer --jobs",
    ),
    rule(
        Class::NoMemory,
        &["virtual memory exhausted"],
        "a compiler got no memory",
        "use fewer --jobs",
    ),
    rule(
        Class::NoMemory,
        &["Killed signal terminated program"],
        "the system ended a compiler, most often for want of memory",
        "use fewer --jobs",
    ),
    rule(Class::NoMemory, &["Cannot allocate memory"], "a tool got no memory", "use fewer --jobs"),
    rule(
        Class::ToolchainMismatch,
        &["cannot use keyword 'false' as enumeration constant"],
        C23,
        OLDER,
    ),
    rule(Class::ToolchainMismatch, &["'bool' cannot be defined via 'typedef'"], C23, OLDER),
    rule(Class::ToolchainMismatch, &["'bool' cannot be used here"], C23, OLDER),
    rule(Class::ToolchainMismatch, &["expected identifier or '(' before 'bool'"], C23, OLDER),
    rule(
        Class::ToolchainMismatch,
        &["multiple definition of", "yylloc"],
        "gcc 10 and later do not merge common symbols",
        OLDER,
    ),
    rule(
        Class::ToolchainMismatch,
        &["unrecognized command-line option"],
        "the compiler is older than this kernel wants, or another one than it was configured for",
        "use a newer compiler, or --toolchain to name the right one",
    ),
    rule(
        Class::ToolchainMismatch,
        &["unknown argument:"],
        "clang is older than this kernel wants",
        "use a newer clang, or --toolchain gcc",
    ),
    rule(
        Class::ToolchainMismatch,
        &["unsupported option"],
        "clang is older than this kernel wants",
        "use a newer clang, or --toolchain gcc",
    ),
    rule(
        Class::ToolchainMismatch,
        &["is too old"],
        "a tool is older than this kernel wants",
        "install a newer one; Documentation/process/changes.rst of the tree has the versions",
    ),
    rule(
        Class::ToolchainMismatch,
        &["code model", "does not support PIC"],
        "the compiler builds position-independent code by default and this kernel does not expect that",
        OLDER,
    ),
    rule(
        Class::ToolchainMismatch,
        &["incompatible gcc/plugin versions"],
        "a gcc plugin was built by another gcc",
        "--kconfig-add GCC_PLUGINS=n",
    ),
    rule(
        Class::MissingTool,
        &["gelf.h"],
        "the headers of libelf are missing",
        "apt-get install libelf-dev",
    ),
    rule(
        Class::MissingTool,
        &["libelf.h"],
        "the headers of libelf are missing",
        "apt-get install libelf-dev",
    ),
    rule(
        Class::MissingTool,
        &["cannot find -lelf"],
        "libelf is missing",
        "apt-get install libelf-dev",
    ),
    rule(
        Class::MissingTool,
        &["openssl/", "No such file"],
        "the headers of OpenSSL are missing",
        "apt-get install libssl-dev",
    ),
    rule(
        Class::MissingTool,
        &["gmp.h"],
        "the headers for gcc plugins are missing",
        "apt-get install gcc-12-plugin-dev, or --kconfig-add GCC_PLUGINS=n",
    ),
    rule(
        Class::MissingTool,
        &["pahole", "not available"],
        "pahole is missing",
        "apt-get install pahole, or --kconfig-add DEBUG_INFO_BTF=n",
    ),
    rule(
        Class::MissingTool,
        &[": not found"],
        "a program that the build calls is missing",
        "install the program named there",
    ),
    rule(
        Class::MissingTool,
        &["command not found"],
        "a program that the build calls is missing",
        "install the program named there",
    ),
];

const fn rule(
    class: Class,
    has: &'static [&'static str],
    meaning: &'static str,
    mend: &'static str,
) -> Rule {
    Rule { class, has, meaning, mend }
}

/// Recognises the failure that the diagnostics of a failed build tell of.
#[must_use]
pub fn classify(all: &[Diagnostic]) -> Option<Classified> {
    // Space and memory end tools in odd places: any mention counts.
    let grave = |r: &&Rule| matches!(r.class, Class::NoSpace | Class::NoMemory);
    for d in all {
        if let Some(rule) = RULES.iter().filter(grave).find(|r| r.fits(d)) {
            return Some(rule.classified());
        }
    }
    let first = first_error(all)?;
    if let Some(rule) = RULES.iter().find(|r| r.fits(first)) {
        return Some(rule.classified());
    }
    if let Some(flag) =
        first.flag.as_deref().filter(|_| first.stage == Stage::HostTool || in_tools(first))
    {
        let name = flag.trim_start_matches("-W");
        return Some(Classified {
            class: Class::ToolchainMismatch,
            meaning: format!(
                "a program of the build itself is compiled with -Werror, and this compiler warns of more ({flag}) than the kernel's authors saw"
            ),
            mend: format!(
                "use an older compiler (--toolchain gcc-12), or build with HOSTCFLAGS=-Wno-error={name} WERROR=0"
            ),
        });
    }
    if let Some(flag) = &first.flag {
        let name = flag.trim_start_matches("-W");
        return Some(Classified {
            class: Class::Source,
            meaning: "a warning that the configuration or the Makefile turns into an error".into(),
            mend: format!(
                "mend the warning; where it is the base's own and the compiler is newer than the kernel, --kconfig-add WERROR=n or KCFLAGS=-Wno-error={name}"
            ),
        });
    }
    None
}

/// Whether it is about a file of the tree's own programs.
fn in_tools(d: &Diagnostic) -> bool {
    d.file.starts_with("tools/") || d.file.starts_with("scripts/")
}

impl Rule {
    fn fits(&self, d: &Diagnostic) -> bool {
        self.has.iter().all(|part| d.message.contains(part))
    }
    fn classified(&self) -> Classified {
        Classified { class: self.class, meaning: self.meaning.into(), mend: self.mend.into() }
    }
}

impl Class {
    /// Whether the host is at fault, and not the source.
    #[must_use]
    pub fn is_hosts(self) -> bool {
        self != Class::Source
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::diagnostics::located::Roots;
    use crate::build::diagnostics::parse::Parser;

    fn class(log: &str) -> Option<Class> {
        let roots = Roots { source: "/s".into(), objdir: "/o".into() };
        let mut parser = Parser::new(roots);
        log.lines().for_each(|l| {
            parser.line(l);
        });
        classify(parser.found()).map(|c| c.class)
    }

    #[test]
    fn classes() {
        for (log, expected) in [
            (
                "a.h:11:3: error: cannot use keyword 'false' as enumeration constant",
                Some(Class::ToolchainMismatch),
            ),
            (
                "a.h:31:9: error: 'bool' cannot be defined via 'typedef'",
                Some(Class::ToolchainMismatch),
            ),
            (
                "/usr/bin/ld: scripts/dtc/dtc-parser.tab.o:(.bss+0x10): multiple definition of `yylloc'; first defined here",
                Some(Class::ToolchainMismatch),
            ),
            (
                "  CC      /o/tools/objtool/x.o\n/s/tools/lib/subcmd/x.c:9:1: error: pointer may be used after 'realloc' [-Werror=use-after-free]",
                Some(Class::ToolchainMismatch),
            ),
            (
                "/s/net/a.c:9:1: error: unused variable 'x' [-Werror=unused-variable]",
                Some(Class::Source),
            ),
            (
                "gcc: error: unrecognized command-line option '-mfoo'",
                Some(Class::ToolchainMismatch),
            ),
            (
                "/s/tools/objtool/elf.h:10:10: fatal error: gelf.h: No such file or directory",
                Some(Class::MissingTool),
            ),
            ("/bin/sh: 1: lz4c: not found", Some(Class::MissingTool)),
            (
                "a.c:1:1: error: x\nfatal error: error writing to /tmp/c.s: No space left on device",
                Some(Class::NoSpace),
            ),
            ("gcc: fatal error: Killed signal terminated program cc1", Some(Class::NoMemory)),
            ("/s/net/a.c:9:1: error: expected ';'", None),
            ("make: *** [a.o] Error 1", None),
            ("", None),
        ] {
            assert_eq!(class(log), expected, "{log}");
        }
    }
}
