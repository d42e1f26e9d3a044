//! `build-kernel` as its user runs it, on a source that looks like a kernel to make
//! and to the tool, and takes no time to build.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "host/toy.rs"]
#[allow(dead_code)]
mod toy;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use toy::{BUILD_VARIABLES, Place};

const MAKEFILE: &str = r#"# SPDX-License-Identifier: GPL-2.0
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 1
EXTRAVERSION =

# `conf`: takes the request, and drops what nothing defines or allows.
allnoconfig:
	@mkdir -p $(O)
	@grep -v -e CONFIG_BLOCKED -e CONFIG_NOWHERE $(KCONFIG_ALLCONFIG) > $(O)/.config
tinyconfig:
	@echo CONFIG_TINY=y > $(O)/.config
olddefconfig:
	@true

FAKE ?= /dev/null

image:
	@mkdir -p $(O)/boot $(O)/include/config
	@echo 6.12.1 > $(O)/include/config/kernel.release
	@$(MAKE) --no-print-directory -f $(CURDIR)/Makefile $(O)/one.o $(O)/two.o
	@cat $(O)/one.o $(O)/two.o $(O)/.config > $(O)/vmlinux
	@cp $(O)/vmlinux $(O)/boot/image
	@echo > $(O)/System.map
$(O)/%.o: %.c
	@echo '  CC      $*.o'
	@sed -n 's,.*WARN.*,$(CURDIR)/$<:1:2: warning: unused variable [-Wunused],p' $< >&2
	@sh $(FAKE) >&2
	@$(CC) -c $< -o $@
modules:
	@mkdir -p $(O)/net
	@echo module > $(O)/net/af_packet.ko
	@echo net/af_packet.o > $(O)/modules.order
"#;

const KCONFIG: &str = "\
config NET
	bool \"net\"
config EXTRA
	bool \"extra\"
config TINY
	bool \"tiny\"
config BLOCKED
	bool \"blocked\"
	depends on NET && ABSENT
";

struct Toy(Place);

impl std::ops::Deref for Toy {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Toy {
    fn new() -> Toy {
        let toy = Toy(Place::empty());
        toy.write("project/kconfigs/extra.config", "CONFIG_EXTRA=y\n");
        toy.source("linux");
        toy
    }

