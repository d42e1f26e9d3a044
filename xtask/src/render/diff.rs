//! Raw unified diffs as edits, applied three-way.
//!
//! Where the file is the very one the diff was made for, hunks apply at their
//! lines. Where the store has that file (by the id in the `index` line), the
//! change is merged into the file at hand. Otherwise each hunk goes where all
//! its old lines stand, if that is one place only: line numbers never decide.

use std::ops::Range;

use git2::{MergeFileInput, MergeFileOptions, ObjectType, Oid};

use crate::error::{Error, Result};
use crate::host::paths::stay_below;
use crate::mail::apply::{FilePatch, Hunk, LineKind, Payload, apply_hunks, patch_delta, patches};

use super::file_text::FileText;
use super::locate::Near;
use super::overlay::{Entry, Overlay};
use super::source::PLAIN;
use cscan::lines::{line_end, lines};

/// Why a diff does not fit.
#[derive(Debug)]
pub enum Unfit {
    /// The diff cannot be read, or the store not.
    Error(Error),
    /// A file does not take it.
    Place {
        /// The file.
        file: String,
        /// What does not fit.
        what: String,
        /// Where, or what is near.
        near: Vec<Near>,
    },
}

impl From<Error> for Unfit {
    fn from(e: Error) -> Unfit {
        Unfit::Error(e)
    }
}

fn unfit(file: &str, what: impl Into<String>, near: Vec<Near>) -> Unfit {
    Unfit::Place { file: file.to_owned(), what: what.into(), near }
}

/// Applies a diff of one or more files.
///
/// # Errors
/// When it cannot be read, leaves the tree, or does not fit.
pub fn apply(tree: &mut Overlay<'_>, diff: &[u8]) -> Result<(), Unfit> {
    let files = patches(diff)?;
    if files.is_empty() {
        return Err(Error::usage("a diff without any file in it")
            .hint("it has `--- a/file`, `+++ b/file` and hunks, as git writes it")
            .into());
    }
    for file in &files {
        one(tree, file)?;
    }
    // When all is done: a file may take the place of a folder that goes.
    for path in files.iter().filter_map(|f| f.new.as_deref()) {
        let path = path_of(path)?;
        if let Some(what) = tree.misplaced(&path)? {
            return Err(unfit(&path, what, Vec::new()));
        }
    }
    Ok(())
}

fn path_of(name: &[u8]) -> Result<String> {
    let name = String::from_utf8(name.to_vec())
        .map_err(|_| Error::usage("a diff with a file name that is not UTF-8"))?;
    stay_below(&name, "file in a diff")?;
    Ok(name)
}

fn one(tree: &mut Overlay<'_>, patch: &FilePatch) -> Result<(), Unfit> {
    let old = patch.old.as_deref().map(path_of).transpose()?;
    let new = patch.new.as_deref().map(path_of).transpose()?;
    let name = new.clone().or_else(|| old.clone()).unwrap_or_default();
    let entry = match &old {
        None => None,
        Some(path) => Some(
            tree.get(path)?.ok_or_else(|| unfit(path, "the base has no such file", Vec::new()))?,
        ),
    };
    if let Some(to) = new.as_ref().filter(|n| old.as_ref() != Some(n))
        && tree.get(to)?.is_some()
    {
        return Err(unfit(to, "there is a file of that name already", Vec::new()));
    }
    if let Some(mode) = patch.new_mode.filter(|m| !matches!(m & 0o170_000, 0o100_000 | 0o120_000)) {
        return Err(unfit(&name, format!("mode {mode:o} is no kind of file"), Vec::new()));
    }
    let content = content(tree, &name, entry.as_ref(), patch)?;
    if let Some(old) = old.as_ref().filter(|o| !patch.copy && new.as_ref() != Some(o)) {
        if new.is_none() && !content.is_empty() {
            let near = entry.as_ref().map(|e| Near::at(&e.text, 0)).into_iter().collect();
            return Err(unfit(old, "it has more than the diff deletes", near));
        }
        tree.remove(old);
    }
    if let Some(new) = new {
        let mode = patch.new_mode.or(entry.map(|e| e.mode)).unwrap_or(PLAIN);
        tree.put(&new, mode, content);
    }
    Ok(())
}

