//! What lies below a series: the series of its project that it needs first, each
//! planned on top of those before it.

use crate::error::Result;
use crate::mail::Prerequisite;
use crate::series::Series;
use crate::series::prerequisites::{self, Needed};
use crate::tree::{Base, Oid, Store};

use super::cocci::{Semantic, Spatch};
use super::cover::Cover;
use super::execute::{self, Executor, StoreSource};
use super::overlay::Changes;
use super::plan::{self, Choice, Plan, PlannedPatch, Whole};
use super::source::{Source, SourceFile};
use super::template::BaseFacts;
use super::verdict::Verdict;

/// A prerequisite, as it was rendered.
#[derive(Clone, Debug)]
pub enum Below {
    /// A series of the project.
    Series {
        /// Its name.
        name: String,
        /// Its version.
        version: u32,
        /// Its change id.
        change_id: Option<String>,
        /// What it is on the base; absorbed leaves no commits.
        verdict: Verdict,
        /// Its commits, first one first.
        commits: Vec<Oid>,
        /// Its patches that change places which nobody has read as they are.
        unread: Vec<String>,
    },
    /// What is elsewhere, and can only be named.
    Elsewhere(Prerequisite),
}

/// A source with the changes of the series below on top.
struct Layered<'s> {
    source: &'s dyn Source,
    changes: Changes,
}

impl Source for Layered<'_> {
    fn read(&self, path: &str) -> Result<Option<SourceFile>> {
        match self.changes.get(path) {
            Some(entry) => Ok(entry.as_ref().map(|e| SourceFile {
                mode: e.mode,
                bytes: e.text.bytes().to_vec(),
                scan: None,
            })),
            None => self.source.read(path),
        }
    }

    fn is_folder(&self, path: &str) -> Result<bool> {
        let inside = format!("{path}/");
        let mut below =
            self.changes.range(inside.clone()..).take_while(|(p, _)| p.starts_with(&inside));
        if below.any(|(_, entry)| entry.is_some()) {
            return Ok(true);
        }
        let is_file = matches!(self.changes.get(path), Some(Some(_)));
        Ok(!is_file && self.source.is_folder(path)?)
    }

    fn blob(&self, id: &str) -> Result<Option<Vec<u8>>> {
        self.source.blob(id)
    }
}

/// What a series is rendered onto.
#[derive(Clone, Debug)]
pub struct Ground {
    /// What it needs first, in order.
    pub below: Vec<Below>,
    /// The commit, and its tree.
    pub onto: (Oid, Oid),
    /// The verdict on everything above, where something below lacks.
    pub lacking: Option<Verdict>,
}

/// Renders what `series` needs first, as commits in the store.
///
/// # Errors
/// As [`render`](super::render()), of each of them.
pub fn render(store: &Store, series: &Series, base: &Base) -> Result<Ground> {
    let mut ground = Ground { below: Vec::new(), onto: (base.commit, base.tree), lacking: None };
    let facts = execute::facts(base);
    for needed in prerequisites::of(series)? {
        let needed = match needed {
            Needed::Elsewhere(one) => {
                ground.below.push(Below::Elsewhere(one));
                continue;
            }
            Needed::Series(needed) => needed,
        };
        let source = StoreSource::new(store, ground.onto.1);
        let plan = layer(&needed, &facts, &source, &mut ground.lacking)?;
        let mut commits = Vec::new();
        if plan.verdict == Verdict::Applies {
            let mut executor = Executor::new(store, &needed, ground.onto);
            for patch in &plan.patches {
                executor.patch(patch)?;
            }
            ground.onto = executor.top();
            commits.extend(executor.commits());
        }
        ground.below.push(Below::Series {
            unread: unread(&plan),
            name: needed.name,
            version: needed.version,
            change_id: needed.change_id,
            verdict: plan.verdict,
            commits,
        });
    }
    Ok(ground)
}

/// Judges `series` on top of what it needs first, and writes nothing.
///
/// # Errors
/// As [`plan::plan`], of each of them.
pub fn judge(
    series: &Series,
    facts: &BaseFacts,
    source: &dyn Source,
    choice: &Choice,
    semantic: &dyn Semantic,
) -> Result<Plan> {
    let mut tree = Layered { source, changes: Changes::new() };
    let mut lacking = None;
    let mut unread_below = Vec::new();
    for needed in prerequisites::of(series)? {
        let Needed::Series(needed) = needed else { continue };
        let plan = layer(&needed, facts, &tree, &mut lacking)?;
        unread_below.push((needed.name.clone(), unread(&plan)));
        for patch in plan.patches.into_iter().filter(|_| plan.verdict == Verdict::Applies) {
            tree.changes.extend(patch.changes);
        }
    }
    let plan = match &lacking {
        Some(verdict) => none_tried(series, choice, verdict)?,
        None => plan::plan(series, facts, &tree, choice, semantic)?,
    };
    Ok(Plan { unread_below, ..plan })
}

/// The patches that change places which nobody has read as they are.
fn unread(plan: &Plan) -> Vec<String> {
    plan.patches.iter().filter(|p| !p.unread.is_empty()).map(|p| p.name.clone()).collect()
}

/// Plans one series of those below; what it lacks, all above it lack.
fn layer(
    series: &Series,
    facts: &BaseFacts,
    source: &dyn Source,
    lacking: &mut Option<Verdict>,
) -> Result<Plan> {
    let plain = Choice::default();
    if let Some(verdict) = lacking {
        return none_tried(series, &plain, verdict);
    }
    let plan = plan::plan(series, facts, source, &plain, &Spatch)?;
    if matches!(plan.verdict, Verdict::Blocked { .. } | Verdict::Conflict { .. }) {
        *lacking = Some(Verdict::Blocked {
            lacks: format!("the series {}, a prerequisite", series.name),
            why: format!("{} itself is {}", series.name, plan.verdict),
        });
    }
    Ok(plan)
}

/// As [`withheld`], as a plan.
fn none_tried(series: &Series, choice: &Choice, verdict: &Verdict) -> Result<Plan> {
    let mut patches = Vec::new();
    let Whole { verdict, cover } =
        withheld(series, choice, verdict, &mut |patch| patches.push(patch))?;
    Ok(Plan { patches, verdict, cover, unread_below: Vec::new() })
}

/// A series none of whose patches is tried.
///
/// # Errors
/// When an optional patch is wanted that it does not have.
pub fn withheld(
    series: &Series,
    choice: &Choice,
    verdict: &Verdict,
    judged: &mut dyn FnMut(PlannedPatch),
) -> Result<Whole> {
    choice.check(series)?;
    for patch in series.patches.iter().filter(|p| choice.takes(p)) {
        judged(PlannedPatch::judged(&patch.name, verdict.clone()));
    }
    Ok(Whole { verdict: verdict.clone(), cover: Cover::default() })
}
