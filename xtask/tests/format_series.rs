//! `format-series` as its user runs it.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used
)]

#[path = "mail/generate.rs"]
mod generate;
#[path = "mail/git.rs"]
#[allow(dead_code)]
mod git;

use std::path::Path;
use std::process::{Command, Output};

use generate::History;
use git::{Repo, clean, difference, read_all};
use xtask::host::tools::git_is_at_least;

/// The command in a clean surrounding, with the mails going to `mails` beside
/// the repository.
fn command(repo: &Repo, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("format-series").args(args);
    command.arg("--repo").arg(repo.path()).arg("--output").arg(repo.beside("mails"));
    clean(&mut command, &repo.beside("home"));
    command
}

fn run(repo: &Repo, args: &[&str]) -> Output {
    command(repo, args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A repository with three small commits on top of one.
fn small() -> Repo {
    let repo = Repo::new();
    repo.write("net/core/dev.c", "int a;\n\nint f(void)\n{\n\treturn 0;\n}\n");
    repo.commit("base");
    for (i, name) in ["one", "two", "three"].iter().enumerate() {
        repo.write("net/core/dev.c", format!("int a;\n\nint f(void)\n{{\n\treturn {i} + 7;\n}}\n"));
        repo.commit(&format!("net: {name}\n\nText.\n"));
    }
    repo
}

#[test]
fn options_as_gits() {
    let repo = small();
    let cover = repo.beside("cover");
    std::fs::write(&cover, "The cover\n\nIts text.\n").unwrap();
    let description = format!("--description-file={}", cover.display());
    let cover = format!("--cover-letter={}", cover.display());
    let base = repo.id("HEAD~3").to_string();
    let git_base = format!("--base={base}");
    let from = "--from=C O Mitter <c@example.org>";
    for (ours, gits) in [
        (vec!["HEAD~3..HEAD"], vec!["-3"]),
        (vec!["HEAD"], vec!["-1"]),
        (vec!["HEAD~1", "--numbered"], vec!["-1", "-n", "HEAD~1"]),
        (vec!["-2", "-v", "3", "--rfc"], vec!["-2", "-v3", "--rfc"]),
        (vec!["-2", "--prefix", "RFC/WIP PATCH"], vec!["-2", "--subject-prefix=RFC/WIP PATCH"]),
        (
            vec!["-2", "--list", "net-next", "-v2"],
            vec!["-2", "--subject-prefix=PATCH net-next", "-v2"],
        ),
        (vec!["-2", "--base"], vec!["-2", "--base=HEAD~2"]),
        (
            vec!["HEAD~3..", "--base", from, &cover, "--to", "a@b", "--cc=C D <c@d>"],
            vec![
                "-3",
                &git_base,
                from,
                "--cover-letter",
                &description,
                "--cover-from-description=subject",
                "--to=a@b",
                "--cc=C D <c@d>",
            ],
        ),
        (vec!["-1", "--signature", ""], vec!["-1", "--no-signature"]),
        (vec!["-3", "--start-number", "5"], vec!["-3", "--start-number=5"]),
    ] {
        if gits.contains(&description.as_str()) && !git_is_at_least(2, 42).unwrap() {
            eprintln!("not compared: this git has no --description-file");
            continue;
        }
        let output = run(&repo, &ours);
        assert!(output.status.success(), "{ours:?} {}", stderr(&output));
        let ours_files = read_all(&repo.beside("mails"));
        let gits_files = repo.format_patch("git", &gits);
        let names = |files: &[(String, Vec<u8>)]| {
            files.iter().map(|f| f.0.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&ours_files), names(&gits_files), "{ours:?}");
        for ((name, a), (_, b)) in ours_files.iter().zip(&gits_files) {
            let (a, b) = (undated(name, a), undated(name, b));
            assert!(a == b, "{ours:?} {name} {}", difference(&a, &b));
        }
        let listed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(listed.lines().count(), ours_files.len());
        std::fs::remove_dir_all(repo.beside("mails")).unwrap();
    }
}

/// Two versions of a series, tagged `old` and `new`, on top of `base`: a line of
/// the first patch and a message differ, the third one is new.
fn two_versions() -> Repo {
    let repo = Repo::new();
    let lines = |a: &str, b: &str| {
        let filler = "\tx++;\n".repeat(9);
        format!("int a;\n\nint f(void)\n{{\nout:\n{filler}\t{a};\n{filler}\t{b};\n}}\n")
    };
    repo.write(".gitattributes", "*.c diff=cpp\n");
    repo.write("net/dev.c", lines("a", "b"));
    repo.commit("base");
    repo.git(&["tag", "base"]);
    repo.write("net/dev.c", lines("a1", "b"));
    repo.commit("net: one\n\nText.\n");
    repo.git(&["tag", "old1"]);
    repo.write("net/dev.c", lines("a1", "b1"));
    repo.commit("net: two\n\nWhy, Björn?\n");
    repo.git(&["tag", "old"]);
    repo.git(&["reset", "-q", "--hard", "base"]);
    repo.write("net/dev.c", lines("a2", "b"));
    repo.commit("net: one\n\nText.\n");
    repo.git(&["tag", "new1"]);
    repo.write("net/dev.c", lines("a2", "b1"));
    repo.commit("net: two\n\nWhy, Björn.\n");
    repo.write("net/new.c", "int n;\n");
    repo.commit("net: three\n\nText.\n");
    repo.git(&["tag", "new"]);
    repo
}

#[test]
fn range_diffs_are_gits() {
    if !git_is_at_least(2, 41).unwrap() {
        eprintln!("not compared: this git takes attributes from the worktree alone");
        return;
    }
    let repo = two_versions();
    for (range, previous, more) in [
        ("base..new", "base..old", vec!["-v2"]),
        ("base..new", "base..old", vec!["--base"]),
        ("base..new", "old", vec!["-v7"]),
        ("base..new", "old", vec!["-v2", "--creation-factor=1"]),
        ("base..old", "new", vec!["-v3", "--base"]),
        ("new1", "base..old1", vec!["-v2", "--base"]),
        ("new1", "old1", vec!["-v2"]),
    ] {
        let cover = range.contains("..");
        let previous = format!("--range-diff={previous}");
        let from = "--from=C O Mitter <c@example.org>";
        let mut ours = vec![range, &previous, from];
        let gits_range = if cover { range.to_owned() } else { format!("{range}~..{range}") };
        let base = format!("--base={}", gits_range.split("..").next().unwrap());
        let mut gits = vec![gits_range.as_str(), &previous, from, "--creation-factor=999"];
        if cover {
            ours.push("--cover-letter");
            gits.push("--cover-letter");
        }
        ours.extend(&more);
        gits.extend(more.iter().map(|&m| if m == "--base" { base.as_str() } else { m }));
        let output = run(&repo, &ours);
        assert!(output.status.success(), "{ours:?} {}", stderr(&output));
        let ours_files = read_all(&repo.beside("mails"));
        let gits_files = repo.format_patch("git", &gits);
        assert_eq!(ours_files.len(), gits_files.len(), "{ours:?}");
        let first = String::from_utf8_lossy(&ours_files[0].1);
        assert!(first.contains("\nRange-diff"), "{first}");
        for ((name, a), (_, b)) in ours_files.iter().zip(&gits_files) {
            let (a, b) = (undated(name, a), undated(name, b));
            assert!(a == b, "{ours:?} {name} {}", difference(&a, &b));
        }
        std::fs::remove_dir_all(repo.beside("mails")).unwrap();
    }
    for (range, previous, says) in [
        ("base..new", "nosuch", "nosuch"),
        ("base..new", "old...new", "OLD..NEW"),
        ("base", "old", "no parent"),
    ] {
        let output = run(&repo, &[range, "--cover-letter", "--range-diff", previous]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
        assert!(!repo.beside("mails").exists());
    }
}

/// A cover has the day's date with git.
fn undated(name: &str, mail: &[u8]) -> Vec<u8> {
    let lines = mail.split_inclusive(|&c| c == b'\n');
    let cover = name.contains("0000-");
    lines.filter(|l| !(cover && l.starts_with(b"Date: "))).collect::<Vec<_>>().concat()
}

const HOSTILE: &str = r#"
[user]
    name = Someone Else
    email = else@example.org
[core]
    abbrev = 40
    quotePath = false
    attributesFile = ATTRIBUTES
    autocrlf = true
    eol = crlf
    precomposeUnicode = true
    compression = 9
    looseCompression = 9
    pager = false
[diff]
    noprefix = true
    mnemonicPrefix = true
    algorithm = patience
    context = 9
    interHunkContext = 9
    renames = copies
    renameLimit = 1
    indentHeuristic = false
    suppressBlankEmpty = true
    statGraphWidth = 5
    statNameWidth = 9
    orderFile = ORDER
    external = false
    srcPrefix = x/
    dstPrefix = y/
    relative = true
    submodule = log
    wsErrorHighlight = all
    colorMoved = zebra
    ignoreSubmodules = all
[diff "cpp"]
    xfuncname = "^(zzz)$"
    binary = true
[diff "rust"]
    xfuncname = "^(zzz)$"
[format]
    subjectPrefix = HOSTILE
    numbered = true
    signature = hostile
    attach = hostile
    headers = "X-Hostile: yes\n"
    to = hostile@example.org
    cc = hostile@example.org
    signOff = true
    thread = deep
    coverLetter = true
    useAutoBase = true
    notes = true
    mboxrd = true
    encodeEmailHeaders = false
    forceInBodyFrom = true
    from = Hostile <h@example.org>
    filenameMaxLength = 9
    suffix = .hostile
    noprefix = true
    pretty = oneline
[i18n]
    commitEncoding = latin1
    logOutputEncoding = latin1
[color]
    ui = always
[log]
    mailmap = true
    date = unix
    showSignature = true
[mailmap]
    blob = HEAD:nosuch
"#;

/// Case 20, and that locale, zone, umask and terminal change nothing.
#[test]
fn a_hostile_surrounding_changes_no_byte() {
    let repo = Repo::new();
    repo.import(&History::new(77).stream(25));
    let home = repo.beside("home");
    std::fs::create_dir(&home).unwrap();
    let mut args =
        vec!["-24", "--faults=keep", "--transfer=mail", "--cover-letter", "--base", "--thread"];
    args.extend(["--range-diff=HEAD~22..HEAD~2", "-v2"]);
    let output = run(&repo, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let plain = read_all(&repo.beside("mails"));
    assert_eq!(plain.len(), 25);
    std::fs::remove_dir_all(repo.beside("mails")).unwrap();

    let attributes = home.join("attributes");
    std::fs::write(&attributes, "* -diff\n*.c diff=rust\n").unwrap();
    let hostile = HOSTILE
        .replace("ATTRIBUTES", attributes.to_str().unwrap())
        .replace("ORDER", attributes.to_str().unwrap());
    std::fs::write(home.join(".gitconfig"), &hostile).unwrap();
    std::fs::create_dir_all(home.join("git")).unwrap();
    std::fs::write(home.join("git/config"), &hostile).unwrap();
    std::fs::write(home.join("git/attributes"), "* -diff\n").unwrap();
    let own = repo.path().join(".git/config");
    let config = std::fs::read_to_string(&own).unwrap();
    std::fs::write(&own, config + &hostile).unwrap();
    std::fs::create_dir_all(repo.path().join(".git/info")).unwrap();
    std::fs::write(repo.path().join(".git/info/attributes"), "* -diff\n*.c diff=rust\n").unwrap();
    repo.write(".gitattributes", "* -diff\n");
    repo.write(".mailmap", "Hostile <author@example.org>\n");
    // The shell sets the umask; ours is inherited from it.
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 077; exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_xtask"));
    shell.arg("format-series").args(args);
    shell.arg("--repo").arg(repo.path()).arg("--output").arg(repo.beside("mails"));
    clean(&mut shell, &home);
    shell
        .env_remove("GIT_CONFIG_NOSYSTEM")
        .env("GIT_DIFF_OPTS", "--unified=1")
        .env("GIT_EXTERNAL_DIFF", "false")
        .env("GIT_AUTHOR_NAME", "Env")
        .env("GIT_COMMITTER_NAME", "Env")
        .env("LC_ALL", "tr_TR.ISO-8859-9")
        .env("LANG", "de_DE")
        .env("TZ", "Asia/Kathmandu")
        .env("COLUMNS", "20");
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let hostile = read_all(&repo.beside("mails"));
    assert_eq!(hostile.len(), plain.len());
    for ((name, a), (_, b)) in hostile.iter().zip(&plain) {
        assert!(a == b, "{name} {}", difference(a, b));
    }
}

#[test]
fn prerequisites_are_named() {
    let repo = small();
    let id = "ab".repeat(20);
    let args = ["-2", "--base", "--prerequisite=message-id: <a@b>", "--prerequisite"];
    let patch = format!("patch-id: {id}");
    let output = run(&repo, &[&args[..], &[&patch]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let first = String::from_utf8(read_all(&repo.beside("mails"))[0].1.clone()).unwrap();
    let base = repo.id("HEAD~2");
    let want = format!(
        "\nbase-commit: {base}\nprerequisite-message-id: <a@b>\nprerequisite-patch-id: {id}\n-- \n"
    );
    assert!(first.contains(&want), "{first}");
}

/// Bad input: the exit code, what the message says, and that nothing is written.
#[test]
fn bad_input() {
    let repo = small();
    repo.write("net/core/dev.c", "x\n");
    repo.commit("net: four\n\ntext\n---\nmore\n");
    for (args, code, says) in [
        (vec!["nosuch"], 2, "nosuch"),
        (vec!["HEAD..HEAD"], 2, "no commit"),
        (vec!["HEAD~1", "--to", "nobody"], 2, "no user@host"),
        (vec!["HEAD~1", "--date", "soon"], 2, "soon"),
        (vec!["HEAD~1", "--prefix", "a]"], 2, "brackets"),
        (vec!["HEAD~1", "--change-id", "a b"], 2, "change id"),
        (vec!["HEAD~1", "--prerequisite", "x: y"], 2, "kind of prerequisite"),
        (vec!["HEAD~1", "--in-reply-to", "x"], 2, "message id"),
        (vec!["HEAD~1", "--cover-letter=/nosuch"], 2, "/nosuch"),
        (vec!["HEAD"], 2, "line 2 below its subject"),
        (vec!["-2"], 2, "keep what follows as notes"),
        (vec!["HEAD~1", "--transfer", "x"], 2, "possible values"),
        (vec!["HEAD~1", "--mbox", "/dev/null"], 2, "no file"),
        (vec!["HEAD~1", "--mbox", "."], 2, "no file"),
        (vec!["HEAD~1", "--mbox", "new/"], 2, "no file's name"),
        (vec!["HEAD~1", "--mbox", "/dev/null/"], 2, "no file's name"),
        (vec!["HEAD~1", "--mbox", "/dev/null/x"], 2, "no folder"),
    ] {
        let output = run(&repo, &args);
        assert_eq!(output.status.code(), Some(code), "{args:?} {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{args:?} {}", stderr(&output));
        assert!(!repo.beside("mails").exists(), "{args:?}");
    }
    let homeless = command(&repo, &["-1", "--faults=mend"]).env("HOME", "/nosuch").output();
    assert!(homeless.unwrap().status.success());
    let folder = repo.beside("no repository");
    std::fs::create_dir(&folder).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["format-series", "-1", "--output", "/tmp/x", "--repo"])
        .arg(&folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    // A file where mails should go.
    std::fs::remove_dir_all(repo.beside("mails")).unwrap();
    std::fs::write(repo.beside("mails"), "mine").unwrap();
    for mbox in [None, Some("mails/x"), Some("mails/x.patch")] {
        let mbox = mbox.map(|m| ["--mbox".into(), repo.beside(m).into_os_string()]);
        let output = command(&repo, &["HEAD~1"]).args(mbox.into_iter().flatten()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("no folder"), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read_to_string(repo.beside("mails")).unwrap(), "mine");
}

#[test]
fn json_says_what_was_written() {
    let repo = small();
    let output = run(&repo, &["-2", "--format=json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["mails"], serde_json::json!(["0001-net-two.patch", "0002-net-three.patch"]));
    assert_eq!(json["proved"], true);
}

/// Case 19.
#[test]
fn a_thousand_patches() {
    let repo = Repo::new();
    let lines: String = (0..3000).map(|i| format!("line {i}\n")).collect();
    let mut stream = Vec::new();
    for n in 0..=1000 {
        let content = lines.replace(&format!("line {}\n", n * 2), &format!("LINE {n}\n"));
        let from = if n == 0 { String::new() } else { format!("from :{n}\n") };
        let message = format!("net: number {n}\n");
        stream.extend(
            format!(
                "commit refs/heads/main\nmark :{}\nauthor A U Thor <a@b> {} +0000\n\
                 committer A U Thor <a@b> {} +0000\ndata {}\n{message}\n{from}\
                 M 100644 inline f{}.c\ndata {}\n{content}\n",
                n + 1,
                1_700_000_000 + n,
                1_700_000_000 + n,
                message.len(),
                n % 10,
                content.len()
            )
            .bytes(),
        );
    }
    repo.import(&stream);
    let mut child = command(&repo, &["-1000", "--cover-letter", "--transfer=mail"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut most = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        most = peak_kib(child.id()).unwrap_or(0).max(most);
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    assert!(status.success());
    let files = read_all(&repo.beside("mails"));
    assert_eq!(files.len(), 1001);
    assert!(files[1].0.starts_with("0001-") && files[1000].0.starts_with("1000-"));
    let last = String::from_utf8_lossy(&files[1000].1);
    assert!(last.contains("Subject: [PATCH 1000/1000] net: number 1000\n"), "{last}");
    assert!((1..100 * 1024).contains(&most), "{most} KiB");
}

/// The most memory that a running process has had.
fn peak_kib(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// The mails of a plain run are what `git send-email` sends.
#[test]
fn git_send_email_takes_them() {
    if !Path::new("/usr/lib/git-core/git-send-email").exists() {
        println!("skipped: git send-email is not installed");
        return;
    }
    let repo = small();
    repo.write("net/core/dev.c", "größer\r\n");
    repo.commit("net: größer\n\nReviewed-by: Joe (ARM) <joe@example.org>\nCc: stable@vger.kernel.org # v5.10+\n");
    let cover = repo.beside("cover");
    std::fs::write(&cover, "The cover\n\nIts text.\n").unwrap();
    let cover = format!("--cover-letter={}", cover.display());
    let output = run(
        &repo,
        &["-4", &cover, "--transfer=mail", "--thread", "--to", "Last, First <lf@example.org>"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let folder = repo.beside("mails");
    let output = repo
        .command(&["send-email", "--dry-run", "--no-chain-reply-to", "--confirm=never"])
        .arg(&folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", stderr(&output));
    // It asks nothing, and finds everyone.
    assert!(!text.contains("Which 8bit encoding"), "{text}");
    for address in
        ["lf@example.org", "joe@example.org", "stable@vger.kernel.org", "author@example.org"]
    {
        assert!(text.contains(address), "{address} {text}");
    }
    assert_eq!(text.matches("Result: OK").count(), 5, "{text}");
}
