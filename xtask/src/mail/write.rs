//! The mails of a series: cover first, then a mail a commit.

use std::sync::mpsc::sync_channel;
use std::thread::Scope;

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::body::{self, Body, Faults};
use crate::mail::commit::{CommitText, first_line, skip_blank_lines};
use crate::mail::cover;
use crate::mail::diff::ahead::Ahead;
use crate::mail::diff::{AtHand, Attributes, Counts, FileDiff, stat};
use crate::mail::headers::has_non_ascii;
use crate::mail::input::{Mail, MailInput};
use crate::mail::message::{Draft, signature};
use crate::mail::person::Person;
use crate::mail::prove;
use crate::mail::thread::Ids;
use crate::mail::tracking::message_id;

/// Writes all mails of a series.
///
/// # Errors
/// When a commit cannot be mailed (a merge, one that changes nothing, a message
/// that `git am` would cut), an address, prefix or id is not well-formed, or an
/// object is missing.
pub fn write_series(repo: &Repository, input: &MailInput<'_>) -> Result<Vec<Mail>> {
    std::thread::scope(|scope| write_each(scope, repo, input, None, |_| {}))
}

/// Patches that wait to be proved, at most: a bound on memory, not on speed.
const WRITTEN_AHEAD: usize = 16;

/// As [`write_series`], and each patch is [proved](prove::prove) in a thread of
/// its own while the next ones are written.
///
/// # Errors
/// As both of them; what cannot be written comes before what does not hold.
pub fn write_proved(repo: &Repository, input: &MailInput<'_>) -> Result<Vec<Mail>> {
    std::thread::scope(|scope| write_proved_ahead(scope, repo, input, None, |_| {}))
}

/// As [`write_proved`]; the diffs that are under way are taken from `ahead`, if
/// they are those of the commits, and `written` sees each mail as soon as it is
/// written (the cover letter last), before it is proved.
///
/// # Errors
/// As [`write_proved`].
pub fn write_proved_ahead<'scope, 'env: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    repo: &Repository,
    input: &MailInput<'_>,
    ahead: Option<Ahead<'scope, 'env>>,
    mut written: impl FnMut(&Mail),
) -> Result<Vec<Mail>> {
    std::thread::scope(|proving| {
        let (patches, to_prove) = sync_channel::<Mail>(WRITTEN_AHEAD);
        let path = repo.path();
        // What was read to render need not be read again: this database keeps it.
        let odb = repo.odb()?;
        let prover = proving.spawn(move || {
            let repo = Repository::open(path)?;
            prove::prove_each(&repo, odb, input, to_prove)
        });
        // The cover letter comes last.
        let mut to_come = input.commits.len();
        let mails = write_each(scope, repo, input, ahead, |mail| {
            if to_come > 0 {
                to_come -= 1;
                // A prover that gave up takes no more; why, it says in the end.
                drop(patches.send(mail.clone()));
            }
            written(mail);
        })?;
        drop(patches);
        prover.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(mails)
    })
}

