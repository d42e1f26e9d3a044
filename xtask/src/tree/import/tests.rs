//! Archives, good and bad, through the whole import; git is the judge of what
//! comes out.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::error::Kind;
use crate::tree::testing::{MAKEFILE, Place, ar, archive, deb, file, git, gzip, member, sh, xz};

/// Imports an archive that has these bytes.
fn import_bytes(p: &Place, store: &Store, bytes: &[u8]) -> Result<Imported> {
    let path = p.path("archive");
    fs::write(&path, bytes).unwrap();
    let held = store.lock(&p.ui).unwrap();
    store.begin(&held).unwrap();
    let done = import(&p.ui, store, &held, &path);
    if done.is_ok() {
        // As a record would: the pack stays.
        fs::remove_file(store.incoming().join("joining")).unwrap();
    }
    store.end(&held);
    assert!(!store.incoming().exists());
    done
}

fn packs(store: &Store) -> usize {
    fs::read_dir(store.path().join("objects/pack")).unwrap().count()
}

fn makefile() -> Vec<u8> {
    file("l/Makefile", MAKEFILE)
}

#[test]
fn bad_archives_are_refused_and_leave_nothing() {
    let p = Place::new();
    let store = p.store();
    let device = |kind| member("l/dev", kind, 0o644, "", b"");
    let pax = |record: &str| member("pax", b'x', 0o644, "", record.as_bytes());
    let link = |kind, to: &str| member("l/link", kind, 0o777, to, b"");
    let deep = archive(&[makefile(), file("l/a", "1")]);
    let mut huge = makefile();
    let mut header = tar::Header::new_gnu();
    header.set_path("l/huge").unwrap();
    header.set_size(1 << 40);
    header.set_mode(0o644);
    header.set_cksum();
    huge.extend_from_slice(header.as_bytes());
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "leaves its folder",
            archive(&[makefile(), file("l/../../x", "1")]),
            "member l/../../x: it leaves its folder",
        ),
        (
            "absolute",
            archive(&[makefile(), file("/etc/passwd", "1")]),
            "member /etc/passwd: it is absolute",
        ),
        ("into .git", archive(&[makefile(), file("l/.Git/config", "1")]), "in a .git"),
        (
            "link through a link",
            archive(&[makefile(), link(b'2', "/etc"), file("l/link/x", "1")]),
            "in the way of a folder",
        ),
        (
            "folder and file",
            archive(&[makefile(), file("l/a/b", "1"), file("l/a", "1")]),
            "in the way of a folder",
        ),
        (
            "hard link to later",
            archive(&[makefile(), link(b'1', "l/later"), file("l/later", "")]),
            "does not come before it",
        ),
        ("hard link out", archive(&[makefile(), link(b'1', "../x")]), "leaves its folder"),
        ("device", archive(&[makefile(), device(b'3')]), "no file, link or folder"),
        ("fifo", archive(&[makefile(), device(b'6')]), "no file, link or folder"),
        ("a terabyte", huge, "it has 1099511627776 bytes"),
        ("no Makefile", archive(&[file("l/README", "1")]), "no kernel tree"),
        (
            "Makefile too deep",
            archive(&[file("l/a/Makefile", MAKEFILE), file("l/b", "")]),
            "no kernel tree",
        ),
        (
            "a Makefile of something else",
            archive(&[file("l/Makefile", "all:\n")]),
            "no kernel tree",
        ),
        (
            "pax name with a line end",
            archive(&[makefile(), pax("20 path=l/a\nb/c.txt\n"), file("l/a", "1")]),
            "line end in it",
        ),
        (
            "sparse in pax",
            archive(&[makefile(), pax("22 GNU.sparse.major=1\n"), file("l/a", "1")]),
            "sparse file",
        ),
        ("nothing", archive(&[]), "no archive"),
        ("empty file", Vec::new(), "no archive"),
        ("text", b"hello\n".to_vec(), "no archive"),
        ("no end mark", makefile(), "end mark"),
        ("cut in a file", deep[..1024 + 512 + 100].to_vec(), "damaged or cut short"),
        ("cut xz", xz(&deep)[..xz(&deep).len() - 9].to_vec(), "damaged or cut short"),
        ("cut gzip", gzip(&deep)[..gzip(&deep).len() - 9].to_vec(), "damaged or cut short"),
        ("xz of no tar", xz(b"hello"), "damaged or cut short"),
        ("ar without data", ar(&[("x", b"1")]), "without a member data.tar"),
        ("a package of something else", deb(&[("./usr/bin/x", b"1")]), "no tarball in usr/src"),
        ("a package with a bad tarball", deb(&[("./usr/src/l.tar.xz", b"xx")]), "no archive"),
    ];
    for (what, bytes, says) in cases {
        let e = import_bytes(&p, &store, &bytes).expect_err(what);
        assert_eq!(e.kind(), Kind::Usage, "{what}: {e}");
        assert!(e.to_string().contains(says), "{what}: {e}");
        assert_eq!(packs(&store), 0, "{what}");
    }
}

