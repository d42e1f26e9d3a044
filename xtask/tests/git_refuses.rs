//! What git refuses, or makes something else of, is refused here too, and nothing
//! besides it: authors' names, and paths.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[path = "host/machine.rs"]
#[allow(dead_code)]
mod host;

use host::Host;
use xtask::host::paths::stay_below;
use xtask::mail::person::git_changes;

#[test]
fn names_of_authors() {
    let host = Host::new(&[("f", "a\n")]);
    for name in [
        "A B",
        "Björn T",
        "A \\B",
        "A \"B\" C",
        "A. U. Thor",
        ".A",
        "A.",
        "O'B",
        "A, B",
        "A (b)",
        "A B\\",
        "\\",
        "\\A",
        "A;",
        ";",
        ",A",
        "\"A\"",
        "'A'",
        "A:",
        "A  B",
        "A @ B",
        "A@b",
        "a@b.c",
        // 60 bytes, and 61.
        "Anne Anne Anne Anne Anne Anne Anne Anne Anne Anne Anne Anna",
        "Anne Anne Anne Anne Anne Anne Anne Anne Anne Anne Anne Annaé",
    ] {
        let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
        let mail = format!(
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
             From: \"{quoted}\" <a@b.c>\nDate: Fri, 29 Nov 2024 12:00:00 +0000\n\
             Subject: [PATCH] net: x\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n\
             Content-Transfer-Encoding: 8bit\n\nBody.\n---\n\
             diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2\n"
        );
        // Older ones took dots at the ends of a name for crud.
        let dots = name.starts_with('.') || name.ends_with('.');
        if dots && !xtask::host::tools::git_is_at_least(2, 44).unwrap() {
            continue;
        }
        host.put("mail", mail);
        let mut git = std::process::Command::new("git");
        git.args(["am", "-q", "../mail"]).current_dir(host.path("linux"));
        host.clean(&mut git);
        git.env("GIT_COMMITTER_NAME", "T").env("GIT_COMMITTER_EMAIL", "t@example.org");
        let same = if git.output().unwrap().status.success() {
            let author = host.git("linux", &["log", "-1", "--format=%an <%ae>"]);
            host.git("linux", &["reset", "-q", "--hard", "HEAD~1"]);
            author == format!("{name} <a@b.c>")
        } else {
            host.git("linux", &["am", "--abort"]);
            false
        };
        assert_eq!(git_changes(name, "a@b.c").is_none(), same, "{name}");
    }
}

#[test]
fn paths() {
    let host = Host::new(&[("f", "a\n")]);
    let id = host.git("linux", &["rev-parse", "HEAD:f"]);
    for path in [
        "a",
        "net/x.c",
        ".gitignore",
        "git~1",
        "GIT~1/x",
        "a/Git~1",
        "git~10/x",
        "git~2/x",
        ".git/x",
        ".GIT",
        ".git./x",
        ".git /x",
        ".git. ./x",
        ".git:x",
        ".git::$INDEX_ALLOCATION",
        ".gitx/y",
        "a\\.git",
        "a\\.git\\b",
        "a\\b",
        ".git~1",
        "...",
        "q/..b",
    ] {
        let mut git = std::process::Command::new("git");
        git.args(["update-index", "--add", "--cacheinfo", &format!("100644,{id},{path}")]);
        git.current_dir(host.path("linux"));
        host.clean(&mut git);
        let takes = git.output().unwrap().status.success();
        assert_eq!(stay_below(path, "file").is_ok(), takes, "{path}");
    }
}
