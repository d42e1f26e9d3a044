//! Writing one pack and its index (version 2): entries are deflated whole, never
//! as deltas, so that writing and reading are as fast as the disk allows.
//!
//! The format is git's gitformat-pack(5).

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use git2::Oid;
use libdeflater::{CompressionLvl, Compressor};
use sha1::{Digest as _, Sha1};

use crate::error::{Error, IoContext, Result};
use crate::tree::object::ObjectKind;

/// Deflates objects into pack entries.
pub struct Deflater {
    deflate: Compressor,
    /// Room for the largest entry so far: making room anew for each costs as
    /// much as a third of deflating does.
    room: Vec<u8>,
}

impl Default for Deflater {
    /// At level 1: level 6 takes three times as long for a sixth less. (Level 0
    /// would store the bytes as they are.)
    fn default() -> Deflater {
        let level = CompressionLvl::new(1).unwrap_or_default();
        Deflater { deflate: Compressor::new(level), room: Vec::new() }
    }
}

impl Deflater {
    /// Appends one entry to `out`; gives its length and checksum.
    ///
    /// # Errors
    /// When the deflater fails, which means that its bound is wrong.
    pub fn entry(&mut self, kind: ObjectKind, bytes: &[u8], out: &mut Vec<u8>) -> Result<Packed> {
        let start = out.len();
        let mut size = bytes.len();
        // Type and size: four bits of the size, then seven a byte, low bits first.
        let mut byte = (kind.pack_number() << 4) | low_bits(size, 0x0f);
        size >>= 4;
        while size > 0 {
            out.push(byte | 0x80);
            byte = low_bits(size, 0x7f);
            size >>= 7;
        }
        out.push(byte);
        let bound = self.deflate.zlib_compress_bound(bytes.len());
        if self.room.len() < bound {
            self.room.resize(bound, 0);
        }
        let n = self
            .deflate
            .zlib_compress(bytes, &mut self.room)
            .map_err(|e| Error::host("cannot deflate an object").found(e.to_string()))?;
        out.extend_from_slice(self.room.get(..n).unwrap_or_default());
        let entry = out.get(start..).unwrap_or_default();
        Ok(Packed { len: entry.len() as u64, crc: libdeflater::crc32(entry) })
    }
}

fn low_bits(n: usize, mask: u8) -> u8 {
    n.to_le_bytes().first().copied().unwrap_or(0) & mask
}

/// The length and CRC-32 of one entry's bytes in the pack.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    /// Bytes in the pack.
    pub len: u64,
    /// CRC-32 of those bytes, for the index.
    pub crc: u32,
}

struct Indexed {
    id: Oid,
    packed: Packed,
    offset: u64,
}

/// A pack being written in a folder of its own; it joins the store's packs with
/// [`FinishedPack::join`].
pub struct PackWriter {
    file: BufWriter<File>,
    path: PathBuf,
    offset: u64,
    index: Vec<Indexed>,
}

impl PackWriter {
    /// Begins a pack in the folder `dir`, which must exist.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn begin(dir: &Path) -> Result<PackWriter> {
        let path = dir.join("pack");
        let file = File::options()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(&path)
            .at("create", &path)?;
        let mut writer = PackWriter {
            file: BufWriter::with_capacity(1 << 20, file),
            path,
            offset: 0,
            index: Vec::new(),
        };
        // The number of objects is not known yet; it is put in at the end.
        writer.append(&header(0))?;
        Ok(writer)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).at("write", &self.path)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Appends entries that stand one after another in `bytes`. No id may come twice.
    ///
    /// # Errors
    /// When the disk cannot take them.
    pub fn add(&mut self, bytes: &[u8], entries: &[(Oid, Packed)]) -> Result<()> {
        let mut offset = self.offset;
        for &(id, packed) in entries {
            self.index.push(Indexed { id, packed, offset });
            offset += packed.len;
        }
        self.append(bytes)
    }

    /// The content of an object that was added; `None` when it was not.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read_back(&mut self, id: Oid) -> Result<Option<Vec<u8>>> {
        let Some(entry) = self.index.iter().find(|e| e.id == id) else { return Ok(None) };
        let mut bytes = vec![0; usize::try_from(entry.packed.len).unwrap_or(0)];
        self.file.flush().at("write", &self.path)?;
        self.file.get_ref().read_exact_at(&mut bytes, entry.offset).at("read", &self.path)?;
        // The header ends with the first byte whose top bit is clear.
        let header = bytes.iter().position(|b| b & 0x80 == 0).map_or(0, |last| last + 1);
        let mut content = Vec::new();
        flate2::read::ZlibDecoder::new(bytes.get(header..).unwrap_or_default())
            .read_to_end(&mut content)
            .at("read", &self.path)?;
        Ok(Some(content))
    }

    /// Completes the pack and its index and syncs both.
    ///
    /// # Errors
    /// When the disk cannot take it.
    pub fn finish(self) -> Result<FinishedPack> {
        let PackWriter { file, path, mut index, .. } = self;
        let mut file = file.into_inner().map_err(|e| e.into_error()).at("write", &path)?;
        let count = u32::try_from(index.len())
            .map_err(|_| Error::usage("cannot import").found("more than 4 billion objects"))?;
        file.rewind().at("write", &path)?;
        file.write_all(&header(count)).at("write", &path)?;
        let trailer = hash_file(&mut file, &path)?;
        file.seek(SeekFrom::End(0)).at("write", &path)?;
        file.write_all(&trailer).at("write", &path)?;
        index.sort_unstable_by(|a, b| a.id.as_bytes().cmp(b.id.as_bytes()));
        let idx = path.with_extension("idx");
        let mut idx_file = File::create(&idx).at("create", &idx)?;
        idx_file.write_all(&index_bytes(&index, &trailer)).at("write", &idx)?;
        idx_file.sync_all().at("sync", &idx)?;
        file.sync_all().at("sync", &path)?;
        let hex: String = trailer.iter().map(|b| format!("{b:02x}")).collect();
        Ok(FinishedPack { path, name: format!("pack-{hex}") })
    }
}

