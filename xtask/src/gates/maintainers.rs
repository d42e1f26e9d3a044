//! MAINTAINERS at the head of the series: new files are covered, new entries
//! match something, and nothing that is touched is obsolete.

use git2::{Oid, Repository};

use super::diff::Deed;
use super::submission::text;
use super::{Finding, Gate, Row, Submission};
use crate::error::Result;
use crate::recipients::sections::{self, Section};

const FILE: &str = "MAINTAINERS";

/// One row a patch that adds files, touches MAINTAINERS or touches what is
/// obsolete; one for the series when there is none.
///
/// # Errors
/// When a tree cannot be read.
pub fn check(s: &Submission) -> Result<Vec<Row>> {
    // A file may come with one patch and its entry with the last: the head counts.
    let head = s.patches.last().map_or(s.base_tree, |p| p.after);
    let before = sections_of(s.repo, s.base_tree)?;
    let after = sections_of(s.repo, head)?;
    if after.is_empty() {
        let why = "the base has no MAINTAINERS";
        return Ok(vec![Row::skipped(Gate::Maintainers, "series", why)]);
    }
    let tree = s.repo.find_tree(head)?;
    let is_folder = |path: &str| folder_in(&tree, path);
    let mut rows = Vec::new();
    for p in &s.patches {
        let mut found = Vec::new();
        let mut new = 0;
        for c in &p.changes {
            if c.deed == Deed::Deleted {
                continue;
            }
            let owners =
                || after.iter().filter(|m| !m.is_the_rest() && m.covers(&c.path, &is_folder));
            if matches!(c.deed, Deed::Added | Deed::Renamed) {
                new += 1;
                // Gone again by the head: nothing to own.
                let stays = exists(s.repo, head, &c.path)?;
                if stays && owners().next().is_none() {
                    let why = "no section of MAINTAINERS but THE REST covers this new file";
                    found.push(Finding::new("uncovered-file", Some(c.path.clone()), why));
                }
            }
            if let Some(m) = owners().find(|m| m.status.contains("obsolete")) {
                let why = format!("{} is obsolete: is it still worth a change?", m.title);
                found.push(Finding::new("obsolete", Some(c.path.clone()), why));
            }
            if c.path == FILE {
                found.extend(entries(s.repo, head, &before, &after)?);
            }
        }
        if new > 0 || !found.is_empty() {
            let detail = if new == 1 { "1 new file".into() } else { format!("{new} new files") };
            rows.push(Row::of(Gate::Maintainers, &p.name, detail, found));
        }
    }
    if rows.is_empty() {
        rows.push(Row::of(Gate::Maintainers, "series", "no file is new", Vec::new()));
    }
    Ok(rows)
}

/// The sections of a tree's MAINTAINERS.
///
/// # Errors
/// When the tree cannot be read.
pub fn sections_of(repo: &Repository, tree: Oid) -> Result<Vec<Section>> {
    Ok(sections::parse(&text(repo, tree, FILE)?))
}

/// Whether a path is a folder of the tree.
#[must_use]
pub fn folder_in(tree: &git2::Tree<'_>, path: &str) -> bool {
    let entry = tree.get_path(std::path::Path::new(path));
    entry.is_ok_and(|e| e.kind() == Some(git2::ObjectType::Tree))
}

fn exists(repo: &Repository, tree: Oid, path: &str) -> Result<bool> {
    Ok(repo.find_tree(tree)?.get_path(std::path::Path::new(path)).is_ok())
}

/// What is wrong with the sections that the series adds or changes.
fn entries(
    repo: &Repository,
    head: Oid,
    before: &[Section],
    after: &[Section],
) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for section in after {
        let old = before.iter().find(|b| b.title == section.title);
        let place = || Some(format!("{FILE}:{}", section.line));
        if old.is_none() {
            if section.status.is_empty() {
                let why = format!("{} has no status (S:)", section.title);
                found.push(Finding::new("no-status", place(), why));
            }
            let orphan = section.status.contains("orphan");
            if section.maintainers.is_empty() && !orphan {
                let why = format!("{} has no maintainer (M:)", section.title);
                found.push(Finding::new("no-maintainer", place(), why));
            }
        }
        let known = |f: &String| old.is_some_and(|o| o.files.contains(f));
        for pattern in section.files.iter().filter(|f| !known(f)) {
            if !matches_something(repo, head, pattern)? {
                let why = format!("{}: F: {pattern} matches no file", section.title);
                found.push(Finding::new("stale-pattern", place(), why));
            }
        }
    }
    // Sections stand in the order of their titles, THE REST last.
    let titles = || after.iter().filter(|s| !s.is_the_rest());
    for (a, b) in titles().zip(titles().skip(1)) {
        let new = |s: &Section| !before.iter().any(|o| o.title == s.title);
        if (new(a) || new(b)) && a.title.to_uppercase() > b.title.to_uppercase() {
            let why = format!("{} stands before {}: keep the order", a.title, b.title);
            found.push(Finding::new("section-order", Some(format!("{FILE}:{}", a.line)), why));
        }
    }
    Ok(found)
}

