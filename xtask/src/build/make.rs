//! Runs the kernel's make: its command line, its log, and what it said.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::build::ccache::Ccache;
use crate::build::diagnostics::Diagnostic;
use crate::build::diagnostics::located::Roots;
use crate::build::diagnostics::parse::Parser;
use crate::build::toolchain::Toolchain;
use crate::build::vars::Vars;
use crate::error::{Error, IoContext as _, Result};
use crate::host::process::Cmd;
use crate::host::ui::Step;

/// Fixed stamps: a build then depends on its inputs alone, and ccache hits.
const STAMPS: &[(&str, &str)] = &[
    ("KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970"),
    ("KBUILD_BUILD_USER", "kseries"),
    ("KBUILD_BUILD_HOST", "kseries"),
    ("KBUILD_BUILD_VERSION", "1"),
];

/// Variables of an outer make, and such that would beat what we say.
const UNWANTED: &[&str] = &[
    "MAKEFLAGS",
    "MFLAGS",
    "MAKELEVEL",
    "MAKEOVERRIDES",
    "GNUMAKEFLAGS",
    "KBUILD_OUTPUT",
    "O",
    "ARCH",
    "CROSS_COMPILE",
    "LLVM",
    "CC",
    "HOSTCC",
    "KCONFIG_CONFIG",
    "KCONFIG_ALLCONFIG",
    "KBUILD_EXTMOD",
    "M",
    "SUBARCH",
];

/// How make is called for one target.
#[derive(Clone, Debug)]
pub struct Make {
    /// The kernel tree.
    pub source: PathBuf,
    /// The object directory.
    pub objdir: PathBuf,
    /// `NAME=value` for the command line, in order.
    pub assignments: Vec<(String, String)>,
    /// Build stamps, for the environment.
    pub stamps: Vec<(String, String)>,
    /// Compilers at once.
    pub jobs: usize,
    /// ccache, when it is used.
    pub ccache: Option<Ccache>,
}

/// How a run of make ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code.
    pub code: i32,
    /// What it said.
    pub diagnostics: Vec<Diagnostic>,
    /// The targets it worked on.
    pub targets: Vec<String>,
    /// How many of them, by tool.
    pub steps: BTreeMap<String, usize>,
    /// The last lines, for a failure without a diagnostic.
    pub tail: String,
    /// Seconds.
    pub seconds: f64,
    /// Seconds of processor time, of all that it ran.
    pub cpu_seconds: f64,
}

impl Make {
    /// The assignments for a toolchain; ccache goes before the compilers that are
    /// not wrapped already.
    #[must_use]
    pub fn assignments(
        arch: &str,
        toolchain: &Toolchain,
        vars: &Vars,
        ccache: bool,
    ) -> Vec<(String, String)> {
        let wrap = |cc: &str| {
            if ccache && !cc.contains("ccache") { format!("ccache {cc}") } else { cc.to_owned() }
        };
        let mut all = vec![("ARCH".to_owned(), arch.to_owned())];
        if !toolchain.cross_compile.is_empty() {
            all.push(("CROSS_COMPILE".into(), toolchain.cross_compile.clone()));
        }
        if let Some(llvm) = &toolchain.llvm {
            all.push(("LLVM".into(), llvm.clone()));
        }
        all.push(("CC".into(), wrap(&toolchain.cc)));
        all.push(("HOSTCC".into(), wrap(&toolchain.hostcc)));
        // Without it a tree that is not at a tag gets a `+` to its release.
        all.push(("LOCALVERSION".into(), vars.or("LOCALVERSION", "")));
        all.extend(
            vars.for_make()
                .filter(|(n, _)| *n != "LOCALVERSION")
                .map(|(n, v)| (n.into(), v.into())),
        );
        all
    }

    /// The build stamps: fixed ones, where the user sets none.
    #[must_use]
    pub fn stamps(vars: &Vars) -> Vec<(String, String)> {
        STAMPS
            .iter()
            .map(|&(name, fixed)| {
                let epoch =
                    vars.get("SOURCE_DATE_EPOCH").filter(|_| name == "KBUILD_BUILD_TIMESTAMP");
                let default = epoch.map_or_else(|| fixed.to_owned(), |e| format!("@{e}"));
                (name.to_owned(), vars.or(name, &default))
            })
            .collect()
    }

    /// The words after `make`, as a person would type them.
    #[must_use]
    pub fn words(&self, goals: &[String]) -> Vec<String> {
        let mut words = vec![
            "-C".to_owned(),
            self.source.display().to_string(),
            format!("O={}", self.objdir.display()),
        ];
        words.extend(self.assignments.iter().map(|(n, v)| format!("{n}={v}")));
        words.push(format!("-j{}", self.jobs));
        words.extend(goals.iter().cloned());
        words
    }

    fn command(&self, goals: &[String]) -> Cmd {
        // make puts a target's two outputs together in their order only when both
        // go to one place.
        let script = "exec make --output-sync=target \"$@\" 2>&1";
        let mut cmd = Cmd::new("sh").args(["-c", script, "make"]).args(self.words(goals));
        cmd = cmd.env("LC_ALL", "C");
        for name in UNWANTED {
            cmd = cmd.env_remove(name);
        }
        for (name, value) in &self.stamps {
            cmd = cmd.env(name, value);
        }
        match &self.ccache {
            Some(ccache) => ccache.apply(cmd),
            None => cmd,
        }
    }

