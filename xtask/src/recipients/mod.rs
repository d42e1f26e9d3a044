//! Who gets the mails of a series, and why each of them.
//!
//! The maintainers by `get_maintainer.pl` of the base, the people named in
//! trailers, and those that the series or the user names, are merged: one
//! address once, To before Cc, with every reason kept.

pub mod address;
pub mod gather;
pub mod maintainers;
pub mod rules;
pub mod sections;
pub mod trailer;

use std::collections::HashMap;

use serde::Serialize;

use crate::error::Result;
use crate::mail::Person;

/// In which header an address stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Header {
    /// Who should act upon it.
    To,
    /// Who should see it.
    Cc,
}

/// Where an address came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum Source {
    /// `to` of the series.
    SeriesTo,
    /// `cc` of the series.
    SeriesCc,
    /// `--to` of the command.
    OptionTo,
    /// `--cc` of the command.
    OptionCc,
    /// `get_maintainer.pl` of the base.
    Maintainer {
        /// Its words: `maintainer:NETWORKING [GENERAL]`, `open list`.
        role: String,
    },
    /// A trailer of a patch.
    Trailer {
        /// `Cc`, `Reviewed-by`, …
        key: String,
        /// The patch's name.
        patch: String,
    },
    /// Wrote the patch, and somebody else sends it.
    Author {
        /// The patch's name.
        patch: String,
    },
    /// Wrote the commit that a patch fixes.
    Fixed {
        /// The patch's name.
        patch: String,
        /// The abbreviated id in the `Fixes:` trailer.
        commit: String,
    },
}

impl Source {
    fn header(&self) -> Header {
        match self {
            Source::SeriesTo | Source::OptionTo => Header::To,
            // "supporter" is the older word for a paid maintainer.
            Source::Maintainer { role }
                if ["maintainer", "supporter", "odd fixer"].iter().any(|r| role.starts_with(r)) =>
            {
                Header::To
            }
            _ => Header::Cc,
        }
    }

    fn is_trailer(&self) -> bool {
        matches!(self, Source::Trailer { .. })
    }

    /// In words, for `--explain`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Source::SeriesTo => "\"to\" of the series".into(),
            Source::SeriesCc => "\"cc\" of the series".into(),
            Source::OptionTo => "--to".into(),
            Source::OptionCc => "--cc".into(),
            Source::Maintainer { role } => role.clone(),
            Source::Trailer { key, patch } => format!("{key} in {patch}"),
            Source::Author { patch } => format!("author of {patch}"),
            Source::Fixed { patch, commit } => {
                format!("author of {commit}, which {patch} fixes")
            }
        }
    }
}

/// An address that gets the mails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recipient {
    /// Who.
    #[serde(serialize_with = "as_text")]
    pub person: Person,
    /// Where.
    pub header: Header,
    /// Why, in the order in which the reasons were met.
    pub sources: Vec<Source>,
}

/// An address that was met and does not get them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The address, or the text that should have been one.
    pub address: String,
    /// Where it was met.
    pub source: Source,
    /// Why it is left out.
    pub why: String,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recipients {
    /// To first, then Cc, each in the order of their first reason.
    pub all: Vec<Recipient>,
    /// Who was left out.
    pub left_out: Vec<LeftOut>,
}

impl Recipients {
    /// Those in one header.
    #[must_use]
    pub fn of(&self, header: Header) -> Vec<Person> {
        self.all.iter().filter(|r| r.header == header).map(|r| r.person.clone()).collect()
    }
}

/// A patch as far as recipients go.
#[derive(Clone, Debug)]
pub struct PatchPeople<'p> {
    /// Its name in the series.
    pub name: &'p str,
    /// Who wrote it.
    pub author: Person,
    /// The whole commit message.
    pub message: &'p str,
    /// The authors of the commits that it fixes, with their ids, where known.
    pub fixed: Vec<(String, Person)>,
}

/// What recipients are made from.
#[derive(Clone, Debug, Default)]
pub struct Input<'p> {
    /// Who sends the mails; never a recipient.
    pub sender: Option<Person>,
    /// `to` of the series.
    pub to: Vec<String>,
    /// `cc` of the series.
    pub cc: Vec<String>,
    /// `--to`.
    pub option_to: Vec<String>,
    /// `--cc`.
    pub option_cc: Vec<String>,
    /// What `get_maintainer.pl` said: the person, and the role in its words.
    pub maintainers: Vec<(Person, String)>,
    /// The patches, in order.
    pub patches: Vec<PatchPeople<'p>>,
    /// Addresses that the user wants left out, with the reason.
    pub unwanted: Vec<(String, String)>,
}

