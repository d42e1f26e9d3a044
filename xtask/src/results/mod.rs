//! What `check`, `test-vm`, `bench` and `inspect` found last about a rendering, for its
//! cover letter: of the very commits, or not at all.

mod bench;
pub mod check;
pub mod inspect;
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::Oid;
use serde_json::Value;

use crate::render::cover::Results;

/// What is rendered.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The series.
    pub series: &'a str,
    /// Its folder.
    pub folder: &'a Path,
    /// The base's name.
    pub base: &'a str,
    /// The base, as a command takes it.
    pub spec: &'a str,
    /// The last commit.
    pub head: Oid,
    /// Its tree.
    pub tree: Oid,
}

/// Gathers what is used below the folder of products, and tells what is there but
/// of something else.
pub fn find(
    out: &Path,
    asked: &Asked<'_>,
    uses: &BTreeSet<&str>,
    tree_of: &dyn Fn(Oid) -> Option<Oid>,
) -> (Results, Vec<String>) {
    let Asked { series, spec, .. } = asked;
    let commands = BTreeMap::from([
        ("bench", format!("`cargo xtask bench {series} --base {spec}`")),
        ("check", format!("`cargo xtask check {series} --base {spec}`")),
        ("tests", format!("`cargo xtask test-vm --series {series} --base {spec}`")),
        ("inspect", format!("`cargo xtask inspect {series} --base {spec}`")),
    ]);
    let mut stale = Vec::new();
    let mut get = |name: &str, read: &dyn Fn() -> Found| -> Option<Value> {
        if !uses.contains(name) {
            return None;
        }
        match read() {
            Found::Nothing => None,
            Found::This(value) => Some(value),
            Found::Partly(value, what) => {
                let command = commands.get(name).map_or("", String::as_str);
                stale.push(format!(
                    "{what}; the cover letter does without that: {command} renews it"
                ));
                Some(value)
            }
            Found::Other(what) => {
                let command = commands.get(name).map_or("", String::as_str);
                stale.push(format!("{what}; the cover letter does without: {command} renews it"));
                None
            }
        }
    };
    let check = get("check", &|| check::find(out, asked));
    let tests = get("tests", &|| tests::find(out, asked, tree_of));
    let inspect = get("inspect", &|| inspect::find(out, asked, tree_of));
    let bench = get("bench", &|| bench::find(out, asked));
    (Results { check, tests, bench, inspect, commands }, stale)
}

/// What lies where results of a series on a base are kept.
enum Found {
    /// Nothing.
    Nothing,
    /// Results of what is rendered, as templates see them.
    This(Value),
    /// Such results, and beside them some of something else; in words.
    Partly(Value, String),
    /// Results of something else; in words.
    Other(String),
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}
