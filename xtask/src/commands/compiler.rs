//! Compiles the commits of a series for the gates, in the base's worktree.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::build::kconfig::dotconfig::DotConfig;
use crate::build::{Diagnostic, Request};
use crate::cli::Ctx;
use crate::commands::kernel::Kernel;
use crate::commands::test_vm::group::Group;
use crate::error::{Error, Kind, Result};
use crate::gates::compile::{Attempt, Compiler};
use crate::host::tools;
use crate::tree::Oid;

/// One compile of objects at a time is kept, so that two gates share it.
type Kept = RefCell<Vec<(Oid, String, Attempt)>>;

/// The series' commits, and what builds them.
pub struct SeriesCompiler<'c> {
    ctx: &'c Ctx,
    kernel: &'c Kernel,
    name: String,
    arches: Vec<String>,
    head: Oid,
    /// Configurations and object directories of the series' guest tests, whose kernels have the
    /// series' code in them. Where optional patches are wanted, those that switch them on too.
    groups: Vec<Group>,
    /// The head's configuration, by architecture and number of the group.
    configs: RefCell<BTreeMap<(String, usize), String>>,
    kept: Kept,
}

impl<'c> SeriesCompiler<'c> {
    /// Of a series that applies.
    ///
    /// # Errors
    /// When it does not.
    pub fn new(ctx: &'c Ctx, kernel: &'c Kernel, arches: &[String]) -> Result<Self> {
        let Some((series, rendering)) = kernel.applied()? else {
            return Err(Error::usage("compile a series").found("none is named"));
        };
        let there = |name: &String| rendering.patches.iter().any(|p| p.name == *name);
        let mut groups = Group::all(series, &[], &[]);
        groups.retain(|g| g.with.iter().all(there));
        if groups.is_empty() {
            groups.push(Group::plain(&[]));
        }
        let host = std::env::consts::ARCH.replace("aarch64", "arm64");
        Ok(SeriesCompiler {
            ctx,
            kernel,
            name: series.name.clone(),
            arches: if arches.is_empty() { vec![host] } else { arches.to_vec() },
            head: rendering.head,
            groups,
            configs: RefCell::default(),
            kept: Kept::default(),
        })
    }

    /// Where products that nobody boots are put.
    fn place(&self, what: &str) -> PathBuf {
        self.ctx.dirs.cache().join("check").join(&self.kernel.base.name).join(what)
    }

    /// Builds a commit's whole kernel with a group's configuration.
    ///
    /// A commit in the middle lacks symbols of a later one, which a fragment would insist on: all
    /// commits get the configuration of the head, where every line of the fragments is looked up.
    /// They share one object directory, so that make compiles again only what a commit changes.
    fn with_group(
        &self,
        commit: Oid,
        label: &str,
        arch: &str,
        number: usize,
        group: &Group,
    ) -> Result<Attempt> {
        let known = self.configs.borrow().get(&(arch.to_owned(), number)).cloned();
        let config = match known {
            Some(config) => config,
            None => match self.configure(arch, number, group) {
                Ok(config) => config,
                Err(e) => {
                    return attempt(Err(e.context("the configuration of the series' head")));
                }
            },
        };
        let output = self.place(&format!("{arch}-{number}-kernel"));
        let built = self.kernel.build(self.ctx, (commit, &self.label(label)), arch, |r| {
            group.fill(r);
            r.output = Some(output);
            r.kconfig = Some(config);
            r.fragments.clear();
            r.default_fragments = false;
        });
        attempt(built.map(|b| b.diagnostics))
    }

    /// Configures the head, builds nothing, and gives the path of the configuration.
    fn configure(&self, arch: &str, number: usize, group: &Group) -> Result<String> {
        let output = self.place(&format!("{arch}-{number}-configured"));
        let head = self.kernel.build(self.ctx, (self.head, &self.label("head")), arch, |r| {
            group.fill(r);
            r.output = Some(output);
            // The build configures before it makes anything; this goal adds nothing to that.
            r.goals = vec!["olddefconfig".into()];
        })?;
        // By the series' name: a check of another one may run beside this.
        let config = self.place(&format!("{arch}-{number}-{}-config", self.name));
        let bytes = std::fs::read(&head.config)
            .map_err(|e| crate::error::io_error("read", &head.config, &e))?;
        crate::host::atomic::write(&config, &bytes)?;
        let config = config.to_string_lossy().into_owned();
        self.configs.borrow_mut().insert((arch.to_owned(), number), config.clone());
        Ok(config)
    }

