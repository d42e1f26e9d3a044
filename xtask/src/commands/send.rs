//! `cargo xtask send`: preview, a copy to oneself, or `git send-email`. Nothing
//! is sent without a word of confirmation.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::check::judge;
use super::material::{Material, What};
use crate::cli::{Ctx, Outcome};
use crate::error::{Error, IoContext as _, Result};
use crate::gates::{Gate, Status, Submission};
use crate::mail::{Mail, Person};
use crate::recipients::gather::gather;
use crate::recipients::{Header, Recipients};
use crate::scripts::Scripts;
use crate::send::git::{Transport, setting};
use crate::send::{self, preview, sign, tracking};

/// The gates that must be green before a series goes out: all that need no
/// compiler.
const BEFORE: &[Gate] = &[
    Gate::Applies,
    Gate::Checkpatch,
    Gate::Message,
    Gate::Trailers,
    Gate::Spelling,
    Gate::KernelDoc,
    Gate::Recipients,
    Gate::Maintainers,
    Gate::Kconfig,
];

/// The word that sends.
const WORD: &str = "send";

/// Options of `send`.
#[derive(Debug, Args)]
pub struct Send {
    /// The series.
    series: Option<String>,
    #[command(flatten)]
    what: What,
    /// Shows who gets the mails and why, and ends.
    #[arg(long, conflicts_with_all = ["preview", "reflect", "dry_run"])]
    explain: bool,
    /// Shows the mails (in $PAGER on a terminal), and ends.
    #[arg(long, conflicts_with_all = ["reflect", "dry_run"])]
    preview: bool,
    /// Sends them to yourself alone; whom they would go to stands in
    /// X-Reflected-To and X-Reflected-Cc.
    #[arg(long)]
    reflect: bool,
    /// Lets git send-email show what it would do; sends nothing.
    #[arg(long)]
    dry_run: bool,
    /// Sends without asking.
    #[arg(long, short)]
    yes: bool,
    /// Sends though gates are red.
    #[arg(long)]
    force: bool,
    /// Sends only the mails from this number on (0 is the cover letter), to go on
    /// where sending broke off.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    first: usize,
    /// The mail that the first one answers.
    #[arg(long, value_name = "MESSAGE-ID")]
    in_reply_to: Option<String>,
    /// The folder whose git configuration counts (sendemail.*, patatt.*, hooks)
    /// besides your own. Default: where the commits come from, else the project.
    #[arg(long, value_name = "DIR")]
    config_from: Option<PathBuf>,
    /// `--identity` of git send-email.
    #[arg(long, value_name = "NAME")]
    identity: Option<String>,
    /// `--sendmail-cmd` of git send-email.
    #[arg(long, value_name = "COMMAND")]
    sendmail_cmd: Option<String>,
    /// Does not sign with patatt, though it is configured.
    #[arg(long)]
    no_sign: bool,
}

#[derive(Serialize)]
struct Report<'r> {
    series: &'r str,
    done: &'r str,
    mails: Vec<&'r str>,
    signed: bool,
    recipients: &'r Recipients,
}

