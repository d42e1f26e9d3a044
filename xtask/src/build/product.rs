//! The products of a build, put together in one folder that appears whole: image,
//! vmlinux, config, modules, log, diagnostics, metadata, and a script that does it again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::build::ccache::Numbers;
use crate::build::diagnostics::{Diagnostic, Severity};
use crate::build::inputs::{Inputs, hex};
use crate::build::make::Make;
use crate::build::plan::{Plan, Start};
use crate::error::{Error, IoContext as _, Result};
use crate::host::{atomic, regular};

/// `metadata.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Metadata {
    /// The hash over [`Metadata::inputs`].
    pub inputs_hash: String,
    /// The kernel's label: base, and series if there is one.
    pub label: String,
    /// Architecture, by its name in `targets.toml`.
    pub arch: String,
    /// The toolchain, `gcc-12`.
    pub toolchain: String,
    /// `uname -r`.
    pub release: String,
    /// The name of the image among the artifacts.
    pub image: Option<String>,
    /// Files of the product.
    pub artifacts: BTreeMap<String, Artifact>,
    /// Modules, relative to the product.
    pub modules: Vec<String>,
    /// How many warnings it has in all.
    pub warnings: usize,
    /// Why anything was made anew.
    pub rebuilt_because: Vec<String>,
    /// Targets that make worked on, by tool.
    pub steps: BTreeMap<String, usize>,
    /// Seconds by phase.
    pub seconds: BTreeMap<String, f64>,
    /// What ccache did.
    pub ccache: Option<Numbers>,
    /// A command that gives the same product.
    pub reproducer: String,
    /// The object directory.
    pub objdir: PathBuf,
    /// All inputs.
    pub inputs: Inputs,
}

/// One file of a product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256, in hexadecimal.
    pub sha256: String,
}

/// What goes into a product besides the files that make has made.
#[derive(Debug)]
pub struct Contents<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// How make was called.
    pub make: &'a Make,
    /// The requested configuration.
    pub requested: &'a str,
    /// The log.
    pub log: &'a Path,
    /// All diagnostics.
    pub diagnostics: &'a [Diagnostic],
    /// The metadata; artifacts, image, release and modules are filled in here.
    pub metadata: Metadata,
}

/// Puts the folder together and in its place.
///
/// # Errors
/// When a file that make should have made is not there, or cannot be copied.
pub fn collect(contents: Contents<'_>) -> Result<Metadata> {
    let Contents { plan, make, requested, log, diagnostics, mut metadata } = contents;
    let staging = atomic::Dir::begin(&plan.output)?;
    let to = staging.path();
    metadata.release = release(make);
    copy(&make.objdir.join(".config"), &to.join("config"))?;
    copy(log, &to.join("build.log"))?;
    if plan.whole {
        let image = make.objdir.join(&plan.arch.image_path);
        let name = image.file_name().map(|n| n.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| plan.arch.image.clone());
        copy(&image, &to.join(&name))?;
        copy(&make.objdir.join("vmlinux"), &to.join("vmlinux"))?;
        copy(&make.objdir.join("System.map"), &to.join("System.map"))?;
        metadata.image = Some(name);
        metadata.modules = modules(make, &metadata.release, to)?;
    }
    write(&to.join("requested.config"), requested.as_bytes())?;
    write(&to.join("diagnostics.json"), &json(&diagnostics)?)?;
    let script = to.join("reproducer.sh");
    write(&script, reproducer(plan, make, &metadata).as_bytes())?;
    executable(&script)?;
    metadata.warnings = diagnostics.iter().filter(|d| d.severity == Severity::Warning).count();
    metadata.artifacts = artifacts(to)?;
    write(&to.join("metadata.json"), &json(&metadata)?)?;
    staging.commit()?;
    Ok(metadata)
}

/// Reads the metadata of a product that is there and whole; nothing otherwise.
#[must_use]
pub fn read(dir: &Path) -> Option<Metadata> {
    let file = regular::open(&dir.join("metadata.json"))?;
    let metadata: Metadata = serde_json::from_reader(std::io::BufReader::new(file)).ok()?;
    let whole = metadata
        .artifacts
        .iter()
        .all(|(name, a)| dir.join(name).metadata().is_ok_and(|m| m.len() == a.bytes));
    whole.then_some(metadata)
}

/// Reads the diagnostics of a product.
#[must_use]
pub fn read_diagnostics(dir: &Path) -> Vec<Diagnostic> {
    regular::open(&dir.join("diagnostics.json"))
        .and_then(|file| serde_json::from_reader(std::io::BufReader::new(file)).ok())
        .unwrap_or_default()
}

fn release(make: &Make) -> String {
    std::fs::read_to_string(make.objdir.join("include/config/kernel.release"))
        .map(|r| r.trim().to_owned())
        .unwrap_or_default()
}

