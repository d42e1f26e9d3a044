//! `cargo xtask`: renders kernel patch series from source onto any kernel tree,
//! commits and mails them, builds the kernels, boots them and runs selftests.
//! `cargo xtask --help` lists the commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::cli::main()
}
