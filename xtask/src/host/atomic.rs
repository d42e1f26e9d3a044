//! Products that appear whole or not at all: written beside their place,
//! synced, and renamed into it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, IoContext, Result};
use crate::host::output::{self, WRITING};

/// Writes `bytes` to `path` so that a reader, or a kill at any moment, sees the
/// old file or the new one and never a part. What a killed process left beside it is
/// swept.
///
/// # Errors
/// When the folder cannot be made or written; the old file is then as it was.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let dir = parent(path)?;
    fs::create_dir_all(dir).at("create folder", dir)?;
    sweep(dir);
    let mut tmp = tempfile::Builder::new()
        .prefix(&prefix())
        .permissions(permissions(0o666))
        .tempfile_in(dir)
        .at("create a file in", dir)?;
    // As for a folder; released when it is closed, after the rename.
    let _ = tmp.as_file().try_lock();
    tmp.write_all(bytes).at("write", path)?;
    tmp.as_file().sync_all().at("sync", path)?;
    tmp.persist(path).map_err(|e| e.error).at("rename into place", path)?;
    Ok(())
}

/// Of what is being written; it names who writes, for [`sweep`].
fn prefix() -> String {
    format!("{WRITING}{}-", std::process::id())
}

/// Removes what killed processes left in `dir`. Who is at work has a process
/// here, or (in another container) holds a lock.
fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|n| n.strip_prefix(WRITING)?.split('-').next());
        let Some(pid) = pid.filter(|p| p.bytes().all(|b| b.is_ascii_digit())) else { continue };
        if Path::new("/proc").join(pid).exists() {
            continue;
        }
        let path = entry.path();
        let Ok(open) = File::open(&path) else { continue };
        if open.try_lock().is_err() {
            continue;
        }
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
}

fn permissions(mode: u32) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(mode)
}

fn parent(path: &Path) -> Result<&Path> {
    match path.parent() {
        Some(p) if p.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(p) => Ok(p),
        None => Err(Error::usage(format!("cannot write to {}", path.display()))
            .found("it has no parent folder")),
    }
}

/// A folder beside a place, for what is to be moved there; removed when dropped.
/// What a killed process left of it is swept by the next one that begins there.
#[derive(Debug)]
pub struct Staging {
    folder: tempfile::TempDir,
    /// Held as long as it is being filled.
    _lock: Option<File>,
}

impl Staging {
    /// Begins one in `dir`, which is made where it is not there.
    ///
    /// # Errors
    /// When that cannot be made or written.
    pub fn begin(dir: &Path) -> Result<Staging> {
        fs::create_dir_all(dir).at("create folder", dir)?;
        sweep(dir);
        let folder = tempfile::Builder::new()
            .prefix(&prefix())
            .permissions(permissions(0o777))
            .tempdir_in(dir)
            .at("create a folder in", dir)?;
        // Not every file system has locks; the process is told by its number, too.
        let lock = File::open(folder.path()).ok().filter(|f| f.try_lock().is_ok());
        Ok(Staging { folder, _lock: lock })
    }

    /// Where to write.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves it where it is: it is a product now, or has been moved.
    pub fn keep(self) {
        let _ = self.folder.keep();
    }
}

/// A folder being filled: it takes its place with [`Dir::commit`], and is
/// removed when dropped before.
#[derive(Debug)]
pub struct Dir {
    place: PathBuf,
    staging: Staging,
    /// What [`Dir::write`] wrote and is not synced yet.
    written: Vec<PathBuf>,
    /// What is synced already.
    synced: BTreeSet<PathBuf>,
}

impl Dir {
    /// Begins a folder that will stand at `place`.
    ///
    /// # Errors
    /// When the parent folder cannot be made or written, or something stands at `place`
    /// that is no product.
    pub fn begin(place: &Path) -> Result<Dir> {
        let place = output::resolve(place)?;
        output::check_ours(&place)?;
        let staging = Staging::begin(parent(&place)?)?;
        let (written, synced) = (Vec::new(), BTreeSet::new());
        Ok(Dir { place, staging, written, synced })
    }

