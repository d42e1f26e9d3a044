//! The cover letter of a rendered series, with the results that are of it.

use git2::{Oid, Repository};

use crate::cli::Ctx;
use crate::error::Result;
use crate::render::Rendering;
use crate::render::cover::Written;
use crate::results::{self, Asked};
use crate::series::Series;

/// Writes it; results of something else are told and not used.
///
/// # Errors
/// When its template is wrong whatever the results are.
pub fn write(
    ctx: &Ctx,
    repo: &Repository,
    series: &Series,
    rendering: &Rendering,
) -> Result<Written> {
    let uses = rendering.cover.uses();
    if uses.is_empty() {
        return Ok(Written::Whole(rendering.cover.text.clone()));
    }
    let asked = Asked {
        series: &series.name,
        folder: &series.folder(),
        base: &rendering.base.name,
        spec: &rendering.base.spec,
        head: rendering.head,
        tree: rendering.tree,
    };
    let tree_of = |commit: Oid| repo.find_commit(commit).ok().map(|c| c.tree_id());
    let (results, stale) = results::find(&ctx.dirs.out()?, &asked, &uses, &tree_of);
    stale.iter().for_each(|line| ctx.ui.warn(line));
    rendering.cover.with(&results)
}

/// As [`write()`], and what it uses must be there.
///
/// # Errors
/// As [`write()`]; names the command that brings what is not there.
pub fn whole(
    ctx: &Ctx,
    repo: &Repository,
    series: &Series,
    rendering: &Rendering,
) -> Result<String> {
    match write(ctx, repo, series, rendering)? {
        Written::Whole(text) => Ok(text),
        Written::Lacks(e) => Err(e),
    }
}
