//! Results that are kept from one run to the next, in the cache: each cell's in a file of its own,
//! written whole, with the key that says of what it is.
//!
//! The key is a hash over everything that could change the result: the sources of the series (for
//! what builds and boots, the rendered trees, those of its mutants, and the tests), the base, the
//! compiler, and those sources of this tool that have a part in the step. A file with another key is
//! no result, but still tells how long the cell takes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::plan::{Cell, Step};
use crate::build::inputs::hex;
use crate::error::{Error, IoContext as _, Result};
use crate::host::atomic;

/// Each source file of the tool, with a number that changes with it.
const SOURCES: &[(&str, u64)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// How a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It holds.
    Held,
    /// It does not.
    Failed,
    /// The host lacks something, so nothing is known.
    NotRun,
}

/// A cell that was run, or could not be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The base's version; empty when there is no base.
    pub linux: String,
    /// How it ended.
    pub status: Status,
    /// Figures, in one line.
    pub summary: String,
    /// What failed, or is explained.
    pub notes: Vec<String>,
    /// What the guest ran on.
    pub accelerator: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// When it ended, in UTC.
    pub when: jiff::Timestamp,
    /// The project's commit then.
    pub commit: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    result: Finished,
}

/// The folder of kept results.
#[derive(Clone, Debug)]
pub struct State {
    folder: PathBuf,
}

impl State {
    /// In the cache.
    #[must_use]
    pub fn of(cache: &Path) -> State {
        State { folder: cache.join("matrix") }
    }

    fn path(&self, cell: &Cell) -> PathBuf {
        // The readable part may be the same for two bases, the hash is not.
        let words = [cell.step.name(), &cell.series, &cell.base];
        let words = words.into_iter().chain(cell.arch.as_deref()).chain(cell.kernel.as_deref());
        let words: Vec<&str> = words.collect();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String =
            words.join("+").chars().map(|c| if c == '+' { c } else { plain(c) }).collect();
        let name: String = name.chars().take(120).collect();
        let hash = key(words);
        self.folder.join(format!("{name}+{}.json", hash.get(..12).unwrap_or(&hash)))
    }

    fn read(&self, cell: &Cell) -> Option<Kept> {
        // What cannot be read is as good as not there: the cell is run again.
        let bytes = std::fs::read(self.path(cell)).ok()?;
        let kept: Kept = serde_json::from_slice(&bytes).ok()?;
        (kept.result.cell == *cell).then_some(kept)
    }

    /// What is kept of the cell under that key.
    #[must_use]
    pub fn kept(&self, cell: &Cell, key: &str) -> Option<Finished> {
        let kept = self.read(cell)?;
        (kept.key == key).then_some(kept.result)
    }

    /// What is kept of the cell under that key, if it held: a failure is looked at anew.
    #[must_use]
    pub fn held(&self, cell: &Cell, key: &str) -> Option<Finished> {
        self.kept(cell, key).filter(|f| f.status == Status::Held)
    }

    /// How long it took the last time, of whatever sources.
    #[must_use]
    pub fn seconds(&self, cell: &Cell) -> Option<f64> {
        Some(self.read(cell)?.result.seconds).filter(|s| s.is_finite() && *s >= 0.0)
    }

    /// Keeps a result. One of a cell that could not be run would only hide an older one.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub fn keep(&self, key: &str, result: &Finished) -> Result<()> {
        if result.status == Status::NotRun {
            return Ok(());
        }
        let kept = Kept { key: key.to_owned(), result: result.clone() };
        let json = serde_json::to_vec_pretty(&kept)
            .map_err(|e| Error::host("write a result as JSON").found(e.to_string()))?;
        atomic::write(&self.path(&result.cell), &json)
    }
}

/// A hash over parts; where one ends and the next begins counts.
pub fn key<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// Those sources of the tool that have a part in a step: files, or folders.
fn sources(step: Step) -> &'static [&'static str] {
    const RENDER: &[&str] = &["cscan/", "series/", "render/"];
    const CHECK: &[&str] = &[
        "cscan/",
        "series/",
        "render/",
        "mail/",
        "gates/",
        "recipients/",
        "scripts.rs",
        "results/",
        "commands/check.rs",
        "commands/letter.rs",
        "commands/material.rs",
    ];
    // The other gates have no part in what compiles.
    const COMMITS: &[&str] = &[
        "build/",
        "gates/accept.rs",
        "gates/compile.rs",
        "gates/makefile.rs",
        "kconfigs/",
        "commands/compiler.rs",
        "commands/fitting.rs",
        "commands/kernel.rs",
    ];
    const GUEST: &[&str] = &["build/", "vm/", "kconfigs/", "commands/test_vm/"];
    match step {
        Step::Verdict => RENDER,
        Step::Check => CHECK,
        Step::Commits => COMMITS,
        Step::Boot | Step::Debug | Step::Mutants => GUEST,
    }
}