    /// Asks for the configuration that single objects are compiled with.
    fn whole(&self, commit: Oid, arch: &str, r: &mut Request) {
        // What the test robots compile: every driver there is, and code that
        // only some configuration has.
        r.kconfig = Some("allmodconfig".into());
        r.default_fragments = false;
        r.kconfig_add = vec!["WERROR=n".into()];
        if self.has_kunit(commit) {
            // Tests of built-in code need it built in, and would not be compiled at all.
            r.kconfig_add.push("KUNIT=y".into());
        }
        r.objdir = r.source.objdirs.as_ref().map(|o| o.join(format!("{arch}-check")));
    }

    /// The configuration that single objects of a commit are compiled with; nothing where the
    /// commit cannot even be configured.
    ///
    /// # Errors
    /// When the host lacks something, or the configuration cannot be read.
    pub fn configuration(&self, commit: Oid, label: &str, arch: &str) -> Result<Option<DotConfig>> {
        let output = self.place(&format!("{arch}-objects-configured"));
        let built = self.kernel.build(self.ctx, (commit, &self.label(label)), arch, |r| {
            self.whole(commit, arch, r);
            r.goals = vec!["olddefconfig".into()];
            r.output = Some(output);
        });
        match built {
            Ok(built) => DotConfig::read(&built.config).map(Some),
            Err(e) if e.kind() == Kind::Check => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn has_kunit(&self, commit: Oid) -> bool {
        let tree = self.kernel.store.repo().find_commit(commit).and_then(|c| c.tree());
        tree.is_ok_and(|t| t.get_path(std::path::Path::new("lib/kunit/Kconfig")).is_ok())
    }

    fn label(&self, label: &str) -> String {
        format!("{}+{}:{label}", self.kernel.base.name, self.name)
    }
}

/// A failure of the source is the gate's finding, one of the host is not.
fn attempt(result: Result<Vec<Diagnostic>>) -> Result<Attempt> {
    match result {
        Ok(said) => Ok(Attempt::Built(said)),
        Err(e) if e.kind() == Kind::Check => {
            let lines =
                std::iter::once(e.asked()).chain(e.what_was_found().iter().map(String::as_str));
            Ok(Attempt::Broken(lines.collect::<Vec<_>>().join("\n")))
        }
        Err(e) => Err(e),
    }
}

impl Compiler for SeriesCompiler<'_> {
    fn arches(&self) -> &[String] {
        &self.arches
    }

    fn kernel(&self, commit: Oid, label: &str, arch: &str) -> Result<Attempt> {
        let mut said = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            match self.with_group(commit, label, arch, number, group)? {
                Attempt::Built(diagnostics) => said.extend(diagnostics),
                Attempt::Broken(why) if self.groups.len() > 1 => {
                    let slug = group.slug();
                    let which = if slug.is_empty() { "the default" } else { &slug };
                    return Ok(Attempt::Broken(format!("{why}\nwith configuration {which}")));
                }
                broken @ Attempt::Broken(_) => return Ok(broken),
            }
        }
        Ok(Attempt::Built(said))
    }

    fn objects(&self, commit: Oid, label: &str, arch: &str, objects: &[String]) -> Result<Attempt> {
        let key = format!("{arch} {}", objects.join(" "));
        let known = |k: &&(Oid, String, Attempt)| k.0 == commit && k.1 == key;
        if let Some((_, _, attempt)) = self.kept.borrow().iter().find(known) {
            return Ok(attempt.clone());
        }
        let sparse = self.no_sparse().is_none();
        let output = self.place(&format!("{arch}-objects"));
        let built = self.kernel.build(self.ctx, (commit, &self.label(label)), arch, |r| {
            self.whole(commit, arch, r);
            r.make_vars = vec![("W".into(), "1".into())];
            if sparse {
                r.make_vars.push(("C".into(), "1".into()));
            }
            r.goals = objects.to_vec();
            r.output = Some(output);
        });
        let attempt = attempt(built.map(|b| b.diagnostics))?;
        self.kept.borrow_mut().push((commit, key, attempt.clone()));
        Ok(attempt)
    }

    fn no_sparse(&self) -> Option<String> {
        tools::need("sparse").err().map(|e| {
            let hint = e.hints().first().cloned().unwrap_or_default();
            format!("{}; {hint}", e.asked())
        })
    }
}