/// The content after the patch.
fn content(
    tree: &Overlay<'_>,
    name: &str,
    entry: Option<&Entry>,
    patch: &FilePatch,
) -> Result<Vec<u8>, Unfit> {
    let nothing = FileText::new(name, Vec::new());
    let file: &FileText = entry.map_or(&nothing, |e| &e.text);
    let id = patch.ids.as_ref().map(|(before, _)| before.as_str());
    let exact = id.is_some_and(|id| has_id(file.bytes(), id));
    match &patch.payload {
        Payload::Nothing => Ok(file.bytes().to_vec()),
        // What a binary patch is made for must be there: it cannot be merged.
        Payload::Literal(bytes) if exact || entry.is_none() => Ok(bytes.clone()),
        Payload::Delta(delta) if exact => patch_delta(file.bytes(), delta)
            .ok_or_else(|| unfit(name, "its binary delta is damaged", Vec::new())),
        Payload::Literal(_) | Payload::Delta(_) => {
            Err(unfit(name, "a binary patch for another content of this file", Vec::new()))
        }
        Payload::Hunks(hunks) if exact || entry.is_none() => Ok(apply_hunks(file.bytes(), hunks)?),
        Payload::Hunks(hunks) => {
            let before = match id {
                Some(id) if id.len() >= 7 => tree.base().source().blob(id)?,
                _ => None,
            };
            match before {
                Some(before) => merged(file, &before, hunks),
                None => placed(file, hunks),
            }
        }
    }
}

fn has_id(bytes: &[u8], id: &str) -> bool {
    id.len() >= 7
        && Oid::hash_object(ObjectType::Blob, bytes)
            .is_ok_and(|oid| oid.to_string().starts_with(id))
}

