//! `inspect` as its user runs it, on a source that looks like a kernel to make and to
//! the tool, and takes no time to compile.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "host/machine.rs"]
#[allow(dead_code)]
mod host;
#[path = "host/toy.rs"]
#[allow(dead_code)]
mod toy;

use std::process::Command;

use host::Host;
use serde_json::Value;

/// `lib/` is what no configuration builds.
const MAKEFILE: &str = r"VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 3
EXTRAVERSION =

MAKEFLAGS += -r

allnoconfig:
	@mkdir -p $(O)
	@cp $(KCONFIG_ALLCONFIG) $(O)/.config
olddefconfig:
	@true
net/%.o: net/%.c
	@mkdir -p $(O)/net
	@echo '  CC      $@'
	@$(CC) -O2 -fno-pie $$(sed -n 's/^CONFIG_EXTRA=y/-DEXTRA/p' $(O)/.config) -c $< -o $(O)/$@
";

const DEV: &str = "struct ops { int (*f)(int); };
int ext(int);
static __attribute__((noinline)) int helper(int x) { return ext(x) * 3; }
int poll(struct ops *o, int x)
{
	return o->f(x) + helper(x);
}
#ifdef EXTRA
int extra(struct ops *o) { return o->f(0) + 1; }
#endif
int same(int x) { return ext(x) + 1; }
";

const SERIES: &str = r#"title = "net: Poll directly"
list = "net-next"
author = "Björn Töpel <bjorn@example.org>"
date = 2024-11-29T12:00:00+01:00
cover = "cover.tera"

[inspect]
[[inspect.kernel]]
name = "more"
config = ["inspect/more.config"]

[[patch]]
name = "a"
message = { text = "net: Poll directly\n\nIt is.\n\nSigned-off-by: Björn Töpel <bjorn@example.org>" }
[[patch.edit]]
file = "net/dev.c"
at = { text = "return o->f(x) + helper(x);" }
replace = { text = "\treturn ext(x) + 2;" }
[[patch.edit]]
file = "net/new.c"
create = { text = "int fresh(int x) { return x + 1; }\n#ifdef PARTS\n#include \"part.c\"\n#endif" }
[[patch.edit]]
file = "net/off.c"
create = { text = "int off;" }
[[patch.edit]]
file = "net/part.c"
create = { text = "not C alone" }
[[patch.edit]]
file = "lib/z.c"
at = { text = "int z;" }
replace = { text = "int z2;" }
"#;

const COVER: &str = "Why.\n{% if inspect %}{% set run = inspect.run[\"toy/default\"] %}\
    Indirect calls: {{ run.changed.before.indirect_calls }} -> \
    {{ run.changed.after.indirect_calls }}; {{ run.function.poll.kind }}; \
    {{ inspect.runs | length }} kernels.\n{% endif %}";

fn host() -> Host {
    let host = Host::new(&[
        ("net/dev.c", DEV),
        ("net/Makefile", "obj-y += dev.o new.o\nobj-$(CONFIG_OFF) += off.o\n"),
        ("lib/Makefile", "obj-y += z.o\n"),
        ("lib/z.c", "int z;\n"),
        ("Kconfig", "config NET\n\tbool \"n\"\nconfig EXTRA\n\tbool \"e\"\n"),
    ]);
    host.put("linux/Makefile", MAKEFILE);
    host.commit("make");
    host.put("project/kconfigs/targets.toml", toy::TARGETS);
    host.put("project/kconfigs/boot.config", "CONFIG_NET=y\n");
    host.put("project/series/s/series.toml", SERIES);
    host.put("project/series/s/inspect/more.config", "CONFIG_EXTRA=y\n");
    host.put("project/templates/s/cover.tera", COVER);
    host
}

