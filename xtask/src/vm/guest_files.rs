//! What goes into a guest: the agent, its plan, the tests, modules, tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::initramfs::Initramfs;
use super::kconfig::Config;
use super::plan::Plan;
use super::request::{GuestRequest, TestKind};
use super::{Arch, compile, elf, modules};
use crate::error::{Error, IoContext as _, Result};
use crate::host::paths::Dirs;
use crate::host::process::Cmd;

/// Applets of busybox that would stand before a test's own program of the same
/// name, or whose work the agent does.
const NOT_APPLETS: &[&str] = &[
    "ip", "ts", "busybox", "init", "linuxrc", "modprobe", "insmod", "rmmod", "reboot", "poweroff",
    "halt",
];

/// Modules that the ports may need, in the order in which to load them.
const PORT_MODULES: &[&str] = &[
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "virtio_mmio",
    "virtio_console",
];

/// A test as it is in the guest: a program and its arguments, or a suite.
#[derive(Debug)]
struct Placed {
    name: String,
    timeout: Duration,
    /// Where it runs.
    dir: String,
    /// Empty for a KUnit suite.
    argv: Vec<String>,
    suite: Option<String>,
}

/// Makes the initramfs for plain QEMU; the result is its size.
///
/// # Errors
/// When something that goes into it is missing or does not compile.
pub(super) fn initramfs(
    dirs: &Dirs,
    request: &GuestRequest,
    config: Option<&Config>,
    slow: bool,
    place: &Path,
) -> Result<u64> {
    let mut root = Initramfs::new();
    let mut plan = Plan::default();
    let agent = compile::agent(dirs, request.arch)?;
    root.add_host("init", &agent, true)?;
    for tool in ["modprobe", "insmod", "rmmod"] {
        root.link(&format!("sbin/{tool}"), "../init");
    }
    add_tools(dirs, request, &mut root)?;
    let scratch = scratch()?;
    let mut trees: BTreeMap<&Path, String> = BTreeMap::new();
    for test in &request.tests {
        let file = if let TestKind::Installed { root: from, program } = &test.kind {
            if !trees.contains_key(from.as_path()) {
                let path = format!("/tests/installed-{}", trees.len());
                let elves = root.add_tree(&path, from)?;
                if Arch::host() == Some(request.arch) {
                    add_closure(&elves, from, &mut root)?;
                }
                trees.insert(from, path);
            }
            trees.get(from.as_path()).map(|path| format!("{path}/{}", program.display()))
        } else if let Some(program) = host_program(request, test, scratch.path())? {
            let path = format!("/tests/{}", file_name(&test.name));
            root.add_host(&path, &program, true)?;
            Some(path)
        } else {
            None
        };
        plan_test(&mut plan, &placed(test, file));
    }
    for (from, to) in &request.files {
        use std::os::unix::fs::PermissionsExt as _;
        let meta = std::fs::metadata(from).at("read", from)?;
        root.add_host(to, from, meta.permissions().mode() & 0o111 != 0)?;
    }
    add_modules(request, config, &mut root, &mut plan)?;
    environment(request, slow, &mut plan);
    // Every machine in use resets; with -no-reboot QEMU ends by it.
    plan.end("reboot");
    root.add("kseries/plan", plan.text().as_bytes().to_vec(), false);
    root.write(place)?;
    Ok(root.size())
}

