//! Builds kernels: a source, a target and a configuration in, a bootable product out.
//!
//! [`build`] is the one entry. It plans (names, paths, inputs; nothing is written),
//! and stops there when the product at hand has the same inputs. Else it
//! configures and checks that the configuration has every line that was asked, runs
//! make in an object directory that is kept, and puts the product together whole.

pub mod ccache;
pub mod configure;
pub mod diagnostics;
pub mod failure;
pub mod inputs;
pub mod kconfig;
pub mod make;
pub mod objdir;
pub mod plan;
pub mod preflight;
pub mod product;
pub mod request;
pub mod target;
pub mod toolchain;
pub mod vars;

pub use diagnostics::compare::{Comparison, compare};
pub use diagnostics::{Diagnostic, Severity, Stage};
pub use request::{Built, Identity, Request, Source};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::build::ccache::Ccache;
use crate::build::configure::Configured;
use crate::build::make::{Finished, Log, Make};
use crate::build::objdir::{Objdir, State};
use crate::build::plan::Plan;
use crate::build::product::{Contents, Metadata};
use crate::error::Result;
use crate::host::paths::Dirs;
use crate::host::ui::Ui;

/// Builds what `request` asks, or finds that it is built.
///
/// # Errors
/// Usage when a name or path cannot be used; host when a tool or space is missing or
/// the toolchain does not fit; check when the configuration drops what was asked or the
/// source does not build.
pub fn build(ui: &Ui, dirs: &Dirs, request: &Request) -> Result<Built> {
    let plan = plan::plan(dirs, request)?;
    let label = &request.source.label;
    let hash = plan.inputs.hash()?;
    if !request.force
        && let Some(metadata) = product::read(&plan.output).filter(|m| m.inputs_hash == hash)
    {
        ui.note(&format!("{label} for {}: built already, from the same inputs", plan.arch.name));
        let diagnostics = product::read_diagnostics(&plan.output);
        return Ok(built(&plan.output, metadata, diagnostics, true));
    }
    let objdir = Objdir::open(ui, plan.objdir.clone())?;
    let old = objdir.state();
    let mut because = reasons(&plan, request, &objdir, old.as_ref());
    for why in &because {
        ui.note(&format!("{label}: {why}"));
    }
    let make = make_for(dirs, request, &plan, &objdir);
    let mut log = Log::create(&objdir.log())?;

    let step = ui.step(format!("configuring {label} for {}", plan.arch.name));
    let configured = configure::configure(ui, &plan, &make, &objdir, label, &mut log, &step)?;
    configure::check_tools(&configured.config, &plan.toolchain.hostcc)?;
    because.extend(changed_symbols(&configured));
    step.done(&format!("{} lines asked, all there", configured.asked));

    let mut state = State {
        inputs: Some(plan.inputs.clone()),
        source: make.source.clone(),
        finished: false,
        diagnostics: old.map(|o| o.diagnostics).unwrap_or_default(),
    };
    state.begin();
    // Said before make begins: if we are killed, the next build knows.
    objdir.remember(&state)?;
    let goals = plan.goals.join(" ");
    let step = ui.step(format!("building {label} for {} ({goals})", plan.arch.name));
    let made = make.run(&plan.goals, &[], &mut log, &step)?;
    state.take(&configured.made);
    state.take(&made);
    state.finished = made.code == 0;
    objdir.remember(&state)?;
    if made.code != 0 {
        drop(step);
        return Err(failure::of(label, &goals, &made, &make, Some(&objdir.log())));
    }
    let numbers = make.ccache.as_ref().and_then(Ccache::numbers);
    step.done(&summary(&made, numbers));

    let diagnostics = state.all();
    let seconds = BTreeMap::from([
        ("configure".to_owned(), round(configured.made.seconds)),
        ("make".to_owned(), round(made.seconds)),
        ("make-cpu".to_owned(), round(made.cpu_seconds)),
    ]);
    let metadata = Metadata {
        inputs_hash: hash,
        label: label.clone(),
        arch: plan.arch.name.clone(),
        toolchain: plan.toolchain.name.clone(),
        release: String::new(),
        image: None,
        artifacts: BTreeMap::new(),
        modules: Vec::new(),
        warnings: 0,
        rebuilt_because: because,
        steps: made.steps.clone(),
        seconds,
        ccache: numbers,
        reproducer: command_line(),
        objdir: objdir.path.clone(),
        inputs: plan.inputs.clone(),
    };
    let metadata = product::collect(Contents {
        plan: &plan,
        make: &make,
        requested: &configured.requested,
        log: &objdir.log(),
        diagnostics: &diagnostics,
        metadata,
    })?;
    Ok(built(&plan.output, metadata, diagnostics, false))
}

