//! `bench` as its user runs it, up to where guests would begin; and a cover letter with what it
//! left.
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

const BENCH: &str = r#"
[[bench]]
name = "rate"
sources = ["bench/rate.c"]
kconfig-series = ["bench/more.config"]
figures = [{ label = "rate", unit = "kpps", better = "higher" }, { label = "hits", better = "lower", kind = "count" }]
"#;

fn host(more: &str) -> Host {
    let host = Host::new(&[("net/dev.c", "int a;\n")]);
    host.put("project/series/s/series.toml", format!("{SERIES}{more}"));
    host.put("project/series/s/bench/rate.c", "int main(void) { return 0; }\n");
    host.put("project/series/s/bench/more.config", "CONFIG_MORE=y\n");
    host.put("project/templates/s/cover.tera", "Why this is good.\n");
    host
}

#[test]
fn bad_input_is_told_before_any_work() {
    let with = host(BENCH);
    let base = ["--base", "../linux", "--arch", "x86_64"];
    for (args, code, says) in [
        (&["bench", "s", "--bench", "rte"][..], 2, "there are: rate"),
        (&["bench", "t"], 2, "did you mean \"s\"?"),
        (&["bench", "s", "--runs", "0"], 2, "1..=1000"),
        (&["bench", "s", "--memory", "1M"], 2, "between 64M and"),
        (&["bench", "s", "--smp", "0"], 2, "1..=255"),
        (&["bench", "s", "--arch", "pdp11"], 2, "pdp11"),
        (&["bench", "s", "--seed", "x"], 2, "--seed"),
        (&["bench"], 2, "<SERIES>"),
        (&["bench", "s", "--base", "../nowhere"], 2, "nowhere"),
    ] {
        let (out, err) = with.run(args, code);
        assert!(out.is_empty() && err.contains(says), "{args:?}: {err}");
        assert!(!with.path("project/out").exists(), "{args:?}");
    }
    let (out, _) = with.run(&["bench", "s", "--bench", "rte", "--format", "json"], 2);
    let error: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(error["error"]["kind"], "usage");

    let without = host("");
    let (_, err) = without.run(&["bench", "s"], 2);
    assert!(err.contains("the series has no benchmark") && err.contains("[[bench]]"), "{err}");

    // What does not apply is not measured: the exit code tells why.
    let blocked = host(BENCH);
    let needs = "needs = { text = \"int b;\", file = \"net/dev.c\", why = \"no b\" }\n[[patch]]";
    let text = format!("{SERIES}{BENCH}").replace("[[patch]]\nname", &format!("{needs}\nname"));
    blocked.put("project/series/s/series.toml", text);
    let (_, err) = blocked.run(&[&["bench", "s"][..], &base].concat(), 1);
    assert!(err.contains("no b"), "{err}");
    let text = format!("{SERIES}{BENCH}").replace("int a;", "int c;");
    blocked.put("project/series/s/series.toml", text);
    blocked.run(&[&["bench", "s"][..], &base].concat(), 4);
}

#[test]
fn a_series_tells_of_its_benchmarks() {
    let host = host(BENCH);
    let (out, _) = host.run(&["show", "s", "--base", "../linux"], 0);
    assert!(out.contains("benches  rate"), "{out}");
    let (out, _) = host.run(&["show", "s", "--base", "../linux", "--format", "json"], 0);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["benches"], json!(["rate"]));
    host.put("project/series/s/series.toml", format!("{SERIES}{BENCH}").replace("rate.c", "no.c"));
    let (_, err) = host.run(&["show", "s", "--base", "../linux"], 2);
    assert!(err.contains("series/s/series.toml:") && err.contains("bench/no.c"), "{err}");
}

/// Results of the rendered commit, as `bench` writes them.
fn results(host: &Host, commit: &str, emulated: bool, fingerprint: &str) {
    let boot = |pair: usize, side: &str, rate: f64, hits: f64| {
        json!({
            "pair": pair, "side": side, "started": "2026-11-30T11:00:00Z", "seconds": 3.0,
            "load": {"average": 0.1, "busy": null}, "values": {"rate": [rate], "hits": [hits]},
            "output": [],
        })
    };
    let kernel = |side: &str| {
        json!({ "side": side, "commit": commit, "tree": "00".repeat(20), "release": "6.12.3",
                "compiler": "gcc" })
    };
    let sample = |mean: f64| {
        json!({ "n": 3, "mean": mean, "median": mean, "sd": 0.5, "min": mean, "max": mean,
                "outliers": [] })
    };
    let compared = |label: &str, unit: &str, kind: &str, a: f64, b: f64| {
        json!({
            "label": label, "unit": unit, "better": "higher", "kind": kind,
            "baseline": sample(a), "patched": sample(b), "verdict": "better",
            "difference": {"absolute": b - a, "low": b - a, "high": b - a, "p": 0.0, "p_holm": 0.0},
        })
    };
    let text = json!({
        "form": "kseries-bench-results/1", "series": "s", "base": "linux", "version": "6.12.3",
        "arch": "x86_64", "against_itself": false, "config": [], "emulated": emulated,
        "date": "2026-11-30T12:00:00Z", "fingerprint": fingerprint, "runs": 3, "seed": 1,
        "kernels": [kernel("baseline"), kernel("patched")],
        "machine": {"accelerator": "tcg", "qemu": "7.2", "no_kvm": null},
        "host": {"cpu": "C", "cpus": 2, "kernel": "6.1", "governor": null},
        "warnings": [],
        "benches": [{
            "name": "rate", "guest": "microvm", "config_differs": [],
            "boots": [boot(1, "baseline", 10.0, 4.0), boot(1, "patched", 20.0, 2.0)],
            "figures": [compared("rate", "kpps", "time", 10.0, 20.0),
                        compared("hits", "", "count", 4.0, 2.0)],
        }],
    });
    host.put("project/out/bench/s/linux/x86_64/results.json", text.to_string());
}

