//! `cargo xtask format-series`: mails of any commits of any repository, in the
//! bytes of `git format-patch`.

use std::path::{Path, PathBuf};

use clap::Args;
use git2::{Oid, Repository, Sort};
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::error::{Error, IoContext as _, Result};
use crate::host::{atomic, output};
use crate::mail::range_diff::{self, CREATION_FACTOR, Range};
use crate::mail::{
    self, Cover, Date, Faults, Mail, MailInput, Person, Prefix, Prerequisite, RangeDiff, Thread,
    Tracking, Transfer,
};
use crate::tree;

use super::previous::before;

/// Options of `format-series`.
#[derive(Debug, Args)]
pub struct FormatSeries {
    /// Commits as `OLD..NEW`, `NEW` alone (that one commit), or `-N` (the last N).
    #[arg(allow_hyphen_values = true)]
    range: String,
    /// The repository; it is only read.
    #[arg(long, value_name = "PATH", default_value = ".")]
    repo: PathBuf,
    /// The folder that the mails are put into; mails that it has are replaced.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// The version: `[PATCH v2]`, and `v2-` before file names.
    #[arg(long, short = 'v', value_name = "N", default_value_t = 1)]
    reroll_count: u32,
    /// `[RFC PATCH]`.
    #[arg(long)]
    rfc: bool,
    /// `[PATCH RESEND]`.
    #[arg(long)]
    resend: bool,
    /// The word in the brackets.
    #[arg(long, value_name = "WORD", default_value = "PATCH")]
    prefix: String,
    /// The tree or list in the brackets: `net-next`.
    #[arg(long, value_name = "NAME")]
    list: Option<String>,
    /// A cover letter; FILE has its subject, a blank line and its text.
    #[arg(long, value_name = "FILE")]
    #[allow(clippy::option_option)]
    cover_letter: Option<Option<PathBuf>>,
    /// The cover's date, as `2024-11-29T12:00:00Z` or in the form of mails.
    /// Default: a second before the first patch.
    #[arg(long, value_name = "DATE")]
    date: Option<String>,
    /// The sender; an author who is someone else is named in the body.
    #[arg(long, value_name = "NAME <ADDRESS>")]
    from: Option<String>,
    /// An addressee.
    #[arg(long, value_name = "NAME <ADDRESS>")]
    to: Vec<String>,
    /// Someone who gets a copy.
    #[arg(long, value_name = "NAME <ADDRESS>")]
    cc: Vec<String>,
    /// Message ids, and the patches as answers to the first mail.
    #[arg(long)]
    thread: bool,
    /// The mail that the first one answers; implies --thread.
    #[arg(long, value_name = "MESSAGE-ID")]
    in_reply_to: Option<String>,
    /// `base-commit:` with the commit that the range begins from.
    #[arg(long)]
    base: bool,
    /// What has to be applied first: `patch-id: ID`, `message-id: ID` or
    /// `change-id: ID:vN`, as b4 takes them.
    #[arg(long, value_name = "KIND: ID")]
    prerequisite: Vec<String>,
    /// `change-id:`, and what message ids begin with.
    #[arg(long, value_name = "ID")]
    change_id: Option<String>,
    /// What changed since PREVIOUS, an earlier version of these commits: a range
    /// OLD..NEW of the repository, or the earlier version's last commit.
    #[arg(long, value_name = "PREVIOUS")]
    range_diff: Option<String>,
    /// `--creation-factor` of git range-diff.
    #[arg(long, value_name = "PERCENT", default_value_t = CREATION_FACTOR, requires = "range_diff")]
    creation_factor: u32,
    /// How bodies travel: as git writes them, or encoded where they would not
    /// survive the way.
    #[arg(long, value_enum, default_value_t = How::Raw)]
    transfer: How,
    /// What to do with a message that `git am` would cut or change, or whose
    /// `Fixes:` line maintainers would send back.
    #[arg(long, value_enum, default_value_t = OnFaults::Refuse)]
    faults: OnFaults,
    /// The last line of each mail; empty leaves it out.
    #[arg(long, value_name = "TEXT", default_value = mail::SIGNATURE)]
    signature: String,
    /// `[PATCH 1/1]` on a single patch.
    #[arg(long, short)]
    numbered: bool,
    /// The number of the first patch.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=99_999_999))]
    start_number: u32,
    /// Also one file with all mails, `>From` quoted (mboxrd).
    #[arg(long, value_name = "FILE")]
    mbox: Option<PathBuf>,
    /// Does not read the mails back to compare them with the commits.
    #[arg(long)]
    no_proof: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum How {
    /// As `git format-patch` writes them.
    Raw,
    /// Quoted-printable where needed, UTF-8 declared wherever it stands.
    Mail,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OnFaults {
    /// Write nothing and say where.
    Refuse,
    /// Keep what follows as notes, indent diffs.
    Mend,
    /// Write it as git does.
    Keep,
}

#[derive(Serialize)]
struct Report {
    folder: String,
    mails: Vec<String>,
    proved: bool,
    warnings: Vec<String>,
}

impl FormatSeries {
    /// Writes the mails.
    ///
    /// # Errors
    /// When range, repository or an option is not well-formed, a commit cannot be
    /// mailed, or the folder cannot be written.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let folder = output::resolve(&self.output)?;
        let mbox = self.mbox.as_ref().map(|file| mbox_place(file, &folder)).transpose()?;
        tree::isolate_libgit2()?;
        let repo = Repository::open(&self.repo).map_err(|e| {
            Error::usage(format!("--repo {}", self.repo.display()))
                .found(e.message().to_owned())
                .hint("name a git repository or a folder in one")
        })?;
        let commits = commits(&repo, &self.range)?;
        let input = self.input(&repo, &commits)?;
        let write = if self.no_proof { mail::write_series } else { mail::write_proved };
        let mails = write(&repo, &input)?;
        save(&folder, &mails)?;
        if let Some(file) = &mbox {
            atomic::write(file, &mail::mbox(&mails))?;
        }
        let warnings = mails
            .iter()
            .flat_map(|m| m.warnings.iter().map(move |w| format!("{}: {w}", m.file_name)));
        let warnings: Vec<String> = warnings.collect();
        for w in &warnings {
            ctx.ui.warn(w);
        }
        let report = Report {
            folder: self.output.display().to_string(),
            mails: mails.into_iter().map(|m| m.file_name).collect(),
            proved: !self.no_proof,
            warnings,
        };
        ctx.ui.result(&report, |w| {
            for name in &report.mails {
                writeln!(w, "{}", self.output.join(name).display())?;
            }
            Ok(())
        })?;
        Ok(Outcome::Held)
    }

    fn input<'c>(&self, repo: &Repository, commits: &'c [Oid]) -> Result<MailInput<'c>> {
        let people =
            |texts: &[String]| texts.iter().map(|t| Person::parse(t)).collect::<Result<Vec<_>>>();
        let mut input = MailInput::new(commits);
        input.prefix = Prefix {
            word: self.prefix.clone(),
            list: self.list.clone(),
            version: self.reroll_count,
            rfc: self.rfc,
            resend: self.resend,
        };
        input.from = self.from.as_deref().map(Person::parse).transpose()?;
        input.date = self.date.as_deref().map(Date::parse).transpose()?;
        input.cover = self.cover_letter.as_ref().map(|f| cover(f.as_deref())).transpose()?;
        (input.to, input.cc) = (people(&self.to)?, people(&self.cc)?);
        let threaded = self.thread || self.in_reply_to.is_some();
        input.thread = threaded.then(|| Thread {
            topic: String::new(),
            in_reply_to: self
                .in_reply_to
                .as_ref()
                .map(|id| id.trim().trim_start_matches('<').trim_end_matches('>').to_owned()),
        });
        let first = commits.first().map(|&id| repo.find_commit(id)).transpose()?;
        input.tracking = Tracking {
            base_commit: first.filter(|_| self.base).and_then(|c| c.parent_id(0).ok()),
            change_id: self.change_id.clone(),
            prerequisites: self
                .prerequisite
                .iter()
                .map(|text| Prerequisite::parse(text))
                .collect::<Result<_>>()?,
        };
        input.range_diff = self.difference(repo, commits)?;
        input.transfer = match self.transfer {
            How::Raw => Transfer::Raw,
            How::Mail => Transfer::Mail,
        };
        input.faults = match self.faults {
            OnFaults::Refuse => Faults::Refuse,
            OnFaults::Mend => Faults::Mend,
            OnFaults::Keep => Faults::Keep,
        };
        input.signature.clone_from(&self.signature);
        input.version_in_names = true;
        input.number_single = self.numbered;
        input.start_number = self.start_number as usize;
        Ok(input)
    }

    fn difference(&self, repo: &Repository, commits: &[Oid]) -> Result<Option<RangeDiff>> {
        let Some(name) = &self.range_diff else { return Ok(None) };
        let new = range_of(repo, commits)?;
        let old = range_diff::previous(repo, name, new)?;
        // As git: the version before this one, if versions are counted.
        let against = before(self.reroll_count);
        RangeDiff::of(repo, against, (old, new), self.creation_factor).map(Some)
    }
}

