//! What `check` and `send` work on: a series rendered on a base, or commits of
//! any repository.

use std::path::PathBuf;

use clap::Args;
use git2::{Oid, Repository};

use super::fitting::{Fitting, LeftOut};
use super::kernel::Kernel;
use super::previous::Previous;
use super::{format_series, letter, series_mail, which_base};
use crate::cli::Ctx;
use crate::error::{Error, Result};
use crate::gates::accept::Accepted;
use crate::gates::compile::Compiler;
use crate::gates::places::OfPatch;
use crate::gates::submission::Made;
use crate::gates::{Gate, Submission};
use crate::host::lock;
use crate::mail::range_diff::Range;
use crate::mail::{self, Mail, MailInput, Person, Prefix, Tracking};
use crate::recipients::gather::Wishes;
use crate::render::cover::Written;
use crate::render::{self, Choice, RenderOptions, Verdict};
use crate::series::places::Places;
use crate::series::{self, Series};
use crate::tree::Store;

/// Options that name it.
#[derive(Debug, Args)]
pub struct What {
    /// The kernel tree: a known name, PATH or PATH@REV, `URL[#REV]`, debian:PACKAGE, a tarball.
    #[arg(long, value_name = "BASE", conflicts_with = "range")]
    base: Option<String>,
    /// Takes in this optional patch.
    #[arg(long, value_name = "PATCH")]
    with: Vec<String>,
    /// Takes in all optional patches.
    #[arg(long)]
    with_optional: bool,
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
    #[arg(long, short = 'v', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
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
    #[command(flatten)]
    previous: Previous,
}

/// Where the commits are.
enum Home {
    /// In the store, rendered from a series.
    Series(Box<Kernel>),
    /// In a repository of the user's.
    Range(Repository),
}

/// It, with everything that its mails are written from.
pub struct Material {
    home: Home,
    /// For the report: the series' name, or the range.
    pub name: String,
    /// For the report: the base's name.
    pub base_name: String,
    /// The commit that the first patch stands on.
    pub base: Oid,
    /// The base's commit: another one where prerequisites lie between.
    pub base_commit: Oid,
    commits: Vec<Oid>,
    names: Vec<String>,
    /// Everything of the mails but commits and recipients.
    template: MailInput<'static>,
    sender: Person,
    /// The mail that the first one answers.
    pub in_reply_to: Option<String>,
    /// Who is to get it, as far as the series and the user say.
    pub wishes: Wishes,
    /// Findings that the author accepts.
    pub accepted: Accepted,
    /// The places that nobody has read as they are, where the series has a record of them.
    pub unread: Option<Vec<OfPatch>>,
    /// Patches that have no commit here, with the verdict.
    pub left_out: Vec<(String, String)>,
    /// Why the cover letter is not the one to be: it uses results that are lacking.
    pub lacking: Option<Error>,
}

impl What {
    /// Brings it about.
    ///
    /// # Errors
    /// When it is not there, or not well-formed; or lacks results that its cover
    /// letter uses.
    pub fn get(&self, ctx: &Ctx, series: Option<&str>) -> Result<Material> {
        let mut material = self.get_to_check(ctx, series)?;
        match material.lacking.take() {
            Some(e) => Err(e),
            None => Ok(material),
        }
    }