impl Send {
    /// Sends, or shows.
    ///
    /// # Errors
    /// When gates are red, nobody confirms, or git send-email fails.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let mut material = self.what.get(ctx, self.series.as_deref())?;
        material.in_reply_to.clone_from(&self.in_reply_to);
        let plain = material.mails(&[], &[])?;
        let submission = material.submission(&plain)?;
        let recipients = {
            let scripts =
                Scripts::prepare(&ctx.ui, &ctx.dirs, submission.repo, submission.base_tree)?;
            gather(&ctx.dirs, &scripts, &submission, &material.wishes)?
        };
        if self.explain {
            let text = preview::explain(&recipients);
            ctx.ui.result(&recipients, |w| w.write_all(text.as_bytes()))?;
            return Ok(Outcome::Held);
        }
        let mut mails = self.outgoing(&material, &recipients)?;
        if self.preview {
            preview::show(&ctx.ui, &preview::text(&mails, &recipients))?;
            return Ok(Outcome::Held);
        }
        let folder = self.config_folder(ctx, &material)?;
        if !self.reflect {
            if recipients.of(Header::To).is_empty() {
                return Err(Error::usage(format!("send {}", material.name))
                    .found("nobody is in To")
                    .hint("name someone with --to, or in \"to\" of series.toml"));
            }
            self.gates(ctx, &material, &submission)?;
        }
        let signed = !self.no_sign && sign::sign(&ctx.dirs, &folder, &mut mails)?;
        let sender = material.sender().clone();
        self.warn_of_another_sender(ctx, &folder, &sender)?;
        if !self.dry_run {
            self.confirm(ctx, &material, &mails, &recipients)?;
        }
        let place = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
        let files = send::write(place.path(), &mails)?;
        let transport = Transport {
            folder,
            sender: sender.clone(),
            identity: self.identity.clone(),
            sendmail: self.sendmail_cmd.clone(),
            dry_run: self.dry_run,
        };
        transport.send(&files, self.reflect.then_some(&sender))?;
        let done = match (self.dry_run, self.reflect) {
            (true, _) => "nothing was sent",
            (false, true) => "sent to yourself",
            (false, false) => "sent",
        };
        let report = Report {
            series: &material.name,
            done,
            mails: mails.iter().map(|m| m.file_name.as_str()).collect(),
            signed,
            recipients: &recipients,
        };
        ctx.ui.result(&report, |w| {
            writeln!(w, "{}: {done}, {} mails", report.series, report.mails.len())
        })?;
        Ok(Outcome::Held)
    }

    /// The mails with their recipients and b4's headers.
    fn outgoing(&self, material: &Material, recipients: &Recipients) -> Result<Vec<Mail>> {
        let (to, cc) = (recipients.of(Header::To), recipients.of(Header::Cc));
        let mut mails =
            if self.reflect { material.mails(&[], &[])? } else { material.mails(&to, &cc)? };
        if let (Some(first), Some(tracked)) = (mails.first_mut(), material.tracked()) {
            first.bytes = tracking::add(&first.bytes, &tracked)?;
        }
        if self.reflect {
            let listed = |people: &[Person]| {
                people.iter().map(|p| p.email.as_str()).collect::<Vec<_>>().join(",\n ")
            };
            let (to, cc) = (listed(&to), listed(&cc));
            let headers = [("X-Reflected-To", to.as_str()), ("X-Reflected-Cc", cc.as_str())];
            for mail in &mut mails {
                let filled: Vec<_> = headers.into_iter().filter(|(_, v)| !v.is_empty()).collect();
                mail.bytes = tracking::insert(&mail.bytes, &filled)?;
            }
        }
        mails.retain(|m| m.number >= self.first);
        if mails.is_empty() {
            return Err(Error::usage(format!("--first {}", self.first))
                .found("the series has no mail of that number or later"));
        }
        Ok(mails)
    }

    fn config_folder(&self, ctx: &Ctx, material: &Material) -> Result<PathBuf> {
        let folder = match &self.config_from {
            Some(folder) => folder.clone(),
            None => match material.folder() {
                Some(folder) => folder,
                None => ctx.dirs.project()?.to_owned(),
            },
        };
        if folder.is_dir() {
            return Ok(folder);
        }
        Err(Error::usage(format!("--config-from {}", folder.display())).found("no such folder"))
    }

    /// Refuses when a gate is red or could not run.
    fn gates(&self, ctx: &Ctx, material: &Material, s: &Submission<'_>) -> Result<()> {
        let report = judge(ctx, material, s, BEFORE, &[])?;
        if report.status() == Status::Passed {
            return Ok(());
        }
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = report.human(&mut text);
        ctx.ui.note(&String::from_utf8_lossy(&text));
        if self.force || self.dry_run {
            ctx.ui.warn("gates are red");
            return Ok(());
        }
        Err(Error::check(format!("send {}", material.name))
            .found(format!(
                "{} gates failed, {} could not run",
                report.count(Status::Failed),
                report.count(Status::Skipped)
            ))
            .hint("mend what they found, accept it with a reason in checks.toml, or --force"))
    }

    fn warn_of_another_sender(&self, ctx: &Ctx, folder: &Path, sender: &Person) -> Result<()> {
        let identity = self.identity.as_ref().map(|i| format!("sendemail.{i}.from"));
        let names = identity.iter().map(String::as_str).chain(["sendemail.from", "user.email"]);
        for name in names {
            if let Some(value) = setting(folder, name)? {
                if !value.to_lowercase().contains(&sender.email.to_lowercase()) {
                    ctx.ui.warn(&format!(
                        "the mails are from {}, and your {name} is {value}: --from changes that",
                        sender.verbatim()
                    ));
                }
                break;
            }
        }
        Ok(())
    }

    /// Asks for the word, unless it was given beforehand.
    fn confirm(
        &self,
        ctx: &Ctx,
        material: &Material,
        mails: &[Mail],
        recipients: &Recipients,
    ) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        let ask = format!("send {}", material.name);
        // A line of the JSON result is no place for a question, and a pipe no
        // place for the answer.
        if !std::io::stdin().is_terminal() {
            return Err(Error::usage(ask)
                .found("standard input is no terminal, so nobody can confirm")
                .hint("look at --preview first, then add --yes"));
        }
        let note = |line: &str| ctx.ui.note(line);
        note(&format!("From: {}", material.sender().verbatim()));
        if self.reflect {
            note("To:   yourself alone");
        } else {
            for (name, header) in [("To:  ", Header::To), ("Cc:  ", Header::Cc)] {
                for person in recipients.of(header) {
                    note(&format!("{name} {}", person.verbatim()));
                }
            }
        }
        for mail in mails {
            note(&format!("      {}", mail.file_name));
        }
        note(&format!("Type \"{WORD}\" to send these {} mails:", mails.len()));
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).at("read", Path::new("standard input"))?;
        if answer.trim() == WORD {
            return Ok(());
        }
        Err(Error::check(ask).found("not confirmed; nothing was sent"))
    }
}
