//! ELF files: whether one is static, and which libraries another needs.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{Endianness, elf};

use crate::error::{Error, Result};

/// What a program needs to be loaded.
#[derive(Debug, Default)]
struct Needs {
    interpreter: Option<String>,
    libraries: Vec<String>,
}

fn needs(bytes: &[u8]) -> Option<Needs> {
    let header = elf::FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let mut out = Needs::default();
    for segment in header.program_headers(endian, bytes).ok()? {
        if let Ok(Some(path)) = segment.interpreter(endian, bytes) {
            out.interpreter = Some(String::from_utf8_lossy(path).into_owned());
        }
        if let Ok(Some(entries)) = segment.dynamic(endian, bytes) {
            let strings = strings(header, endian, bytes, entries)?;
            for entry in entries {
                if entry.tag(endian) == elf::DT_NEEDED
                    && let Ok(name) = entry.string(endian, strings)
                {
                    out.libraries.push(String::from_utf8_lossy(name).into_owned());
                }
            }
        }
    }
    Some(out)
}

fn strings<'d>(
    header: &elf::FileHeader64<Endianness>,
    endian: Endianness,
    bytes: &'d [u8],
    entries: &[elf::Dyn64<Endianness>],
) -> Option<object::StringTable<'d>> {
    let value = |tag| entries.iter().find(|e| e.tag(endian) == tag).map(|e| e.d_val(endian));
    let (address, size) = (value(elf::DT_STRTAB)?, value(elf::DT_STRSZ)?);
    let segments = header.program_headers(endian, bytes).ok()?;
    let data = segments.iter().find_map(|s| s.data_range(endian, bytes, address, size).ok()?)?;
    Some(object::StringTable::new(data, 0, data.len() as u64))
}

/// Whether the file is an ELF program that needs no loader.
pub(super) fn is_static(path: &Path) -> bool {
    std::fs::read(path).ok().and_then(|b| needs(&b)).is_some_and(|n| n.interpreter.is_none())
}

/// Where the host's loader looks, besides what the libraries themselves say.
fn library_dirs() -> Vec<PathBuf> {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"]
        .iter()
        .flat_map(|d| [Path::new(d).join(&triplet), PathBuf::from(d)])
        .collect()
}

/// The files that host programs need to run elsewhere, themselves included:
/// the path each must have there, and where it is here.
///
/// # Errors
/// When a library is not found.
pub(super) fn closure(programs: &[PathBuf]) -> Result<BTreeMap<String, PathBuf>> {
    let dirs = library_dirs();
    let mut out = BTreeMap::new();
    let mut queue: VecDeque<PathBuf> = programs.iter().cloned().collect();
    while let Some(path) = queue.pop_front() {
        let name = path.to_string_lossy().into_owned();
        if out.contains_key(&name) {
            continue;
        }
        let bytes = std::fs::read(&path).map_err(|e| crate::error::io_error("read", &path, &e))?;
        if let Some(needs) = needs(&bytes) {
            queue.extend(needs.interpreter.map(PathBuf::from));
            for library in needs.libraries {
                let found = dirs.iter().map(|d| d.join(&library)).find(|p| p.is_file());
                let found = found.ok_or_else(|| {
                    Error::host(format!("put {} into the guest", path.display()))
                        .found(format!("its library {library} is in none of the usual folders"))
                        .hint("install it, or use --backend vng, which shares the host's root")
                })?;
                queue.push_back(found);
            }
        }
        out.insert(name, path);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_program_comes_with_its_loader_and_libraries() {
        let me = std::env::current_exe().unwrap();
        assert!(!is_static(&me));
        let files = closure(std::slice::from_ref(&me)).unwrap();
        assert!(files.keys().any(|f| f.contains("ld-linux") || f.contains("ld64")), "{files:?}");
        assert!(files.keys().any(|f| f.ends_with("libc.so.6")), "{files:?}");
    }

    #[test]
    fn what_is_no_elf_needs_nothing() {
        let t = tempfile::tempdir().unwrap();
        let script = t.path().join("s");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        assert!(!is_static(&script));
        assert_eq!(closure(std::slice::from_ref(&script)).unwrap().len(), 1);
        for bad in [
            &b"\x7fELF"[..],
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff",
        ] {
            assert!(needs(bad).is_none());
        }
    }
}
