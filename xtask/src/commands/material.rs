//! What `check` and `send` work on: a series rendered on a base, or commits of
//! any repository.

use std::path::PathBuf;

use clap::Args;
use git2::{Oid, Repository};

use super::format_series;
use crate::cli::Ctx;
use crate::error::{Error, Result};
use crate::gates::Submission;
use crate::gates::accept::Accepted;
use crate::gates::submission::Made;
use crate::mail::{self, Cover, Mail, MailInput, Person, Prefix, Tracking};
use crate::recipients::gather::Wishes;
use crate::send::tracking::Tracked;

/// Options that name it.
#[derive(Debug, Args)]
pub struct What {
    /// Commits instead of a series, as `OLD..NEW`, `NEW` alone, or `-N`.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    range: Option<String>,
    /// The repository that has the commits of --range; it is only read.
    #[arg(long, value_name = "PATH", default_value = ".", requires = "range")]
    repo: PathBuf,
    /// The cover letter of --range: its subject, a blank line, its text.
    #[arg(long, value_name = "FILE", requires = "range")]
    cover_letter: Option<PathBuf>,
    /// The tree or list in the brackets of --range: `net-next`.
    #[arg(long, value_name = "NAME", requires = "range")]
    list: Option<String>,
    /// The change id of --range.
    #[arg(long, value_name = "ID", requires = "range")]
    change_id: Option<String>,
    /// The version.
    #[arg(long, short = 'v', value_name = "N")]
    reroll_count: Option<u32>,
    /// `[RFC PATCH]`.
    #[arg(long)]
    rfc: bool,
    /// Who sends it; an author who is someone else is named in the body.
    #[arg(long, value_name = "NAME <ADDRESS>")]
    from: Option<String>,
    /// One more addressee.
    #[arg(long, value_name = "NAME <ADDRESS>")]
    to: Vec<String>,
    /// One more who gets a copy.
    #[arg(long, value_name = "NAME <ADDRESS>")]
    cc: Vec<String>,
    /// Does not ask get_maintainer.pl of the base for recipients.
    #[arg(long)]
    no_maintainers: bool,
}

/// It, with everything that its mails are written from.
pub struct Material {
    /// Has the commits.
    repo: Repository,
    /// For the report: the series' name, or the range.
    pub name: String,
    /// For the report: the base's name.
    pub base_name: String,
    /// The base's commit.
    pub base: Oid,
    commits: Vec<Oid>,
    names: Vec<String>,
    prefix: Prefix,
    sender: Person,
    cover: Option<Cover>,
    tracking: Tracking,
    /// The mail that the first one answers.
    pub in_reply_to: Option<String>,
    /// Who is to get it, as far as the series and the user say.
    pub wishes: Wishes,
    /// Findings that the author accepts.
    pub accepted: Accepted,
    /// Patches that do not apply here, with the verdict.
    pub left_out: Vec<(String, String)>,
}

impl What {
    /// Brings it about.
    ///
    /// # Errors
    /// When it is not there, or not well-formed.
    pub fn get(&self, ctx: &Ctx, series: Option<&str>) -> Result<Material> {
        let _ = ctx;
        match (series, &self.range) {
            (Some(name), Some(range)) => Err(Error::usage("what to work on")
                .found(format!("a series, {name}, and a range, {range}"))
                .hint("name one of them")),
            (None, None) => Err(Error::usage("what to work on")
                .found("neither a series nor --range")
                .hint("cargo xtask list shows the series")),
            (None, Some(range)) => self.of_range(range),
            (Some(name), None) => Err(Error::usage(format!("series {name}"))),
        }
    }

