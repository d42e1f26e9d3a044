//! Host tools: what each is for, which version is there, and the package that
//! brings it.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::host::process::Cmd;

/// What a set of tools is for; `quickstart` and `ci` each need some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// `quickstart` cannot do without.
    Core,
    /// `ci` needs it besides.
    Ci,
    /// Some command is better with it.
    Optional,
}

/// One tool that some command needs.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The program's name on PATH, a header's path below /usr/include, the
    /// absolute path of a file, `python3: MODULE`, or `git: COMMAND`.
    pub name: &'static str,
    /// What it is needed for.
    pub needed_for: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// Who cannot do without.
    pub need: Need,
}

/// Every tool that any command may call.
pub const TOOLS: &[Tool] = &[
    tool("git", "proofs, clones, send", "git", Need::Core),
    tool("apt-get", "distribution kernel source", "apt", Need::Core),
    tool("dpkg-deb", "distribution kernel source", "dpkg", Need::Core),
    tool("gcc", "kernels, selftests", "gcc", Need::Core),
    tool("make", "kernels", "make", Need::Core),
    tool("flex", "kernels", "flex", Need::Core),
    tool("bison", "kernels", "bison", Need::Core),
    tool("bc", "kernels", "bc", Need::Core),
    tool("perl", "kernels, checkpatch", "perl", Need::Core),
    tool("python3", "kernels, virtme-ng, b4", "python3", Need::Core),
    tool("rsync", "kernel headers", "rsync", Need::Core),
    tool("cpio", "kernel headers", "cpio", Need::Core),
    tool("lz4", "kernels (compression)", "lz4", Need::Core),
    tool("kmod", "kernel modules", "kmod", Need::Core),
    tool("gelf.h", "kernels (objtool)", "libelf-dev", Need::Core),
    tool("openssl/ssl.h", "kernels (certificates)", "libssl-dev", Need::Core),
    tool("ccache", "faster builds", "ccache", Need::Core),
    tool("qemu-system-x86_64", "guests, x86_64", "qemu-system-x86", Need::Core),
    tool("busybox", "guests", "busybox-static", Need::Core),
    tool("qemu-system-aarch64", "guests, arm64", "qemu-system-arm", Need::Ci),
    tool("aarch64-linux-gnu-gcc", "kernels, arm64", "gcc-aarch64-linux-gnu", Need::Ci),
    tool(
        "/usr/aarch64-linux-gnu/lib/libc.a",
        "selftests, arm64",
        "libc6-dev-arm64-cross",
        Need::Ci,
    ),
    tool("python3: ensurepip", "virtme-ng, b4", "python3-venv", Need::Ci),
    tool("sparse", "check", "sparse", Need::Ci),
    tool("curl", "bases by URL", "curl", Need::Ci),
    tool("xz", "tests of archives", "xz-utils", Need::Ci),
    tool("bzip2", "tests of archives", "bzip2", Need::Ci),
    tool("zstd", "tests of archives", "zstd", Need::Ci),
    tool("git: send-email", "send", "git-email", Need::Ci),
    // git-email only recommends it, and does not work without.
    tool("/usr/share/perl5/Mail/Address.pm", "send", "libmailtools-perl", Need::Ci),
    tool("vng", "guests, virtme-ng", "virtme-ng", Need::Optional),
    tool("spatch", "Coccinelle edits", "coccinelle", Need::Optional),
    tool("b4", "mail proofs", "b4", Need::Optional),
];

const fn tool(
    name: &'static str,
    needed_for: &'static str,
    package: &'static str,
    need: Need,
) -> Tool {
    Tool { name, needed_for, package, need }
}

/// A tool and what was found of it.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Its name.
    pub name: &'static str,
    /// What it is needed for.
    pub needed_for: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// Who cannot do without.
    pub need: Need,
    /// Where it is.
    pub path: Option<PathBuf>,
    /// The first line of its `--version`; only asked by [`with_versions`].
    pub version: Option<String>,
}

/// Looks for every tool that `wanted` picks.
#[must_use]
pub fn survey(wanted: impl Fn(&Found) -> bool) -> Vec<Found> {
    TOOLS.iter().map(find).filter(wanted).collect()
}

