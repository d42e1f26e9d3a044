//! What `import-series` refuses, and that nothing is left behind then.

use crate::git::kernel;
use crate::host::Host;

const DIFF: &str = "diff --git a/doc/gone.txt b/doc/gone.txt\n--- a/doc/gone.txt\n+++ b/doc/gone.txt\n@@ -1 +1 @@\n-gone\n+here\n";

fn mail(subject: &str, headers: &str, body: &str) -> String {
    format!(
        "From git@z Thu Jan  1 00:00:00 1970\nFrom: Joe Doe <joe@example.org>\nDate: Fri, 29 Nov 2024 12:00:00 +0000\nSubject: {subject}\n{headers}\n{body}\n"
    )
}

fn refused(host: &Host, mbox: &str, more: &[&str], code: i32, why: &[&str]) {
    host.put("t.mbox", mbox);
    let mut args = vec!["import-series", "a", "--from", "../t.mbox", "--base", "../linux"];
    args.extend(more);
    let (_, talk) = host.run(&args, code);
    for part in why.iter().chain(&["found:", "mend:"]) {
        assert!(talk.contains(part), "{part}: {talk}");
    }
    assert!(host.files("project").is_empty(), "{:?}", host.files("project"));
}

#[test]
fn mails_that_hold_no_whole_patch() {
    let host = kernel();
    let text = format!("Why.\n---\n{DIFF}");
    let multi = format!(
        "--x\nContent-Type: text/plain\n\nsee below\n\n--x\nContent-Type: text/x-patch; name=\"0001.patch\"\nContent-Disposition: attachment; filename=\"0001.patch\"\n\n{DIFF}\n--x--\n"
    );
    let mixed = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n";
    let flowed = "Content-Type: text/plain; charset=utf-8; format=flowed\n";
    for (mbox, why) in [
        (mail("[PATCH] net: x", flowed, &text), &["format=flowed", "git send-email"][..]),
        (mail("[PATCH] net: x", mixed, &multi), &["attachment: 0001.patch"]),
        (mail("[PATCH] net: x", "Content-Type: text/html\n", &text), &["HTML"]),
        (mail("[PATCH 2/3] net: x", "", &text), &["missing", "1/3, 3/3"]),
        (mail("Re: [PATCH] net: x", "", &text), &["no patch"]),
        (
            mail("[PATCH] net: x", "", "Why.\n---\n--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-x\n"),
            &["cut short"],
        ),
        (
            mail("[PATCH] net: x", "Content-Type: text/plain; charset=klingon\n", "ä\n"),
            &["klingon"],
        ),
        (
            // Between such boundaries would be half of the diff.
            mail(
                "[PATCH] net: x",
                "Content-Type: multipart/mixed; boundary=\"--\"\n",
                &format!("----\n\n{text}\n------"),
            ),
            &["the boundary of its parts is \"--\""],
        ),
        ("no mail at all".into(), &["does not begin with headers"]),
    ] {
        refused(&host, &mbox, &[], 2, why);
    }
    let two = mail("[PATCH 1/1] net: x", "", &text)
        + &mail("[PATCH 1/1] net: y", "", &text)
        + &mail("[PATCH v2 1/2] net: x", "", &text);
    refused(&host, &two, &[], 2, &["2/2", "--version 1"]);
    refused(&host, &two, &["--version", "1"], 2, &["two different mails"]);
    host.put("t.mbox", &two);
    let (_, talk) = host
        .run(&["import-series", "a", "--from", "../t.mbox", "-v", "7", "--base", "../linux"], 2);
    assert!(talk.contains("v1, v2"), "{talk}");
}

#[test]
fn patches_that_do_not_apply() {
    let host = kernel();
    let text = |diff: &str| format!("Why.\n---\n{diff}");
    let m = |diff: &str| mail("[PATCH] net: x", "", &text(diff));
    let names = &["net: x"][..];
    refused(&host, &m(&DIFF.replace("-gone", "-gone away")), &[], 4, &["stand nowhere", names[0]]);
    refused(&host, &m(&DIFF.replace("gone.txt", "none.txt")), &[], 4, &["no such file"]);
    let twice = "diff --git a/doc/gone.txt b/doc/gone.txt\nnew file mode 100644\n--- /dev/null\n+++ b/doc/gone.txt\n@@ -0,0 +1 @@\n+x\n";
    refused(&host, &m(twice), &[], 4, &["already"]);
    refused(
        &host,
        &m(&DIFF.replace("doc/gone.txt", "../gone.txt")),
        &[],
        2,
        &["leaves its folder"],
    );
    let module = "diff --git a/m b/m\nnew file mode 160000\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit 0123456789012345678901234567890123456789\n";
    refused(&host, &m(module), &[], 2, &["no submodules"]);
    // The same by a commit, which says it by a tree.
    let link = "160000,0123456789012345678901234567890123456789,m";
    host.git("linux", &["update-index", "--add", "--cacheinfo", link]);
    host.git("linux", &["commit", "-q", "-m", "net: m\n\nWhy."]);
    let (_, talk) = host.run(&["import-series", "a", "--from", "../linux@HEAD^..HEAD"], 2);
    for part in ["m has mode 160000", "no submodules", "net: m"] {
        assert!(talk.contains(part), "{part}: {talk}");
    }
    assert!(host.files("project").is_empty());
}

