//! Answers probes: questions to the base as it is, before any patch. An answer
//! comes with what was found, so that verdicts can name it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::series::excerpt::Document;
use crate::series::locator::{Locator, Place};
use crate::series::model::{NamedProbe, Probe};

use super::locate::{Captured, Finder, Miss, Near};
use super::overlay::Base;
use super::template::BaseFacts;

/// The answer to a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether it holds.
    pub holds: bool,
    /// Nothing can be said, since the place that is asked of is not there: then neither the
    /// question holds nor its contrary. A function that was renamed is no proof that what it had
    /// is gone.
    unclear: bool,
    /// What was found where, or what is not there.
    pub found: String,
}

impl Answer {
    fn of(holds: bool, found: impl Into<String>) -> Answer {
        Answer { holds, unclear: false, found: found.into() }
    }
    fn yes(found: impl Into<String>) -> Answer {
        Answer::of(true, found)
    }
    fn unclear(found: impl Into<String>) -> Answer {
        Answer { holds: false, unclear: true, found: found.into() }
    }

    /// The contrary, if it is asked for.
    fn contrary(self, not: bool) -> Answer {
        Answer { holds: !self.unclear && self.holds != not, ..self }
    }

    /// All of them: a no decides; the first that does not hold says why.
    fn all(answers: Vec<Answer>) -> Answer {
        let no = answers.iter().find(|a| !a.holds && !a.unclear);
        match no.or_else(|| answers.iter().find(|a| a.unclear)) {
            Some(decides) => decides.clone(),
            None => Answer::yes(joined(&answers, ", ")),
        }
    }

    /// Any of them: a yes decides; where none can be sure of its no, nothing can be said.
    fn any(answers: Vec<Answer>) -> Answer {
        if let Some(yes) = answers.iter().find(|a| a.holds) {
            return yes.clone();
        }
        let unclear = answers.iter().any(|a| a.unclear);
        Answer { holds: false, unclear, found: joined(&answers, " and ") }
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
        Ok(Answer::all(self.keys(probe, source)?).contrary(probe.not))
    }

    fn keys(&self, probe: &Probe, source: &Document) -> Result<Vec<Answer>> {
        let version = self.facts.version;
        let mut answers = Vec::new();
        if let Some(since) = probe.since {
            let found = format!("Linux {since} or later (the base is {version})");
            answers.push(Answer::of(version >= since, found));
        }
        if let Some(before) = probe.before {
            let found = format!("Linux before {before} (the base is {version})");
            answers.push(Answer::of(version < before, found));
        }
        if let Some(name) = &probe.probe {
            answers.push(self.named(name, source)?);
        }
        if let Some(name) = &probe.patch {
            let holds = self.applied.borrow().iter().any(|p| p == name);
            let found =
                format!("patch {name} {}", if holds { "applies" } else { "does not apply" });
            answers.push(Answer::of(holds, found));
        }
        if !probe.files.is_empty() {
            answers.push(self.in_files(probe, source)?);
        }
        Ok(answers)
    }

    /// Any of the files will do; one that has the place without the thing is sure of its no.
    fn in_files(&self, probe: &Probe, source: &Document) -> Result<Answer> {
        let mut missing = Vec::new();
        let mut sure = false;
        for path in &probe.files {
            let Some(entry) = self.base.get(path)? else {
                missing.push(format!("file {path}"));
                sure |= probe.at.is_none();
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
                Err(Miss::None { .. }) => match lacking_place(&finder, &probe.within, at) {
                    Some(place) => {
                        missing.push(format!("{at} in {path}, which has no {place}"));
                    }
                    None => {
                        missing.push(format!("{at} in {path}"));
                        sure = true;
                    }
                },
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
        let found = missing.join(", ");
        Ok(if sure { Answer::of(false, found) } else { Answer::unclear(found) })
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
        let answer = if probe.any { Answer::any(answers) } else { Answer::all(answers) };
        let answer = answer.contrary(probe.not);
        self.answers.borrow_mut().insert(name.to_owned(), answer.clone());
        Ok(answer)
    }
}

fn joined(answers: &[Answer], between: &str) -> String {
    answers.iter().map(|a| a.found.as_str()).collect::<Vec<_>>().join(between)
}

/// The first of the places that the thing is sought in, from the outermost, that the file does not
/// have: those of `within`, those that the locator names in front, and the thing itself where it is
/// asked what it has.
fn lacking_place(finder: &Finder<'_>, within: &[Locator], at: &Locator) -> Option<String> {
    let is_lacking = |outer: &[Locator], place: &Locator| {
        matches!(finder.find(outer, place, false), Err(Miss::None { .. }))
    };
    for (n, place) in within.iter().enumerate() {
        if is_lacking(within.get(..n).unwrap_or_default(), place) {
            return Some(place.to_string());
        }
    }
    let Locator::Place(thing) = at else { return None };
    let asked_of_it = thing.part.is_some() || !thing.has.is_empty() || !thing.has_not.is_empty();
    let last = if asked_of_it { thing.steps.len() } else { thing.steps.len().saturating_sub(1) };
    for n in 1..=last {
        let steps = thing.steps.get(..n).unwrap_or_default().to_vec();
        let (has, has_not) = (Vec::new(), Vec::new());
        let place = Place { steps, part: None, has, has_not, nth: None, or_text: None };
        let place = Locator::Place(place);
        if is_lacking(within, &place) {
            return Some(place.to_string());
        }
    }
    None
}