/// Merges them.
///
/// # Errors
/// When a message has a NUL byte.
pub fn collect(input: &Input) -> Result<Recipients> {
    let mut merge = Merge::new(input);
    for (list, source) in [(&input.to, Source::SeriesTo), (&input.option_to, Source::OptionTo)] {
        list.iter().for_each(|text| merge.add_text(text, &source));
    }
    for (person, role) in &input.maintainers {
        merge.add(person.clone(), Source::Maintainer { role: role.clone() });
    }
    for (list, source) in [(&input.cc, Source::SeriesCc), (&input.option_cc, Source::OptionCc)] {
        list.iter().for_each(|text| merge.add_text(text, &source));
    }
    for p in &input.patches {
        let patch = p.name.to_owned();
        merge.add(p.author.clone(), Source::Author { patch: patch.clone() });
        for t in trailer::of(p.message)?.iter().filter(|t| t.names_people()) {
            let source = Source::Trailer { key: t.key.clone(), patch: patch.clone() };
            merge.add_text(&t.value, &source);
        }
        for (commit, person) in &p.fixed {
            let source = Source::Fixed { patch: patch.clone(), commit: commit.clone() };
            merge.add(person.clone(), source);
        }
    }
    Ok(merge.finish())
}

struct Merge<'i> {
    input: &'i Input<'i>,
    backport: bool,
    by_address: HashMap<String, usize>,
    result: Recipients,
}

impl<'i> Merge<'i> {
    fn new(input: &'i Input<'i>) -> Merge<'i> {
        let backport =
            !input.patches.is_empty() && input.patches.iter().all(|p| is_backport(p.message));
        Merge { input, backport, by_address: HashMap::new(), result: Recipients::default() }
    }

    fn add_text(&mut self, text: &str, source: &Source) {
        let found = address::parse(text);
        for person in found.people {
            self.add(person, source.clone());
        }
        for (address, why) in found.broken {
            self.leave_out(address, source.clone(), &format!("no mail address: {why}"));
        }
    }

    fn add(&mut self, person: Person, source: Source) {
        let key = person.email.to_ascii_lowercase();
        if self.input.sender.as_ref().is_some_and(|s| s.email.eq_ignore_ascii_case(&key)) {
            return self.leave_out(person.email, source, "the sender");
        }
        let unwanted = self.input.unwanted.iter().find(|(a, _)| a.eq_ignore_ascii_case(&key));
        if let Some((_, why)) = unwanted {
            return self.leave_out(person.email, source, why);
        }
        if let Some(why) = rules::why_not(&key, &source, self.backport) {
            return self.leave_out(person.email, source, why);
        }
        let header = source.header();
        match self.by_address.get(&key).and_then(|&at| self.result.all.get_mut(at)) {
            Some(known) => {
                known.header = known.header.min(header);
                if known.person.name.is_empty() {
                    known.person.name = person.name;
                }
                if !known.sources.contains(&source) {
                    known.sources.push(source);
                }
            }
            None => {
                self.by_address.insert(key, self.result.all.len());
                self.result.all.push(Recipient { person, header, sources: vec![source] });
            }
        }
    }

    fn leave_out(&mut self, address: String, source: Source, why: &str) {
        let left = LeftOut { address, source, why: why.to_owned() };
        // Ten sign-offs of the sender are one line of explanation.
        let same = |l: &LeftOut| l.address == left.address && l.why == left.why;
        if !self.result.left_out.iter().any(same) {
            self.result.left_out.push(left);
        }
    }

    fn finish(mut self) -> Recipients {
        // Stable: within a header the order is that of the first reason.
        self.result.all.sort_by_key(|r| r.header);
        self.result
    }
}

/// Whether the message says which mainline commit it is a backport of, in one of
/// the two forms of Documentation/process/stable-kernel-rules.rst.
fn is_backport(message: &str) -> bool {
    let is_id = |id: &str| id.len() == 40 && id.bytes().all(|c| c.is_ascii_hexdigit());
    message.lines().map(str::trim).any(|line| {
        let form1 = line.strip_prefix("commit ").and_then(|l| l.strip_suffix(" upstream."));
        let form2 = line.strip_prefix("[ Upstream commit ").and_then(|l| l.strip_suffix(" ]"));
        form1.or(form2).is_some_and(is_id)
    })
}

fn as_text<S: serde::Serializer>(person: &Person, s: S) -> std::result::Result<S::Ok, S::Error> {
    s.serialize_str(&person.verbatim())
}

#[cfg(test)]
mod tests;