#[test]
fn sources_that_are_damaged() {
    let host = kernel();
    let talk_of =
        |from: &str| host.run(&["import-series", "a", "--from", from, "--base", "../linux"], 2).1;
    // The first bytes of a gzip stream, and no more.
    host.put("t.mbox.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b]);
    let talk = talk_of("../t.mbox.gz");
    assert!(talk.contains("compressed, and damaged") && talk.contains("mend:"), "{talk}");
    assert!(talk_of("/dev/null").contains("neither a file nor a folder"));
    host.put("quilt/series", "here.patch\ngone.patch\n");
    host.put("quilt/here.patch", format!("From: J <j@x.org>\nSubject: net: x\n\n{DIFF}"));
    let talk = talk_of("../quilt");
    assert!(talk.contains("quilt/series:2") && talk.contains("gone.patch"), "{talk}");
}

#[test]
fn a_message_that_cannot_be_mailed_is_told_at_once() {
    let host = kernel();
    host.change("doc/gone.txt", "gone", "here", "doc: x\n\nWhy.\n---\nMore.");
    let range = ["import-series", "a", "--from", "../linux@HEAD^..HEAD"];
    let (_, talk) = host.run(&range, 0);
    assert!(talk.contains("cannot be mailed as it is: line 4: ---: git am ends"), "{talk}");
}

#[test]
fn names_and_sources() {
    let host = kernel();
    host.put("t.mbox", mail("[PATCH] net: x", "", &format!("Why.\n---\n{DIFF}")));
    let run = |name: &str, from: &str, more: &[&str]| {
        let mut args = vec!["import-series", name, "--from", from];
        args.extend(more);
        host.run(&args, 2).1
    };
    let base = ["--base", "../linux"];
    assert!(run("../a", "../t.mbox", &base).contains("names a folder"));
    assert!(run("a", "../none", &base).contains("no file or folder"));
    assert!(run("a", "../t.mbox", &[]).contains("nothing says what the series was made on"));
    host.put("empty/readme", "x");
    assert!(run("a", "../empty", &base).contains("no patch"));
    host.import("a", "../t.mbox", &base);
    let before = host.files("project");
    assert!(run("a", "../t.mbox", &base).contains("is there already"));
    assert_eq!(host.files("project"), before);
}

#[test]
fn another_base_is_a_verdict_of_its_own() {
    let host = kernel();
    host.git("linux", &["checkout", "-q", "-b", "work"]);
    host.change(
        "net/dev.c",
        "\tn->poll = LIMIT;\n",
        "\tn->poll = LIMIT;\n\tn->weight = 1;\n",
        "net: Weigh",
    );
    host.format("p", &[]);
    host.git("linux", &["checkout", "-q", "main"]);
    host.import("a", "../p", &["--base", "../linux", "--diffs-only"]);
    host.import("b", "../p", &["--base", "../linux"]);
    // Lines have moved, and some near by have changed.
    host.change(
        "net/dev.c",
        "#define LIMIT 64\n",
        "/* More. */\n#define LIMIT 64\n",
        "main: shift",
    );
    host.change(
        "net/dev.c",
        "\t\treturn err;\n\n\tn->poll",
        "\t\treturn -err;\n\n\tn->poll",
        "main: near by",
    );
    for name in ["a", "b"] {
        let (out, _) =
            host.run(&["--format", "json", "generate-series", name, "--base", "../linux"], 0);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        host.git("linux", &["checkout", "-q", "-B", "am", "main"]);
        host.git("linux", &["am", "-q", "-3", "../p/0001-net-Weigh.patch"]);
        assert_eq!(report[0]["tree"], host.git("linux", &["rev-parse", "HEAD^{tree}"]).as_str());
        host.git("linux", &["checkout", "-q", "main"]);
    }
    // So does an import onto it: git am without -3 would refuse it.
    let want = host.git("linux", &["rev-parse", "am^{tree}"]);
    let report = host.import("c", "../p", &["--base", "../linux"]);
    assert_eq!(report["patches"][0]["tree"], want.as_str());
    assert!(report["warnings"][0].as_str().unwrap().contains("merged three-way in net/dev.c"));
    host.change("net/dev.c", "n->poll = LIMIT", "n->poll = 2 * LIMIT", "main: the very line");
    let args = ["import-series", "d", "--from", "../p", "--base", "../linux"];
    let (_, talk) = host.run(&args, 4);
    assert!(talk.contains("stand nowhere") && talk.contains("net/dev.c"), "{talk}");
    for name in ["a", "b"] {
        let (out, _) = host.run(&["generate-series", name, "--base", "../linux"], 4);
        assert!(out.contains("conflict") && out.contains("net/dev.c"), "{out}");
    }
}
