//! A cover letter that tells what `check` and `test-vm` found: of these commits,
//! or not at all.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "host/machine.rs"]
#[allow(dead_code)]
mod host;

use host::Host;
use serde_json::{Value, json};

const SERIES: &str = r#"title = "net: Two of one"
list = "6.12.y"
author = "Björn Töpel <bjorn@example.org>"
date = 2024-11-29T12:00:00+01:00
cover = "cover.tera"

[[patch]]
name = "a"
message = { text = "net: Take two\n\nOne is not enough.\n\nSigned-off-by: Björn Töpel <bjorn@example.org>" }
[[patch.edit]]
file = "net/dev.c"
at = { text = "int a;" }
replace = { text = "int a2;" }
"#;

fn host(cover: &str) -> Host {
    let host = Host::new(&[("net/dev.c", "int a;\n")]);
    host.put("project/series/s/series.toml", SERIES);
    host.put("project/templates/s/cover.tera", cover);
    host
}

fn generate(host: &Host, code: i32) -> (Value, String) {
    let args = ["generate-series", "s", "--base", "../linux", "--output", "../mails"];
    let (out, err) = host.run(&[&args[..], &["--format", "json"]].concat(), code);
    (serde_json::from_str(&out).unwrap(), err)
}

fn check(host: &Host, more: &[&str], code: i32) -> Value {
    let args = ["check", "s", "--base", "../linux", "--format", "json"];
    let (out, _) = host.run(&[&args[..], more].concat(), code);
    serde_json::from_str(&out).unwrap()
}

fn cover(host: &Host) -> String {
    host.read("mails/0000-cover-letter.patch")
}

const ASKS: &str = "Why this is good.\n{% if check %}\n{{ check.gate.message.passed }} rows of \
    message: {{ check.gate.message.status }}, {{ check.gate.builds.status }}; on {{ check.base }}\n\
    Gates:{% for g in check.gates %} {{ g.name }}{% endfor %}\n{% endif %}\
    {% if tests %}{{ tests.passed }} points pass, {{ tests.guest.x86_64.case[\"t/one\"].figure.rate.value }}.\n\
    {% endif %}";

