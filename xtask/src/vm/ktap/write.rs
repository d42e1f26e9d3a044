//! Writes a tree as KTAP: the summary format that other tools read.

use std::fmt::Write as _;

use super::{Block, Document, Status, Test};

impl Document {
    /// The document as KTAP version 1, with our verdicts in place of what the
    /// lines said, so that a reader of plain `ok`/`not ok` comes to the same end.
    #[must_use]
    pub fn to_ktap(&self) -> String {
        let mut out = String::new();
        write_block(&self.root, 0, &mut out);
        out
    }
}

fn write_block(block: &Block, depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{pad}KTAP version 1");
    // What is wrong with the block as a whole is a point of its own, so that a
    // reader who counts points comes to our verdict.
    let fatal = || block.problems.iter().filter(|p| p.fatal);
    let points = block.tests.len() + fatal().count();
    match &block.skipped {
        Some(why) if points == 0 => {
            let _ = writeln!(out, "{pad}1..0 # SKIP {}", one_line(why));
        }
        _ if points == 0 => {}
        _ => {
            let _ = writeln!(out, "{pad}1..{points}");
        }
    }
    for (i, test) in block.tests.iter().enumerate() {
        write_test(test, i + 1, depth, out);
    }
    for (i, problem) in fatal().enumerate() {
        let number = block.tests.len() + i + 1;
        let _ = writeln!(out, "{pad}not ok {number} - {}", one_line(&problem.text));
    }
    for problem in block.problems.iter().filter(|p| !p.fatal) {
        let _ = writeln!(out, "{pad}# {}", one_line(&problem.text));
    }
    if let Some(why) = &block.bail {
        let _ = writeln!(out, "{pad}Bail out! {}", one_line(why));
    }
}

fn write_test(test: &Test, number: usize, depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    if let Some(children) = &test.children {
        write_block(children, depth + 1, out);
    }
    for problem in &test.problems {
        let _ = writeln!(out, "{pad}# {}: {}", one_line(&test.name), one_line(&problem.text));
    }
    let reason = test.directive.as_ref().map_or("", |d| d.reason.as_str());
    let (word, directive) = match test.status {
        Status::Pass => ("ok", ""),
        Status::Skip => ("ok", " # SKIP"),
        Status::ExpectedFail => ("not ok", " # XFAIL"),
        Status::TimedOut => ("not ok", " # TIMEOUT"),
        Status::Fail | Status::Crashed | Status::NotRun | Status::Damaged | Status::Flaky => {
            ("not ok", "")
        }
    };
    let reason =
        if directive.is_empty() { String::new() } else { format!(" {}", one_line(reason)) };
    // A dash in front keeps a name that begins with one, or looks like a number.
    let line = format!("{word} {number} - {}{directive}{reason}", one_line(&test.name));
    let _ = writeln!(out, "{pad}{}", line.trim_end());
    if matches!(test.status, Status::Crashed | Status::NotRun | Status::Damaged | Status::Flaky) {
        let _ = writeln!(out, "{pad}# {} {}", number, test.status.word());
    }
}

/// Names and reasons come from the guest: keep them on their line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
