//! Configures an object directory: fragments merged, the kernel's `conf` run,
//! and every line that was asked looked up in what came out.

use std::path::{Path, PathBuf};

use crate::build::kconfig::check::{self, Dropped, Examined};
use crate::build::kconfig::dotconfig::DotConfig;
use crate::build::kconfig::fragment::{Kernel, Line};
use crate::build::kconfig::merge::merge;
use crate::build::kconfig::tree::Symbols;
use crate::build::make::{Finished, Log, Make};
use crate::build::objdir::Objdir;
use crate::build::plan::{Plan, Start};
use crate::error::{Error, IoContext as _, Result};
use crate::host::atomic;
use crate::host::ui::{Step, Ui};

/// A configured object directory.
#[derive(Debug)]
pub struct Configured {
    /// What came out.
    pub config: DotConfig,
    /// What was asked, in the form `conf` reads.
    pub requested: String,
    /// Lines that were dropped and may be.
    pub tolerated: Vec<Dropped>,
    /// Symbols that differ from the configuration before; empty when there was none.
    pub changed: Vec<String>,
    /// How many lines were asked.
    pub asked: usize,
    /// What `conf` said.
    pub made: Finished,
}

/// Configures.
///
/// # Errors
/// When `conf` fails, or a line that was asked is not in the result.
pub fn configure(
    ui: &Ui,
    plan: &Plan,
    make: &Make,
    objdir: &Objdir,
    label: &str,
    log: &mut Log,
    step: &Step,
) -> Result<Configured> {
    let symbols = Symbols::read(&make.source, &plan.arch.src_arch);
    let lines: Vec<Line> = plan.fragments.iter().flat_map(|f| f.lines.iter().cloned()).collect();
    let kernel = Kernel { release: plan.release(), arch: &plan.arch.name };
    let request = merge(&lines, &kernel, &symbols);
    for line in &request.overruled {
        ui.note(line);
    }
    let requested = request.to_config();
    let file = objdir.state_dir().join("requested.config");
    atomic::write(&file, requested.as_bytes())?;
    keep_foreign_config(ui, objdir)?;
    let before = DotConfig::read(&objdir.dot_config()).ok();

    let made = run(plan, make, objdir, &file, &requested, log, step)?;
    let config = DotConfig::read(&objdir.dot_config())?;
    let changed = match &before {
        Some(before) => config.changed(before).into_iter().map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let examined = Examined {
        source: &make.source,
        src_arch: &plan.arch.src_arch,
        symbols: &symbols,
        config: &config,
    };
    let dropped = check::check(&examined, &request);
    if let Some(error) = check::failure(&dropped, label) {
        return Err(error);
    }
    tell_tolerated(ui, log, &dropped)?;
    Ok(Configured {
        config,
        requested,
        asked: request.asked.len() - dropped.len(),
        tolerated: dropped,
        changed,
        made,
    })
}

/// Lets `conf` make the `.config`.
fn run(
    plan: &Plan,
    make: &Make,
    objdir: &Objdir,
    file: &Path,
    requested: &str,
    log: &mut Log,
    step: &Step,
) -> Result<Finished> {
    let dot_config = objdir.dot_config();
    let all_config: &[(&str, &Path)] = &[("KCONFIG_ALLCONFIG", file)];
    match &plan.start {
        // These take the request in the first pass: what it does not name stays off.
        Start::Goal(goal) if goal == "allnoconfig" => make_goal(make, goal, all_config, log, step),
        start => {
            if let Start::Goal(goal) = start {
                make_goal(make, goal, &[], log, step)?;
            }
            let text = match start {
                Start::Goal(_) => {
                    let bytes = std::fs::read(&dot_config).at("read", &dot_config)?;
                    String::from_utf8_lossy(&bytes).into_owned()
                }
                Start::Text(text) => text.clone(),
            };
            // Of two settings of a symbol `conf` takes the later.
            atomic::write(&dot_config, format!("{text}\n{requested}").as_bytes())?;
            make_goal(make, "olddefconfig", &[], log, step)
        }
    }
}

fn make_goal(
    make: &Make,
    goal: &str,
    env: &[(&str, &Path)],
    log: &mut Log,
    step: &Step,
) -> Result<Finished> {
    let made = make.run(&[goal.to_owned()], env, log, step)?;
    if made.code == 0 {
        return Ok(made);
    }
    Err(crate::build::failure::of(&make.source.display().to_string(), goal, &made, make, None))
}

/// A `.config` that a person made in this folder is not lost.
fn keep_foreign_config(ui: &Ui, objdir: &Objdir) -> Result<()> {
    let dot_config = objdir.dot_config();
    if objdir.state().is_some() || !dot_config.exists() {
        return Ok(());
    }
    let kept: PathBuf = objdir.path.join(".config.before-xtask");
    std::fs::rename(&dot_config, &kept).at("rename", &dot_config)?;
    ui.warn(&format!("a .config that stood there is kept as {}", kept.display()));
    Ok(())
}

/// Checks what the finished configuration needs of the host besides.
///
/// # Errors
/// Names what is missing.
pub fn check_tools(config: &DotConfig, hostcc: &str) -> Result<()> {
    let needs = crate::build::preflight::of_configuration(|s| config.is_set(s));
    crate::build::preflight::check(&needs, hostcc)
        .map_err(|e: Error| e.context("the configuration turns on what this host cannot build"))
}

/// Lines that were dropped and may be: the log has them all with their reasons,
/// the user sees a few, and the names of many.
fn tell_tolerated(ui: &Ui, log: &mut Log, dropped: &[Dropped]) -> Result<()> {
    const IN_FULL: usize = 3;
    for d in dropped {
        let why = d.tolerated.as_deref().unwrap_or_default();
        let line = format!("not set, and need not be ({why}): {d}");
        log.write(format!("{line}\n").as_bytes())?;
        if dropped.len() <= IN_FULL {
            ui.note(&line);
        }
    }
    if dropped.len() > IN_FULL {
        let names: Vec<&str> = dropped.iter().map(|d| d.symbol.as_str()).collect();
        ui.note(&format!(
            "{} lines are not met and need not be (the log says why): {}",
            dropped.len(),
            names.join(", ")
        ));
    }
    Ok(())
}
