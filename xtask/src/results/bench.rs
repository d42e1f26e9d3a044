//! The results that `bench` left, of one tree and of the benchmarks as they are.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{Asked, Found, short};
use crate::bench::kept::{self, Compared, FILE, Kept, Measured};
use crate::bench::{Side, number, table};
use crate::series;
use crate::series::model::FigureKind;

/// A folder for each architecture.
fn places(out: &Path, asked: &Asked<'_>) -> Vec<PathBuf> {
    let folder = out.join("bench").join(asked.series).join(asked.base);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|e| e.path().join(FILE)).collect();
    files.retain(|f| f.symlink_metadata().is_ok());
    files.sort();
    files
}

/// The results of each architecture, for the cover letter.
pub(super) fn find(out: &Path, asked: &Asked<'_>) -> Found {
    let mut other = None;
    let mut guests: Map<String, Value> = Map::new();
    let mut emulated = false;
    for path in places(out, asked) {
        match of_it(&path, asked) {
            Ok(Some(kept)) => {
                emulated |= kept.emulated;
                guests.insert(kept.arch.clone(), guest(&kept));
            }
            Ok(None) => {}
            Err(why) => other = Some(why),
        }
    }
    if guests.is_empty() {
        return other.map_or(Found::Nothing, Found::Other);
    }
    let value = json!({
        "series": asked.series,
        "base": asked.base,
        "emulated": emulated,
        "guests": guests.values().collect::<Vec<_>>(),
        "guest": guests,
    });
    match other {
        Some(other) => Found::Partly(value, other),
        None => Found::This(value),
    }
}

/// What lies there, if it is of what is rendered; or why it is not.
fn of_it(path: &Path, asked: &Asked<'_>) -> Result<Option<Kept>, String> {
    let kept = match Kept::read(path) {
        Ok(Some(kept)) => kept,
        Ok(None) => return Ok(None),
        Err(e) => return Err(e.to_string()),
    };
    // Neither the baseline twice, nor kernels of another configuration than the series asks.
    let is_result = !kept.against_itself && kept.config.is_empty();
    let measured = kept.kernel(Side::Patched).filter(|_| is_result);
    let Some(measured) = measured else { return Ok(None) };
    let (head, tree) = (asked.head.to_string(), asked.tree.to_string());
    if measured.commit != head && measured.tree != tree {
        return Err(format!(
            "{} is of commit {}, and this is {}",
            path.display(),
            short(&measured.commit),
            short(&head)
        ));
    }
    match fingerprint(asked) {
        Some(now) if now == kept.fingerprint => Ok(Some(kept)),
        _ => Err(format!("{} was made before the benchmarks changed", path.display())),
    }
}

/// Of the benchmarks as they are.
fn fingerprint(asked: &Asked<'_>) -> Option<String> {
    let project = asked.folder.parent()?.parent()?;
    let series = series::load(project, asked.series).ok()?;
    kept::fingerprint(&series).ok()
}

/// As templates see it.
fn guest(kept: &Kept) -> Value {
    let figures: Vec<(String, Value)> = kept
        .figures()
        .map(|(bench, f)| (format!("{}/{}", bench.name, f.label), figure(bench, f)))
        .collect();
    let release = |side| kept.kernel(side).map(|k| k.release.clone()).unwrap_or_default();
    let compiler = kept.kernel(Side::Patched).map(|k| k.compiler.clone()).unwrap_or_default();
    json!({
        "arch": kept.arch,
        "emulated": kept.emulated,
        "accelerator": kept.machine.accelerator,
        "machine": kept.benches.first().map(|b| b.guest.clone()).unwrap_or_default(),
        "host": kept.host.cpu,
        "kernel": release(Side::Patched),
        "compiler": compiler,
        "date": kept.date.get(..10).unwrap_or_default(),
        "runs": kept.runs,
        "table": table::letter(kept, None).trim_end(),
        "counts": table::letter(kept, Some(FigureKind::Count)).trim_end(),
        "figures": figures.iter().map(|(_, v)| v.clone()).collect::<Vec<_>>(),
        "figure": figures.into_iter().collect::<Map<_, _>>(),
    })
}

