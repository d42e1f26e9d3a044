//! The cases that break other tools, each against the real `git format-patch`
//! and `git am`.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used
)]

#[path = "mail/git.rs"]
#[allow(dead_code)]
mod git;

use git::{Repo, difference};
use git2::Oid;
use xtask::error::Kind;
use xtask::mail::{self, Changes, Cover, Faults, Mail, MailInput, Person, Transfer};

/// What `git am` made of mails.
#[derive(Debug, PartialEq, Eq)]
struct Am {
    tree: Oid,
    author: String,
    message: String,
}

/// Applies the patches on `base` in a worktree of its own; gives the last commit.
fn am(repo: &Repo, base: Oid, mails: &[Mail], options: &[&str]) -> Am {
    let folder = repo.beside("mails");
    std::fs::create_dir(&folder).unwrap();
    let mut files = Vec::new();
    for mail in mails.iter().filter(|m| m.number > 0) {
        let file = folder.join(&mail.file_name);
        std::fs::write(&file, &mail.bytes).unwrap();
        files.push(file.to_str().unwrap().to_owned());
    }
    let tree = repo.beside("am");
    let tree_text = tree.to_str().unwrap();
    repo.git(&["worktree", "add", "-q", "--detach", tree_text, &base.to_string()]);
    let mut args = vec!["-C", tree_text, "am", "-q"];
    args.extend(options);
    args.extend(files.iter().map(String::as_str));
    repo.git(&args);
    let text = |format: &str| {
        let out = repo.git(&["-C", tree_text, "log", "-1", &format!("--format={format}")]);
        String::from_utf8(out).unwrap()
    };
    let am = Am {
        tree: text("%T").trim().parse().unwrap(),
        author: text("%an <%ae>").trim().to_owned(),
        message: text("%B").trim_end().to_owned(),
    };
    repo.git(&["worktree", "remove", "--force", tree_text]);
    std::fs::remove_dir_all(folder).unwrap();
    am
}

fn tree(repo: &Repo, commit: Oid) -> Oid {
    repo.open().find_commit(commit).unwrap().tree_id()
}

/// As `git format-patch` would write one commit.
fn raw(commits: &[Oid]) -> MailInput<'_> {
    let mut input = MailInput::new(commits);
    input.thread = None;
    input.transfer = Transfer::Raw;
    input
}

/// Writes and proves the mails of an input.
fn write(repo: &Repo, input: &MailInput<'_>) -> Vec<Mail> {
    let opened = repo.open();
    let mails = mail::write_series(&opened, input).unwrap_or_else(|e| panic!("{e}"));
    mail::prove(&opened, input, &mails).unwrap_or_else(|e| panic!("{e}"));
    mails
}

/// A repository with one file in one commit.
fn with_file(content: impl AsRef<[u8]>) -> (Repo, Oid) {
    let repo = Repo::new();
    repo.write("file", content);
    let base = repo.commit("base");
    (repo, base)
}

/// A commit with a plain change and this message.
fn with_message(message: &str) -> (Repo, Oid, Oid) {
    let (repo, base) = with_file("a\n");
    repo.write("file", "b\n");
    let commit = repo.commit(message);
    (repo, base, commit)
}

fn text(mail: &Mail) -> String {
    String::from_utf8(mail.bytes.clone()).unwrap()
}

fn assert_as_git(repo: &Repo, commits: &[Oid]) {
    let ours = write(repo, &raw(commits));
    let count = format!("-{}", commits.len());
    let gits = repo.format_patch("git", &[&count]);
    assert_eq!(ours.len(), gits.len());
    for (ours, (name, gits)) in ours.iter().zip(&gits) {
        assert_eq!(&ours.file_name, name);
        assert!(ours.bytes == *gits, "{name} {}", difference(&ours.bytes, gits));
    }
}

