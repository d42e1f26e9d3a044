//! What is counted in an object is what objdump shows of it: C of every kind that
//! matters, by each compiler that is there, in each way that a kernel is compiled.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use xtask::inspect::{Counts, measure};

const SOURCE: &str = r"
struct ops { int (*f)(int); void (*g)(int); };
extern void ext(int);
extern int tab(int);
static int (*const array[])(int) = { tab, 0, tab, tab };

int calls(struct ops *o) { o->g(1); o->g(2); ext(4); return 1; }
int tail(struct ops *o) { return o->f(1); }
int direct_tail(int x) { return tab(x + 1); }
int through_array(int i, int j) { return array[i & 3](j); }

int table(int x, struct ops *o)
{
	switch (x) {
	case 0: ext(1); return 4;
	case 1: ext(7); return 9;
	case 2: return o->f(3);
	case 3: ext(9); ext(4); return 2;
	case 4: return tab(x);
	case 5: ext(0); return 77;
	case 6: ext(12); return 1;
	case 7: ext(13); return 2;
	case 8: return 15 * x;
	case 9: ext(4); return 5;
	case 10: ext(5); return 6;
	case 11: ext(8); return 19;
	case 12: ext(x); return 29;
	case 13: ext(7 * x); return 39;
	case 14: ext(9 * x); return 49;
	case 15: ext(8); return 59;
	case 16: ext(85); return 69;
	case 17: ext(80); return 79;
	case 18: ext(81); return 94;
	}
	return 0;
}

int labels(unsigned char *p)
{
	static const void *const l[] = { &&a, &&b, &&c };
	int r = 0;
	goto *l[*p++];
a:	ext(1); r++; goto *l[*p++];
b:	ext(2); r += 7; goto *l[*p++];
c:	return r;
}
";

/// A compiler, its objdump, and ways to call it.
struct Toolchain {
    cc: &'static str,
    objdump: &'static str,
    /// What tells an indirect call, an indirect jump, a call.
    is: fn(&str) -> Seen,
    flags: &'static [&'static [&'static str]],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    IndirectCall,
    IndirectJump,
    Call,
    Jump,
    Nothing,
}

fn x86(text: &str) -> Seen {
    let words: Vec<&str> =
        text.split_whitespace().filter(|w| !matches!(*w, "notrack" | "cs" | "bnd")).collect();
    match words.as_slice() {
        [w, to, ..] if w.starts_with("call") && to.starts_with('*') => Seen::IndirectCall,
        [w, to, ..] if w.starts_with("jmp") && to.starts_with('*') => Seen::IndirectJump,
        [w, ..] if w.starts_with("call") => Seen::Call,
        [w, ..] if w.starts_with("jmp") => Seen::Jump,
        _ => Seen::Nothing,
    }
}

fn arm64(text: &str) -> Seen {
    match text.split_whitespace().next() {
        Some("blr") => Seen::IndirectCall,
        Some("br") => Seen::IndirectJump,
        Some("bl") => Seen::Call,
        Some("b") => Seen::Jump,
        _ => Seen::Nothing,
    }
}

fn riscv(text: &str) -> Seen {
    match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["jr", "ra", ..] => Seen::Nothing,
        ["jr", ..] => Seen::IndirectJump,
        ["jalr", ..] => Seen::IndirectCall,
        _ => Seen::Nothing,
    }
}

fn powerpc(text: &str) -> Seen {
    match text.split_whitespace().next() {
        Some("bctrl") => Seen::IndirectCall,
        Some("bctr") => Seen::IndirectJump,
        Some("bl") => Seen::Call,
        _ => Seen::Nothing,
    }
}

fn s390(text: &str) -> Seen {
    match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["br", "%r14"] => Seen::Nothing,
        ["br", ..] => Seen::IndirectJump,
        ["basr", ..] => Seen::IndirectCall,
        ["brasl", ..] => Seen::Call,
        _ => Seen::Nothing,
    }
}

