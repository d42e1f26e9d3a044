//! Messages that git am, or a maintainer, takes for something else.

use crate::*;

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
        // Older ones took dots at the ends of a name for crud.
        if author.ends_with('.') && !xtask::host::tools::git_is_at_least(2, 44).unwrap() {
            continue;
        }
        let (repo, base) = with_file("a\n");
        repo.write("file", "b\n");
        let commit = repo.commit_as(&format!("{author} <a@example.org>"), subject);
        let mails = write(&repo, &MailInput::new(&[commit]));
        let got = am(&repo, base, &mails, &[]);
        let same = got.author == format!("{author} <a@example.org>") && got.message == subject;
        assert_eq!(mails[0].warnings.is_empty(), same, "{author} {subject} {got:?}");
    }
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
