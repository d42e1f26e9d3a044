//! Turns a series that exists already into source: its mails or commits become
//! a `series.toml` with templates, which is proved to render to the same trees.
//!
//! A source comes to [`Incoming`] patches; [`trees`] applies them as git would;
//! [`edits`] says each step by structure, or as a raw diff; [`write()`](write::write)
//! puts it all into a draft; and the draft is rendered by the very renderer that
//! will render it later. What differs there falls back to raw diffs, patch by
//! patch, and what differs even then is an error.

pub mod b4;
pub mod base;
pub mod cover;
pub mod edits;
pub mod escape;
pub mod incoming;
pub mod letter;
pub mod mails;
pub mod mbox;
pub mod place;
pub mod quilt;
pub mod range;
pub mod source;
pub mod subject;
pub mod thread;
pub mod trees;
pub mod write;

pub use incoming::Incoming;

use crate::error::{Error, Result};
use crate::host::ui::Ui;
use crate::mail::{Date, Person, body};
use crate::render::{self, RenderOptions, Rendering, Verdict};
use crate::series::draft::Draft;
use crate::series::places::{self, Places};
use crate::tree::{Base, Oid, Store};

use edits::{Level, NewEdit};
use write::Frame;

/// What is decided before anything is written.
#[derive(Clone, Debug)]
pub struct Wish<'w> {
    /// Writes raw diffs only.
    pub diffs_only: bool,
    /// Stands for a date that the source does not have.
    pub now: jiff::Timestamp,
    /// Stands for a change id that it does not have.
    pub change_id: &'w str,
}