/// Copies the modules to where modprobe looks for them, and lets depmod, when it is
/// there, write its tables.
fn modules(make: &Make, release: &str, to: &Path) -> Result<Vec<String>> {
    let order = make.objdir.join("modules.order");
    let text = match std::fs::read_to_string(&order) {
        Ok(text) => text,
        // A kernel without modules has none.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e).at("read", &order),
    };
    let folder = Path::new("modules/lib/modules").join(release);
    let mut names = Vec::new();
    let mut listed = String::new();
    for line in text.lines().filter(|l| !l.is_empty()) {
        // Kernels before 5.14 have `kernel/…`, those from 6.2 on `.o`.
        let path = line.strip_prefix("kernel/").unwrap_or(line);
        let path = path.strip_suffix(".o").map_or_else(|| path.to_owned(), |p| format!("{p}.ko"));
        crate::host::paths::stay_below(&path, "module")?;
        let place = folder.join("kernel").join(&path);
        copy(&make.objdir.join(&path), &to.join(&place))?;
        let _ = writeln!(listed, "kernel/{path}");
        names.push(place.display().to_string());
    }
    if names.is_empty() {
        return Ok(names);
    }
    write(&to.join(&folder).join("modules.order"), listed.as_bytes())?;
    for table in ["modules.builtin", "modules.builtin.modinfo"] {
        let from = make.objdir.join(table);
        if from.exists() {
            copy(&from, &to.join(&folder).join(table))?;
        }
    }
    depmod(to, release)?;
    Ok(names)
}

fn depmod(to: &Path, release: &str) -> Result<()> {
    let beside = Path::new("/sbin/depmod");
    let program = which::which("depmod").ok().or_else(|| beside.exists().then(|| beside.into()));
    let Some(program) = program else { return Ok(()) };
    crate::host::process::Cmd::new(program)
        .arg("-b")
        .arg(to.join("modules"))
        .arg(release)
        .timeout(std::time::Duration::from_secs(60))
        .run()?;
    Ok(())
}

/// A script for someone who does not have this tool.
fn reproducer(plan: &Plan, make: &Make, metadata: &Metadata) -> String {
    let mut text = String::from("#!/bin/sh\n# Builds this kernel again, with nothing but make.\n");
    let _ = writeln!(text, "# By the tool: {}", metadata.reproducer);
    let _ =
        writeln!(text, "# Source: {}, {}", metadata.label, serde_json::json!(plan.inputs.source));
    let _ = writeln!(text, "# Compiler: {}", plan.toolchain.version);
    text.push_str("set -eu\nhere=$(cd \"$(dirname \"$0\")\" && pwd)\n");
    let _ =
        writeln!(text, "source=${{1:-{}}}", shell_words::quote(&make.source.display().to_string()));
    text.push_str("objdir=${2:-$PWD/build}\nmkdir -p \"$objdir\"\n");
    for (name, value) in &make.stamps {
        let _ = writeln!(text, "export {name}={}", shell_words::quote(value));
    }
    let mut words = String::new();
    for (name, value) in &make.assignments {
        // ccache is this host's affair.
        let value = value.strip_prefix("ccache ").unwrap_or(value);
        let _ = write!(words, " {}", shell_words::quote(&format!("{name}={value}")));
    }
    let call = format!("make -C \"$source\" O=\"$objdir\"{words}");
    match &plan.start {
        Start::Goal(goal) if goal == "allnoconfig" => {
            let _ = writeln!(text, "KCONFIG_ALLCONFIG=\"$here/requested.config\" {call} {goal}");
        }
        // What a file or another goal began with is in the finished configuration.
        _ => {
            let _ = writeln!(text, "cp \"$here/config\" \"$objdir/.config\"\n{call} olddefconfig");
        }
    }
    let _ = writeln!(text, "{call} -j\"$(nproc)\" {}", shell_words::join(&plan.goals));
    text
}

fn artifacts(dir: &Path) -> Result<BTreeMap<String, Artifact>> {
    let mut all = BTreeMap::new();
    for entry in walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().flatten() {
        if !entry.file_type().is_file() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).at("read", entry.path())?;
        let name = entry.path().strip_prefix(dir).unwrap_or(entry.path()).display().to_string();
        let sha256 = hex(&Sha256::digest(&bytes));
        all.insert(name, Artifact { bytes: bytes.len() as u64, sha256 });
    }
    Ok(all)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).at("create folder", parent)?;
    }
    match std::fs::copy(from, to) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && !from.exists() => {
            Err(Error::check(format!("make said it was done, but did not make {}", from.display()))
                .found("no such file")
                .hint(
                    "image and image-path of the architecture in targets.toml must fit this kernel",
                ))
        }
        Err(e) => Err(e).at("write", to),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).at("write", path)
}

fn executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .at("make executable", path)
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|e| Error::host("cannot write the metadata").found(e.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}
