//! A git repository elsewhere as a base: one commit without its history, by the
//! git program, which knows the user's proxies and credentials.

use git2::Oid;

use crate::error::{Error, Result};
use crate::host::process::{Cmd, tail};
use crate::host::tools;
use crate::host::ui::Ui;
use crate::tree::store::Store;

/// Fetches `branch` (HEAD when not said) of `url` into the store, under the ref
/// `name`. The caller holds the store's lock.
///
/// # Errors
/// When git is missing, the URL cannot be reached or has no such branch.
pub fn fetch(ui: &Ui, store: &Store, url: &str, branch: Option<&str>, name: &str) -> Result<Oid> {
    let git = tools::need("git")?;
    let branch = branch.unwrap_or("HEAD");
    if url.starts_with('-') || branch.starts_with(['-', '+']) || branch.contains([':', ' ']) {
        return Err(
            Error::usage(format!("base {url}#{branch}")).found("git cannot fetch that name")
        );
    }
    let step = ui.step(format!("fetch {url} {branch}"));
    let cmd = git_in(git, store)
        .args(["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--force"])
        .arg(url)
        .arg(format!("+{branch}:{name}"));
    let output = cmd.output()?;
    if !output.ok() {
        return Err(Error::host(format!("cannot fetch {branch} of {url}"))
            .found(tail(&output.stderr, 6))
            .hint("check the network and the name; or name a clone on this machine"));
    }
    let odb = store.repo().odb()?;
    odb.refresh()?;
    let commit = store.repo().find_reference(name)?.peel_to_commit()?.id();
    step.done(&commit.to_string());
    Ok(commit)
}

/// git on the store, whatever repository the caller's environment points at.
fn git_in(git: std::path::PathBuf, store: &Store) -> Cmd {
    let mut cmd = Cmd::new(git)
        .arg("--git-dir")
        .arg(store.path())
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    for var in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
    ] {
        cmd = cmd.env_remove(var);
    }
    cmd
}
