//! `list`, `show` and `generate-series` as their user runs them, on small trees
//! in git: results, exit codes, and what git makes of the mails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::print_stderr)]

#[path = "../host/machine.rs"]
#[allow(dead_code)]
mod host;
#[path = "../host/mounted.rs"]
mod mounted;
mod places;
mod wrong;

use std::fs;
use std::path::Path;
use std::process::Command;

use host::Host;
use mounted::Mounted;

const DEV: &str = "#include <linux/a.h>\n\n/**\n * add - adds\n */\nvoid add(struct napi *n)\n{\n\tn->list = 0;\n\tn->weight = 64;\n\tn->dev = 1;\n}\nEXPORT_SYMBOL(add);\n";
const SERIES: &str = r#"#:schema ../series.schema.json
title = "Two steps"
list = "net-next"
change-id = "20241129-two-steps-431ffd03aa5e"
author = "Björn Töpel <bjorn@example.org>"
date = 2024-11-29T12:00:00+01:00
cover = "cover.tera"
bases = ["6.12"]

[probes]
new = { function = "napi_new", file = "net/dev.c" }

[[patch]]
name = "split"
message = "split.msg"
absorbed = { function = "init_list", file = "net/dev.c", why = "the base has it" }
needs = { function = "add", file = "net/dev.c", why = "there is nothing to split" }

[[patch.edit]]
file = "net/dev.c"
within = { function = "add" }
capture = { setup = { from = { text = "n->list = 0;" }, to = { text = "n->weight = 64;" } } }
at = { captured = "setup" }
replace = { text = "\tinit_list(n);" }

[[patch.edit]]
file = "net/dev.c"
at = { function = "add" }
insert-before = "init.c"

[[patch]]
name = "object"
message = { text = "net: Build it\n\nSo that it is used.\n\nSigned-off-by: Björn Töpel <bjorn@example.org>\n" }

[[patch.edit]]
file = "net/Makefile"
add-object = "obj-$(CONFIG_N) += n.o"

[[patch.edit]]
file = "net/n.c"
create = { text = "int n;\n" }

[[patch]]
name = "more"
optional = true
message = { text = "net: More\n\nSigned-off-by: Björn Töpel <bjorn@example.org>\n" }

[[patch.edit]]
file = "net/n.c"
at = { variable = "n" }
insert-after = { text = "int m;" }
"#;

/// A project with the series `two` and a clone `linux`.
struct Two(Host);

impl std::ops::Deref for Two {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.0
    }
}

impl Two {
    fn new() -> Two {
        let host = Host::new(&[("net/dev.c", DEV), ("net/Makefile", "obj-y += dev.o\n")]);
        host.put("project/series/two/series.toml", SERIES);
        host.put("project/templates/two/cover.tera", "Why it is good on {{ base.version }}.\n");
        host.put("project/templates/two/split.msg", "net: Split {{ patch.name }}\n\nWhy.\n\nSigned-off-by: Björn Töpel <bjorn@example.org>\n");
        host.put(
            "project/templates/two/init.c",
            "static void init_list(struct napi *n)\n{\n{{ setup }}\n}\n",
        );
        Two(host)
    }

    fn generate(&self, more: &[&str], code: i32) -> (String, String) {
        let mut args = vec!["generate-series", "two", "--base", "../linux"];
        args.extend(more);
        self.run(&args, code)
    }

    fn change_series(&self, from: &str, to: &str) {
        assert!(SERIES.contains(from), "{from}");
        self.put("project/series/two/series.toml", SERIES.replacen(from, to, 1));
    }

    /// Files below the project's products.
    fn products(&self) -> Vec<String> {
        let mut names: Vec<String> = walk(&self.path("project/out"));
        names.sort();
        names
    }
}

fn walk(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(walk(&path));
        } else {
            names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    names
}

#[test]
fn git_am_of_the_mails_gives_the_printed_tree() {
    let host = Two::new();
    let (out, _) = host.generate(&["--output", "../mails", "--with-optional"], 0);
    let tree = out.lines().find_map(|l| l.trim().strip_prefix("tree ")).unwrap().trim().to_owned();
    let mut mails = walk(&host.path("mails"));
    mails.sort();
    assert_eq!(
        mails,
        [
            "0000-cover-letter.patch",
            "0001-net-Split-split.patch",
            "0002-net-Build-it.patch",
            "0003-net-More.patch"
        ]
    );
    let cover = fs::read_to_string(host.path("mails/0000-cover-letter.patch")).unwrap();
    for part in [
        "Subject: [PATCH net-next 0/3] Two steps",
        "Why it is good on 6.12.3.",
        "base-commit: ",
        "change-id: 20241129-two-steps",
    ] {
        assert!(cover.contains(part), "{part}\n{cover}");
    }
    let list: Vec<String> = mails.iter().skip(1).map(|m| format!("../mails/{m}")).collect();
    let mut args = vec!["am", "-q"];
    args.extend(list.iter().map(String::as_str));
    host.git("linux", &args);
    assert_eq!(host.git("linux", &["rev-parse", "HEAD^{tree}"]), tree);
    assert_eq!(
        host.git("linux", &["log", "-1", "--format=%an|%s", "HEAD~2"]),
        "Björn Töpel|net: Split split"
    );
    let dev = fs::read_to_string(host.path("linux/net/dev.c")).unwrap();
    assert_eq!(
        dev,
        "#include <linux/a.h>\n\nstatic void init_list(struct napi *n)\n{\n\tn->list = 0;\n\tn->weight = 64;\n}\n\n/**\n * add - adds\n */\nvoid add(struct napi *n)\n{\n\tinit_list(n);\n\tn->dev = 1;\n}\nEXPORT_SYMBOL(add);\n"
    );
    // What is there now is absorbed, and nothing is mailed for it.
    let (out, _) = host.run(&["show", "two", "--base", "../linux"], 0);
    assert!(
        out.contains("split: absorbed: function \"init_list\" at net/dev.c:3 (the base has it)"),
        "{out}"
    );
}