/// What `commits`, in a line, are a range of.
///
/// # Errors
/// When there is none, or the first one has no parent.
pub(super) fn range_of(repo: &Repository, commits: &[Oid]) -> Result<Range> {
    let no_base = || {
        Error::usage("the range-diff of these commits")
            .found("the first one has no parent, so there is no range")
    };
    let (Some(&first), Some(&head)) = (commits.first(), commits.last()) else {
        return Err(no_base());
    };
    let base = repo.find_commit(first)?.parent_id(0).map_err(|_| no_base())?;
    Ok(Range { base, head })
}

/// The commits of a range, oldest first, without merges.
///
/// # Errors
/// When the range names nothing, or only merges.
pub(super) fn commits(repo: &Repository, range: &str) -> Result<Vec<Oid>> {
    let bad = |e: git2::Error| {
        Error::usage(format!("the range \"{}\"", range.escape_debug()))
            .found(e.message().to_owned())
            .hint("write it as OLD..NEW, NEW or -N")
    };
    let mut walk = repo.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
    let last = |text: &str| text.strip_prefix('-').and_then(|n| n.parse::<usize>().ok());
    let mut only_last = None;
    if range.contains("..") {
        walk.push_range(range).map_err(bad)?;
    } else {
        let (tip, count) = match last(range) {
            Some(n) => ("HEAD", n),
            None => (range, 1),
        };
        let tip = repo.revparse_single(tip).and_then(|o| o.peel_to_commit()).map_err(bad)?;
        if last(range).is_none() && tip.parent_count() > 1 {
            return Err(Error::usage(format!("the range \"{}\"", range.escape_debug()))
                .found(format!("{} is a merge, which no mail can carry", tip.id()))
                .hint("name the commits as OLD..NEW"));
        }
        walk.push(tip.id())?;
        // Only as far back as asked for: a history may be long.
        walk.set_sorting(Sort::TOPOLOGICAL)?;
        only_last = Some(count);
    }
    let mut out = Vec::new();
    for id in walk {
        if only_last.is_some_and(|n| out.len() >= n) {
            break;
        }
        let id = id?;
        if repo.find_commit(id)?.parent_count() < 2 {
            out.push(id);
        }
    }
    if only_last.is_some() {
        out.reverse();
    }
    if out.is_empty() {
        return Err(Error::usage(format!("the range \"{}\"", range.escape_debug()))
            .found("no commit in it but merges"));
    }
    Ok(out)
}