#[test]
fn packages_are_read_through() {
    let p = Place::new();
    let store = p.store();
    let source = archive(&[makefile(), file("l/a", "1")]);
    let plain = import_bytes(&p, &store, &source).unwrap();
    for inner in [xz(&source), gzip(&source), source] {
        let files: &[(&str, &[u8])] = &[
            ("./usr/share/doc/x", b"odd"),
            ("./usr/src/linux-patch-6.12-rt.patch.xz", b"x"),
            ("./usr/src/linux-source-6.12.tar.xz", &inner),
        ];
        assert_eq!(import_bytes(&p, &store, &deb(files)).unwrap().commit, plain.commit);
    }
}

#[test]
fn every_cut_and_every_flipped_byte_is_an_error_or_the_same_tree() {
    let p = Place::new();
    let store = p.store();
    let tar =
        archive(&[makefile(), file("l/a", "some text\n"), member("l/s", b'2', 0o777, "a", b"")]);
    let good = import_bytes(&p, &store, &tar).unwrap().tree;
    for packed in [xz(&tar), deb(&[("./usr/src/l.tar.xz", &xz(&tar))])] {
        for cut in (0..packed.len()).step_by(7) {
            if let Ok(done) = import_bytes(&p, &store, &packed[..cut]) {
                assert_eq!(done.tree, good, "cut at {cut}");
            }
        }
    }
    // xz has checksums over everything.
    let packed = xz(&tar);
    for at in (0..packed.len()).step_by(5) {
        let mut bad = packed.clone();
        bad[at] ^= 0x10;
        if let Ok(done) = import_bytes(&p, &store, &bad) {
            assert_eq!(done.tree, good, "flipped at {at}");
        }
    }
}

#[test]
fn the_last_of_two_members_counts_and_links_keep_what_they_were_made_of() {
    let p = Place::new();
    let store = p.store();
    let bytes = archive(&[
        makefile(),
        file("l/a", "first"),
        member("l/hard", b'1', 0o644, "l/a", b""),
        member("./l//a", b'0', 0o755, "", b"second"),
        member("l/empty/", b'5', 0o755, "", b""),
        member("pax_global_header", b'g', 0o644, "", b"19 comment=abcdefg\n"),
    ]);
    let done = import_bytes(&p, &store, &bytes).unwrap();
    let view = crate::tree::TreeView::new(&store, done.tree);
    let a = view.read("a").unwrap().unwrap();
    assert_eq!((a.mode, a.bytes.as_slice()), (crate::tree::Mode::Executable, &b"second"[..]));
    assert_eq!(view.read("hard").unwrap().unwrap().bytes, b"first");
    assert!(!view.exists("empty").unwrap());
    assert_eq!(done.files, 3);
    // The Makefile may be the second name of its content.
    let bytes = archive(&[file("l/a", MAKEFILE), member("l/Makefile", b'1', 0o644, "l/a", b"")]);
    assert_eq!(import_bytes(&p, &store, &bytes).unwrap().version.to_string(), "6.12.3");
}

#[test]
fn far_offsets_are_as_git_reads_them() {
    let t = tempfile::tempdir().unwrap();
    let offsets = [12, (1 << 31) - 1, 1 << 31, 1 << 33];
    let idx = pack::test_index(&offsets);
    fs::write(t.path().join("i"), idx).unwrap();
    let out = std::process::Command::new("sh")
        .args(["-c", "git init -q && git show-index < i"])
        .current_dir(t.path())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut seen: Vec<u64> = String::from_utf8(out.stdout)
        .unwrap()
        .lines()
        .map(|l| l.split(' ').next().unwrap().parse().unwrap())
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, offsets);
}

