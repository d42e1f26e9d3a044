//! Answers probes: questions to the base as it is, before any patch. An answer
//! comes with what was found, so that verdicts can name it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::series::excerpt::Document;
use crate::series::locator::Locator;
use crate::series::model::{NamedProbe, Probe};

use super::file_text::FileText;
use super::locate::{Captured, Finder, Miss, Near};
use super::overlay::Base;
use super::template::BaseFacts;

/// The answer to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether it holds.
    pub holds: bool,
    /// What was found where, or what is not there.
    pub found: String,
}

impl Answer {
    fn yes(found: impl Into<String>) -> Answer {
        Answer { holds: true, found: found.into() }
    }
    fn no(found: impl Into<String>) -> Answer {
        Answer { holds: false, found: found.into() }
    }
}

/// Asks one base.
#[derive(Debug)]
pub struct Asker<'b> {
    base: &'b Base<'b>,
    facts: &'b BaseFacts,
    named: &'b [(String, NamedProbe)],
    answers: RefCell<BTreeMap<String, Answer>>,
    /// Patches judged so far that apply.
    applied: RefCell<Vec<String>>,
}

impl<'b> Asker<'b> {
    /// Of a base, with the series' named probes.
    #[must_use]
    pub fn new(
        base: &'b Base<'b>,
        facts: &'b BaseFacts,
        named: &'b [(String, NamedProbe)],
    ) -> Asker<'b> {
        Asker {
            base,
            facts,
            named,
            answers: RefCell::new(BTreeMap::new()),
            applied: RefCell::new(Vec::new()),
        }
    }

    /// Says that a patch applies, for probes of later ones.
    pub fn set_applied(&self, patch: &str) {
        self.applied.borrow_mut().push(patch.to_owned());
    }

    /// The answers of all named probes.
    ///
    /// # Errors
    /// When the base cannot be read, or a question cannot be answered for sure.
    pub fn has(&self, source: &Document) -> Result<BTreeMap<String, bool>> {
        let named = self.named.iter();
        named.map(|(name, _)| Ok((name.clone(), self.named(name, source)?.holds))).collect()
    }

    /// Whether a probe holds; `source` is the file that it stands in.
    ///
    /// # Errors
    /// As [`Asker::has`].
    pub fn ask(&self, probe: &Probe, source: &Document) -> Result<Answer> {
        let mut found = Vec::new();
        let mut holds = true;
        for answer in self.keys(probe, source)? {
            // The first key that fails says why; before that all say what holds.
            if !answer.holds {
                holds = false;
                found = vec![answer.found];
                break;
            }
            found.push(answer.found);
        }
        let found = found.join(", ");
        if probe.not
            && !holds
            && let Some(lacking) = self.no_place(probe)?
        {
            return Ok(Answer::no(lacking));
        }
        Ok(Answer { holds: holds != probe.not, found })
    }

    /// Why nothing can be said of what a place does *not* have: no file has the place. A function
    /// that was renamed is no proof that what it had is gone.
    fn no_place(&self, probe: &Probe) -> Result<Option<String>> {
        if probe.at.is_none() || probe.files.is_empty() {
            return Ok(None);
        }
        let mut lacking = Vec::new();
        for path in &probe.files {
            match self.base.get(path)? {
                None => lacking.push(format!("file {path}")),
                Some(entry) => match lacking_place(&entry.text, &probe.within) {
                    Some(place) => lacking.push(format!("{place} in {path}")),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(format!("no {}", lacking.join(", no "))))
    }

    fn keys(&self, probe: &Probe, source: &Document) -> Result<Vec<Answer>> {
        let version = self.facts.version;
        let mut answers = Vec::new();
        if let Some(since) = probe.since {
            let found = format!("Linux {since} or later (the base is {version})");
            answers.push(Answer { holds: version >= since, found });
        }
        if let Some(before) = probe.before {
            let found = format!("Linux before {before} (the base is {version})");
            answers.push(Answer { holds: version < before, found });
        }
        if let Some(name) = &probe.probe {
            answers.push(self.named(name, source)?);
        }
        if let Some(name) = &probe.patch {
            let holds = self.applied.borrow().iter().any(|p| p == name);
            let found =
                format!("patch {name} {}", if holds { "applies" } else { "does not apply" });
            answers.push(Answer { holds, found });
        }
        if !probe.files.is_empty() {
            answers.push(self.in_files(probe, source)?);
        }
        Ok(answers)
    }

    /// Any of the files will do.
    fn in_files(&self, probe: &Probe, source: &Document) -> Result<Answer> {
        let mut missing = Vec::new();
        for path in &probe.files {
            let Some(entry) = self.base.get(path)? else {
                missing.push(format!("file {path}"));
                continue;
            };
            let Some(at) = &probe.at else { return Ok(Answer::yes(format!("file {path}"))) };
            let captured = Captured::new();
            let finder = Finder { file: &entry.text, captured: &captured, candidates: false };
            match finder.find(&probe.within, at, false) {
                Ok(spots) => {
                    let first = spots.first().map_or(0, |s| s.span.start);
                    return Ok(Answer::yes(format!("{at} at {}", entry.text.position(first))));
                }
                Err(Miss::None { .. }) => {
                    missing.push(match lacking_place(&entry.text, &probe.within) {
                        Some(place) => {
                            format!("{at} in {place} in {path}, which has no such place")
                        }
                        None => format!("{at} in {path}"),
                    })
                }
                Err(miss) => {
                    let near: Vec<String> = miss.near().iter().map(Near::to_string).collect();
                    return Err(Error::conflict(format!(
                        "{}: a probe that cannot be answered",
                        source.position_of(&probe.path)
                    ))
                    .found(miss.to_string())
                    .found(near.join("\n")));
                }
            }
        }
        Ok(Answer::no(missing.join(", ")))
    }

    fn named(&self, name: &str, source: &Document) -> Result<Answer> {
        if let Some(answer) = self.answers.borrow().get(name) {
            return Ok(answer.clone());
        }
        let Some((_, probe)) = self.named.iter().find(|(n, _)| n == name) else {
            return Err(Error::usage(format!("no probe \"{name}\"")));
        };
        let mut answers = Vec::new();
        for part in &probe.probes {
            answers.push(self.ask(part, source)?);
        }
        let joined = if probe.any {
            match answers.iter().find(|a| a.holds) {
                Some(yes) => yes.clone(),
                None => Answer::no(
                    answers.iter().map(|a| a.found.as_str()).collect::<Vec<_>>().join(" and "),
                ),
            }
        } else {
            match answers.iter().find(|a| !a.holds) {
                Some(no) => no.clone(),
                None => Answer::yes(
                    answers.iter().map(|a| a.found.as_str()).collect::<Vec<_>>().join(", "),
                ),
            }
        };
        let answer = Answer { holds: joined.holds != probe.not, ..joined };
        self.answers.borrow_mut().insert(name.to_owned(), answer.clone());
        Ok(answer)
    }
}

/// The first of the places, from the outermost, that the file does not have.
fn lacking_place(file: &FileText, within: &[Locator]) -> Option<String> {
    let captured = Captured::new();
    let finder = Finder { file, captured: &captured, candidates: false };
    let places = within.iter().enumerate();
    let mut lacking = places.filter(|(n, place)| {
        let outer = within.get(..*n).unwrap_or_default();
        matches!(finder.find(outer, place, false), Err(Miss::None { .. }))
    });
    lacking.next().map(|(_, place)| place.to_string())
}
