//! The rows of `check`, kept by commit: a later run of some gates renews their
//! rows and leaves the others'.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Asked, Found, short};
use crate::build::inputs::hex;
use crate::error::{Error, Result};
use crate::gates::{Gate, Report, Row, Status, accept};
use crate::host::{atomic, regular};
use crate::series::places;

/// Changes when a reader of the old form could misread the new one.
const FORM: &str = "kseries-check-results/1";
/// The row of the letter itself: it says nothing of the commits, and a letter
/// cannot tell what is found in it.
pub const LETTER: &str = "cover";

/// What is kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    form: String,
    series: String,
    base: String,
    base_commit: String,
    /// The last commit.
    commit: String,
    /// Who would send it.
    sender: String,
    /// SHA-256 of what the author accepts, and has read.
    accepted: String,
    /// When the last of the rows came, RFC 3339 in UTC.
    date: String,
    rows: Vec<Row>,
}

fn place(out: &Path, series: &str, base: &str) -> PathBuf {
    out.join("check").join(series).join(base).join("results.json")
}

fn read(path: &Path) -> Result<Option<Kept>> {
    let Some(bytes) = regular::read_if_there(path)? else { return Ok(None) };
    let damaged =
        |why: String| Error::usage(format!("{} is no report of check", path.display())).found(why);
    let kept: Kept = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
    if kept.form == FORM {
        return Ok(Some(kept));
    }
    Err(damaged(format!("its form is {}, not {FORM}", kept.form.escape_debug())))
}

fn accepted(folder: &Path) -> Result<String> {
    let mut sha = Sha256::new();
    for file in [accept::FILE, places::FILE] {
        let text = regular::read_if_there(&folder.join(file))?.unwrap_or_default();
        sha.update(text.len().to_le_bytes());
        sha.update(&text);
    }
    Ok(hex(&sha.finalize()))
}

/// Keeps a report below the folder of products; `folder` is the series'.
///
/// # Errors
/// When it cannot be written.
pub fn keep(out: &Path, folder: &Path, commit: &str, sender: &str, report: &Report) -> Result<()> {
    let path = place(out, &report.series, &report.base);
    let accepted = accepted(folder)?;
    // What is damaged is made anew.
    let older = read(&path).ok().flatten().filter(|k| {
        (k.commit.as_str(), k.sender.as_str(), &k.accepted) == (commit, sender, &accepted)
    });
    let mut rows = older.map(|k| k.rows).unwrap_or_default();
    rows.retain(|row| !report.rows.iter().any(|new| new.gate == row.gate));
    rows.extend(report.rows.iter().cloned());
    rows.sort_by_key(|row| row.gate);
    let kept = Kept {
        form: FORM.to_owned(),
        series: report.series.clone(),
        base: report.base.clone(),
        base_commit: report.base_commit.clone(),
        commit: commit.to_owned(),
        sender: sender.to_owned(),
        accepted,
        date: jiff::Timestamp::now().to_string(),
        rows,
    };
    let json = serde_json::to_vec_pretty(&kept)
        .map_err(|e| Error::host("keep the results of check").found(e.to_string()))?;
    atomic::write(&path, &json)
}

/// What is kept, for the cover letter of the series in `asked`.
pub(super) fn find(out: &Path, asked: &Asked<'_>) -> Found {
    let path = place(out, asked.series, asked.base);
    let kept = match read(&path) {
        Ok(Some(kept)) => kept,
        Ok(None) => return Found::Nothing,
        Err(e) => return Found::Other(e.to_string()),
    };
    let head = asked.head.to_string();
    if kept.commit != head {
        return Found::Other(format!(
            "{} is of commit {}, and this is {}",
            path.display(),
            short(&kept.commit),
            short(&head)
        ));
    }
    let accepted = match accepted(asked.folder) {
        Ok(accepted) => accepted,
        Err(e) => return Found::Other(e.to_string()),
    };
    if kept.accepted != accepted {
        return Found::Other(format!(
            "{} was made before {} or {} changed",
            path.display(),
            accept::FILE,
            places::FILE
        ));
    }
    Found::This(view(&kept))
}

/// How rows ended.
#[derive(Default)]
struct Counts {
    passed: usize,
    explained: usize,
    failed: usize,
    skipped: usize,
}

impl Counts {
    fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Counts {
        let mut counts = Counts::default();
        for row in rows {
            *match row.status {
                Status::Failed => &mut counts.failed,
                Status::Skipped => &mut counts.skipped,
                Status::Passed if row.findings.iter().any(|f| f.accepted.is_some()) => {
                    &mut counts.explained
                }
                Status::Passed => &mut counts.passed,
            } += 1;
        }
        counts
    }

    fn word(&self) -> &'static str {
        match self {
            Counts { failed: 1.., .. } => "failed",
            Counts { skipped: 1.., .. } => "skipped",
            Counts { explained: 1.., .. } => "explained",
            Counts { passed: 1.., .. } => "passed",
            _ => "not-run",
        }
    }

    fn json(&self) -> Value {
        json!({
            "status": self.word(),
            "passed": self.passed,
            "explained": self.explained,
            "failed": self.failed,
            "skipped": self.skipped,
        })
    }
}

