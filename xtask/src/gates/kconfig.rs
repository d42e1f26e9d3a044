//! New Kconfig symbols: help text for what a user is asked, and no use of a
//! symbol that nothing defines; and the objects that Makefiles are given.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use git2::{ObjectType, Oid, Repository, TreeWalkMode, TreeWalkResult};
use regex::Regex;

use super::diff::{Change, Deed};
use super::submission::text;
use super::{Finding, Gate, Row, Submission, makefile};
use crate::error::Result;

/// One row a patch that defines or uses symbols.
///
/// # Errors
/// When a tree cannot be read.
pub fn check(s: &Submission) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut defined: Option<BTreeSet<String>> = None;
    for p in &s.patches {
        let mut found = Vec::new();
        let mut new = 0;
        for c in p.changes.iter().filter(|c| is_kconfig(&c.path) && c.deed != Deed::Deleted) {
            let before = entries(&text(s.repo, p.before, &c.old_path)?);
            for (name, entry) in entries(&text(s.repo, p.after, &c.path)?) {
                if !before.contains_key(&name) {
                    new += 1;
                    found.extend(entry.judge(&name, &c.path));
                }
            }
        }
        for c in p.changes.iter().filter(|c| c.deed != Deed::Deleted) {
            found.extend(makefile::without_source(s.repo, p.after, c)?);
        }
        let used: BTreeMap<String, String> = p.changes.iter().flat_map(uses).collect();
        if !used.is_empty() {
            let known = match &mut defined {
                Some(known) => known,
                unread => unread.insert(symbols(s.repo, s.base_tree)?),
            };
            // What the series itself defines so far counts as well.
            for c in p.changes.iter().filter(|c| is_kconfig(&c.path)) {
                known.extend(entries(&text(s.repo, p.after, &c.path)?).into_keys());
            }
            for (name, place) in &used {
                if !known.contains(name) && !known.contains(name.trim_end_matches("_MODULE")) {
                    let why = format!("CONFIG_{name} is used, and no Kconfig defines {name}");
                    found.push(Finding::new("undefined-symbol", Some(place.clone()), why));
                }
            }
        }
        if new > 0 || !used.is_empty() || !found.is_empty() {
            let detail = format!("{new} new, {} used", used.len());
            rows.push(Row::of(Gate::Kconfig, &p.name, detail, found));
        }
    }
    if rows.is_empty() {
        let none = "no symbol is new or used";
        rows.push(Row::of(Gate::Kconfig, "series", none, Vec::new()));
    }
    Ok(rows)
}

fn is_kconfig(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|n| n == "Kconfig" || n.starts_with("Kconfig."))
}

/// A `config` or `menuconfig` entry.
#[derive(Clone, Debug, Default)]
struct Entry {
    line: usize,
    prompt: bool,
    help_lines: usize,
    default_y: bool,
}

impl Entry {
    fn judge(&self, name: &str, file: &str) -> Vec<Finding> {
        let place = || Some(format!("{file}:{}", self.line));
        let mut found = Vec::new();
        if self.prompt && self.help_lines == 0 {
            let why = format!("{name} asks the user and has no help text");
            found.push(Finding::new("no-help", place(), why));
        }
        if self.prompt && self.default_y {
            let why = format!(
                "{name} is new and on by default (Documentation/kbuild/kconfig-language.rst)"
            );
            found.push(Finding::note("default-y", place(), why));
        }
        found
    }
}

