//! Compiles single objects of the two commits, with one configuration for both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::build::inputs::hex;
use crate::build::kconfig::dotconfig::DotConfig;
use crate::build::{Built, product};
use crate::cli::Ctx;
use crate::commands::kernel::Kernel;
use crate::error::{Error, IoContext as _, Kind, Result, io_error};
use crate::host::{atomic, lock};
use crate::inspect::{LeftOut, Side, Sources, Wanted};
use crate::tree::Oid;

/// What compiles.
pub(super) struct Compiler<'c> {
    pub ctx: &'c Ctx,
    pub kernel: &'c Kernel,
    pub sources: &'c Sources<'c>,
    pub series: &'c str,
    pub before: Oid,
    pub after: Oid,
    pub toolchain: Option<&'c str>,
}

/// A kernel that objects are compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    /// Its architecture, by the name in `targets.toml`.
    pub arch: String,
    /// What it is called.
    pub kernel: String,
    /// Fragments besides those of every build.
    pub fragments: Vec<String>,
}

/// What both commits are configured by.
struct Configured {
    /// The head's configuration.
    config: PathBuf,
    /// A fragment over it.
    asked: PathBuf,
}

/// Objects by their path.
pub(super) type Objects = BTreeMap<String, Vec<u8>>;

/// What came of it.
pub(super) struct Compiled {
    pub before: Objects,
    pub after: Objects,
    pub left_out: Vec<LeftOut>,
    /// SHA-256 of the configuration.
    pub config: String,
    /// What the compiler says of itself.
    pub compiler: String,
}

impl Compiled {
    pub fn of(&self, side: Side) -> &Objects {
        match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        }
    }
}

impl Compiler<'_> {
    /// The objects of both commits.
    ///
    /// # Errors
    /// When one does not build, or none is a part of this kernel.
    pub fn objects(&self, setup: &Setup, wanted: &[Wanted]) -> Result<Compiled> {
        // The objects lie where another run would put its own.
        let lock = self.place(setup).join("lock");
        let what = format!("objects of {} for {}", self.kernel.base.name, setup.arch);
        let _lock = lock::take(&self.ctx.ui, &lock, &what)?;
        let head = self.build(Side::After, setup, None, &["olddefconfig".to_owned()])?;
        let config = std::fs::read(&head.config).at("read", &head.config)?;
        let hash = hex(&Sha256::digest(&config));
        let config = DotConfig::parse(&String::from_utf8_lossy(&config));
        let configured = self.configured(setup, &head, &config)?;
        let compiler = product::read(&head.dir).map(|m| m.inputs.compiler.1).unwrap_or_default();
        let mut compiled = Compiled {
            before: Objects::new(),
            after: Objects::new(),
            left_out: Vec::new(),
            config: hash,
            compiler: compiler.lines().next().unwrap_or_default().to_owned(),
        };
        let mut left_out = BTreeSet::new();
        // The worktree is left at the series, which is compiled more often.
        for side in [Side::Before, Side::After] {
            let (goals, mut missing) = self.goals(side, wanted, &config)?;
            let (objects, unknown) = self.side(side, setup, &configured, goals)?;
            missing.extend(unknown);
            match side {
                Side::Before => compiled.before = objects,
                Side::After => compiled.after = objects,
            }
            left_out.extend(missing);
        }
        // One that only one of the trees builds is new or gone.
        left_out.retain(|o| !compiled.before.contains_key(o) && !compiled.after.contains_key(o));
        let why = "this kernel's configuration does not build it";
        let one = |object| LeftOut { object, why: why.to_owned() };
        compiled.left_out = left_out.into_iter().map(one).collect();
        if compiled.before.is_empty() && compiled.after.is_empty() {
            let names: Vec<&str> = compiled.left_out.iter().map(|l| l.object.as_str()).collect();
            return Err(Error::check(format!("inspect {}, kernel {}", self.series, setup.kernel))
                .found(format!("its configuration builds none of {}", names.join(", ")))
                .hint("turn them on with a fragment: --config FRAGMENT"));
        }
        Ok(compiled)
    }

    /// What make is asked for, and what the configuration leaves out.
    fn goals(
        &self,
        side: Side,
        wanted: &[Wanted],
        config: &DotConfig,
    ) -> Result<(Vec<String>, Vec<String>)> {
        let (mut goals, mut left_out) = (Vec::new(), Vec::new());
        for w in wanted.iter().filter(|w| w.sides.contains(&side)) {
            let is_set = |symbol: &str| config.is_set(symbol);
            // A Makefile may name it in ways that its text does not show: make will tell.
            let builds = w.named || self.sources.builds(side, &w.object, &is_set)? != Some(false);
            if builds { &mut goals } else { &mut left_out }.push(w.object.clone());
        }
        Ok((goals, left_out))
    }

    /// The configuration for both commits.
    ///
    /// The architecture's own fragment comes over whatever a build starts from, so
    /// what the others overruled in it is asked once more: as it came out, and only of
    /// a tree that has the symbol, since the series may bring it.
    fn configured(&self, setup: &Setup, head: &Built, config: &DotConfig) -> Result<Configured> {
        let path = head.dir.join("requested.config");
        let requested = std::fs::read(&path).at("read", &path)?;
        let asked = self.place(setup).join("asked.config");
        let text = asked_again(&String::from_utf8_lossy(&requested), config);
        atomic::write(&asked, text.as_bytes())?;
        Ok(Configured { config: head.config.clone(), asked })
    }

    /// The objects of one commit, and those that the configuration does not build.
    fn side(
        &self,
        side: Side,
        setup: &Setup,
        configured: &Configured,
        mut goals: Vec<String>,
    ) -> Result<(Objects, Vec<String>)> {
        let mut missing = Vec::new();
        while !goals.is_empty() {
            let built = match self.build(side, setup, Some(configured), &goals) {
                Ok(built) => built,
                Err(e) => match unknown_goal(&e, &goals) {
                    Some(goal) => {
                        goals.retain(|g| *g != goal);
                        missing.push(goal);
                        continue;
                    }
                    None => return Err(e.context(format!("compile {} the series", side.word()))),
                },
            };
            let mut objects = Objects::new();
            for goal in &goals {
                let path = built.objdir.join(goal);
                match std::fs::read(&path) {
                    Ok(bytes) => drop(objects.insert(goal.clone(), bytes)),
                    Err(e) if e.kind() == ErrorKind::NotFound => missing.push(goal.clone()),
                    Err(e) => return Err(io_error("read", &path, &e)),
                }
            }
            return Ok((objects, missing));
        }
        Ok((Objects::new(), missing))
    }

    /// Makes `goals`, with the head's configuration where there is one yet.
    fn build(
        &self,
        side: Side,
        setup: &Setup,
        configured: Option<&Configured>,
        goals: &[String],
    ) -> Result<Built> {
        let commit = match side {
            Side::Before => self.before,
            Side::After => self.after,
        };
        let label = format!("{}+{}:{}", self.kernel.base.name, self.series, side.word());
        let step = if configured.is_some() { side.word() } else { "configured" };
        let output = self.place(setup).join(step);
        let objdir = format!("{}-inspect-{}", setup.arch, setup.kernel);
        self.kernel.build(self.ctx, (commit, &label), &setup.arch, |r| {
            r.toolchain = self.toolchain.map(str::to_owned);
            r.output = Some(output);
            r.goals = goals.to_vec();
            r.objdir = r.source.objdirs.as_ref().map(|o| o.join(objdir));
            match configured {
                None => r.fragments.clone_from(&setup.fragments),
                Some(Configured { config, asked }) => {
                    r.kconfig = Some(config.to_string_lossy().into_owned());
                    r.fragments = vec![asked.to_string_lossy().into_owned()];
                    r.default_fragments = false;
                    // Objects of another commit or configuration may lie there, and make
                    // has nothing to do where it knows no rule for one that is there.
                    r.force = true;
                    for goal in goals {
                        if let Some(objdir) = &r.objdir {
                            let _ = std::fs::remove_file(objdir.join(goal));
                        }
                    }
                }
            }
        })
    }

    /// Where products that nobody boots are put.
    fn place(&self, setup: &Setup) -> PathBuf {
        let kernel = format!("{}-{}", setup.arch, setup.kernel);
        self.ctx.dirs.cache().join("inspect").join(&self.kernel.base.name).join(kernel)
    }
}