fn find(t: &Tool) -> Found {
    let path = if let Some(module) = t.name.strip_prefix("python3: ") {
        python_module(module)
    } else if let Some(command) = t.name.strip_prefix("git: ") {
        git_command(command)
    } else if t.name.starts_with('/') {
        Some(PathBuf::from(t.name)).filter(|p| p.exists())
    } else if t.name.ends_with(".h") {
        header(t.name)
    } else {
        which::which(t.name).ok()
    };
    Found {
        name: t.name,
        needed_for: t.needed_for,
        package: t.package,
        need: t.need,
        path,
        version: None,
    }
}

fn header(name: &str) -> Option<PathBuf> {
    let include = PathBuf::from("/usr/include");
    Some(include.join(name)).filter(|p| p.exists()).or_else(|| {
        // Multi-arch headers live one folder down.
        std::fs::read_dir(include).ok()?.flatten().map(|d| d.path().join(name)).find(|p| p.exists())
    })
}

/// Distributions split Python's own modules off: ask the Python that would be used.
fn python_module(module: &str) -> Option<PathBuf> {
    let script = format!("import {module}; print({module}.__path__[0])");
    let out = Cmd::new("python3").args(["-c", &script]).timeout(Duration::from_secs(10)).output();
    out.ok().filter(|o| o.ok()).map(|o| PathBuf::from(o.text()))
}

/// Distributions package some of git's commands apart.
#[must_use]
pub fn git_command(command: &str) -> Option<PathBuf> {
    let out = Cmd::new("git").arg("--exec-path").timeout(Duration::from_secs(10)).output();
    let folder = out.ok().filter(|o| o.ok()).map(|o| PathBuf::from(o.text()))?;
    Some(folder.join(format!("git-{command}"))).filter(|p| p.exists())
}

/// Asks each found program for its version.
#[must_use]
pub fn with_versions(mut found: Vec<Found>) -> Vec<Found> {
    for t in &mut found {
        let is_program = !t.name.ends_with(".h") && !t.name.contains(['/', ' ']);
        t.version = t.path.as_ref().filter(|_| is_program).and_then(|p| {
            let out = Cmd::new(p).arg("--version").timeout(Duration::from_secs(10)).output();
            let out = out.ok()?;
            String::from_utf8_lossy(&out.stdout).lines().next().map(str::to_owned)
        });
    }
    found
}

/// The packages that have these tools, each once.
#[must_use]
pub fn packages(missing: &[&Found]) -> Vec<&'static str> {
    let mut packages: Vec<&str> = missing.iter().map(|t| t.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

/// The path of a tool, or the failure that names its package.
///
/// # Errors
/// When it is not on PATH.
pub fn need(name: &str) -> Result<PathBuf> {
    which::which(name).map_err(|_| {
        let error = Error::host(format!("{name} is needed for this")).found("it is not on PATH");
        match TOOLS.iter().find(|t| t.name == name) {
            Some(t) => error.hint(format!("apt-get install {}", t.package)),
            None => error.hint("install it, or set PATH"),
        }
    })
}

/// Whether the git on PATH has at least this version.
///
/// # Errors
/// When it cannot be run.
pub fn git_is_at_least(major: u32, minor: u32) -> Result<bool> {
    let said = Cmd::new("git").arg("--version").timeout(Duration::from_secs(10)).run()?.text();
    Ok(git_version(&said) >= (major, minor))
}

/// Of `git version 2.47.3`; nothing for words that are none.
fn git_version(said: &str) -> (u32, u32) {
    let number = said.split_whitespace().nth(2).unwrap_or_default();
    let mut parts = number.split('.').map(|p| p.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found_and_what_is_not_names_its_package() {
        let all = survey(|_| true);
        assert_eq!(all.len(), TOOLS.len());
        let sh = Tool { name: "sh", needed_for: "", package: "dash", need: Need::Core };
        assert!(find(&sh).path.is_some());
        let none = Tool { name: "no-such-tool", needed_for: "", package: "p", need: Need::Core };
        let none = find(&none);
        assert_eq!(packages(&[&none, &none]), ["p"]);
        assert!(none.path.is_none());
        let e = need("no-such-tool").unwrap_err();
        assert_eq!(e.kind().exit_code(), 3);
    }

    #[test]
    fn versions_of_git() {
        for (said, least, good) in [
            ("git version 2.39.5", (2, 44), false),
            ("git version 2.43.7", (2, 44), false),
            ("git version 2.47.3", (2, 44), true),
            ("git version 2.44.0.windows.1", (2, 44), true),
            ("git version 3.0", (2, 44), true),
            ("", (2, 44), false),
        ] {
            assert_eq!(git_version(said) >= least, good, "{said}");
        }
    }
}