/// Puts the agent's plan and the tests into a folder of the host, which a guest
/// with the host's root sees; gives the agent's and the plan's path.
///
/// # Errors
/// As [`initramfs`].
pub(super) fn folder(
    dirs: &Dirs,
    request: &GuestRequest,
    slow: bool,
    run: &Path,
) -> Result<(PathBuf, PathBuf)> {
    let mut plan = Plan::default();
    let agent = compile::agent(dirs, request.arch)?;
    for test in &request.tests {
        let file = match &test.kind {
            TestKind::Installed { root, program } => {
                Some(std::path::absolute(root.join(program)).at("find", root)?)
            }
            _ => host_program(request, test, run)?,
        };
        let file = file.map(|p| p.to_string_lossy().into_owned());
        plan_test(&mut plan, &placed(test, file));
    }
    if let Some(dir) = &request.modules_dir
        && !request.modules.is_empty()
    {
        let taken = modules::Tree::open(dir)?.take(&request.modules)?;
        let place = run.join("modules");
        std::fs::create_dir_all(&place).at("create folder", &place)?;
        for module in &taken {
            let path = place.join(format!("{}.ko", module.name));
            std::fs::write(&path, &module.bytes).at("write", &path)?;
        }
        for (name, text) in modules::lists(&taken) {
            let list = place.join(name);
            std::fs::write(&list, text).at("write", &list)?;
        }
        plan.modules_dir(&place.to_string_lossy());
        // The host's own modprobe would look for modules of the host's kernel.
        let bin = run.join("bin");
        std::fs::create_dir_all(&bin).at("create folder", &bin)?;
        for tool in ["modprobe", "insmod", "rmmod"] {
            let link = bin.join(tool);
            std::os::unix::fs::symlink(&agent, &link).at("make the link", &link)?;
        }
        plan.path(&bin.to_string_lossy());
    }
    environment(request, slow, &mut plan);
    let path = run.join("plan");
    std::fs::write(&path, plan.text()).at("write", &path)?;
    Ok((agent, path))
}

fn scratch() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(|e| {
        Error::host("cannot make a temporary folder").found(e.to_string()).hint("set TMPDIR")
    })
}

fn placed(test: &super::TestProgram, file: Option<String>) -> Placed {
    let (program, suite) = match &test.kind {
        TestKind::Kunit(suite) => (None, Some(suite.clone())),
        TestKind::InGuest(path) => (Some(path.clone()), None),
        TestKind::Program(_) | TestKind::Sources(_) | TestKind::Installed { .. } => (file, None),
    };
    let dir = match (&test.kind, &program) {
        (TestKind::Installed { .. }, Some(path)) => {
            path.rsplit_once('/').map_or("/", |(dir, _)| dir).to_owned()
        }
        _ => "/tmp".to_owned(),
    };
    let argv = program.into_iter().chain(test.args.iter().cloned()).collect();
    Placed { name: test.name.clone(), timeout: test.timeout, dir, argv, suite }
}

fn plan_test(plan: &mut Plan, test: &Placed) {
    match &test.suite {
        Some(suite) => plan.kunit(&test.name, test.timeout, suite),
        None => {
            let argv: Vec<&str> = test.argv.iter().map(String::as_str).collect();
            plan.run(&test.name, test.timeout, &test.dir, &argv);
        }
    }
}

/// A test's program on the host, compiled into `dir` where it is source.
fn host_program(
    request: &GuestRequest,
    test: &super::TestProgram,
    dir: &Path,
) -> Result<Option<PathBuf>> {
    match &test.kind {
        TestKind::Kunit(_) | TestKind::InGuest(_) | TestKind::Installed { .. } => Ok(None),
        TestKind::Program(path) => {
            let path = std::path::absolute(path).at("find", path)?;
            path.metadata().at("find the test", &path)?;
            Ok(Some(path))
        }
        TestKind::Sources(sources) => {
            let out = dir.join(file_name(&test.name));
            let includes: Vec<String> =
                test.includes.iter().map(|dir| format!("-I{}", dir.display())).collect();
            let flags: Vec<&str> = includes.iter().map(String::as_str).collect();
            compile::compile(request.arch, sources, &out, &flags)
                .map_err(|e| e.context(format!("test {}", test.name)))?;
            Ok(Some(out))
        }
    }
}

/// A test's name as a file name.
fn file_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
        .collect();
    if plain.starts_with('.') { format!("_{plain}") } else { plain }
}

