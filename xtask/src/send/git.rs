//! `git send-email`, with the user's configuration and exactly the recipients
//! that were shown.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::host::process::{Cmd, Stream};
use crate::host::tools;
use crate::mail::Person;

/// How the mails go out.
#[derive(Clone, Debug)]
pub struct Transport {
    /// The folder whose git configuration counts besides the user's own.
    pub folder: PathBuf,
    /// Who sends.
    pub sender: Person,
    /// `--identity` of git send-email.
    pub identity: Option<String>,
    /// `--sendmail-cmd` of git send-email, in place of the configured way.
    pub sendmail: Option<String>,
    /// Shows what would be sent, and sends nothing.
    pub dry_run: bool,
}

impl Transport {
    /// The command that sends `files`. With `only` they go to that address and
    /// no other.
    #[must_use]
    pub fn command(&self, files: &[PathBuf], only: Option<&Person>) -> Cmd {
        let mut cmd = Cmd::new("git")
            .args([
                // Commands that would add addresses or headers which nobody was shown.
                "-c",
                "sendemail.headerCmd=true",
                "-c",
                "sendemail.mailmap=false",
                "send-email",
                "--to-cmd=true",
                "--suppress-cc=cccmd",
                "--suppress-cc=body",
                "--suppress-cc=author",
                "--suppress-cc=self",
                "--no-to",
                "--no-cc",
                // Message ids and threading are in the mails.
                "--no-thread",
                "--no-chain-reply-to",
                "--no-annotate",
                "--no-format-patch",
                // We have asked already.
                "--confirm=never",
            ])
            .arg(format!("--from={}", self.sender.verbatim()))
            .cwd(&self.folder)
            .hint("apt-get install git-email");
        if let Some(identity) = &self.identity {
            cmd = cmd.arg(format!("--identity={identity}"));
        }
        if let Some(sendmail) = &self.sendmail {
            cmd = cmd.arg(format!("--sendmail-cmd={sendmail}"));
        }
        if let Some(person) = only {
            cmd = cmd.args(["--no-bcc".to_owned(), format!("--to={}", person.verbatim())]);
        }
        if self.dry_run {
            cmd = cmd.arg("--dry-run");
        }
        cmd.args(files)
    }

    /// Sends them, on the user's terminal: git may ask for a password there.
    ///
    /// # Errors
    /// When git send-email is missing or fails.
    pub fn send(&self, files: &[PathBuf], only: Option<&Person>) -> Result<()> {
        ready()?;
        let cmd = self.command(files, only);
        let code = cmd.on_terminal(Stream::Err)?;
        if code == 0 {
            return Ok(());
        }
        let error = Error::host(format!("git send-email ended with code {code}"));
        Err(if self.dry_run {
            error.found("see what it said above")
        } else {
            error
                .found("see what it said above: some of the mails may have gone")
                .hint("send the rest with --first NUMBER; message ids stay the same")
        })
    }
}

/// Checks that git send-email takes an address. It leaves out those it does not
/// take, says so in passing, and ends with 0 even when nobody is left.
///
/// # Errors
/// Names the address, and why it would get no mail.
pub fn deliverable(person: &Person) -> Result<()> {
    let host = person.email.rsplit_once('@').map_or("", |(_, host)| host);
    if host.contains('.') && host.split('.').all(|label| !label.is_empty()) {
        return Ok(());
    }
    Err(Error::usage(format!("send to or from {}", person.verbatim()))
        .found(format!("git send-email leaves out addresses whose host, \"{host}\", has no dot"))
        .hint("name the host in full, as example.org"))
}

/// Whether git has its send-email, which distributions package apart.
///
/// # Errors
/// When it is missing.
pub fn ready() -> Result<()> {
    tools::need("git")?;
    if tools::git_command("send-email").is_some() {
        return Ok(());
    }
    Err(Error::host("git send-email is needed for this")
        .found("this git has no such command")
        .hint("apt-get install git-email libmailtools-perl"))
}

/// A setting of the user's, as git reads it in `folder`.
///
/// # Errors
/// When git is missing.
pub fn setting(folder: &Path, name: &str) -> Result<Option<String>> {
    let out = Cmd::new("git").args(["config", "--get", name]).cwd(folder).output()?;
    Ok(Some(out.text()).filter(|text| out.ok() && !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command() {
        let transport = Transport {
            folder: "/p".into(),
            sender: Person::new("Joe (ARM)", "joe@arm.com"),
            identity: Some("work".into()),
            sendmail: None,
            dry_run: true,
        };
        let text = transport.command(&["/t/0001-x.patch".into()], None).display();
        for part in
            ["'--from=Joe (ARM) <joe@arm.com>'", "--identity=work", "--dry-run", "--confirm=never"]
        {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.ends_with(" /t/0001-x.patch") && !text.contains("--to="), "{text}");
        let me = Person::new("", "me@x");
        let text = transport.command(&[], Some(&me)).display();
        assert!(text.contains("--no-bcc '--to=<me@x>'"), "{text}");
    }
}
