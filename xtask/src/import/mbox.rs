//! Files of mails cut into mails, as `git mailsplit` cuts them.

use std::borrow::Cow;

/// The mails in `text`: each from its `From …` line on, or the whole where no
/// such line begins it.
#[must_use]
pub fn split(text: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut out = Vec::new();
    let mut begin = 0;
    let mut at = 0;
    let mut rd = None;
    for line in text.split_inclusive(|&c| c == b'\n') {
        if begins_mail(line) {
            push(&mut out, text.get(begin..at).unwrap_or_default(), rd);
            begin = at;
            rd = Some(line.starts_with(b"From mboxrd@z "));
        }
        at += line.len();
    }
    push(&mut out, text.get(begin..).unwrap_or_default(), rd);
    out
}

/// Adds a mail; of the `mboxrd` kind, which archives serve and mark by its
/// sender, with the quotes taken off.
fn push<'t>(out: &mut Vec<Cow<'t, [u8]>>, mail: &'t [u8], rd: Option<bool>) {
    if mail.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    if rd != Some(true) {
        out.push(Cow::Borrowed(mail));
        return;
    }
    let mut plain = Vec::with_capacity(mail.len());
    for line in mail.split_inclusive(|&c| c == b'\n') {
        let quoted = line.strip_prefix(b">").is_some_and(|rest| {
            let bare = rest.iter().position(|&c| c != b'>').and_then(|n| rest.get(n..));
            bare.is_some_and(|l| l.starts_with(b"From "))
        });
        plain.extend_from_slice(line.get(usize::from(quoted)..).unwrap_or_default());
    }
    out.push(Cow::Owned(plain));
}

/// Whether a line stands before a mail: `From x Mon Sep 17 00:00:00 2001`, a
/// time and a year at its end. A sentence that begins with "From" has none.
fn begins_mail(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    let Some(colon) = memchr::memrchr(b':', rest) else { return false };
    let digit = |at: Option<usize>| at.and_then(|i| rest.get(i)).is_some_and(u8::is_ascii_digit);
    let around = digit(colon.checked_sub(4))
        && digit(colon.checked_sub(2))
        && digit(colon.checked_sub(1))
        && digit(Some(colon + 1))
        && digit(Some(colon + 2));
    let year = rest.get(colon + 3..).unwrap_or_default().trim_ascii_start();
    let year = year.iter().take_while(|c| c.is_ascii_digit()).count();
    around && year == 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        split(text.as_bytes()).iter().map(|m| String::from_utf8_lossy(m).into_owned()).collect()
    }

    #[test]
    fn mails_begin_with_their_line() {
        let line = "From 0123 Mon Sep 17 00:00:00 2001\n";
        assert_eq!(texts(&format!("{line}A: b\n\nFrom here on\n\n{line}C: d\n")).len(), 2);
        assert_eq!(texts("A: b\n\nx\n"), ["A: b\n\nx\n"]);
        assert!(texts("\n \n").is_empty() && texts("").is_empty());
        // mbox keeps quotes, mboxrd has one put on each.
        assert_eq!(texts(&format!("{line}\n>From a\n"))[0], format!("{line}\n>From a\n"));
        let rd = "From mboxrd@z Thu Jan  1 00:00:00 1970\n";
        assert_eq!(
            texts(&format!("{rd}\n>From a\n>>From b\n>x\n"))[0],
            format!("{rd}\nFrom a\n>From b\n>x\n")
        );
    }

    #[test]
    fn what_was_joined_is_parted_again() {
        let mails: Vec<crate::mail::Mail> = ["x\n\nFrom a Mon Sep 17 00:00:00 2001\n", "y\n"]
            .iter()
            .map(|body| crate::mail::Mail {
                file_name: String::new(),
                bytes: format!("From mboxrd@z Mon Sep 17 00:00:00 2001\nA: b\n\n{body}")
                    .into_bytes(),
                number: 1,
                warnings: Vec::new(),
            })
            .collect();
        let joined = crate::mail::mbox(&mails);
        let parted = split(&joined);
        assert_eq!(parted.len(), 2);
        assert!(parted[0].starts_with(&mails[0].bytes) && parted[1].starts_with(&mails[1].bytes));
    }
}
