//! `matrix --steps commits` as its user runs it: each commit of a series is built, with the
//! configuration of the series' head, on a source that looks like a kernel to make and takes no
//! time to build.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[path = "host/toy.rs"]
#[allow(dead_code)]
mod toy;

use std::fs;
use std::process::Command;

use serde_json::Value;
use toy::{BUILD_VARIABLES, Place};

const MAKEFILE: &str = r#"# SPDX-License-Identifier: GPL-2.0
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 1
EXTRAVERSION =

# `conf`: takes the request, and drops what nothing defines.
DEFINED = $$(sed -n 's/^config /-e ^CONFIG_/p' Kconfig)
allnoconfig:
	@mkdir -p $(O)
	@grep $(DEFINED) $(KCONFIG_ALLCONFIG) > $(O)/.config
allmodconfig:
	@mkdir -p $(O)
	@echo CONFIG_NET=y > $(O)/.config
olddefconfig:
	@grep $(DEFINED) $(O)/.config > $(O)/.new; mv $(O)/.new $(O)/.config
	@echo "configured $$(grep -c . $(O)/.config)" >> $(LOG)

image:
	@mkdir -p $(O)/boot $(O)/include/config
	@echo 6.12.1 > $(O)/include/config/kernel.release
	@$(MAKE) --no-print-directory -f $(CURDIR)/Makefile $(O)/one.o $(O)/two.o
	@cat $(O)/one.o $(O)/two.o > $(O)/vmlinux
	@cp $(O)/vmlinux $(O)/boot/image
	@echo > $(O)/System.map
	@echo image >> $(LOG)
%.o:
	@$(MAKE) --no-print-directory -f $(CURDIR)/Makefile $(O)/$@
$(O)/%.o: %.c
	@echo '  CC      $*.o'
	@sed -n 's,.*WARN.*,$(CURDIR)/$<:1:2: warning: unused variable [-Wunused],p' $< >&2
	@echo "compiled $*" >> $(LOG)
	@$(CC) -c $< -o $@
modules:
	@echo > $(O)/modules.order
"#;

const SERIES: &str = r#"
title = "Two steps"
list = "net-next"
change-id = "20241129-two-steps-431ffd03aa5e"
author = "A Hacker <a@example.org>"
date = 2024-11-29T12:00:00+01:00

[[patch]]
name = "first"
message = { text = "net: First\n\nWhy.\n\nSigned-off-by: A Hacker <a@example.org>\n" }
[[patch.edit]]
file = "two.c"
at = { text = "int two;" }
replace = { text = "FIRST" }

[[patch]]
name = "second"
message = { text = "net: Second\n\nWhy.\n\nSigned-off-by: A Hacker <a@example.org>\n" }
[[patch.edit]]
file = "two.c"
at = { text = "FIRST" }
replace = { text = "SECOND" }
[[patch.edit]]
file = "Kconfig"
at = { text = "config NET" }
insert-before = { text = "config LATE\n\tbool \"late\"\n\n" }

[[test]]
name = "t"
sources = ["t.sh"]
kconfig = ["late"]
"#;

struct Toy(Place);

impl std::ops::Deref for Toy {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Toy {
    /// A series of two commits, of which the second brings the symbol that its test's
    /// configuration asks for.
    fn new(first: &str, second: &str) -> Toy {
        let place = Toy(Place::empty());
        let log = place.path("log").display().to_string();
        place.write("linux/Makefile", &MAKEFILE.replace("$(LOG)", &log));
        place.write("linux/Kconfig", "config NET\n\tbool \"net\"\n");
        place.write("linux/one.c", "int one;\n");
        place.write("linux/two.c", "int two;\n");
        place.commit_all();
        let series = SERIES.replace("FIRST", first).replace("SECOND", second);
        place.write("project/series/two/series.toml", &series);
        place.write("project/series/two/selftests/t.sh", "#!/bin/sh\n");
        place.write("project/kconfigs/late.config", "CONFIG_LATE=y\n");
        place
    }

    /// What the base is.
    fn commit_all(&self) {
        for args in [
            &["init", "-q"][..],
            &["add", "-A"],
            &["-c", "user.name=T", "-c", "user.email=t@t", "commit", "-qm", "base"],
        ] {
            let mut git = Command::new("git");
            let git = self.clean(git.args(args).current_dir(self.path("linux")));
            assert!(git.status().unwrap().success());
        }
    }

    fn clean<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        for name in BUILD_VARIABLES {
            command.env_remove(name);
        }
        command.env("HOME", self.root()).env("XDG_CONFIG_HOME", self.path("config"));
        command.env("XDG_CACHE_HOME", self.path("cache")).env_remove("KSERIES_PROJECT");
        command.env("GIT_CONFIG_SYSTEM", "/dev/null").env("GIT_CONFIG_GLOBAL", "/dev/null")
    }

    /// The only cell of `matrix --steps commits`.
    fn commits(&self, more: &[&str], code: i32) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        let args = ["matrix", "--base", "../linux", "--steps", "commits", "--arch", "toy"];
        command.args(args).args(["--format", "json"]).args(more);
        let out = self.clean(command.current_dir(self.path("project"))).output().unwrap();
        let talk = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(
            out.status.code(),
            Some(code),
            "{}\n{talk}",
            String::from_utf8_lossy(&out.stdout)
        );
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        report["cells"][0].clone()
    }

    fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn each_commit_is_built_once_with_what_the_head_configures() {
    let place = Toy::new("int two = 1;", "int two = 2;");
    let cell = place.commits(&[], 0);
    let summary = cell["summary"].as_str().unwrap();
    assert!(summary.starts_with("2 of 2 commits built; W=1: 0 warnings new"), "{cell}");
    let log = place.log();
    let count = |word: &str| log.iter().filter(|l| *l == word).count();
    // One image a commit: the head is configured before them, but not built for that.
    assert_eq!(count("image"), 2, "{log:?}");
    // What no commit changes is compiled once for the images, and never for the gates.
    assert_eq!(count("compiled one"), 1, "{log:?}");
    // The head has both symbols, the commit before it one.
    assert!(count("configured 2") >= 1 && count("configured 1") >= 1, "{log:?}");
    // It is kept, so that nothing is built again.
    place.commits(&["--resume"], 0);
    assert_eq!(place.log(), log);
}