const X86: &[&[&str]] = &[
    &["-O2", "-fno-pie", "-fcf-protection=none"],
    &["-O2", "-fno-pie", "-mcmodel=kernel", "-fcf-protection=branch", "-fno-jump-tables"],
    &["-Os", "-fPIE"],
];
const RETPOLINES: &[&[&str]] = &[
    &[
        "-O2",
        "-fno-pie",
        "-mindirect-branch=thunk-extern",
        "-mindirect-branch-register",
        "-fno-jump-tables",
    ],
    &[
        "-O2",
        "-fno-pie",
        "-mindirect-branch=thunk-extern",
        "-mfunction-return=thunk-extern",
        "-mindirect-branch-register",
    ],
];

const TOOLCHAINS: &[Toolchain] = &[
    Toolchain {
        cc: "x86_64-linux-gnu-gcc",
        objdump: "x86_64-linux-gnu-objdump",
        is: x86,
        flags: X86,
    },
    Toolchain {
        cc: "x86_64-linux-gnu-gcc",
        objdump: "x86_64-linux-gnu-objdump",
        is: x86,
        flags: RETPOLINES,
    },
    Toolchain {
        cc: "clang --target=x86_64-linux-gnu",
        objdump: "x86_64-linux-gnu-objdump",
        is: x86,
        flags: X86,
    },
    Toolchain {
        cc: "aarch64-linux-gnu-gcc",
        objdump: "aarch64-linux-gnu-objdump",
        is: arm64,
        flags: &[&["-O2", "-fno-pie"], &["-O2", "-mbranch-protection=pac-ret+bti"], &["-Os"]],
    },
    Toolchain {
        cc: "clang --target=aarch64-linux-gnu",
        objdump: "aarch64-linux-gnu-objdump",
        is: arm64,
        flags: &[&["-O2", "-fno-pie"]],
    },
    Toolchain {
        cc: "riscv64-linux-gnu-gcc",
        objdump: "riscv64-linux-gnu-objdump",
        is: riscv,
        flags: &[&["-O2", "-fno-pie"]],
    },
    Toolchain {
        cc: "powerpc64le-linux-gnu-gcc",
        objdump: "powerpc64le-linux-gnu-objdump",
        is: powerpc,
        flags: &[&["-O2", "-fno-pie", "-fno-jump-tables", "-mtraceback=no"]],
    },
    Toolchain {
        cc: "s390x-linux-gnu-gcc",
        objdump: "s390x-linux-gnu-objdump",
        is: s390,
        flags: &[&["-O2", "-fno-pie"]],
    },
];

/// The object, or nothing where the compiler is not there.
fn compile(folder: &Path, cc: &str, flags: &[&str]) -> Option<Vec<u8>> {
    let words: Vec<&str> = cc.split(' ').collect();
    which::which(words[0]).ok()?;
    let (source, object) = (folder.join("t.c"), folder.join("t.o"));
    std::fs::write(&source, SOURCE).unwrap();
    let common = ["-w", "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-c", "-o"];
    let out = Command::new(words[0])
        .args(&words[1..])
        .args(flags)
        .args(common)
        .arg(&object)
        .arg(&source)
        .output()
        .unwrap();
    assert!(out.status.success(), "{cc} {flags:?}: {}", String::from_utf8_lossy(&out.stderr));
    Some(std::fs::read(object).unwrap())
}

/// What objdump shows, by function.
fn shown(toolchain: &Toolchain, object: &Path) -> BTreeMap<String, Counts> {
    let out = Command::new(toolchain.objdump)
        .args(["-dr", "--no-show-raw-insn"])
        .arg(object)
        .output()
        .unwrap();
    assert!(out.status.success());
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    let mut name = String::new();
    let mut last = Seen::Nothing;
    for line in String::from_utf8(out.stdout).unwrap().lines() {
        if let Some((_, of)) = line.split_once(" <").filter(|_| line.ends_with(">:")) {
            // RISC-V keeps labels as symbols.
            if !of.starts_with('.') {
                name = of.trim_end_matches(">:").to_owned();
            }
            continue;
        }
        let counts = all.entry(name.clone()).or_default();
        if let Some((_, relocation)) = line.split_once(": R_") {
            let thunk = relocation.contains("__x86_indirect_thunk");
            // RISC-V's far call: what comes behind is no indirect one.
            match last {
                Seen::Call if thunk => {
                    counts.direct_calls -= 1;
                    counts.thunk_calls += 1;
                }
                Seen::Jump if thunk => counts.thunk_jumps += 1,
                _ => {}
            }
            continue;
        }
        let Some((_, text)) = line.split_once(":\t") else { continue };
        last = (toolchain.is)(text);
        match last {
            Seen::IndirectCall => counts.indirect_calls += 1,
            Seen::IndirectJump => counts.indirect_jumps += 1,
            Seen::Call => counts.direct_calls += 1,
            Seen::Jump | Seen::Nothing => {}
        }
    }
    all
}

