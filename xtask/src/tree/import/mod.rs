//! Importing an archive: its files become one pack in the store and one commit,
//! straight from the stream. No file of it is ever on the disk.
//!
//! One thread decompresses (helped by the decompressor's own) and takes the tar
//! apart, as many as there are cores hash and deflate, one writes the pack.

pub mod archive;
pub mod deb;
pub mod members;
pub mod pack;
mod pipeline;
#[cfg(test)]
mod tests;
mod trees;

use std::path::Path;

use git2::Oid;
use jiff::Timestamp;
use jiff::tz::Offset;

use crate::error::{Error, IoContext, Result};
use crate::host::lock::Lock;
use crate::host::ui::{Step, Ui};
use crate::tree::commit::{self, CommitSpec, Signature};
use crate::tree::object::{self, ObjectKind};
use crate::tree::record;
use crate::tree::store::Store;
use crate::tree::version::KernelVersion;

/// A kernel tree that has come into the store.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its commit, which has no parent.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// What its Makefile says.
    pub version: KernelVersion,
    /// How many files it has.
    pub files: usize,
    /// The name of its pack in the store.
    pub pack: String,
}

/// Imports the archive at `path`. The same archive gives the same commit on
/// every machine, however it is compressed or named. The caller holds the
/// store's lock, and has begun and will end the addition.
///
/// # Errors
/// When the archive is damaged or no kernel tree, or the disk cannot take it;
/// after the end of the addition the store is as it was.
pub fn import(ui: &Ui, store: &Store, _held: &Lock, path: &Path) -> Result<Imported> {
    let size = std::fs::metadata(path).at("open", path)?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let step = ui.progress(format!("import {name}"), size, true);
    let imported = import_stream(store, path, &step)
        .map_err(|e| e.context(format!("cannot import {}", path.display())))?;
    step.done(&format!("Linux {}, {} files", imported.version, imported.files));
    Ok(imported)
}

fn import_stream(store: &Store, path: &Path, step: &Step) -> Result<Imported> {
    let stream = archive::open(path, step)?;
    let pack = pack::PackWriter::begin(&store.incoming())?;
    let mut packed = pipeline::run(stream, pack)?;
    let files = packed.members.files.len();
    let version = version(&mut packed)?;
    let tree = trees::write(&mut packed)?;
    let commit = write_commit(&mut packed, tree, &version)?;
    if let Some(pack) = pack_with(store, commit)? {
        return Ok(Imported { commit, tree, version, files, pack });
    }
    let finished = packed.pack.finish()?;
    let pack = finished.name().to_owned();
    store.joining(&pack)?;
    finished.join(&store.path().join("objects/pack"))?;
    store.repo().odb()?.refresh()?;
    Ok(Imported { commit, tree, version, files, pack })
}

/// The pack of another base that is the same tree, from another file.
fn pack_with(store: &Store, commit: Oid) -> Result<Option<String>> {
    let same = record::all(store)?.into_iter().find(|r| r.commit == commit);
    Ok(if store.has(commit)? { same.and_then(|r| r.pack) } else { None })
}

/// What the Makefile at the top says.
fn version(packed: &mut pipeline::Packed) -> Result<KernelVersion> {
    let top = trees::common_top(packed.members.files.keys());
    let mut path = top.map(|t| [t, b"/"].concat()).unwrap_or_default();
    path.extend_from_slice(b"Makefile");
    let makefile = match packed.members.files.get(&path).filter(|m| m.mode.is_file()) {
        Some(placed) => packed.pack.read_back(packed.id(placed.content)?)?,
        None => None,
    };
    makefile.and_then(|m| KernelVersion::from_makefile(&m)).ok_or_else(|| {
        Error::usage("this is no kernel tree").found(
            "the Makefile at its top is missing or does not say VERSION, PATCHLEVEL and SUBLEVEL",
        )
    })
}

/// The commit of an imported tree. All in it comes from the archive's content.
fn write_commit(packed: &mut pipeline::Packed, tree: Oid, version: &KernelVersion) -> Result<Oid> {
    let seconds = i64::try_from(packed.members.newest).unwrap_or(0);
    let who = Signature {
        name: "Imported archive".to_owned(),
        email: "archive@localhost".to_owned(),
        when: Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH),
        offset: Offset::UTC,
    };
    let bytes = commit::bytes(&CommitSpec {
        tree,
        parents: Vec::new(),
        author: who.clone(),
        committer: who,
        message: format!("Linux {version}\n"),
    })?;
    let id = object::id_of(ObjectKind::Commit, &bytes);
    packed.add(ObjectKind::Commit, id, &bytes)?;
    Ok(id)
}
