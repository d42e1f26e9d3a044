//! Objects in Makefiles: each that a patch adds is made of something, and what is none of
//! them is part of another source.

use git2::{Oid, Repository};

use super::Finding;
use super::diff::Change;
use super::submission::text;
use crate::error::Result;

/// Whether a changed file lists objects the way kbuild does. The Makefiles of user space
/// programs have rules of their own.
fn is_kbuild(c: &Change) -> bool {
    let name = c.file_name();
    let user_space = ["tools/", "scripts/", "Documentation/"];
    (name == "Makefile" || name == "Kbuild" || name.starts_with("Makefile."))
        && !user_space.iter().any(|u| c.path.starts_with(u))
}

/// Objects in the added lines of a Makefile for which the tree has neither a source nor a
/// list of parts.
///
/// # Errors
/// When the tree cannot be read.
pub fn without_source(repo: &Repository, tree: Oid, c: &Change) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    if !is_kbuild(c) {
        return Ok(found);
    }
    let makefile = text(repo, tree, &c.path)?;
    if has_other_rules(&makefile) {
        return Ok(found);
    }
    let folder = c.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (number, line) in &c.added {
        for object in objects(line) {
            if !is_composed(&makefile, object) && !has_source(repo, tree, folder, object)? {
                let why = format!(
                    "{object} is added, and there is no {}",
                    join(folder, &format!("{}.c", stem(object)))
                );
                found.push(Finding::new(
                    "object-without-source",
                    format!("{}:{number}", c.path),
                    why,
                ));
            }
        }
    }
    Ok(found)
}

/// Whether a source is made no object of, but is included by another one of its folder.
///
/// # Errors
/// When the tree cannot be read.
pub fn is_part_of_another(repo: &Repository, tree: Oid, source: &str) -> Result<bool> {
    let Some((stem, _)) = source.rsplit_once('.') else { return Ok(false) };
    Ok(!lists(repo, tree, &format!("{stem}.o"))? && is_included(repo, tree, source)?)
}

