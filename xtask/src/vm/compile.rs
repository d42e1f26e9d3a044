//! Compiles programs for guests: static, by the target's gcc.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::Arch;
use crate::error::{Error, IoContext as _, Result};
use crate::host::paths::Dirs;
use crate::host::process::Cmd;
use crate::host::{atomic, tools};

/// The agent's sources: it is built for each architecture with the compiler
/// that the tests need anyway.
const AGENT: &[(&str, &str)] = &[
    ("agent.c", include_str!("guest/agent.c")),
    ("modules.c", include_str!("guest/modules.c")),
    ("run.c", include_str!("guest/run.c")),
    ("talk.c", include_str!("guest/talk.c")),
    ("agent.h", include_str!("guest/agent.h")),
];

/// The compiler of `arch`.
///
/// # Errors
/// When it is not there.
pub(super) fn compiler(arch: Arch) -> Result<PathBuf> {
    let (name, packages) = arch.compiler();
    which::which(name).map_err(|_| {
        Error::host(format!("{name} is needed to compile programs for {arch} guests"))
            .found("it is not on PATH")
            .hint(format!("apt-get install {packages}"))
    })
}

/// The agent for `arch`, from the cache or built now.
///
/// # Errors
/// When it cannot be built.
pub(super) fn agent(dirs: &Dirs, arch: Arch) -> Result<PathBuf> {
    let cc = compiler(arch)?;
    let mut hash = Sha256::new();
    hash.update(cc.as_os_str().as_encoded_bytes());
    for (name, text) in AGENT {
        hash.update(name.as_bytes());
        hash.update(text.as_bytes());
    }
    let hash: String = hash.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect();
    let place = dirs.cache().join("vm").join(format!("agent-{arch}-{hash}"));
    if place.metadata().is_ok_and(|m| m.permissions().mode() & 0o100 != 0) {
        return Ok(place);
    }
    let dir = tempfile::tempdir().map_err(|e| {
        Error::host("cannot make a temporary folder").found(e.to_string()).hint("set TMPDIR")
    })?;
    let mut sources = Vec::new();
    for (name, text) in AGENT {
        let path = dir.path().join(name);
        atomic::write(&path, text.as_bytes())?;
        if name.ends_with(".c") {
            sources.push(path);
        }
    }
    let program = dir.path().join("agent");
    compile(arch, &sources, &program, &[]).map_err(|e| e.context("build the guest's agent"))?;
    let bytes = std::fs::read(&program).at("read", &program)?;
    atomic::write(&place, &bytes)?;
    // Where the guest has the host's root, it is run from here.
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755))
        .at("make executable", &place)?;
    Ok(place)
}

/// Compiles `sources` into the static program `out`.
///
/// # Errors
/// When the compiler is missing or refuses; what it said is in the error.
pub(super) fn compile(arch: Arch, sources: &[PathBuf], out: &Path, flags: &[&str]) -> Result<()> {
    let cc = compiler(arch)?;
    // A bare file name has an empty folder, which "-I" would not survive.
    let sources = sources
        .iter()
        .map(|s| std::path::absolute(s).at("find", s))
        .collect::<Result<Vec<PathBuf>>>()?;
    let includes: Vec<String> = sources
        .iter()
        .filter_map(|s| s.parent())
        .map(|dir| format!("-I{}", dir.display()))
        .collect();
    let output = Cmd::new(&cc)
        .args(["-std=gnu11", "-O2", "-g0", "-Wall", "-Wno-unused-result", "-static", "-pthread"])
        .args(includes.iter().collect::<std::collections::BTreeSet<_>>())
        .args(flags)
        .arg("-o")
        .arg(out)
        .args(&sources)
        .env("LC_ALL", "C")
        .timeout(Duration::from_secs(300))
        .output()?;
    if output.ok() {
        return Ok(());
    }
    let names: Vec<String> = sources.iter().map(|s| s.display().to_string()).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    let error = Error::usage(format!("compile {} for {arch} guests", names.join(" ")));
    let error = error.found(said.lines().take(20).collect::<Vec<_>>().join("\n"));
    let (_, packages) = arch.compiler();
    if said.contains("cannot find -lc") || said.contains("stdio.h: No such file") {
        return Err(
            error.hint(format!("the static C library is missing: apt-get install {packages}"))
        );
    }
    Err(error)
}

/// A static busybox for `arch`: the host's where it is of that architecture.
pub(super) fn busybox(dirs: &Dirs, arch: Arch) -> Option<PathBuf> {
    let kept = dirs.cache().join("tools").join(format!("busybox-{arch}"));
    if kept.is_file() {
        return Some(kept);
    }
    if Arch::host() != Some(arch) {
        return None;
    }
    let found = tools::need("busybox").ok()?;
    super::elf::is_static(&found).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_is_named_without_a_folder() {
        let Some(arch) = Arch::host() else { return };
        let name = format!("kseries-test-{}.c", std::process::id());
        std::fs::write(&name, "int main(void) { return 0; }\n").unwrap();
        let t = tempfile::tempdir().unwrap();
        let out = t.path().join("out");
        let done = compile(arch, &[PathBuf::from(&name)], &out, &[]);
        std::fs::remove_file(&name).unwrap();
        done.unwrap();
        assert!(super::super::elf::is_static(&out));
    }

    #[test]
    fn what_the_compiler_said_is_shown() {
        let Some(arch) = Arch::host() else { return };
        let t = tempfile::tempdir().unwrap();
        let source = t.path().join("bad.c");
        std::fs::write(&source, "int main(void) { return nothing; }\n").unwrap();
        let e = compile(arch, &[source], &t.path().join("out"), &[]).unwrap_err();
        assert!(e.to_string().contains("nothing"), "{e}");
    }
}
