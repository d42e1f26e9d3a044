//! The documents say what the code does: each command line in them parses, each
//! command has its line in the README, links lead somewhere.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, Parser as _};
use xtask::cli::Cli;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let skipped = ["target", "out", ".git", "fuzz"];
    let walk = walkdir::WalkDir::new(root()).into_iter();
    for entry in walk.filter_entry(|e| !skipped.iter().any(|n| e.file_name() == *n)) {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|e| e == "md") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    assert!(found.len() >= 4, "README, ARCHITECTURE, CONTRIBUTING and series/README");
    found
}

/// Every `cargo xtask …` of a document: lines of code blocks, and inline code.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            if line.trim_start().starts_with("cargo xtask") {
                commands.push(line.split(" #").next().unwrap().trim().to_owned());
            }
        } else {
            // Inline code: the odd pieces between back-ticks.
            let inline = line.split('`').skip(1).step_by(2);
            commands.extend(inline.filter(|c| c.starts_with("cargo xtask ")).map(str::to_owned));
        }
    }
    commands
}

#[test]
fn every_command_line_in_the_documents_parses() {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    let mut seen = 0;
    for (path, text) in documents() {
        for command in commands(&text) {
            let words = shell_words::split(&command).unwrap();
            // `cargo xtask` is the program's name.
            let args = std::iter::once("xtask").chain(words.iter().skip(2).map(String::as_str));
            if let Err(e) = Cli::try_parse_from(args) {
                let fine = matches!(e.kind(), DisplayHelp | DisplayVersion);
                assert!(fine, "{}: `{command}`: {e}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen >= 8, "only {seen} command lines were found");
}

#[test]
fn every_command_is_in_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        assert!(readme.contains(&format!("cargo xtask {name}")), "README.md lacks {name}");
    }
}

#[test]
fn every_command_and_option_has_a_help_text() {
    fn look(command: &clap::Command, path: &str) {
        assert!(command.get_about().is_some(), "{path} has no help");
        for arg in command.get_arguments() {
            let help = arg.get_help().or_else(|| arg.get_long_help());
            assert!(help.is_some(), "{path} {} has no help", arg.get_id());
        }
        for sub in command.get_subcommands() {
            look(sub, &format!("{path} {}", sub.get_name()));
        }
    }
    look(&Cli::command(), "cargo xtask");
    Cli::command().debug_assert();
}

#[test]
fn links_between_documents_lead_somewhere() {
    for (path, text) in documents() {
        for piece in text.split("](").skip(1) {
            let target = piece.split(')').next().unwrap().split('#').next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let full = path.parent().unwrap().join(target);
            assert!(full.exists(), "{}: link to {target}", path.display());
        }
    }
}
