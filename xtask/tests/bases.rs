//! `cargo xtask bases` as its user runs it: results, exit codes, and what is left
//! after a kill, a full disk, a read-only cache.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::print_stderr)]

#[path = "host/mounted.rs"]
mod mounted;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use mounted::Mounted;

const MAKEFILE: &str = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nEXTRAVERSION =\n";

struct Host {
    dir: tempfile::TempDir,
}

impl Host {
    fn new() -> Host {
        Host { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn store(&self) -> PathBuf {
        self.path("cache/kseries/store.git")
    }

    fn xtask(&self, args: &[&str]) -> Command {
        let mut c = Command::new(env!("CARGO_BIN_EXE_xtask"));
        c.arg("bases").args(args).current_dir(self.dir.path());
        c.env("HOME", self.dir.path()).env("XDG_CONFIG_HOME", self.path("config"));
        c.env("XDG_CACHE_HOME", self.path("cache")).env_remove("KSERIES_PROJECT");
        c.env("GIT_CONFIG_SYSTEM", "/dev/null").env("GIT_CONFIG_GLOBAL", "/dev/null");
        c
    }

    /// Runs it and checks the exit code; gives stdout and stderr.
    fn run(&self, args: &[&str], code: i32) -> (String, String) {
        checked(&mut self.xtask(args), code)
    }

    /// A kernel tree in `l/`, packed as `l.tar`, with `filler` bytes that do not
    /// compress in files of 64 KiB.
    fn tarball(&self, filler: usize) -> PathBuf {
        let top = self.path("l");
        fs::create_dir_all(&top).unwrap();
        fs::write(top.join("Makefile"), MAKEFILE).unwrap();
        let mut x = 0x2545_f491_4f6c_dd1d_u64;
        for i in 0..filler >> 16 {
            let bytes: Vec<u8> = (0..1 << 13)
                .flat_map(|_| {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    x.to_le_bytes()
                })
                .collect();
            fs::write(top.join(format!("f{i}")), bytes).unwrap();
        }
        sh(self.dir.path(), "tar cf l.tar l");
        self.path("l.tar")
    }
}

fn checked(command: &mut Command, code: i32) -> (String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert_eq!(status.code(), Some(code), "{command:?}\n{out}{err}");
    (out, err)
}

fn sh(dir: &Path, script: &str) -> String {
    let out = Command::new("sh").arg("-ec").arg(script).current_dir(dir).output().unwrap();
    assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .map(|d| d.map(|e| e.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.sort();
    names
}

#[test]
fn import_show_list_worktree_forget() {
    let h = Host::new();
    h.tarball(1 << 17);
    let (out, _) = h.run(&["import", "./l.tar"], 0);
    assert!(out.starts_with("l: Linux 6.12.3\n"), "{out}");
    assert_eq!(h.run(&["show", "l.tar"], 0).0, out);
    let (json, _) = checked(h.xtask(&["show", "l.tar"]).args(["--format", "json"]), 0);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let tree = json[0]["tree"].as_str().unwrap().to_owned();
    assert_eq!(sh(&h.path("l"), "git init -q; git add -f .; git write-tree").trim_end(), tree);
    let (list, _) = h.run(&[], 0);
    assert!(list.contains("6.12               not here") && list.contains("l.tar"), "{list}");
    let (source, _) = h.run(&["worktree", "l.tar"], 0);
    sh(h.dir.path(), &format!("diff -r -x .git l {source}"));
    h.run(&["forget", "l.tar"], 0);
    assert_eq!(names(&h.store().join("objects/pack")), [""; 0]);
    assert!(h.run(&["forget", "l.tar"], 2).1.contains("not in the store"));
}

#[test]
fn bad_usage_says_what_is_there() {
    let h = Host::new();
    let (_, err) = h.run(&["show", "net-nxt"], 2);
    assert!(err.contains("nearest: net-next") && err.contains("known: 5.10, 6.1, 6.12"), "{err}");
    fs::create_dir_all(h.path("config/kseries")).unwrap();
    fs::write(h.path("config/kseries/bases.toml"), "[base.x]\ngti = \"u\"\n").unwrap();
    let (_, err) = h.run(&["list"], 2);
    assert!(err.contains("config/kseries/bases.toml") && err.contains("unknown field `gti`"));
}

#[test]
fn a_killed_import_leaves_nothing() {
    let h = Host::new();
    h.tarball(64 << 20);
    let part = h.store().join("incoming/pack");
    let mut child = h.xtask(&["import", "l.tar"]).stderr(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !part.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "it ended before it was killed");
    assert!(part.exists());
    assert_eq!(names(&h.store().join("objects/pack")), [""; 0]);
    // The next start of anything that opens the store sweeps.
    let (list, _) = h.run(&["list"], 0);
    assert!(!list.contains("l.tar"), "{list}");
    assert_eq!(names(&h.store().join("incoming")), [""; 0]);
    h.run(&["import", "l.tar"], 0);
    sh(&h.store(), "git fsck --full --strict");
}

#[test]
fn two_imports_at_once_make_one() {
    let h = Host::new();
    h.tarball(8 << 20);
    let start = || {
        h.xtask(&["import", "l.tar"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut both = [start(), start()];
    for child in &mut both {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(names(&h.store().join("objects/pack")).len(), 2, "one pack and its index");
}

#[test]
fn an_import_killed_while_its_pack_joins_is_undone() {
    let h = Host::new();
    h.tarball(1 << 17);
    h.run(&["import", "l.tar"], 0);
    let pack = names(&h.store().join("objects/pack")).pop().unwrap();
    // As it is when the kill comes between the pack and the record.
    fs::remove_dir_all(h.store().join("bases")).unwrap();
    fs::create_dir(h.store().join("incoming")).unwrap();
    fs::write(h.store().join("incoming/joining"), pack.trim_end_matches(".pack")).unwrap();
    fs::write(h.store().join("objects/pack/tmp_pack_x"), "").unwrap();
    h.run(&["list"], 0);
    assert_eq!(names(&h.store().join("objects/pack")), [""; 0]);
}

#[test]
fn ctrl_c_ends_an_import_cleanly() {
    let h = Host::new();
    h.tarball(64 << 20);
    let part = h.store().join("incoming/pack");
    let mut child = h.xtask(&["import", "l.tar"]).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !part.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    sh(h.dir.path(), &format!("kill -INT {}", child.id()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!h.store().join("incoming").exists());
    assert_eq!(names(&h.store().join("objects/pack")), [""; 0]);
}

#[test]
fn a_full_disk_is_said_and_leaves_the_store_as_it_was() {
    let h = Host::new();
    h.tarball(8 << 20);
    let Some(_disk) = Mounted::new(&h.path("cache"), "size=4m") else { return };
    let (_, err) = h.run(&["import", "l.tar"], 3);
    assert!(err.contains("No space left") && err.contains("mend:"), "{err}");
    assert!(!h.store().join("incoming").exists());
    assert_eq!(names(&h.store().join("objects/pack")), [""; 0]);
    // A worktree that does not fit is not begun.
    sh(
        &h.path("l"),
        "git init -q; git add -f .; git -c user.name=a -c user.email=a@b commit -qm m",
    );
    let (_, err) = h.run(&["worktree", "l"], 3);
    assert!(err.contains("it needs 8 MiB") || err.contains("it needs 9 MiB"), "{err}");
    assert_eq!(names(&h.path("cache/kseries/worktrees/l")), ["lock"]);
}

#[test]
fn a_read_only_cache_can_be_read() {
    let h = Host::new();
    h.tarball(1 << 17);
    let Some(_disk) = Mounted::new(&h.path("cache"), "size=16m") else { return };
    let (out, _) = h.run(&["import", "l.tar"], 0);
    sh(h.dir.path(), "mount -o remount,ro cache");
    assert_eq!(h.run(&["show", "l.tar"], 0).0, out);
    sh(h.dir.path(), "cp l.tar m.tar");
    let (_, err) = h.run(&["import", "m.tar"], 3);
    assert!(err.contains("Read-only file system") || err.contains("read-only"), "{err}");
    let fresh = Host::new();
    fresh.tarball(1 << 17);
    let Some(_disk) = Mounted::new(&fresh.path("cache"), "ro") else { return };
    let (_, err) = fresh.run(&["import", "l.tar"], 3);
    assert!(err.contains("cache"), "{err}");
}

#[test]
fn urls_are_fetched_and_kept() {
    let h = Host::new();
    h.tarball(1 << 17);
    let here = h.dir.path().display().to_string();
    // A tarball by URL.
    let url = format!("file://{here}/l.tar");
    let (out, err) = h.run(&["import", &url], 0);
    assert!(out.contains("Linux 6.12.3") && err.contains("download"), "{out}{err}");
    fs::remove_file(h.path("l.tar")).unwrap();
    h.run(&["show", &url], 0);
    h.run(&["import", &format!("file://{here}/none.tar.xz")], 3);
    // A git repository by URL: one commit deep.
    sh(
        &h.path("l"),
        "git init -q -b main; git add -f .; c='git -c user.name=a -c user.email=a@b commit -q'
         $c -m one; echo x > new; git add new; $c -m two; git branch next",
    );
    let head = sh(&h.path("l"), "git rev-parse HEAD");
    for spec in [format!("file://{here}/l/.git"), format!("file://{here}/l/.git#next")] {
        let (out, _) = h.run(&["import", &spec], 0);
        assert!(out.contains(head.trim_end()), "{out}");
    }
    // Moved on there, but what is here is used until told otherwise.
    sh(&h.path("l"), "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m three");
    let spec = format!("file://{here}/l/.git");
    assert!(h.run(&["import", &spec], 0).0.contains(head.trim_end()));
    let now = sh(&h.path("l"), "git rev-parse HEAD");
    assert!(h.run(&["import", "--refresh", &spec], 0).0.contains(now.trim_end()));
    let (_, err) = h.run(&["import", &format!("file://{here}/l/.git#none")], 3);
    assert!(err.contains("cannot fetch none"), "{err}");
    sh(&h.store(), "git fsck --full");
}

/// Puts a program of this name before all others.
fn fake(h: &Host, name: &str, script: &str) {
    let bin = h.path("bin");
    fs::create_dir_all(&bin).unwrap();
    let path = bin.join(name);
    let mut file = fs::File::create(&path).unwrap();
    write!(file, "#!/bin/sh\n{script}").unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o755)).unwrap();
}

/// An apt-get that knows the package only with sources for sid, and gives
/// `$DEB` for it.
const APT: &str = r#"echo "$@" >> "$LOG"
case "$*" in
*indextargets*) echo 'http://mirror/debian/|bookworm|main|$(SIGNED_BY)|' ;;
*update*) grep -q ' sid main' "$(dirname "$2")/sources.list" ;;
*--print-uris*)
	case "$*" in -c*) ;; *) echo 'E: Unable to locate package' >&2; exit 100 ;; esac
	echo "'http://mirror/pool/l_1%3a2_all.deb' l_1%3a2_all.deb $(stat -c %s "$DEB") SHA256:$SUM" ;;
*download*) cp "$DEB" ./l_1%3a2_all.deb ;;
esac
"#;

#[test]
fn debian_packages_come_from_the_suite_that_has_them() {
    let h = Host::new();
    h.tarball(1 << 17);
    sh(
        h.dir.path(),
        "mkdir -p usr/src; xz -c l.tar > usr/src/linux-source-6.12.tar.xz
        tar czf data.tar.gz ./usr; tar czf control.tar.gz -T /dev/null; echo 2.0 > debian-binary
        ar rc l.deb debian-binary control.tar.gz data.tar.gz",
    );
    fake(&h, "apt-get", APT);
    let sum = sh(h.dir.path(), "sha256sum l.deb");
    let run = |args: &[&str], sum: &str, code| {
        let path = format!("{}:{}", h.path("bin").display(), std::env::var("PATH").unwrap());
        let mut c = h.xtask(args);
        c.env("PATH", path).env("LOG", h.path("log")).env("DEB", h.path("l.deb"));
        checked(c.env("SUM", sum.split(' ').next().unwrap()), code)
    };
    let spec = "debian:linux-source-6.12/sid";
    let (_, err) = run(&["import", spec], "0123", 3);
    assert!(err.contains("SHA-256") && err.contains("0123 was expected"), "{err}");
    let (out, _) = run(&["import", spec], &sum, 0);
    assert!(out.starts_with("debian-6.12: Linux 6.12.3"), "{out}");
    let config = fs::read_to_string(h.path("cache/kseries/apt/sid/apt.conf")).unwrap();
    assert!(config.contains("cache/kseries/apt/sid/lists"), "{config}");
    // Once more: what is in the store is used; with --refresh, the download is.
    let calls = || fs::read_to_string(h.path("log")).unwrap().matches(" download").count();
    let before = calls();
    run(&["import", spec], &sum, 0);
    assert_eq!(calls(), before);
    run(&["import", "--refresh", spec], &sum, 0);
    assert_eq!(calls(), before + 1, "it asks for the version and downloads nothing");
    // A download that was damaged on the disk is seen.
    let kept = h.path("cache/kseries/downloads/l_1%3a2_all.deb");
    fs::write(&kept, "damaged").unwrap();
    let (_, err) = run(&["import", "--refresh", spec], &sum, 0);
    assert!(err.contains("downloading it again"), "{err}");
    // Without apt it says so.
    let (_, err) = checked(h.xtask(&["import", "6.1"]).env("PATH", "/nonexistent"), 3);
    assert!(err.contains("apt-get") && err.contains("name a clone or a tarball"), "{err}");
    // A suite that no mirror has.
    let (_, err) = run(&["import", "debian:linux-source-6.12/none"], &sum, 3);
    assert!(err.contains("package list of none"), "{err}");
}
