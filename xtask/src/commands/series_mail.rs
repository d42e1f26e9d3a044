//! What the mails of a rendered series are made of: its own data, put in the
//! form that the mail module takes.

use std::fmt::Write as _;

use git2::Repository;

use crate::error::{Error, Result};
use crate::mail::{
    Changes, Cover, Date, MailInput, Person, Prefix, Prerequisite, Thread, Tracking, body, patch_id,
};
use crate::render::{Below, Rendering};
use crate::send::record;
use crate::series::places::{self, Unread};
use crate::series::{Series, model, skeleton, templates};
use crate::tree::{Base, Oid};

/// The mails of `rendering`; `commits` are its commits, in `repo`, and `letter` the
/// text of its cover letter, if it has one.
///
/// # Errors
/// When a message cannot be mailed as it is, an address or the date is not well-formed, or git is missing where
/// prerequisites need it.
pub fn input<'c>(
    repo: &Repository,
    series: &Series,
    rendering: &Rendering,
    (commits, letter): (&'c [Oid], String),
    rfc: bool,
    resend: bool,
) -> Result<MailInput<'c>> {
    let messages = rendering.patches.iter().map(|p| (p.name.as_str(), p.message.as_str()));
    if let Some(fault) = faults(series, messages).into_iter().next() {
        return Err(fault);
    }
    let people =
        |texts: &[String]| texts.iter().map(|t| Person::parse(t)).collect::<Result<Vec<_>>>();
    let mut input = MailInput::new(commits);
    input.prefix = Prefix {
        word: series.prefix.clone(),
        list: series.list.clone(),
        version: series.version,
        rfc,
        resend,
    };
    input.from = Some(Person::new(&series.author.name, &series.author.email));
    input.date = Some(Date::new(series.date.seconds, series.date.offset)?);
    let subject = series.title.clone();
    input.cover = series.cover.as_ref().map(|_| Cover { subject, body: letter });
    (input.to, input.cc) = (people(&series.to)?, people(&series.cc)?);
    input.thread = Some(Thread {
        // The base too: renderings of one version for two trees are two threads.
        topic: format!("{}-{}", series.name, rendering.base.label),
        in_reply_to: None,
    });
    input.tracking = Tracking {
        base_commit: Some(rendering.base.commit),
        change_id: series.change_id.clone(),
        prerequisites: prerequisites(repo, rendering)?,
    };
    input.changelog = changelog(series)?;
    Ok(input)
}

/// What is named below base-commit: each series with the ids of its patches, as
/// b4 does. What the base has already is needed no more.
fn prerequisites(repo: &Repository, rendering: &Rendering) -> Result<Vec<Prerequisite>> {
    let mut all = Vec::new();
    for below in &rendering.below {
        match below {
            Below::Elsewhere(one) => all.push(one.clone()),
            Below::Series { change_id, version, commits, .. } => {
                if commits.is_empty() {
                    continue;
                }
                all.extend(change_id.clone().map(|id| Prerequisite::Change(id, *version)));
                let ids = patch_id::stable(repo, commits)?;
                all.extend(ids.into_iter().map(Prerequisite::Patch));
            }
        }
    }
    Ok(all)
}

/// The changes up to this version that say something, newest first. The version
/// before each is linked to by what series.toml says, else by what was sent.
fn changelog(series: &Series) -> Result<Vec<Changes>> {
    let sent = |version: u32| -> Result<Option<String>> {
        let Some(before) = version.checked_sub(1) else { return Ok(None) };
        let entry = series.changelog.iter().find(|c| c.version == before);
        match entry.and_then(|c| c.link.as_deref()) {
            Some(link) => Ok(Some(message_id(link))),
            None => Ok(record::load(&series.folder(), before)?.map(|s| s.meta.message_id)),
        }
    };
    let shown = |c: &&model::Change| {
        c.version > 1 && c.version <= series.version && !c.text.trim().is_empty()
    };
    let changes = series.changelog.iter().filter(shown);
    changes
        .map(|c| {
            Ok(Changes {
                version: c.version,
                text: c.text.trim().to_owned(),
                previous: sent(c.version)?,
            })
        })
        .collect()
}

/// The version of mails whose changelog has no entry for it, unless it is the first.
#[must_use]
pub fn unexplained(input: &MailInput<'_>) -> Option<u32> {
    let version = input.prefix.version;
    let told = input.changelog.iter().any(|c| c.version == version);
    (version > 1 && !told).then_some(version)
}

/// What keeps messages of a series from being mailed as they are, each with its place;
/// they are given by the names of their patches.
#[must_use]
pub fn faults<'m>(
    series: &Series,
    messages: impl Iterator<Item = (&'m str, &'m str)>,
) -> Vec<Error> {
    let fault = |(name, message): (&str, &str)| -> Option<Error> {
        let fault = body::fault(message)?;
        let patch = series.patch(name)?;
        let place = match &patch.message {
            model::Text::File(file) => {
                templates::place_of(&series.project, &series.name, file, &fault.text)
            }
            model::Text::Inline(_) => None,
        };
        let place = place.unwrap_or_else(|| series.source.position_of(&patch.path.key("message")));
        let asked = format!("{place}: the message of {name} cannot be mailed as it is");
        let line = format!("line {}: {}", fault.line, fault.text.escape_debug());
        Some(Error::usage(asked).found(line).found(fault.what).hint(fault.mend))
    };
    messages.filter_map(fault).collect()
}

