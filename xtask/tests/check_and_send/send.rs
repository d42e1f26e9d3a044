//! `cargo xtask send` as its user runs it, with a script in place of a mail server.

use std::fs::File;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::outbox::{MESSAGE, Outbox, code, header, talk};

/// git send-email is a package of its own, and needs perl modules.
fn can_send() -> bool {
    let out = Command::new("git").args(["send-email", "--dump-aliases"]).output();
    let there = out.is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("skipped: git send-email does not run here");
    }
    there
}

#[test]
fn explain_and_preview_send_nothing() {
    let s = Outbox::new();
    let out = s.send(&["--explain"]).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    for line in [
        "To: Dora <dora@example.org>\n      maintainer:NETWORKING\n",
        "Cc: Joe (ARM) <joe@arm.com>\n      Reviewed-by in 1\n",
        "Cc: <stable@vger.kernel.org>\n      Cc in 1\n",
        "not: lkp@intel.com (Reported-by in 1)\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let out = s.send(&["--preview"]).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("Subject: [PATCH net-next 1/1] net: add b"), "{text}");
    assert!(text.contains("\nX-Change-ID: 20241129-b-431ffd03aa5e\n"), "{text}");
    assert!(s.sent().is_empty());
}

#[test]
fn nothing_goes_out_without_a_word() {
    if !can_send() {
        return;
    }
    let s = Outbox::new();
    let out = s.send(&[]).output().unwrap();
    assert_eq!(code(&out), 2, "{}", talk(&out));
    assert!(talk(&out).contains("--yes"), "{}", talk(&out));
    assert!(s.sent().is_empty());
    let out = s.send(&["--dry-run"]).output().unwrap();
    assert_eq!(code(&out), 0, "{}", talk(&out));
    assert!(s.sent().is_empty());

    // On a terminal it asks; any other word than the one sends nothing.
    for (word, ends, mails) in [("yes\n", 1, 0), ("send\n", 0, 2)] {
        let pty = nix::pty::openpty(None, None).unwrap();
        let mut keyboard = File::from(pty.master);
        let child = s
            .send(&[])
            .stdin(Stdio::from(pty.slave))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        keyboard.write_all(word.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        assert_eq!(code(&out), ends, "{}", talk(&out));
        assert!(talk(&out).contains("To:   Dora <dora@example.org>"), "{}", talk(&out));
        assert_eq!(s.sent().len(), mails);
    }
}

#[test]
fn red_gates_stop_it() {
    if !can_send() {
        return;
    }
    let s = Outbox::new();
    let message = "net: add BAD\n\nBody.\n\nSigned-off-by: Björn Hacker <bjorn@example.org>\n";
    s.change("a\nb\nBAD\n", message);
    let out = s.send(&["--yes"]).output().unwrap();
    assert_eq!(code(&out), 1, "{}", talk(&out));
    assert!(talk(&out).contains("checkpatch 2:"), "{}", talk(&out));
    assert!(s.sent().is_empty());
    // What would be refused is no success of trying it.
    let out = s.send(&["--dry-run"]).output().unwrap();
    assert_eq!(code(&out), 1, "{}", talk(&out));
    let out = s.send(&["--yes", "--force"]).output().unwrap();
    assert_eq!((code(&out), s.sent().len()), (0, 3), "{}", talk(&out));
}

#[test]
fn what_is_sent_is_what_was_shown() {
    if !can_send() {
        return;
    }
    let s = Outbox::new();
    // Settings that would add people nobody was shown, or ask questions.
    for (key, value) in [
        ("sendemail.to", "surprise@example.org"),
        ("sendemail.cc", "surprise@example.org"),
        ("sendemail.toCmd", "echo surprise@example.org #"),
        ("sendemail.ccCmd", "echo surprise@example.org #"),
        ("sendemail.headerCmd", "echo Cc: surprise@example.org #"),
        ("sendemail.annotate", "true"),
        ("sendemail.confirm", "always"),
        ("sendemail.chainReplyTo", "true"),
        ("sendemail.thread", "true"),
    ] {
        s.git(&["config", key, value]);
    }
    let out = s.send(&["--yes", "--format", "json"]).output().unwrap();
    assert_eq!(code(&out), 0, "{}", talk(&out));
    // stdout has the result alone, though git send-email talks there.
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["done"], "sent");
    let sent = s.sent();
    assert_eq!(sent.len(), 2);
    for (to, mail) in &sent {
        let mut to = to.clone();
        to.sort_unstable();
        let want =
            ["dora@example.org", "joe@arm.com", "netdev@example.org", "stable@vger.kernel.org"];
        assert_eq!(to, want);
        assert_eq!(header(mail, "To").as_deref(), Some("Dora <dora@example.org>"));
        assert!(mail.contains("\"Joe (ARM)\" <joe@arm.com>"), "{mail}");
    }
    let (cover, patch) = (&sent[0].1, &sent[1].1);
    assert_eq!(header(cover, "In-Reply-To"), None);
    assert_eq!(header(patch, "In-Reply-To"), header(cover, "Message-ID"));
    assert_eq!(header(cover, "X-Change-ID").as_deref(), Some("20241129-b-431ffd03aa5e"));
    assert_eq!(header(patch, "Subject").as_deref(), Some("[PATCH net-next 1/1] net: add b"));

    // Applied, it is the commit that was sent.
    let state =
        || (s.git(&["rev-parse", "HEAD^{tree}"]), s.git(&["log", "-1", "--format=%an%n%ae%n%B"]));
    let before = state();
    s.git(&["checkout", "--quiet", "base"]);
    s.git(&["am", "--quiet", &s.path("out/1.mail").to_string_lossy()]);
    assert_eq!(state(), before);
}

#[test]
fn a_copy_goes_to_oneself_alone() {
    if !can_send() {
        return;
    }
    let s = Outbox::new();
    s.git(&["config", "sendemail.bcc", "surprise@example.org"]);
    let out = s.send(&["--reflect", "--yes"]).output().unwrap();
    assert_eq!(code(&out), 0, "{}", talk(&out));
    let sent = s.sent();
    assert_eq!(sent.len(), 2);
    for (to, mail) in &sent {
        assert_eq!(to, &["bjorn@example.org"]);
        assert_eq!(header(mail, "X-Reflected-To").as_deref(), Some("dora@example.org"));
    }
}

#[test]
fn the_rest_can_be_sent_later() {
    if !can_send() {
        return;
    }
    let s = Outbox::new();
    s.script(
        "broken",
        "#!/bin/sh\n[ -e \"$OUT/0.mail\" ] && exit 75\ncat > \"$OUT/0.mail\"\n: > \"$OUT/0.args\"\n",
    );
    let mut first = s.command(&["send", "--yes"]);
    let out = first.arg("--sendmail-cmd").arg(s.path("broken")).output().unwrap();
    assert_eq!(code(&out), 3, "{}", talk(&out));
    assert!(talk(&out).contains("--first"), "{}", talk(&out));
    let out = s.send(&["--yes", "--first", "1"]).output().unwrap();
    assert_eq!(code(&out), 0, "{}", talk(&out));
    let sent = s.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(header(&sent[1].1, "In-Reply-To"), header(&sent[0].1, "Message-ID"));
    assert_eq!(code(&s.send(&["--yes", "--first", "9"]).output().unwrap()), 2);
}

#[test]
fn the_cover_shows_what_changed_since_an_earlier_version() {
    let s = Outbox::new();
    s.git(&["branch", "old"]);
    s.git(&["reset", "--quiet", "--hard", "base"]);
    s.change("a\nc\n", MESSAGE);
    let out = s.send(&["--preview", "-v2", "--range-diff=base..old"]).output().unwrap();
    assert_eq!(code(&out), 0, "{}", talk(&out));
    let text = String::from_utf8(out.stdout).unwrap();
    let ranges = ["--creation-factor=999", "base..old", "base..HEAD"];
    let options = ["-c", "core.abbrev=12", "range-diff", "--no-color"];
    let git = s.git(&[&options[..], &ranges].concat());
    assert!(text.contains(&format!("\nRange-diff against v1:\n{git}\n")), "{text}\n{git}");
    let out = s.send(&["--preview", "-v2", "--range-diff"]).output().unwrap();
    assert_eq!(code(&out), 2, "{}", talk(&out));
    assert!(talk(&out).contains("--range-diff=OLD..NEW"), "{}", talk(&out));
}
