//! The sockets between a guest and us. We listen before QEMU starts and QEMU
//! connects, so nothing races, and each run has a folder of its own.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::error::{Error, IoContext as _, Result};

/// What comes from a guest, or from what started it.
#[derive(Debug)]
pub(super) enum Event {
    /// Bytes of the console.
    Console(Vec<u8>),
    /// Bytes of the result port.
    Ktap(Vec<u8>),
    /// Bytes of the control port.
    Ctl(Vec<u8>),
    /// Bytes of QEMU's monitor.
    Qmp(Vec<u8>),
    /// The monitor's other end, to be written to.
    QmpOpen(UnixStream),
    /// What the emulator itself said.
    Said(Vec<u8>),
}

/// Makes an event of what was read.
type Wrap = fn(Vec<u8>) -> Event;

/// The folders' names: this, the process, a dash, and something random.
const PREFIX: &str = "kseries-vm-";

/// Removes the folders of runs that were killed: their process is gone.
fn remove_stale(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|n| n.strip_prefix(PREFIX)?.split_once('-'));
        let owner = owner.and_then(|(pid, _)| pid.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            // Someone else's folder stays: the removal fails.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The folder of one run: private, removed with it.
#[derive(Debug)]
pub(super) struct RunDir {
    dir: tempfile::TempDir,
    stop: Arc<AtomicBool>,
}

impl RunDir {
    /// Makes it, below `parent` or the usual place for temporary files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(parent: Option<&Path>) -> Result<RunDir> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        std::fs::create_dir_all(&parent).at("create folder", &parent)?;
        remove_stale(&parent);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let dir = tempfile::Builder::new().prefix(&prefix).tempdir_in(&parent);
        let dir = dir.map_err(|e| {
            Error::host("cannot make a folder for the guest")
                .found(e.to_string())
                .hint("set TMPDIR")
        })?;
        Ok(RunDir { dir, stop: Arc::new(AtomicBool::new(false)) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Listens on the socket `name` and passes on what comes.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn listen(&self, name: &str, tx: &SyncSender<Event>, wrap: Wrap, qmp: bool) -> Result<()> {
        let place = self.path().join(name);
        // A socket's path must be short; a folder's open file makes it so.
        let open = File::open(self.path()).at("open", self.path())?;
        let short = PathBuf::from(format!("/proc/self/fd/{}/{name}", open.as_raw_fd()));
        let listener = UnixListener::bind(&short).at("listen on", &place)?;
        listener.set_nonblocking(true).at("listen on", &place)?;
        let (tx, stop) = (tx.clone(), Arc::clone(&self.stop));
        std::thread::spawn(move || {
            let stream = loop {
                match listener.accept() {
                    Ok((stream, _)) => break stream,
                    Err(_) if stop.load(Ordering::Relaxed) => return,
                    Err(_) => std::thread::sleep(Duration::from_millis(5)),
                }
            };
            if stream.set_nonblocking(false).is_err() {
                return;
            }
            if qmp && let Ok(other) = stream.try_clone() {
                let _ = tx.send(Event::QmpOpen(other));
            }
            forward(stream, &tx, wrap);
        });
        Ok(())
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Passes on what `from` gives until it ends or nobody listens. The channel is
/// bounded: a guest that floods waits for us.
pub(super) fn forward(mut from: impl Read, tx: &SyncSender<Event>, wrap: Wrap) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => {
                let bytes = buffer.get(..n).unwrap_or(&[]).to_vec();
                if tx.send(wrap(bytes)).is_err() {
                    return;
                }
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_long_path_is_no_matter_and_the_folder_goes() {
        let t = tempfile::tempdir().unwrap();
        let deep = t.path().join("x".repeat(200));
        let run = RunDir::new(Some(&deep)).unwrap();
        let (tx, rx) = std::sync::mpsc::sync_channel(4);
        run.listen("ktap", &tx, Event::Ktap, false).unwrap();
        // As QEMU does it: from within the folder.
        let open = File::open(run.path()).unwrap();
        let path = format!("/proc/self/fd/{}/ktap", open.as_raw_fd());
        UnixStream::connect(path).unwrap().write_all(b"ok").unwrap();
        assert!(matches!(rx.recv().unwrap(), Event::Ktap(b) if b == b"ok"));
        drop(run);
        assert_eq!(std::fs::read_dir(&deep).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_run_left_is_removed() {
        let t = tempfile::tempdir().unwrap();
        let dead = t.path().join(format!("{PREFIX}4194305-abc"));
        let other = t.path().join(format!("{PREFIX}x"));
        let alive = RunDir::new(Some(t.path())).unwrap();
        std::fs::create_dir(&dead).unwrap();
        std::fs::create_dir(&other).unwrap();
        let _second = RunDir::new(Some(t.path())).unwrap();
        assert!(!dead.exists() && other.exists() && alive.path().exists());
    }

    #[test]
    fn two_runs_do_not_meet() {
        let (a, b) = (RunDir::new(None).unwrap(), RunDir::new(None).unwrap());
        assert_ne!(a.path(), b.path());
    }
}