fn run(host: &Host, args: &[&str], code: i32) -> (String, String) {
    let mut c = Command::new(env!("CARGO_BIN_EXE_xtask"));
    c.args(args).current_dir(host.path("project"));
    host.clean(&mut c);
    for name in toy::BUILD_VARIABLES {
        c.env_remove(name);
    }
    let out = c.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(out.stdout), text(out.stderr));
    assert_eq!(out.status.code(), Some(code), "{args:?}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

const INSPECT: [&str; 6] = ["inspect", "s", "--base", "../linux", "--arch", "toy,toy"];

fn inspect(host: &Host, more: &[&str], code: i32) -> (String, String) {
    run(host, &[&INSPECT[..], more].concat(), code)
}

fn json(host: &Host, more: &[&str]) -> Value {
    let (out, _) = inspect(host, &[&["--format", "json"], more].concat(), 0);
    serde_json::from_str(&out).unwrap()
}

/// The row of a function in a run.
fn row<'v>(run: &'v Value, name: &str) -> &'v Value {
    let objects = run["objects"].as_array().unwrap().iter();
    let mut rows = objects.flat_map(|o| o["functions"].as_array().unwrap());
    rows.find(|f| f["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn what_changes_is_told_kept_and_in_the_letter() {
    let host = host();
    let (out, err) = inspect(&host, &[], 0);
    assert!(out.contains("1 → 0 (-1)"), "{out}");
    assert!(out.contains("gone: inlined") && out.contains("lib/z.o is left out"), "{out}");
    assert!(!out.contains("same") && out.contains("net/new.o (1 function)"), "{out}");
    assert!(!out.contains("fresh"), "{out}");
    assert!(!err.contains("warning"), "{err}");

    let report = json(&host, &["--all", "--keep"]);
    let [default, more] = report["runs"].as_array().unwrap().as_slice() else {
        panic!("{report}");
    };
    assert_eq!((&default["kernel"], &more["kernel"]), (&"default".into(), &"more".into()));
    let poll = row(default, "poll");
    assert_eq!(poll["before"]["indirect_calls"], 1);
    assert_eq!((&poll["kind"], &poll["after"]["indirect_calls"]), (&"changed".into(), &0.into()));
    assert_eq!(row(default, "helper")["why"], "inlined");
    assert_eq!(row(default, "fresh")["why"], "added");
    assert_eq!(row(default, "same")["kind"], "same");
    // The other configuration has one function more.
    assert!(row(default, "extra").is_null());
    assert_eq!(row(more, "extra")["after"]["indirect_calls"], 1);
    let left_out: Vec<_> = default["left_out"].as_array().unwrap().iter().collect();
    let left_out: Vec<_> = left_out.iter().map(|l| (&l["object"], &l["why"])).collect();
    let configured = Value::from("this kernel's configuration does not build it");
    assert_eq!(
        left_out,
        [
            (&"net/part.o".into(), &"another source includes its own".into()),
            (&"lib/z.o".into(), &configured),
            (&"net/off.o".into(), &configured),
        ]
    );
    let files = host.files("project/out/inspect/s/linux/toy/default");
    assert_eq!(
        files,
        ["after/net/dev.o", "after/net/new.o", "before/net/dev.o", "report.txt", "results.json"]
    );

    let generate = ["generate-series", "s", "--base", "../linux", "--output", "../mails"];
    run(&host, &generate, 0);
    let letter = host.read("mails/0000-cover-letter.patch");
    assert!(letter.contains("Indirect calls: 1 -> 0; changed; 2 kernels."), "{letter}");

    // Another commit: what was found is not its.
    host.put("project/series/s/series.toml", SERIES.replace("ext(x) + 2", "ext(x) + 4"));
    let (_, err) = run(&host, &generate, 0);
    assert!(err.contains("is of commit") && err.contains("cargo xtask inspect s"), "{err}");
    assert!(!host.read("mails/0000-cover-letter.patch").contains("Indirect"));

    let (out, _) = inspect(&host, &["--kernel", "default", "--function", "same"], 0);
    assert!(out.contains("   same") && !out.contains("poll"), "{out}");
    let report = json(&host, &["--config", "./../project/series/s/inspect/more.config"]);
    assert_eq!(report["runs"][0]["kernel"], "more");
    assert_eq!(report["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_asked() {
    let host = host();
    let refused = |args: &[&str], why: &str, code: i32| {
        let (out, err) = inspect(&host, args, code);
        assert!(err.contains(why), "{args:?}: {err}");
        assert!(out.is_empty(), "{args:?}: {out}");
    };
    for (args, why) in [
        (&["--object", "net/dve.o"][..], "did you mean net/dev.o?"),
        (&["--object", "net/dev.c"], "does not end with .o"),
        (&["--object", "../dev.o"], "leaves its folder"),
        (&["--kernel", "mora"], "the series has: default, more"),
        (&["--config", "none"], "no configuration fragment"),
        (&["--toolchain", "gc"], "toolchains are gcc"),
        (&["--with", "b"], "b"),
    ] {
        refused(args, why, 2);
    }
    refused(&["--config", "./none.config"], "read the fragment", 3);
    refused(&["--toolchain", "gcc-999"], "gcc-999", 3);
    // None of them took the time that a worktree takes.
    let worktrees = host.path("cache/kseries/worktrees");
    assert!(!worktrees.exists());
    refused(&["--function", "pol", "--kernel", "default"], "did you mean poll?", 2);
    assert!(worktrees.exists());
    let (_, err) = run(&host, &["inspect", "s", "--base", "../linux", "--arch", "z80"], 2);
    assert!(err.contains("known architectures"), "{err}");
    run(&host, &["inspect", "none", "--base", "../linux"], 2);
    let (out, _) = run(&host, &["inspect", "none", "--format", "json"], 2);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["error"]["kind"], "usage");
    // What does not apply has no code.
    host.put("project/series/s/series.toml", SERIES.replace("int z;", "int y;"));
    inspect(&host, &[], 4);
    // Nothing was left behind by what failed.
    assert!(!host.path("project/out/inspect/s/linux/toy/none").exists());
}

#[test]
fn a_source_that_does_not_compile_and_one_that_has_no_object() {
    let host = host();
    host.put("project/series/s/series.toml", SERIES.replace("ext(x) + 2;", "ext(x;"));
    let (_, err) = inspect(&host, &["--kernel", "default"], 1);
    assert!(err.contains("compile after the series") && err.contains("net/dev.c"), "{err}");
    // Only a header is touched.
    let only = SERIES.replace("file = \"net/dev.c\"", "file = \"net/dev.h\"");
    let only = only.split("[[patch.edit]]\nfile = \"net/new.c\"").next().unwrap();
    host.put("project/series/s/series.toml", only);
    host.put("linux/net/dev.h", "int v(void) {\n\treturn o->f(x) + helper(x);\n}\n");
    host.commit("header");
    let (_, err) = inspect(&host, &[], 2);
    assert!(err.contains("touches no .c or .S file") && err.contains("--object"), "{err}");
    let (out, _) = inspect(&host, &["--object", "net/dev.o", "--kernel", "default"], 0);
    assert!(out.contains("net/dev.o (3 functions)"), "{out}");
}