/// An import that was proved, on its way into the project.
#[derive(Debug)]
pub struct Imported {
    /// The series, to be committed.
    pub draft: Draft,
    /// The names of its patches.
    pub names: Vec<String>,
    /// The tree after each patch.
    pub trees: Vec<Oid>,
    /// The edits of each patch.
    pub edits: Vec<Vec<NewEdit>>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Writes `incoming` into `draft` and proves that it renders to the same trees
/// on `base`; `spec` is what the series calls that base.
///
/// # Errors
/// When a patch does not apply, or cannot be written so that it renders to the
/// same tree.
pub fn import(
    ui: &Ui,
    store: &Store,
    draft: Draft,
    mut incoming: Incoming,
    base: &Base,
    spec: &str,
    wish: &Wish<'_>,
) -> Result<Imported> {
    let mut warnings = std::mem::take(&mut incoming.warnings);
    let trees = trees::after_each(store, base.tree, &incoming.patches, &mut warnings)?;
    let change_id = match incoming.change_id.as_deref() {
        Some(id) if well_formed(id) => id.to_owned(),
        Some(id) => {
            warnings.push(format!("its change id is not of the usual form, and replaced: {id}"));
            wish.change_id.to_owned()
        }
        None => wish.change_id.to_owned(),
    };
    drop_odd_dates(&mut incoming, &mut warnings);
    warnings.extend(incoming.patches.iter().filter_map(unmailable));
    let names = write::names(incoming.patches.iter().map(incoming::IncomingPatch::subject));
    let Some(author) = author(&incoming) else {
        return Err(Error::usage("an import without patches"));
    };
    let frame = Frame {
        author: &author,
        date: date(&incoming, wish.now)?,
        change_id: &change_id,
        base: spec,
        names: &names,
    };
    let step = |i: usize| {
        Some((*i.checked_sub(1).map_or(Some(&base.tree), |i| trees.get(i))?, *trees.get(i)?))
    };
    let first = if wish.diffs_only { Level::Diff } else { Level::Structure };
    let mut levels = vec![first; trees.len()];
    let mut edits = Vec::new();
    for (i, level) in levels.iter().enumerate() {
        let (before, after) = step(i).unwrap_or((base.tree, base.tree));
        edits.push(edits::between(store, before, after, *level)?);
    }
    loop {
        write::write(&draft, &incoming, &frame, &edits)?;
        let mut series = draft.load()?;
        // Who brings it has read it: the places of its patches are recorded.
        series.places = Some(Places::default());
        let rendering = render::render(ui, store, &series, base, &RenderOptions::default())?;
        let Some((i, what)) = first_difference(&rendering, &trees) else {
            let plan = render::judge(store, &series, base, &RenderOptions::default())?;
            let mut seen = Places::default();
            for patch in &plan.patches {
                seen.record(&patch.name, &patch.places, &base.version.to_string());
            }
            draft.series_file(places::FILE, seen.text().as_bytes())?;
            break;
        };
        let (Some((before, after)), Some(level)) = (step(i), levels.get_mut(i)) else { break };
        *level = match level {
            Level::Structure => Level::Diff,
            Level::Diff => Level::PlainDiff,
            Level::PlainDiff => {
                let label = names.get(i).map_or("", String::as_str);
                return Err(Error::check(format!("patch {label} renders to another tree"))
                    .found(what)
                    .hint("this is a fault of the tool; import the patches before it"));
            }
        };
        if let Some(edits) = edits.get_mut(i) {
            *edits = edits::between(store, before, after, *level)?;
        }
    }
    Ok(Imported { draft, names, trees, edits, warnings })
}

/// The first patch that is not rendered to its tree, and what it is instead.
fn first_difference(rendering: &Rendering, trees: &[Oid]) -> Option<(usize, String)> {
    trees.iter().enumerate().find_map(|(i, tree)| {
        let patch = rendering.patches.get(i);
        match patch {
            Some(p) if p.verdict == Verdict::Applies && p.tree == Some(*tree) => None,
            Some(p) => {
                let is = p.tree.map_or_else(|| p.verdict.to_string(), |t| format!("tree {t}"));
                Some((i, format!("{is} in place of tree {tree}")))
            }
            None => Some((i, "it is not rendered at all".to_owned())),
        }
    })
}

/// Who sends the series: as the cover says, else the author of the first patch.
fn author(incoming: &Incoming) -> Option<Person> {
    let first = incoming.patches.first().map(|p| p.author.clone());
    incoming.sender.clone().filter(|s| !s.name.is_empty()).or(first)
}

/// The cover's date, else a second before the first patch.
fn date(incoming: &Incoming, now: jiff::Timestamp) -> Result<Date> {
    let first = incoming.patches.first().and_then(|p| p.date);
    let before = first.and_then(|d| d.plus_seconds(-1).ok()).filter(|d| d.seconds() >= 0);
    match incoming.date.or(before).or(first) {
        Some(date) => Ok(date),
        None => Date::new(now.as_second(), 0),
    }
}

/// What keeps a message from being mailed. It is imported as it is, and whoever renders it
/// would hear of it only then.
fn unmailable(patch: &incoming::IncomingPatch) -> Option<String> {
    let fault = body::fault(&patch.message)?;
    Some(format!(
        "{}: its message cannot be mailed as it is: line {}: {}: {}; {}",
        patch.label,
        fault.line,
        fault.text.escape_debug(),
        fault.what,
        fault.mend
    ))
}

/// Takes out dates that no series can have: git has none before 1970.
fn drop_odd_dates(incoming: &mut Incoming, warnings: &mut Vec<String>) {
    let odd = |d: Date| d.seconds() < 0;
    incoming.date = incoming.date.filter(|d| !odd(*d));
    for patch in &mut incoming.patches {
        if patch.date.is_some_and(odd) {
            warnings.push(format!("{}: its date before 1970 is left out", patch.label));
            patch.date = None;
        }
    }
}

/// `YYYYMMDD-topic-12hex`.
fn well_formed(id: &str) -> bool {
    let Some((day, rest)) = id.split_once('-') else { return false };
    let Some((topic, hex)) = rest.rsplit_once('-') else { return false };
    id.len() < 200
        && day.len() == 8
        && day.bytes().all(|b| b.is_ascii_digit())
        && hex.len() == 12
        && hex.bytes().all(|b| b.is_ascii_hexdigit())
        && !topic.is_empty()
        && topic.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}
