//! `cargo xtask check` as its user runs it.

use std::process::Command;

use crate::outbox::{MESSAGE, Outbox, code, talk};

#[test]
fn it_tells_what_it_found_and_ends_with_1() {
    let s = Outbox::new();
    let out = s.command(&["check", "--fast"]).output().unwrap();
    assert_eq!(code(&out), 0, "{}\n{}", String::from_utf8_lossy(&out.stdout), talk(&out));

    let message = "net: add teh bad\n\nIt is.\n\nSigned-off-by: Björn Hacker <bjorn@example.org>\n";
    s.change("a\nb\nBAD\n", message);
    let out = s.command(&["check", "--fast", "--format", "json"]).output().unwrap();
    assert_eq!(code(&out), 1, "{}", talk(&out));
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap().iter();
    let failed: Vec<String> = rows
        .filter(|r| r["status"] == "failed")
        .map(|r| format!("{} {} {}", r["gate"], r["subject"], r["findings"][0]["rule"]))
        .collect();
    assert_eq!(failed, [r#""checkpatch" "2" "BAD""#, r#""spelling" "2" "spelling""#]);

    let out = s.command(&["check", "--gate", "message", "--gate", "applies"]).output().unwrap();
    assert_eq!(code(&out), 0, "{}", talk(&out));
}

#[test]
fn a_gate_that_cannot_run_is_not_green() {
    let s = Outbox::new();
    s.git(&["rm", "--quiet", "scripts/checkpatch.pl"]);
    s.git(&["commit", "--quiet", "-m", "gone"]);
    s.git(&["tag", "--force", "base"]);
    s.change("a\nb\nc\n", MESSAGE);
    let out = s.command(&["check", "--gate", "checkpatch"]).output().unwrap();
    let table = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(code(&out), 1, "{table}");
    assert!(table.contains("SKIPPED") && table.contains("checkpatch.pl"), "{table}");
    assert!(talk(&out).contains("--allow-skipped"), "{}", talk(&out));
    let out = s.command(&["check", "--gate", "checkpatch", "--allow-skipped"]).output().unwrap();
    assert_eq!(code(&out), 0);
}

#[test]
fn a_script_that_dies_half_way_is_not_green() {
    let s = Outbox::new();
    let script =
        "print \"total: 0 errors, 0 warnings, 0 checks, 1 lines checked\\n\"; die \"here\";\n";
    s.put("scripts/checkpatch.pl", script);
    s.git(&["commit", "--quiet", "-a", "-m", "dies"]);
    s.git(&["tag", "--force", "base"]);
    s.change("a\nb\nc\n", MESSAGE);
    s.change("a\nb\nc\nd\n", MESSAGE);
    let out = s.command(&["check", "--gate", "checkpatch"]).output().unwrap();
    assert_eq!(code(&out), 1);
    let table = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(table.contains("SKIPPED") && table.contains("here at"), "{table}");
}

#[test]
fn bad_usage() {
    let s = Outbox::new();
    for args in [
        &["check", "some-series"][..],
        &["send", "--explain", "--preview"],
        &["check", "--gate", "x"],
    ] {
        let out = s.command(args).output().unwrap();
        assert_eq!(code(&out), 2, "{args:?}: {}", talk(&out));
    }
    let mut bare = Command::new(env!("CARGO_BIN_EXE_xtask"));
    s.clean(&mut bare);
    assert_eq!(code(&bare.arg("check").output().unwrap()), 2);
}

#[test]
fn without_fast_a_range_is_not_green_since_nothing_compiles_it() {
    let s = Outbox::new();
    let out = s.command(&["check"]).output().unwrap();
    let table = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(code(&out), 1, "{table}");
    assert_eq!(table.matches("SKIPPED").count(), 3, "{table}");
    assert!(table.contains("--fast"), "{table}");
}
