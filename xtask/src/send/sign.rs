//! Attestation by patatt, where the user has configured it: an
//! `X-Developer-Signature` over From, Subject and the patch.

use std::path::{Path, PathBuf};

use super::git;
use crate::error::{IoContext as _, Result};
use crate::host::paths::Dirs;
use crate::host::process::Cmd;
use crate::host::setup::{self, PythonTool};
use crate::mail::Mail;

/// patatt comes with b4.
const PATATT: PythonTool = PythonTool { package: "patatt", program: "patatt", version: "0.8.0" };

/// Signs the mails when `patatt.signingkey` is set in `folder`, unless git runs
/// patatt by itself there (its `sendemail-validate` hook). Says whether it did.
///
/// # Errors
/// When patatt is configured and missing, or fails.
pub fn sign(dirs: &Dirs, folder: &Path, mails: &mut [Mail]) -> Result<bool> {
    if git::setting(folder, "patatt.signingkey")?.is_none() || hook_signs(folder)? {
        return Ok(false);
    }
    let program = setup::find_python(dirs, PATATT).unwrap_or_else(|| PathBuf::from("patatt"));
    let place = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
    let files = super::write(place.path(), mails)?;
    Cmd::new(program)
        .arg("sign")
        .args(&files)
        .cwd(folder)
        .hint("pip install patatt, or unset patatt.signingkey")
        .run()?;
    for (mail, file) in mails.iter_mut().zip(&files) {
        mail.bytes = std::fs::read(file).at("read", file)?;
    }
    Ok(true)
}

fn hook_signs(folder: &Path) -> Result<bool> {
    let out = Cmd::new("git")
        .args(["rev-parse", "--git-path", "hooks/sendemail-validate"])
        .cwd(folder)
        .output()?;
    let hook = folder.join(out.text());
    Ok(out.ok() && std::fs::read_to_string(hook).is_ok_and(|text| text.contains("patatt")))
}