/// Case 1, and 15: what would not survive the way travels quoted-printable.
#[test]
fn carriage_returns_and_long_lines_survive() {
    for (old, new) in [
        ("a\r\nb\r\nc\r\n".to_owned(), "a\r\nB = ö\r\nc\r\n".to_owned()),
        ("a\n".to_owned(), format!("a\n{}\n", "x=".repeat(600))),
        ("a\rb\n".to_owned(), "a\rc\n \t\n".to_owned()),
    ] {
        let (repo, base) = with_file(old);
        repo.write("file", new);
        let commit = repo.commit("net: change");
        assert_as_git(&repo, &[commit]);
        let mails = write(&repo, &MailInput::new(&[commit]));
        let mail = text(&mails[0]);
        assert!(mail.contains("Content-Transfer-Encoding: quoted-printable\n"), "{mail}");
        assert!(!mail.contains('\r') && mail.lines().all(|l| l.len() <= 78), "{mail}");
        let got = am(&repo, base, &mails, &[]);
        assert_eq!(got.tree, tree(&repo, commit));
        assert_eq!(got.message, "net: change");
    }
}

/// Cases 2 and 3.
#[test]
fn messages_that_would_be_cut() {
    for (body, found, mended, below) in [
        (
            "one\n\ndiff --git a/x b/x\n--- a/x\ntwo",
            "line 3",
            "one\n\n diff --git a/x b/x\n --- a/x\ntwo",
            "",
        ),
        ("one\n---\nnotes", "line 2", "one", "---\nnotes\n"),
        ("one\n---   \nnotes", "line 2", "one", "---\nnotes\n"),
        ("one\nIndex: x", "line 2", "one\n Index: x", ""),
    ] {
        let (repo, base, commit) = with_message(&format!("subject\n\n{body}\n"));
        let commits = [commit];
        let mut input = MailInput::new(&commits);
        input.thread = None;
        let e = mail::write_series(&repo.open(), &input).unwrap_err();
        assert_eq!(e.kind(), Kind::Usage);
        assert!(e.to_string().contains(found) && !e.hints().is_empty(), "{e}");
        input.faults = Faults::Mend;
        let mails = write(&repo, &input);
        assert!(text(&mails[0]).contains(below));
        let got = am(&repo, base, &mails, &[]);
        assert_eq!(got.message, format!("subject\n\n{mended}"));
        assert_eq!(got.tree, tree(&repo, commit));
        input.faults = Faults::Keep;
        input.transfer = Transfer::Raw;
        let kept = mail::write_series(&repo.open(), &input).unwrap();
        assert_eq!(kept[0].bytes, repo.format_patch("git", &["-1"])[0].1);
    }
}

/// Case 4.
#[test]
fn a_body_that_begins_like_a_header() {
    for body in [
        "From: Some One <some@one>\n\nmore",
        "Subject: another",
        "date: Fri, 1 Jan 2021 00:00:00 +0000",
        "[PATCH] x",
        ">From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001",
    ] {
        let message = format!("the subject\n\n{body}");
        let (repo, base, commit) = with_message(&message);
        let mails = write(&repo, &MailInput::new(&[commit]));
        let got = am(&repo, base, &mails, &[]);
        assert_eq!(got.author, "A U Thor <author@example.org>", "{body}");
        assert_eq!(got.message, message);
    }
}

/// Case 5.
#[test]
fn a_body_that_quotes_a_mail() {
    let line = format!("From {} Mon Sep 17 00:00:00 2001", "0123456789".repeat(4));
    let (repo, base, commit) = with_message(&format!("subject\n\ntext\n{line}\nmore\n"));
    assert_as_git(&repo, &[commit]);
    let mails = write(&repo, &MailInput::new(&[commit]));
    assert!(text(&mails[0]).contains(&format!("\n{line}\n")));
    // git am splits a plain file there.
    assert_eq!(mails[0].warnings.len(), 1, "{:?}", mails[0].warnings);
    let mut one = mails[0].clone();
    one.bytes = mail::mbox(&mails);
    assert!(text(&one).contains(&format!("\n>{line}\n")));
    let got = am(&repo, base, &[one], &["--patch-format=mboxrd"]);
    assert_eq!(got.message, format!("subject\n\ntext\n{line}\nmore"));
    assert_eq!(got.tree, tree(&repo, commit));
}

/// Case 6.
#[test]
fn a_subject_with_brackets() {
    let (repo, base, commit) = with_message("[foo] bar");
    let mails = write(&repo, &MailInput::new(&[commit]));
    assert!(mails[0].warnings[0].contains("--keep-non-patch"));
    assert_eq!(am(&repo, base, &mails, &["--keep-non-patch"]).message, "[foo] bar");
    assert_eq!(am(&repo, base, &mails, &[]).message, "bar");
}

