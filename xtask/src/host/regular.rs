//! Reads files that a user wrote: regular ones only, since reading a FIFO waits for
//! ever and a device may have no end.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, IoContext as _, Result};

/// The bytes of the file; `None` where nothing is.
///
/// # Errors
/// When something else than a file is there, or it cannot be read.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match path.metadata() {
        Ok(meta) if meta.is_file() => std::fs::read(path).at("read", path).map(Some),
        Ok(meta) => Err(Error::usage(format!("cannot read {}", path.display()))
            .found(format!("it is {}, no regular file", what(&meta)))
            .hint("put a file there")),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).at("read", path),
    }
}

/// The file, to read some of it; nothing where none is, or it cannot be read.
#[must_use]
pub fn open(path: &Path) -> Option<File> {
    path.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|_| File::open(path).ok())
}

/// As [`read_if_there`], and it must be there.
///
/// # Errors
/// As [`read_if_there`], and when nothing is there.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_if_there(path)?.ok_or_else(|| {
        Error::usage(format!("cannot read {}", path.display())).found("it is not there")
    })
}

/// The text of the file; `None` where nothing is.
///
/// # Errors
/// As [`read_if_there`], and when it is not UTF-8.
pub fn text_if_there(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read_if_there(path)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|e| {
        Error::usage(format!("{} is not UTF-8", path.display()))
            .found(format!("byte {}", e.utf8_error().valid_up_to()))
    })
}

fn what(meta: &std::fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = meta.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn what_is_no_file_is_bad_input() {
        let t = tempfile::tempdir().unwrap();
        let path = |name: &str| t.path().join(name);
        nix::unistd::mkfifo(&path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("device")).unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        for (name, says) in [("fifo", "a FIFO"), ("device", "a device"), ("folder", "a folder")] {
            let e = read_if_there(&path(name)).unwrap_err();
            assert_eq!(e.kind(), Kind::Usage);
            assert!(e.to_string().contains(says), "{e}");
            assert!(open(&path(name)).is_none(), "{name}");
        }
        assert!(read_if_there(&path("nothing")).unwrap().is_none());
        assert_eq!(read(&path("nothing")).unwrap_err().kind(), Kind::Usage);
        std::fs::write(path("latin"), b"K\xf6ln").unwrap();
        assert_eq!(read(&path("latin")).unwrap().len(), 4);
        assert!(text_if_there(&path("latin")).unwrap_err().to_string().contains("byte 1"));
    }
}
