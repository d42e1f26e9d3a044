//! What a run of the matrix stands on: series, bases and the verdicts on them, compilers, the
//! project's commit, the host.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::expected::Expected;
use super::plan::{Cell, Pair, Step};
use super::state::{key, of_files, version};
use crate::build::target::Targets;
use crate::build::toolchain::{self, Toolchain};
use crate::build::vars::Vars;
use crate::cli::Ctx;
use crate::error::{Error, Kind, Result};
use crate::host::process::Cmd;
use crate::render::{self, Choice, RenderOptions, Rendering, Verdict};
use crate::series::model::Series;
use crate::series::prerequisites::{self, Needed};
use crate::series::{self};
use crate::tree::{self, Base, Store};

/// Changes when results that are kept can no longer be read as they were meant.
const FORM: &str = "matrix/1";

/// A base, or why it cannot be had.
type Had = std::result::Result<Base, String>;

/// All of it.
pub struct Surroundings<'c> {
    ctx: &'c Ctx,
    /// The project.
    pub project: PathBuf,
    /// Known architectures and debug kernels.
    pub targets: Targets,
    /// The expected verdicts.
    pub expected: Expected,
    /// Each series on each of its bases, in the order of series and versions.
    pub pairs: Vec<Pair>,
    /// The project's commit, as a reader is told.
    pub commit: String,
    store: Store,
    series: BTreeMap<String, Series>,
    bases: BTreeMap<String, Had>,
    compilers: RefCell<BTreeMap<String, std::result::Result<Toolchain, String>>>,
    hashes: RefCell<BTreeMap<(&'static str, String, String), String>>,
}

impl<'c> Surroundings<'c> {
    /// Loads the series (all, if none is named), brings the bases (those that are listed or named
    /// by each series, if none is), and judges.
    ///
    /// # Errors
    /// When a series is not well-formed, or a name means nothing. A base that cannot be had is not
    /// an error yet: the cells on it are not run.
    pub fn gather(ctx: &'c Ctx, named: &[String], on: &[String]) -> Result<Surroundings<'c>> {
        let project = ctx.dirs.project()?.to_owned();
        let expected = Expected::load(&project)?;
        let mut names = if named.is_empty() { series::list(&project)? } else { named.to_vec() };
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|n| seen.insert(n.clone()));
        let store = Store::open(&ctx.ui, &ctx.dirs)?;
        let mut all = Surroundings {
            ctx,
            targets: Targets::load(Some(&project))?,
            commit: commit_of(&project),
            project,
            expected,
            pairs: Vec::new(),
            store,
            series: BTreeMap::new(),
            bases: BTreeMap::new(),
            compilers: RefCell::default(),
            hashes: RefCell::default(),
        };
        for name in names {
            let series = series::load(&all.project, &name)?;
            let listed = all.expected.bases(&name);
            let bases: Vec<String> = match (on, listed.as_slice()) {
                ([], []) => series.bases.clone(),
                ([], listed) => listed.iter().map(|b| (*b).to_owned()).collect(),
                (on, _) => on.to_vec(),
            };
            all.add(series, &bases)?;
        }
        Ok(all)
    }

    fn add(&mut self, series: Series, bases: &[String]) -> Result<()> {
        let mut of_it: Vec<String> = Vec::new();
        for spec in bases {
            if of_it.contains(spec) {
                continue;
            }
            of_it.push(spec.clone());
            if !self.bases.contains_key(spec) {
                let had = match tree::resolve(&self.ctx.ui, &self.ctx.dirs, &self.store, spec) {
                    Ok(base) => Ok(base),
                    Err(e) if matches!(e.kind(), Kind::Usage | Kind::Interrupted) => return Err(e),
                    Err(e) => Err(e.to_string()),
                };
                self.bases.insert(spec.clone(), had);
            }
        }
        let version = |spec: &String| self.bases.get(spec).and_then(|b| b.as_ref().ok());
        of_it.sort_by(|a, b| {
            let (a, b) = (version(a), version(b));
            a.map(|b| (&b.version, &b.name)).cmp(&b.map(|b| (&b.version, &b.name)))
        });
        for spec in of_it {
            let verdict = match self.bases.get(&spec) {
                Some(Ok(base)) => Ok(self.judge(&series, base, false)?.0),
                Some(Err(why)) => Err(why.clone()),
                None => Err("it was not looked for".into()),
            };
            self.pairs.push(Pair { series: series.name.clone(), base: spec, verdict });
        }
        self.series.insert(series.name.clone(), series);
        Ok(())
    }

