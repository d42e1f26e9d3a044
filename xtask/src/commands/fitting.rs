//! What a configuration does not build is no part of its kernel: make compiles a source that it
//! is told to all the same, and the source may not compile then. arm64 has no static calls worth
//! the name, so that what depends on them cannot be switched on there.
//!
//! Only what never compiled is left out: an object that did before a patch and does not after it
//! was broken by the patch, whatever builds it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::cli::Ctx;
use crate::commands::compiler::SeriesCompiler;
use crate::commands::kernel::Kernel;
use crate::error::Result;
use crate::gates::compile::{Attempt, Compiler};
use crate::inspect::{Side, Sources};
use crate::tree::Oid;

/// The series' commits, and what builds them; of single objects that do not compile, those that
/// their kernel has not are left out, and told.
pub struct Fitting<'c> {
    compiler: SeriesCompiler<'c>,
    kernel: &'c Kernel,
    /// Two gates ask for the same objects.
    kept: RefCell<Vec<(Oid, String, Attempt)>>,
    /// What compiled, by architecture.
    compiled: RefCell<BTreeSet<(String, String)>>,
    left_out: &'c LeftOut,
}

/// Objects that were left out, with the patch and the architecture.
#[derive(Debug, Default)]
pub struct LeftOut(RefCell<BTreeSet<(String, String, String)>>);

impl LeftOut {
    /// Those of a patch on an architecture.
    #[must_use]
    pub fn of(&self, patch: &str, arch: &str) -> Vec<String> {
        let all = self.0.borrow();
        let ours = all.iter().filter(|(p, a, _)| p == patch && a == arch);
        ours.map(|(_, _, object)| object.clone()).collect()
    }
}

impl<'c> Fitting<'c> {
    /// Of a series that applies.
    ///
    /// # Errors
    /// When it does not.
    pub fn new(
        ctx: &'c Ctx,
        kernel: &'c Kernel,
        arches: &[String],
        left_out: &'c LeftOut,
    ) -> Result<Fitting<'c>> {
        let compiler = SeriesCompiler::new(ctx, kernel, arches)?;
        let (kept, compiled) = (RefCell::default(), RefCell::default());
        Ok(Fitting { compiler, kernel, kept, compiled, left_out })
    }

    /// Those of the objects that the commit's kernel is made of; nothing where it cannot even
    /// be configured.
    fn built(&self, commit: Oid, label: &str, arch: &str, all: &[String]) -> Result<Vec<String>> {
        let Some(config) = self.compiler.configuration(commit, label, arch)? else {
            return Ok(all.to_vec());
        };
        let tree = self.kernel.store.repo().find_commit(commit)?.tree_id();
        let sources = Sources::new(&self.kernel.store, tree, tree)?;
        let is_set = |symbol: &str| config.is_set(symbol);
        let mut built = Vec::new();
        for object in all {
            let compiled = self.compiled.borrow().contains(&(arch.to_owned(), object.clone()));
            if compiled || sources.builds(Side::After, object, &is_set)? != Some(false) {
                built.push(object.clone());
            }
        }
        Ok(built)
    }
}

impl Compiler for Fitting<'_> {
    fn arches(&self) -> &[String] {
        self.compiler.arches()
    }

    fn kernel(&self, commit: Oid, label: &str, arch: &str) -> Result<Attempt> {
        self.compiler.kernel(commit, label, arch)
    }

    fn objects(&self, commit: Oid, label: &str, arch: &str, objects: &[String]) -> Result<Attempt> {
        let key = format!("{arch} {}", objects.join(" "));
        let known = |k: &&(Oid, String, Attempt)| k.0 == commit && k.1 == key;
        if let Some((_, _, attempt)) = self.kept.borrow().iter().find(known) {
            return Ok(attempt.clone());
        }
        let mut attempt = self.compiler.objects(commit, label, arch, objects)?;
        let mut built = objects.to_vec();
        if matches!(attempt, Attempt::Broken(_)) {
            built = self.built(commit, label, arch, objects)?;
            if built.len() + 1 < objects.len() {
                // One of several did not compile: the others are looked at like all.
                for object in objects.iter().filter(|o| !built.contains(o)).collect::<Vec<_>>() {
                    let alone = std::slice::from_ref(object);
                    if let Attempt::Built(_) = self.compiler.objects(commit, label, arch, alone)? {
                        built.push(object.clone());
                    }
                }
            }
            if built.is_empty() {
                attempt = Attempt::Built(Vec::new());
            } else if built.len() < objects.len() {
                attempt = self.compiler.objects(commit, label, arch, &built)?;
            }
        }
        if let Attempt::Built(said) = &mut attempt {
            // What it said of them before it failed is kept with the object directory.
            let is_built = |object: &String| built.contains(object) || !objects.contains(object);
            said.retain(|d| d.object.as_ref().is_none_or(is_built));
            let mut left_out = self.left_out.0.borrow_mut();
            for object in objects.iter().filter(|o| !built.contains(o)) {
                left_out.insert((label.to_owned(), arch.to_owned(), object.clone()));
            }
            let compiled = built.into_iter().map(|object| (arch.to_owned(), object));
            self.compiled.borrow_mut().extend(compiled);
        }
        self.kept.borrow_mut().push((commit, key, attempt.clone()));
        Ok(attempt)
    }

    fn no_sparse(&self) -> Option<String> {
        self.compiler.no_sparse()
    }
}
