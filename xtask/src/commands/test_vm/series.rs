//! Guests for a series on a base: rendered, built, booted, tested.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::TestVm;
use super::extract;
use super::group::Group;
use crate::build::Built;
use crate::cli::Ctx;
use crate::commands::kernel::Kernel;
use crate::error::{Error, IoContext as _, Result};
use crate::render::{Choice, Verdict};
use crate::report::{self, Case, Suite};
use crate::series::model::{Series, Test};
use crate::tree::Oid;
use crate::vm::{Arch, GuestRequest, GuestRun, TestKind, TestProgram};

/// A group's kernel, ready to be changed by a mutant.
pub(super) struct Prepared {
    /// The rendering with the group's optional patches.
    pub kernel: Kernel,
    /// The tests.
    pub group: Group,
    /// The products' label.
    pub label: String,
}

impl TestVm {
    /// The architecture of guests for which kernels are built.
    pub(super) fn target(&self) -> Result<Arch> {
        match &self.arch {
            Some(name) => name.parse(),
            None => Arch::host().ok_or_else(|| {
                Error::usage("test-vm on this host")
                    .found(format!("guests cannot be {}", std::env::consts::ARCH))
                    .hint("--arch x86_64 emulates one that can")
            }),
        }
    }

    /// Renders the series for a group of its tests.
    pub(super) fn prepare(
        &self,
        ctx: &Ctx,
        series: Option<&str>,
        group: Group,
    ) -> Result<Prepared> {
        let choice = Choice { with: group.with.clone(), all: false };
        let kernel = Kernel::get(ctx, series, self.base.as_deref(), &choice)?;
        kernel.applied()?;
        let mut label = match &kernel.series {
            Some((series, _)) => format!("{}+{}", kernel.base.name, series.name),
            None => kernel.base.name.clone(),
        };
        let slug = group.slug();
        if !slug.is_empty() {
            label = format!("{label}+{slug}");
        }
        Ok(Prepared { kernel, group, label })
    }

    /// Why a group's tests cannot be run on this base: an optional patch of theirs
    /// does not apply to it.
    pub(super) fn left_out(prepared: &Prepared) -> Option<String> {
        let (_, rendering) = prepared.kernel.series.as_ref()?;
        rendering.patches.iter().find_map(|p| {
            let wanted = prepared.group.with.contains(&p.name);
            (wanted && !matches!(p.verdict, Verdict::Applies))
                .then(|| format!("its patch {} is not there: {}", p.name, p.verdict))
        })
    }

    /// Builds a commit in the group's object directory.
    pub(super) fn build(
        ctx: &Ctx,
        prepared: &Prepared,
        commit: Oid,
        label: &str,
        arch: Arch,
    ) -> Result<Built> {
        prepared.kernel.build(ctx, (commit, label), arch.name(), |r| prepared.group.fill(r))
    }

    /// The guest for a group's tests on a built kernel.
    pub(super) fn series_request(
        &self,
        prepared: &Prepared,
        (commit, built): (Oid, &Built),
        arch: Arch,
        output: &Path,
    ) -> Result<GuestRequest> {
        let Some(image) = &built.image else {
            return Err(Error::host(format!("boot {}", prepared.label)).found("no image was built"));
        };
        let name = format!("{}, {arch}", prepared.label);
        let mut request = GuestRequest::new(name, image, arch, output);
        request.config = Some(built.config.clone());
        request.modules_dir = modules_dir(built);
        if let Some((series, _)) = &prepared.kernel.series {
            let tests = series.tests.iter().filter(|t| prepared.group.tests.contains(&t.name));
            let mut needs = Needs::default();
            for test in tests {
                needs.take(series, test)?;
                let includes = extract::write(&prepared.kernel, commit, test, output)?;
                request.tests.push(TestProgram { includes, ..program(test) });
                request.patches_text |= test.patches_text;
                for module in &test.modules {
                    if !request.modules.contains(module) {
                        request.modules.push(module.clone());
                    }
                }
            }
            request.smp = needs.smp.unwrap_or(request.smp);
            request.memory = needs.memory.unwrap_or(request.memory);
        }
        self.options(&mut request)?;
        Ok(request)
    }

    /// Builds and tests one group.
    pub(super) fn run_group(
        &self,
        ctx: &Ctx,
        prepared: &Prepared,
        place: &Path,
        files: &str,
    ) -> Result<(Suite, Option<GuestRun>)> {
        let arch = self.target()?;
        if let Some(why) = Self::left_out(prepared) {
            return Ok((skipped(prepared, arch, &why), None));
        }
        let Some(commit) = prepared.kernel.commit(None)?.map(|(commit, _)| commit) else {
            return Ok((skipped(prepared, arch, "nothing to build"), None));
        };
        let built = Self::build(ctx, prepared, commit, &prepared.label, arch)?;
        std::fs::create_dir_all(place).at("create folder", place)?;
        let mut request = self.series_request(prepared, (commit, &built), arch, place)?;
        self.add_kselftests(ctx, prepared, commit, &mut request)?;
        let run = self.guest(ctx, &request)?;
        let mut suite = run.suite();
        suite.files = suite.files.iter().map(|f| format!("{files}{f}")).collect();
        suite.fact(
            "base",
            format!("{} ({})", prepared.kernel.base.name, prepared.kernel.base.origin),
        );
        suite.fact("commit", commit.to_string());
        Ok((suite, Some(run)))
    }
}

/// What the tests of a group need of their guest: the most that one of them asks.
#[derive(Default)]
struct Needs {
    smp: Option<u32>,
    memory: Option<u32>,
}

impl Needs {
    fn take(&mut self, series: &Series, test: &Test) -> Result<()> {
        self.smp = self.smp.max(Some(test.smp));
        if let Some(text) = &test.memory {
            let size = super::memory(text).map_err(|why| {
                Error::usage(format!(
                    "memory = \"{text}\" of test {} of {}",
                    test.name, series.name
                ))
                .found(why)
            })?;
            self.memory = self.memory.max(Some(size));
        }
        Ok(())
    }
}

fn program(test: &Test) -> TestProgram {
    let script = match test.sources.as_slice() {
        [one] if one.extension().is_none_or(|e| e != "c") => Some(one.clone()),
        _ => None,
    };
    let kind = match script {
        Some(script) => TestKind::Program(script),
        None => TestKind::Sources(test.sources.clone()),
    };
    TestProgram {
        args: test.args.clone(),
        timeout: Duration::from_secs(test.timeout),
        ..TestProgram::new(&test.name, kind)
    }
}

/// The folder of a built kernel's modules.
fn modules_dir(built: &Built) -> Option<PathBuf> {
    let root = built.modules_root.as_ref()?;
    Some(root.join("lib/modules").join(&built.release))
}

fn skipped(prepared: &Prepared, arch: Arch, why: &str) -> Suite {
    let mut suite = Suite { name: format!("{}, {arch}", prepared.label), ..Suite::default() };
    suite.started = jiff::Timestamp::now().to_string();
    for test in &prepared.group.tests {
        let mut case = Case::new(test, report::Status::Skip);
        case.message = Some(why.to_owned());
        suite.cases.push(case);
    }
    suite
}
