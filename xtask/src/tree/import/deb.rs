//! Debian packages, read as streams: the `data.tar` member of the ar archive, and
//! the source tarball inside it. Nothing is unpacked.

use std::io::{self, BufRead, Read};

use crate::error::{Error, Result};
use crate::tree::import::archive::read_full;

/// The contents of the `data.tar.*` member of a package (deb(5)).
///
/// # Errors
/// When the stream is no Debian package.
pub fn data_member<'a>(mut from: Box<dyn BufRead + 'a>) -> Result<Box<dyn Read + 'a>> {
    let cut = |e: &io::Error| {
        Error::usage("the Debian package is damaged or cut short").found(e.to_string())
    };
    let mut magic = [0; 8];
    read_full(&mut from, &mut magic).map_err(|e| cut(&e))?;
    loop {
        let mut header = [0; 60];
        let n = read_full(&mut from, &mut header).map_err(|e| cut(&e))?;
        if n == 0 {
            return Err(Error::usage("this is no Debian package")
                .found("it is an ar archive without a member data.tar"));
        }
        let (name, size) = ar_header(header.get(..n).unwrap_or_default()).ok_or_else(|| {
            Error::usage("the Debian package is damaged or cut short")
                .found("an ar member's header is not well-formed")
        })?;
        if name.starts_with("data.tar") {
            return Ok(Box::new(from.take(size)));
        }
        // Members begin at even offsets.
        let skip = size + size % 2;
        let skipped =
            io::copy(&mut from.by_ref().take(skip), &mut io::sink()).map_err(|e| cut(&e))?;
        if skipped < skip {
            return Err(cut(&io::ErrorKind::UnexpectedEof.into()));
        }
    }
}

/// Name and size of one ar member.
fn ar_header(header: &[u8]) -> Option<(String, u64)> {
    if header.get(58..60)? != b"`\n" {
        return None;
    }
    let name = std::str::from_utf8(header.get(..16)?).ok()?.trim_end().trim_end_matches('/');
    let size = std::str::from_utf8(header.get(48..58)?).ok()?.trim_end().parse().ok()?;
    Some((name.to_owned(), size))
}

/// The kernel's source tarball among the package's files, `usr/src/*.tar.*`.
///
/// # Errors
/// When there is none.
pub fn source_member<'a>(mut data: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>> {
    let cut = |e: &io::Error| {
        Error::usage("the Debian package is damaged or cut short").found(e.to_string())
    };
    let mut header = tar::Header::new_old();
    loop {
        let n = read_full(&mut data, header.as_mut_bytes()).map_err(|e| cut(&e))?;
        if n < 512 || header.as_bytes().iter().all(|&b| b == 0) {
            return Err(Error::usage("this is no package of kernel source")
                .found("it has no tarball in usr/src")
                .hint("Debian's are named linux-source-VERSION"));
        }
        let size = header.entry_size().map_err(|e| cut(&e))?;
        let path = header.path_bytes();
        let is_source = header.entry_type().is_file()
            && memchr::memmem::find(&path, b"usr/src/").is_some()
            && memchr::memmem::find(&path, b".tar").is_some();
        drop(path);
        if is_source {
            return Ok(Box::new(data.take(size)));
        }
        let skip = size.div_ceil(512) * 512;
        let skipped =
            io::copy(&mut data.by_ref().take(skip), &mut io::sink()).map_err(|e| cut(&e))?;
        if skipped < skip {
            return Err(cut(&io::ErrorKind::UnexpectedEof.into()));
        }
    }
}