    fn of_range(&self, range: &str) -> Result<Material> {
        let repo = Repository::open(&self.repo).map_err(|e| {
            Error::usage(format!("--repo {}", self.repo.display()))
                .found(e.message().to_owned())
                .hint("name a git repository or a folder in one")
        })?;
        let commits = format_series::commits(&repo, range)?;
        let no_base = || {
            Error::usage(format!("the range \"{}\"", range.escape_debug()))
                .found("its first commit has no parent, so there is no base")
        };
        let first = *commits.first().ok_or_else(no_base)?;
        let (base, author) = {
            let commit = repo.find_commit(first)?;
            let base = commit.parent_id(0).map_err(|_| no_base())?;
            let author = commit.author();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (base, Person::new(text(author.name_bytes()), text(author.email_bytes())))
        };
        let cover = self.cover_letter.as_deref().map(|f| format_series::cover(Some(f)));
        let base_name = base.to_string().get(..12).unwrap_or_default().to_owned();
        let numbers = 1..=commits.len();
        Ok(Material {
            name: range.to_owned(),
            base_name,
            base,
            names: numbers.map(|n| n.to_string()).collect(),
            commits,
            prefix: Prefix {
                list: self.list.clone(),
                version: self.reroll_count.unwrap_or(1),
                rfc: self.rfc,
                ..Prefix::default()
            },
            sender: self.from.as_deref().map(Person::parse).transpose()?.unwrap_or(author),
            cover: cover.transpose()?,
            tracking: Tracking {
                base_commit: Some(base),
                change_id: self.change_id.clone(),
                prerequisites: Vec::new(),
            },
            in_reply_to: None,
            wishes: self.wishes(Vec::new(), Vec::new()),
            accepted: Accepted::default(),
            left_out: Vec::new(),
            repo,
        })
    }

    fn wishes(&self, to: Vec<String>, cc: Vec<String>) -> Wishes {
        Wishes {
            to,
            cc,
            option_to: self.to.clone(),
            option_cc: self.cc.clone(),
            unwanted: Vec::new(),
            no_maintainers: self.no_maintainers,
        }
    }
}

impl Material {
    /// The repository with base and commits.
    #[must_use]
    pub fn repo(&self) -> &Repository {
        &self.repo
    }

    /// Who sends it.
    #[must_use]
    pub fn sender(&self) -> &Person {
        &self.sender
    }

    /// The work tree that the commits come from, if they come from one.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        self.repo.workdir().map(std::path::Path::to_owned)
    }

    /// What b4 is told of it; nothing without a change id.
    #[must_use]
    pub fn tracked(&self) -> Option<Tracked<'_>> {
        let change_id = self.tracking.change_id.as_deref()?;
        let words = self.prefix.words();
        let prefixes = words.split_whitespace().map(str::to_owned);
        let version = format!("v{}", self.prefix.version);
        Some(Tracked {
            change_id,
            version: self.prefix.version,
            prefixes: prefixes.filter(|w| w != "PATCH" && *w != version).collect(),
            history: Vec::new(),
        })
    }

    /// Its mails.
    ///
    /// # Errors
    /// When a commit cannot be mailed.
    pub fn mails(&self, to: &[Person], cc: &[Person]) -> Result<Vec<Mail>> {
        let mut input = MailInput::new(&self.commits);
        input.prefix = self.prefix.clone();
        input.from = Some(self.sender.clone());
        input.cover.clone_from(&self.cover);
        input.tracking = self.tracking.clone();
        (input.to, input.cc) = (to.to_vec(), cc.to_vec());
        if let (Some(thread), Some(id)) = (&mut input.thread, &self.in_reply_to) {
            let bare = id.trim().trim_start_matches('<').trim_end_matches('>');
            thread.in_reply_to = Some(bare.to_owned());
        }
        let mails = mail::write_series(self.repo(), &input)?;
        mail::prove(self.repo(), &input, &mails)?;
        Ok(mails)
    }

    /// It and its mails, to be judged.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn submission(&self, mails: &[Mail]) -> Result<Submission<'_>> {
        let made = Made {
            base: self.base,
            commits: &self.commits,
            names: &self.names,
            mails,
            prefix: &self.prefix,
            sender: self.sender.clone(),
            cover: self.cover.clone(),
        };
        Submission::of(self.repo(), &made)
    }
}
