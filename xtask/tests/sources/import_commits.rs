//! `import-series` of commits, prepared branches and quilt stacks.

use std::fs;
use std::process::Command;

use crate::git::kernel;
use crate::host::Host;

/// Two commits on the branch `work`.
fn work(host: &Host) {
    host.git("linux", &["checkout", "-q", "-b", "work"]);
    two(host);
    host.git("linux", &["checkout", "-q", "main"]);
}

fn two(host: &Host) {
    host.change(
        "net/dev.c",
        "\tn->poll = LIMIT;\n",
        "\tn->poll = LIMIT;\n\tn->weight = 1;\n",
        "net: Set the weight\n\nWhy.\n\nSigned-off-by: Jörg Author <jorg@example.org>",
    );
    host.put("linux/net/new.c", "int new;\n");
    host.change("net/Makefile", "+= a.o\n", "+= a.o\nobj-y += new.o\n", "net: Add new.c");
}

#[test]
fn a_range_of_commits() {
    let host = kernel();
    work(&host);
    // The other branch has moved on: the series stands where it left it.
    host.put("linux/more", "x\n");
    host.commit("main: more");
    let want = host.log("main..work");
    let fork = host.git("linux", &["merge-base", "main", "work"]);
    host.git("linux", &["checkout", "-q", &fork]);
    host.git("linux", &["branch", "-q", "-f", "main"]);
    host.git("linux", &["checkout", "-q", "main"]);
    let report = host.import_and_prove("a", "../linux@main..work", &[], &want);
    assert!(report["base"].as_str().unwrap().ends_with(&fork), "{report}");
    for p in report["patches"].as_array().unwrap() {
        assert_eq!(p["diffs"], 0, "{report:#}");
    }
    let toml = host.read("project/series/a/series.toml");
    for part in
        ["within = { function = \"two\" }", "add-object = \"obj-y += new.o\"", "create = \"new.c\""]
    {
        assert!(toml.contains(part), "{part}: {toml}");
    }
    let (out, talk) =
        host.run(&["import-series", "b", "--repo", "../linux", "--range", "main..work"], 0);
    assert!(talk.contains(": what the commits stand on"), "{talk}");
    assert!(out.contains("2 patches, each with the tree of its source"), "{out}");
    // Onto another tree they go as patches.
    host.put("linux/net/first.c", "x\n");
    host.change(
        "net/dev.c",
        "#define LIMIT 64\n",
        "/* More. */\n#define LIMIT 64\n",
        "main: shift",
    );
    host.git("linux", &["checkout", "-q", "-b", "picked"]);
    host.git("linux", &["cherry-pick", &format!("{fork}..work")]);
    let picked = host.log("main..picked");
    host.git("linux", &["checkout", "-q", "main"]);
    host.import_and_prove("c", &format!("../linux@{fork}..work"), &["--base", "../linux"], &picked);
}

#[test]
fn a_base_is_named_so_that_it_is_found_elsewhere() {
    let host = kernel();
    work(&host);
    let main = host.git("linux", &["rev-parse", "main"]);
    let bases = |name: &str| {
        let toml = host.read(&format!("project/series/{name}/series.toml"));
        toml.lines().find(|l| l.starts_with("bases")).unwrap().to_owned()
    };
    host.import("a", "../linux@main..work", &[]);
    assert_eq!(bases("a"), format!("bases     = [\"../linux@{main}\"]"));
    host.import("b", "../linux@main..work", &["--base", "../linux"]);
    assert_eq!(bases("b"), "bases     = [\"../linux\"]");
    // It is meant from the project, in whatever folder.
    for folder in ["project", "project/series/b", "project/templates"] {
        let (_, talk) = host.run_in(folder, &["generate-series", "b", "-o", "../mails-b"], 0);
        assert!(talk.contains("the first of the series' bases that is at hand"), "{talk}");
    }
    // What the user has a name for has that name.
    let mine = format!("[base.mine]\nclone = \"{}\"\n", host.path("linux").display());
    host.put("config/kseries/bases.toml", mine);
    host.import("c", "../linux@main..work", &[]);
    host.import("d", "../linux@main..work", &["--base", "../linux"]);
    assert_eq!((&*bases("c"), &*bases("d")), ("bases     = [\"mine\"]", "bases     = [\"mine\"]"));
}

