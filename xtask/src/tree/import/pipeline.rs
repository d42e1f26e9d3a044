//! The threads of an import: the caller's thread takes the archive apart, workers
//! hash and deflate, one thread writes. Queues are bounded, so memory stays flat.

use std::collections::HashSet;
use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use git2::Oid;

use crate::error::{Error, Result};
use crate::host::signals;
use crate::tree::import::members::{self, ContentSink, Members, SinkError};
use crate::tree::import::pack::{self, Deflater, PackWriter};
use crate::tree::object::{self, ObjectKind};

/// Contents are handed on in batches of about this many bytes: a hand-over costs
/// more than hashing a small file.
const BATCH: usize = 1 << 20;

/// What has been packed: contents by number, and the pack, still open.
pub struct Packed {
    /// The archive's members.
    pub members: Members,
    /// The pack that they are in.
    pub pack: PackWriter,
    ids: Vec<Oid>,
    deflater: Deflater,
}

impl Packed {
    /// The id of the content with this number.
    ///
    /// # Errors
    /// Never for a number that [`Members`] gives.
    pub fn id(&self, content: usize) -> Result<Oid> {
        self.ids.get(content).copied().ok_or_else(|| Error::host("an import lost a file"))
    }

    /// Adds one more object, which must not be in the pack yet.
    ///
    /// # Errors
    /// When the disk cannot take it.
    pub fn add(&mut self, kind: ObjectKind, id: Oid, bytes: &[u8]) -> Result<()> {
        let mut out = Vec::new();
        let packed = self.deflater.entry(kind, bytes, &mut out)?;
        self.pack.add(&out, &[(id, packed)])
    }
}

/// Some contents, one after another.
#[derive(Default)]
struct Batch {
    /// The number of the first.
    first: usize,
    bytes: Vec<u8>,
    /// Where each ends in `bytes`.
    ends: Vec<usize>,
}

/// A batch as it goes into the pack.
struct Deflated {
    first: usize,
    ids: Vec<Oid>,
    bytes: Vec<u8>,
    entries: Vec<(Oid, pack::Packed)>,
}

/// Reads the tar stream to its end and packs every content in it once.
///
/// # Errors
/// When the archive is bad, the disk is full, or the user ends it.
pub fn run(stream: impl Read, mut pack: PackWriter) -> Result<Packed> {
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (to_workers, batches) = sync_channel::<Batch>(workers * 2);
    let (to_writer, deflated) = sync_channel::<Result<Deflated>>(workers * 2);
    // The workers alone hold it: when they have ended, the feed fails and does
    // not wait for ever.
    let batches = Arc::new(Mutex::new(batches));
    let seen = Mutex::new(HashSet::new());
    thread::scope(|scope| {
        let writer = scope.spawn(move || write(&deflated, &mut pack).map(|ids| (ids, pack)));
        for _ in 0..workers {
            let to_writer = to_writer.clone();
            let (batches, seen) = (Arc::clone(&batches), &seen);
            scope.spawn(move || work(&batches, seen, &to_writer));
        }
        drop((to_writer, batches));
        let mut feed = Feed { to_workers, batch: Batch::default(), count: 0 };
        let members = members::read(stream, &mut feed).and_then(|m| feed.flush().map(|()| m));
        drop(feed);
        // The writer's failure is the cause when both have failed.
        let (ids, pack) = writer.join().map_err(|_| Error::host("an import's thread failed"))??;
        Ok(Packed { members: members?, pack, ids, deflater: Deflater::default() })
    })
}

/// The side of the queue that the archive's reader fills.
struct Feed {
    to_workers: SyncSender<Batch>,
    batch: Batch,
    count: usize,
}

impl Feed {
    fn flush(&mut self) -> Result<()> {
        signals::check()?;
        if self.batch.ends.is_empty() {
            return Ok(());
        }
        let next = Batch {
            first: self.count,
            bytes: Vec::with_capacity(BATCH + BATCH / 4),
            ends: Vec::new(),
        };
        let batch = std::mem::replace(&mut self.batch, next);
        self.to_workers.send(batch).map_err(|_| Error::host("an import's writer has ended"))
    }
}

impl ContentSink for Feed {
    fn content(&mut self, size: u64, from: &mut dyn Read) -> std::result::Result<(), SinkError> {
        let n = from.read_to_end(&mut self.batch.bytes).map_err(SinkError::Read)?;
        if n as u64 != size {
            return Err(SinkError::Read(std::io::ErrorKind::UnexpectedEof.into()));
        }
        self.batch.ends.push(self.batch.bytes.len());
        self.count += 1;
        if self.batch.bytes.len() >= BATCH { self.flush().map_err(SinkError::Sink) } else { Ok(()) }
    }
}

fn work(
    batches: &Mutex<Receiver<Batch>>,
    seen: &Mutex<HashSet<Oid>>,
    to_writer: &SyncSender<Result<Deflated>>,
) {
    let mut deflater = Deflater::default();
    loop {
        let next = batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(batch) = next else { return };
        let done = deflate(&batch, seen, &mut deflater);
        // Nobody takes it any more when the writer has failed.
        if to_writer.send(done).is_err() {
            return;
        }
    }
}

fn deflate(batch: &Batch, seen: &Mutex<HashSet<Oid>>, deflater: &mut Deflater) -> Result<Deflated> {
    let mut done = Deflated {
        first: batch.first,
        ids: Vec::with_capacity(batch.ends.len()),
        bytes: Vec::with_capacity(batch.bytes.len() / 2),
        entries: Vec::with_capacity(batch.ends.len()),
    };
    let mut start = 0;
    for &end in &batch.ends {
        let content = batch.bytes.get(start..end).unwrap_or_default();
        start = end;
        let id = object::id_of(ObjectKind::Blob, content);
        done.ids.push(id);
        if seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
            let packed = deflater.entry(ObjectKind::Blob, content, &mut done.bytes)?;
            done.entries.push((id, packed));
        }
    }
    Ok(done)
}

/// Writes what comes, and gives the ids of all contents in their order.
fn write(deflated: &Receiver<Result<Deflated>>, pack: &mut PackWriter) -> Result<Vec<Oid>> {
    let mut ids = Vec::new();
    for batch in deflated {
        let batch = batch?;
        let end = batch.first + batch.ids.len();
        if ids.len() < end {
            ids.resize(end, Oid::ZERO_SHA1);
        }
        if let Some(place) = ids.get_mut(batch.first..end) {
            place.copy_from_slice(&batch.ids);
        }
        pack.add(&batch.bytes, &batch.entries)?;
    }
    Ok(ids)
}
