//! Plans a series on a base: which patches apply and what each changes. Pure:
//! it reads a source and writes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::host::signals;
use crate::series::excerpt::Document;
use crate::series::model::{Edit, Patch, Probe, Series, Text};
use crate::series::places::{Place, Unread};
use crate::series::templates::place_of;

use super::cocci::Semantic;
use super::cover::Cover;
use super::edit::{Editor, Fault};
use super::locate::Miss;
use super::overlay::{Base, Changes, Overlay};
use super::probe::{Answer, Asker};
use super::source::Source;
use super::template::{BaseFacts, Templates};
use super::verdict::{Conflict, Verdict};

/// Which optional patches are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// By name.
    pub with: BTreeSet<String>,
    /// All of them.
    pub all: bool,
}

impl Choice {
    /// Checks that the names are optional patches of this series.
    ///
    /// # Errors
    /// Names the ones that are not.
    pub fn check(&self, series: &Series) -> Result<()> {
        for name in &self.with {
            if series.patch(name).is_none() {
                let known: Vec<&str> =
                    series.patches.iter().filter(|p| p.optional).map(|p| p.name.as_str()).collect();
                return Err(Error::usage(format!("--with {name}"))
                    .found(format!("series {} has no such patch", series.name))
                    .hint(if known.is_empty() {
                        "it has no optional patches".to_owned()
                    } else {
                        format!("optional there: {}", known.join(", "))
                    }));
            }
        }
        Ok(())
    }

    pub(super) fn takes(&self, patch: &Patch) -> bool {
        !patch.optional || self.all || self.with.contains(&patch.name)
    }
}

/// One patch, judged.
#[derive(Clone, Debug)]
pub struct PlannedPatch {
    /// Its name.
    pub name: String,
    /// What it is on this base.
    pub verdict: Verdict,
    /// The commit message; empty unless it applies.
    pub message: String,
    /// What it changes against the patch before; empty unless it applies.
    pub changes: Changes,
    /// The same files as they were.
    pub before: Changes,
    /// What its places are like, where the series has a record of that.
    pub places: Vec<Place>,
    /// Those that nobody has read as they are.
    pub unread: Vec<Unread>,
}

impl PlannedPatch {
    /// Without any change.
    #[must_use]
    pub fn judged(name: &str, verdict: Verdict) -> PlannedPatch {
        let (changes, before) = (Changes::new(), Changes::new());
        let (name, message) = (name.to_owned(), String::new());
        let (places, unread) = (Vec::new(), Vec::new());
        PlannedPatch { name, verdict, message, changes, before, places, unread }
    }
}

/// What a plan says of a series as a whole.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Its verdict.
    pub verdict: Verdict,
    /// The cover letter; empty when there is none, or nothing applies.
    pub cover: Cover,
}

/// A series on a base, judged.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The patches that were asked for, in order.
    pub patches: Vec<PlannedPatch>,
    /// The series as a whole.
    pub verdict: Verdict,
    /// The cover letter; empty when there is none, or nothing applies.
    pub cover: Cover,
    /// The series below it, each with its patches that change places which nobody has read as they
    /// are; none where this one was planned alone.
    pub unread_below: Vec<(String, Vec<String>)>,
}

/// Plans `series` on `source`.
///
/// # Errors
/// When the series itself is wrong (a template, a name) or the source cannot be
/// read. What the base lacks is a verdict, not an error.
pub fn plan(
    series: &Series,
    facts: &BaseFacts,
    source: &dyn Source,
    choice: &Choice,
    semantic: &dyn Semantic,
) -> Result<Plan> {
    let mut patches = Vec::new();
    let mut judged = |patch| patches.push(patch);
    let Whole { verdict, cover } = plan_each(series, facts, source, choice, semantic, &mut judged)?;
    Ok(Plan { patches, verdict, cover, unread_below: Vec::new() })
}

