//! What commits change: lines, files, and what does not fit.

use crate::*;

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
