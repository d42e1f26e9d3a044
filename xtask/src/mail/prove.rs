//! The round trip: what was mailed, read and applied as a receiver would, must
//! be what was committed.

use std::borrow::Borrow;

use git2::{Odb, Repository};

use crate::error::{Error, Result};
use crate::mail::apply::Applier;
use crate::mail::body::Faults;
use crate::mail::commit::CommitText;
use crate::mail::dates::Date;
use crate::mail::input::{Mail, MailInput, Transfer};
use crate::mail::mailinfo::{self, stripspace};
use crate::mail::person::git_changes;

/// Applies the mails of `input` and compares every tree, author, date and
/// message with the commits.
///
/// # Errors
/// [`Check`](crate::error::Kind::Check) when something came out otherwise: that
/// is a defect of this tool, or a message that mail cannot carry. As
/// [`apply`](crate::mail::apply()) when a mail does not apply.
pub fn prove(repo: &Repository, input: &MailInput<'_>, mails: &[Mail]) -> Result<()> {
    let patches = mails.iter().filter(|m| m.number > 0);
    if patches.clone().count() != input.commits.len() {
        return Err(Error::check("the mails are not those of the series").found(format!(
            "{} patches for {} commits",
            patches.count(),
            input.commits.len()
        )));
    }
    prove_each(repo, repo.odb()?, input, patches)
}

/// As [`prove`], of patches as they come; trees and files are read from `odb`.
pub(super) fn prove_each(
    repo: &Repository,
    odb: Odb<'_>,
    input: &MailInput<'_>,
    patches: impl IntoIterator<Item = impl Borrow<Mail>>,
) -> Result<()> {
    let Some(&first) = input.commits.first() else { return Ok(()) };
    // A commit without parent begins from nothing.
    let base = repo.find_commit(first)?.parent(0).ok().map(|parent| parent.tree_id());
    // A receiver reads plain mails with the options that they need.
    // Brackets without the word PATCH go only as all brackets do.
    let keep_non_patch = input.prefix.brackets(1, 1).contains("PATCH");
    let options = mailinfo::Options { keep_cr: input.transfer == Transfer::Raw, keep_non_patch };
    let mut applier = Applier::reading(odb, base, options);
    for (mail, &id) in patches.into_iter().zip(input.commits) {
        let mail = mail.borrow();
        let commit = CommitText::read(repo, id)?;
        let in_mail = |e: Error| e.context(format!("{} does not come through", mail.file_name));
        let applied = applier.mail(&mail.bytes).map_err(in_mail)?;
        let differs = |what: &str, is: String, was: String| {
            let error = Error::check(format!("another {what} than that of commit {id}"));
            Err(in_mail(error.found(is).found(format!("committed: {was}"))))
        };
        if applied.tree != commit.tree {
            return differs("tree", applied.tree.to_string(), commit.tree.to_string());
        }
        if input.faults == Faults::Keep {
            continue;
        }
        let date = applied.date.as_deref().map(Date::parse).transpose()?;
        if date != Some(commit.date) {
            let is = applied.date.unwrap_or_default();
            return differs("date", is, commit.date.rfc2822());
        }
        if mail.warnings.is_empty() {
            let author = (applied.author.name.as_bytes(), applied.author.email.as_bytes());
            if author != (commit.name.as_slice(), commit.email.as_slice()) {
                let was = format!(
                    "{} <{}>",
                    String::from_utf8_lossy(&commit.name),
                    String::from_utf8_lossy(&commit.email)
                );
                return differs("author", applied.author.verbatim(), was);
            }
            let (subject, rest) = commit.subject();
            let committed = stripspace(&[&subject, &b"\n\n"[..], rest].concat());
            let text = |t: &[u8]| String::from_utf8_lossy(t).into_owned();
            if input.faults == Faults::Refuse && applied.message != committed {
                return differs("message", text(&applied.message), text(&committed));
            }
        }
    }
    Ok(())
}

/// What a receiver's `git am` would change without being asked, in words.
#[must_use]
pub fn care_needed(commit: &CommitText) -> Vec<String> {
    let mut out = Vec::new();
    let (subject, _) = commit.subject();
    if subject.starts_with(b"[") {
        out.push(
            "the subject begins with brackets: the receiver needs git am --keep-non-patch".into(),
        );
    } else if subject.len() > 3 && subject.get(..3).is_some_and(|s| s.eq_ignore_ascii_case(b"re:"))
        || subject.starts_with(b":")
    {
        out.push("git am drops what the subject begins with".into());
    }
    if subject.windows(2).any(|w| w.iter().all(|c| matches!(c, b' ' | b'\t')))
        || subject.contains(&b'\t')
    {
        out.push("git am puts one blank for the wider gaps in the subject".into());
    }
    if commit.message.split(|&c| c == b'\n').any(looks_like_a_mail) {
        out.push(
            "a line of the message looks like the beginning of a mail: git am splits the file \
             there; send an mbox (mboxrd), or reword it"
                .into(),
        );
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if let Some(why) = git_changes(&text(&commit.name), &text(&commit.email)) {
        out.push(format!("git am makes another author: {why}"));
    }
    out
}

/// Whether git takes a line for the first of a mail: `From `, somewhere a time,
/// and a year after it.
pub(super) fn looks_like_a_mail(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    // The last colon is that of the minutes or seconds; digits stand on both sides.
    let Some(colon) = memchr::memrchr(b':', rest) else { return false };
    let digit = |at: Option<usize>| at.and_then(|at| rest.get(at)).is_some_and(u8::is_ascii_digit);
    let is_time = digit(colon.checked_sub(1)) && digit(colon.checked_sub(2));
    let is_time = is_time && digit(Some(colon + 1)) && digit(Some(colon + 2));
    let year = rest.get(colon + 3..).unwrap_or_default();
    let year = std::str::from_utf8(year).unwrap_or_default().trim_start();
    let digits = year.bytes().take_while(u8::is_ascii_digit).count();
    let year: u32 = year.get(..digits).and_then(|y| y.parse().ok()).unwrap_or(0);
    is_time && year > 90
}
