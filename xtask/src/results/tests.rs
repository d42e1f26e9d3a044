//! The results that `test-vm` and `matrix` left, of one tree.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use git2::Oid;
use serde_json::{Map, Value, json};

use super::{Asked, Found, short};
use crate::report::lines;

/// The cases of every guest that are no test's: whether it ran to its end, and
/// whether its console has a splat.
const OF_THE_GUEST: [&str; 2] = ["guest", "console"];

/// Where results of a series on a base lie: a folder for each architecture.
fn places(out: &Path, asked: &Asked<'_>) -> Vec<PathBuf> {
    let of = |what: PathBuf| what.join(asked.series).join(asked.base);
    let folders = [of(out.join("test")), of(out.join("matrix/boot"))];
    let mut all = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|e| e.path().join("results.json")).collect();
        files.retain(|f| f.is_file());
        files.sort();
        all.extend(files);
    }
    all
}

/// The newest results of each architecture, for the cover letter.
pub(super) fn find(out: &Path, asked: &Asked<'_>, tree_of: &dyn Fn(Oid) -> Option<Oid>) -> Found {
    let mut other = None;
    let mut guests: Map<String, Value> = Map::new();
    for path in places(out, asked) {
        match guest(&path, asked, tree_of) {
            Ok(Some((arch, guest))) => {
                let date = |g: &Value| g.get("date").map(ToString::to_string);
                if guests.get(&arch).is_none_or(|old| date(old) < date(&guest)) {
                    guests.insert(arch, guest);
                }
            }
            Ok(None) => {}
            Err(why) => other = Some(format!("{} {why}", path.display())),
        }
    }
    if guests.is_empty() {
        return other.map_or(Found::Nothing, Found::Other);
    }
    let sum = |key: &str| -> u64 {
        guests.values().filter_map(|g| g.get(key).and_then(Value::as_u64)).sum()
    };
    let held = guests.values().all(|g| g.get("held") == Some(&Value::Bool(true)));
    Found::This(json!({
        "series": asked.series,
        "base": asked.base,
        "held": held,
        "passed": sum("passed"),
        "failed": sum("failed"),
        "skipped": sum("skipped"),
        "guests": guests.values().collect::<Vec<_>>(),
        "guest": guests,
    }))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn fact<'v>(suite: &'v Value, name: &str) -> &'v str {
    let mut facts = list(suite, "facts").iter();
    facts.find(|f| text(f, "name") == name).map_or("", |f| text(f, "value"))
}

/// The suites of one report that ran what is rendered, as one guest; or why
/// there are none.
fn guest(
    path: &Path,
    asked: &Asked<'_>,
    tree_of: &dyn Fn(Oid) -> Option<Oid>,
) -> Result<Option<(String, Value)>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
    let report: Value = serde_json::from_slice(&bytes).map_err(|e| format!("is no report: {e}"))?;
    let is_it = |commit: &str| {
        let Ok(commit) = Oid::from_str(commit) else { return false };
        commit == asked.head || tree_of(commit) == Some(asked.tree)
    };
    let suites = || list(&report, "suites").iter().filter(|s| !fact(s, "commit").is_empty());
    let these: Vec<&Value> = suites().filter(|s| is_it(fact(s, "commit"))).collect();
    let Some(first) = these.first() else {
        return match suites().next() {
            Some(s) => Err(format!(
                "is of commit {}, and this is {}",
                short(fact(s, "commit")),
                short(&asked.head.to_string())
            )),
            None => Ok(None),
        };
    };
    if let Some(changed) = newer_test(asked.folder, text(first, "started")) {
        return Err(format!("was made before {} changed", changed.display()));
    }
    let all = these.iter().flat_map(|s| list(s, "cases"));
    let held = all.clone().all(|c| matches!(text(c, "status"), "pass" | "skip" | "expected-fail"));
    let points: Vec<&Value> = all.filter(|c| !OF_THE_GUEST.contains(&text(c, "name"))).collect();
    let count = |is: &dyn Fn(&str) -> bool| points.iter().filter(|c| is(text(c, "status"))).count();
    let (passed, skipped) =
        (count(&|s| matches!(s, "pass" | "expected-fail")), count(&|s| s == "skip"));
    let mut case = Map::new();
    for c in &points {
        let output = list(c, "output");
        let figures = lines::figures(output.iter().filter_map(Value::as_str));
        let value = json!({
            "name": text(c, "name"),
            "status": text(c, "status"),
            "output": output,
            "figure": figures,
        });
        case.insert(text(c, "name").to_owned(), value);
    }
    let arch = fact(first, "arch").to_owned();
    let value = json!({
        "arch": arch,
        "kernel": fact(first, "kernel"),
        "machine": fact(first, "machine"),
        "accelerator": fact(first, "accelerator"),
        "date": text(first, "started"),
        "held": held && passed > 0,
        "passed": passed,
        "failed": points.len() - passed - skipped,
        "skipped": skipped,
        "cases": points.iter().filter_map(|c| case.get(text(c, "name"))).collect::<Vec<_>>(),
        "case": case,
    });
    Ok(Some((arch, value)))
}

