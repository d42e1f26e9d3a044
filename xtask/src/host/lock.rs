//! Locks between runs of the tool: a file that is held while one of them works
//! in a folder, with the holder's pid in it for the one that waits.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::host::{signals, ui::Ui};

/// A held lock; released when dropped, and by the system when we die.
#[derive(Debug)]
pub struct Lock {
    _file: nix::fcntl::Flock<File>,
}

/// Takes the lock at `path`, waiting for who holds it; `what` names the thing
/// that is locked ("the build folder …"), for the line that says whom we wait for.
///
/// # Errors
/// When the lock file cannot be made, or the user ends the wait.
pub fn take(ui: &Ui, path: &Path, what: &str) -> Result<Lock> {
    let mut said = false;
    loop {
        match try_take(path)? {
            Ok(lock) => return Ok(lock),
            Err(holder) => {
                if !said {
                    ui.note(&format!("waiting for {what}: {holder} holds it"));
                    said = true;
                }
                signals::check()?;
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        }
    }
}

/// Takes the lock if it is free; the inner error says who holds it.
///
/// # Errors
/// When the lock file cannot be made.
pub fn try_take(path: &Path) -> Result<Result<Lock, String>> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).at("create folder", dir)?;
    }
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .at("open lock", path)?;
    let mut holder = String::new();
    let _ = file.read_to_string(&mut holder);
    match nix::fcntl::Flock::lock(file, nix::fcntl::FlockArg::LockExclusiveNonblock) {
        Ok(mut held) => {
            let _ = held.set_len(0);
            let _ = held.rewind();
            let _ = write!(held, "process {}", std::process::id());
            Ok(Ok(Lock { _file: held }))
        }
        Err((_, nix::errno::Errno::EWOULDBLOCK)) => {
            Ok(Err(if holder.is_empty() { "another process".into() } else { holder }))
        }
        Err((_, e)) => Err(Error::host(format!("cannot lock {}", path.display())).found(e.desc())),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_second_is_told_who_holds_it() {
        let t = tempfile::tempdir().unwrap();
        let path = t.path().join("l");
        let first = super::try_take(&path).unwrap().unwrap();
        let holder = super::try_take(&path).unwrap().unwrap_err();
        assert_eq!(holder, format!("process {}", std::process::id()));
        drop(first);
        assert!(super::try_take(&path).unwrap().is_ok());
    }
}
