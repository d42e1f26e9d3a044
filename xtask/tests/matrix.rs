//! `cargo xtask matrix` as its user runs it, on small trees: verdicts in every cell, what is
//! kept, and what the document says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const SERIES: &str = r#"
title = "One step"
list = "net-next"
change-id = "20241129-one-step-431ffd03aa5e"
author = "Björn Töpel <bjorn@example.org>"
date = 2024-11-29T12:00:00+01:00
bases = ["OLD", "NEW"]

[[patch]]
name = "split"
message = { text = "net: Split\n\nWhy.\n\nSigned-off-by: Björn Töpel <bjorn@example.org>\n" }
absorbed = { function = "init_list", file = "net/dev.c", why = "the base has it" }

[[patch.edit]]
file = "net/dev.c"
at = { text = "n->list = 0;" }
replace = { text = "n->list = 1;" }
"#;

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    /// Two clones, of which the newer has what the series brings.
    fn new() -> Project {
        let p = Project { dir: tempfile::tempdir().unwrap() };
        for (name, minor, dev) in [
            ("old", 1, "void add(struct napi *n)\n{\n\tn->list = 0;\n}\n"),
            ("new", 12, "void init_list(struct napi *n)\n{\n\tn->list = 2;\n}\n"),
        ] {
            let makefile =
                format!("VERSION = 6\nPATCHLEVEL = {minor}\nSUBLEVEL = 0\nEXTRAVERSION =\n");
            p.put(&format!("{name}/Makefile"), &makefile);
            p.put(&format!("{name}/net/dev.c"), dev);
            p.git(name, &["init", "-q", "-b", "main"]);
            p.git(name, &["add", "-A"]);
            p.git(name, &["-c", "user.name=T", "-c", "user.email=t@t", "commit", "-qm", "base"]);
        }
        let text = SERIES.replace("OLD", &p.base("old")).replace("NEW", &p.base("new"));
        p.put("project/series/one/series.toml", &text);
        p
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn base(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn expect(&self, old: &str, new: &str) {
        let (a, b) = (self.base("old"), self.base("new"));
        let text = format!("[one]\n\"{a}\" = \"{old}\"\n\"{b}\" = \"{new}\"\n");
        self.put("project/ci/verdicts.toml", &text);
    }

    fn clean(&self, command: &mut Command) {
        command.env("HOME", self.dir.path()).env("XDG_CONFIG_HOME", self.path("config"));
        command.env("XDG_CACHE_HOME", self.path("cache")).env_remove("KSERIES_PROJECT");
        command.env("GIT_CONFIG_SYSTEM", "/dev/null").env("GIT_CONFIG_GLOBAL", "/dev/null");
    }

    fn git(&self, folder: &str, args: &[&str]) {
        let mut c = Command::new("git");
        self.clean(c.args(args).current_dir(self.path(folder)));
        assert!(c.status().unwrap().success(), "git {args:?}");
    }

    /// Runs `matrix`; gives stdout and stderr.
    fn run(&self, args: &[&str], code: i32) -> (String, String) {
        let mut c = Command::new(env!("CARGO_BIN_EXE_xtask"));
        self.clean(c.arg("matrix").args(args).current_dir(self.path("project")));
        let out = c.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(out.stdout), text(out.stderr));
        assert_eq!(out.status.code(), Some(code), "{args:?}\n{stdout}\n{stderr}");
        (stdout, stderr)
    }

    fn json(&self, args: &[&str], code: i32) -> Value {
        let (out, _) = self.run(&[args, &["--format", "json"]].concat(), code);
        serde_json::from_str(&out).unwrap()
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_verdict_in_every_cell_as_it_is_expected() {
    let p = Project::new();
    // Without a list only a conflict would fail; the bases are the series' own, oldest first.
    let report = p.json(&[], 0);
    let cells: Vec<(String, &str)> = report["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["linux"].as_str().unwrap().to_owned(), c["summary"].as_str().unwrap()))
        .collect();
    assert_eq!(cells[0], ("6.1.0".to_owned(), "applies (no verdict is listed)"));
    assert!(cells[1].0 == "6.12.0" && cells[1].1.starts_with("absorbed: function"), "{cells:?}");
    p.expect("applies", "absorbed");
    assert_eq!(p.json(&[], 0)["held"], 2);
    p.expect("applies", "blocked");
    let (out, _) = p.run(&[], 1);
    assert!(out.contains("FAILED") && out.contains("expected: blocked"), "{out}");
    assert!(out.ends_with("s)\n") && out.contains("1 held, 1 failed, 0 not run"), "{out}");
    let (out, _) = p.run(&["--base", &p.base("old")], 0);
    assert!(out.contains("1 held, 0 failed, 0 not run"), "{out}");
}

#[test]
fn a_conflict_has_its_exit_code_and_does_not_stop_the_rest() {
    let p = Project::new();
    p.put("old/net/dev.c", "void add(void);\n");
    p.git("old", &["-c", "user.name=T", "-c", "user.email=t@t", "commit", "-qam", "moved"]);
    let report = p.json(&["--steps", "verdict,check"], 4);
    let cells = report["cells"].as_array().unwrap();
    let seen: Vec<_> = cells
        .iter()
        .map(|c| (c["step"].as_str().unwrap(), c["status"].as_str().unwrap()))
        .collect();
    assert_eq!(seen, [("verdict", "failed"), ("verdict", "held"), ("check", "failed")]);
    assert!(cells[0]["notes"][0].as_str().unwrap().contains("n->list = 0;"), "{cells:?}");
    let report = p.json(&["--fail-fast"], 4);
    assert_eq!((&report["failed"], &report["not_run"]), (&1.into(), &1.into()));
}

#[test]
fn what_held_is_taken_again_and_the_document_has_only_what_ran() {
    let p = Project::new();
    p.expect("applies", "absorbed");
    let document = p.path("project/ci/matrix.md");
    p.run(&["--list"], 0);
    assert!(!document.exists());
    p.run(&["--write"], 0);
    let text = read(&document);
    assert!(text.contains("## verdict") && text.contains("2 of 2 held"), "{text}");
    assert!(!text.contains("## check") && !text.contains("## boot"), "{text}");
    assert!(text.contains("`cargo xtask matrix --steps verdict --write`"), "{text}");
    // A run that is asked to go on takes both; a change of the source takes neither.
    let (_, talk) = p.run(&["--resume"], 0);
    assert_eq!(talk.matches(": held on ").count(), 2, "{talk}");
    let (out, _) = p.run(&["--list"], 0);
    assert_eq!(out.matches("held  ").count(), 2, "{out}");
    let source = p.path("project/series/one/series.toml");
    fs::write(&source, format!("{}\n# seen\n", read(&source))).unwrap();
    let (_, talk) = p.run(&["--resume"], 0);
    assert_eq!(talk.matches(": held on ").count(), 0, "{talk}");
    // Without --resume the document is of this run alone.
    let only = p.path("old.md").display().to_string();
    p.run(&["--base", &p.base("old"), "--write", &only], 0);
    let text = read(Path::new(&only));
    assert!(text.contains("1 of 1 held") && !text.contains("absorbed"), "{text}");
    // It takes no row from a document that has more: the new one is put beside it.
    let whole = read(&document);
    let (_, err) = p.run(&["--base", &p.base("old"), "--write"], 1);
    assert!(err.contains("1 of its rows are not in this run: verdict of one"), "{err}");
    assert_eq!(read(&document), whole);
    let beside = p.path("project/ci/matrix.md.new");
    assert_eq!(read(&beside).matches("| held |").count(), 1);
    // Nor does that of a later run take the place of this one.
    fs::write(&beside, "kept").unwrap();
    p.run(&["--base", &p.base("old"), "--write"], 1);
    assert_eq!(read(&beside), "kept");
    assert!(p.path("project/ci/matrix.md.new2").exists());
}

#[test]
fn a_document_replaces_nothing_but_a_document() {
    let p = Project::new();
    p.expect("applies", "absorbed");
    p.put("project/thesis.md", "# Thesis\n");
    p.put("project/film.md", "# Matrix\n\nMy notes.\n");
    std::os::unix::fs::symlink("nothing.md", p.path("project/dangling.md")).unwrap();
    fs::create_dir(p.path("project/folder.md")).unwrap();
    for (name, want) in [
        ("thesis.md", "no document of cargo xtask matrix"),
        ("film.md", "no document of cargo xtask matrix"),
        ("dangling.md", "a link to what is not there"),
        ("/proc/x.md", "no file can be made in /proc"),
        ("folder.md", "a folder"),
        ("nowhere/x.md", "there is no folder nowhere"),
    ] {
        // It is told before the work.
        let (_, err) = p.run(&["--write", name], 2);
        assert!(err.contains(want) && !err.contains("verdict of one"), "{name}: {err}");
    }
    assert_eq!(read(&p.path("project/thesis.md")), "# Thesis\n");
    // A link stays, and what it leads to is written.
    let link = p.path("project/link.md");
    std::os::unix::fs::symlink("two.md", &link).unwrap();
    p.put("project/two.md", "");
    p.run(&["--write", "link.md"], 0);
    assert!(link.is_symlink() && read(&p.path("project/two.md")).contains("2 of 2 held"));
}

#[test]
fn bad_usage_is_told_and_leaves_nothing() {
    let p = Project::new();
    for (args, want) in [
        (&["two"][..], "there are: one"),
        (&["--base", "../nowhere"], "nowhere"),
        (&["--arch", "vax"], "known architectures"),
        (&["--flavour", "vanilla"], "flavours: "),
        (&["--steps", "magic"], "[possible values: "),
        (&["--write", "one"], "ends in .md"),
        (&["--base", "../new", "--steps", "boot"], "there is no cell"),
    ] {
        let (out, err) = p.run(args, 2);
        assert!(err.contains(want) && out.is_empty(), "{args:?}: {err}");
    }
    p.put("project/ci/verdicts.toml", "[one]\n\"6.1\" = \"appliess\"\n");
    let (_, err) = p.run(&[], 2);
    assert!(err.contains("appliess"), "{err}");
    assert!(!p.path("project/ci/matrix.md").exists());
}
