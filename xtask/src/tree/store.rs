//! The store: the tool's own bare repository of bases and rendered commits.
//!
//! It lives in the cache and can be thrown away. The user's clones are read
//! through it as alternates and never written to. Objects are read by libgit2;
//! the user's git configuration plays no part in what is read or written.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use git2::{ErrorCode, ObjectType, OdbLookupFlags, Oid, Repository};

use crate::error::{Error, IoContext, Result};
use crate::host::paths::Dirs;
use crate::host::ui::Ui;
use crate::host::{atomic, lock};
use crate::tree::object::{self, ObjectKind};
use crate::tree::record;

/// The largest object that is kept in memory once it was read, in bytes; the
/// kernel's generated register headers are larger, its sources are not.
const KEPT_OBJECT: usize = 1 << 20;
/// The most that is kept of objects in all, in bytes.
const CACHE_SIZE: isize = 8 << 20;

/// The part of a pack that is mapped at once, and all such parts together, in
/// bytes.
const WINDOW: usize = 1 << 20;
const WINDOWS: usize = 8 << 20;

/// What the store's own git configuration says. Nothing in it is ever repacked
/// behind our back: a worktree or a rendering may be reading it.
const CONFIG: &str = "[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	logAllRefUpdates = false
[gc]
	auto = 0
[maintenance]
	auto = false
[fetch]
	unpackLimit = 1
	writeCommitGraph = false
";

/// The open store.
pub struct Store {
    repo: Repository,
    path: PathBuf,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in the cache, and makes it when it is not there.
    ///
    /// # Errors
    /// When the cache cannot be made or read.
    pub fn open(ui: &Ui, dirs: &Dirs) -> Result<Store> {
        Store::open_at(ui, &dirs.cache().join("store.git"))
    }