/// As [`plan`], and hands each patch to `judged` before the next one is planned, so
/// that a long series need not be in memory whole.
///
/// # Errors
/// As [`plan`].
pub fn plan_each(
    series: &Series,
    facts: &BaseFacts,
    source: &dyn Source,
    choice: &Choice,
    semantic: &dyn Semantic,
    judged: &mut dyn FnMut(PlannedPatch),
) -> Result<Whole> {
    choice.check(series)?;
    let base = Base::new(source);
    let asker = Asker::new(&base, facts, &series.probes);
    let mut templates =
        Templates::new(series, facts, &asker.has(&series.source)?, capture_names(series))?;
    let mut tree = Overlay::new(&base);
    let mut verdicts = Vec::new();
    let mut applied = Vec::new();
    for patch in series.patches.iter().filter(|p| choice.takes(p)) {
        signals::check()?;
        templates.set_patch(&patch.name);
        let mut planned = PlannedPatch::judged(&patch.name, judge(series, patch, &asker)?);
        if planned.verdict == Verdict::Applies {
            let mut editor = Editor {
                tree: &mut tree,
                templates: &mut templates,
                source: &series.source,
                semantic,
                found: series.places.as_ref().map(|_| Vec::new()),
            };
            let conflicts = make_all(&mut editor, &patch.edits, &asker)?;
            let found = editor.found;
            let (changes, before) = tree.changed()?;
            planned.verdict = settle(series, patch, conflicts, &changes);
            if planned.verdict == Verdict::Applies {
                planned.message = message(series, patch, &mut templates)?;
                if let (Some(seen), Some(found)) = (&series.places, found) {
                    planned.unread = seen.unread(&patch.name, &found, &series.source);
                    planned.places = found;
                }
                (planned.changes, planned.before) = (changes, before);
                asker.set_applied(&patch.name);
                applied.push(patch.name.as_str());
            }
        }
        if planned.verdict == Verdict::Applies {
            tree.keep();
        } else {
            tree.undo();
        }
        verdicts.push(planned.verdict.clone());
        judged(planned);
    }
    let verdict = Verdict::of_series(&verdicts);
    let cover = match &series.cover {
        Some(text) if verdict == Verdict::Applies => {
            templates.set_applied(&applied);
            templates.cover(text, || series.source.label.clone())?
        }
        _ => Cover::default(),
    };
    Ok(Whole { verdict, cover })
}

/// Whether edits of a mutant make sense on this base, and what they change.
///
/// # Errors
/// A conflict when a place is not there; usage when it is wrong in itself.
pub fn plan_mutant(
    series: &Series,
    mutant: &crate::series::Mutant,
    facts: &BaseFacts,
    source: &dyn Source,
    semantic: &dyn Semantic,
) -> Result<Option<Changes>> {
    let base = Base::new(source);
    let asker = Asker::new(&base, facts, &series.probes);
    let mut templates =
        Templates::new(series, facts, &asker.has(&series.source)?, capture_names(series))?;
    templates.set_patch(&mutant.name);
    for probe in &mutant.when {
        if !asker.ask(probe, &mutant.source)?.holds {
            return Ok(None);
        }
    }
    let mut tree = Overlay::new(&base);
    let (source, found) = (&mutant.source, None);
    let mut editor = Editor { tree: &mut tree, templates: &mut templates, source, semantic, found };
    let conflicts = make_all(&mut editor, &mutant.edits, &asker)?;
    if !conflicts.is_empty() {
        return Err(Error::conflict(format!("mutant {} of {}", mutant.name, series.name))
            .found(Verdict::Conflict { conflicts }.to_string()));
    }
    let (changes, _) = tree.changed()?;
    if changes.is_empty() {
        return Err(Error::conflict(format!("mutant {} of {}", mutant.name, series.name))
            .found("its edits change nothing"));
    }
    Ok(Some(changes))
}

fn capture_names(series: &Series) -> Vec<String> {
    let edits = series.patches.iter().flat_map(|p| &p.edits);
    edits.flat_map(|e| e.captures.iter().map(|(name, _)| name.clone())).collect()
}

/// The verdict by probes alone.
fn judge(series: &Series, patch: &Patch, asker: &Asker<'_>) -> Result<Verdict> {
    let why = |p: &Probe| p.why.clone().unwrap_or_default();
    for probe in series.absorbed.iter().chain(&patch.absorbed) {
        let Answer { holds, found, .. } = asker.ask(probe, &series.source)?;
        if holds {
            let marker = if probe.not { format!("not: {found}") } else { found };
            return Ok(Verdict::Absorbed { marker, why: why(probe) });
        }
    }
    for probe in series.needs.iter().chain(&patch.needs) {
        let Answer { holds, found, .. } = asker.ask(probe, &series.source)?;
        if !holds {
            let lacks = if probe.not { format!("not: {found}") } else { found };
            return Ok(Verdict::Blocked { lacks, why: why(probe) });
        }
    }
    Ok(Verdict::Applies)
}