#[test]
fn ranges_that_are_none() {
    let host = kernel();
    work(&host);
    host.git("linux", &["checkout", "-q", "-b", "merged"]);
    host.put("linux/more", "x\n");
    host.commit("more");
    host.git("linux", &["merge", "-q", "--no-edit", "work"]);
    host.git("linux", &["checkout", "-q", "-b", "idle", "main"]);
    host.git("linux", &["commit", "-q", "--allow-empty", "-m", "nothing"]);
    host.git("linux", &["checkout", "-q", "main"]);
    for (from, why) in [
        ("../linux", "which commits of it?"),
        ("../linux@work", "no branch that b4 prepared"),
        ("../linux@main..main", "no commit is in it"),
        ("../linux@main..merged", "is a merge"),
        ("../linux@main..wrok", "nearest: work"),
        ("../linux@main..idle", "changes nothing"),
    ] {
        let (_, talk) = host.run(&["import-series", "a", "--from", from], 2);
        assert!(talk.contains(why) && talk.contains("mend:"), "{from}: {talk}");
    }
    assert!(host.files("project").is_empty());
}

const COVER: &str = "bpf: A topic\n\n# Say why.\nWhy {{ so }}.\n\nTo: bpf@example.org\nCc: A <a@example.org>\nSigned-off-by: Jörg Author <jorg@example.org>\n\n---\nChanges in v2:\n- two\n\n--- b4-submit-tracking ---\n# This section is used internally by b4 prep for tracking purposes.\n{\n  \"series\": {\n    \"revision\": 2,\n    \"change-id\": \"20241101-topic-431ffd03aa5e\",\n    \"prefixes\": [\n      \"bpf-next\"\n    ],\n    \"base-branch\": \"main\",\n    \"history\": {\n      \"v1\": [\n        \"20241101-topic-v1-0-431ffd03aa5e@example.org\"\n      ]\n    }\n  }\n}";

