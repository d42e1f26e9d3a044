//! The check of `ci` on mails that the fast tests cannot afford: parity with
//! `git format-patch` over thousands of commits, over the project's own history and
//! over the patches of a distribution's kernel.

use super::{Stage, Status, debian};
use crate::error::Result;
use crate::host::process::{Cmd, tail};
use crate::host::tools;

/// Every byte as git's: over histories made from seeds, the project's own, and one
/// by many hands.
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
    let own = (&*project.display().to_string(), "HEAD");
    compare(stage, "parity", "histories made from seeds", own)?;
    // A source archive has no history.
    if project.join(".git").exists() {
        compare(stage, "history", "the project's own history", own)?;
    } else {
        stage.add("the project's own history", Status::Skipped, "no .git here");
    }
    debian::check(stage)
}

/// Runs one test of parity, over a range of a repository where it takes one.
pub(super) fn compare(
    stage: &mut Stage,
    test: &str,
    name: &str,
    (repo, range): (&str, &str),
) -> Result<()> {
    let output = Cmd::new("cargo")
        .args(["test", "--quiet", "--locked", "--test", "mail_parity", "--"])
        .args(["--ignored", "--exact", "--nocapture", test])
        .env("PARITY_REPO", repo)
        .env("PARITY_RANGE", range)
        .cwd(stage.ctx.dirs.project()?)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let counted = said.lines().find(|l| l.contains("mails compared"));
    if output.ok() && counted.is_some_and(|c| c.starts_with("0 ")) {
        // A shallow clone has one commit, without the one before it.
        stage.add(name, Status::Skipped, "no commit with a parent here");
        return Ok(());
    }
    let held = output.ok() && counted.is_some();
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    let detail = counted.map_or_else(|| tail(&all, 40), str::to_owned);
    stage.check(name, held, if held { detail } else { tail(&all, 40) });
    Ok(())
}