/// Whether a Makefile of the tree lists the object `net/core/dev.o`: the one beside it, or one
/// of a folder above, by its path from there.
fn lists(repo: &Repository, tree: Oid, object: &str) -> Result<bool> {
    let mut folder = object;
    while let Some(at) = folder.rfind('/') {
        folder = object.get(..at).unwrap_or_default();
        let name = object.get(at + 1..).unwrap_or_default();
        for file in ["Makefile", "Kbuild"] {
            let text = text(repo, tree, &join(folder, file))?;
            let mut lines = text.lines().map(|l| l.split('#').next().unwrap_or_default());
            if lines.any(|l| l.split_whitespace().any(|word| word == name)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn is_included(repo: &Repository, tree: Oid, source: &str) -> Result<bool> {
    let (folder, name) = source.rsplit_once('/').unwrap_or(("", source));
    let Some(folder) = folder_of(repo, tree, folder)? else { return Ok(false) };
    for entry in &folder {
        let c = [&b".c"[..], b".h", b".S"].iter().any(|e| entry.name_bytes().ends_with(e));
        let Some(blob) =
            c.then(|| entry.to_object(repo)).transpose()?.and_then(|o| o.into_blob().ok())
        else {
            continue;
        };
        let text = String::from_utf8_lossy(blob.content());
        let mut lines = text.lines().filter_map(|l| l.trim_start().strip_prefix('#'));
        let of_it = |file: &str| file == name || file.ends_with(&format!("/{name}"));
        if lines.any(|l| {
            let file = l.trim_start().strip_prefix("include").and_then(|l| l.split('"').nth(1));
            file.is_some_and(of_it)
        }) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether objects of a Makefile may come by ways that its text does not show: rules for
/// patterns, lists that functions make.
fn has_other_rules(makefile: &str) -> bool {
    makefile.contains('%')
        || ["addprefix", "addsuffix", "foreach"].iter().any(|f| makefile.contains(f))
}

/// The objects that a line lists, if a source beside the Makefile is what they are made of: not
/// those with a path, which is one from the Makefile that includes this, nor `x.dtb.o` and its like.
///
/// Lines are like `obj-$(CONFIG_X) += a.o b.o`, or continue such a one.
fn objects(line: &str) -> impl Iterator<Item = &str> {
    let line = line.split('#').next().unwrap_or_default();
    let values = match line.split_once('=') {
        // A recipe or a target is none of ours, nor is what only some objects get.
        Some((name, values)) if lists_objects(name) => values,
        Some(_) => "",
        None if line.contains(':') || line.starts_with('\t') && line.contains('$') => "",
        None => line,
    };
    let plain = |w: &&str| {
        w.strip_suffix(".o").is_some_and(|stem| {
            !stem.is_empty() && stem.chars().all(|c| c.is_ascii_alphanumeric() || "_-+".contains(c))
        })
    };
    values.split_whitespace().filter(plain)
}

/// `obj-y +`, `obj-$(CONFIG_X) :`, `core-objs +`, `core-$(CONFIG_X) +`. What hosts run, and what
/// is made for its own sake, has rules of its own.
fn lists_objects(name: &str) -> bool {
    let name = name.trim_end_matches([':', '+', '?', ' ', '\t']).trim_start();
    let Some((of, kind)) = name.split_once('-').filter(|(of, _)| !of.is_empty()) else {
        return false;
    };
    let others = ["extra", "always", "hostprogs", "userprogs", "targets", "clean", "subdir"];
    let last = name.rsplit('-').next().unwrap_or(kind);
    !others.contains(&of)
        && (matches!(last, "y" | "m") || kind.starts_with("$(") || name.contains("-$("))
}

fn stem(object: &str) -> &str {
    object.strip_suffix(".o").unwrap_or(object)
}

/// Whether the Makefile says what the object is made of: `a-y`, `a-objs`, `a-$(…)`, or a rule.
fn is_composed(makefile: &str, object: &str) -> bool {
    let stem = stem(object);
    let lists = ["-y", "-m", "-objs", "-$(", "-${"].map(|kind| format!("{stem}{kind}"));
    makefile.lines().map(str::trim_start).any(|line| {
        lists.iter().any(|list| line.starts_with(list.as_str()))
            || line.split_once(':').is_some_and(|(targets, _)| {
                targets.split_whitespace().any(|t| {
                    let target = t.strip_prefix("$(obj)/").unwrap_or(t);
                    target == object
                        || target.strip_prefix(stem).is_some_and(|e| e.starts_with('.'))
                })
            })
    })
}

/// Whether the tree has a file of the object's name, whatever it is compiled or generated from.
fn has_source(repo: &Repository, tree: Oid, folder: &str, object: &str) -> Result<bool> {
    let path = join(folder, stem(object));
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let Some(folder) = folder_of(repo, tree, folder)? else { return Ok(false) };
    let of_it = |entry: git2::TreeEntry<'_>| {
        let rest = entry.name_bytes().strip_prefix(name.as_bytes()).map(<[u8]>::to_vec);
        rest.is_some_and(|rest| rest.starts_with(b"."))
    };
    Ok(folder.iter().any(of_it))
}

fn folder_of<'r>(repo: &'r Repository, tree: Oid, path: &str) -> Result<Option<git2::Tree<'r>>> {
    let root = repo.find_tree(tree)?;
    if path.is_empty() {
        return Ok(Some(root));
    }
    match root.get_path(std::path::Path::new(path)) {
        Ok(entry) => Ok(entry.to_object(repo)?.into_tree().ok()),
        Err(e) if e.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::testing::Repo;

    #[test]
    fn what_another_source_includes_is_compiled_with_it() {
        let r = Repo::new();
        let tree = crate::gates::testing::tree(
            &r.repo,
            &[
                ("net/Makefile", "obj-y += a.o \\\n\tsub/b.o # c.o\n"),
                ("net/a.c", "#include \"c.c\"\n# include \"../net/e.c\"\n#include <in_a.c>\n"),
                ("net/sub/z.c", "#include \"b.c\"\n"),
                ("net/x.txt", "#include \"f.c\"\n"),
            ],
        );
        for (source, want) in [
            ("net/a.c", false),
            ("net/c.c", true),
            ("net/e.c", true),
            ("net/in_a.c", false),
            ("net/f.c", false),
            // It is included, and made an object of too.
            ("net/sub/b.c", false),
            ("other/a.c", false),
            ("a.c", false),
        ] {
            assert_eq!(is_part_of_another(&r.repo, tree, source).unwrap(), want, "{source}");
        }
    }

    #[test]
    fn every_object_is_made_of_something() {
        let r = Repo::new();
        for (makefile, want) in [
            ("obj-$(CONFIG_A) += a.o\n", &[][..]),
            ("obj-$(CONFIG_A) += gone.o\n", &["gone.o"]),
            ("obj-y += a.o \\\n\tgone.o\n", &["gone.o"]),
            ("obj-y += a.o gone.o # lost.o\n", &["gone.o"]),
            ("obj-m := core.o\ncore-y := a.o gone.o\n", &["gone.o"]),
            ("obj-m := core.o\ncore-$(CONFIG_A) += a.o\n", &[]),
            ("obj-m := core.o\ncore-objs := a.o\n", &[]),
            ("obj-m := core.o\ncore-${CONFIG_A} += a.o\n", &[]),
            ("obj-y += asm.o table.asn1.o u.dtb.o nvkm/i2c/x.o\n", &[]),
            ("obj-y += gone.o\n$(obj)/%.o: $(src)/%.c\n\tcc\n", &[]),
            ("x-y += $(addprefix lib/, \\\n\tgone.o)\n", &[]),
            ("hostprogs := t\nt-objs := gone.o\nextra-y += gone.o\nalways-y := gone.o\n", &[]),
            ("obj-y += made.o\n$(obj)/made.c: $(src)/a.c\n\tcp $< $@\n", &[]),
            ("obj-y += sub/\nobj-y += $(x).o\n", &[]),
            ("CFLAGS_gone.o = -O1\nKCOV_INSTRUMENT_gone.o := n\n", &[]),
            ("obj-y += ../a.o\n", &[]),
            ("all: gone.o\n\tld $(X) gone.o\n", &[]),
            (".o = .o\n-y = gone.o\n", &[]),
        ] {
            let s = r.submission(
                &[("net/a.c", "1\n")],
                &[(
                    "p",
                    "net: x\n",
                    &[
                        ("net/Makefile", makefile),
                        ("net/a.c", "1\n"),
                        ("net/asm.S", "1\n"),
                        ("net/sub/b.c", "1\n"),
                        ("net/table.asn1", "1\n"),
                        ("tools/Makefile", "obj-y += gone.o\n"),
                    ],
                )],
            );
            let p = s.patches.first().unwrap();
            let mut found = Vec::new();
            for c in &p.changes {
                found.extend(without_source(&r.repo, p.after, c).unwrap());
            }
            let named: Vec<&str> = found.iter().filter_map(|f| f.text.split(' ').next()).collect();
            assert_eq!(named, want, "{makefile}");
        }
    }
}