    /// Opens or makes the store at `path`.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_at(ui: &Ui, path: &Path) -> Result<Store> {
        isolate_libgit2()?;
        if !path.join("HEAD").exists() {
            create(ui, path)?;
        }
        let repo = Repository::open_bare(path).map_err(|e| {
            Error::host(format!("cannot open the store {}", path.display()))
                .found(e.message())
                .hint("remove that folder: it is a cache and is made again")
        })?;
        let store = Store { repo, path: path.to_owned() };
        store.sweep();
        // What cannot be written is no more than noise in git's output.
        let _ = store.forget_gone_clones(ui);
        Ok(store)
    }

    /// The repository, for reading and for diffs.
    #[must_use]
    pub fn repo(&self) -> &Repository {
        &self.repo
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where imports write until they are whole.
    pub(crate) fn incoming(&self) -> PathBuf {
        self.path.join("incoming")
    }

    /// Held by the one process that adds a base.
    pub(crate) fn lock(&self, ui: &Ui) -> Result<lock::Lock> {
        lock::take(ui, &self.path.join("import.lock"), "the store")
    }

    /// Removes what a killed import left. Who holds the lock is still at work.
    fn sweep(&self) {
        if !self.incoming().exists() {
            return;
        }
        if let Ok(Ok(held)) = lock::try_take(&self.path.join("import.lock")) {
            self.end(&held);
        }
    }

    /// Begins to add a base: what is added until [`Store::end`] is undone when we
    /// are killed before.
    pub(crate) fn begin(&self, held: &lock::Lock) -> Result<()> {
        self.end(held);
        let dir = self.incoming();
        fs::create_dir_all(&dir).at("create folder", &dir)
    }

    /// Says that the pack of this name is about to join the others.
    pub(crate) fn joining(&self, pack: &str) -> Result<()> {
        let file = self.incoming().join("joining");
        fs::write(&file, pack).at("write", &file)
    }

    /// Ends adding a base, well or not: a pack that no record names goes, and so
    /// does every part of a file. A failure here is of no consequence: it is
    /// tried again, and an import says what is wrong with the disk.
    pub(crate) fn end(&self, _held: &lock::Lock) {
        let dir = self.incoming();
        if let Ok(pack) = fs::read_to_string(dir.join("joining"))
            && let Ok(records) = record::all(self)
            && !records.iter().any(|r| r.pack.as_deref() == Some(pack.as_str()))
        {
            let _ = self.remove_pack(&pack);
        }
        // What a killed git leaves.
        let packs = self.path.join("objects/pack");
        let bases = self.path.join("refs/bases");
        for (dir, prefix, suffix) in
            [(&packs, "tmp_", ""), (&bases, "", ".lock"), (&self.path, "shallow", ".lock")]
        {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.starts_with(prefix) && name.ends_with(suffix) {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        let _ = fs::remove_dir_all(dir);
    }

    /// Removes a pack and its index.
    pub(crate) fn remove_pack(&self, pack: &str) -> Result<()> {
        // The index goes first: a pack without one is not looked at.
        for ending in ["idx", "pack"] {
            let file = self.path.join("objects/pack").join(format!("{pack}.{ending}"));
            match fs::remove_file(&file) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(e).at("remove", &file);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The bytes of an object.
    ///
    /// # Errors
    /// When it is not there, or not of that kind.
    pub fn read(&self, kind: ObjectKind, id: Oid) -> Result<Vec<u8>> {
        read_with(&self.repo.odb()?, &self.path, kind, id, <[u8]>::to_vec)
    }

    /// The failure of an object that is not there.
    pub(crate) fn missing(&self, kind: ObjectKind, id: Oid) -> Error {
        missing(kind, id)
    }

    /// Whether the object is there.
    ///
    /// # Errors
    /// When the object database cannot be opened.
    pub fn has(&self, id: Oid) -> Result<bool> {
        Ok(self.repo.odb()?.exists_ext(id, OdbLookupFlags::NO_REFRESH))
    }

    /// Writes an object, unless it is there already; an object in a user's
    /// clone counts and is not touched.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, kind: ObjectKind, bytes: &[u8]) -> Result<Oid> {
        let id = object::id_of(kind, bytes);
        if self.has(id)? {
            return Ok(id);
        }
        let kind2 = match kind {
            ObjectKind::Commit => ObjectType::Commit,
            ObjectKind::Tree => ObjectType::Tree,
            ObjectKind::Blob => ObjectType::Blob,
        };
        self.repo.odb()?.write(kind2, bytes).map_err(|e| {
            Error::host(format!("cannot write a {} to the store", kind.word()))
                .found(e.message())
                .hint(format!("check space and permissions of {}", self.path.display()))
        })
    }

    /// Takes clones that are gone out of the list: git would complain of them each time.
    fn forget_gone_clones(&self, ui: &Ui) -> Result<()> {
        let list = self.path.join("objects/info/alternates");
        let Ok(old) = fs::read(&list) else { return Ok(()) };
        if still_there(&old) == old {
            return Ok(());
        }
        let _held = lock::take(ui, &self.path.join("alternates.lock"), "the store")?;
        // Another process may have added one meanwhile.
        atomic::write(&list, &still_there(&fs::read(&list).unwrap_or_default()))
    }

    /// Makes the objects of a user's clone readable here; `objects` is its
    /// object folder.
    ///
    /// # Errors
    /// When the list of alternates cannot be written.
    pub(crate) fn add_alternate(&self, ui: &Ui, objects: &Path) -> Result<()> {
        let list = self.path.join("objects/info/alternates");
        let line = objects.as_os_str().as_bytes();
        let has = |text: &[u8]| text.split(|&b| b == b'\n').any(|l| l == line);
        if fs::read(&list).is_ok_and(|text| has(&text)) {
            return Ok(());
        }
        if line.contains(&b'\n') || line.first() == Some(&b'"') || line.first() == Some(&b'#') {
            return Err(Error::usage(format!("clone {}", objects.display()))
                .found("git cannot name this path in a list of alternates")
                .hint("move the clone to a plainer path"));
        }
        let _held = lock::take(ui, &self.path.join("alternates.lock"), "the store")?;
        let mut new = still_there(&fs::read(&list).unwrap_or_default());
        new.extend_from_slice(line);
        new.push(b'\n');
        atomic::write(&list, &new)?;
        // The open object database read the list when it was opened.
        let text = objects.to_str().ok_or_else(|| {
            Error::usage(format!("clone {}", objects.display()))
                .found("its path is not UTF-8")
                .hint("move the clone to a plainer path")
        })?;
        self.repo.odb()?.add_disk_alternate(text)?;
        Ok(())
    }
}

/// The lines of a list of alternates whose folder is there.
fn still_there(list: &[u8]) -> Vec<u8> {
    let lines = list.split(|&b| b == b'\n').filter(|l| !l.is_empty());
    let there = lines.filter(|l| Path::new(std::ffi::OsStr::from_bytes(l)).is_dir());
    there.flat_map(|l| l.iter().copied().chain([b'\n'])).collect()
}

/// Reads objects of a store in a thread of its own.
pub(crate) struct Reader {
    repo: Repository,
    path: PathBuf,
}

impl Reader {
    /// Opens the store at `path` once more.
    pub(crate) fn open(path: &Path) -> Result<Reader> {
        isolate_libgit2()?;
        Ok(Reader { repo: Repository::open_bare(path)?, path: path.to_owned() })
    }

    /// Hands an object's bytes to `take`.
    pub(crate) fn with<T>(
        &self,
        kind: ObjectKind,
        id: Oid,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        read_with(&self.repo.odb()?, &self.path, kind, id, take)
    }
}

/// Hands an object's bytes to `take`.
pub(super) fn read_with<T>(
    odb: &git2::Odb<'_>,
    store: &Path,
    kind: ObjectKind,
    id: Oid,
    take: impl FnOnce(&[u8]) -> T,
) -> Result<T> {
    let object = odb.read(id).map_err(|e| {
        if e.code() == ErrorCode::NotFound {
            return missing(kind, id);
        }
        Error::host(format!("cannot read {} {id}", kind.word()))
            .found(e.message())
            .hint(format!("the store {} is damaged: remove it", store.display()))
    })?;
    let want = match kind {
        ObjectKind::Commit => ObjectType::Commit,
        ObjectKind::Tree => ObjectType::Tree,
        ObjectKind::Blob => ObjectType::Blob,
    };
    if object.kind() != want {
        return Err(Error::host(format!("object {id} is no {}", kind.word()))
            .found(format!("it is a {}", object.kind())));
    }
    Ok(take(object.data()))
}

fn missing(kind: ObjectKind, id: Oid) -> Error {
    Error::host(format!("cannot read {} {id}", kind.word()))
        .found("it is not in the store")
        .hint("the clone that had it may have moved or been re-made; import the base again")
}

/// Makes an empty store, whole or not at all.
fn create(ui: &Ui, path: &Path) -> Result<()> {
    let beside = path.with_extension("lock");
    let _held = lock::take(ui, &beside, "the store")?;
    if path.join("HEAD").exists() {
        return Ok(());
    }
    let staged = atomic::Dir::begin(path)?;
    for dir in ["objects/pack", "objects/info", "refs/heads", "refs/tags", "info"] {
        let dir = staged.path().join(dir);
        fs::create_dir_all(&dir).at("create folder", &dir)?;
    }
    for (name, text) in [("config", CONFIG), ("HEAD", "ref: refs/heads/none\n")] {
        let file = staged.path().join(name);
        fs::write(&file, text).at("write", &file)?;
    }
    staged.commit()
}

/// Sets libgit2 up, once a process: no configuration but the repository's own,
/// and clones of other users can be read.
///
/// # Errors
/// When libgit2 refuses an option.
pub fn isolate_libgit2() -> Result<()> {
    static DONE: OnceLock<std::result::Result<(), String>> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        use git2::ConfigLevel::{Global, ProgramData, System, XDG};
        // Checks that cost more than the work: an object's hash on each read
        // (zlib's checksum still stands), and the existence of what a new tree
        // names (the trees here come from trees that were read).
        git2::opts::strict_hash_verification(false);
        git2::opts::strict_object_creation(false);
        for level in [Global, ProgramData, System, XDG] {
            // SAFETY: libgit2's options must not change while other threads use
            // it; this runs before the first repository of the process is opened.
            #[allow(unsafe_code)]
            let set = unsafe { git2::opts::set_search_path(level, "") };
            set.map_err(|e| e.message().to_owned())?;
        }
        // A rendering reads each of its files and folders several times: to edit,
        // to compare, to prove. libgit2 keeps small folders and no files.
        for kind in [ObjectType::Blob, ObjectType::Tree] {
            // SAFETY: as above.
            #[allow(unsafe_code)]
            let set = unsafe { git2::opts::set_cache_object_limit(kind, KEPT_OBJECT) };
            set.map_err(|e| e.message().to_owned())?;
        }
        // SAFETY: as above.
        #[allow(unsafe_code)]
        let set = unsafe { git2::opts::set_cache_max_size(CACHE_SIZE) };
        set.map_err(|e| e.message().to_owned())?;
        // Pages of packs that were looked at count as memory: a series that touches
        // files all over the tree would have the whole pack.
        // SAFETY: as above.
        #[allow(unsafe_code)]
        let set = unsafe { git2::opts::set_mwindow_size(WINDOW) };
        set.map_err(|e| e.message().to_owned())?;
        // SAFETY: as above.
        #[allow(unsafe_code)]
        let set = unsafe { git2::opts::set_mwindow_mapped_limit(WINDOWS) };
        set.map_err(|e| e.message().to_owned())?;
        // The guard is against hooks and commands in a foreign repository's
        // configuration; libgit2 runs neither, and we only read.
        // SAFETY: as above.
        #[allow(unsafe_code)]
        let set = unsafe { git2::opts::set_verify_owner_validation(false) };
        set.map_err(|e| e.message().to_owned())
    });
    done.clone().map_err(|e| Error::host("cannot set libgit2 up").found(e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::ui::Format;

    #[test]
    fn clones_that_are_gone_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (clone, path) = (dir.path().join("clone"), dir.path().join("store.git"));
        Repository::init_bare(&clone).unwrap();
        let store = Store::open_at(&Ui::new(Format::Json), &path).unwrap();
        store.add_alternate(&Ui::new(Format::Json), &clone.join("objects")).unwrap();
        let list = path.join("objects/info/alternates");
        let line = format!("{}\n", clone.join("objects").display());
        drop(Store::open_at(&Ui::new(Format::Json), &path).unwrap());
        assert_eq!(fs::read_to_string(&list).unwrap(), line);
        fs::remove_dir_all(&clone).unwrap();
        drop(Store::open_at(&Ui::new(Format::Json), &path).unwrap());
        assert_eq!(fs::read_to_string(&list).unwrap(), "");
    }
}