/// Whether a file of the tree matches the pattern. Only folders above the first
/// wild card are looked into, and what is in them.
fn matches_something(repo: &Repository, tree: Oid, pattern: &str) -> Result<bool> {
    let fixed = pattern.find(['*', '?']).and_then(|at| pattern.get(..at));
    let Some(fixed) = fixed else { return exists(repo, tree, pattern.trim_end_matches('/')) };
    let folder = fixed.rfind('/').and_then(|at| fixed.get(..at)).unwrap_or_default();
    let text = format!("X\nF:\t{pattern}\n");
    let sections = sections::parse(&text);
    let Some(section) = sections.first() else { return Ok(false) };
    let top = repo.find_tree(tree)?;
    let start = if folder.is_empty() {
        top
    } else {
        match top.get_path(std::path::Path::new(folder)) {
            Ok(e) => match e.to_object(repo)?.into_tree() {
                Ok(tree) => tree,
                Err(_) => return Ok(false),
            },
            Err(_) => return Ok(false),
        }
    };
    let mut any = false;
    let walked = start.walk(git2::TreeWalkMode::PreOrder, |below, entry| {
        let name = String::from_utf8_lossy(entry.name_bytes()).into_owned();
        let slash = if folder.is_empty() { "" } else { "/" };
        any = section.covers(&format!("{folder}{slash}{below}{name}"), &|_| false);
        if any { git2::TreeWalkResult::Abort } else { git2::TreeWalkResult::Ok }
    });
    match walked {
        Err(e) if !any => Err(e.into()),
        _ => Ok(any),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::testing::Repo;

    const REST: &str = "THE REST\nM:\tL <l@x>\nS:\tBuried\nF:\t*\nF:\t*/\n";

    fn found(base: &str, head: &str, file: &str) -> Vec<String> {
        let r = Repo::new();
        let base = format!("{base}\n{REST}");
        let head = format!("{head}\n{REST}");
        let s = r.submission(
            &[(FILE, base.as_str()), ("net/a.c", "1\n")],
            &[("p", "net: x\n", &[(FILE, head.as_str()), ("net/a.c", "2\n"), (file, "new\n")])],
        );
        check(&s).unwrap().into_iter().flat_map(|r| r.findings).map(|f| f.rule).collect()
    }

    #[test]
    fn files_and_entries() {
        let net = "NET\nM:\tD <d@x>\nS:\tMaintained\nF:\tnet/\n";
        let lib = |f: &str| format!("LIB\nM:\tJ <j@x>\nS:\tMaintained\nF:\t{f}\n\n{net}");
        for (base, head, file, want) in [
            (net, net.to_owned(), "net/b.c", &[][..]),
            (net, net.to_owned(), "lib/b.c", &["uncovered-file"]),
            (net, lib("lib/b.c"), "lib/b.c", &[]),
            (net, lib("lib/*.c"), "lib/b.c", &[]),
            (net, lib("lib/b*"), "lib/b.c", &[]),
            (net, lib("lib/"), "lib/b.c", &[]),
            (net, lib("lib/c.c"), "lib/b.c", &["stale-pattern", "uncovered-file"]),
            (net, lib("lib/x/*.c"), "lib/b.c", &["stale-pattern", "uncovered-file"]),
            (
                net,
                format!("{net}\nLIB\nM:\tJ <j@x>\nS:\tMaintained\nF:\tlib/\n"),
                "lib/b.c",
                &["section-order"],
            ),
            (net, format!("LIB\nF:\tlib/\n\n{net}"), "lib/b.c", &["no-status", "no-maintainer"]),
            (
                "NET\nM:\tD <d@x>\nS:\tObsolete\nF:\tnet/\n",
                "NET\nM:\tD <d@x>\nS:\tObsolete\nF:\tnet/\n".to_owned(),
                "net/b.c",
                &["obsolete", "obsolete"],
            ),
        ] {
            let mut rules = found(base, &head, file);
            rules.sort_by_key(|r| want.iter().position(|w| w == r));
            assert_eq!(rules, want, "{head}");
        }
    }
}
