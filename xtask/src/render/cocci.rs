//! Semantic patches: Coccinelle's `spatch` run over one file. It is an optional
//! tool; only series that have a `cocci` edit need it.

use std::fs;
use std::time::Duration;

use crate::error::{Error, IoContext, Result};
use crate::host::process::Cmd;

/// How long one run may take.
const TIME: Duration = Duration::from_secs(120);

/// Runs semantic patches.
pub trait Semantic {
    /// The file at `path` with this content, after the semantic patch.
    ///
    /// # Errors
    /// When the tool is missing or fails.
    fn run(&self, patch: &str, path: &str, content: &[u8]) -> Result<Vec<u8>>;
}

/// Coccinelle's `spatch`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spatch;

impl Semantic for Spatch {
    fn run(&self, patch: &str, path: &str, content: &[u8]) -> Result<Vec<u8>> {
        let folder = tempfile::tempdir().map_err(|e| {
            Error::host("cannot make a temporary folder for spatch").found(e.to_string())
        })?;
        let name = path.rsplit('/').next().unwrap_or("file.c");
        let file = folder.path().join(name);
        let rules = folder.path().join("rules.cocci");
        fs::write(&file, content).at("write", &file)?;
        fs::write(&rules, patch).at("write", &rules)?;
        let command = Cmd::new("spatch")
            .args(["--very-quiet", "--no-show-diff", "--in-place", "--sp-file"])
            .arg(&rules)
            .arg(&file)
            .cwd(folder.path())
            .timeout(TIME)
            .hint("apt-get install coccinelle");
        let output = command.output()?;
        if !output.ok() {
            return Err(command.failure(&output).context(format!("a semantic patch for {path}")));
        }
        fs::read(&file).at("read", &file)
    }
}
