//! Files from elsewhere, by the curl program, kept in the cache: a broken
//! download goes on where it ended.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, IoContext, Result};
use crate::host::paths::Dirs;
use crate::host::process::{Cmd, tail};
use crate::host::tools;
use crate::host::ui::Ui;

/// Where downloads are kept.
#[must_use]
pub fn folder(dirs: &Dirs) -> PathBuf {
    dirs.cache().join("downloads")
}

/// The file at `url`, from the cache if it was downloaded before. `fresh` takes
/// it anew.
///
/// # Errors
/// When curl is missing, or the URL cannot be had.
pub fn get(ui: &Ui, dirs: &Dirs, url: &str, fresh: bool) -> Result<PathBuf> {
    let dir = folder(dirs);
    fs::create_dir_all(&dir).at("create folder", &dir)?;
    let place = dir.join(file_name(url));
    if place.is_file() && !fresh {
        return Ok(place);
    }
    let curl = tools::need("curl")?;
    let part = with_suffix(&place, ".part");
    let step = ui.step(format!("download {url}"));
    let run = |resume: bool| {
        let mut cmd = Cmd::new(&curl).args([
            "--fail",
            "--location",
            "--silent",
            "--show-error",
            "--retry",
            "3",
            "--connect-timeout",
            "30",
            "--speed-limit",
            "1000",
            "--speed-time",
            "60",
            "--proto",
            "=http,https,ftp,file",
            "--proto-redir",
            "=http,https",
        ]);
        if resume {
            cmd = cmd.args(["--continue-at", "-"]);
        }
        cmd.arg("--output").arg(&part).arg("--url").arg(url).output()
    };
    let resume = fs::metadata(&part).is_ok_and(|m| m.len() > 0) && !fresh;
    if !resume {
        let _ = fs::remove_file(&part);
    }
    let mut output = run(resume)?;
    // 33: the server cannot go on; 22: it says so with a code of HTTP (416).
    if resume && !output.ok() {
        let _ = fs::remove_file(&part);
        output = run(false)?;
    }
    if !output.ok() {
        let error = Error::host(format!("cannot download {url}")).found(tail(&output.stderr, 6));
        return Err(match output.code {
            23 => error.hint(format!("check space and permissions of {}", dir.display())),
            22 => error.hint("the server has no such file: check the name"),
            _ => error.hint(
                "check the network and the name; what has come is kept, run it again to go on",
            ),
        });
    }
    fs::File::open(&part).and_then(|f| f.sync_all()).at("sync", &part)?;
    fs::rename(&part, &place).at("rename into place", &place)?;
    step.done("done");
    Ok(place)
}

/// A name that is unlike that of another URL's file, and still says what it is.
fn file_name(url: &str) -> String {
    use sha1::{Digest as _, Sha1};
    let name = url.rsplit('/').next().unwrap_or("file");
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-+".contains(c) { c } else { '-' })
        .collect();
    let hash: String = Sha1::digest(url).iter().take(4).map(|b| format!("{b:02x}")).collect();
    format!("{hash}-{name}")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
