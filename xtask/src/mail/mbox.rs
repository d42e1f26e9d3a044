//! All mails in one file.

use crate::mail::input::Mail;

/// The mails as an mbox of the `mboxrd` kind, in which every line that begins
/// with `From ` behind any number of `>` gets one more `>`, so that no line of a
/// message is taken for the beginning of the next, and each can be read back as
/// it was (`git am --patch-format=mboxrd`).
#[must_use]
pub fn mbox(mails: &[Mail]) -> Vec<u8> {
    let mut out = Vec::with_capacity(mails.iter().map(|m| m.bytes.len() + 1).sum());
    for mail in mails {
        for (i, line) in mail.bytes.split_inclusive(|&c| c == b'\n').enumerate() {
            let bare = line.iter().position(|&c| c != b'>').and_then(|at| line.get(at..));
            if i > 0 && bare.is_some_and(|l| l.starts_with(b"From ")) {
                out.push(b'>');
            }
            out.extend_from_slice(line);
        }
        if out.last().is_some_and(|&c| c != b'\n') {
            out.push(b'\n');
        }
        // A blank line stands before the next mail.
        if !out.ends_with(b"\n\n") {
            out.push(b'\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_like_a_beginning_are_quoted() {
        let mail = |text: &str| Mail {
            file_name: String::new(),
            bytes: text.into(),
            number: 1,
            warnings: Vec::new(),
        };
        let two = [mail("From x\n\nFrom a\n>From b\nFromage\n"), mail("From y\n\nz\n\n")];
        assert_eq!(
            String::from_utf8(mbox(&two)).unwrap(),
            "From x\n\n>From a\n>>From b\nFromage\n\nFrom y\n\nz\n\n"
        );
    }
}
