//! The check of `ci` on mails that the fast tests cannot afford: parity with
//! `git format-patch` over thousands of commits and over the project's own history.

use super::{Stage, Status};
use crate::error::Result;
use crate::host::process::{Cmd, tail};
use crate::host::tools;

/// Every byte as git's: over histories made from seeds, and the project's own.
///
/// # Errors
/// When cargo cannot be run.
pub fn parity(stage: &mut Stage) -> Result<()> {
    let project = stage.ctx.dirs.project()?.to_owned();
    // Before, it left out a last line without line break when it compared files.
    if !tools::git_is_at_least(2, 44)? {
        let why = "git is older than 2.44, and estimates the similarity of files otherwise";
        stage.add("parity with git format-patch", Status::Skipped, why);
        return Ok(());
    }
    let mut runs = vec![("parity", "histories made from seeds")];
    // A source archive has no history.
    if project.join(".git").exists() {
        runs.push(("history", "the project's own history"));
    } else {
        stage.add("the project's own history", Status::Skipped, "no .git here");
    }
    for (test, name) in runs {
        let output = Cmd::new("cargo")
            .args(["test", "--quiet", "--locked", "--test", "mail_parity", "--"])
            .args(["--ignored", "--exact", "--nocapture", test])
            .env("PARITY_REPO", &project)
            .env("PARITY_RANGE", "HEAD")
            .cwd(&project)
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let counted = said.lines().find(|l| l.contains("mails compared"));
        if output.ok() && counted.is_some_and(|c| c.starts_with("0 ")) {
            // A shallow clone has one commit, without the one before it.
            stage.add(name, Status::Skipped, "no commit with a parent here");
            continue;
        }
        let held = output.ok() && counted.is_some();
        let all = [output.stdout.as_slice(), &output.stderr].concat();
        let detail = counted.map_or_else(|| tail(&all, 40), str::to_owned);
        stage.check(name, held, if held { detail } else { tail(&all, 40) });
    }
    Ok(())
}
