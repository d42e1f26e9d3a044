//! Renders series onto trees: probes are asked, edits are planned over a source
//! of files, and the plan is executed as commits in the store.

mod before;
pub mod below;
mod braces;
pub mod cocci;
pub mod cover;
pub mod deed;
pub mod diff;
pub mod edit;
pub mod execute;
pub mod extract;
pub mod file_text;
mod filters;
pub mod found;
pub mod locate;
pub mod overlay;
pub mod plan;
mod prefetch;
pub mod probe;
pub mod source;
pub mod syntax_tree;
pub mod template;
pub mod verdict;

use crate::error::{Error, Result};
use crate::host::ui::Ui;
use crate::series::model::Date;
use crate::series::places::Unread;
use crate::series::{Series, load_mutants};
use crate::tree::{Base, CommitSpec, Oid, Store, commit};

pub use below::Below;
pub use cover::Cover;
pub use plan::Choice;
pub use verdict::{Conflict, Verdict};

/// What is asked of a rendering.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// Which optional patches are wanted.
    pub optional: Choice,
}

/// A series on a base: commits in the store.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// The series.
    pub series: String,
    /// The base.
    pub base: Base,
    /// What it needs first, in order.
    pub below: Vec<Below>,
    /// The commit that its first patch stands on: the last one of what it needs
    /// first, else the base's.
    pub onto: Oid,
    /// Each patch that was asked for, with its verdict.
    pub patches: Vec<RenderedPatch>,
    /// The last commit; the base's where nothing applies.
    pub head: Oid,
    /// Its tree.
    pub tree: Oid,
    /// The series as a whole.
    pub state: Verdict,
    /// The cover letter, without its subject.
    pub cover: Cover,
}

impl Rendering {
    /// The commits, first one first.
    #[must_use]
    pub fn commits(&self) -> Vec<Oid> {
        self.patches.iter().filter_map(|p| p.commit).collect()
    }
}

/// A patch of a rendering.
#[derive(Clone, Debug)]
pub struct RenderedPatch {
    /// Its name.
    pub name: String,
    /// What it is on this base.
    pub verdict: Verdict,
    /// Its commit, where it applies.
    pub commit: Option<Oid>,
    /// The tree after it.
    pub tree: Option<Oid>,
    /// The whole message.
    pub message: String,
    /// Its places that nobody has read as they are, where the series has a record of them.
    pub unread: Vec<Unread>,
}

/// Renders a series onto a base: commits in the store, and a verdict on each
/// patch. What the base lacks is a verdict, not an error.
///
/// # Errors
/// When the series is wrong in itself, or the store cannot be used.
pub fn render(
    _ui: &Ui,
    store: &Store,
    series: &Series,
    base: &Base,
    options: &RenderOptions,
) -> Result<Rendering> {
    render_each(store, series, base, options, &mut |_| {})
}

/// A commit that was just made.
#[derive(Clone, Copy, Debug)]
pub struct Step<'p> {
    /// The tree before it.
    pub before: Oid,
    /// The tree with it.
    pub after: Oid,
    /// The files that it changes.
    pub changes: &'p overlay::Changes,
    /// The same files as they were.
    pub old: &'p overlay::Changes,
}

/// As [`render`], and tells of each commit before the next patch is rendered.
///
/// # Errors
/// As [`render`]; what is wrong in the series comes before what the store refuses.
pub fn render_each(
    store: &Store,
    series: &Series,
    base: &Base,
    options: &RenderOptions,
    made: &mut dyn FnMut(Step<'_>),
) -> Result<Rendering> {
    let facts = execute::facts(base);
    let ground = below::render(store, series, base)?;
    let mut executor = execute::Executor::new(store, series, ground.onto);
    let mut refused = None;
    let mut judged = |planned: plan::PlannedPatch| {
        if refused.is_some() {
            return;
        }
        match executor.patch(&planned) {
            Ok(Some((before, after))) => {
                made(Step { before, after, changes: &planned.changes, old: &planned.before });
            }
            Ok(None) => {}
            Err(e) => refused = Some(e),
        }
    };
    let optional = &options.optional;
    let whole = match &ground.lacking {
        Some(verdict) => below::withheld(series, optional, verdict, &mut judged)?,
        None => std::thread::scope(|scope| {
            let source = prefetch::Prefetched::begin(scope, store, ground.onto.1, series)?;
            plan::plan_each(series, &facts, &source, optional, &cocci::Spatch, &mut judged)
        })?,
    };
    match refused {
        Some(e) => Err(e),
        None => Ok(executor.rendering(base, ground, whole)),
    }
}

/// Judges a series on a base without writing anything.
///
/// # Errors
/// As [`render`].
pub fn judge(
    store: &Store,
    series: &Series,
    base: &Base,
    options: &RenderOptions,
) -> Result<plan::Plan> {
    let source = execute::StoreSource::new(store, base.tree);
    let facts = execute::facts(base);
    below::judge(series, &facts, &source, &options.optional, &cocci::Spatch)
}

/// A commit on top of a rendering that breaks it on purpose; `None` where the
/// mutant makes no sense on that base.
///
/// # Errors
/// When there is no such mutant, or its places are not there.
pub fn mutant(
    store: &Store,
    series: &Series,
    rendering: &Rendering,
    name: &str,
) -> Result<Option<Oid>> {
    let all = load_mutants(series)?;
    let Some(mutant) = all.iter().find(|m| m.name == name) else {
        let names: Vec<&str> = all.iter().map(|m| m.name.as_str()).collect();
        return Err(Error::usage(format!("no mutant \"{name}\" of {}", series.name))
            .hint(format!("there are: {}", names.join(", "))));
    };
    let source = execute::StoreSource::new(store, rendering.tree);
    let facts = execute::facts(&rendering.base);
    let Some(changes) = plan::plan_mutant(series, mutant, &facts, &source, &cocci::Spatch)? else {
        return Ok(None);
    };
    let date = Date { seconds: series.date.seconds.saturating_add(1000), ..series.date };
    let who = execute::signature(&series.author, date, 0)?;
    let spec = CommitSpec {
        tree: execute::apply(store, rendering.tree, &changes)?,
        parents: vec![rendering.head],
        author: who.clone(),
        committer: who,
        message: format!("{}\n\nMutant: {}\n", mutant.title, mutant.why.trim()),
    };
    commit(store, &spec).map(Some)
}
