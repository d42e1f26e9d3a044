//! Sizes of memory as QEMU and its users write them.

/// `512`, `512M` or `2G` in MiB.
///
/// # Errors
/// Says what a size is when `text` is none, or less than the smallest guest needs.
pub fn mebibytes(text: &str) -> Result<u32, String> {
    let (number, unit) = match text.strip_suffix(['M', 'm']) {
        Some(number) => (number, 1),
        None => match text.strip_suffix(['G', 'g']) {
            Some(number) => (number, 1024),
            None => (text, 1),
        },
    };
    let number: u32 = number.parse().map_err(|_| "a number of MiB, or with M or G".to_owned())?;
    number.checked_mul(unit).filter(|m| *m >= 64).ok_or_else(|| "between 64M and 4096G".into())
}

#[cfg(test)]
mod tests {
    use super::mebibytes;

    #[test]
    fn sizes() {
        for (text, want) in
            [("512", Some(512)), ("512M", Some(512)), ("2G", Some(2048)), ("1g", Some(1024))]
        {
            assert_eq!(mebibytes(text).ok(), want, "{text}");
        }
        for bad in ["", "M", "63", "1T", "-1", "4294967295G", "1.5G"] {
            assert!(mebibytes(bad).is_err(), "{bad}");
        }
    }
}