/// A selftest's source that changed after `started`: the results are not its.
fn newer_test(folder: &Path, started: &str) -> Option<PathBuf> {
    let started: jiff::Timestamp = started.parse().ok()?;
    let started = SystemTime::try_from(started).ok()?;
    let mut folders = vec![folder.join("selftests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                folders.push(path);
            } else if meta.modified().is_ok_and(|m| m > started) {
                return Some(path);
            }
        }
    }
    None
}

#[cfg(test)]
mod cases {
    use super::*;
    use crate::render::cover::TESTS;

    #[test]
    fn the_suites_of_this_tree_count() {
        let t = tempfile::tempdir().unwrap();
        let out = t.path().join("out");
        let id = |n: u8| Oid::from_bytes(&[n; 20]).unwrap();
        let (head, tree) = (id(1), id(9));
        let asked = Asked { series: "s", folder: t.path(), base: "6.12", spec: "6.12", head, tree };
        // Commit 3 is another one with the same tree.
        let tree_of = |commit| (commit == id(3)).then_some(tree);
        let seen = || match find(&out, &asked, &tree_of) {
            Found::This(v) => Ok(v),
            Found::Partly(_, what) | Found::Other(what) => Err(what),
            Found::Nothing => Err("nothing".to_owned()),
        };
        assert_eq!(seen().unwrap_err(), "nothing");
        let suite = |n: u8, arch: &str, status: &str| {
            json!({
                "started": "2999-01-02T00:00:00Z",
                "facts": [{"name": "commit", "value": id(n).to_string()}, {"name": "arch", "value": arch},
                          {"name": "kernel", "value": "6.12.1"}],
                "cases": [{"name": "guest", "status": "pass", "output": []},
                          {"name": "t/one", "status": "pass", "output": ["rate: 12.50 kpps"]},
                          {"name": "t/two", "status": status, "output": []},
                          {"name": "console", "status": "pass", "output": []}],
            })
        };
        let put = |place: &str, suites: Value| {
            let path = out.join(place).join("results.json");
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, json!({ "suites": suites }).to_string()).unwrap();
        };
        put("test/s/6.12/x86_64", json!([suite(2, "x86_64", "pass")]));
        assert!(seen().unwrap_err().contains("results.json is of commit 0202"));
        // Mutants' suites name no commit.
        put(
            "test/s/6.12/x86_64",
            json!([suite(2, "x86_64", "fail"), suite(1, "x86_64", "skip"), {"cases": []}]),
        );
        put("matrix/boot/s/6.12/arm64", json!([suite(3, "arm64", "fail")]));
        let v = seen().unwrap();
        let counts = |v: &Value| ["passed", "failed", "skipped"].map(|k| v[k].as_u64().unwrap());
        assert_eq!((counts(&v), &v["held"]), ([2, 1, 1], &json!(false)));
        let x86 = &v["guest"]["x86_64"];
        assert_eq!((counts(x86), &x86["held"]), ([1, 0, 1], &json!(true)));
        assert_eq!(x86["case"]["t/one"]["figure"]["rate"]["value"], "12.50");
        let mut known = TESTS.map(str::to_owned).to_vec();
        known.sort();
        assert_eq!(v.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), known);

        let mut old = suite(1, "x86_64", "pass");
        old["started"] = "2001-01-02T00:00:00Z".into();
        std::fs::create_dir(t.path().join("selftests")).unwrap();
        std::fs::write(t.path().join("selftests/t.c"), "").unwrap();
        put("test/s/6.12/x86_64", json!([old]));
        assert_eq!(seen().unwrap()["guests"].as_array().unwrap().len(), 1);
        std::fs::remove_dir_all(out.join("matrix")).unwrap();
        assert!(seen().unwrap_err().contains("selftests/t.c changed"));
    }
}
