//! Headers of our own in a mail that is written already.

use crate::error::{Error, Result};

/// By which b4 and archives find all versions of a series. b4's own header with
/// its whole state does not survive git send-email, whose header names have no
/// digits; b4 reads the change id from the cover letter as well.
pub const CHANGE_ID: &str = "X-Change-ID";

/// Puts headers at the end of a mail's header block.
///
/// # Errors
/// When the mail has no end of headers.
pub fn insert(mail: &[u8], headers: &[(&str, &str)]) -> Result<Vec<u8>> {
    let Some(end) = memchr::memmem::find(mail, b"\n\n") else {
        return Err(Error::usage("put headers into a mail").found("its headers have no end"));
    };
    let (head, rest) = mail.split_at(end + 1);
    let mut out = head.to_vec();
    for (name, value) in headers {
        out.extend_from_slice(format!("{name}: {value}\n").as_bytes());
    }
    out.extend_from_slice(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_stand_at_the_end_of_the_head() {
        let mail = insert(b"From: a@b\nSubject: x\n\nbody\n\nmore\n", &[("X", "y"), ("Z", "1")]);
        assert_eq!(mail.unwrap(), b"From: a@b\nSubject: x\nX: y\nZ: 1\n\nbody\n\nmore\n");
        assert!(insert(b"From: a@b\n", &[("X", "y")]).is_err());
    }
}
