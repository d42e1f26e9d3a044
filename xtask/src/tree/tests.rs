//! Bases as a user names them, from the spec to the store.

use crate::error::Kind;
use crate::tree::testing::{MAKEFILE, Place, git, sh};
use crate::tree::{TreeView, lookup, resolve};

#[test]
fn a_clone_is_read_and_not_written() {
    let p = Place::new();
    let clone = p.clone("linux", &[("Makefile", MAKEFILE), ("net/core/dev.c", "int x;\n")]);
    let head = git(&clone, &["rev-parse", "HEAD"]);
    git(&clone, &["tag", "v6.12"]);
    let before = git(&clone, &["count-objects", "-v"]);
    let store = p.store();
    for spec in ["", "@v6.12", "@main", "@HEAD^{commit}"] {
        let spec = format!("{}{spec}", clone.display());
        let base = resolve(&p.ui, &p.dirs, &store, &spec).unwrap();
        assert_eq!(base.commit.to_string(), head);
        assert_eq!(base.version.to_string(), "6.12.3");
        let view = TreeView::new(&store, base.tree);
        assert_eq!(view.read("net/core/dev.c").unwrap().unwrap().bytes, b"int x;\n");
        assert_eq!(view.read("net/core").unwrap(), None);
        assert_eq!(view.list("net").unwrap().unwrap()[0].name, "core");
    }
    assert_eq!(git(&clone, &["count-objects", "-v"]), before);
    // A store opened later sees the clone as well, and so does git.
    assert!(p.store().has(git2::Oid::from_str(&head).unwrap()).unwrap());
    git(store.path(), &["cat-file", "-e", &head]);
}

#[test]
fn bad_bases_say_why() {
    let p = Place::new();
    let store = p.store();
    let clone = p.clone("linux", &[("Makefile", MAKEFILE)]);
    git(&clone, &["tag", "v6.12"]);
    let plain = p.tree("plain", &[("Makefile", MAKEFILE)]);
    let other = p.clone("other", &[("README", "no kernel")]);
    std::fs::write(p.path("text.tar"), "this is no archive").unwrap();
    for (spec, says) in [
        (format!("{}@v6.21", clone.display()), "nearest: v6.12"),
        (format!("{}@HEAD:Makefile", clone.display()), "names no commit"),
        (format!("{}", plain.display()), "no git clone"),
        (format!("{}", other.display()), "no kernel tree"),
        (format!("{}/none", p.dir.path().display()), "no file or folder"),
        (format!("{}/text.tar", p.dir.path().display()), "no archive"),
        ("6.21".to_owned(), "known: "),
    ] {
        let e = resolve(&p.ui, &p.dirs, &store, &spec).unwrap_err();
        assert_eq!(e.kind(), Kind::Usage, "{spec}");
        assert!(e.to_string().contains(says), "{spec}: {e}");
    }
}

#[test]
fn an_archive_is_imported_once() {
    let p = Place::new();
    let store = p.store();
    p.tree("linux-6.12.3", &[("Makefile", MAKEFILE), (".gitignore", "/*\n"), ("a/b.c", "x\n")]);
    sh(
        p.dir.path(),
        "chmod +x linux-6.12.3/a/b.c; ln -s b.c linux-6.12.3/a/l; tar cJf l.tar.xz linux-6.12.3",
    );
    let spec = p.path("l.tar.xz").to_str().unwrap().to_owned();
    assert_eq!(lookup(&p.ui, &p.dirs, &store, &spec).unwrap(), None);
    let base = resolve(&p.ui, &p.dirs, &store, &spec).unwrap();
    assert_eq!((base.name.as_str(), base.version.to_string().as_str()), ("l", "6.12.3"));
    assert_eq!(lookup(&p.ui, &p.dirs, &store, &spec).unwrap(), Some(base.clone()));
    let top = p.path("linux-6.12.3");
    git(&top, &["init", "-q"]);
    git(&top, &["add", "-f", "."]);
    assert_eq!(git(&top, &["write-tree"]), base.tree.to_string());
    // Another name and another compression give the same commit.
    sh(
        p.dir.path(),
        "xz -dc l.tar.xz | gzip > m.tgz; xz -dc l.tar.xz | bzip2 > n; xz -dc l.tar.xz > o.tar; xz -dc l.tar.xz | zstd -q > p.tar.zst",
    );
    for name in ["m.tgz", "n", "o.tar", "p.tar.zst"] {
        let spec = p.path(name).to_str().unwrap().to_owned();
        assert_eq!(resolve(&p.ui, &p.dirs, &store, &spec).unwrap().commit, base.commit, "{name}");
    }
    let fsck = git(store.path(), &["fsck", "--full", "--strict"]);
    assert!(!fsck.contains("error") && !fsck.contains("missing"), "{fsck}");
    assert!(!store.incoming().exists());
    // An archive that has changed is another base.
    sh(
        p.dir.path(),
        "echo y > linux-6.12.3/a/b.c; rm -r linux-6.12.3/.git; tar cJf l.tar.xz linux-6.12.3",
    );
    assert_eq!(lookup(&p.ui, &p.dirs, &store, &spec).unwrap(), None);
    assert_ne!(resolve(&p.ui, &p.dirs, &store, &spec).unwrap().tree, base.tree);
}
