//! From the JSON that a command wrote to a cell's result: whether it holds, figures in one line,
//! and what failed or is explained.

use std::collections::BTreeSet;

use serde_json::Value;

use super::plan::Step;
use super::state::Status;
use crate::commands::own::Ended;
use crate::error::Kind;

/// What a cell's command showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// How it ended; nothing for what was not even begun.
    pub status: Option<Status>,
    /// Figures.
    pub summary: String,
    /// Failures first, then what is explained.
    pub notes: Vec<String>,
    /// What the guests ran on.
    pub accelerator: Option<String>,
}

/// Reads what the command of a step ended with.
#[must_use]
pub fn digest(step: Step, ended: &Ended) -> Digest {
    let mut digest = match step {
        Step::Verdict => Digest::default(),
        Step::Check => rows(&ended.json, false),
        Step::Commits => rows(&ended.json, true),
        Step::Boot | Step::Debug | Step::Mutants => suites(&ended.json, step == Step::Mutants),
    };
    if digest.status.is_none() {
        // No result at all: the command says why.
        let lacking = ended.code == i32::from(Kind::Host.exit_code());
        digest.status = Some(if lacking { Status::NotRun } else { Status::Failed });
        let why = ended.why();
        // Its first line is the command.
        let mut lines = why.lines().skip(1);
        digest.summary = lines.next().unwrap_or("it gave no result").to_owned();
        digest.notes = vec![why];
    }
    digest
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("{n} {word}") } else { format!("{n} {word}s") }
}

/// The rows of `check`.
fn rows(json: &Value, compiled: bool) -> Digest {
    let rows = list(json, "rows");
    if rows.is_empty() {
        return Digest::default();
    }
    let mut failed = Vec::new();
    let mut explained = BTreeSet::new();
    let mut held = true;
    for row in rows {
        let place = format!("{} of {}", text(row, "gate"), text(row, "subject"));
        for finding in list(row, "findings") {
            let what = match finding.get("place").and_then(Value::as_str) {
                Some(at) => format!("{}: {at}: {}", text(finding, "rule"), text(finding, "text")),
                None => format!("{}: {}", text(finding, "rule"), text(finding, "text")),
            };
            if let Some(why) = finding.get("accepted").and_then(Value::as_str) {
                explained.insert(format!("explained: {place}: {}: {why}", text(finding, "rule")));
            } else if finding.get("note").and_then(Value::as_bool) != Some(true) {
                failed.push(format!("{place}: {what}"));
            }
        }
        match text(row, "status") {
            "passed" => {}
            "failed" => held = false,
            // sparse is a tool of its own: without it the rest still counts, and it is said.
            _ if compiled && text(row, "gate") == "sparse" => {}
            _ => {
                held = false;
                failed.push(format!("{place}: not run: {}", text(row, "detail")));
            }
        }
    }
    let summary = if compiled {
        // Nothing built is nothing shown.
        held &= count(rows, "builds", "passed") > 0 && count(rows, "warnings", "passed") > 0;
        of_compiler(rows)
    } else {
        of_gates(rows)
    };
    Digest {
        status: Some(if held { Status::Held } else { Status::Failed }),
        summary,
        notes: failed.into_iter().chain(explained).collect(),
        accelerator: None,
    }
}

fn count(rows: &[Value], gate: &str, status: &str) -> usize {
    rows.iter().filter(|r| text(r, "gate") == gate && text(r, "status") == status).count()
}

fn findings<'v>(rows: &'v [Value], gate: &'v str) -> impl Iterator<Item = &'v Value> {
    rows.iter().filter(move |r| text(r, "gate") == gate).flat_map(|r| list(r, "findings"))
}

fn of_gates(rows: &[Value]) -> String {
    let all = |status: &str| rows.iter().filter(|r| text(r, "status") == status).count();
    let (mut errors, mut warnings, mut checks, mut explained) = (0, 0, 0, 0);
    for f in findings(rows, "checkpatch") {
        let kind = text(f, "text");
        if f.get("accepted").is_some_and(|a| !a.is_null()) {
            explained += 1;
        } else if f.get("note").and_then(Value::as_bool) == Some(true) {
        } else if kind.ends_with("(error)") {
            errors += 1;
        } else if kind.ends_with("(warning)") {
            warnings += 1;
        } else {
            checks += 1;
        }
    }
    let mut summary = format!("{} of {} passed", all("passed"), plural(rows.len(), "row"));
    if rows.iter().any(|r| text(r, "gate") == "checkpatch" && text(r, "status") != "skipped") {
        summary.push_str(&format!(
            "; checkpatch --strict: {}, {}, {}",
            plural(errors, "error"),
            plural(warnings, "warning"),
            plural(checks, "check")
        ));
        if explained > 0 {
            summary.push_str(&format!(", {explained} explained"));
        }
    }
    summary
}