    /// The verdict on the series, and on each of its optional patches if they are asked for.
    fn judge(
        &self,
        series: &Series,
        base: &Base,
        all: bool,
    ) -> Result<(Verdict, Vec<(String, Verdict)>)> {
        let optional = Choice { all, ..Choice::default() };
        let plan = render::judge(&self.store, series, base, &RenderOptions { optional })?;
        let is_optional = |name: &str| series.patch(name).is_some_and(|p| p.optional);
        let patches = plan.patches.into_iter().filter(|p| is_optional(&p.name));
        Ok((plan.verdict, patches.map(|p| (p.name, p.verdict)).collect()))
    }

    /// The verdict on a cell's series, and on its optional patches.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn verdict(&self, cell: &Cell) -> Result<(Verdict, Vec<(String, Verdict)>)> {
        let (series, base) = self.on(cell)?;
        let (verdict, _) = self.judge(series, base, false)?;
        Ok((verdict, self.judge(series, base, true)?.1))
    }

    fn on(&self, cell: &Cell) -> Result<(&Series, &Base)> {
        let series = self.series.get(&cell.series);
        let base = self.bases.get(&cell.base).and_then(|b| b.as_ref().ok());
        series.zip(base).ok_or_else(|| Error::host(format!("find {cell}")))
    }

    /// The pair of a cell.
    #[must_use]
    pub fn pair(&self, cell: &Cell) -> Option<&Pair> {
        self.pairs.iter().find(|p| p.series == cell.series && p.base == cell.base)
    }

    /// The version of a base; empty when it could not be had.
    #[must_use]
    pub fn linux(&self, base: &str) -> String {
        let base = self.bases.get(base).and_then(|b| b.as_ref().ok());
        base.map(|b| b.version.to_string()).unwrap_or_default()
    }

    /// The compiler for an architecture, or why there is none.
    ///
    /// # Errors
    /// The reason.
    pub fn compiler(&self, arch: &str) -> std::result::Result<Toolchain, String> {
        if let Some(known) = self.compilers.borrow().get(arch) {
            return known.clone();
        }
        let probe = || {
            let arch = self.targets.arch(arch)?;
            toolchain::asked(None, arch, &Vars::new(&[]))?.probe()
        };
        let found = probe().map_err(|e| e.to_string());
        self.compilers.borrow_mut().insert(arch.to_owned(), found.clone());
        found
    }

    /// The compilers that were asked for, by architecture.
    #[must_use]
    pub fn compilers(&self) -> Vec<(String, String)> {
        let all = self.compilers.borrow();
        let known = all.iter().filter_map(|(a, t)| Some((a.clone(), t.as_ref().ok()?)));
        known.map(|(a, t)| (a, format!("{}, {}", t.version, t.linker_version))).collect()
    }

    /// Why a debug kernel cannot be had with the compiler there is. One that is missing is told by
    /// the build.
    #[must_use]
    pub fn impossible(&self, flavour: &str, arch: &str) -> Option<String> {
        let compiler = self.compiler(arch).ok().filter(|_| flavour == "kcsan")?;
        // What HAVE_KCSAN_COMPILER of lib/Kconfig.kcsan asks.
        let volatile: &[&str] = if compiler.clang {
            &["-mllvm", "-tsan-distinguish-volatile=1"]
        } else {
            &["--param", "tsan-distinguish-volatile=1"]
        };
        let words = shell_words::split(&compiler.cc).ok()?;
        let (program, args) = words.split_first()?;
        let output = Cmd::new(program)
            .args(args)
            .args(["-Werror", "-fsanitize=thread"])
            .args(volatile)
            .args(["-c", "-x", "c", "/dev/null", "-o", "/dev/null"])
            .output()
            .ok()?;
        (!output.ok()).then(|| format!("{} has not what KCSAN needs", compiler.name))
    }

    /// The key of a cell's result: all that could change it. Nothing for a base that is not there.
    ///
    /// # Errors
    /// When a source cannot be read.
    pub fn key(&self, cell: &Cell) -> Result<Option<String>> {
        let Ok((series, base)) = self.on(cell) else { return Ok(None) };
        let mut parts = vec![
            FORM.to_owned(),
            cell.step.name().to_owned(),
            version(cell.step),
            base.commit.to_string(),
            cell.arch.clone().unwrap_or_default(),
            cell.kernel.clone().unwrap_or_default(),
            self.hash(cell, series, base)?,
        ];
        if cell.step == Step::Mutants {
            parts.extend(self.mutants(series, base)?);
        }
        if cell.step == Step::Verdict {
            parts.extend(self.expected.of(&cell.series, &cell.base).map(str::to_owned));
        }
        if let Some(arch) = cell.arch.as_ref().filter(|_| cell.step.compiles()) {
            let compiler = self.compiler(arch);
            parts.push(compiler.map_or_else(|why| why, |t| format!("{} {}", t.cc, t.version)));
            parts.push(of_files(&[self.project.join("kconfigs")], |_| true)?);
        }
        Ok(Some(key(parts.iter().map(String::as_str))))
    }

    /// A hash over what the series is made of. What is built and booted depends on trees and tests,
    /// but not on messages: a word mended in a cover letter costs no night of boots.
    fn hash(&self, cell: &Cell, series: &Series, base: &Base) -> Result<String> {
        let compiles = cell.step.compiles();
        let (kind, boots) = match cell.step {
            Step::Verdict | Step::Check => ("texts", false),
            // What is compiled for the gates depends on trees and configurations alone.
            Step::Commits => ("objects", false),
            Step::Boot | Step::Mutants | Step::Debug => ("guests", true),
        };
        let at = (kind, cell.series.clone(), cell.base.clone());
        if let Some(known) = self.hashes.borrow().get(&at) {
            return Ok(known.clone());
        }
        let folder = series.folder();
        let templates = self.project.join("templates").join(&series.name);
        let hash = if compiles {
            let rendering = self.rendering(series, base)?;
            let of_tests = [folder.join("selftests"), folder.join("mutants"), templates];
            let mut parts = Vec::new();
            if boots {
                parts.push(of_files(&of_tests, |p| {
                    let message = p.extension().is_some_and(|e| e == "msg");
                    !message && p.file_name().is_none_or(|n| n != "cover.tera")
                })?);
            }
            for patch in &rendering.patches {
                let tree = patch.tree.map(|t| t.to_string()).unwrap_or_default();
                parts.push(format!("{} {tree}", patch.name));
            }
            // Wherever the project is, its tests are the same.
            let here = self.project.display().to_string();
            let tests = if boots {
                format!("{:?} {:?}", series.tests, series.vars)
            } else {
                let kernels = series.tests.iter().map(|t| (&t.kconfig, &t.with));
                format!("{:?}", kernels.collect::<Vec<_>>())
            };
            parts.push(tests.replace(&here, ""));
            key(parts.iter().map(String::as_str))
        } else {
            let mut folders = vec![folder, templates];
            for needed in prerequisites::of(series)? {
                let Needed::Series(needed) = needed else { continue };
                folders.push(self.project.join("templates").join(&needed.name));
                folders.push(needed.folder());
            }
            of_files(&folders, |_| true)?
        };
        self.hashes.borrow_mut().insert(at, hash.clone());
        Ok(hash)
    }

    /// With all optional patches.
    fn rendering(&self, series: &Series, base: &Base) -> Result<Rendering> {
        let optional = Choice { all: true, ..Choice::default() };
        render::render(&self.ctx.ui, &self.store, series, base, &RenderOptions { optional })
    }

    /// What each mutant makes of the series: its tree, so that whatever renders it may change as
    /// long as it renders the same.
    fn mutants(&self, series: &Series, base: &Base) -> Result<Vec<String>> {
        let rendering = self.rendering(series, base)?;
        let mut trees = Vec::new();
        for mutant in series::load_mutants(series)? {
            let tree = match render::mutant(&self.store, series, &rendering, &mutant.name) {
                Ok(Some(commit)) => self.store.repo().find_commit(commit)?.tree_id().to_string(),
                Ok(None) => "none".into(),
                Err(why) => why.to_string(),
            };
            trees.push(format!("{} {tree}", mutant.name));
        }
        Ok(trees)
    }
}

/// What is checked out of the project, for a reader.
fn commit_of(project: &Path) -> String {
    let git = |args: &[&str]| {
        let output = Cmd::new("git").arg("-C").arg(project).args(args).output().ok()?;
        output.ok().then(|| output.text())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "not in git".into();
    };
    // The document that is about to be written is no change of the tool.
    let changed =
        git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!ci/matrix.md"]);
    match changed.as_deref() {
        Some("") => commit,
        _ => format!("{commit} with changes"),
    }
}

/// The host, in a line.
#[must_use]
pub fn host() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = text.lines().find_map(|l| {
        let kib: u64 = l.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(format!(", {} GiB of memory", kib.div_ceil(1 << 20)))
    });
    let plural = if cores == 1 { "" } else { "s" };
    format!("{}, {cores} core{plural}{}", std::env::consts::ARCH, memory.unwrap_or_default())
}
