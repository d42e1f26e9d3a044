//! `cargo xtask send`: preview, a copy to oneself, or `git send-email`. Nothing
//! is sent without a word of confirmation.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::check::{compilers_left_out, judge, keep};
use super::material::{Material, What};
use crate::cli::{Ctx, Outcome};
use crate::error::{Error, IoContext as _, Result};
use crate::gates::{Gate, Status, Submission};
use crate::mail::{Mail, Person};
use crate::recipients::gather::gather;
use crate::recipients::{Header, Recipients};
use crate::scripts::Scripts;
use crate::send::git::{Transport, deliverable, setting};
use crate::send::record::{self, Meta, Sent};
use crate::send::{self, headers, preview, sign};
use crate::series;

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
    Gate::Places,
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
    /// Sends the version that was sent once more, byte for byte, to the same people.
    #[arg(long, conflicts_with_all = ["explain", "reflect"])]
    resend: bool,
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
        if self.resend {
            return self.once_more(ctx);
        }
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
        let folder = self.config_folder(ctx, material.folder())?;
        let mut red = false;
        deliverable(material.sender())?;
        if !self.reflect {
            for header in [Header::To, Header::Cc] {
                recipients.of(header).iter().try_for_each(deliverable)?;
            }
            self.not_sent_yet(&material)?;
            if recipients.of(Header::To).is_empty() {
                return Err(Error::usage(format!("send {}", material.name))
                    .found("nobody is in To")
                    .hint("name someone with --to, or in \"to\" of series.toml"));
            }
            red = self.gates(ctx, &material, &submission)?;
            drop(submission);
            // What the letter tells of them is there now.
            if material.renew_letter(ctx)? {
                mails = self.outgoing(&material, &recipients)?;
            }
        }
        let signed = !self.no_sign && sign::sign(&ctx.dirs, &folder, &mut mails)?;
        let sender = material.sender().clone();
        self.warn_of_another_sender(ctx, &folder, &sender)?;
        if !self.dry_run {
            let lines = self.summary(&sender, &recipients);
            self.confirm(ctx, &material.name, &lines, self.rest(&mails)?)?;
        }
        self.hand_over(folder, &sender, self.rest(&mails)?)?;
        let done = match (self.dry_run, self.reflect) {
            (true, _) => "nothing was sent",
            (false, true) => "sent to yourself",
            (false, false) => "sent",
        };
        if done == "sent" {
            archive(ctx, &material, &mails)?;
        }
        let report = Report {
            series: &material.name,
            done,
            mails: self.rest(&mails)?.iter().map(|m| m.file_name.as_str()).collect(),
            signed,
            recipients: &recipients,
        };
        ctx.ui.result(&report, |w| {
            writeln!(w, "{}: {done}, {} mails", report.series, report.mails.len())
        })?;
        if red && !self.force {
            ctx.ui.note("without --dry-run they would not be sent: gates are red");
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Held)
    }

    /// The mails with their recipients and the change id.
    fn outgoing(&self, material: &Material, recipients: &Recipients) -> Result<Vec<Mail>> {
        let (to, cc) = (recipients.of(Header::To), recipients.of(Header::Cc));
        let mut mails =
            if self.reflect { material.mails(&[], &[])? } else { material.mails(&to, &cc)? };
        if let (Some(first), Some(id)) = (mails.first_mut(), material.change_id()) {
            first.bytes = headers::insert(&first.bytes, &[(headers::CHANGE_ID, id)])?;
        }
        if self.reflect {
            let listed = |people: &[Person]| {
                people.iter().map(|p| p.email.as_str()).collect::<Vec<_>>().join(",\n ")
            };
            let (to, cc) = (listed(&to), listed(&cc));
            let reflected = [("X-Reflected-To", to.as_str()), ("X-Reflected-Cc", cc.as_str())];
            for mail in &mut mails {
                let filled: Vec<_> = reflected.into_iter().filter(|(_, v)| !v.is_empty()).collect();
                mail.bytes = headers::insert(&mail.bytes, &filled)?;
            }
        }
        self.rest(&mails)?;
        Ok(mails)
    }

    /// The mails from --first on.
    fn rest<'m>(&self, mails: &'m [Mail]) -> Result<&'m [Mail]> {
        let begin = mails.iter().position(|m| m.number >= self.first);
        begin.and_then(|at| mails.get(at..)).ok_or_else(|| {
            Error::usage(format!("--first {}", self.first))
                .found("the series has no mail of that number or later")
        })
    }

    fn hand_over(&self, folder: PathBuf, sender: &Person, mails: &[Mail]) -> Result<()> {
        let place = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
        let files = send::write(place.path(), mails)?;
        let transport = Transport {
            folder,
            sender: sender.clone(),
            identity: self.identity.clone(),
            sendmail: self.sendmail_cmd.clone(),
            dry_run: self.dry_run,
        };
        transport.send(&files, self.reflect.then_some(sender))
    }

    /// A version goes out once; what is sent again must be the same bytes.
    fn not_sent_yet(&self, material: &Material) -> Result<()> {
        let Some(series) = material.series_folder() else { return Ok(()) };
        let version = material.version();
        let Some(sent) = record::load(&series, version)? else { return Ok(()) };
        let next = record::latest(&series).unwrap_or(version).max(version).saturating_add(1);
        Err(Error::usage(format!("send {} v{version}", material.name))
            .found(format!("v{version} was sent at {}", sent.meta.sent_at))
            .hint(format!("raise \"version\" in series.toml to {next}"))
            .hint("or send the same bytes once more with --resend"))
    }

    fn once_more(&self, ctx: &Ctx) -> Result<Outcome> {
        let Some(name) = &self.series else {
            return Err(Error::usage("send --resend").found("no series is named"));
        };
        let series = series::load(ctx.dirs.project()?, name)?;
        let version = self.what.version().unwrap_or(series.version);
        let Some(sent) = record::load(&series.folder(), version)? else {
            return Err(Error::usage(format!("send {name} v{version} once more"))
                .found(format!("v{version} was never sent"))
                .hint("leave --resend out"));
        };
        if self.preview {
            let nobody = Recipients::default();
            preview::show(&ctx.ui, &preview::text(&sent.mails, &nobody))?;
            return Ok(Outcome::Held);
        }
        let sender = match self.what.sender()? {
            Some(sender) => sender,
            None => Person::new(&series.author.name, &series.author.email),
        };
        if !self.dry_run {
            let line = format!("v{version}, as it was sent at {}", sent.meta.sent_at);
            self.confirm(ctx, name, &[line], self.rest(&sent.mails)?)?;
        }
        let folder = self.config_folder(ctx, None)?;
        self.hand_over(folder, &sender, self.rest(&sent.mails)?)?;
        let done = if self.dry_run { "nothing was sent" } else { "sent once more" };
        let report = serde_json::json!({
            "series": name, "done": done, "version": version, "mails": &sent.meta.mails,
        });
        ctx.ui.result(&report, |w| writeln!(w, "{name} v{version}: {done}"))?;
        Ok(Outcome::Held)
    }

    fn config_folder(&self, ctx: &Ctx, own: Option<PathBuf>) -> Result<PathBuf> {
        let folder = match self.config_from.clone().or(own) {
            Some(folder) => folder,
            None => ctx.dirs.project()?.to_owned(),
        };
        if folder.is_dir() {
            return Ok(folder);
        }
        Err(Error::usage(format!("--config-from {}", folder.display())).found("no such folder"))
    }

    /// Refuses when a gate is red or could not run. With --force and --dry-run it
    /// only tells, and whether one is.
    fn gates(&self, ctx: &Ctx, material: &Material, s: &Submission<'_>) -> Result<bool> {
        let gates: Vec<Gate> = BEFORE.iter().copied().filter(|g| material.is_for(*g)).collect();
        let report = judge(ctx, material, s, &gates, &[])?;
        keep(ctx, material, &report)?;
        ctx.ui.note(&compilers_left_out("by `cargo xtask check`"));
        if report.status() == Status::Passed {
            return Ok(false);
        }
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = report.human(&mut text);
        ctx.ui.note(&String::from_utf8_lossy(&text));
        if self.force || self.dry_run {
            ctx.ui.warn("gates are red");
            return Ok(true);
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

    /// Who sends, and to whom, for the question.
    fn summary(&self, sender: &Person, recipients: &Recipients) -> Vec<String> {
        let mut lines = vec![format!("From: {}", sender.verbatim())];
        if self.reflect {
            lines.push("To:   yourself alone".into());
            return lines;
        }
        for (name, header) in [("To:  ", Header::To), ("Cc:  ", Header::Cc)] {
            lines.extend(recipients.of(header).iter().map(|p| format!("{name} {}", p.verbatim())));
        }
        lines
    }

    /// Asks for the word, unless it was given beforehand.
    fn confirm(&self, ctx: &Ctx, name: &str, lines: &[String], mails: &[Mail]) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        let ask = format!("send {name}");
        // A pipe is no place for the answer.
        if !std::io::stdin().is_terminal() {
            return Err(Error::usage(ask)
                .found("standard input is no terminal, so nobody can confirm")
                .hint("look at --preview first, then add --yes"));
        }
        let mails_listed = mails.iter().map(|m| format!("      {}", m.file_name));
        for line in lines.iter().cloned().chain(mails_listed) {
            ctx.ui.note(&line);
        }
        ctx.ui.note(&format!("Type \"{WORD}\" to send these {} mails:", mails.len()));
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer).at("read", Path::new("standard input"))?;
        if answer.trim() == WORD {
            return Ok(());
        }
        Err(Error::check(ask).found("not confirmed; nothing was sent"))
    }
}

/// Keeps what was sent with the series.
fn archive(ctx: &Ctx, material: &Material, mails: &[Mail]) -> Result<()> {
    let Some(series) = material.series_folder() else {
        ctx.ui.note("not kept: a range has no series to keep it with");
        return Ok(());
    };
    let first = mails.first().map(|m| m.bytes.as_slice()).unwrap_or_default();
    let meta = Meta {
        version: material.version(),
        sent_at: jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string(),
        base: material.base_name.clone(),
        base_commit: material.base_commit.to_string(),
        onto: (material.base != material.base_commit).then(|| material.base.to_string()),
        head: material.head().to_string(),
        message_id: record::message_id(first).unwrap_or_default(),
        mails: mails.iter().map(|m| m.file_name.clone()).collect(),
    };
    let folder = record::save(&series, &Sent { meta, mails: mails.to_vec() })?;
    ctx.ui.note(&format!("kept in {}: commit it with the series", folder.display()));
    Ok(())
}