    /// Where it will stand: links followed, the way from the root.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Where to write until it is committed.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.staging.path()
    }

    /// Writes a file into it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path().join(name);
        fs::write(&path, bytes).at("write", &path)?;
        self.written.push(path);
        Ok(())
    }

    /// Syncs what [`Dir::write`] wrote: a folder that is filled beside other work
    /// then need not wait for the disk in [`Dir::commit`].
    ///
    /// # Errors
    /// When a sync fails.
    pub fn sync(&mut self) -> Result<()> {
        for path in std::mem::take(&mut self.written) {
            File::open(&path).and_then(|f| f.sync_all()).at("sync", &path)?;
            self.synced.insert(path);
        }
        Ok(())
    }

    /// Syncs whatever is there.
    fn sync_all(&self) -> Result<()> {
        for entry in walkdir::WalkDir::new(self.staging.path()) {
            let entry = entry.map_err(|e| {
                Error::host(format!("cannot read {}", self.staging.path().display()))
                    .found(e.to_string())
            })?;
            if entry.file_type().is_file() && !self.synced.contains(entry.path()) {
                File::open(entry.path()).and_then(|f| f.sync_all()).at("sync", entry.path())?;
            }
        }
        Ok(())
    }

    /// Syncs the files and puts the folder in its place; a folder that stood
    /// there before is replaced.
    ///
    /// # Errors
    /// When a sync or rename fails; the old folder is then as it was.
    pub fn commit(mut self) -> Result<()> {
        self.sync()?;
        self.sync_all()?;
        let dir = parent(&self.place)?.to_owned();
        let staging = self.staging.path();
        if self.place.symlink_metadata().is_ok() && exchange(staging, &self.place).is_ok() {
            // What stood there is in the staging folder, which is removed on drop.
            sync(&dir);
            return Ok(());
        }
        let old = if self.place.symlink_metadata().is_ok() {
            let aside = tempfile::Builder::new()
                .prefix(&prefix())
                .tempdir_in(&dir)
                .at("create a folder in", &dir)?;
            fs::rename(&self.place, aside.path().join("old")).at("move aside", &self.place)?;
            Some(aside)
        } else {
            None
        };
        if let Err(e) = fs::rename(staging, &self.place) {
            if let Some(aside) = &old {
                let _ = fs::rename(aside.path().join("old"), &self.place);
            }
            return Err(crate::error::io_error("rename into place", &self.place, &e));
        }
        // The staging folder is now the product: it must not be removed on drop.
        self.staging.keep();
        sync(&dir);
        Ok(())
    }
}

fn sync(dir: &Path) {
    if let Ok(d) = File::open(dir) {
        let _ = d.sync_all();
    }
}

/// Both folders change places at once, so that no moment has neither. Not every
/// file system can.
fn exchange(a: &Path, b: &Path) -> nix::Result<()> {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    renameat2(AT_FDCWD, a, AT_FDCWD, b, RenameFlags::RENAME_EXCHANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_folder_leaves_nothing() {
        let t = tempfile::tempdir().unwrap();
        let d = Dir::begin(&t.path().join("x")).unwrap();
        fs::write(d.path().join("f"), "1").unwrap();
        drop(d);
        assert_eq!(fs::read_dir(t.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_killed_processes_left_is_swept() {
        let t = tempfile::tempdir().unwrap();
        // No process has this number: it is above what the kernel gives.
        let (dead, held) =
            (t.path().join(".writing-4194999-a"), t.path().join(".writing-4194999-b"));
        let ours = t.path().join(format!(".writing-{}-c", std::process::id()));
        let other = t.path().join(".writing-x");
        for folder in [&dead, &held, &ours, &other] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("f"), "1").unwrap();
        }
        let lock = File::open(&held).unwrap();
        lock.try_lock().unwrap();
        drop(Dir::begin(&t.path().join("x")).unwrap());
        assert!(!dead.exists() && held.exists() && ours.exists() && other.exists());
        // Of files too, and where only files are written.
        let (file, busy) =
            (t.path().join(".writing-4194999-c"), t.path().join(".writing-4194999-d"));
        fs::write(&file, "half").unwrap();
        let lock = File::create(&busy).unwrap();
        lock.try_lock().unwrap();
        write(&t.path().join("places.toml"), b"whole").unwrap();
        assert!(!file.exists() && busy.exists() && held.exists() && ours.exists());
        assert_eq!(fs::read(t.path().join("places.toml")).unwrap(), b"whole");
    }

    #[test]
    fn a_committed_folder_replaces_the_old_one_whole() {
        let t = tempfile::tempdir().unwrap();
        let place = t.path().join("x");
        for n in ["1", "2"] {
            let mut d = Dir::begin(&place).unwrap();
            fs::write(d.path().join(n), n).unwrap();
            let ours = format!("{{\"form\": \"kseries-test-results/{n}\"}}");
            fs::write(d.path().join("results.json"), ours).unwrap();
            d.write(&format!("{n}s"), n.as_bytes()).unwrap();
            d.commit().unwrap();
        }
        assert_eq!(fs::read(place.join("2s")).unwrap(), b"2");
        let mut names: Vec<_> =
            fs::read_dir(&place).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["2", "2s", "results.json"]);
        assert_eq!(fs::read_dir(t.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_product_is_not_replaced() {
        let t = tempfile::tempdir().unwrap();
        let mine = t.path().join("mine");
        fs::create_dir(&mine).unwrap();
        fs::write(mine.join("thesis.txt"), "1").unwrap();
        assert!(Dir::begin(&mine).is_err());
        assert_eq!(fs::read(mine.join("thesis.txt")).unwrap(), b"1");
    }

    #[test]
    fn a_link_to_a_folder_stays_one() {
        let t = tempfile::tempdir().unwrap();
        fs::create_dir(t.path().join("disk")).unwrap();
        std::os::unix::fs::symlink("disk", t.path().join("link")).unwrap();
        let mut d = Dir::begin(&t.path().join("link/")).unwrap();
        d.write("a", b"1").unwrap();
        d.commit().unwrap();
        assert!(t.path().join("link").is_symlink() && t.path().join("disk/a").is_file());
    }

    #[test]
    fn a_written_file_is_replaced_whole() {
        let t = tempfile::tempdir().unwrap();
        let f = t.path().join("a/b");
        write(&f, b"one").unwrap();
        write(&f, b"two").unwrap();
        assert_eq!(fs::read(&f).unwrap(), b"two");
        assert_eq!(fs::read_dir(t.path().join("a")).unwrap().count(), 1);
    }
}
