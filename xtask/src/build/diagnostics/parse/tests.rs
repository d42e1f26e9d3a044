//! Logs as the tools write them, and what is read from each.

use super::*;

fn roots() -> Roots {
    Roots { source: "/w/source".into(), objdir: "/w/obj/x".into() }
}

fn parse(log: &str) -> Vec<Diagnostic> {
    let mut parser = Parser::new(roots());
    for line in log.split_inclusive('\n') {
        parser.line(line);
    }
    parser.finish()
}

#[test]
fn steps() {
    for (text, tool, target) in [
        ("  CC      net/core/dev.o", "CC", "net/core/dev.o"),
        ("  CC [M]  net/packet/af_packet.o", "CC", "net/packet/af_packet.o"),
        ("  HOSTCC  scripts/basic/fixdep", "HOSTCC", "scripts/basic/fixdep"),
        ("  LD      vmlinux.o", "LD", "vmlinux.o"),
    ] {
        let step = parse_step(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((step.tool.as_str(), step.target.as_str()), (tool, target));
    }
    for bad in ["", "  ", "  CC", "   12 | int x;", "CC a.o", "  In file", "  A note of x"] {
        assert!(parse_step(bad).is_none(), "{bad}");
    }
}

#[test]
fn a_compiler_warning_with_its_surroundings() {
    let all = parse(
        "  CC      net/core/dev.o
In file included from ../../source/include/linux/kernel.h:3,
                 from ../../source/net/core/dev.c:12:
../../source/net/core/dev.c: In function 'f':
../../source/net/core/dev.c:20:5: warning: unused variable 'x' [-Wunused-variable]
   20 |  int x;
      |      ^
../../source/net/core/dev.c:3:1: note: declared here
  CC      net/core/sock.o
/w/source/net/core/sock.c:9:1: error: expected ';' before '}' token
",
    );
    assert_eq!(all.len(), 2);
    let w = &all[0];
    assert_eq!((w.severity, w.stage), (Severity::Warning, Stage::Compile));
    assert_eq!((w.file.as_str(), w.line, w.column), ("net/core/dev.c", Some(20), Some(5)));
    assert_eq!(w.flag.as_deref(), Some("-Wunused-variable"));
    assert_eq!((w.function.as_deref(), w.object.as_deref()), (Some("f"), Some("net/core/dev.o")));
    assert_eq!(w.detail.len(), 6, "{:?}", w.detail);
    assert_eq!(
        w.to_string(),
        "net/core/dev.c:20:5: warning: unused variable 'x' [-Wunused-variable]"
    );
    assert_eq!((all[1].severity, all[1].function.as_deref()), (Severity::Error, None));
}

#[test]
fn one_line_of_each_tool() {
    for (log, severity, stage, shown) in [
        (
            "  CHECK   net/a.c\nnet/a.c:3:9: warning: incorrect type in assignment\n",
            Severity::Warning,
            Stage::Sparse,
            "net/a.c:3:9: warning: incorrect type in assignment",
        ),
        (
            "  CC      net/a.o\n/w/source/net/a.c:9: warning: Function parameter or member 'x' not described in 'f'\n",
            Severity::Warning,
            Stage::KernelDoc,
            "net/a.c:9: warning: Function parameter or member 'x' not described in 'f'",
        ),
        (
            "Warning: /w/source/net/a.c:9 function parameter 'x' not described in 'f'\n",
            Severity::Warning,
            Stage::KernelDoc,
            "net/a.c:9: warning: function parameter 'x' not described in 'f'",
        ),
        (
            "vmlinux.o: warning: objtool: f+0x12: unreachable instruction\n",
            Severity::Warning,
            Stage::Objtool,
            "vmlinux.o: warning: f+0x12: unreachable instruction",
        ),
        (
            "ERROR: modpost: \"f\" [net/packet/af_packet.ko] undefined!\n",
            Severity::Error,
            Stage::Modpost,
            "net/packet/af_packet.ko: error: \"f\" [net/packet/af_packet.ko] undefined!",
        ),
        (
            "WARNING: modpost: vmlinux: section mismatch in reference: f (section: .text)\n",
            Severity::Warning,
            Stage::Modpost,
            "vmlinux: warning: vmlinux: section mismatch in reference: f (section: .text)",
        ),
        (
            "ld: net/core/dev.o: in function `f':\ndev.c:(.text+0x12): undefined reference to `g'\n",
            Severity::Error,
            Stage::Link,
            "dev.c: error: undefined reference to 'g'",
        ),
        (
            "ld.lld: error: undefined symbol: g\n>>> referenced by dev.c\n",
            Severity::Error,
            Stage::Link,
            "error: undefined symbol: g",
        ),
        (
            "/usr/bin/ld: cannot find -lelf: No such file or directory\n",
            Severity::Error,
            Stage::Link,
            "error: cannot find -lelf: No such file or directory",
        ),
        (
            "aarch64-linux-gnu-ld: warning: orphan section `.x'\n",
            Severity::Warning,
            Stage::Link,
            "warning: orphan section `.x'",
        ),
        (
            "  AS      arch/x86/a.o\narch/x86/a.S: Assembler messages:\narch/x86/a.S:7: Error: no such instruction: `foo'\n",
            Severity::Error,
            Stage::Assemble,
            "arch/x86/a.S:7: error: no such instruction: `foo'",
        ),
        (
            "arch/x86/Kconfig:12:warning: defaults for choice values not supported\n",
            Severity::Warning,
            Stage::Kconfig,
            "arch/x86/Kconfig:12: warning: defaults for choice values not supported",
        ),
        (
            "WARNING: unmet direct dependencies detected for X\n  Depends on [n]: Y [=n]\n",
            Severity::Warning,
            Stage::Kconfig,
            "warning: unmet direct dependencies detected for X",
        ),
        (
            "  HOSTCC  scripts/sign-file\nscripts/sign-file.c:25:10: fatal error: openssl/opensslv.h: No such file or directory\n",
            Severity::Error,
            Stage::HostTool,
            "scripts/sign-file.c:25:10: error: openssl/opensslv.h: No such file or directory",
        ),
        (
            "make[3]: *** [scripts/Makefile.build:229: net/core/dev.o] Error 1\n",
            Severity::Error,
            Stage::Make,
            "error: [scripts/Makefile.build:229: net/core/dev.o] Error 1",
        ),
        (
            "/w/source/Makefile:12: *** no such thing.  Stop.\n",
            Severity::Error,
            Stage::Make,
            "Makefile:12: error: no such thing.  Stop.",
        ),
        (
            "/bin/sh: 1: lz4c: not found\n",
            Severity::Error,
            Stage::Make,
            "error: /bin/sh: 1: lz4c: not found",
        ),
        (
            "gcc: error: unrecognized command-line option '-mfoo'\n",
            Severity::Error,
            Stage::Compile,
            "error: unrecognized command-line option '-mfoo'",
        ),
        (
            "fatal error: error writing to /tmp/x.s: No space left on device\n",
            Severity::Error,
            Stage::Make,
            "error: fatal error: error writing to /tmp/x.s: No space left on device",
        ),
    ] {
        let all = parse(log);
        assert_eq!(all.len(), 1, "{log}\n{all:?}");
        assert_eq!(
            (all[0].severity, all[0].stage, all[0].to_string().as_str()),
            (severity, stage, shown),
            "{log}"
        );
    }
}

#[test]
fn what_is_no_diagnostic() {
    let log = "make[1]: Entering directory '/w/obj/x'
  SYNC    include/config/auto.conf
cc1: all warnings being treated as errors
#
# configuration written to .config
#
Kernel: arch/x86/boot/bzImage is ready  (#1)
scripts/kconfig/conf: done
";
    assert!(parse(log).is_empty(), "{:?}", parse(log));
}

#[test]
fn the_first_error_is_not_makes_report() {
    let all = parse("make: *** [a.o] Error 1\na.c:1:2: warning: w\na.c:1:2: error: e\n");
    assert_eq!(super::super::first_error(&all).unwrap().message, "e");
    assert_eq!(all[0].object.as_deref(), Some("a.o"));
}

proptest::proptest! {
    #[test]
    fn nothing_panics(log in "((ld|a\\.c|  CC|make\\[1\\]|ERROR|WARNING)?(: | |:1:2: )(error: |modpost: |\\*\\*\\* \\[|undefined reference to `)?.{0,30}\n){0,10}") {
        let _ = parse(&log);
    }
    #[test]
    fn nothing_panics_on_noise(log in "(?s).{0,300}") {
        let _ = parse(&log);
    }
}