/// What a configuration has of the symbols that were requested, as a fragment.
fn asked_again(requested: &str, config: &DotConfig) -> String {
    let mut text = String::new();
    for line in requested.lines() {
        let set =
            line.strip_prefix("CONFIG_").and_then(|l| l.split_once('=')).map(|(name, _)| name);
        let unset = || line.strip_prefix("# CONFIG_")?.strip_suffix(" is not set");
        if let Some(symbol) = set.or_else(unset) {
            let value = config.get(symbol);
            // Writing to a String cannot fail.
            let _ = writeln!(text, "CONFIG_{symbol}={value} # where defined: as with the series");
        }
    }
    text
}

/// The one of `goals` that make has no rule for.
fn unknown_goal(e: &Error, goals: &[String]) -> Option<String> {
    if e.kind() != Kind::Check {
        return None;
    }
    let text = e.to_string();
    let (_, rest) = text.split_once("No rule to make target")?;
    // `needed by` names what lacks something, which is another matter.
    let rest = rest.lines().next()?;
    let (named, behind) = rest.trim_start().trim_start_matches(['\'', '`']).split_once('\'')?;
    if behind.contains("needed by") {
        return None;
    }
    let is_it = |g: &&String| {
        named.strip_suffix(g.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    goals.iter().find(is_it).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::kconfig::fragment;

    #[test]
    fn what_came_out_is_asked_again() {
        let config = DotConfig::parse("CONFIG_A=y\nCONFIG_S=\"a # b\"\nCONFIG_X=m\n");
        let text = asked_again("CONFIG_A=m\n# CONFIG_B is not set\nCONFIG_S=\"a # b\"\n", &config);
        let lines = fragment::parse("asked", &text).unwrap();
        let told: Vec<String> = lines.iter().map(|l| format!("{}={}", l.symbol, l.value)).collect();
        assert_eq!(told, ["A=y", "B=n", "S=\"a # b\""]);
        assert!(lines.iter().all(|l| l.scope.where_defined.is_some() && l.optional.is_none()));
    }

    #[test]
    fn goals_without_a_rule() {
        let goals = ["net/a.o", "a.o"].map(str::to_owned);
        for (found, want) in [
            ("make[2]: *** No rule to make target 'net/a.o'.  Stop.", Some("net/a.o")),
            ("make: *** No rule to make target '/obj/a.o'.  Stop.", Some("a.o")),
            ("make: *** No rule to make target `a.o'.  Stop.", Some("a.o")),
            ("*** No rule to make target 'net/b.o'.", None),
            ("*** No rule to make target 'a.o', needed by 'all'.", None),
            ("*** No rule to make target 'ba.o'.", None),
            ("net/a.c:1: error: no", None),
        ] {
            let e = Error::check("x").found(found);
            assert_eq!(unknown_goal(&e, &goals).as_deref(), want, "{found}");
        }
        let host = Error::host("x").found("No rule to make target 'a.o'.");
        assert_eq!(unknown_goal(&host, &goals), None);
    }
}