/// What `git am` changes without being asked is warned of, and only that.
#[test]
fn warnings_tell_what_git_am_changes() {
    let long = "N".repeat(61);
    for (author, subject) in [
        ("A U Thor", "plain"),
        ("A U Thor", "Re: x"),
        ("A U Thor", "re: x"),
        ("A U Thor", "rework: x"),
        ("A U Thor", "two  blanks"),
        ("A U Thor", "tab\there"),
        ("A U Thor", "[a] x"),
        ("A U Thor", ": x"),
        ("Al", "short name"),
        (&long, "long name"),
        ("me@home", "name with at"),
        ("Björn Töpel", "ünicode"),
        ("Joe (ARM)", "=?x"),
        ("Last, First", "a b"),
        ("J. \"Q\" Hack\\er", "x"),
        ("J. Hacker.", "x"),
    ] {
        let (repo, base) = with_file("a\n");
        repo.write("file", "b\n");
        let commit = repo.commit_as(&format!("{author} <a@example.org>"), subject);
        let mails = write(&repo, &MailInput::new(&[commit]));
        let got = am(&repo, base, &mails, &[]);
        let same = got.author == format!("{author} <a@example.org>") && got.message == subject;
        assert_eq!(mails[0].warnings.is_empty(), same, "{author} {subject} {got:?}");
    }
}

/// Cases 7, 8 and 17.
#[test]
fn covers() {
    let (repo, _, commit) = with_message("net: x\n");
    let commits = [commit];
    let mut input = MailInput::new(&commits);
    input.from = Some(Person::new("Sen Der", "s@example.org"));
    let subject = "a cover letter subject of some more than just sixty characters";
    input.cover = Some(Cover { subject: subject.into(), body: "Größe\n".into() });
    let mails = write(&repo, &input);
    let cover = text(&mails[0]);
    // The prefix and some of the text stand behind "Subject:".
    assert!(cover.contains("\nSubject: [PATCH 0/1] a cover letter"), "{cover}");
    assert!(cover.contains("\nFrom: Sen Der <s@example.org>\n"));
    assert!(
        cover
            .contains("Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n")
    );
    assert!(!text(&mails[1]).contains("Content-Type"), "only the cover has UTF-8");
    assert!(text(&mails[1]).contains("\n\nFrom: A U Thor <author@example.org>\n\n"));
    input.from = None;
    assert!(text(&write(&repo, &input)[0]).contains("\nFrom: A U Thor <author@example.org>\n"));
}

/// Case 9.
#[test]
fn names_in_headers_and_bodies() {
    for (name, header) in [
        ("Joe (ARM)", "\"Joe (ARM)\""),
        ("Last, First", "\"Last, First\""),
        ("J. Hacker", "\"J. Hacker\""),
        ("Björn Töpel", "=?UTF-8?q?Bj=C3=B6rn=20T=C3=B6pel?="),
    ] {
        let (repo, base) = with_file("a\n");
        repo.write("file", "b\n");
        let person = format!("{name} <n@example.org>");
        let message = format!("x\n\nCc: {person}\nSigned-off-by: {person}");
        let commit = repo.commit_as(&person, &message);
        assert_as_git(&repo, &[commit]);
        let commits = [commit];
        let mut input = MailInput::new(&commits);
        input.from = Some(Person::new("Sen Der", "s@example.org"));
        input.cc = vec![Person::new(name, "n@example.org")];
        let mails = write(&repo, &input);
        let mail = text(&mails[0]);
        assert!(mail.contains(&format!("\nCc: {header} <n@example.org>\n")), "{mail}");
        assert!(mail.contains(&format!("\n\nFrom: {person}\n\n")), "{mail}");
        assert!(mail.contains(&format!("\nSigned-off-by: {person}\n")), "{mail}");
        let got = am(&repo, base, &mails, &[]);
        assert_eq!((got.author, got.message), (person, message));
    }
}

