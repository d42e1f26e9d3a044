//! The mails as a reader sees them before they go, in a pager on a terminal.

use std::io::IsTerminal as _;

use crate::error::Result;
use crate::host::process::{Cmd, Stream};
use crate::host::ui::Ui;
use crate::mail::Mail;
use crate::recipients::{Header, Recipients};

/// All mails in one text, with the recipients on top.
#[must_use]
pub fn text(mails: &[Mail], recipients: &Recipients) -> Vec<u8> {
    let mut out = explain(recipients).into_bytes();
    for mail in mails {
        let rule = "=".repeat(72);
        out.extend_from_slice(format!("\n{rule}\n{}\n{rule}\n", mail.file_name).as_bytes());
        out.extend_from_slice(&mail.bytes);
    }
    out
}

/// Who gets the mails and why, and who does not.
#[must_use]
pub fn explain(recipients: &Recipients) -> String {
    let mut out = String::new();
    for (header, name) in [(Header::To, "To:"), (Header::Cc, "Cc:")] {
        for r in recipients.all.iter().filter(|r| r.header == header) {
            let why: Vec<String> = r.sources.iter().map(crate::recipients::Source::words).collect();
            out += &format!("{name} {}\n      {}\n", r.person.verbatim(), why.join("; "));
        }
    }
    for left in &recipients.left_out {
        let (address, source) = (&left.address, left.source.words());
        out += &format!("not: {address} ({source})\n      {}\n", left.why);
    }
    out
}

/// Shows `text` in the user's pager, or on stdout when that is no terminal.
///
/// # Errors
/// When it cannot be written, or the pager cannot be started.
pub fn show(ui: &Ui, text: &[u8]) -> Result<()> {
    let terminal = std::io::stdout().is_terminal();
    let pager = std::env::var("PAGER").ok().filter(|p| !p.trim().is_empty());
    match pager.or_else(|| which::which("less").ok().map(|_| "less -R".to_owned())) {
        // The variable is a shell command, as everywhere.
        Some(pager) if terminal && pager != "cat" => {
            Cmd::new("sh").args(["-c", &pager]).stdin(text).on_terminal(Stream::Out).map(|_| ())
        }
        _ => ui.result(&String::from_utf8_lossy(text), |w| w.write_all(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::Person;
    use crate::recipients::{Input, PatchPeople, collect};

    #[test]
    fn every_address_has_its_reason() {
        let input = Input {
            sender: Some(Person::new("Me", "me@x")),
            maintainers: vec![(Person::new("M", "m@x"), "maintainer:NET".into())],
            patches: vec![PatchPeople {
                name: "p",
                author: Person::new("Me", "me@x"),
                message: "a: b\n\nReviewed-by: M <m@x>\nReported-by: kernel test robot <lkp@intel.com>\nCc: netdev@x\n",
                fixed: vec![],
            }],
            ..Input::default()
        };
        let mail = Mail {
            file_name: "0001-x.patch".into(),
            bytes: b"From: x\n".to_vec(),
            number: 1,
            warnings: vec![],
        };
        let text = text(&[mail], &collect(&input).unwrap());
        insta::assert_snapshot!(String::from_utf8(text).unwrap());
    }
}