#[test]
fn a_branch_that_b4_prepared() {
    let host = kernel();
    host.git("linux", &["checkout", "-q", "-b", "b4/topic"]);
    host.git("linux", &["commit", "-q", "--allow-empty", "-m", COVER]);
    two(&host);
    let want = host.log("main..HEAD")[1..].to_vec();
    // The cover letter as the last commit, and in the branch's description.
    host.git("linux", &["checkout", "-q", "-b", "b4/tip", "main"]);
    two(&host);
    host.git("linux", &["commit", "-q", "--allow-empty", "-m", COVER]);
    host.git("linux", &["checkout", "-q", "-b", "b4/words", "b4/tip~1"]);
    let (text, json) = COVER.split_once("--- b4-submit-tracking ---").unwrap();
    host.git("linux", &["config", "branch.b4/words.description", text]);
    host.git(
        "linux",
        &["config", "branch.b4/words.b4-tracking", json.split_once("purposes.").unwrap().1],
    );
    host.git("linux", &["checkout", "-q", "main"]);
    for (name, from) in [
        ("start", "../linux@b4/topic"),
        ("range", "../linux@main..b4/topic"),
        ("tip", "../linux@b4/tip"),
        ("words", "../linux@b4/words"),
    ] {
        let report = host.import(name, from, &[]);
        let trees: Vec<&str> = report["patches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["tree"].as_str().unwrap())
            .collect();
        assert_eq!(trees, [&want[0][0], &want[1][0]], "{name}");
        let toml = host.read(&format!("project/series/{name}/series.toml"));
        for part in [
            "title     = \"bpf: A topic\"",
            "list      = \"bpf-next\"",
            "change-id = \"20241101-topic-431ffd03aa5e\"",
            "version   = 2",
            "to        = [\"bpf@example.org\"]",
            "cc        = [\"A <a@example.org>\"]",
            "text      = \"- two\"",
            "link      = \"https://lore.kernel.org/r/20241101-topic-v1-0-431ffd03aa5e@example.org\"",
        ] {
            assert!(toml.contains(part), "{name}: {part}: {toml}");
        }
        let cover = host.read(&format!("project/templates/{name}/cover.tera"));
        assert_eq!(
            cover,
            "Why {{ \"{{\" }} so }}.\n\nSigned-off-by: Jörg Author <jorg@example.org>\n"
        );
    }
    host.import_and_prove("all", "../linux@b4/topic", &[], &want);
}

#[test]
#[ignore = "needs b4 in PATH"]
fn a_branch_that_b4_itself_prepared() {
    let host = kernel();
    host.git("linux", &["config", "user.name", "Jörg Author"]);
    host.git("linux", &["config", "user.email", "jorg@example.org"]);
    let run = Command::new("b4")
        .args(["prep", "-n", "topic", "-f", "main"])
        .current_dir(host.path("linux"))
        .env("HOME", host.path("."))
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    two(&host);
    let want = host.log("main..HEAD")[1..].to_vec();
    host.git("linux", &["checkout", "-q", "main"]);
    let report = host.import_and_prove("a", "../linux@b4/topic", &[], &want);
    assert_eq!(report["warnings"][0], "its cover letter has not been written yet");
}

#[test]
fn a_quilt_stack() {
    let host = kernel();
    work(&host);
    host.git("linux", &["diff", "--output=../one", "main", "work~1"]);
    let diff = host.read("one");
    let plain: String = diff
        .lines()
        .filter(|l| !l.starts_with("diff ") && !l.starts_with("index "))
        .map(|l| format!("{l}\n"))
        .collect();
    host.put("quilt/one.patch", format!("net: Set the weight\n\nWhy.\n\nSigned-off-by: Jörg Author <jorg@example.org>\n---\n{plain}"));
    host.git("linux", &["diff", "--no-prefix", "--output=../two", "work~1", "work"]);
    let second = host.read("two");
    let second: String = second
        .lines()
        .filter(|l| {
            !l.starts_with("diff ") && !l.starts_with("index ") && !l.starts_with("new file")
        })
        .map(|l| format!("{l}\n"))
        .collect();
    host.put("quilt/sub/two.diff", format!("From: B <b@example.org>\nSubject: net: Add new.c\nDate: Fri, 29 Nov 2024 12:00:00 +0100\n\n{second}"));
    host.put("quilt/no-name.patch", "--- linux.orig/doc/gone.txt\t2024-01-01\n+++ linux/doc/gone.txt\t1970-01-01\n@@ -1 +0,0 @@\n-gone\n");
    host.put(
        "quilt/series",
        "# the stack\none.patch\n\nsub/two.diff -p0 # why\nno-name.patch -p1\n",
    );
    let (_, talk) =
        host.run(&["import-series", "a", "--from", "../quilt", "--base", "../linux"], 2);
    assert!(talk.contains("no-name.patch") && talk.contains("--author"), "{talk}");
    host.git("linux", &["checkout", "-q", "-b", "rest", "work"]);
    fs::remove_file(host.path("linux/doc/gone.txt")).unwrap();
    host.commit("no name");
    let want = host.log("main..rest");
    host.git("linux", &["checkout", "-q", "main"]);
    let report =
        host.import("a", "../quilt", &["--base", "../linux", "--author", "C D <c@example.org>"]);
    for (i, want) in want.iter().enumerate() {
        assert_eq!(report["patches"][i]["tree"], want[0].as_str(), "{report:#}");
    }
    host.run(&["generate-series", "a", "--base", "../linux", "-o", "../mails"], 0);
    let mails = host.files("mails");
    let mails: Vec<String> = mails.iter().map(|m| format!("mails/{m}")).collect();
    let made = host.am(&mails.iter().map(String::as_str).collect::<Vec<_>>());
    let who: Vec<&str> = made.iter().map(|m| m[1].as_str()).collect();
    assert_eq!(who, ["Jörg Author <jorg@example.org>", "B <b@example.org>", "C D <c@example.org>"]);
    assert_eq!(made[0][3], want[0][3]);
    host.put("quilt/series", "one.patch -p3\n");
    host.run(&["import-series", "b", "--from", "../quilt", "--base", "../linux"], 2);
    host.put("quilt/series", "../one.patch\n");
    host.run(&["import-series", "b", "--from", "../quilt", "--base", "../linux"], 2);
}
