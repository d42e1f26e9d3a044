//! From a request to a plan: names resolved, paths chosen, all inputs gathered.
//! Nothing is written yet, and nothing but the compiler's `--version` is run.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::build::inputs::{Inputs, RULES, hex};
use crate::build::kconfig::fragment::Release;
use crate::build::kconfig::sources::{Fragment, Shelves};
use crate::build::request::Request;
use crate::build::target::{Arch, Targets};
use crate::build::toolchain::{self, Asked, Toolchain};
use crate::build::vars::Vars;
use crate::build::{make, objdir, preflight};
use crate::error::{Error, IoContext as _, Result};
use crate::host::paths::Dirs;
use crate::tree::KernelVersion;

/// What the configuration starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A make goal, `allnoconfig`, `defconfig`.
    Goal(String),
    /// The text of a `.config`.
    Text(String),
}

/// Everything that is decided before anything runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The architecture.
    pub arch: Arch,
    /// The toolchain.
    pub toolchain: Toolchain,
    /// The tree's version.
    pub version: KernelVersion,
    /// What the configuration starts from.
    pub start: Start,
    /// The fragments, the later ones overruling.
    pub fragments: Vec<Fragment>,
    /// The variables for make.
    pub vars: Vars,
    /// The goals for make.
    pub goals: Vec<String>,
    /// Whether the goals make a bootable kernel.
    pub whole: bool,
    /// Compilers at once.
    pub jobs: usize,
    /// The object directory.
    pub objdir: PathBuf,
    /// The product's folder.
    pub output: PathBuf,
    /// All inputs.
    pub inputs: Inputs,
}

/// Makes the plan.
///
/// # Errors
/// When a name is unknown, a path cannot be used, the source is no kernel tree, or a
/// tool is missing.
pub fn plan(dirs: &Dirs, request: &Request) -> Result<Plan> {
    let source = &request.source.path;
    objdir::refuse_odd_path(source, "the source folder")?;
    let project = dirs.project().ok();
    let targets = Targets::load(project)?;
    let arch = targets.arch(&request.arch)?.clone();
    let version = read_version(source)?;
    refuse_built_in_source(source, &arch)?;
    let vars = Vars::new(&request.make_vars);
    let asked = toolchain::asked(request.toolchain.as_deref(), &arch, &vars)?;

    let shelves = Shelves { project, source };
    let names = fragment_names(&targets, &arch, request);
    let mut fragments = Vec::new();
    for name in &names {
        fragments.push(shelves.fragment(name)?);
    }
    for word in &request.kconfig_add {
        fragments.push(shelves.addition(word)?);
    }
    let start = start(request, &arch)?;
    let jobs = make::jobs(request.jobs)?;
    let whole = request.goals.is_empty();
    let goals =
        if whole { vec![arch.image.clone(), "modules".into()] } else { request.goals.clone() };

    check_tools(&asked, &arch, &fragments)?;
    let toolchain = asked.probe()?;

    let flavours = targets.flavours(&names);
    let flags = vars.objects_name();
    let target = [arch.name.as_str(), &toolchain.name];
    let target: Vec<&str> = target.into_iter().chain(flavours).chain(flags.as_deref()).collect();
    let target = target.join("-");
    let explicit = request.objdir.as_deref().or_else(|| vars.objdir().map(Path::new));
    let objdir = objdir::place(dirs, source, request.source.objdirs.as_deref(), explicit, &target)?;
    let output = match &request.output {
        Some(path) => std::path::absolute(path).at("find", path)?,
        None => {
            let name = product_name(&targets, &arch, &toolchain, request, &vars);
            dirs.out()?.join("kernels").join(folder_name(&request.source.label)).join(name)
        }
    };
    let inputs = Inputs {
        rules: RULES,
        source: request.source.identity.clone(),
        arch: arch.make_arch.clone(),
        start: match &start {
            Start::Goal(goal) => goal.clone(),
            Start::Text(text) => format!("# a file\n{text}"),
        },
        fragments: fragments.iter().map(|f| (f.name.clone(), f.text.clone())).collect(),
        compiler: (toolchain.cc.clone(), toolchain.version.clone()),
        linker: toolchain.linker_version.clone(),
        hostcc: toolchain.hostcc.clone(),
        llvm: toolchain.llvm.clone(),
        variables: vars.inputs(),
        goals: goals.clone(),
    };
    Ok(Plan {
        arch,
        toolchain,
        version,
        start,
        fragments,
        vars,
        goals,
        whole,
        jobs,
        objdir,
        output,
        inputs,
    })
}

/// Looks up what a request names while its source is not there yet: the toolchain, with the
/// programs that it needs, and the fragments, but for those that the tree itself has.
///
/// # Errors
/// As [`plan`].
pub fn check_names(
    dirs: &Dirs,
    arch: &Arch,
    toolchain: Option<&str>,
    fragments: &[String],
) -> Result<()> {
    let asked = toolchain::asked(toolchain, arch, &Vars::new(&[]))?;
    let shelves = Shelves { project: dirs.project().ok(), source: Path::new("") };
    let here = fragments.iter().filter(|name| !name.starts_with("kselftest:"));
    let here = here.map(|name| shelves.fragment(name)).collect::<Result<Vec<_>>>()?;
    check_tools(&asked, arch, &here)
}