/// The entries of a Kconfig file. A symbol defined twice has the help of both.
fn entries(text: &str) -> HashMap<String, Entry> {
    let mut all: HashMap<String, Entry> = HashMap::new();
    let mut current: Option<String> = None;
    // Indentation of the help text's first line, once it has come.
    let mut help: Option<Option<usize>> = None;
    for (i, line) in text.lines().enumerate() {
        let indent = line.chars().take_while(|c| c.is_whitespace()).map(columns).sum::<usize>();
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        // Help text ends with the first line that is indented less.
        match &mut help {
            Some(Some(begun)) if indent >= *begun => {
                count_help(&mut all, current.as_ref());
                continue;
            }
            Some(first @ None) if indent > 0 => {
                *first = Some(indent);
                count_help(&mut all, current.as_ref());
                continue;
            }
            _ => help = None,
        }
        let (word, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        match word {
            "config" | "menuconfig" => {
                let name = rest.split_whitespace().next().unwrap_or_default().to_owned();
                all.entry(name.clone()).or_default().line = i + 1;
                current = Some(name);
            }
            "menu" | "endmenu" | "choice" | "endchoice" | "if" | "endif" | "source" | "comment"
            | "mainmenu" => current = None,
            "help" | "---help---" => help = Some(None),
            _ => {
                if let Some(entry) = current.as_ref().and_then(|c| all.get_mut(c)) {
                    let typed = matches!(word, "bool" | "tristate" | "int" | "hex" | "string");
                    entry.prompt |=
                        (typed || word == "prompt") && rest.trim().starts_with(['"', '\'']);
                    entry.default_y |= word == "default" && rest.split_whitespace().eq(["y"]);
                }
            }
        }
    }
    all
}

fn count_help(all: &mut HashMap<String, Entry>, current: Option<&String>) {
    if let Some(entry) = current.and_then(|c| all.get_mut(c)) {
        entry.help_lines += 1;
    }
}

fn columns(c: char) -> usize {
    if c == '\t' { 8 } else { 1 }
}

static USE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bCONFIG_([A-Z0-9_]+)\b").ok());

/// Symbols in the added lines of C, assembly and Makefiles, each with its place.
fn uses(c: &Change) -> Vec<(String, String)> {
    let make = c.file_name().starts_with("Makefile") || c.file_name() == "Kbuild";
    if !make && !c.has_extension(&["c", "h", "S", "lds"]) {
        return Vec::new();
    }
    let lines = c.added.iter().flat_map(|(n, line)| {
        let matches = USE.iter().flat_map(|r| r.captures_iter(line));
        matches.filter_map(|m| m.get(1)).map(move |m| (m.as_str().to_owned(), *n))
    });
    lines.map(|(name, n)| (name, format!("{}:{n}", c.path))).collect()
}

/// Every symbol that a tree's Kconfig files define.
fn symbols(repo: &Repository, tree: Oid) -> Result<BTreeSet<String>> {
    let tree = repo.find_tree(tree)?;
    let mut blobs = Vec::new();
    tree.walk(TreeWalkMode::PreOrder, |_, entry| {
        let kconfig = entry.name_bytes().starts_with(b"Kconfig");
        if kconfig && entry.kind() == Some(ObjectType::Blob) {
            blobs.push(entry.id());
        }
        TreeWalkResult::Ok
    })?;
    let mut all = BTreeSet::new();
    for id in blobs {
        let blob = repo.find_blob(id)?;
        let text = String::from_utf8_lossy(blob.content());
        let defined = text.lines().filter_map(|l| {
            let l = l.trim_start();
            let name = l.strip_prefix("config").or_else(|| l.strip_prefix("menuconfig"))?;
            name.starts_with([' ', '\t']).then(|| name.trim())
        });
        all.extend(defined.map(str::to_owned));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::testing::Repo;

    fn found(kconfig: &str, code: &str) -> Vec<String> {
        let r = Repo::new();
        let base = "config OLD\n\tbool \"old\"\n\nconfig NET\n\tbool \"x\"\n\thelp\n\t  x\n";
        let s = r.submission(
            &[("net/Kconfig", base), ("lib/Kconfig.debug", "menuconfig DEBUG_X\n\tbool\n")],
            &[(
                "p",
                "net: x\n",
                &[
                    ("net/Kconfig", &format!("{base}\n{kconfig}")),
                    ("lib/Kconfig.debug", "menuconfig DEBUG_X\n\tbool\n"),
                    ("net/a.c", code),
                ],
            )],
        );
        check(&s).unwrap().into_iter().flat_map(|r| r.findings).map(|f| f.rule).collect()
    }

    #[test]
    fn new_symbols() {
        for (entry, want) in [
            ("config A\n\tbool \"a\"\n\thelp\n\t  Say Y.\n", &[][..]),
            ("config A\n\tbool \"a\"\n\t---help---\n\n\t  Say Y.\n", &[]),
            ("config A\n\tbool \"a\"\n", &["no-help"]),
            (
                "config A\n\ttristate \"a\"\n\tdepends on NET\n\thelp\n\nconfig B\n\tbool\n",
                &["no-help"],
            ),
            ("config A\n\tbool\n\tprompt \"a\"\n", &["no-help"]),
            ("config A\n\tbool\n\tdefault y\n", &[]),
            ("config A\n\tdef_bool y\n", &[]),
            ("config A\n\tbool \"a\"\n\tdefault y\n\thelp\n\t  x\n", &["default-y"]),
            ("config A\n\tbool \"a\"\n\tdefault y if NET\n\thelp\n\t  x\n", &[]),
            ("config A\n\tbool \"a\"\n\thelp\n\t  config B is not an entry:\n\t  config B\n", &[]),
            ("menuconfig A\n\tint \"a\"\n\nif A\nendif\n", &["no-help"]),
        ] {
            assert_eq!(found(entry, ""), want, "{entry}");
        }
    }

    #[test]
    fn used_symbols_are_defined_somewhere() {
        let new = "config NEW\n\tbool\n";
        for (code, want) in [
            ("#ifdef CONFIG_NET\n#if IS_ENABLED(CONFIG_DEBUG_X)\n#if CONFIG_NEW\n", &[][..]),
            ("#ifdef CONFIG_NET_MODULE\n", &[]),
            ("#ifdef CONFIG_NTE\n", &["undefined-symbol"]),
            ("int MY_CONFIG_NTE;\n", &[]),
        ] {
            assert_eq!(found(new, code), want, "{code}");
        }
    }
}
