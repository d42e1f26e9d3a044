//! The command line: global options, the list of commands, one match, and the
//! one place where a failure becomes an exit code.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};

use crate::commands;
use crate::error::{Error, Kind, Result};
use crate::host::paths::Dirs;
use crate::host::ui::{Format, Ui};
use crate::host::{process, signals};

/// Makes the list of commands. What clap's own derive makes builds the options of
/// all of them each time; this, those of the one that is run.
macro_rules! commands {
    ($($(#[doc = $about:literal])+ $word:literal = $name:ident($args:ty),)+) => {
        /// The commands, in the order in which a newcomer meets them.
        #[derive(Debug)]
        pub enum Command {
            $($(#[doc = $about])+ $name($args),)+
        }

        impl Subcommand for Command {
            fn augment_subcommands(cmd: clap::Command) -> clap::Command {
                cmd.subcommand_required(true).arg_required_else_help(true)$(.subcommand(
                    about(clap::Command::new($word), concat!($($about),+))
                        .defer(|cmd| {
                            about(<$args>::augment_args(cmd), concat!($($about),+))
                        })
                ))+
            }

            fn augment_subcommands_for_update(cmd: clap::Command) -> clap::Command {
                Self::augment_subcommands(cmd)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($word),+].contains(&name)
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
                let (name, matches) = matches
                    .subcommand()
                    .ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
                $(if name == $word {
                    return <$args>::from_arg_matches(matches).map(Command::$name);
                })+
                Err(clap::Error::new(ErrorKind::InvalidSubcommand))
            }

            fn update_from_arg_matches(
                &mut self,
                matches: &ArgMatches,
            ) -> std::result::Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        impl Command {
            fn run(&self, ctx: &Ctx) -> Result<Outcome> {
                match self {
                    $(Command::$name(c) => c.run(ctx),)+
                }
            }
        }
    };
}

/// As clap shows a line of documentation.
fn about(cmd: clap::Command, line: &'static str) -> clap::Command {
    let line = line.trim();
    cmd.about(line.strip_suffix('.').unwrap_or(line)).long_about(None)
}

/// Linux kernel patch series kept as source.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, max_term_width = 100)]
pub struct Cli {
    /// How results are written to stdout.
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// The project folder: the one with `series/`. Default: the nearest one upward.
    #[arg(long, global = true, value_name = "DIR", env = "KSERIES_PROJECT")]
    pub project: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

commands! {
    /// Everything on a fresh machine: tools, kernel source, series, kernels, selftests.
    "quickstart" = Quickstart(commands::quickstart::Quickstart),
    /// Which host tools are there, what is missing for what, and how to install it.
    "doctor" = Doctor(commands::doctor::Doctor),
    /// The series of the project.
    "list" = List(commands::list::List),
    /// One series, with its verdict on every base at hand.
    "show" = Show(commands::show::Show),
    /// A new series: a commented skeleton that renders at once.
    "new-series" = NewSeries(commands::new_series::NewSeries),
    /// A series that exists already, as mails or commits, becomes source.
    "import-series" = ImportSeries(Box<commands::import_series::ImportSeries>),
    /// Renders series onto a base: commits, and mails that can be sent as they are.
    "generate-series" = GenerateSeries(Box<commands::generate_series::GenerateSeries>),
    /// Mails of any commits of any repository, in the bytes of git format-patch.
    "format-series" = FormatSeries(Box<commands::format_series::FormatSeries>),
    /// The kernel trees that series are rendered onto: known, at hand, import, forget.
    "bases" = Bases(commands::bases::Bases),
    /// Every gate that a maintainer applies: applies, checkpatch, trailers, recipients, …
    "check" = Check(Box<commands::check::Check>),
    /// A kernel image and its metadata.
    "build-kernel" = BuildKernel(Box<commands::build_kernel::BuildKernel>),
    /// Machine code before and after a series: size, indirect calls, jump tables, by function.
    "inspect" = Inspect(Box<commands::inspect::Inspect>),
    /// Boots a kernel in a guest, runs tests in it, and reports what held.
    "test-vm" = TestVm(Box<commands::test_vm::TestVm>),
    /// A series' benchmarks: the kernel without it against the kernel with it, and what differs.
    "bench" = Bench(Box<commands::bench::Bench>),
    /// Every series on every base: verdicts, gates, builds, boots, mutants; a dated table.
    "matrix" = Matrix(Box<commands::matrix::Matrix>),
    /// Preview, send to oneself, or git send-email; asks before anything goes out.
    "send" = Send(Box<commands::send::Send>),
    /// Everything that the project's own CI runs; ends with the counts.
    "ci" = Ci(commands::ci::Ci),
}

/// How a command that could be carried out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All that was asked holds (exit code 0).
    Held,
    /// A check failed; the report says which (exit code 1).
    Failed,
    /// A patch does not fit its base; the report says where (exit code 4).
    Conflict,
}

/// What every command is given.
#[derive(Debug)]
pub struct Ctx {
    /// Talks to the user.
    pub ui: Ui,
    /// Where things are found and kept.
    pub dirs: Dirs,
}

/// Parses the arguments, runs the command, and says how it ended.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // clap's own exit code for bad usage is 2, ours as well; help is 0.
            let _ = e.print();
            if e.exit_code() != 0 && asks_for_json(std::env::args_os()) {
                let what = e.to_string();
                let asked = what.lines().next().unwrap_or_default();
                let asked = asked.strip_prefix("error: ").unwrap_or(asked);
                document(&Error::usage(asked).hint("cargo xtask help"));
            }
            return ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2));
        }
    };
    let ui = Ui::new(cli.format);
    match run(&cli, &ui) {
        Ok(Outcome::Held) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(Kind::Check.exit_code()),
        Ok(Outcome::Conflict) => ExitCode::from(Kind::Conflict.exit_code()),
        Err(e) => {
            report(&ui, &e);
            ExitCode::from(e.kind().exit_code())
        }
    }
}

