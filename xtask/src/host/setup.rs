//! Brings what is missing onto the host: distribution packages (with the user's
//! consent), and Python programs into a folder of their own below the cache.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, IoContext as _, Kind, Result};
use crate::host::paths::Dirs;
use crate::host::process::{Cmd, Stream};
use crate::host::tools::{self, Found};
use crate::host::ui::Ui;

/// How long one installation may take.
const INSTALL_TIME: Duration = Duration::from_mins(15);

/// Sees to it that all of `wanted` is there: says what is missing, asks unless
/// `yes`, and installs it.
///
/// # Errors
/// When the user declines, cannot be asked, or the installation fails; the hint
/// then has the command to run by hand.
pub fn ensure(ui: &Ui, wanted: impl Fn(&Found) -> bool, yes: bool) -> Result<()> {
    let found = tools::survey(&wanted);
    let missing: Vec<&Found> = found.iter().filter(|t| t.path.is_none()).collect();
    if missing.is_empty() {
        ui.note(&format!("host tools: all {} are there", found.len()));
        return Ok(());
    }
    ui.note("host tools missing:");
    for t in &missing {
        ui.note(&format!("  {:<24} for {} (package {})", t.name, t.needed_for, t.package));
    }
    let packages = tools::packages(&missing);
    let manager = Manager::of_host().ok_or_else(|| {
        Error::host("install the missing tools")
            .found("no package manager of this host is known here (apt-get)")
            .hint(format!("install what your distribution calls: {}", packages.join(" ")))
    })?;
    let by_hand = manager.display(&packages);
    if !yes && !consent(ui, &format!("run `{by_hand}`?"))? {
        return Err(Error::host("install the missing tools")
            .found("not agreed to")
            .hint(format!("run it yourself: {by_hand}")));
    }
    manager.install(ui, &packages).map_err(|e| {
        if e.kind() == Kind::Interrupted { e } else { e.hint(format!("by hand: {by_hand}")) }
    })?;
    let still: Vec<String> = tools::survey(&wanted)
        .into_iter()
        .filter(|t| t.path.is_none())
        .map(|t| format!("{} ({})", t.name, t.package))
        .collect();
    if still.is_empty() {
        return Ok(());
    }
    Err(Error::host("install the missing tools")
        .found(format!("still missing afterwards: {}", still.join(", ")))
        .hint("see whether they are on PATH"))
}

/// Asks a yes/no question on the terminal.
///
/// # Errors
/// When there is nobody to ask.
pub fn consent(ui: &Ui, question: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Error::host(question.to_owned())
            .found("standard input is no terminal, so nobody can answer")
            .hint("add --yes to agree beforehand"));
    }
    ui.note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).at("read", Path::new("standard input"))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The host's package manager, run with the right to install.
struct Manager {
    sudo: bool,
}

impl Manager {
    fn of_host() -> Option<Manager> {
        which::which("apt-get").ok()?;
        let sudo = !nix::unistd::geteuid().is_root();
        Some(Manager { sudo })
    }

    fn command(&self, args: &[&str]) -> Cmd {
        let cmd = if self.sudo {
            Cmd::new("sudo").arg("apt-get").hint("install sudo, or run as root")
        } else {
            Cmd::new("apt-get")
        };
        cmd.args(args).env("DEBIAN_FRONTEND", "noninteractive").timeout(INSTALL_TIME)
    }

    fn display(&self, packages: &[&str]) -> String {
        let sudo = if self.sudo { "sudo " } else { "" };
        format!("{sudo}apt-get install --no-install-recommends {}", packages.join(" "))
    }

    fn install(&self, ui: &Ui, packages: &[&str]) -> Result<()> {
        // The lists of a fresh machine are empty or stale.
        self.stream(ui, "package lists", &["update"])?;
        let mut args = vec!["install", "--yes", "--no-install-recommends"];
        args.extend(packages);
        self.stream(ui, "install packages", &args)
    }

    fn stream(&self, ui: &Ui, label: &str, args: &[&str]) -> Result<()> {
        let step = ui.step(label);
        let cmd = self.command(args);
        let mut log: Vec<String> = Vec::new();
        let code = cmd.stream(|_: Stream, line| {
            let line = String::from_utf8_lossy(line).trim_end().to_owned();
            step.message(&line);
            log.push(line);
        })?;
        if code == 0 {
            step.done("done");
            return Ok(());
        }
        let tail = log.iter().skip(log.len().saturating_sub(12)).cloned().collect::<Vec<_>>();
        Err(Error::host(format!("`{}` ended with code {code}", cmd.display()))
            .found(tail.join("\n")))
    }
}

/// A Python program that a distribution may not have: its name on the index, the
/// program it brings, and the version this tool is tried with.
#[derive(Clone, Copy, Debug)]
pub struct PythonTool {
    /// The package's name.
    pub package: &'static str,
    /// The program it installs.
    pub program: &'static str,
    /// The version.
    pub version: &'static str,
}

/// virtme-ng, one of the guests' backends.
pub const VIRTME_NG: PythonTool =
    PythonTool { package: "virtme-ng", program: "vng", version: "1.42" };
/// b4, which must understand the mails.
pub const B4: PythonTool = PythonTool { package: "b4", program: "b4", version: "0.16.0" };

/// typos, the spelling checker of `ci`.
pub const TYPOS: PythonTool = PythonTool { package: "typos", program: "typos", version: "1.52.0" };

/// The folder whose programs are used as if on PATH.
#[must_use]
pub fn python_bin(dirs: &Dirs) -> PathBuf {
    dirs.cache().join("tools").join("venv").join("bin")
}

/// Finds the program: on PATH, or in the tool's own Python folder.
#[must_use]
pub fn find_python(dirs: &Dirs, tool: PythonTool) -> Option<PathBuf> {
    let own = python_bin(dirs).join(tool.program);
    which::which(tool.program).ok().or_else(|| Some(own).filter(|p| p.exists()))
}

/// Sees to it that the program is there, by installing it into a folder of its
/// own below the cache; the host's Python is left as it is.
///
/// # Errors
/// When Python or its venv module is missing, or the package cannot be installed.
pub fn ensure_python(ui: &Ui, dirs: &Dirs, tool: PythonTool) -> Result<PathBuf> {
    if let Some(path) = find_python(dirs, tool) {
        return Ok(path);
    }
    let bin = python_bin(dirs);
    let venv = dirs.cache().join("tools").join("venv");
    let step = ui.step(format!("install {} {}", tool.package, tool.version));
    if !bin.join("python3").exists() || !bin.join("pip").exists() {
        std::fs::create_dir_all(&venv).at("create folder", &venv)?;
        Cmd::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&venv)
            .timeout(INSTALL_TIME)
            .hint("apt-get install python3 python3-venv")
            .run()
            .map_err(|e| e.hint("apt-get install python3-venv"))?;
    }
    Cmd::new(bin.join("python3"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .arg(format!("{}=={}", tool.package, tool.version))
        .timeout(INSTALL_TIME)
        .run()?;
    let program = bin.join(tool.program);
    if !program.exists() {
        return Err(Error::host(format!("install {}", tool.package))
            .found(format!("{} is not there afterwards", program.display()))
            .hint(format!("pip install {}=={}", tool.package, tool.version)));
    }
    step.done("done");
    Ok(program)
}