    /// Runs make for `goals`; `log` gets all that it writes. A failure of make is
    /// no error here.
    ///
    /// # Errors
    /// When it cannot be started, the log cannot be written, or the user ends it.
    pub fn run(
        &self,
        goals: &[String],
        env: &[(&str, &Path)],
        log: &mut Log,
        step: &Step,
    ) -> Result<Finished> {
        let begun = Instant::now();
        let cpu = children_cpu();
        let mut cmd = self.command(goals);
        for (name, value) in env {
            cmd = cmd.env(name, value);
        }
        log.write(format!("+ make {}\n", shell_words::join(self.words(goals))).as_bytes())?;
        let mut parser =
            Parser::new(Roots { source: self.source.clone(), objdir: self.objdir.clone() });
        let mut tail = Tail::default();
        let (mut targets, mut steps) = (Vec::new(), BTreeMap::new());
        let mut unwritten = None;
        let code = cmd.stream(|_, bytes| {
            // The log matters less than the build: its failure is told at the end.
            if unwritten.is_none() {
                unwritten = log.write(bytes).err();
            }
            let text = String::from_utf8_lossy(bytes);
            tail.push(&text);
            if let Some(made) = parser.line(&text) {
                step.advance(1);
                step.message(&made.target);
                *steps.entry(made.tool).or_insert(0) += 1;
                targets.push(made.target);
            }
        })?;
        if let Some(error) = unwritten {
            return Err(error);
        }
        log.flush()?;
        Ok(Finished {
            code,
            diagnostics: parser.finish(),
            targets,
            steps,
            tail: tail.0,
            seconds: begun.elapsed().as_secs_f64(),
            cpu_seconds: children_cpu() - cpu,
        })
    }
}

/// Processor time of all children that have ended, and of theirs.
fn children_cpu() -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0.0, |usage| {
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        // Micros of any build fit the 52 bits of a double.
        #[allow(clippy::cast_precision_loss)]
        let seconds = micros as f64 / 1e6;
        seconds
    })
}

/// The last lines of an output.
#[derive(Default)]
struct Tail(String);

impl Tail {
    const MOST: usize = 4096;

    fn push(&mut self, line: &str) {
        self.0.push_str(line);
        if self.0.len() > 2 * Self::MOST {
            let mut cut = self.0.len() - Self::MOST;
            while !self.0.is_char_boundary(cut) {
                cut += 1;
            }
            self.0.drain(..cut);
        }
    }
}

/// A build log that is being written.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Log {
    /// Begins a log; one that was there is replaced.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path) -> Result<Log> {
        let file = File::create(path).at("write", path)?;
        Ok(Log { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// Adds to it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).at("write", &self.path)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush().at("write", &self.path)
    }
}

/// The number of compilers that run at once when none is given.
#[must_use]
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Turns `jobs` given by a user into a sound number.
///
/// # Errors
/// When it is 0.
pub fn jobs(given: Option<usize>) -> Result<usize> {
    match given {
        Some(0) => Err(Error::usage("--jobs 0")
            .found("no compiler could run")
            .hint("leave it out for one per processor")),
        Some(n) => Ok(n),
        None => Ok(default_jobs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolchain() -> Toolchain {
        Toolchain {
            name: "gcc-12".into(),
            clang: false,
            cc: "aarch64-linux-gnu-gcc".into(),
            hostcc: "gcc".into(),
            cross_compile: "aarch64-linux-gnu-".into(),
            llvm: None,
            version: String::new(),
            linker_version: String::new(),
        }
    }

    #[test]
    fn the_command_line() {
        let vars = Vars::of(&[("W", "1"), ("CC", "x"), ("LOCALVERSION", "-me")]);
        let assignments = Make::assignments("arm64", &toolchain(), &vars, true);
        let make = Make {
            source: "/s".into(),
            objdir: "/o".into(),
            assignments,
            stamps: Make::stamps(&vars),
            jobs: 3,
            ccache: None,
        };
        assert_eq!(
            make.words(&["Image".into()]),
            [
                "-C",
                "/s",
                "O=/o",
                "ARCH=arm64",
                "CROSS_COMPILE=aarch64-linux-gnu-",
                "CC=ccache aarch64-linux-gnu-gcc",
                "HOSTCC=ccache gcc",
                "LOCALVERSION=-me",
                "W=1",
                "-j3",
                "Image"
            ]
        );
    }

    #[test]
    fn stamps_are_fixed_unless_the_user_sets_them() {
        let stamp = |vars: &[(&str, &str)]| Make::stamps(&Vars::of(vars))[0].1.clone();
        assert_eq!(stamp(&[]), "Thu Jan  1 00:00:00 UTC 1970");
        assert_eq!(stamp(&[("SOURCE_DATE_EPOCH", "5")]), "@5");
        assert_eq!(stamp(&[("SOURCE_DATE_EPOCH", "5"), ("KBUILD_BUILD_TIMESTAMP", "now")]), "now");
    }

    #[test]
    fn tails_are_bounded() {
        let mut tail = Tail::default();
        for _ in 0..10_000 {
            tail.push("ä line\n");
        }
        assert!(tail.0.len() <= 2 * Tail::MOST && tail.0.ends_with("ä line\n"));
    }
}