/// A whole pack with its index, not yet among the store's.
#[derive(Debug)]
pub struct FinishedPack {
    path: PathBuf,
    name: String,
}

impl FinishedPack {
    /// The name that it will have there, without ending.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Moves it into the store whose packs are in `packs`.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn join(self, packs: &Path) -> Result<()> {
        let place = packs.join(format!("{}.pack", self.name));
        // A pack counts once its index is there, so that comes last.
        for (from, to) in
            [(&self.path, &place), (&self.path.with_extension("idx"), &place.with_extension("idx"))]
        {
            let mut mode = fs::metadata(from).at("read", from)?.permissions();
            mode.set_readonly(true);
            fs::set_permissions(from, mode).at("set the mode of", from)?;
            fs::rename(from, to).at("rename into place", to)?;
        }
        File::open(packs).and_then(|d| d.sync_all()).at("sync", packs)
    }
}

fn header(count: u32) -> [u8; 12] {
    let mut h = *b"PACK\0\0\0\x02\0\0\0\0";
    if let Some(tail) = h.last_chunk_mut::<4>() {
        *tail = count.to_be_bytes();
    }
    h
}

fn hash_file(file: &mut File, path: &Path) -> Result<[u8; 20]> {
    file.rewind().at("read", path)?;
    let mut sha = Sha1::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = file.read(&mut buffer).at("read", path)?;
        match buffer.get(..n) {
            Some([]) | None => return Ok(sha.finalize().into()),
            Some(bytes) => sha.update(bytes),
        }
    }
}

fn index_bytes(index: &[Indexed], pack_trailer: &[u8; 20]) -> Vec<u8> {
    let mut out = Vec::with_capacity(index.len() * 28 + 1100);
    out.extend_from_slice(b"\xfftOc\0\0\0\x02");
    let mut done = 0u32;
    let mut rest = index.iter().peekable();
    for first in 0..=255u8 {
        while rest.next_if(|e| e.id.as_bytes().first() == Some(&first)).is_some() {
            done += 1;
        }
        out.extend_from_slice(&done.to_be_bytes());
    }
    for e in index {
        out.extend_from_slice(e.id.as_bytes());
    }
    for e in index {
        out.extend_from_slice(&e.packed.crc.to_be_bytes());
    }
    // Offsets of 2 GiB and more are in a table of their own, this one then has
    // the place there, with the top bit set.
    let mut far: Vec<u64> = Vec::new();
    for e in index {
        let word = match u32::try_from(e.offset) {
            Ok(near) if near < 1 << 31 => near,
            _ => {
                far.push(e.offset);
                (1 << 31) | u32::try_from(far.len() - 1).unwrap_or(0)
            }
        };
        out.extend_from_slice(&word.to_be_bytes());
    }
    for offset in far {
        out.extend_from_slice(&offset.to_be_bytes());
    }
    out.extend_from_slice(pack_trailer);
    let trailer = Sha1::digest(&out);
    out.extend_from_slice(&trailer);
    out
}

/// An index of made-up entries at these offsets, for a test against git.
#[cfg(test)]
pub(crate) fn test_index(offsets: &[u64]) -> Vec<u8> {
    let mut index: Vec<Indexed> = offsets
        .iter()
        .map(|&offset| Indexed {
            id: crate::tree::object::id_of(ObjectKind::Blob, &offset.to_be_bytes()),
            packed: Packed { len: 0, crc: 0 },
            offset,
        })
        .collect();
    index.sort_unstable_by(|a, b| a.id.as_bytes().cmp(b.id.as_bytes()));
    index_bytes(&index, &[0; 20])
}