fn write_each<'scope, 'env: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    repo: &Repository,
    input: &MailInput<'_>,
    ahead: Option<Ahead<'scope, 'env>>,
    mut written: impl FnMut(&Mail),
) -> Result<Vec<Mail>> {
    validate(input)?;
    let texts = input.commits.iter().map(|&id| CommitText::read(repo, id));
    let texts = texts.collect::<Result<Vec<_>>>()?;
    let Some(first) = texts.first() else {
        return Err(Error::usage("no mails to write").found("there is no commit"));
    };
    let base = first.parent.map(|p| repo.find_commit(p).map(|c| c.tree_id())).transpose()?;
    let series = Series::new(input, &texts, first);
    let mut mails = Vec::with_capacity(texts.len() + 1);
    let mut pairs = Vec::with_capacity(texts.len());
    let mut before = base;
    for (i, commit) in texts.iter().enumerate() {
        // Commits of one line follow each other; others bring their own parent.
        let follows =
            i == 0 || commit.parent == i.checked_sub(1).and_then(|p| input.commits.get(p)).copied();
        let old = match (follows, commit.parent) {
            (true, _) => before,
            (false, None) => None,
            (false, Some(parent)) => Some(repo.find_commit(parent)?.tree_id()),
        };
        before = Some(commit.tree);
        pairs.push((old, commit.tree));
    }
    let mut ahead = match ahead {
        Some(ahead) if ahead.has(&pairs) => ahead,
        _ => {
            let mut ahead = Ahead::new(scope, repo.path().to_owned(), base, 0);
            pairs.iter().for_each(|&pair| ahead.begin(pair, AtHand::default()));
            ahead
        }
    };
    let mut known = Counts::default();
    for (i, commit) in texts.iter().enumerate() {
        let files = ahead.take()?;
        if input.cover.is_some() {
            known.learn(&files);
        }
        let mail = series.patch(i, commit, &files)?;
        written(&mail);
        mails.push(mail);
    }
    if let Some(cover) = &input.cover {
        known.learn(&ahead.take_paths()?);
        let attributes = Attributes::of_tree(repo, base)?;
        let mut text =
            cover::text(repo, cover, &input.changelog, &texts, base, &attributes, &known)?;
        if let Some(difference) = &input.range_diff {
            difference.write(&mut text);
        }
        let mail = series.cover(text, first)?;
        written(&mail);
        mails.insert(0, mail);
    }
    Ok(mails)
}

fn validate(input: &MailInput<'_>) -> Result<()> {
    input.prefix.validate()?;
    input.tracking.validate()?;
    for id in input.changelog.iter().filter_map(|c| c.previous.as_ref()) {
        message_id(id)?;
    }
    if let Some(id) = input.thread.as_ref().and_then(|t| t.in_reply_to.as_ref()) {
        message_id(id)?;
    }
    for p in input.from.iter().chain(&input.to).chain(&input.cc) {
        // Whoever built it by hand gets the same checks as a series file.
        Person::parse(&format!("<{}>", p.email))?;
        if p.name.chars().any(char::is_control) {
            return Err(Error::usage(format!("the name \"{}\"", p.name.escape_debug()))
                .found("it has a control character"));
        }
    }
    if let Some(cover) = &input.cover
        && (cover.subject.trim().is_empty() || cover.subject.contains(['\n', '\r', '\0']))
    {
        return Err(Error::usage("the cover letter's subject")
            .found(format!("\"{}\"", cover.subject.escape_debug()))
            .hint("give it one line of text"));
    }
    Ok(())
}

/// What all mails of a series share.
struct Series<'a> {
    input: &'a MailInput<'a>,
    texts: &'a [CommitText],
    ids: Option<Ids>,
    total: usize,
}

impl<'a> Series<'a> {
    fn new(input: &'a MailInput<'a>, texts: &'a [CommitText], first: &CommitText) -> Self {
        let numbered = texts.len() > 1 || input.cover.is_some() || input.number_single;
        let last = texts.len() + input.start_number.saturating_sub(1);
        let sender = match &input.from {
            Some(p) => p.email.clone(),
            None => String::from_utf8_lossy(&first.email).into_owned(),
        };
        let ids = input.thread.as_ref().map(|t| {
            let change_id = input.tracking.change_id.as_deref().unwrap_or_default();
            let topic = if t.topic.is_empty() { change_id } else { &t.topic };
            Ids::new(topic, input.prefix.version, input.commits, &sender)
        });
        Series { input, texts, ids, total: if numbered { last } else { 0 } }
    }

    /// The message id of the mail at `place` (0: the first mail) and those above it.
    fn ids(&self, number: usize, is_first: bool) -> Option<(String, Vec<String>)> {
        let ids = self.ids.as_ref()?;
        let thread = self.input.thread.as_ref()?;
        let mut above: Vec<String> = thread.in_reply_to.iter().cloned().collect();
        // As git: without a cover, patches answer the mail that the first one answers.
        if !is_first && (above.is_empty() || self.input.cover.is_some()) {
            let root = if self.input.cover.is_some() { 0 } else { self.input.start_number };
            above.push(ids.of(root));
        }
        Some((ids.of(number), above))
    }