#[test]
fn the_same_source_and_base_give_the_same_bytes() {
    let host = Two::new();
    let (first, _) = host.generate(&["--output", "../a"], 0);
    // Another cache, another time, the store made anew.
    fs::remove_dir_all(host.path("cache")).unwrap();
    let (second, _) = host.generate(&["--output", "../b"], 0);
    assert_eq!(first.replace("../a", ""), second.replace("../b", ""));
    for name in walk(&host.path("a")) {
        let read = |folder: &str| fs::read(host.path(folder).join(&name)).unwrap();
        assert_eq!(read("a"), read("b"), "{name}");
    }
}

#[test]
fn products_stand_in_out_and_are_replaced_whole() {
    let host = Two::new();
    host.generate(&["--with", "more"], 0);
    assert_eq!(host.products().len(), 4);
    host.generate(&[], 0);
    assert_eq!(
        host.products(),
        ["0000-cover-letter.patch", "0001-net-Split-split.patch", "0002-net-Build-it.patch"]
    );
    assert!(host.path("project/out/series/two/linux/v1/0000-cover-letter.patch").is_file());
    let (out, err) = host.generate(&["-v", "3", "--rfc"], 0);
    assert!(out.contains("two v3 on linux"), "{out}");
    assert!(err.contains("two: v3 has no [[changelog]] entry"), "{err}");
    let cover =
        fs::read_to_string(host.path("project/out/series/two/linux/v3/0000-cover-letter.patch"))
            .unwrap();
    assert!(cover.contains("[RFC PATCH net-next v3 0/2]"), "{cover}");
    // A folder with something else in it is not replaced.
    host.put("mine/notes.txt", "x");
    let (_, err) = host.generate(&["--output", "../mine"], 2);
    assert!(err.contains("notes.txt") && walk(&host.path("mine")) == ["notes.txt"], "{err}");
}

#[test]
fn clones_in_folders_of_one_name_have_products_of_their_own() {
    let host = Two::new();
    host.put("other/linux/Makefile", host.read("linux/Makefile"));
    host.put("other/linux/net/dev.c", DEV.replace("= 1", "= 2"));
    host.put("other/linux/net/Makefile", "obj-y += dev.o\n");
    host.git("other/linux", &["init", "-q", "-b", "main"]);
    host.git("other/linux", &["add", "-A"]);
    host.git("other/linux", &["commit", "-qm", "base"]);
    let folder = |base: &str| {
        let (out, _) = host.run(&["generate-series", "two", "--base", base, "--format", "json"], 0);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        report[0]["folder"].as_str().unwrap().to_owned()
    };
    let (one, other) = (folder("../linux"), folder("../other/linux"));
    assert!(one.ends_with("/two/linux/v1") && other.contains("/two/linux-"), "{one} {other}");
    assert_eq!((folder("../linux"), folder("../other/linux")), (one.clone(), other.clone()));
    // What is mailed does not depend on which was first.
    let id = |folder: &str| {
        let cover = fs::read_to_string(Path::new(folder).join("0000-cover-letter.patch")).unwrap();
        cover.lines().find(|l| l.starts_with("Message-ID: ")).unwrap().to_owned()
    };
    assert!(id(&one) != id(&other));
    let stem = |folder: &str| id(folder).rsplit_once('-').unwrap().0.to_owned();
    assert_eq!(stem(&one), stem(&other));
    fs::remove_dir_all(host.path("linux")).unwrap();
    assert_eq!(folder("../other/linux"), one);
}