    /// As [`get`](Self::get), for the command that brings the results.
    ///
    /// # Errors
    /// When it is not there, or not well-formed.
    pub fn get_to_check(&self, ctx: &Ctx, series: Option<&str>) -> Result<Material> {
        for text in self.to.iter().chain(&self.cc) {
            Person::parse(text)?;
        }
        match (series, &self.range) {
            (Some(name), Some(range)) => Err(Error::usage("what to work on")
                .found(format!("a series, {name}, and a range, {range}"))
                .hint("name one of them")),
            (None, None) => Err(Error::usage("what to work on")
                .found("neither a series nor --range")
                .hint("cargo xtask list shows the series")),
            (None, Some(range)) => self.of_range(range),
            (Some(name), None) => self.of_series(ctx, name),
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
        let sender = self.sender()?.unwrap_or(author);
        let mut template = MailInput::new(&[]);
        template.prefix = Prefix {
            list: self.list.clone(),
            version: self.reroll_count.unwrap_or(1),
            rfc: self.rfc,
            ..Prefix::default()
        };
        template.from = Some(sender.clone());
        template.cover = cover.transpose()?;
        let new = Range { base, head: commits.last().copied().unwrap_or(first) };
        template.range_diff = self.previous.of_range(&repo, template.prefix.version, new)?;
        template.tracking = Tracking {
            base_commit: Some(base),
            change_id: self.change_id.clone(),
            prerequisites: Vec::new(),
        };
        Ok(Material {
            name: range.to_owned(),
            base_name,
            base,
            base_commit: base,
            names: (1..=commits.len()).map(|n| n.to_string()).collect(),
            commits,
            template,
            sender,
            in_reply_to: None,
            wishes: self.wishes(Vec::new(), Vec::new(), &Accepted::default()),
            accepted: Accepted::default(),
            unread: None,
            left_out: Vec::new(),
            lacking: None,
            home: Home::Range(repo),
        })
    }

    fn of_series(&self, ctx: &Ctx, name: &str) -> Result<Material> {
        let mut series = series::load(ctx.dirs.project()?, name)?;
        if let Some(version) = self.reroll_count {
            series.version = version;
        }
        let optional =
            Choice { with: self.with.iter().cloned().collect(), all: self.with_optional };
        optional.check(&series)?;
        let accepted = Accepted::load(&series.folder())?;
        let store = Store::open(&ctx.ui, &ctx.dirs)?;
        let base = which_base::resolve(ctx, &store, self.base.as_deref(), &series.bases)?;
        let options = RenderOptions { optional };
        let rendering = render::render(&ctx.ui, &store, &series, &base, &options)?;
        let kernel = Kernel { store, base, series: Some((series, rendering)) };
        kernel.applied()?;
        let Some((series, rendering)) = &kernel.series else {
            return Err(Error::usage(format!("series {name}")).found("it was not rendered"));
        };
        let commits = rendering.commits();
        let (text, lacking) = text(letter::write(ctx, kernel.store.repo(), series, rendering)?);
        let content = (&[][..], text);
        let mut template =
            series_mail::input(kernel.store.repo(), series, rendering, content, self.rfc, false)?;
        template.range_diff =
            self.previous.of_series(&kernel.store, series, rendering.onto, &commits)?;
        let sender = match self.sender()? {
            Some(sender) => sender,
            None => Person::new(&series.author.name, &series.author.email),
        };
        template.from = Some(sender.clone());
        let (applied, others): (Vec<_>, Vec<_>) =
            rendering.patches.iter().partition(|p| p.verdict == Verdict::Applies);
        Ok(Material {
            name: series.name.clone(),
            base_name: kernel.base.name.clone(),
            base: rendering.onto,
            base_commit: kernel.base.commit,
            names: applied.iter().map(|p| p.name.clone()).collect(),
            commits,
            template,
            sender,
            in_reply_to: None,
            wishes: self.wishes(series.to.clone(), series.cc.clone(), &accepted),
            accepted,
            unread: series
                .places
                .as_ref()
                .map(|_| applied.iter().map(|p| (p.name.clone(), p.unread.clone())).collect()),
            left_out: others.iter().map(|p| (p.name.clone(), p.verdict.to_string())).collect(),
            lacking,
            home: Home::Series(Box::new(kernel)),
        })
    }

    /// The version that was asked for.
    #[must_use]
    pub fn version(&self) -> Option<u32> {
        self.reroll_count
    }

    /// The sender that was asked for.
    ///
    /// # Errors
    /// When it is no address.
    pub fn sender(&self) -> Result<Option<Person>> {
        self.from.as_deref().map(Person::parse).transpose()
    }

    fn wishes(&self, to: Vec<String>, cc: Vec<String>, accepted: &Accepted) -> Wishes {
        let unwanted = accepted.leave_out.iter().map(|l| (l.address.clone(), l.why.clone()));
        Wishes {
            to,
            cc,
            option_to: self.to.clone(),
            option_cc: self.cc.clone(),
            unwanted: unwanted.collect(),
            no_maintainers: self.no_maintainers,
        }
    }
}

impl Material {
    /// The repository with base and commits.
    #[must_use]
    pub fn repo(&self) -> &Repository {
        match &self.home {
            Home::Series(kernel) => kernel.store.repo(),
            Home::Range(repo) => repo,
        }
    }

