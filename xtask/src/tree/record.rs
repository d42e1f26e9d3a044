//! What the store knows of a base that has come into it: one small file a base,
//! so that finding it again costs one read.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use git2::Oid;
use serde::{Deserialize, Serialize};

use crate::error::{Error, IoContext, Result};
use crate::host::atomic;
use crate::tree::known::Origin;
use crate::tree::spec::{BaseSpec, with_hash};
use crate::tree::store::Store;
use crate::tree::version::KernelVersion;

/// A base in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The short name.
    pub label: String,
    /// Where it came from.
    pub origin: Origin,
    /// Its commit.
    #[serde(with = "hex")]
    pub commit: Oid,
    /// Its tree.
    #[serde(with = "hex")]
    pub tree: Oid,
    /// What its Makefile says.
    pub version: KernelVersion,
    /// The archive that it was imported from, as it was then.
    pub archive: Option<Stamp>,
    /// The name of the pack that an import made.
    pub pack: Option<String>,
}

/// What tells whether a file is the one it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Its name, for a reader.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub mtime: u64,
}

impl Stamp {
    /// The stamp of a file.
    ///
    /// # Errors
    /// When it is not there.
    pub fn of(path: &Path) -> Result<Stamp> {
        let meta = fs::metadata(path).at("open", path)?;
        let mtime = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
        Ok(Stamp {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            size: meta.len(),
            mtime: mtime.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)),
        })
    }
}

fn path(store: &Store, key: &str) -> PathBuf {
    store.path().join("bases").join(format!("{key}.json"))
}

/// The name of a clone: its label, which is the first clone's that asked for it as
/// long as that is there; others get a hash of their path behind it.
///
/// # Errors
/// When the store cannot be written.
pub fn name_of_clone(store: &Store, label: &str, clone: &Path) -> Result<String> {
    let place = store.path().join("clones").join(label);
    let mine = clone.as_os_str().as_bytes();
    let owner = match fs::read(&place) {
        Ok(owner) => owner,
        Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(e).at("read", &place),
    };
    if owner == mine {
        return Ok(label.to_owned());
    }
    if owner.is_empty() || !Path::new(OsStr::from_bytes(&owner)).is_dir() {
        atomic::write(&place, mine)?;
        // Of two at once the last one has it.
        if fs::read(&place).at("read", &place)? == mine {
            return Ok(label.to_owned());
        }
    }
    Ok(with_hash(label, &clone.display().to_string()))
}

/// The ref that keeps the base's objects and shows it to git.
pub fn ref_name(key: &str) -> String {
    format!("refs/bases/{key}")
}

/// The record of a base, if it is still true: its objects are there, and its
/// archive is the one it was. A record that cannot be read counts as none.
///
/// # Errors
/// When the object database cannot be opened.
pub fn find(store: &Store, spec: &BaseSpec) -> Result<Option<Record>> {
    let Ok(bytes) = fs::read(path(store, &spec.key())) else { return Ok(None) };
    let Ok(record) = serde_json::from_slice::<Record>(&bytes) else { return Ok(None) };
    if record.origin != spec.origin {
        return Ok(None);
    }
    if let (Origin::Archive { path }, Some(stamp)) = (&record.origin, &record.archive)
        && Stamp::of(path).is_ok_and(|now| now != *stamp)
    {
        return Ok(None);
    }
    let there = store.has(record.commit)? && store.has(record.tree)?;
    Ok(there.then_some(record))
}

/// Keeps a record, and the ref beside it.
///
/// # Errors
/// When the store cannot be written.
pub fn keep(store: &Store, spec: &BaseSpec, record: &Record) -> Result<()> {
    let name = ref_name(&spec.key());
    store
        .repo()
        .reference(&name, record.commit, true, "import")
        .map_err(|e| Error::host(format!("cannot write {name} to the store")).found(e.message()))?;
    let json = serde_json::to_vec_pretty(record)
        .map_err(|e| Error::host("cannot write a base's record").found(e.to_string()))?;
    atomic::write(&path(store, &spec.key()), &json)
}

/// Removes the record, the ref, and the pack if no other base has it.
///
/// # Errors
/// When there is no record, or the store cannot be written.
pub fn remove(store: &Store, spec: &BaseSpec) -> Result<()> {
    let file = path(store, &spec.key());
    let record: Record = fs::read(&file)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .ok_or_else(|| {
            Error::usage(format!("cannot forget base {}", spec.asked))
                .found("it is not in the store")
                .hint("cargo xtask bases list")
        })?;
    fs::remove_file(&file).at("remove", &file)?;
    if let Ok(mut name) = store.repo().find_reference(&ref_name(&spec.key())) {
        name.delete()?;
    }
    let Some(pack) = record.pack else { return Ok(()) };
    if all(store)?.iter().any(|r| r.pack.as_deref() == Some(pack.as_str())) {
        return Ok(());
    }
    store.remove_pack(&pack)
}

/// Every base in the store, by label.
///
/// # Errors
/// When the folder cannot be read.
pub fn all(store: &Store) -> Result<Vec<Record>> {
    let dir = store.path().join("bases");
    let entries = match fs::read_dir(&dir) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.at("read", &dir)?,
    };
    let mut records: Vec<Record> = entries
        .flatten()
        .filter_map(|e| serde_json::from_slice(&fs::read(e.path()).ok()?).ok())
        .collect();
    records.sort_by(|a, b| a.label.cmp(&b.label));
    Ok(records)
}

mod hex {
    //! Object ids as text in JSON.
    use git2::Oid;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(id: &Oid, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(id)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Oid, D::Error> {
        let text = String::deserialize(d)?;
        Oid::from_str(&text).map_err(D::Error::custom)
    }
}
