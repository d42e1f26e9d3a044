//! Opening an archive: what it is by its first bytes, and the stream of its tar
//! members, decompressed on all cores where the format allows.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{Error, IoContext, Result};
use crate::host::ui::Step;
use crate::tree::import::deb;

/// What the first bytes of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An uncompressed tar archive.
    Tar,
    /// gzip.
    Gzip,
    /// xz.
    Xz,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
    /// ar: a Debian package.
    Ar,
}

impl Format {
    /// By magic numbers; never by the name.
    #[must_use]
    pub fn of(first: &[u8]) -> Option<Format> {
        let magic: [(Format, &[u8]); 5] = [
            (Format::Gzip, b"\x1f\x8b"),
            (Format::Xz, b"\xfd7zXZ\0"),
            (Format::Zstd, b"\x28\xb5\x2f\xfd"),
            (Format::Bzip2, b"BZh"),
            (Format::Ar, b"!<arch>\n"),
        ];
        let found = magic.iter().find(|(_, m)| first.starts_with(m)).map(|(f, _)| *f);
        // Every tar since 1988 has this word in its first header.
        found.or_else(|| (first.get(257..262) == Some(b"ustar")).then_some(Format::Tar))
    }
}

/// Opens the archive at `path` as a stream of tar. A Debian package of source
/// gives the tarball inside it. `step` counts the bytes read from the file.
///
/// # Errors
/// When it cannot be read or is no archive.
pub fn open<'a>(path: &Path, step: &'a Step) -> Result<Box<dyn Read + 'a>> {
    let file = File::open(path).at("open", path)?;
    if !file.metadata().at("open", path)?.is_file() {
        return Err(Error::usage("this is no archive").found("it is no regular file"));
    }
    let counted = Counted { inner: file, step };
    tar_stream(Box::new(BufReader::with_capacity(1 << 20, counted)))
}

/// Decompresses a stream down to its tar.
pub(crate) fn tar_stream<'a>(mut from: Box<dyn BufRead + 'a>) -> Result<Box<dyn Read + 'a>> {
    // Peeking must not take bytes, and a pipe may give few at a time: what was
    // peeked is chained in front again.
    let mut first = vec![0; 512];
    let n = read_full(&mut from, &mut first)
        .map_err(|e| Error::usage("the archive is damaged or cut short").found(e.to_string()))?;
    first.truncate(n);
    let format = Format::of(&first);
    let from = io::Cursor::new(first).chain(from);
    match format {
        Some(Format::Ar) => {
            let data = deb::data_member(Box::new(from))?;
            let packed = tar_stream(Box::new(BufReader::new(data)))?;
            let inner = deb::source_member(packed)?;
            tar_stream(Box::new(BufReader::with_capacity(1 << 20, inner)))
        }
        Some(format) => decompress(format, Box::new(from)),
        None => Err(Error::usage("this is no archive")
            .found("it begins neither as tar nor as gzip, xz, zstd, bzip2 or a Debian package")
            .hint("name a .tar, .tar.xz, .tar.gz, .tar.zst, .tar.bz2 or .deb")),
    }
}

fn decompress<'a>(format: Format, from: Box<dyn BufRead + 'a>) -> Result<Box<dyn Read + 'a>> {
    Ok(match format {
        Format::Tar | Format::Ar => from,
        Format::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(from)),
        Format::Xz => Box::new(liblzma::bufread::XzDecoder::new_stream(from, xz_decoder()?)),
        Format::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(from)
                .map_err(|e| Error::host("cannot set zstd up").found(e.to_string()))?;
            // `--long=31`, as some kernel mirrors pack.
            let _ = decoder.window_log_max(31);
            Box::new(decoder)
        }
        Format::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(from)),
    })
}

/// Decodes blocks of one stream side by side, within 512 MiB; a file that is one
/// block, or has huge ones, is decoded by one thread.
fn xz_decoder() -> Result<liblzma::stream::Stream> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(16));
    liblzma::stream::MtStreamBuilder::new()
        .threads(u32::try_from(threads).unwrap_or(1))
        .memlimit_threading(512 << 20)
        .memlimit_stop(u64::MAX)
        .decoder()
        .map_err(|e| Error::host("cannot set xz up").found(e.to_string()))
}

/// Reads until the buffer is full or the stream ends.
pub(crate) fn read_full(from: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buf.get_mut(done..).filter(|r| !r.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

/// Tells the progress bar how far reading has come.
struct Counted<'a> {
    inner: File,
    step: &'a Step,
}

impl Read for Counted<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.step.advance(n as u64);
        Ok(n)
    }
}