/// Adds what host programs need to run; what lies below `have` is there already.
fn add_closure(programs: &[PathBuf], have: &Path, root: &mut Initramfs) -> Result<()> {
    for (path, from) in elf::closure(programs)? {
        if have.as_os_str().is_empty() || !from.starts_with(have) {
            root.add_host(&path, &from, true)?;
        }
    }
    Ok(())
}

fn add_tools(dirs: &Dirs, request: &GuestRequest, root: &mut Initramfs) -> Result<()> {
    let mut programs = Vec::new();
    for tool in &request.host_tools {
        let path = which::which(tool).map_err(|_| {
            Error::host(format!("put {tool} into the guest")).found("it is not on PATH")
        })?;
        programs.push(path);
    }
    add_closure(&programs, Path::new(""), root)?;
    for program in &programs {
        // Wherever the host has it, the guest finds it in /bin.
        if let Some(name) = program.file_name().and_then(|n| n.to_str()) {
            root.link(&format!("bin/{name}"), &program.to_string_lossy());
        }
    }
    let Some(busybox) = compile::busybox(dirs, request.arch) else { return Ok(()) };
    let bytes = std::fs::read(&busybox).at("read", &busybox)?;
    // Its own list where it runs here; else what scripts are sure to want.
    let list = Cmd::new(&busybox).arg("--list").timeout(Duration::from_secs(20)).output();
    let applets: Vec<String> = match list {
        Ok(o) if o.ok() => o.text().lines().map(str::to_owned).collect(),
        _ => [
            "sh", "cat", "echo", "ls", "grep", "sed", "awk", "sleep", "mount", "mkdir", "rm", "cp",
            "test", "[", "seq", "head", "tail", "wc", "dmesg", "true", "false", "kill", "ps",
            "env", "printf",
        ]
        .map(String::from)
        .to_vec(),
    };
    root.busybox(bytes, &applets, &BTreeSet::from_iter(NOT_APPLETS.iter().copied()));
    Ok(())
}

fn add_modules(
    request: &GuestRequest,
    config: Option<&Config>,
    root: &mut Initramfs,
    plan: &mut Plan,
) -> Result<()> {
    let Some(dir) = &request.modules_dir else {
        if request.modules.is_empty() {
            return Ok(());
        }
        return Err(Error::usage(format!("modules {}", request.modules.join(", ")))
            .found("no folder with this kernel's modules")
            .hint("--modules-dir DIR names the objdir, or lib/modules/RELEASE"));
    };
    let built_in = config.is_some_and(|c| c.yes("VIRTIO_CONSOLE"));
    if request.modules.is_empty() && built_in {
        return Ok(());
    }
    let tree = modules::Tree::open(dir)?;
    let ports = if built_in { Vec::new() } else { tree.present(PORT_MODULES) };
    let wanted: Vec<String> = ports.iter().chain(&request.modules).cloned().collect();
    let taken = tree.take(&wanted)?;
    let folder = modules::folder(&taken);
    let mut loaded = BTreeSet::new();
    for module in taken.iter().filter(|m| ports.contains(&m.name)) {
        for link in &module.chain {
            if loaded.insert(link.clone()) {
                plan.module(&format!("/{folder}/{link}.ko"));
            }
        }
    }
    for (name, text) in modules::lists(&taken) {
        root.add(&format!("{folder}/{name}"), text.into_bytes(), false);
    }
    for module in taken {
        root.add(&format!("{folder}/{}.ko", module.name), module.bytes, false);
    }
    plan.modules_dir(&format!("/{folder}"));
    Ok(())
}

fn environment(request: &GuestRequest, slow: bool, plan: &mut Plan) {
    if slow {
        // kselftest's word for machines where time-outs must be generous.
        plan.env("KSFT_MACHINE_SLOW", "yes");
    }
    for (key, value) in &request.env {
        plan.env(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_stay_in_their_folder() {
        assert_eq!(file_name("net: a/b.sh"), "net__a_b.sh");
        assert_eq!(file_name(".."), "_..");
    }
}