/// The version of this tool, as far as the step goes.
#[must_use]
pub fn version(step: Step) -> String {
    let has_part = |name: &str| sources(step).iter().any(|s| name.starts_with(s));
    let numbers = SOURCES.iter().filter(|(name, _)| has_part(name));
    let text: Vec<String> = numbers.map(|(name, n)| format!("{name} {n:x}")).collect();
    key(text.iter().map(String::as_str))
}

/// A hash over the files below folders that `counts` says yes to, by their path there.
///
/// # Errors
/// When one cannot be read.
pub fn of_files(folders: &[PathBuf], counts: impl Fn(&Path) -> bool) -> Result<String> {
    let mut hash = Sha256::new();
    for (number, folder) in folders.iter().enumerate().filter(|(_, f)| f.is_dir()) {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
            let entry = entry.map_err(|e| {
                Error::host(format!("read {}", folder.display())).found(e.to_string())
            })?;
            let path = entry.path();
            if !entry.file_type().is_file() || !counts(path) {
                continue;
            }
            let bytes = std::fs::read(path).at("read", path)?;
            let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy();
            let head = format!("{number} {name} {}\n", bytes.len());
            hash.update(head.len().to_le_bytes());
            hash.update(head);
            hash.update(&bytes);
        }
    }
    Ok(hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(status: Status) -> Finished {
        Finished {
            cell: Cell {
                step: Step::Boot,
                series: "s".into(),
                base: "/a/linux@v6.12".into(),
                arch: Some("x86_64".into()),
                kernel: None,
            },
            linux: "6.12.3".into(),
            status,
            summary: "3 passed".into(),
            notes: vec!["n".into()],
            accelerator: Some("tcg".into()),
            seconds: 1.5,
            when: jiff::Timestamp::UNIX_EPOCH,
            commit: "c0ffee".into(),
        }
    }

    #[test]
    fn what_held_is_kept_under_its_key_and_a_failure_is_run_again() {
        let t = tempfile::tempdir().unwrap();
        let state = State::of(t.path());
        let held = finished(Status::Held);
        assert_eq!(state.held(&held.cell, "k"), None);
        state.keep("k", &held).unwrap();
        assert_eq!(state.held(&held.cell, "k"), Some(held.clone()));
        assert_eq!(state.held(&held.cell, "other"), None);
        assert_eq!(state.seconds(&held.cell), Some(1.5));
        let elsewhere = Cell { base: "/b/linux@v6.12".into(), ..held.cell.clone() };
        assert_eq!(state.held(&elsewhere, "k"), None);
        // A host that lacks something takes nothing away.
        state.keep("k", &finished(Status::NotRun)).unwrap();
        assert!(state.held(&held.cell, "k").is_some());
        state.keep("k", &finished(Status::Failed)).unwrap();
        assert_eq!(state.held(&held.cell, "k"), None);
        assert!(state.kept(&held.cell, "k").is_some());
        assert_eq!(state.seconds(&held.cell), Some(1.5));
    }

    #[test]
    fn a_damaged_file_is_no_result() {
        let t = tempfile::tempdir().unwrap();
        let state = State::of(t.path());
        let held = finished(Status::Held);
        state.keep("k", &held).unwrap();
        for text in ["", "{", "{\"key\":\"k\"}", "[]"] {
            std::fs::write(state.path(&held.cell), text).unwrap();
            assert_eq!(state.held(&held.cell, "k"), None, "{text}");
            assert_eq!(state.seconds(&held.cell), None, "{text}");
        }
    }

    #[test]
    fn keys_know_where_a_part_ends() {
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_ne!(key(["a", ""]), key(["a"]));
        assert_eq!(key(["a", "b"]), key(["a", "b"]));
    }

    #[test]
    fn every_part_of_a_step_is_a_source_of_the_tool() {
        for step in Step::ALL {
            for part in sources(step) {
                assert!(SOURCES.iter().any(|(n, _)| n.starts_with(part)), "{part} of {step:?}");
            }
        }
        assert_ne!(version(Step::Verdict), version(Step::Boot));
    }

    #[test]
    fn a_hash_of_files_goes_by_names_and_bytes() {
        let t = tempfile::tempdir().unwrap();
        let hash = || {
            of_files(&[t.path().join("a"), t.path().join("none")], |p| {
                p.extension().is_none_or(|e| e != "msg")
            })
        };
        std::fs::create_dir(t.path().join("a")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(t.path().join("a").join(name), text);
        put("x", "1").unwrap();
        let first = hash().unwrap();
        put("y.msg", "2").unwrap();
        assert_eq!(hash().unwrap(), first);
        put("y", "2").unwrap();
        assert_ne!(hash().unwrap(), first);
        std::fs::remove_file(t.path().join("a/y")).unwrap();
        assert_eq!(hash().unwrap(), first);
        put("x", "2").unwrap();
        assert_ne!(hash().unwrap(), first);
    }
}