#[test]
fn results_of_these_commits_are_in_the_letter() {
    let host = host(ASKS);
    generate(&host, 0);
    let without = cover(&host);
    assert!(without.contains("Why this is good.") && !without.contains("rows"), "{without}");

    check(&host, &["--gate", "message", "--gate", "applies"], 0);
    let (report, err) = generate(&host, 0);
    assert!(!err.contains("warning"), "{err}");
    let with = cover(&host);
    assert!(with.contains("2 rows of message: passed, not-run; on linux"), "{with}");
    assert!(with.contains("applies message"), "{with}");
    // Only the letter is another one.
    let patch = "mails/0001-net-Take-two.patch";
    let first = host.read(patch);

    let suite = |commit: &str| {
        json!({ "suites": [{
            "started": "2999-01-01T00:00:00Z",
            "facts": [{"name": "commit", "value": commit}, {"name": "arch", "value": "x86_64"}],
            "cases": [{"name": "guest", "status": "pass"},
                      {"name": "t/one", "status": "pass", "output": ["rate: 12.50 kpps"]}],
        }]})
        .to_string()
    };
    let place = "project/out/test/s/linux/x86_64/results.json";
    host.put(place, suite(report[0]["commit"].as_str().unwrap()));
    generate(&host, 0);
    assert!(cover(&host).contains("1 points pass, 12.50."), "{}", cover(&host));
    assert_eq!(host.read(patch), first);

    // What is damaged is told as well, and waits for nobody.
    let kept = "project/out/check/s/linux/results.json";
    let whole = host.read(kept);
    host.put(kept, "{");
    let (_, err) = generate(&host, 0);
    assert!(err.contains("results.json is no report of check"), "{err}");
    std::fs::remove_file(host.path(kept)).unwrap();
    nix::unistd::mkfifo(&host.path(kept), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (_, err) = generate(&host, 0);
    assert!(err.contains("a FIFO"), "{err}");
    std::fs::remove_file(host.path(kept)).unwrap();
    host.put(kept, whole);

    // A base that is gone hides nothing of the others.
    host.put(
        "project/series/s/series.toml",
        SERIES.replace("cover =", "bases = [\"../gone\", \"../linux\"]\ncover ="),
    );
    let (out, err) = host.run(&["show", "s"], 0);
    assert!(out.contains("applies") && err.contains("base ../gone is left out"), "{out}{err}");
    let (_, err) = host.run(&["generate-series", "s", "--output", "../linked"], 0);
    assert!(err.contains("of the series' bases, ../gone is left out"), "{err}");

    // Another commit: what there is is told, and not used.
    host.put("project/series/s/series.toml", SERIES.replace("int a2", "int a3"));
    let (_, err) = generate(&host, 0);
    assert!(err.contains("out/check/s/linux/results.json is of commit "), "{err}");
    assert!(err.contains("`cargo xtask check s --base ../linux` renews it"), "{err}");
    assert!(err.contains("x86_64/results.json is of commit "), "{err}");
    assert_eq!(cover(&host).matches("rows").count(), 0);
}

#[test]
fn what_a_letter_cannot_do_without_is_an_error_with_its_command() {
    let host = host("Fine: {{ check.status }}\n");
    let (report, err) = generate(&host, 2);
    assert_eq!(report["error"]["kind"], "usage");
    assert!(err.contains("templates/s/cover.tera:1:"), "{err}");
    assert!(err.contains("`cargo xtask check s --base ../linux` brings it"), "{err}");
    // What needs no letter does not ask for it.
    host.run(&["show", "s", "--base", "../linux"], 0);
    // The command brings it, and judges the letter that tells of it.
    let report = check(&host, &["--gate", "message"], 0);
    assert_eq!(report["rows"][0]["subject"], "cover");
    generate(&host, 0);
    assert!(cover(&host).contains("Fine: passed"), "{}", cover(&host));
    host.put("project/templates/s/cover.tera", "Wrong: {{ check.status }}\n*** BLURB HERE ***\n");
    let report = check(&host, &["--gate", "message"], 1);
    assert_eq!(report["rows"][0]["findings"][0]["rule"], "placeholder");

    // Results of guests are not brought by it: the letter cannot be judged.
    host.put("project/templates/s/cover.tera", "{{ tests.passed }} pass.\n");
    let report = check(&host, &["--gate", "message"], 1);
    assert_eq!(report["rows"][0]["status"], "skipped", "{report}");
    let why = report["rows"][0]["detail"].as_str().unwrap();
    assert!(why.contains("`cargo xtask test-vm --series s --base ../linux` brings it"), "{why}");

    for (text, says) in [
        ("{% if check.gate.chekpatch %}x{% endif %}", "did you mean `checkpatch`?"),
        ("{% if tests.pased %}x{% endif %}", "did you mean `passed`?"),
        ("{% if check.gate.message.status == \"passed\" %}x{% endif %}", "is not there"),
        ("{% if chek %}x{% endif %}", "did you mean `check`?"),
    ] {
        host.put("project/templates/s/cover.tera", text);
        host.put("project/series/s/series.toml", SERIES.replace("int a2", "int a4"));
        let (_, err) = generate(&host, 2);
        assert!(err.contains(says), "{text}: {err}");
    }
    // A message cannot have them: the commit would be another one.
    host.put("project/templates/s/cover.tera", "x\n");
    let message = SERIES.replace("One is not enough.", "{% if check %}x{% endif %}");
    host.put("project/series/s/series.toml", message);
    let (_, err) = generate(&host, 2);
    assert!(err.contains("nothing gives `check`"), "{err}");
}