fn merged(file: &FileText, before: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, Unfit> {
    let theirs = apply_hunks(before, hunks)?;
    let (mut ancestor, mut ours, mut wanted) =
        (MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new());
    ancestor.content(before);
    ours.content(file.bytes());
    wanted.content(&theirs);
    let mut options = MergeFileOptions::new();
    let merge = git2::merge_file(&ancestor, &ours, &wanted, Some(&mut options));
    let merge = merge.map_err(Error::from)?;
    if merge.is_automergeable() {
        return Ok(merge.content().to_vec());
    }
    // Git's marks say which of our lines it could not merge.
    let text = String::from_utf8_lossy(merge.content()).into_owned();
    let near = text
        .split("<<<<<<< ")
        .skip(1)
        .filter_map(|part| {
            let ours = part.split_once('\n')?.1.split("\n=======").next()?;
            let line = ours.lines().find(|l| !l.trim().is_empty())?;
            let at = memchr::memmem::find(file.bytes(), line.as_bytes())?;
            Some(Near::at(file, at))
        })
        .collect();
    Err(unfit(file.path(), "the base changed the same lines (three-way merge)", near))
}

/// Each hunk where all its old lines stand, which must be one place.
fn placed(file: &FileText, hunks: &[Hunk]) -> Result<Vec<u8>, Unfit> {
    let src = file.bytes();
    let mut out = Vec::with_capacity(src.len() + 256);
    let mut at = 0;
    for hunk in hunks {
        let with = |leave_out: LineKind| {
            let kept = hunk.lines.iter().filter(|(kind, _)| *kind != leave_out);
            kept.flat_map(|(_, line)| line.iter().copied()).collect::<Vec<u8>>()
        };
        let (old, new) = (with(LineKind::Added), with(LineKind::Removed));
        let title = format!("the hunk at line {}", hunk.old.0);
        if old.is_empty() {
            return Err(unfit(file.path(), format!("{title} has no context"), Vec::new()));
        }
        let found = occurrences(src, &old);
        let [place] = found.as_slice() else {
            let near = if found.is_empty() {
                nearest(file, &old)
            } else {
                found.iter().map(|r| Near::at(file, r.start)).collect()
            };
            let what = match found.len() {
                0 => format!("{title}: its lines are not there"),
                n => format!("{title}: its lines are there {n} times"),
            };
            return Err(unfit(file.path(), what, near));
        };
        let Some(kept) = src.get(at..place.start) else {
            let near = vec![Near::at(file, place.start)];
            return Err(unfit(file.path(), format!("{title} stands before the one above"), near));
        };
        out.extend_from_slice(kept);
        out.extend_from_slice(&new);
        at = place.end;
    }
    out.extend_from_slice(src.get(at..).unwrap_or_default());
    Ok(out)
}

/// Where `old` stands as whole lines.
fn occurrences(src: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    memchr::memmem::find_iter(src, old)
        .map(|start| start..start + old.len())
        .filter(|r| {
            let begins = r.start == 0 || src.get(r.start - 1) == Some(&b'\n');
            let ends = r.end == src.len() || src.get(r.end - 1) == Some(&b'\n');
            begins && ends
        })
        .collect()
}

/// Lines of the file that are the hunk's rarest line, or begin it.
fn nearest(file: &FileText, old: &[u8]) -> Vec<Near> {
    let src = file.bytes();
    let mut best: Option<Vec<usize>> = None;
    for wanted in lines(old, 0..old.len()) {
        let wanted = old.get(wanted).unwrap_or_default();
        if wanted.trim_ascii().len() < 4 {
            continue;
        }
        let found: Vec<usize> = memchr::memmem::find_iter(src, wanted)
            .filter(|&at| at == 0 || src.get(at - 1) == Some(&b'\n'))
            .filter(|&at| line_end(src, at) == at + wanted.len())
            .collect();
        if !found.is_empty() && best.as_ref().is_none_or(|b| found.len() < b.len()) {
            best = Some(found);
        }
    }
    let found = best.unwrap_or_default();
    found.into_iter().take(5).map(|at| Near::at(file, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::overlay::Base;
    use super::super::source::Memory;
    use super::*;

    const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    const DIFF: &str = "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n two\n-three\n+THREE\n four\n";

    fn run(memory: &Memory, diff: &str, path: &str) -> Result<Option<String>, String> {
        let base = Base::new(memory);
        let mut tree = Overlay::new(&base);
        match apply(&mut tree, diff.as_bytes()) {
            Ok(()) => Ok(tree
                .get(path)
                .unwrap()
                .map(|e| String::from_utf8(e.text.bytes().to_vec()).unwrap())),
            Err(Unfit::Place { file, what, near }) => Err(format!(
                "{file}: {what} {}",
                near.iter().map(Near::to_string).collect::<Vec<_>>().join("|")
            )),
            Err(Unfit::Error(e)) => Err(e.to_string()),
        }
    }

    #[test]
    fn hunks_go_where_their_lines_are_once() {
        let moved = format!("zero\n{OLD}");
        let got = run(&Memory::of(&[("f", &moved)]), DIFF, "f").unwrap().unwrap();
        assert_eq!(got, moved.replace("three", "THREE"));
        let twice = format!("{OLD}{OLD}");
        let e = run(&Memory::of(&[("f", &twice)]), DIFF, "f").unwrap_err();
        assert_eq!(e, "f: the hunk at line 2: its lines are there 2 times f:2: two|f:10: two");
        let gone = OLD.replace("four", "4");
        let e = run(&Memory::of(&[("f", &gone)]), DIFF, "f").unwrap_err();
        assert_eq!(e, "f: the hunk at line 2: its lines are not there f:3: three");
    }

    #[test]
    fn the_file_it_was_made_for_is_merged_in() {
        let id = Oid::hash_object(ObjectType::Blob, OLD.as_bytes()).unwrap().to_string();
        let diff = DIFF.replacen(
            "--- a/f",
            &format!("diff --git a/f b/f\nindex {}..1234567 100644\n--- a/f", &id[..12]),
            1,
        );
        // The context changed near by: only a merge can place it.
        let ours = OLD.replace("one", "ONE").replace("six", "SIX");
        let mut memory = Memory::of(&[("f", &ours)]);
        memory.blobs.insert(id, OLD.as_bytes().to_vec());
        assert_eq!(run(&memory, &diff, "f").unwrap().unwrap(), ours.replace("three", "THREE"));
        // The very lines changed: a conflict.
        memory.files.insert("f".into(), OLD.replace("three", "drei").into_bytes());
        let e = run(&memory, &diff, "f").unwrap_err();
        assert!(e.contains("three-way") && e.contains("f:3: drei"), "{e}");
        // The very file: lines decide, though they stand there twice.
        let twice = format!("{OLD}{OLD}");
        let id = Oid::hash_object(ObjectType::Blob, twice.as_bytes()).unwrap().to_string();
        let exact = diff
            .replace(diff.split("index ").nth(1).unwrap().split("..").next().unwrap(), &id[..12]);
        let got = run(&Memory::of(&[("f", &twice)]), &exact, "f").unwrap().unwrap();
        assert_eq!(got, twice.replacen("three", "THREE", 1));
    }

    #[test]
    fn files_come_go_and_move() {
        let add = "diff --git a/n b/n\nnew file mode 100644\nindex 0000000..1234567\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(run(&Memory::default(), add, "n").unwrap().unwrap(), "x\n");
        assert!(run(&Memory::of(&[("n", "y\n")]), add, "n").unwrap_err().contains("already"));
        let del = "diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        assert_eq!(run(&Memory::of(&[("n", "x\n")]), del, "n").unwrap(), None);
        assert!(run(&Memory::of(&[("n", "x\ny\n")]), del, "n").unwrap_err().contains("more than"));
        let mv = "diff --git a/n b/m\nsimilarity index 100%\nrename from n\nrename to m\n";
        assert_eq!(run(&Memory::of(&[("n", "x\n")]), mv, "m").unwrap().unwrap(), "x\n");
        assert_eq!(run(&Memory::of(&[("n", "x\n")]), mv, "n").unwrap(), None);
    }

    #[test]
    fn bad_diffs_are_refused() {
        let m = Memory::of(&[("f", OLD)]);
        for bad in [
            "",
            "no diff at all\n",
            "--- a/../f\n+++ b/../f\n@@ -1 +1 @@\n-one\n+1\n",
            "--- a/f\n+++ b/f\n@@ -1,9 +1 @@\n-one\n",
            "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-one\n+1\n",
        ] {
            assert!(run(&m, bad, "f").is_err(), "{bad}");
        }
    }
}
