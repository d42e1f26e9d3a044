//! Worktrees as a build meets them: made, moved, changed by others, half-made.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::*;
use crate::tree::testing::{MAKEFILE, Place as TestPlace, git, sh};
use crate::tree::{Signature, TreeEdit, object::Mode, resolve};

struct Made {
    p: TestPlace,
    store: Store,
    base: Base,
    /// A commit on top of the base: one file changed, one new, one deleted, one
    /// folder for a file.
    patched: Oid,
}

fn made() -> Made {
    let p = TestPlace::new();
    let clone = p.tree(
        "linux",
        &[
            ("Makefile", MAKEFILE),
            ("net/core/dev.c", "int a;\n"),
            ("net/core/gro.c", "int b;\n"),
            ("gone/away.c", "x\n"),
            ("scripts/run.sh", "#!/bin/sh\n"),
            ("turns", "file\n"),
            ("\u{e9} x/sp ace", "y\n"),
            ("empty", ""),
        ],
    );
    sh(
        &clone,
        "chmod 755 scripts/run.sh; ln -s ../net/core/dev.c scripts/link; ln -s /nowhere dangling",
    );
    p.clone("linux", &[]);
    let store = p.store();
    let base = resolve(&p.ui, &p.dirs, &store, clone.to_str().unwrap()).unwrap();
    let mut edit = TreeEdit::new(&store, base.tree);
    edit.write("net/core/dev.c", Mode::File, "int changed;\n").unwrap();
    edit.write("net/new/file.c", Mode::Executable, "new\n").unwrap();
    edit.delete("gone/away.c").unwrap();
    edit.delete("turns").unwrap();
    edit.write("turns/folder", Mode::File, "z\n").unwrap();
    let tree = edit.finish().unwrap();
    let who = Signature {
        name: "A".into(),
        email: "a@b".into(),
        when: jiff::Timestamp::UNIX_EPOCH,
        offset: jiff::tz::Offset::UTC,
    };
    let patched = crate::tree::commit(
        &store,
        &crate::tree::CommitSpec {
            tree,
            parents: vec![base.commit],
            author: who.clone(),
            committer: who,
            message: "m\n".into(),
        },
    )
    .unwrap();
    Made { p, store, base, patched }
}

impl Made {
    fn go(&self, commit: Oid) -> Worktree {
        worktree(&self.p.ui, &self.p.dirs, &self.store, &self.base, commit).unwrap()
    }

    /// The tree that git sees in the worktree.
    fn on_disk(&self) -> String {
        let source = self.source();
        let index = self.p.path("index");
        let _ = fs::remove_file(&index);
        let run = |args: &[&str]| {
            let out = std::process::Command::new("git")
                .arg("--git-dir")
                .arg(self.store.path())
                .arg("--work-tree")
                .arg(&source)
                .args(args)
                .env("GIT_INDEX_FILE", &index)
                .env("GIT_OBJECT_DIRECTORY", self.p.path("linux/.git/objects"))
                .current_dir(&source)
                .output()
                .unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
        };
        run(&["-c", "core.bare=false", "add", "-fA", "."]);
        run(&["write-tree"])
    }

    fn source(&self) -> PathBuf {
        self.p.dirs.cache().join("worktrees/linux/source")
    }

    fn tree_of(&self, commit: Oid) -> String {
        self.store.repo().find_commit(commit).unwrap().tree_id().to_string()
    }

    fn set_aside(&self) -> Vec<String> {
        let top = self.p.dirs.cache().join("worktrees/linux/set-aside");
        let mut names: Vec<String> = walkdir::WalkDir::new(&top)
            .into_iter()
            .flatten()
            .filter(|e| !e.file_type().is_dir())
            .map(|e| {
                let below = e.path().strip_prefix(&top).unwrap();
                below.components().skip(1).collect::<PathBuf>().display().to_string()
            })
            .collect();
        names.sort();
        names
    }
}

fn stamp(path: &Path) -> (i64, i64, u64) {
    let m = fs::symlink_metadata(path).unwrap();
    (m.mtime(), m.mtime_nsec(), m.ino())
}

#[test]
fn it_moves_between_commits_and_touches_only_what_differs() {
    let m = made();
    let made_count = m.go(m.base.commit).changed;
    assert_eq!(made_count, 10);
    assert_eq!(m.on_disk(), m.tree_of(m.base.commit));
    let kept = ["Makefile", "net/core/gro.c", "scripts/link", "scripts/run.sh"];
    let before: Vec<_> = kept.iter().map(|f| stamp(&m.source().join(f))).collect();
    assert_eq!(m.go(m.patched).changed, 5);
    assert_eq!(m.on_disk(), m.tree_of(m.patched));
    assert!(!m.source().join("gone").exists());
    assert_eq!(m.go(m.patched).changed, 0);
    assert_eq!(m.go(m.base.commit).changed, 5);
    assert_eq!(m.on_disk(), m.tree_of(m.base.commit));
    let after: Vec<_> = kept.iter().map(|f| stamp(&m.source().join(f))).collect();
    assert_eq!(before, after);
    assert!(m.set_aside().is_empty());
}