fn make_for(dirs: &Dirs, request: &Request, plan: &Plan, objdir: &Objdir) -> Make {
    let source =
        std::path::absolute(&request.source.path).unwrap_or_else(|_| request.source.path.clone());
    // Below the root alone, system headers would be named from afar too.
    let basedir = Some(common_folder(&source, &objdir.path)).filter(|b| b.parent().is_some());
    let ccache = request
        .ccache
        .then(|| Ccache::find(dirs.cache(), basedir.as_deref(), &objdir.state_dir()))
        .flatten();
    Make {
        assignments: Make::assignments(
            &plan.arch.make_arch,
            &plan.toolchain,
            &plan.vars,
            ccache.is_some(),
        ),
        stamps: Make::stamps(&plan.vars),
        source,
        objdir: objdir.path.clone(),
        jobs: plan.jobs,
        ccache,
    }
}

/// The deepest folder that has both.
fn common_folder(a: &Path, b: &Path) -> PathBuf {
    a.components().zip(b.components()).take_while(|(x, y)| x == y).map(|(x, _)| x).collect()
}

/// What was typed: whatever the command was, it gives the same product again.
fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned());
    format!("cargo xtask {}", shell_words::join(words.collect::<Vec<_>>()))
}

/// Why anything is made at all.
fn reasons(plan: &Plan, request: &Request, objdir: &Objdir, old: Option<&State>) -> Vec<String> {
    let Some(old) = old else {
        return vec![format!("nothing is built yet in {}", objdir.path.display())];
    };
    let mut why = Vec::new();
    let source = std::path::absolute(&request.source.path).unwrap_or_default();
    if old.source != source {
        why.push(format!(
            "the source was at {} and is at {}: everything is made anew",
            old.source.display(),
            source.display()
        ));
    }
    match &old.inputs {
        Some(inputs) => why.extend(plan.inputs.reasons(inputs)),
        None => why.push("nothing is known of the last build there".into()),
    }
    if !old.finished {
        why.push("the last build there did not come to its end".into());
    }
    if why.is_empty() {
        why.push(if request.force {
            "asked for with --force".into()
        } else {
            format!("the objects are at hand, the product {} is not", plan.output.display())
        });
    }
    why
}

fn changed_symbols(configured: &Configured) -> Option<String> {
    const SHOWN: usize = 8;
    let changed = &configured.changed;
    if changed.is_empty() {
        return None;
    }
    let names: Vec<&str> = changed.iter().take(SHOWN).map(String::as_str).collect();
    let more = if changed.len() > SHOWN { ", …" } else { "" };
    Some(format!("{} symbols changed: {}{more}", changed.len(), names.join(", ")))
}

fn summary(made: &Finished, numbers: Option<ccache::Numbers>) -> String {
    let cpu = made.cpu_seconds;
    let compiled = made.steps.get("CC").copied().unwrap_or(0);
    let mut text = format!("{compiled} objects compiled, {cpu:.0} s of processor time");
    if let Some(n) = numbers.filter(|n| n.total() > 0) {
        text.push_str(&format!(", ccache had {} of {}", n.hits(), n.total()));
    }
    text
}

fn round(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}

fn built(dir: &Path, metadata: Metadata, diagnostics: Vec<Diagnostic>, up_to_date: bool) -> Built {
    let has = |name: &str| metadata.artifacts.contains_key(name).then(|| dir.join(name));
    Built {
        image: metadata.image.as_deref().and_then(has),
        vmlinux: has("vmlinux"),
        config: dir.join("config"),
        metadata: dir.join("metadata.json"),
        modules_root: (!metadata.modules.is_empty()).then(|| dir.join("modules")),
        modules: metadata.modules.iter().map(|m| dir.join(m)).collect(),
        dir: dir.to_owned(),
        release: metadata.release,
        arch: metadata.arch,
        inputs_hash: metadata.inputs_hash,
        up_to_date,
        diagnostics,
        seconds: metadata.seconds,
        ccache: metadata.ccache,
        steps: metadata.steps,
        objdir: metadata.objdir,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_folders() {
        for (a, b, common) in
            [("/c/w/source", "/c/w/obj/x", "/c/w"), ("/a", "/b", "/"), ("/a/b", "/a/bc", "/a")]
        {
            assert_eq!(common_folder(Path::new(a), Path::new(b)), Path::new(common));
        }
    }
}