#[test]
fn counts_are_those_of_objdump() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for toolchain in TOOLCHAINS {
        if which::which(toolchain.objdump).is_err() {
            eprintln!("{} is not there", toolchain.objdump);
            continue;
        }
        for flags in toolchain.flags {
            let Some(bytes) = compile(folder.path(), toolchain.cc, flags) else {
                eprintln!("{} is not there", toolchain.cc);
                continue;
            };
            let what = format!("{} {flags:?}", toolchain.cc);
            let measured = measure(&bytes).unwrap();
            let shown = shown(toolchain, &folder.path().join("t.o"));
            assert!(measured.len() >= 6, "{what}");
            for f in &measured {
                let (name, got) = (&f.names[0], f.counts);
                let want = shown[name];
                let pick = |c: &Counts| {
                    (
                        c.indirect_calls,
                        c.indirect_jumps,
                        c.thunk_calls,
                        c.thunk_jumps,
                        c.direct_calls,
                    )
                };
                if toolchain.cc.starts_with("riscv64") {
                    // objdump shows each far call as a pair that ends in an indirect one.
                    let calls = got.indirect_calls + got.direct_calls;
                    let jumps = got.indirect_jumps + got.tail_calls;
                    assert_eq!(
                        (calls, jumps),
                        (want.indirect_calls, want.indirect_jumps),
                        "{what}: {name}"
                    );
                } else {
                    assert_eq!(pick(&got), pick(&want), "{what}: {name}");
                }
                assert_eq!(got.undecoded, 0, "{what}: {name}");
                seen += 1;
            }
            tables(&what, &measured.iter().map(|f| (f.names[0].as_str(), f.counts)).collect());
        }
    }
    assert!(seen > 0, "no compiler was there");
}

/// What is known of the source whatever the compiler makes of it.
fn tables(what: &str, of: &BTreeMap<&str, Counts>) {
    let jumps = |c: &Counts| c.indirect_jumps + c.thunk_jumps;
    for name in ["calls", "tail", "direct_tail", "through_array"] {
        assert_eq!((of[name].jump_tables, of[name].table_jumps), (0, 0), "{what}: {name}");
    }
    // powerpc has the caller restore a register, and calls instead.
    if !what.starts_with("powerpc") {
        assert!(jumps(&of["tail"]) == 1 && jumps(&of["through_array"]) == 1, "{what}");
        assert_eq!(of["direct_tail"].tail_calls, 1, "{what}");
    }
    // Computed jumps: one table.
    assert_eq!(of["labels"].jump_tables, 1, "{what}");
    let table = of["table"];
    // Only the tail call in case 2 is left where there is none.
    let other = if what.contains("-fno-jump-tables") { 0 } else { 1 };
    assert!(table.jump_tables <= other, "{what}: {table:?}");
    assert_eq!(table.table_jumps, table.jump_tables, "{what}: {table:?}");
    assert!(jumps(&table) - table.table_jumps <= 1, "{what}: {table:?}");
    if what.starts_with("x86") && !what.contains("-Os") {
        let labels = of["labels"];
        assert!(jumps(&labels) > 0, "{what}: {labels:?}");
        assert_eq!(labels.table_jumps, jumps(&labels), "{what}: {labels:?}");
    }
    if what.starts_with("aarch64") && what.contains("-O2") {
        assert_eq!(table.jump_tables, 1, "{what}");
    }
    // gcc makes none with retpolines.
    if what.starts_with("x86") && other == 1 && !what.contains("-mindirect-branch") {
        assert_eq!(table.jump_tables, 1, "{what}");
    }
}
