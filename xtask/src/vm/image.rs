//! Kernel images: which architecture one is for, from its first bytes.
//!
//! The formats are described in the kernel's `Documentation/arch/x86/boot.rst`,
//! `arch/arm64/booting.rst` and `arch/riscv/boot-image-header.rst`.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::Arch;
use crate::error::{Error, IoContext as _, Result};

/// How much is read of an image: headers, and the release of a bzImage.
const HEAD: u64 = 64 * 1024;

/// What an image says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The architecture.
    pub arch: Arch,
    /// `bzImage`, `Image`, `Image.gz`, `vmlinux`.
    pub format: &'static str,
    /// The kernel's release, where the header tells.
    pub release: Option<String>,
}

/// Reads the head of the image at `path`.
///
/// # Errors
/// When it cannot be read, or is no kernel image that QEMU boots.
pub fn sniff(path: &Path) -> Result<Image> {
    let mut head = Vec::new();
    let file = File::open(path).at("open the kernel image", path)?;
    file.take(HEAD).read_to_end(&mut head).at("read the kernel image", path)?;
    of_head(&head).ok_or_else(|| {
        Error::usage(format!("boot {}", path.display()))
            .found("it is no kernel image known here (bzImage, Image, Image.gz, vmlinux)")
            .hint("x86_64: arch/x86/boot/bzImage; arm64: arch/arm64/boot/Image")
    })
}

fn of_head(head: &[u8]) -> Option<Image> {
    if head.starts_with(&[0x1f, 0x8b]) {
        let mut inner = Vec::new();
        // The head of a stream that goes on: what could be read is enough.
        let _ = flate2::read::GzDecoder::new(head).take(4096).read_to_end(&mut inner);
        let mut image = of_head(&inner)?;
        image.format = "Image.gz";
        return Some(image);
    }
    let at = |from: usize, len: usize| head.get(from..from + len);
    if at(0x202, 4) == Some(b"HdrS") {
        let offset = at(0x20e, 2).and_then(|b| b.try_into().ok()).map(u16::from_le_bytes)?;
        let text = head.get(usize::from(offset) + 0x200..).unwrap_or(&[]);
        let text = text.split(|b| *b == 0 || *b == b' ').next().unwrap_or(&[]);
        let release = (offset != 0 && !text.is_empty() && text.len() < 128)
            .then(|| String::from_utf8_lossy(text).into_owned());
        return Some(Image { arch: Arch::X86_64, format: "bzImage", release });
    }
    let plain = |arch, format| Some(Image { arch, format, release: None });
    match at(0x38, 4) {
        Some(b"ARM\x64") => return plain(Arch::Arm64, "Image"),
        Some(b"RSC\x05") => return plain(Arch::Riscv64, "Image"),
        _ => {}
    }
    if at(0, 4) == Some(b"\x7fELF") {
        let machine = at(0x12, 2).and_then(|b| b.try_into().ok()).map(u16::from_le_bytes)?;
        return match machine {
            62 => plain(Arch::X86_64, "vmlinux"),
            183 => plain(Arch::Arm64, "vmlinux"),
            243 => plain(Arch::Riscv64, "vmlinux"),
            _ => None,
        };
    }
    None
}

/// The configuration that belongs to an image, where it is in a usual place:
/// beside it, at the top of its objdir, or as `/boot/config-RELEASE`.
#[must_use]
pub fn find_config(path: &Path, release: Option<&str>) -> Option<PathBuf> {
    let dir = path.parent()?;
    let mut places = vec![dir.join("config"), dir.join(".config")];
    // arch/x86/boot/bzImage in an objdir.
    if dir.ends_with("boot")
        && let Some(top) = dir.ancestors().nth(3)
    {
        places.push(top.join(".config"));
    }
    places.extend(release.map(|r| dir.join(format!("config-{r}"))));
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    places.extend(name.strip_prefix("vmlinuz-").map(|r| dir.join(format!("config-{r}"))));
    places.into_iter().find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: &[(usize, &[u8])]) -> Vec<u8> {
        let mut head = vec![0; 0x1000];
        for (at, b) in bytes {
            head[*at..at + b.len()].copy_from_slice(b);
        }
        head
    }

    #[test]
    fn formats() {
        let x86 = head(&[(0x202, b"HdrS"), (0x20e, &[0, 2]), (0x400, b"6.12.1-rc1 (k@k) #1\0")]);
        let arm = head(&[(0x38, b"ARM\x64")]);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gz, &arm).unwrap();
        let gz = gz.finish().unwrap();
        let elf = head(&[(0, b"\x7fELF"), (0x12, &[243, 0])]);
        type Want<'w> = Option<(Arch, &'w str, Option<&'w str>)>;
        let cases: &[(&[u8], Want<'_>)] = &[
            (&x86, Some((Arch::X86_64, "bzImage", Some("6.12.1-rc1")))),
            (&arm, Some((Arch::Arm64, "Image", None))),
            (&gz, Some((Arch::Arm64, "Image.gz", None))),
            (&elf, Some((Arch::Riscv64, "vmlinux", None))),
            (b"", None),
            (b"\x1f\x8b", None),
            (b"\x7fELF", None),
            (b"MZ", None),
        ];
        for (bytes, want) in cases {
            let got = of_head(bytes);
            let got = got.as_ref().map(|i| (i.arch, i.format, i.release.as_deref()));
            assert_eq!(got, *want);
        }
    }

    #[test]
    fn a_header_that_points_outside_is_no_panic() {
        let bad = head(&[(0x202, b"HdrS"), (0x20e, &[0xff, 0xff])]);
        assert_eq!(of_head(&bad).unwrap().release, None);
    }

    #[test]
    fn the_configuration_of_an_objdir_is_found() {
        let t = tempfile::tempdir().unwrap();
        let boot = t.path().join("arch/x86/boot");
        std::fs::create_dir_all(&boot).unwrap();
        std::fs::write(t.path().join(".config"), "").unwrap();
        assert_eq!(find_config(&boot.join("bzImage"), None), Some(t.path().join(".config")));
        std::fs::write(boot.join("config"), "").unwrap();
        assert_eq!(find_config(&boot.join("bzImage"), None), Some(boot.join("config")));
    }
}
