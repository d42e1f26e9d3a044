//! Compiles the commits of a series for the gates, in the base's worktree.

use std::path::PathBuf;

use crate::build::Diagnostic;
use crate::cli::Ctx;
use crate::commands::kernel::Kernel;
use crate::commands::test_vm::group::Group;
use crate::error::{Error, Kind, Result};
use crate::gates::compile::{Attempt, Compiler};
use crate::host::tools;
use crate::tree::Oid;

/// One compile of objects at a time is kept, so that two gates share it.
type Kept = std::cell::RefCell<Vec<(Oid, String, Attempt)>>;

/// The series' commits, and what builds them.
pub struct SeriesCompiler<'c> {
    ctx: &'c Ctx,
    kernel: &'c Kernel,
    name: String,
    arches: Vec<String>,
    head: Oid,
    /// Configuration and object directory of the series' first guest test, whose
    /// kernel has the series' code in it.
    group: Group,
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
        let groups = Group::all(series, &[], &[]);
        let group = groups.into_iter().find(|g| g.with.iter().all(there));
        let host = std::env::consts::ARCH.replace("aarch64", "arm64");
        Ok(SeriesCompiler {
            ctx,
            kernel,
            name: series.name.clone(),
            arches: if arches.is_empty() { vec![host] } else { arches.to_vec() },
            head: rendering.head,
            group: group.unwrap_or_else(|| Group::plain(&[])),
            kept: Kept::default(),
        })
    }

    /// Where products that nobody boots are put.
    fn place(&self, what: &str) -> PathBuf {
        self.ctx.dirs.cache().join("check").join(&self.kernel.base.name).join(what)
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
        let built = |commit, label: &str, config: Option<String>| {
            let output = self.place(&format!("{arch}-kernel"));
            self.kernel.build(self.ctx, (commit, label), arch, |r| {
                self.group.fill(r);
                r.output = Some(output);
                if let Some(config) = config {
                    // A commit in the middle lacks symbols of a later one, which a
                    // fragment would insist on: all commits get the head's result.
                    r.kconfig = Some(config);
                    r.fragments.clear();
                    r.default_fragments = false;
                }
            })
        };
        let head = match built(self.head, &self.label("head"), None) {
            Ok(head) => head,
            Err(e) if commit == self.head => return attempt(Err(e)),
            Err(e) => return Err(e.context("the configuration of the series' head")),
        };
        if commit == self.head {
            return Ok(Attempt::Built(head.diagnostics));
        }
        let config = self.place(&format!("{arch}-config"));
        let bytes = std::fs::read(&head.config)
            .map_err(|e| crate::error::io_error("read", &head.config, &e))?;
        crate::host::atomic::write(&config, &bytes)?;
        let config = Some(config.to_string_lossy().into_owned());
        attempt(built(commit, &self.label(label), config).map(|b| b.diagnostics))
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
            // What the test robots compile: every driver there is, and code that
            // only some configuration has.
            r.kconfig = Some("allmodconfig".into());
            r.default_fragments = false;
            r.kconfig_add = vec!["WERROR=n".into()];
            r.make_vars = vec![("W".into(), "1".into())];
            if sparse {
                r.make_vars.push(("C".into(), "1".into()));
            }
            r.goals = objects.to_vec();
            r.output = Some(output);
            r.objdir = r.source.objdirs.as_ref().map(|o| o.join(format!("{arch}-check")));
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