/// Makes the edits whose conditions hold; a conflict does not stop the others,
/// so that all are told at once.
fn make_all(
    editor: &mut Editor<'_, '_, '_>,
    edits: &[Edit],
    asker: &Asker<'_>,
) -> Result<Vec<Conflict>> {
    let mut conflicts: Vec<Conflict> = Vec::new();
    let mut lacking: Vec<Lacking<'_>> = Vec::new();
    for edit in edits {
        if !is_wanted(edit, asker, editor.source)? {
            continue;
        }
        match editor.make(edit) {
            Ok(()) => {}
            Err(Fault::Conflict(mut c)) => {
                c.after = lacking.iter().find(|l| l.brings(&c, edit)).map(|l| l.edit.clone());
                let root = c.after.as_ref().unwrap_or(&c.edit).clone();
                let text = editor.new_text(edit);
                lacking.extend(text.map(|text| Lacking { edit: root, files: &edit.files, text }));
                conflicts.push(*c);
            }
            Err(Fault::Error(e)) => {
                // A capture that is lacking after a conflict is that conflict's fault.
                if conflicts.is_empty() {
                    return Err(e);
                }
                break;
            }
        }
    }
    Ok(conflicts)
}

/// What a failed edit would have put there.
struct Lacking<'e> {
    /// The edit; the first one, where it failed for another one's sake.
    edit: String,
    /// The files of which one would have it.
    files: &'e [String],
    text: String,
}

impl Lacking<'_> {
    /// Whether what a later edit did not find would be defined by this text. What is in the tree
    /// and does not fit is a matter of its own, and so is what this text only uses.
    fn brings(&self, conflict: &Conflict, later: &Edit) -> bool {
        let Some(sought) = Miss::sought(&conflict.what) else { return false };
        // Of several candidates the conflict names one.
        let there = match later.files.contains(&conflict.file) {
            true => later.files.as_slice(),
            false => std::slice::from_ref(&conflict.file),
        };
        let mut defining = self.text.lines().filter(|l| !l.starts_with(char::is_whitespace));
        self.files.iter().any(|f| there.contains(f)) && defining.any(|l| has_word(l, sought))
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let bounds = |at: usize| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    };
    word.contains(part) && text.match_indices(word).any(|(at, _)| bounds(at))
}

fn is_wanted(edit: &Edit, asker: &Asker<'_>, source: &Document) -> Result<bool> {
    for probe in &edit.when {
        if !asker.ask(probe, source)?.holds {
            return Ok(false);
        }
    }
    for probe in &edit.unless {
        if asker.ask(probe, source)?.holds {
            return Ok(false);
        }
    }
    Ok(true)
}

fn settle(
    series: &Series,
    patch: &Patch,
    mut conflicts: Vec<Conflict>,
    changes: &Changes,
) -> Verdict {
    if conflicts.is_empty() && changes.is_empty() {
        conflicts.push(Conflict {
            edit: series.source.position_of(&patch.path),
            deed: "patch".to_owned(),
            file: "the base".to_owned(),
            what: "its edits change nothing here; say with `absorbed` how such a base is told"
                .to_owned(),
            near: Vec::new(),
            after: None,
        });
    }
    if conflicts.is_empty() { Verdict::Applies } else { Verdict::Conflict { conflicts } }
}

/// The commit message: a subject, and a body behind a blank line.
fn message(series: &Series, patch: &Patch, templates: &mut Templates<'_>) -> Result<String> {
    let path = patch.path.key("message");
    let text = templates.render(&patch.message, || series.source.position_of(&path))?;
    let text = tidy(&text);
    let bad = |why: &str| {
        Err(series.source.error_at(&path, format!("the message of {}: {why}", patch.name)))
    };
    // No commit can have it; whatever else is wrong is a matter of mails.
    if let Some(line) = text.split('\n').find(|l| l.contains('\0')) {
        let place = match &patch.message {
            Text::File(file) => place_of(&series.project, &series.name, file, line),
            Text::Inline(_) => None,
        };
        let place = place.unwrap_or_else(|| series.source.position_of(&path));
        let name = &patch.name;
        return Err(Error::usage(format!("{place}: the message of {name} cannot be mailed"))
            .found("it has a NUL byte")
            .hint("take it out"));
    }
    let mut lines = text.lines();
    if lines.next().is_none_or(|subject| subject.trim().is_empty()) {
        return bad("it has no subject");
    }
    if lines.next().is_some_and(|second| !second.is_empty()) {
        return bad("its second line must be blank");
    }
    Ok(text)
}

/// Without blanks at line ends, blank lines around, and more than one in a row;
/// with one final newline: as git keeps messages.
#[must_use]
pub fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() {
            blank = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// The answers of a series' named probes, for a reader.
///
/// # Errors
/// As [`plan`].
pub fn answers(
    series: &Series,
    facts: &BaseFacts,
    source: &dyn Source,
) -> Result<BTreeMap<String, bool>> {
    let base = Base::new(source);
    Asker::new(&base, facts, &series.probes).has(&series.source)
}

#[cfg(test)]
mod tests;
