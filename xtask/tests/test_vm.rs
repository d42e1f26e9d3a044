//! `test-vm` as its user runs it, with a stand-in for QEMU: what becomes of a
//! guest whose tool is ended.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, missing_docs)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Host {
    dir: tempfile::TempDir,
}

impl Host {
    /// An empty project, an image with the header of a bzImage, and an emulator
    /// that only waits.
    fn new() -> Host {
        let host = Host { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(host.path("project/series")).unwrap();
        let mut image = vec![0; 4096];
        image[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x206..0x208].copy_from_slice(&[0x0f, 0x02]);
        fs::write(host.path("bzImage"), image).unwrap();
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *-version*) echo 'QEMU emulator version 10.0.2'; exit;; esac\n\
             echo $$ >'{}'\nexec sleep 50\n",
            host.path("pid.new").display()
        );
        fs::create_dir(host.path("bin")).unwrap();
        let emulator = host.path("bin/qemu-system-x86_64");
        fs::write(&emulator, script).unwrap();
        fs::set_permissions(&emulator, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(host.path("test.sh"), "#!/bin/sh\ntrue\n").unwrap();
        host
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn start(&self) -> Child {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["test-vm", "--kernel", "../bzImage", "--arch", "x86_64", "--accel", "tcg"])
            .args(["--program", "../test.sh"])
            .current_dir(self.path("project"))
            .env("PATH", path)
            .env("HOME", self.dir.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env_remove("KSERIES_PROJECT")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// The emulator's process, once it runs.
    fn emulator(&self, tool: &mut Child) -> PathBuf {
        loop {
            if let Ok(pid) = fs::read_to_string(self.path("pid.new"))
                && pid.ends_with('\n')
            {
                return PathBuf::from("/proc").join(pid.trim());
            }
            assert!(tool.try_wait().unwrap().is_none(), "the tool ended before the guest began");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn products(&self) -> Vec<PathBuf> {
        let files = walkdir::WalkDir::new(self.path("project/out")).into_iter().flatten();
        files.filter(|e| e.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
    }
}

fn ends(process: &std::path::Path) -> bool {
    let end = Instant::now() + Duration::from_secs(10);
    while process.exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    !process.exists()
}

fn has_static_compiler() -> bool {
    Command::new("cc").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success())
}

#[test]
fn an_interrupted_guest_leaves_no_emulator_and_no_result() {
    if !has_static_compiler() {
        eprintln!("skipped: no C compiler");
        return;
    }
    let host = Host::new();
    let mut tool = host.start();
    let emulator = host.emulator(&mut tool);
    let us = nix::unistd::Pid::from_raw(i32::try_from(tool.id()).unwrap());
    nix::sys::signal::kill(us, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(tool.wait().unwrap().code(), Some(130));
    assert!(ends(&emulator), "the emulator outlived us");
    assert_eq!(host.products(), [""; 0].map(PathBuf::from));
}

#[test]
fn a_killed_tool_takes_its_emulator_with_it_and_leaves_no_result() {
    if !has_static_compiler() {
        return;
    }
    let host = Host::new();
    let mut tool = host.start();
    let emulator = host.emulator(&mut tool);
    // It cannot clean up after this one.
    tool.kill().unwrap();
    tool.wait().unwrap();
    assert!(ends(&emulator), "the emulator outlived us");
    assert!(host.products().iter().all(|p| p.to_string_lossy().contains("/.writing-")));
    // The next run sweeps what was begun.
    fs::remove_file(host.path("pid.new")).unwrap();
    let mut tool = host.start();
    host.emulator(&mut tool);
    let us = nix::unistd::Pid::from_raw(i32::try_from(tool.id()).unwrap());
    nix::sys::signal::kill(us, nix::sys::signal::Signal::SIGINT).unwrap();
    tool.wait().unwrap();
    assert_eq!(host.products(), [""; 0].map(PathBuf::from));
}

#[test]
fn waits_that_are_no_times_are_refused() {
    for option in ["--timeout", "--silence"] {
        let mut c = assert_cmd::Command::cargo_bin("xtask").unwrap();
        c.args(["test-vm", "--kernel", "none", option, "18446744073709551615"]);
        let out = c.output().unwrap();
        assert_eq!(out.status.code(), Some(2));
        let talk = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(talk.contains("more than a week") && talk.contains("mend:"), "{talk}");
    }
}