#[test]
fn a_commit_that_the_next_one_mends_is_found() {
    let place = Toy::new("int two = ;", "int two = 2;");
    let cell = place.commits(&[], 1);
    assert!(cell["summary"].as_str().unwrap().starts_with("1 of 2 commits built"), "{cell}");
    assert!(cell["notes"][0].as_str().unwrap().contains("builds of first"), "{cell}");
}

#[test]
fn a_warning_that_a_commit_brings_is_found() {
    let place = Toy::new("int two; /* WARN */", "int two = 2;");
    let cell = place.commits(&[], 1);
    let summary = cell["summary"].as_str().unwrap();
    assert!(summary.starts_with("2 of 2 commits built; W=1: 1 warning new"), "{cell}");
}

#[test]
fn a_configuration_that_cannot_be_had_fails_every_commit() {
    let place = Toy::new("int two = 1;", "int two = 2;");
    place.write("project/kconfigs/late.config", "CONFIG_NEVER=y\n");
    let cell = place.commits(&[], 1);
    assert!(cell["summary"].as_str().unwrap().starts_with("0 of 2 commits built"), "{cell}");
    assert!(cell["notes"][0].as_str().unwrap().contains("NEVER"), "{cell}");
}

/// A series whose first patch changes Kbuild and off.c, on a base with `base` as off.c.
fn with_off(base: Option<&str>, list: &str, first: &str) -> Toy {
    let place = Toy::new("int two = 1;", "int two = 2;");
    let change = |old: Option<&str>, new: &str| match old {
        Some(old) => format!("at = {{ text = \"{old}\" }}\nreplace = {{ text = \"{new}\" }}"),
        None => format!("create = {{ text = \"{new}\\n\" }}"),
    };
    if let Some(base) = base {
        place.write("linux/off.c", &format!("{base}\n"));
        place.write("linux/Kbuild", &format!("{list}\n"));
        place.commit_all();
    }
    let mut edits = format!("[[patch.edit]]\nfile = \"off.c\"\n{}\n", change(base, first));
    if base.is_none() {
        let create = change(None, list);
        edits.push_str(&format!("[[patch.edit]]\nfile = \"Kbuild\"\n{create}\n"));
    }
    let file = "project/series/two/series.toml";
    let series = fs::read_to_string(place.path(file)).unwrap();
    let second = "[[patch]]\nname = \"second\"";
    place.write(file, &series.replace(second, &format!("{edits}\n{second}")));
    place
}

#[test]
fn what_a_configuration_does_not_build_need_not_compile() {
    for (base, list, code, new) in [
        // make compiles it as it is told; nothing switches it on.
        (None, "obj-$(CONFIG_NEVER) += off.o", 0, "W=1: 0 warnings new"),
        (Some("#error base"), "obj-$(CONFIG_NEVER) += off.o", 0, "W=1: 0 warnings new"),
        // It compiled before, so the patch broke it.
        (Some("int off;"), "obj-$(CONFIG_NEVER) += off.o", 1, "W=1: 2 warnings new"),
        (None, "obj-y += off.o", 1, "W=1: 2 warnings new"),
        (None, "obj-$(CONFIG_NET) += off.o", 1, "W=1: 2 warnings new"),
        (None, "obj-$(if $(CONFIG_NEVER),,y) += off.o", 1, "W=1: 2 warnings new"),
    ] {
        let place = with_off(base, list, "#error off");
        let cell = place.commits(&[], code);
        let summary = cell["summary"].as_str().unwrap();
        assert!(summary.starts_with("2 of 2 commits built") && summary.contains(new), "{cell}");
    }
}

#[test]
fn one_that_never_compiled_hides_no_other() {
    // Both are switched off; one compiled, and the patch breaks it.
    let list = "obj-$(CONFIG_NEVER) += off.o bad.o";
    let place = with_off(Some("int off;"), list, "#error off");
    place.write("linux/bad.c", "#error base\n");
    place.commit_all();
    let file = "project/series/two/series.toml";
    let edit = "[[patch.edit]]\nfile = \"bad.c\"\nat = { text = \"#error base\" }\n\
                replace = { text = \"#error still\" }\n\n";
    let series = fs::read_to_string(place.path(file)).unwrap();
    let second = "[[patch]]\nname = \"second\"";
    place.write(file, &series.replace(second, &format!("{edit}{second}")));
    let cell = place.commits(&[], 1);
    assert!(cell["summary"].as_str().unwrap().contains("W=1: 2 warnings new"), "{cell}");
}

#[test]
fn what_is_left_out_is_in_the_result() {
    let place = with_off(None, "obj-$(CONFIG_NEVER) += off.o", "#error off");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["check", "two", "--base", "../linux", "--arch", "toy", "--gate", "warnings"]);
    let out = place.clean(command.current_dir(place.path("project"))).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{text}");
    assert!(text.contains("toy, 2 objects, not built by its configuration: off.o"), "{text}");
}
