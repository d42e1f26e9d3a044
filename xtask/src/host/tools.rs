//! Host tools: what each is for, which version is there, and the package that
//! brings it.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::host::process::Cmd;

/// One tool that some command needs.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The program's name on PATH, or a header's path below /usr/include.
    pub name: &'static str,
    /// What it is needed for.
    pub needed_for: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// Whether quickstart cannot do without.
    pub required: bool,
}

/// Every tool that any command may call.
pub const TOOLS: &[Tool] = &[
    tool("git", "proofs, send", "git", true),
    tool("gcc", "kernels, selftests", "gcc", true),
    tool("make", "kernels", "make", true),
    tool("flex", "kernels", "flex", true),
    tool("bison", "kernels", "bison", true),
    tool("bc", "kernels", "bc", true),
    tool("perl", "kernels, checkpatch", "perl", true),
    tool("gelf.h", "kernels (objtool)", "libelf-dev", true),
    tool("openssl/ssl.h", "kernels (certificates)", "libssl-dev", true),
    tool("xz", "archives by hand", "xz-utils", false),
    tool("apt-get", "distribution kernel source", "apt", false),
    tool("dpkg-deb", "distribution kernel source", "dpkg", false),
    tool("curl", "bases by URL", "curl", false),
    tool("ccache", "faster builds", "ccache", true),
    tool("qemu-system-x86_64", "guests, x86_64", "qemu-system-x86", true),
    tool("qemu-system-aarch64", "guests, arm64", "qemu-system-arm", false),
    tool("aarch64-linux-gnu-gcc", "kernels, arm64", "gcc-aarch64-linux-gnu", false),
    tool("busybox", "guests", "busybox-static", true),
    tool("vng", "guests, virtme-ng", "virtme-ng", false),
    tool("sparse", "check", "sparse", false),
    tool("spatch", "Coccinelle edits", "coccinelle", false),
    tool("b4", "mail proofs", "b4", false),
];

const fn tool(
    name: &'static str,
    needed_for: &'static str,
    package: &'static str,
    required: bool,
) -> Tool {
    Tool { name, needed_for, package, required }
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
    /// Whether quickstart cannot do without.
    pub required: bool,
    /// Where it is.
    pub path: Option<PathBuf>,
    /// The first line of its `--version`.
    pub version: Option<String>,
}

/// Looks for every tool.
#[must_use]
pub fn survey() -> Vec<Found> {
    TOOLS.iter().map(find).collect()
}

fn find(t: &Tool) -> Found {
    let header = t.name.ends_with(".h");
    let path = if header {
        Some(PathBuf::from("/usr/include").join(t.name)).filter(|p| p.exists()).or_else(|| {
            // Multi-arch headers live one folder down.
            std::fs::read_dir("/usr/include")
                .ok()?
                .flatten()
                .map(|d| d.path().join(t.name))
                .find(|p| p.exists())
        })
    } else {
        which::which(t.name).ok()
    };
    let version = path.as_ref().filter(|_| !header).and_then(|p| {
        let out = Cmd::new(p).arg("--version").timeout(std::time::Duration::from_secs(10));
        let out = out.output().ok()?;
        String::from_utf8_lossy(&out.stdout).lines().next().map(str::to_owned)
    });
    Found {
        name: t.name,
        needed_for: t.needed_for,
        package: t.package,
        required: t.required,
        path,
        version,
    }
}

/// The command that installs the packages of `missing`, on a host that has apt.
#[must_use]
pub fn install_command(missing: &[&Found]) -> Option<String> {
    let mut packages: Vec<&str> = missing.iter().map(|t| t.package).collect();
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() {
        return None;
    }
    Some(format!("apt-get install --no-install-recommends {}", packages.join(" ")))
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
