//! Asks everyone who knows recipients of a submission, and merges the answers.

use git2::Repository;

use super::{Input, PatchPeople, Recipients, collect, maintainers, trailer};
use crate::error::Result;
use crate::gates::Submission;
use crate::host::paths::Dirs;
use crate::mail::Person;
use crate::scripts::Scripts;

/// What the series and the user say of recipients.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// `to` of the series.
    pub to: Vec<String>,
    /// `cc` of the series.
    pub cc: Vec<String>,
    /// `--to`.
    pub option_to: Vec<String>,
    /// `--cc`.
    pub option_cc: Vec<String>,
    /// Addresses that are left out, with the reason.
    pub unwanted: Vec<(String, String)>,
    /// Does not ask `get_maintainer.pl`.
    pub no_maintainers: bool,
}

/// The recipients of `s`.
///
/// # Errors
/// When `get_maintainer.pl` of the base cannot be run.
pub fn gather(
    dirs: &Dirs,
    scripts: &Scripts<'_>,
    s: &Submission<'_>,
    wishes: &Wishes,
) -> Result<Recipients> {
    let maintainers = if wishes.no_maintainers {
        Vec::new()
    } else {
        let mails: Vec<(&str, &[u8])> =
            s.patches.iter().map(|p| (p.file_name.as_str(), p.mail.as_slice())).collect();
        maintainers::ask(dirs, scripts, &mails)?
    };
    let mut patches = Vec::with_capacity(s.patches.len());
    for p in &s.patches {
        patches.push(PatchPeople {
            name: &p.name,
            author: p.author.clone(),
            message: &p.message,
            fixed: fixed(s.repo, &p.message)?,
        });
    }
    collect(&Input {
        sender: Some(s.sender.clone()),
        to: wishes.to.clone(),
        cc: wishes.cc.clone(),
        option_to: wishes.option_to.clone(),
        option_cc: wishes.option_cc.clone(),
        maintainers,
        patches,
        unwanted: wishes.unwanted.clone(),
    })
}

/// The authors of the commits that `Fixes:` trailers name, where they are at hand.
fn fixed(repo: &Repository, message: &str) -> Result<Vec<(String, Person)>> {
    let mut people = Vec::new();
    for t in trailer::of(message)?.iter().filter(|t| t.is("Fixes")) {
        let id = t.value.split_whitespace().next().unwrap_or_default();
        // Shorter ones are no proper tag, and may name another commit.
        if id.len() < 12 {
            continue;
        }
        if let Ok(commit) = repo.find_commit_by_prefix(id) {
            let author = commit.author();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let person = Person::new(text(author.name_bytes()), text(author.email_bytes()));
            people.push((id.to_owned(), person));
        }
    }
    Ok(people)
}
