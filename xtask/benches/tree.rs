//! What a rendering does with the store, on a tree of 20,000 files: open it, find
//! the base, read a file, change three and commit.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::fmt::Write as _;
use std::path::PathBuf;

use divan::Bencher;
use jiff::Timestamp;
use jiff::tz::Offset;
use xtask::host::paths::Dirs;
use xtask::host::ui::{Format, Ui};
use xtask::tree::{Base, CommitSpec, Mode, Signature, Store, TreeEdit, TreeView, commit, resolve};

fn main() {
    divan::main();
}

struct Host {
    _dir: tempfile::TempDir,
    dirs: Dirs,
    ui: Ui,
    archive: PathBuf,
}

fn host() -> Host {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("l.tar");
    let mut tar = tar::Builder::new(std::fs::File::create(&archive).unwrap());
    let mut add = |path: &str, content: &str| {
        let mut h = tar::Header::new_gnu();
        h.set_size(content.len() as u64);
        h.set_mode(0o644);
        tar.append_data(&mut h, path, content.as_bytes()).unwrap();
    };
    add("l/Makefile", "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 0\n");
    let mut text = String::new();
    for line in 0..2000 {
        writeln!(text, "static int function_{line}(struct device *dev, int n);").unwrap();
    }
    for i in 0..20_000 {
        let path = format!("l/d{}/e{}/f{i}.c", i % 20, i / 20 % 50);
        add(&path, &format!("/* {i} */\n{}", &text[..i % 8000]));
    }
    add("l/net/core/dev.c", &text.repeat(4));
    tar.finish().unwrap();
    let host = Host {
        dirs: Dirs::at(dir.path(), &dir.path().join("cache")),
        _dir: dir,
        ui: Ui::new(Format::Human),
        archive,
    };
    host.base(&host.store());
    host
}

impl Host {
    fn store(&self) -> Store {
        Store::open(&self.ui, &self.dirs).unwrap()
    }

    fn base(&self, store: &Store) -> Base {
        resolve(&self.ui, &self.dirs, store, self.archive.to_str().unwrap()).unwrap()
    }
}

#[divan::bench]
fn open_and_resolve(b: Bencher<'_, '_>) {
    let host = host();
    b.bench_local(|| host.base(&host.store()));
}

#[divan::bench]
fn read_a_large_file(b: Bencher<'_, '_>) {
    let host = host();
    let store = host.store();
    let tree = host.base(&store).tree;
    b.bench_local(|| TreeView::new(&store, tree).read("net/core/dev.c").unwrap().unwrap());
}

#[divan::bench]
fn change_three_files_and_commit(b: Bencher<'_, '_>) {
    let host = host();
    let store = host.store();
    let base = host.base(&store);
    let who = Signature {
        name: "A".into(),
        email: "a@b".into(),
        when: Timestamp::UNIX_EPOCH,
        offset: Offset::UTC,
    };
    let n = Cell::new(0);
    b.bench_local(|| {
        n.set(n.get() + 1);
        let mut edit = TreeEdit::new(&store, base.tree);
        for path in ["net/core/dev.c", "d1/e1/f21.c", "net/new.c"] {
            edit.write(path, Mode::File, format!("changed {}\n", n.get())).unwrap();
        }
        let spec = CommitSpec {
            tree: edit.finish().unwrap(),
            parents: vec![base.commit],
            author: who.clone(),
            committer: who.clone(),
            message: "m\n".into(),
        };
        commit(&store, &spec).unwrap()
    });
}