fn figure(bench: &Measured, f: &Compared) -> Value {
    let sd = |sd: Option<f64>| sd.map(number::plain);
    json!({
        "bench": bench.name,
        "label": f.label,
        "unit": f.unit,
        "kind": f.kind,
        "baseline": number::plain(f.baseline.mean),
        "baseline_sd": sd(f.baseline.sd),
        "patched": number::plain(f.patched.mean),
        "patched_sd": sd(f.patched.sd),
        "change": f.change(),
        "interval": f.interval(),
        "verdict": f.verdict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kept::tests::usual;
    use crate::render::cover::BENCH;
    use git2::Oid;

    const SERIES: &str = "title = \"t\"\nauthor = \"A <a@b>\"\ndate = 2024-01-01T00:00:00Z\n\
        [[patch]]\nname = \"p\"\nmessage = { text = \"s\" }\n[[patch.edit]]\nfile = \"f\"\n\
        remove = true\n[[bench]]\nname = \"stream\"\nsources = [\"bench/a.c\"]\n\
        figures = [{ label = \"rate\", better = \"higher\" }]\n";

    #[test]
    fn results_are_of_this_tree_and_these_benchmarks() {
        let t = tempfile::tempdir().unwrap();
        let (out, folder) = (t.path().join("out"), t.path().join("series/s"));
        std::fs::create_dir_all(folder.join("bench")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        put("series.toml", SERIES);
        put("bench/a.c", "int a;\n");
        let id = |n: u8| Oid::from_bytes(&[n; 20]).unwrap();
        let asked = |head, tree| Asked {
            series: "s",
            folder: &folder,
            base: "6.12",
            spec: "6.12",
            head: id(head),
            tree: id(tree),
        };
        let seen = |head, tree| match find(&out, &asked(head, tree)) {
            Found::This(v) => Ok(v),
            Found::Partly(_, what) | Found::Other(what) => Err(what),
            Found::Nothing => Err("nothing".to_owned()),
        };
        let mut kept = usual(true);
        kept.fingerprint = fingerprint(&asked(1, 2)).unwrap();
        let place = out.join("bench/s/6.12/x86_64");
        std::fs::create_dir_all(&place).unwrap();
        let keep = |kept: &Kept| std::fs::write(place.join(FILE), kept.json().unwrap()).unwrap();
        assert_eq!(seen(1, 2).unwrap_err(), "nothing");
        keep(&kept);
        let v = seen(1, 2).unwrap();
        assert_eq!(v["emulated"], true);
        let mut known = BENCH.map(str::to_owned).to_vec();
        known.sort();
        assert_eq!(v.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), known);
        let figure = &v["guest"]["x86_64"]["figure"]["stream/packets per skb"];
        assert_eq!((&figure["patched"], &figure["verdict"]), (&json!("23.00"), &json!("better")));
        let counts = v["guests"][0]["counts"].as_str().unwrap();
        assert!(counts.contains("packets per skb") && !counts.contains("MB/s"), "{counts}");

        // A message that was reworded changes the commit alone.
        assert!(seen(5, 2).is_ok());
        assert!(seen(5, 6).unwrap_err().contains("is of commit 010101010101, and this is 0505"));
        put("bench/a.h", "#define N 2\n");
        assert!(seen(1, 2).unwrap_err().contains("before the benchmarks changed"));
        std::fs::remove_file(folder.join("bench/a.h")).unwrap();
        put("series.toml", &SERIES.replace("bench/a.c\"]", "bench/a.c\"]\nargs = [\"9\"]"));
        assert!(seen(1, 2).unwrap_err().contains("before the benchmarks changed"));
        put("series.toml", SERIES);
        assert!(seen(1, 2).is_ok());
        for (itself, config) in [(true, vec![]), (false, vec!["debug".to_owned()])] {
            (kept.against_itself, kept.config) = (itself, config);
            keep(&kept);
            assert_eq!(seen(1, 2).unwrap_err(), "nothing", "that is no result of the series");
        }
        std::fs::write(place.join(FILE), "{").unwrap();
        assert!(seen(1, 2).unwrap_err().contains("is no report of bench"));
    }
}