/// A cover letter from its file, or a form to be filled in.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn cover(file: Option<&Path>) -> Result<Cover> {
    let Some(file) = file else {
        return Ok(Cover {
            subject: "*** SUBJECT HERE ***".into(),
            body: "*** BLURB HERE ***".into(),
        });
    };
    if !file.exists() {
        return Err(Error::usage(format!("--cover-letter {}", file.display()))
            .found("there is no such file"));
    }
    let text = std::fs::read_to_string(file).at("read", file)?;
    let (subject, body) = mail::commit::subject_of(text.as_bytes());
    let utf8 = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Cover { subject: utf8(&subject), body: utf8(body) })
}

/// Where the file of all mails goes: a file, or nothing yet, and none of the mails.
fn mbox_place(file: &Path, folder: &Path) -> Result<PathBuf> {
    let asked = || Error::usage(format!("--mbox {}", file.display()));
    let is_folder = file.as_os_str().as_encoded_bytes().ends_with(b"/");
    let (Some(name), Some(parent)) = (file.file_name().filter(|_| !is_folder), file.parent())
    else {
        return Err(asked().found("it is no file's name").hint("name a file"));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = output::resolve(parent).map_err(|e| e.context(asked().asked()))?;
    let mut place = parent.join(name);
    if place.symlink_metadata().is_ok() {
        if !place.is_file() {
            return Err(asked().found("it is there, and no file").hint("name a file"));
        }
        // A link stays one.
        place = std::fs::canonicalize(&place).at("find", &place)?;
    }
    let is_patch = place.extension().is_some_and(|e| e == "patch");
    if place == folder || (place.parent() == Some(folder) && is_patch) {
        return Err(asked()
            .found("it is the folder of the mails, or would be one of them")
            .hint("give it another name, such as series.mbox"));
    }
    Ok(place)
}

fn save(folder: &Path, mails: &[Mail]) -> Result<()> {
    for mail in mails {
        atomic::write(&folder.join(&mail.file_name), &mail.bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_an_mbox_may_go() {
        let t = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(t.path()).unwrap();
        let mails = top.join("mails");
        std::fs::create_dir(&mails).unwrap();
        for file in ["mails/0001-a.patch", "mails/notes", "file"] {
            std::fs::write(top.join(file), "1").unwrap();
        }
        for (to, link) in
            [("nowhere", "dangling"), ("file", "link"), ("mails/0001-a.patch", "mail")]
        {
            std::os::unix::fs::symlink(to, top.join(link)).unwrap();
        }
        for (place, want) in [
            ("new", Some("new")),
            ("file", Some("file")),
            ("link", Some("file")),
            ("mails/notes", Some("mails/notes")),
            ("mails/series.mbox", Some("mails/series.mbox")),
            ("file/", None),
            ("new/", None),
            ("dangling", None),
            ("mail", None),
            ("mails", None),
            ("mails/0001-a.patch", None),
            ("mails/x.patch", None),
            ("file/x", None),
        ] {
            let got = mbox_place(&top.join(place), &mails);
            assert_eq!(got.ok(), want.map(|w| top.join(w)), "{place}");
        }
        let (folder, place) = (top.join("later"), top.join("later"));
        assert!(mbox_place(&place, &folder).is_err());
    }
}