/// What the tool itself computes of the benchmarks.
fn fingerprint(host: &Host) -> String {
    let series = xtask::series::load(&host.path("project"), "s").unwrap();
    xtask::bench::kept::fingerprint(&series).unwrap()
}

const ASKS: &str = "Why this is good.\n{% if bench %}{% for g in bench.guests %}\n{{ g.counts }}\n\
    {% endfor %}{% endif %}{% if bench and not bench.emulated %}\n\
    {{ bench.guest.x86_64.figure[\"rate/rate\"].change }} of rate.\n{% endif %}";

#[test]
fn a_letter_tells_counts_always_and_times_of_hardware_alone() {
    let host = host(BENCH);
    host.put("project/templates/s/cover.tera", ASKS);
    let generate = || {
        let args = ["generate-series", "s", "--base", "../linux", "--output", "../mails"];
        let (out, err) = host.run(&[&args[..], &["--format", "json"]].concat(), 0);
        let report: Value = serde_json::from_str(&out).unwrap();
        (report[0]["commit"].as_str().unwrap().to_owned(), err)
    };
    let cover = || host.read("mails/0000-cover-letter.patch");
    let (commit, _) = generate();
    assert!(!cover().contains("hits"));

    results(&host, &commit, true, &fingerprint(&host));
    let (_, err) = generate();
    assert!(!err.contains("warning"), "{err}");
    assert!(cover().contains("hits") && !cover().contains("of rate"), "{}", cover());
    results(&host, &commit, false, &fingerprint(&host));
    generate();
    assert!(cover().contains("+100.0 % of rate."), "{}", cover());

    // Another commit, or another benchmark: told, and not used.
    results(&host, &"01".repeat(20), false, &fingerprint(&host));
    let (_, err) = generate();
    assert!(err.contains("is of commit 0101") && !cover().contains("hits"), "{err}");
    assert!(err.contains("`cargo xtask bench s --base ../linux` renews it"), "{err}");
    results(&host, &commit, false, &fingerprint(&host));
    host.put("project/series/s/bench/rate.c", "int main(void) { return 1; }\n");
    let (_, err) = generate();
    assert!(err.contains("before the benchmarks changed") && !cover().contains("hits"), "{err}");

    host.put("project/templates/s/cover.tera", "{% if bench.emulatd %}x{% endif %}\n");
    let (_, err) = host.run(&["generate-series", "s", "--base", "../linux"], 2);
    assert!(err.contains("did you mean `emulated`?"), "{err}");
    host.put("project/templates/s/cover.tera", "{{ bench.emulated }}\n");
    let (_, err) = host.run(&["generate-series", "s", "--base", "../linux"], 2);
    assert!(err.contains("`cargo xtask bench s --base ../linux` brings it"), "{err}");
}

#[test]
fn a_look_at_one_benchmark_spares_the_results_of_others() {
    let more = BENCH.replace("\"rate\"\nsources", "\"more\"\nsources");
    let host = host(&format!("{BENCH}{more}"));
    results(&host, &"01".repeat(20), true, &fingerprint(&host));
    let kept = host.read("project/out/bench/s/linux/x86_64/results.json");
    let file = "project/out/bench/s/linux/x86_64/results.json";
    let args = ["bench", "s", "--base", "../linux", "--arch", "x86_64"];
    let one = [&args[..], &["--bench", "more"]].concat();
    let into = [&args[..], &["--aa", "--output", "out/bench/s/linux/x86_64"]].concat();
    for (text, args, says) in [
        (kept.clone(), &one, "has results of rate too"),
        (kept.replace("results/1", "results/9"), &one, "results/9"),
        (kept.replace("\"series\":\"s\"", "\"series\":\"t\""), &one, "results of t"),
        (kept.clone(), &into, "results of s"),
    ] {
        host.put(file, text.as_str());
        let (_, err) = host.run(args, 2);
        assert!(err.contains(says) && err.contains("--output"), "{err}");
        assert_eq!(host.read(file), text);
    }
}
