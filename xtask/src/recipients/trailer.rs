//! The trailers of a commit message, as git itself sees them.

use crate::error::Result;

/// One `Key: value` line of the last paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// What stands before the colon, as it was written.
    pub key: String,
    /// What stands behind it; continuation lines are joined by one blank.
    pub value: String,
}

impl Trailer {
    /// Whether the key is `key`; case plays no part, as in git.
    #[must_use]
    pub fn is(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key)
    }

    /// Whether its value names people who should see the patch: `Cc`, and what
    /// ends in `-by` (`Reviewed-by`, `Reported-by`, …).
    #[must_use]
    pub fn names_people(&self) -> bool {
        let key = self.key.to_ascii_lowercase();
        key == "cc" || key.ends_with("-by")
    }
}

/// The trailers of `message`. Text behind a `---` line is not part of it.
///
/// # Errors
/// When libgit2 cannot take the message (a NUL byte).
pub fn of(message: &str) -> Result<Vec<Trailer>> {
    let trailers = git2::message_trailers_bytes(message)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(trailers
        .iter()
        .map(|(key, value)| {
            let value = text(value).lines().map(str::trim).collect::<Vec<_>>().join(" ");
            Trailer { key: text(key), value }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_paragraph_has_them() {
        let message = "net: x\n\nNote: this is text.\n\nFixes: 0123456789ab (\"net: y\")\ncc: a@b\nSigned-off-by: A\n B <a@b>\n";
        let seen: Vec<String> =
            of(message).unwrap().iter().map(|t| format!("{}={}", t.key, t.value)).collect();
        assert_eq!(seen, ["Fixes=0123456789ab (\"net: y\")", "cc=a@b", "Signed-off-by=A B <a@b>"]);
        for none in ["", "net: x\n", "net: x\n\nplain text\n"] {
            assert!(of(none).unwrap().is_empty(), "{none:?}");
        }
    }

    #[test]
    fn who_is_named() {
        for (key, named) in [
            ("Cc", true),
            ("REVIEWED-BY", true),
            ("Signed-off-by", true),
            ("Link", false),
            ("prerequisite-message-id", false),
            ("Fixes", false),
            ("Message-Id", false),
        ] {
            assert_eq!(Trailer { key: key.into(), value: String::new() }.names_people(), named);
        }
    }
}