#[test]
fn what_others_changed_is_put_back_and_kept_aside() {
    let m = made();
    drop(m.go(m.base.commit));
    let s = m.source();
    // Same size, and the old time put back: only the content tells.
    let gro = s.join("net/core/gro.c");
    let old = fs::metadata(&gro).unwrap().modified().unwrap();
    fs::write(&gro, "int X;\n").unwrap();
    fs::File::open(&gro).unwrap().set_modified(old).unwrap();
    fs::write(s.join("net/extra.c"), "mine\n").unwrap();
    fs::create_dir_all(s.join("dir/extra")).unwrap();
    fs::write(s.join("dir/extra/f"), "mine\n").unwrap();
    fs::create_dir_all(s.join("scripts/__pycache__")).unwrap();
    fs::write(s.join("scripts/__pycache__/x.pyc"), "").unwrap();
    fs::remove_file(s.join("Makefile")).unwrap();
    fs::set_permissions(s.join("scripts/run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(s.join("scripts/link")).unwrap();
    fs::write(s.join("scripts/link"), "no link\n").unwrap();
    fs::remove_dir_all(s.join("gone")).unwrap();
    fs::write(s.join("gone"), "a file\n").unwrap();
    fs::remove_file(s.join("turns")).unwrap();
    fs::create_dir(s.join("turns")).unwrap();
    fs::write(s.join("turns/inside"), "a folder\n").unwrap();
    drop(m.go(m.base.commit));
    assert_eq!(m.on_disk(), m.tree_of(m.base.commit));
    assert_eq!(
        m.set_aside(),
        [
            "dir/extra/f",
            "gone",
            "net/core/gro.c",
            "net/extra.c",
            "scripts/link",
            "scripts/run.sh",
            "turns/inside"
        ]
    );
    assert_eq!(m.go(m.base.commit).changed, 0);
}

#[test]
fn a_write_through_a_link_is_not_made() {
    let m = made();
    drop(m.go(m.base.commit));
    let outside = m.p.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("dev.c"), "precious\n").unwrap();
    fs::remove_dir_all(m.source().join("net/core")).unwrap();
    std::os::unix::fs::symlink(&outside, m.source().join("net/core")).unwrap();
    drop(m.go(m.patched));
    assert_eq!(m.on_disk(), m.tree_of(m.patched));
    assert_eq!(fs::read_to_string(outside.join("dev.c")).unwrap(), "precious\n");
}

#[test]
fn touched_files_are_adopted() {
    let m = made();
    drop(m.go(m.base.commit));
    sh(&m.source(), "find . -type f -exec touch {} +");
    let before = stamp(&m.source().join("Makefile"));
    assert_eq!(m.go(m.base.commit).changed, 0);
    assert_eq!(stamp(&m.source().join("Makefile")), before);
    assert_eq!(m.go(m.base.commit).changed, 0);
}

#[test]
fn a_half_made_worktree_is_completed() {
    let m = made();
    // Killed while it was made: no manifest, a part of the files.
    let top = m.p.dirs.cache().join("worktrees/linux");
    fs::create_dir_all(top.join("source.part/net")).unwrap();
    fs::write(top.join("source.part/net/half"), "x").unwrap();
    drop(m.go(m.base.commit));
    assert_eq!(m.on_disk(), m.tree_of(m.base.commit));
    assert!(!top.join("source.part").exists());
    // Killed while it was moved: some files are the new ones.
    fs::write(top.join("changing"), m.tree_of(m.patched)).unwrap();
    fs::write(m.source().join("net/core/dev.c"), "int changed;\n").unwrap();
    fs::create_dir(m.source().join("net/new")).unwrap();
    fs::write(m.source().join("net/new/file.c"), "ne").unwrap();
    fs::remove_dir_all(m.source().join("gone")).unwrap();
    fs::write(m.source().join("someones"), "work\n").unwrap();
    drop(m.go(m.base.commit));
    assert_eq!(m.on_disk(), m.tree_of(m.base.commit));
    assert_eq!(m.set_aside(), ["someones"]);
    assert!(!top.join("changing").exists());
    // A manifest that is damaged is none.
    fs::write(top.join("manifest"), "kseries").unwrap();
    assert_eq!(m.go(m.patched).changed, 10);
    assert_eq!(m.on_disk(), m.tree_of(m.patched));
}

#[test]
fn few_are_kept() {
    let m = made();
    for i in 0..10 {
        let base = Base { name: format!("b{i}"), ..m.base.clone() };
        drop(worktree(&m.p.ui, &m.p.dirs, &m.store, &base, base.commit).unwrap());
    }
    let mut left: Vec<String> = fs::read_dir(m.p.dirs.cache().join("worktrees"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"]);
}

#[test]
fn a_missing_object_leaves_nothing_half_made() {
    let m = made();
    let blob = git(&m.p.path("linux"), &["rev-parse", "HEAD:net/core/gro.c"]);
    let file = m.p.path("linux/.git/objects").join(&blob[..2]).join(&blob[2..]);
    fs::remove_file(&file).unwrap();
    let e = worktree(&m.p.ui, &m.p.dirs, &m.store, &m.base, m.base.commit).unwrap_err();
    assert_eq!(e.kind(), crate::error::Kind::Host);
    assert!(e.to_string().contains("not in the store"), "{e}");
    assert!(!m.source().exists() && !m.source().with_extension("part").exists());
}