    fn source(&self, name: &str) {
        self.write(&format!("{name}/Makefile"), MAKEFILE);
        self.write(&format!("{name}/Kconfig"), KCONFIG);
        self.write(&format!("{name}/one.c"), "int one; /* WARN */\n");
        self.write(&format!("{name}/two.c"), "int two;\n");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// `build-kernel` of one source for the toy architecture.
    fn build(&self, source: &str) -> Command {
        let mut cmd = Command::cargo_bin("xtask").unwrap();
        for name in BUILD_VARIABLES {
            cmd.env_remove(name);
        }
        cmd.current_dir(self.path("project"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .args(["build-kernel", "--arch", "toy", "--source"])
            .arg(self.path(source))
            .timeout(std::time::Duration::from_secs(60));
        cmd
    }
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The product's folder: its toolchain part depends on the host.
fn product(place: &Toy, source: &str) -> PathBuf {
    let folder = place.path("project/out/kernels").join(source);
    let mut found: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().collect();
    assert_eq!(found.len(), 1, "{folder:?}");
    found.remove(0).path()
}

#[test]
fn products_appear_and_are_not_made_twice() {
    let place = Toy::new();
    place.build("linux").assert().code(0).stdout(contains("6.12.1"));
    let dir = product(&place, "linux");
    for name in [
        "image",
        "vmlinux",
        "System.map",
        "config",
        "requested.config",
        "build.log",
        "diagnostics.json",
        "metadata.json",
        "reproducer.sh",
        "modules/lib/modules/6.12.1/kernel/net/af_packet.ko",
    ] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    let metadata = json(&dir.join("metadata.json"));
    assert_eq!(metadata["inputs-hash"].as_str().unwrap().len(), 64);
    assert_eq!(metadata["warnings"], 1);
    assert!(metadata["reproducer"].as_str().unwrap().starts_with("cargo xtask build-kernel"));
    let diagnostics = json(&dir.join("diagnostics.json"));
    assert_eq!(diagnostics[0]["file"], "one.c");
    assert_eq!(diagnostics[0]["flag"], "-Wunused");
    place.build("linux").assert().code(0).stderr(contains("built already"));

    // A product with a file missing or cut is not taken for whole.
    std::fs::write(dir.join("vmlinux"), "cut").unwrap();
    place
        .build("linux")
        .assert()
        .code(0)
        .stderr(contains("built already").not().and(contains("the objects are at hand")));
    assert_ne!(std::fs::read(dir.join("vmlinux")).unwrap(), b"cut");
}

#[test]
fn the_reproducer_builds_the_same() {
    let place = Toy::new();
    place.build("linux").assert().code(0);
    let dir = product(&place, "linux");
    Command::new("sh")
        .arg(dir.join("reproducer.sh"))
        .arg(place.path("linux"))
        .arg(place.path("again"))
        .assert()
        .code(0);
    let read = |path: PathBuf| std::fs::read(path).unwrap();
    assert_eq!(read(place.path("again/vmlinux")), read(dir.join("vmlinux")));
}

#[test]
fn what_is_dropped_or_unknown_fails_and_is_named() {
    let place = Toy::new();
    place.write("mine.config", "CONFIG_BLOCKED=y\nCONFIG_NOWHERE=y\n");
    let mine = place.path("mine.config");
    place
        .build("linux")
        .arg("--config")
        .arg(&mine)
        .assert()
        .code(1)
        .stderr(contains("CONFIG_BLOCKED, CONFIG_NOWHERE"))
        .stderr(contains("mine.config:1"))
        .stderr(contains("unmet dependency: ABSENT (ABSENT is not in this tree; Kconfig:7)"))
        .stderr(contains("no Kconfig file of this tree defines it"));
    assert!(!place.path("project/out").exists());
    place.write(
        "mine.config",
        "CONFIG_BLOCKED=y # optional: may be\nCONFIG_NOWHERE=y # since 7.0\n",
    );
    place
        .build("linux")
        .arg("--config")
        .arg(&mine)
        .assert()
        .code(0)
        .stderr(contains("need not be"));
    place.write("mine.config", "CONFIG_NET=y # sinse 5.10\n");
    place
        .build("linux")
        .arg("--config")
        .arg(&mine)
        .assert()
        .code(2)
        .stderr(contains("mine.config:1"));
}

#[test]
fn a_new_fragment_in_the_same_objdir_reconfigures() {
    let place = Toy::new();
    let build = |args: &[&str]| {
        place.build("linux").args(["--output"]).arg(place.path("out")).args(args).assert().code(0)
    };
    build(&[]);
    assert!(!place.read("out/config").contains("EXTRA"));
    build(&["--config", "extra"])
        .stderr(contains("other fragments: boot → boot extra").and(contains("1 lines").not()));
    assert!(place.read("out/config").contains("CONFIG_EXTRA=y"));
    assert!(place.read("out/metadata.json").contains("1 symbols changed: EXTRA"));
    build(&["--kconfig-add", "NET=n"])
        .stderr(contains("boot:1 asks y, --kconfig-add NET=n asks n"));
    assert!(place.read("out/config").contains("# CONFIG_NET is not set"));
    build(&["--kconfig", "tinyconfig"]);
    assert!(place.read("out/config").contains("CONFIG_TINY=y"));
}

#[test]
fn odd_paths_are_refused_before_anything_runs() {
    let place = Toy::new();
    for (dir, why) in [("a b", "it has a space"), ("a:b", "it has a colon")] {
        let odd = place.path(dir);
        place.build("linux").arg("--build-dir").arg(&odd).assert().code(2).stderr(contains(why));
        place.build("linux").env("O", &odd).assert().code(2).stderr(contains(why));
        assert!(!odd.exists() && !place.path("a").exists());
        place.source(dir);
        place.build(dir).assert().code(2).stderr(contains(why));
    }
    place.build("linux").arg("--build-dir").arg(place.path("linux")).assert().code(2);
    assert!(!place.path("cache").exists());
}

#[test]
fn a_source_that_cannot_be_built_out_of_is_refused() {
    let place = Toy::new();
    place.build("nowhere").assert().code(3);
    place.write("empty/x", "");
    place.build("empty").assert().code(2).stderr(contains("no Makefile with VERSION"));
    place.write("linux/.config", "");
    place.build("linux").assert().code(2).stderr(contains("mrproper"));
}

#[test]
fn failures_are_told_by_their_kind() {
    let place = Toy::new();
    let fails = |fake: &str, code: i32, said: &[&str]| {
        place.write("fake.sh", fake);
        let fake_path = place.path("fake.sh");
        let mut assert =
            place.build("linux").arg(format!("FAKE={}", fake_path.display())).assert().code(code);
        for text in said {
            assert = assert.stderr(contains(*text));
        }
        assert!(!place.path("project/out").exists(), "{fake}");
    };
    fails(
        "echo two.c:3:4: error: expected x; false",
        1,
        &["does not build: it failed at", "two.c:3:4: error: expected x", "build.log"],
    );
    fails(
        "echo \"a.h:11:3: error: cannot use keyword 'false' as enumeration constant\"; false",
        3,
        &["toolchain does not fit", "older compiler"],
    );
    fails(
        "cat /etc/passwd >/dev/full",
        3,
        &["no space left while linux was built, writing", "No space left on device"],
    );
    fails("no-such-program", 3, &["cannot be built on this host", "no-such-program"]);
    fails("exit 3", 1, &["does not build"]);
}

#[test]
fn warnings_of_objects_not_made_anew_are_remembered() {
    let place = Toy::new();
    place.build("linux").assert().code(0);
    std::thread::sleep(std::time::Duration::from_millis(20));
    place.write("linux/two.c", "int two = 2;\n");
    place.build("linux").assert().code(0).stderr(contains("another source"));
    let dir = product(&place, "linux");
    let log = std::fs::read_to_string(dir.join("build.log")).unwrap();
    assert!(log.contains("CC      two.o") && !log.contains("CC      one.o"), "{log}");
    assert_eq!(json(&dir.join("diagnostics.json"))[0]["file"], "one.c");
}

#[test]
fn a_source_that_moved_is_said() {
    let place = Toy::new();
    let objdir = place.path("objdir");
    place.build("linux").arg("--build-dir").arg(&objdir).assert().code(0);
    place.source("moved");
    place
        .build("moved")
        .arg("--build-dir")
        .arg(&objdir)
        .assert()
        .code(0)
        .stderr(contains("the source was at").and(contains("everything is made anew")));
}

#[test]
fn two_builds_in_one_objdir_wait_for_each_other() {
    let place = Toy::new();
    place.write("fake.sh", "sleep 1\n");
    let command = |out: &str| {
        let mut cmd = place.build("linux");
        cmd.arg("--build-dir").arg(place.path("objdir")).arg("--output").arg(place.path(out));
        cmd.arg(format!("FAKE={}", place.path("fake.sh").display()));
        cmd
    };
    std::thread::scope(|s| {
        let first = s.spawn(|| command("one").assert().code(0));
        while !place.path("objdir/.xtask/build.log").exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        command("two").assert().code(0).stderr(contains("waiting for the object directory"));
        first.join().unwrap();
    });
    assert!(place.path("one/image").exists() && place.path("two/image").exists());
}

#[test]
fn missing_tools_are_named_at_once() {
    let place = Toy::new();
    let tools = place.path("bin");
    std::fs::create_dir(&tools).unwrap();
    for tool in ["sh", "make", "gcc", "ld", "perl"] {
        std::os::unix::fs::symlink(which::which(tool).unwrap(), tools.join(tool)).unwrap();
    }
    place
        .build("linux")
        .env("PATH", &tools)
        .assert()
        .code(3)
        .stderr(contains("the build needs bc, bison, flex"))
        .stderr(contains("no flex: it generates the lexers"))
        .stderr(contains("apt-get install --no-install-recommends bc bison flex"));
    place
        .build("linux")
        .env("PATH", &tools)
        .args(["--toolchain", "clang-77"])
        .assert()
        .code(3)
        .stderr(contains("ld.lld-77").and(contains("lld-77")));
}

#[test]
fn what_ccache_did_is_told() {
    if which::which("ccache").is_err() {
        return;
    }
    let place = Toy::new();
    let numbers = |source: &str, objdir: &str, more: &[&str]| {
        let mut cmd = place.build(source);
        cmd.arg("--build-dir").arg(place.path(objdir)).arg("--output").arg(place.path("out"));
        cmd.args(more).assert().code(0);
        json(&place.path("out/metadata.json"))["ccache"].clone()
    };
    place.source("other");
    let hits = |n: &serde_json::Value| {
        n["direct-hits"].as_u64().unwrap() + n["preprocessed-hits"].as_u64().unwrap()
    };
    let first = numbers("linux", "o1", &[]);
    assert_eq!((hits(&first), first["misses"].as_u64()), (0, Some(2)), "{first}");
    // Another source of the same text, at the same place relative to its objects.
    let again = numbers("other", "o2", &[]);
    assert_eq!((hits(&again), again["misses"].as_u64()), (2, Some(0)), "{again}");
    assert!(numbers("linux", "o3", &["--wrapper", "none"]).is_null());
}

#[test]
fn an_interrupted_build_leaves_no_product_and_no_child() {
    let place = Toy::new();
    place.write("fake.sh", "echo $$ > $1.pid; sleep 50\n");
    let mut cmd = std::process::Command::new(assert_cmd::cargo::cargo_bin!("xtask"));
    cmd.current_dir(place.path("project"))
        .env("XDG_CACHE_HOME", place.path("cache"))
        .args(["build-kernel", "--arch", "toy", "--build-dir"])
        .arg(place.path("objdir"))
        .arg("--source")
        .arg(place.path("linux"))
        .arg(format!("FAKE={} {}", place.path("fake.sh").display(), place.path("fake").display()))
        .stderr(std::process::Stdio::null());
    let mut child = cmd.spawn().unwrap();
    let pid = loop {
        let written = std::fs::read_to_string(place.path("fake.pid")).unwrap_or_default();
        if let Ok(pid) = written.trim().parse::<i32>() {
            break pid;
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before the compiler began");
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    let us = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(us, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!place.path("project/out").exists());
    let gone = || nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_err();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while !gone() && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(gone(), "the compiler {pid} outlived us");
    place
        .build("linux")
        .arg("--build-dir")
        .arg(place.path("objdir"))
        .assert()
        .code(0)
        .stderr(contains("did not come to its end"));
    // What make said of its end belongs to that build alone.
    let diagnostics = json(&product(&place, "linux").join("diagnostics.json"));
    assert_eq!(diagnostics.as_array().unwrap().len(), 1, "{diagnostics}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Toy::new();
    place.build("linux").assert().code(0);
    let mut cmd = std::process::Command::new(assert_cmd::cargo::cargo_bin!("xtask"));
    cmd.current_dir(place.path("project"))
        .env("XDG_CACHE_HOME", place.path("cache"))
        .args(["build-kernel", "--arch", "toy", "--source"])
        .arg(place.path("linux"))
        .stdout(std::process::Stdio::piped());
    let mut child = cmd.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn objects_of_other_flags_are_kept_apart() {
    let place = Toy::new();
    for args in [&[][..], &["W=1"], &["C=1"]] {
        place.build("linux").args(args).assert().code(0);
    }
    let objdirs = std::fs::read_dir(place.path("cache/kseries/objdirs")).unwrap().flatten().next();
    let names: Vec<_> = std::fs::read_dir(objdirs.unwrap().path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.iter().filter(|n| n.ends_with("-W1")).count(), 1, "{names:?}");
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn usage() {
    let place = Toy::new();
    for (args, said) in [
        (&["--arch", "z80"][..], "known architectures"),
        (&["--toolchain", "tcc"], "toolchains are gcc"),
        (&["--config", "nix"], "no configuration fragment"),
        (&["--kconfig-add", "NET"], "--kconfig-add NET"),
        (&["--jobs", "0"], "no compiler could run"),
        (&["bzImage"], "--targets"),
    ] {
        let mut cmd = place.build("linux");
        // The helper has given --arch already; the last counts nowhere in clap.
        if args[0] == "--arch" {
            cmd = Command::cargo_bin("xtask").unwrap();
            cmd.current_dir(place.path("project")).arg("build-kernel").arg("--source");
            cmd.arg(place.path("linux"));
        }
        cmd.args(args).assert().code(2).stderr(contains(said));
    }
}

#[test]
fn other_goals_make_no_image() {
    let place = Toy::new();
    place
        .build("linux")
        .args(["--targets", "modules", "--format", "json"])
        .assert()
        .code(0)
        .stdout(contains("\"image\": null"));
}