    fn version(&self) -> Option<u32> {
        let version = self.input.prefix.version;
        (self.input.version_in_names && version > 1).then_some(version)
    }

    fn cover(&self, text: Vec<u8>, first: &CommitText) -> Result<Mail> {
        let input = self.input;
        let last = input.commits.last().map(Oid::to_string).unwrap_or_default();
        let subject = input.cover.as_ref().map(|c| c.subject.trim()).unwrap_or_default();
        let declare = self.texts.iter().any(|t| t.non_ascii)
            || has_non_ascii(&text)
            || has_non_ascii(subject.as_bytes());
        let mut draft = Draft {
            commit: last,
            ids: self.ids(0, true),
            from: self.sender(first),
            date: Some(match input.date {
                Some(date) => date,
                None => first.date.plus_seconds(-1)?,
            }),
            brackets: input.prefix.brackets(0, self.total),
            subject: subject.as_bytes().to_vec(),
            to: &input.to,
            cc: &input.cc,
            declare,
            body: text,
            ..Draft::default()
        };
        input.tracking.write(&mut draft.body);
        signature(&mut draft.body, &input.signature);
        Ok(draft.into_mail(0, self.version(), b"cover-letter", input.transfer))
    }

    fn patch(&self, index: usize, commit: &CommitText, files: &[FileDiff]) -> Result<Mail> {
        let input = self.input;
        let id = commit.id.to_string();
        if files.is_empty() {
            return Err(Error::usage(format!("commit {id} cannot be mailed"))
                .found("it changes nothing")
                .hint("leave it out, or let its edits change something on this base"));
        }
        if input.faults != Faults::Keep {
            body::check(commit)?;
        }
        let (subject, rest) = commit.subject();
        let body = body::prepare(rest, &id, input.faults)?;
        let number = index + input.start_number;
        let is_first = index == 0 && input.cover.is_none();
        let (author_name, author_email) = (commit.name.as_slice(), commit.email.as_slice());
        let from = self.sender(commit);
        let by_other = from != (author_name, author_email);
        let guard = input.faults != Faults::Keep && body::begins_like_header(&body.text);
        let mut draft = Draft {
            commit: id,
            ids: self.ids(number, is_first),
            from,
            in_body_from: (by_other || guard).then_some((author_name, author_email)),
            date: Some(commit.date),
            brackets: input.prefix.brackets(number, self.total),
            declare: has_non_ascii(&commit.message),
            to: &input.to,
            cc: &input.cc,
            subject,
            ..Draft::default()
        };
        let notes = if is_first { cover::changes(&input.changelog) } else { Vec::new() };
        self.fill(&mut draft.body, &body, &notes, files);
        if is_first {
            if let Some(difference) = &input.range_diff {
                draft.body.push(b'\n');
                difference.write(&mut draft.body);
            }
            input.tracking.write(&mut draft.body);
        }
        signature(&mut draft.body, &input.signature);
        let line = first_line(skip_blank_lines(&commit.message)).0;
        let mut mail = draft.into_mail(number, self.version(), line, input.transfer);
        mail.warnings = crate::mail::prove::care_needed(commit);
        Ok(mail)
    }

    /// Message, separator, notes, diffstat and diff.
    fn fill(&self, out: &mut Vec<u8>, body: &Body, changes: &[u8], files: &[FileDiff]) {
        out.extend_from_slice(&body.text);
        out.extend_from_slice(b"---\n");
        for notes in [changes, &body.notes] {
            if !notes.is_empty() {
                out.extend_from_slice(notes);
                out.push(b'\n');
            }
        }
        stat::write(out, files);
        out.push(b'\n');
        for file in files {
            out.extend_from_slice(&file.text);
        }
    }

    fn sender<'s>(&'s self, author: &'s CommitText) -> (&'s [u8], &'s [u8]) {
        match &self.input.from {
            Some(p) => (p.name.as_bytes(), p.email.as_bytes()),
            None => (&author.name, &author.email),
        }
    }
}