fn run(cli: &Cli, ui: &Ui) -> Result<Outcome> {
    let of_signals = ui.clone();
    signals::install(move |e| report(&of_signals, e))?;
    if let Command::TestVm(args) = &cli.command {
        waits("--timeout", args.timeout)?;
        waits("--silence", Some(args.silence))?;
    }
    let dirs = match &cli.command {
        // They may begin a project: its `series/` need not be there yet.
        Command::NewSeries(_) | Command::ImportSeries(_) => {
            Dirs::locate_or_begin(cli.project.as_deref())?
        }
        _ => Dirs::locate(cli.project.as_deref())?,
    };
    let ctx = Ctx { ui: ui.clone(), dirs };
    cli.command.run(&ctx)
}

/// Refuses to wait for what is no time.
fn waits(option: &str, seconds: Option<u64>) -> Result<()> {
    match seconds {
        Some(n) if n > process::LONGEST => Err(Error::usage(format!("{option} {n}"))
            .found("that many seconds are more than a week")
            .hint("a guest that says nothing for a minute counts as hung anyway")),
        _ => Ok(()),
    }
}

fn report(ui: &Ui, e: &Error) {
    if ui.format() == Format::Json {
        document(e);
    }
    ui.error(e);
}

/// The result channel carries the failure too, so that a reader of JSON need not
/// parse the talk.
fn document(e: &Error) {
    let value = serde_json::json!({ "error": {
        "kind": format!("{:?}", e.kind()).to_lowercase(),
        "asked": e.asked(),
        "found": e.what_was_found(),
        "mend": e.hints(),
    }});
    let _ = writeln!(std::io::stdout(), "{value}");
}

/// Whether arguments that were not understood ask for JSON all the same.
fn asks_for_json(args: impl Iterator<Item = std::ffi::OsString>) -> bool {
    let args: Vec<_> = args.collect();
    args.iter().any(|a| a == "--format=json")
        || args.windows(2).any(|w| matches!(w, [a, b] if a == "--format" && b == "json"))
}