/// Cases 13 and 21.
#[test]
fn all_kinds_of_changes() {
    let repo = Repo::new();
    let path = |name: &str| repo.path().join(name);
    let long: String = (0..40).map(|i| format!("line {i}\n")).collect();
    let odd = [
        "a b",
        "quo\"te",
        "größe",
        "-dash",
        "tab\tx",
        "back\\slash",
        "new\nline",
        " lead",
        "trail ",
    ];
    repo.write("rename", &long);
    repo.write("mode", "x\n");
    repo.write("delete", "x\ny\n");
    repo.write("no end", "x\ny");
    repo.write("binary", (0..9_000u32).map(|i| ((i * i) >> 3) as u8).collect::<Vec<_>>());
    repo.write("to-link", "x\n");
    repo.write("to-folder", long.replace("line", "other line"));
    std::os::unix::fs::symlink("there", path("link")).unwrap();
    for name in odd {
        repo.write(name, "1\n2\n");
    }
    let base = repo.commit("base");
    repo.git(&["mv", "rename", "renamed"]);
    repo.write("renamed", long.replace("line 7", "line seven"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path("mode"), mode).unwrap();
    std::fs::remove_file(path("delete")).unwrap();
    repo.write("no end", "x\nz");
    let bytes: Vec<u8> =
        (0..9_500u32).map(|i| if i < 400 { 7 } else { ((i * i) >> 3) as u8 }).collect();
    repo.write("binary", bytes);
    repo.write("new-binary", b"\0\x01");
    repo.write("empty", "");
    std::fs::remove_file(path("link")).unwrap();
    std::os::unix::fs::symlink("elsewhere", path("link")).unwrap();
    std::fs::remove_file(path("to-link")).unwrap();
    std::os::unix::fs::symlink("x", path("to-link")).unwrap();
    std::fs::remove_file(path("to-folder")).unwrap();
    repo.write("to-folder/inside", long.replace("line", "other line"));
    for name in odd {
        repo.write(name, "1\nzwei\n");
    }
    let commit = repo.commit("all kinds of changes\n");
    assert_as_git(&repo, &[commit]);
    let mails = write(&repo, &MailInput::new(&[commit]));
    let mail = text(&mails[0]);
    for part in [
        "GIT binary patch\ndelta ",
        "rename from rename\nrename to renamed\n",
        "old mode 100644\nnew mode 100755\n",
        "new file mode 120000\n",
        "\\ No newline at end of file\n",
        "deleted file mode 100644\n",
        "diff --git a/empty b/empty\nnew file mode 100644\nindex 000000000000..e69de29bb2d1\ndiff",
        "rename from to-folder\nrename to to-folder/inside\n",
    ] {
        assert!(mail.contains(part), "{part}\n{mail}");
    }
    assert_eq!(am(&repo, base, &mails, &[]).tree, tree(&repo, commit));
}

/// Case 14.
#[test]
fn a_commit_without_changes_is_refused() {
    let (repo, _) = with_file("a\n");
    let commit = repo.commit("nothing");
    let e = mail::write_series(&repo.open(), &MailInput::new(&[commit])).unwrap_err();
    assert!(e.to_string().contains("it changes nothing"), "{e}");
}

/// Case 16.
#[test]
fn fixes_lines_in_another_form_are_refused() {
    for line in [
        "Fixes: ?",
        "Fixes: 01234567 (\"x\")",
        "Fixes: 0123456789ab (\"a subject\n  that goes on\")",
    ] {
        let (repo, _, commit) = with_message(&format!("x\n\nText.\n\n{line}\n"));
        let e = mail::write_series(&repo.open(), &MailInput::new(&[commit])).unwrap_err();
        assert!(e.to_string().contains("Fixes: 0123456789ab (\"subject of that commit\")"), "{e}");
    }
}

/// Case 18.
#[test]
fn odd_bodies_survive_or_are_refused() {
    let message = "x\n\n.\n\ttabbed\ttext\n..\n=20 =\n\u{feff}x";
    let (repo, base, commit) = with_message(message);
    assert_as_git(&repo, &[commit]);
    for transfer in [Transfer::Raw, Transfer::Mail] {
        let commits = [commit];
        let mut input = MailInput::new(&commits);
        input.transfer = transfer;
        assert_eq!(am(&repo, base, &write(&repo, &input), &[]).message, message);
    }
    // With a carriage return in the diff the same text travels quoted-printable.
    repo.write("file", "c\r\n");
    let commit = repo.commit(message);
    let mails = write(&repo, &MailInput::new(&[commit]));
    assert!(text(&mails[0]).contains("quoted-printable"));
    let parent = repo.id("HEAD^");
    assert_eq!(am(&repo, parent, &mails, &[]).message, message);
    for bad in [&b"x\n\na\0b\n"[..], b"x\n\ncaf\xe9\n", b"caf\xe9\n", b"x\x07y\n", b"\n"] {
        let opened = repo.open();
        let object = [
            format!("tree {}\nparent {parent}\n", tree(&repo, commit)).as_bytes(),
            b"author A U Thor <a@b> 1700000000 +0000\ncommitter C <c@d> 1700000000 +0000\n\n",
            bad,
        ]
        .concat();
        let id = opened.odb().unwrap().write(git2::ObjectType::Commit, &object).unwrap();
        let e = mail::write_series(&opened, &MailInput::new(&[id])).unwrap_err();
        assert_eq!(e.kind(), Kind::Usage, "{e}");
        assert!(!e.hints().is_empty(), "{e}");
    }
}

/// Threads, tracking lines and changelogs.
#[test]
fn a_second_version() {
    let (repo, base, first) = with_message("net: one\n");
    repo.write("file", "c\n");
    let second = repo.commit("net: two\n");
    let commits = [first, second];
    let mut input = MailInput::new(&commits);
    input.prefix.version = 2;
    input.cover = Some(Cover { subject: "Two".into(), body: "Why.".into() });
    input.tracking.base_commit = Some(base);
    input.tracking.change_id = Some("20241129-two-431ffd03aa5e".into());
    input.changelog = vec![Changes {
        version: 2,
        text: "- two is new".into(),
        previous: Some("20241129-two-v1-0-aaaaaaaaaaaa@example.org".into()),
    }];
    let mails = write(&repo, &input);
    let again = write(&repo, &input);
    assert_eq!(mails, again, "same source, same bytes");
    let cover = text(&mails[0]);
    let id = |mail: &str| {
        let line = mail.lines().find(|l| l.starts_with("Message-ID: ")).unwrap();
        line.trim_start_matches("Message-ID: ").to_owned()
    };
    assert!(id(&cover).starts_with("<20241129-two-v2-0-"), "{cover}");
    assert!(
        cover.contains(
            "\nWhy.\n\nChanges in v2:\n- two is new\n\
         - Link to v1: https://lore.kernel.org/r/20241129-two-v1-0-aaaaaaaaaaaa@example.org\n\n\
         A U Thor (2):\n  net: one\n  net: two\n\n file | 2 +-\n"
        ),
        "{cover}"
    );
    let end = format!("\n\nbase-commit: {base}\nchange-id: 20241129-two-431ffd03aa5e\n-- \n");
    assert!(cover.contains(&end), "{cover}");
    for mail in &mails[1..] {
        let mail = text(mail);
        let above = format!("In-Reply-To: {0}\nReferences: {0}\n", id(&cover));
        assert!(mail.contains(&above) && !mail.contains("base-commit"), "{mail}");
    }
    assert!(text(&mails[2]).contains("Subject: [PATCH v2 2/2] net: two\n"));
    // Alone, a patch carries all of that itself.
    let one = [second];
    let mut alone = MailInput::new(&one);
    alone.prefix.version = 2;
    alone.changelog.clone_from(&input.changelog);
    alone.tracking.clone_from(&input.tracking);
    let mails = write(&repo, &alone);
    let mail = text(&mails[0]);
    assert!(mail.contains("Subject: [PATCH v2] net: two\n"), "{mail}");
    assert!(mail.contains("\n---\nChanges in v2:\n- two is new\n"), "{mail}");
    assert!(
        mail.contains(&format!("+c\n{}", end.trim_start_matches('\n')).replace("+c\n", "+c\n\n")),
        "{mail}"
    );
}

/// The threading headers are those of git, apart from the ids themselves.
#[test]
fn threads_as_git_makes_them() {
    let (repo, _, first) = with_message("net: one\n");
    repo.write("file", "c\n");
    let second = repo.commit("net: two\n");
    let commits = [first, second];
    for reply in [None, Some("top@example.org")] {
        for cover in [false, true] {
            let mut input = MailInput::new(&commits);
            input.transfer = Transfer::Raw;
            input.thread =
                Some(mail::Thread { topic: "t".into(), in_reply_to: reply.map(str::to_owned) });
            let mut args = vec!["-2", "--thread=shallow"];
            let answer = reply.map(|r| format!("--in-reply-to={r}"));
            args.extend(answer.as_deref());
            if cover {
                args.push("--cover-letter");
                input.cover =
                    Some(Cover { subject: "*** SUBJECT HERE ***".into(), body: String::new() });
            }
            let gits = repo.format_patch("git", &args);
            let ours = write(&repo, &input);
            let headers = |mails: Vec<String>| -> Vec<String> {
                // Ids are numbered in the order in which they come.
                let mut ids: Vec<String> = Vec::new();
                mails
                    .iter()
                    .map(|m| {
                        let head = m.split("\n\n").next().unwrap();
                        let keep = head.lines().filter(|l| {
                            ["Message-ID", "In-Reply-To", "References", "\t"]
                                .iter()
                                .any(|k| l.starts_with(k))
                        });
                        let mut out = keep.collect::<Vec<_>>().join("\n");
                        let found: Vec<String> = out
                            .split('<')
                            .skip(1)
                            .filter_map(|p| p.split('>').next())
                            .map(str::to_owned)
                            .collect();
                        for id in found {
                            let n = ids.iter().position(|i| *i == id).unwrap_or_else(|| {
                                ids.push(id.clone());
                                ids.len() - 1
                            });
                            out = out.replace(&format!("<{id}>"), &format!("<{n}>"));
                        }
                        out
                    })
                    .collect()
            };
            // Before 2.41 git wrote it so.
            let gits = gits.into_iter().map(|(_, b)| String::from_utf8(b).unwrap());
            let gits = gits.map(|t| t.replace("\nMessage-Id: ", "\nMessage-ID: ")).collect();
            assert_eq!(headers(ours.iter().map(text).collect()), headers(gits));
        }
    }
}

/// A patch that does not fit the tree is a conflict and changes nothing.
#[test]
fn patches_that_do_not_fit() {
    let (repo, base, commit) = with_message("net: x\n");
    let mails = write(&repo, &MailInput::new(&[commit]));
    let opened = repo.open();
    let wrong = mail::apply(&opened, tree(&repo, commit), &mails).unwrap_err();
    assert_eq!(wrong.kind(), Kind::Conflict);
    let right = mail::apply(&opened, tree(&repo, base), &mails).unwrap();
    assert_eq!(right[0].tree, tree(&repo, commit));
    for (from, to) in [
        ("+b", "+c"),
        ("-a", "-z"),
        ("@@ -1 +1 @@", "@@ -2 +1 @@"),
        ("@@ -1 +1 @@", "@@ -1,9 +1 @@"),
        ("a/file", "a/../x"),
        ("100644", "160777"),
    ] {
        let mut broken = mails.clone();
        broken[0].bytes = text(&mails[0]).replace(from, to).into_bytes();
        let result = mail::apply(&opened, tree(&repo, base), &broken);
        assert!(result.is_err(), "{from} {to}");
    }
    // The proof itself fails when a mail says something else.
    let commits = [commit];
    let input = MailInput::new(&commits);
    for (from, to) in [
        ("Subject: [PATCH] net: x", "Subject: [PATCH] net: y"),
        ("A U Thor", "B U Thor"),
        ("12:00:00", "12:00:01"),
    ] {
        let mut broken = mails.clone();
        broken[0].bytes = text(&mails[0]).replace(from, to).into_bytes();
        assert_eq!(
            mail::prove(&opened, &input, &broken).unwrap_err().kind(),
            Kind::Check,
            "{from}"
        );
    }
}

/// Files in the worktree decide nothing: what was read is the base's tree.
#[test]
fn files_are_read_from_trees() {
    let (repo, _) = with_file("a\n");
    repo.write(".gitattributes", "file -diff\n");
    repo.write("file", "b\n");
    repo.git(&["commit", "-qm", "x", "file"]);
    let commits = [repo.head()];
    let mails = write(&repo, &raw(&commits));
    assert!(text(&mails[0]).contains("\n+b\n"));
}