fn of_compiler(rows: &[Value]) -> String {
    let built = count(rows, "builds", "passed");
    let all = rows.iter().filter(|r| text(r, "gate") == "builds").count();
    let new = findings(rows, "warnings").filter(|f| f.get("accepted").is_none_or(Value::is_null));
    let mut summary = format!(
        "{built} of {} built; W=1: {} new",
        plural(all, "commit"),
        plural(new.count(), "warning")
    );
    if count(rows, "sparse", "skipped") > 0 {
        summary.push_str("; sparse not run");
    } else {
        let new = findings(rows, "sparse").filter(|f| f.get("accepted").is_none_or(Value::is_null));
        summary.push_str(&format!("; sparse: {} new", new.count()));
    }
    summary
}

/// The suites of `test-vm`.
fn suites(json: &Value, mutants: bool) -> Digest {
    let suites = list(json, "suites");
    if suites.is_empty() {
        return Digest::default();
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let (mut caught, mut broken) = (0, 0);
    let mut bad = Vec::new();
    let mut told = Vec::new();
    let mut accelerators = BTreeSet::new();
    for suite in suites {
        let of_mutants = text(suite, "name").starts_with("mutants of ");
        for fact in list(suite, "facts").iter().filter(|f| text(f, "name") == "accelerator") {
            accelerators.insert(text(fact, "value").to_owned());
        }
        for case in list(suite, "cases") {
            let message = text(case, "message");
            let colon = if message.is_empty() { "" } else { ": " };
            let name = format!("{}{colon}{message}", text(case, "name"));
            match text(case, "status") {
                "pass" | "expected-fail" if of_mutants => caught += 1,
                "pass" | "expected-fail" => passed += 1,
                "skip" => {
                    skipped += 1;
                    told.push(format!("skipped: {name}"));
                    continue;
                }
                word => {
                    failed += 1;
                    bad.push(format!("{word}: {name}"));
                }
            }
            broken += usize::from(of_mutants);
        }
    }
    let (shown, summary) = if mutants {
        (caught, format!("{caught} of {} caught", plural(broken, "mutant")))
    } else {
        (passed, format!("{passed} passed, {failed} failed"))
    };
    let more = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    let held = failed == 0 && shown > 0 && json.get("held").and_then(Value::as_bool) == Some(true);
    Digest {
        status: Some(if held { Status::Held } else { Status::Failed }),
        summary: format!("{summary}{more}"),
        notes: bad.into_iter().chain(told).collect(),
        accelerator: Some(accelerators.into_iter().collect::<Vec<_>>().join(", "))
            .filter(|a| !a.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(step: Step, code: i32, json: Value) -> Digest {
        digest(step, &Ended { line: "cargo xtask x".into(), code, json })
    }

    fn row(gate: &str, status: &str, findings: Value) -> Value {
        json!({ "gate": gate, "subject": "p", "status": status, "detail": "d", "findings": findings })
    }

    #[test]
    fn rows_of_the_gates() {
        let accepted = json!([{ "rule": "R", "place": "a.c:1", "text": "t (check)", "note": false, "accepted": "since" }]);
        let bad = json!([{ "rule": "R", "place": "a.c:1", "text": "t (warning)", "note": false, "accepted": null }]);
        let note = json!([{ "rule": "R", "place": null, "text": "t (warning)", "note": true, "accepted": null }]);
        let rows = json!({ "rows": [row("checkpatch", "passed", accepted), row("message", "passed", note.clone())] });
        let got = read(Step::Check, 0, rows);
        assert_eq!(got.status, Some(Status::Held));
        assert_eq!(
            got.summary,
            "2 of 2 rows passed; checkpatch --strict: 0 errors, 0 warnings, 0 checks, 1 explained"
        );
        assert_eq!(got.notes, ["explained: checkpatch of p: R: since"]);
        let rows = json!({ "rows": [row("checkpatch", "failed", bad), row("spelling", "skipped", json!([]))] });
        let got = read(Step::Check, 1, rows);
        assert_eq!(got.status, Some(Status::Failed));
        assert!(got.summary.contains("0 errors, 1 warning, 0 checks"), "{}", got.summary);
        assert_eq!(
            got.notes,
            ["checkpatch of p: R: a.c:1: t (warning)", "spelling of p: not run: d"]
        );
        // A note alone fails nothing, and a skipped row is not green.
        let got = read(Step::Check, 0, json!({ "rows": [row("checkpatch", "passed", note)] }));
        assert_eq!(got.status, Some(Status::Held));
        let got = read(Step::Check, 1, json!({ "rows": [row("spelling", "skipped", json!([]))] }));
        assert_eq!(got.status, Some(Status::Failed));
    }

    #[test]
    fn rows_of_the_compiler() {
        let none = || json!([]);
        for (rows, held, summary) in [
            (
                vec![("builds", "passed"), ("warnings", "passed"), ("sparse", "passed")],
                true,
                "1 of 1 commit built; W=1: 0 warnings new; sparse: 0 new",
            ),
            (
                vec![("builds", "passed"), ("warnings", "passed"), ("sparse", "skipped")],
                true,
                "1 of 1 commit built; W=1: 0 warnings new; sparse not run",
            ),
            (
                vec![("builds", "failed"), ("builds", "passed"), ("warnings", "passed")],
                false,
                "1 of 2 commits built; W=1: 0 warnings new; sparse: 0 new",
            ),
            (
                vec![("builds", "passed"), ("warnings", "skipped")],
                false,
                "1 of 1 commit built; W=1: 0 warnings new; sparse: 0 new",
            ),
            (
                vec![("builds", "skipped"), ("warnings", "skipped")],
                false,
                "0 of 1 commit built; W=1: 0 warnings new; sparse: 0 new",
            ),
        ] {
            let rows: Vec<Value> = rows.into_iter().map(|(g, s)| row(g, s, none())).collect();
            let got = read(Step::Commits, 0, json!({ "rows": rows }));
            let want = if held { Status::Held } else { Status::Failed };
            assert_eq!((got.status, got.summary.as_str()), (Some(want), summary));
        }
    }

    fn suite(name: &str, cases: &[(&str, &str)]) -> Value {
        let cases: Vec<Value> = cases
            .iter()
            .map(|(name, status)| json!({ "name": name, "status": status, "message": "m" }))
            .collect();
        json!({ "name": name, "cases": cases, "facts": [{ "name": "accelerator", "value": "tcg" }] })
    }

    #[test]
    fn suites_of_guests() {
        let good = suite("s on 1", &[("guest", "pass"), ("t/a", "expected-fail"), ("t/b", "skip")]);
        let got = read(Step::Boot, 0, json!({ "held": true, "suites": [good] }));
        assert_eq!(got.status, Some(Status::Held));
        assert_eq!(got.summary, "2 passed, 0 failed, 1 skipped");
        assert_eq!(got.notes, ["skipped: t/b: m"]);
        assert_eq!(got.accelerator.as_deref(), Some("tcg"));
        let bad = suite("s on 1", &[("guest", "pass"), ("console", "fail")]);
        let got = read(Step::Debug, 1, json!({ "held": false, "suites": [bad] }));
        assert_eq!(
            (got.status, got.summary.as_str()),
            (Some(Status::Failed), "1 passed, 1 failed")
        );
        assert_eq!(got.notes, ["fail: console: m"]);
        let skipped = suite("s on 1", &[("t/a", "skip")]);
        let got = read(Step::Boot, 1, json!({ "held": false, "suites": [skipped] }));
        assert_eq!(got.status, Some(Status::Failed));
    }

    #[test]
    fn mutants_are_counted_apart_from_the_tests_before_them() {
        let tests = || suite("s on 1", &[("t/a", "pass"), ("t/b", "pass")]);
        let mutants = suite("mutants of s", &[("m", "pass"), ("n", "skip")]);
        let got = read(Step::Mutants, 0, json!({ "held": true, "suites": [tests(), mutants] }));
        assert_eq!(got.status, Some(Status::Held));
        assert_eq!(got.summary, "1 of 1 mutant caught, 1 skipped");
        let mutants = suite("mutants of s", &[("m", "pass"), ("n", "fail")]);
        let got = read(Step::Mutants, 1, json!({ "held": false, "suites": [tests(), mutants] }));
        assert_eq!(got.status, Some(Status::Failed));
        assert_eq!(got.summary, "1 of 2 mutants caught");
        // No mutant at all shows nothing.
        let got = read(Step::Mutants, 0, json!({ "held": true, "suites": [tests()] }));
        assert_eq!(got.status, Some(Status::Failed));
    }

    #[test]
    fn a_command_without_a_result_says_why() {
        let error =
            json!({ "error": { "asked": "build", "found": ["no gcc"], "mend": ["install it"] } });
        let got = read(Step::Boot, 3, error.clone());
        assert_eq!((got.status, got.summary.as_str()), (Some(Status::NotRun), "build"));
        assert!(got.notes[0].contains("no gcc") && got.notes[0].contains("mend: install it"));
        assert_eq!(read(Step::Boot, 1, error.clone()).status, Some(Status::Failed));
        assert_eq!(read(Step::Check, 4, error).status, Some(Status::Failed));
        let got = read(Step::Commits, 101, Value::Null);
        assert_eq!((got.status, got.summary.as_str()), (Some(Status::Failed), "it gave no result"));
        // Code 0 without a result is no pass.
        assert_eq!(read(Step::Check, 0, json!({ "rows": [] })).status, Some(Status::Failed));
    }
}