fn view(kept: &Kept) -> Value {
    let rows = || kept.rows.iter().filter(|r| r.subject != LETTER);
    let mut gate = serde_json::Map::new();
    let mut gates = Vec::new();
    for one in Gate::value_variants() {
        let counts = Counts::of(rows().filter(|r| r.gate == *one));
        let mut value = counts.json();
        gate.insert(one.name().replace('-', "_"), value.clone());
        if counts.word() != "not-run"
            && let Some(object) = value.as_object_mut()
        {
            object.insert("name".to_owned(), one.name().into());
            gates.push(value);
        }
    }
    let mut patches: Vec<&str> = rows().map(|r| r.subject.as_str()).collect();
    patches.retain(|p| *p != "series");
    patches.sort_unstable();
    patches.dedup();
    let mut all = Counts::of(rows()).json();
    if let Some(object) = all.as_object_mut() {
        object.insert("series".to_owned(), kept.series.clone().into());
        object.insert("base".to_owned(), kept.base.clone().into());
        object.insert("commit".to_owned(), kept.commit.clone().into());
        object.insert("date".to_owned(), kept.date.get(..10).unwrap_or_default().into());
        object.insert("patches".to_owned(), patches.len().into());
        object.insert("gate".to_owned(), gate.into());
        object.insert("gates".to_owned(), gates.into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::Finding;
    use crate::gates::testing::report;
    use crate::render::cover::{CHECK, GATES};
    use git2::Oid;

    #[test]
    fn rows_are_of_their_commit_and_renewed_by_gate() {
        let t = tempfile::tempdir().unwrap();
        let (out, folder) = (t.path().join("out"), t.path().join("s"));
        std::fs::create_dir(&folder).unwrap();
        let (head, other) =
            (Oid::from_bytes(&[1; 20]).unwrap(), Oid::from_bytes(&[2; 20]).unwrap());
        let asked = |head| Asked {
            series: "s",
            folder: &folder,
            base: "6.12",
            spec: "6.12",
            head,
            tree: head,
        };
        let seen = |head| match find(&out, &asked(head)) {
            Found::This(v) => Ok(v),
            Found::Partly(_, what) | Found::Other(what) => Err(what),
            Found::Nothing => Err("nothing".to_owned()),
        };
        let keep = |rows| keep(&out, &folder, &head.to_string(), "J", &report(rows)).unwrap();
        assert_eq!(seen(head).unwrap_err(), "nothing");

        let mut accepted = Finding::new("X", None, "t");
        accepted.accepted = Some("why".into());
        keep(vec![
            Row::of(Gate::Checkpatch, "one", "", vec![accepted]),
            Row::of(Gate::Checkpatch, "two", "", vec![]),
            Row::of(Gate::Message, "cover", "", vec![Finding::new("x", None, "t")]),
            Row::of(Gate::Message, "one", "", vec![]),
            Row::skipped(Gate::KernelDoc, "series", "no python"),
        ]);
        let v = seen(head).unwrap();
        assert_eq!(v["gate"]["checkpatch"]["status"], "explained");
        assert_eq!(v["gate"]["message"]["status"], "passed", "the letter's own row is left out");
        assert_eq!(v["gate"]["kernel_doc"]["status"], "skipped");
        assert_eq!(v["gate"]["builds"]["status"], "not-run");
        assert_eq!((&v["status"], &v["patches"]), (&json!("skipped"), &json!(2)));
        let names: Vec<_> = v["gates"].as_array().unwrap().iter().map(|g| &g["name"]).collect();
        assert_eq!(names, ["checkpatch", "message", "kernel-doc"]);
        let mut known = CHECK.map(str::to_owned).to_vec();
        known.sort();
        assert_eq!(v.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), known);
        let mut gates = GATES.map(str::to_owned).to_vec();
        gates.sort();
        assert_eq!(v["gate"].as_object().unwrap().keys().cloned().collect::<Vec<_>>(), gates);

        keep(vec![Row::of(Gate::KernelDoc, "one", "", vec![])]);
        let v = seen(head).unwrap();
        assert_eq!((&v["status"], &v["passed"]), (&json!("explained"), &json!(3)));

        assert!(seen(other).unwrap_err().contains("is of commit 010101010101, and this is 0202"));
        std::fs::write(folder.join(accept::FILE), "").unwrap();
        assert_eq!(seen(head).unwrap()["patches"], 2, "nothing accepted is nothing accepted");
        std::fs::write(folder.join(accept::FILE), "# x").unwrap();
        assert!(seen(head).unwrap_err().contains("before checks.toml or places.toml changed"));
        keep(vec![Row::of(Gate::KernelDoc, "one", "", vec![])]);
        assert_eq!(seen(head).unwrap()["gate"]["checkpatch"]["status"], "not-run");
    }
}