/// What is probably not meant in mails of a series that could be sent as they are:
/// texts of the skeleton, a version of which nobody hears what changed, or that was sent
/// already, a stable release under the name of a maintainer's tree.
#[must_use]
pub fn remarks(series: &Series, input: &MailInput<'_>, rendering: &Rendering) -> Vec<String> {
    let letter = input.cover.iter().flat_map(|c| [&c.subject, &c.body]);
    let letter = letter.flat_map(|text| skeleton::left_in(text).map(|p| ("cover letter", p)));
    let messages = rendering.patches.iter();
    let messages =
        messages.flat_map(|p| skeleton::left_in(&p.message).map(|left| (p.name.as_str(), left)));
    let mut all: Vec<String> = letter
        .chain(messages)
        .map(|(place, left)| format!("{place}: \"{left}\" of the skeleton is still there"))
        .collect();
    if let Some(version) = unexplained(input) {
        all.push(format!("v{version} has no [[changelog]] entry: nobody is told what changed"));
    }
    all.extend(sent_before(series, input));
    all.extend(stable_base(series, &rendering.base));
    all.extend(unread_below_rendered(rendering));
    let patches = rendering.patches.iter();
    let names: Vec<&str> = patches.clone().map(|p| p.name.as_str()).collect();
    let optional = optional(series, &names);
    let base = &rendering.base;
    all.extend(patches.filter_map(|p| unread(series, base, &p.name, &p.unread, &optional)));
    all
}

/// The places of a prerequisite on a base that nobody has read as they are: its patches `unread`
/// change them.
#[must_use]
pub fn unread_below(base: &Base, name: &str, unread: &[String]) -> Option<String> {
    let patch = unread.first()?;
    let command = shell_words::join(["cargo", "xtask", "show", name, "--base", &base.spec]);
    Some(format!(
        "nobody has read what {patch} of the prerequisite {name} changes on {}: {command}",
        base.name
    ))
}

/// As [`unread_below`], of all that a rendering stands on.
#[must_use]
pub fn unread_below_rendered(rendering: &Rendering) -> Vec<String> {
    let of = |below: &Below| match below {
        Below::Series { name, unread, .. } => unread_below(&rendering.base, name, unread),
        Below::Elsewhere(_) => None,
    };
    rendering.below.iter().filter_map(of).collect()
}

/// Those of some patches that are optional.
#[must_use]
pub fn optional<'n>(series: &Series, names: &[&'n str]) -> Vec<&'n str> {
    let is_optional = |name: &&&str| series.patch(name).is_some_and(|p| p.optional);
    names.iter().filter(is_optional).copied().collect()
}

/// The most lines that are told of a place; `check` tells them all.
const TOLD: usize = 8;

/// The places of a patch on a base that nobody has read as they are; the optional patches of this
/// rendering are `optional`.
#[must_use]
pub fn unread(
    series: &Series,
    base: &Base,
    patch: &str,
    places: &[Unread],
    optional: &[&str],
) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    let has = series.places.as_ref().is_some_and(|p| p.has(patch));
    let mut text = format!("on {} nobody has read what {patch} changes as it is there:", base.name);
    if !has {
        let _ = write!(text, " {} has nothing of that patch", places::FILE);
    }
    for place in places.iter().filter(|_| has) {
        let _ = write!(text, "\n  {}: {place}", place.place);
        for (number, line) in place.new.iter().take(TOLD) {
            let _ = write!(text, "\n    {number}: {line}");
        }
        if place.new.len() > TOLD {
            let _ = write!(text, "\n    … and {} more", place.new.len() - TOLD);
        }
    }
    let mut command = vec!["cargo", "xtask", "check", &series.name, "--base", &base.spec];
    command.extend(optional.iter().flat_map(|name| ["--with", name]));
    command.extend(["--fast", "--record"]);
    let command = shell_words::join(command);
    let _ = write!(
        text,
        "\n  read the mail; if it is right: {command}\n  else make the edit keep it: a smaller place, `capture`, `has`"
    );
    Some(text)
}

/// The mails of a version that was sent are other ones: what was sent stays as it is.
fn sent_before(series: &Series, input: &MailInput<'_>) -> Option<String> {
    let version = input.prefix.version;
    let sent = match record::load(&series.folder(), version) {
        Ok(sent) => sent?,
        Err(e) => return Some(format!("what was sent as v{version} cannot be read: {e}")),
    };
    let when = sent.meta.sent_at;
    Some(format!(
        "v{version} was sent on {when}, and these are not those mails: `cargo xtask send {} --resend` \
         sends them once more; what is new is v{}",
        series.name,
        version.saturating_add(1)
    ))
}

/// Whoever reads the name of a tree in the brackets applies the mails to that tree.
fn stable_base(series: &Series, base: &Base) -> Option<String> {
    let list = series.list.as_deref()?;
    let of_stable = list.contains("stable") || list.starts_with(|c: char| c.is_ascii_digit());
    (base.version.patch > 0 && !of_stable).then(|| {
        format!(
            "the subjects say {list}, and Linux {} is a stable release: to send them, render on {list}",
            base.version
        )
    })
}

/// The message id in an archive's address, or the id itself.
fn message_id(link: &str) -> String {
    let id = link.trim().trim_end_matches('/');
    let id = if id.contains("://") { id.rsplit('/').next().unwrap_or(id) } else { id };
    id.trim_start_matches('<').trim_end_matches('>').to_owned()
}

#[cfg(test)]
mod tests {
    use super::message_id;

    #[test]
    fn ids_of_links() {
        for link in [
            "https://lore.kernel.org/bpf/a-1@b/",
            "https://lore.kernel.org/r/a-1@b",
            "<a-1@b>",
            "a-1@b",
        ] {
            assert_eq!(message_id(link), "a-1@b");
        }
    }
}