/// What a random tree has at a path.
#[derive(Clone, Debug)]
enum Item {
    File(Vec<u8>, bool),
    Symlink(String),
    HardLink(usize),
    EmptyFolder,
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![8 => Just(b'a'), 8 => Just(b'b'), 2 => Just(b'.'), 1 => Just(b'-'),
        1 => Just(b' '), 1 => Just(b'0'), 1 => Just(b'~'), 1 => Just(0xe9u8)];
    let short = prop::collection::vec(byte.clone(), 1..6);
    let long = prop::collection::vec(byte, 120..180);
    prop_oneof![9 => short, 1 => long]
        .prop_filter("no dots alone", |n| n.as_slice() != b"." && n.as_slice() != b"..")
}

fn item() -> impl Strategy<Value = Item> {
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..700),
        Just(b"the same\n".to_vec()),
        Just(vec![0; 20_000]),
    ];
    prop_oneof![
        6 => (content, any::<bool>()).prop_map(|(c, x)| Item::File(c, x)),
        1 => "[a-c/.]{1,200}".prop_map(Item::Symlink),
        1 => any::<usize>().prop_map(Item::HardLink),
        1 => Just(Item::EmptyFolder),
    ]
}

/// Makes the items below `top`, leaving out those whose place is taken.
fn make(top: &Path, items: &[(Vec<Vec<u8>>, Item)]) {
    fs::create_dir_all(top).unwrap();
    fs::write(top.join("Makefile"), MAKEFILE).unwrap();
    let mut files = vec![top.join("Makefile")];
    for (names, item) in items {
        let names: Vec<&std::ffi::OsStr> =
            names.iter().map(|n| std::ffi::OsStr::from_bytes(n)).collect();
        let path = top.join(names.iter().collect::<std::path::PathBuf>());
        let made = path.parent().is_some_and(|d| fs::create_dir_all(d).is_ok());
        if !made || path.symlink_metadata().is_ok() {
            continue;
        }
        match item {
            Item::File(content, executable) => {
                fs::write(&path, content).unwrap();
                let bits = if *executable { 0o755 } else { 0o644 };
                let mode = std::os::unix::fs::PermissionsExt::from_mode(bits);
                fs::set_permissions(&path, mode).unwrap();
                files.push(path);
            }
            Item::Symlink(to) => std::os::unix::fs::symlink(to, &path).unwrap(),
            Item::HardLink(n) => fs::hard_link(&files[n % files.len()], &path).unwrap(),
            Item::EmptyFolder => fs::create_dir(&path).unwrap(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_is_what_git_makes_of_it(
        items in prop::collection::vec((prop::collection::vec(name(), 1..4), item()), 0..24),
        flags in prop::sample::select(vec!["", "-S --format=gnu", "--format=pax", "--sort=name"]),
    ) {
        let p = Place::new();
        let store = p.store();
        make(&p.path("top"), &items);
        sh(p.dir.path(), &format!("tar c {flags} -f a.tar top; git init -q g; cp -a top/. g/"));
        git(&p.path("g"), &["-c", "core.protectNTFS=false", "add", "-f", "."]);
        let want = git(&p.path("g"), &["-c", "core.protectNTFS=false", "write-tree"]);
        let bytes = fs::read(p.path("a.tar")).unwrap();
        let done = import_bytes(&p, &store, &bytes).unwrap();
        let listing = |dir: &Path, tree: &str| git(dir, &["ls-tree", "-r", tree]);
        if done.tree.to_string() != want {
            let ours = listing(store.path(), &done.tree.to_string());
            prop_assert_eq!(ours, listing(&p.path("g"), &want));
        }
        git(store.path(), &["-c", "core.protectNTFS=false", "fsck", "--full", "--no-dangling"]);
        let pack = format!("objects/pack/{}.idx", done.pack);
        git(store.path(), &["verify-pack", &pack]);
    }

    #[test]
    fn no_bytes_make_it_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        packed in any::<bool>(),
    ) {
        let p = Place::new();
        let store = p.store();
        let tar = archive(&[makefile(), file("l/a", "x"), member("l/h", b'1', 0o644, "l/a", b"")]);
        let mut bytes = if packed { deb(&[("./usr/src/l.tar", &tar)]) } else { tar };
        for (at, byte) in &flips {
            let i = at.index(bytes.len());
            bytes[i] = *byte;
        }
        bytes.truncate(cut.index(bytes.len() * 2).max(1));
        if import_bytes(&p, &store, &bytes).is_err() {
            prop_assert_eq!(packs(&store), 0);
        }
    }
}