impl Plan {
    /// The release that fragments are compared with.
    #[must_use]
    pub fn release(&self) -> Release {
        Release { major: self.version.major, minor: self.version.minor }
    }
}

/// The default fragments, the architecture's, then what was asked, each once.
fn fragment_names(targets: &Targets, arch: &Arch, request: &Request) -> Vec<String> {
    let default: &[String] =
        if request.default_fragments { &targets.default_fragments } else { &[] };
    let mut names: Vec<String> = Vec::new();
    for name in default.iter().chain(&arch.fragments).chain(&request.fragments) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn start(request: &Request, arch: &Arch) -> Result<Start> {
    let word = request.kconfig.as_deref().unwrap_or(&arch.start);
    let goal = word.ends_with("config") && !word.contains('/') && !word.starts_with('.');
    if goal {
        return Ok(Start::Goal(word.to_owned()));
    }
    let path = Path::new(word);
    let text = std::fs::read(path).at("read the configuration", path).map_err(|e| {
        e.hint("--kconfig takes a make goal (defconfig, tinyconfig) or the path of a .config")
    })?;
    Ok(Start::Text(String::from_utf8_lossy(&text).into_owned()))
}

fn check_tools(asked: &Asked, arch: &Arch, fragments: &[Fragment]) -> Result<()> {
    let wanted = |symbol: &str| {
        // Where a line counts is not known yet; a tool too many does no harm only if
        // the line is no `n`.
        let mut lines = fragments.iter().flat_map(|f| &f.lines);
        lines.rfind(|l| l.symbol == symbol).is_some_and(|l| l.value.as_str() != "n")
    };
    let mut needs = preflight::of_toolchain(asked, arch);
    needs.extend(preflight::of_configuration(wanted));
    needs.sort_by(|a, b| a.name.cmp(&b.name));
    needs.dedup_by(|a, b| a.name == b.name);
    preflight::check(&needs, &asked.hostcc)
}

fn read_version(source: &Path) -> Result<KernelVersion> {
    let makefile = source.join("Makefile");
    let bytes = match std::fs::read(&makefile) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(e).at("read", &makefile),
    };
    KernelVersion::from_makefile(&bytes).filter(|_| source.join("Kconfig").is_file()).ok_or_else(
        || {
            Error::usage(format!("{} as a kernel source", source.display()))
                .found("it has no Makefile with VERSION and PATCHLEVEL, or no Kconfig")
                .hint("name the top folder of a kernel tree")
        },
    )
}

/// The kernel's Makefile refuses a source that was built in, half-way through.
fn refuse_built_in_source(source: &Path, arch: &Arch) -> Result<()> {
    let generated = format!("arch/{}/include/generated", arch.src_arch);
    let leavings = [".config", "include/config", &generated];
    let Some(found) = leavings.iter().find(|l| source.join(l).exists()) else { return Ok(()) };
    Err(Error::usage(format!("the source {} was built in", source.display()))
        .found(format!("{found} is in it, and an object directory of its own cannot be used then"))
        .hint(format!("make -C {} mrproper (it removes .config as well)", source.display())))
}

/// The folder of a product: arch, toolchain, what is not default, and a hash over
/// what has no short name.
fn product_name(
    targets: &Targets,
    arch: &Arch,
    toolchain: &Toolchain,
    request: &Request,
    vars: &Vars,
) -> String {
    let mut name = format!("{}-{}", arch.name, toolchain.name);
    for fragment in &request.fragments {
        if !targets.default_fragments.contains(fragment) && !arch.fragments.contains(fragment) {
            name.push('-');
            name.push_str(&folder_name(fragment));
        }
    }
    let vars = vars.inputs();
    let rest =
        (&request.kconfig, &request.kconfig_add, &request.goals, &vars, request.default_fragments);
    let plain = request.kconfig.is_none()
        && request.kconfig_add.is_empty()
        && request.goals.is_empty()
        && vars.is_empty()
        && request.default_fragments;
    if !plain {
        let hash = hex(&Sha256::digest(format!("{rest:?}")));
        name.push('-');
        name.push_str(hash.get(..8).unwrap_or(&hash));
    }
    name
}

fn folder_name(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._+-".contains(c) { c } else { '_' })
        .collect();
    // Neither hidden nor upward.
    let name = name.trim_start_matches('.');
    if name.is_empty() { "kernel".into() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names() {
        for (text, name) in
            [("6.12+x", "6.12+x"), ("../a b", "_a_b"), ("..", "kernel"), ("", "kernel")]
        {
            assert_eq!(folder_name(text), name);
        }
    }
}