#[test]
fn a_branch_is_made_in_the_clone_and_not_replaced_unless_forced() {
    let host = Two::new();
    let before = host.git("linux", &["rev-parse", "HEAD"]);
    let (out, _) = host.generate(&["--format", "json", "--branch", "two"], 0);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let head = report[0]["commit"].as_str().unwrap();
    assert_eq!(host.git("linux", &["rev-parse", "two"]), head);
    assert_eq!(host.git("linux", &["rev-parse", "HEAD"]), before);
    assert_eq!(host.git("linux", &["rev-parse", "two~2"]), before);
    assert_eq!(host.git("linux", &["fsck", "--no-dangling"]), "");
    assert_eq!(host.git("linux", &["status", "--porcelain"]), "");
    // Again: the same; changed: only by force; checked out: never.
    host.generate(&["--branch", "two"], 0);
    host.change_series("So that it is used.", "For a reason.");
    let (_, err) = host.generate(&["--branch", "two"], 2);
    assert!(err.contains("--force"), "{err}");
    assert_eq!(host.git("linux", &["rev-parse", "two"]), head);
    host.generate(&["--branch", "two", "--force"], 0);
    assert_ne!(host.git("linux", &["rev-parse", "two"]), head);
    host.change_series("So that it is used.", "For another reason.");
    let (_, err) = host.generate(&["--branch", "main", "--force"], 2);
    assert!(err.contains("checked out"), "{err}");
    host.git("linux", &["branch", "c/d"]);
    for (name, other) in [("c", "c/d"), ("two/b", "two"), ("c/d/e/f", "c/d")] {
        let (_, err) = host.generate(&["--branch", name], 2);
        assert!(err.contains(&format!("there is a branch {other};")), "{err}");
    }
    for name in ["a..b", "@", "HEAD", "refs/heads/x"] {
        let (_, err) = host.generate(&["--branch", name], 2);
        assert!(err.contains("does not take this name"), "{err}");
    }
    let (_, err) = host.generate(&["--branch", &format!("a/{}", "b".repeat(251))], 2);
    assert!(err.contains("251 bytes") && err.contains("mend:"), "{err}");
}

#[test]
fn verdicts_have_their_exit_codes_and_mail_nothing() {
    // Absorbed as a whole: 0, told, no mails.
    let host = Two::new();
    host.change_series(
        "bases =",
        "absorbed = { file = \"net/dev.c\", why = \"solved otherwise\" }\nbases =",
    );
    let (out, _) = host.generate(&[], 0);
    assert!(out.contains("absorbed: file net/dev.c (solved otherwise)"), "{out}");
    // Blocked: 1, named.
    host.change_series(
        "function = \"add\", file = \"net/dev.c\", why",
        "function = \"sub\", file = \"net/dev.c\", why",
    );
    let (out, _) = host.generate(&[], 1);
    assert!(
        out.contains("split: blocked: function \"sub\" in net/dev.c (there is nothing to split)"),
        "{out}"
    );
    // An anchor that is not there: 4, with what is near.
    host.change_series("n->weight = 64;", "n->weight = 65;");
    let (out, _) = host.generate(&[], 4);
    assert!(out.contains("series/two/series.toml:19:1: replace in net/dev.c: capture setup: text \"n->weight = 65;\""), "{out}");
    assert!(out.contains("net/dev.c:9: n->weight = 64;"), "{out}");
    // An anchor that is there twice: 4, with both places.
    host.put("linux/net/dev.c", DEV.replace("\tn->dev", "\tn->weight = 64;\n\tn->dev"));
    host.commit("twice");
    host.put("project/series/two/series.toml", SERIES);
    let (out, _) = host.generate(&[], 4);
    assert!(
        out.contains("found 2 times")
            && out.contains("net/dev.c:9: ")
            && out.contains("net/dev.c:10: "),
        "{out}"
    );
    let (out, _) = host.generate(&["--format", "json"], 4);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report[0]["verdict"], "conflict");
    assert_eq!(report[0]["patches"][0]["conflicts"][0]["near"].as_array().unwrap().len(), 2);
    // A new file where a folder is, or below a file: 4, and `show` says the same.
    host.put("linux/net/dev.c", DEV);
    host.commit("once");
    for (path, why) in [("net", "net is a folder"), ("Makefile/n.c", "Makefile is a file")] {
        host.change_series("file = \"net/n.c\"\ncreate", &format!("file = \"{path}\"\ncreate"));
        let (out, _) = host.generate(&[], 4);
        assert!(out.contains(why), "{out}");
        let (out, _) = host.run(&["show", "two", "--base", "../linux"], 0);
        assert!(out.contains(why), "{out}");
    }
    assert!(host.products().is_empty());
}

#[test]
fn list_and_show() {
    let host = Two::new();
    let (out, _) = host.run(&["list"], 0);
    assert_eq!(out, "two  v1 2+1 patches  Two steps\n");
    host.put(
        "project/series/two/mutants/m.toml",
        "title = \"x\"\nwhy = \"y\"\ntest = \"no\"\ncaught-by = \"z\"\n",
    );
    let (_, err) = host.run(&["show", "two"], 2);
    assert!(err.contains("series/two/mutants/m.toml:3:1: no test \"no\""), "{err}");
    fs::remove_file(host.path("project/series/two/mutants/m.toml")).unwrap();
    let (out, _) = host.run(&["--format", "json", "show", "two", "--base", "../linux"], 0);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["bases"][0]["verdict"], "applies");
    assert_eq!(report["bases"][0]["probes"]["new"], false);
    assert_eq!(report["patches"][2], "more (optional)");
}