    /// What compiles its commits.
    ///
    /// # Errors
    /// When nothing does.
    pub fn compiler<'m>(
        &'m self,
        ctx: &'m Ctx,
        arches: &[String],
        left_out: &'m LeftOut,
    ) -> Result<Box<dyn Compiler + 'm>> {
        match &self.home {
            Home::Series(kernel) => Ok(Box::new(Fitting::new(ctx, kernel, arches, left_out)?)),
            Home::Range(_) => Err(Error::host("compile a range of commits")
                .found("there is no configuration that has their code in it")
                .hint("make a series of it with import-series, or check with --fast")),
        }
    }

    /// Records that the places of its patches have been read as they are here; gives the number
    /// of those that were not recorded before, by patch.
    ///
    /// # Errors
    /// When it is no series, or the record cannot be written.
    pub fn record(&mut self, ctx: &Ctx) -> Result<Vec<(String, usize)>> {
        let Home::Series(kernel) = &self.home else {
            return Err(Error::usage("--record with a range of commits")
                .found("only the edits of a series have places"));
        };
        let Some((series, _)) = &kernel.series else { return Ok(Vec::new()) };
        let watched = Series { places: Some(Places::default()), ..series.clone() };
        let optional = Choice { with: self.names.iter().cloned().collect(), all: false };
        let options = RenderOptions { optional };
        let plan = render::judge(&kernel.store, &watched, &kernel.base, &options)?;
        let linux = kernel.base.version.to_string();
        let lock = ctx.dirs.cache().join("places.lock");
        let _held = lock::take(&ctx.ui, &lock, "the record of places")?;
        let applied = plan.patches.iter().filter(|p| p.verdict == Verdict::Applies);
        let new = Places::change(&series.folder(), |places| {
            applied.map(|p| (p.name.clone(), places.record(&p.name, &p.places, &linux))).collect()
        })?;
        self.unread = Some(self.names.iter().map(|name| (name.clone(), Vec::new())).collect());
        Ok(new)
    }

    /// What nobody has read of the series below it, for the user.
    #[must_use]
    pub fn unread_below(&self) -> Vec<String> {
        let Home::Series(kernel) = &self.home else { return Vec::new() };
        let below = kernel.series.as_ref().map(|(_, r)| series_mail::unread_below_rendered(r));
        below.unwrap_or_default()
    }

    /// Whether a gate can say anything of it.
    #[must_use]
    pub fn is_for(&self, gate: Gate) -> bool {
        gate != Gate::Places || matches!(self.home, Home::Series(_))
    }

    /// Who sends it.
    #[must_use]
    pub fn sender(&self) -> &Person {
        &self.sender
    }

    /// The work tree that the commits come from, if they come from one.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        match &self.home {
            Home::Range(repo) => repo.workdir().map(std::path::Path::to_owned),
            Home::Series(kernel) => {
                let spec = kernel.base.spec.as_str();
                let path = spec.rsplit_once('@').map_or(spec, |(path, _)| path);
                [spec, path].into_iter().map(PathBuf::from).find(|p| p.is_dir())
            }
        }
    }

    /// The folder of the series, if it is one.
    #[must_use]
    pub fn series_folder(&self) -> Option<PathBuf> {
        match &self.home {
            Home::Range(_) => None,
            Home::Series(kernel) => kernel.series.as_ref().map(|(series, _)| series.folder()),
        }
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.template.prefix.version
    }

    /// Its last commit.
    #[must_use]
    pub fn head(&self) -> Oid {
        self.commits.last().copied().unwrap_or(self.base)
    }

    /// Its change id.
    #[must_use]
    pub fn change_id(&self) -> Option<&str> {
        self.template.tracking.change_id.as_deref()
    }

    /// Writes the cover letter once more, where it uses results; tells whether it
    /// is another one now.
    ///
    /// # Errors
    /// When its template is wrong.
    pub fn renew_letter(&mut self, ctx: &Ctx) -> Result<bool> {
        let Home::Series(kernel) = &self.home else { return Ok(false) };
        let (Some((series, rendering)), Some(cover)) = (&kernel.series, &mut self.template.cover)
        else {
            return Ok(false);
        };
        if rendering.cover.uses().is_empty() {
            return Ok(false);
        }
        let (body, lacking) = text(letter::write(ctx, kernel.store.repo(), series, rendering)?);
        self.lacking = lacking;
        let changed = cover.body != body;
        cover.body = body;
        Ok(changed)
    }

    /// Its mails.
    ///
    /// # Errors
    /// When a commit cannot be mailed.
    pub fn mails(&self, to: &[Person], cc: &[Person]) -> Result<Vec<Mail>> {
        let mut input = MailInput { commits: &self.commits, ..self.template.clone() };
        (input.to, input.cc) = (to.to_vec(), cc.to_vec());
        if let (Some(thread), Some(id)) = (&mut input.thread, &self.in_reply_to) {
            let bare = id.trim().trim_start_matches('<').trim_end_matches('>');
            thread.in_reply_to = Some(bare.to_owned());
        }
        mail::write_proved(self.repo(), &input)
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
            prefix: &self.template.prefix,
            sender: self.sender.clone(),
            cover: self.template.cover.clone(),
            unexplained: series_mail::unexplained(&self.template),
        };
        Submission::of(self.repo(), &made)
    }
}

/// The text of a cover letter; where results are lacking, what stands in for it,
/// and why.
fn text(written: Written) -> (String, Option<Error>) {
    match written {
        Written::Whole(text) => (text, None),
        Written::Lacks(e) => ("Results are lacking.\n".to_owned(), Some(e)),
    }
}
