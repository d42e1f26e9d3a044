//! The kernel of a series on a base: rendered, put into the base's worktree and
//! built. What `build-kernel`, `test-vm` and `quickstart` have in common.

use crate::build::{self, Built, Identity, Request, Source};
use crate::cli::Ctx;
use crate::commands::which_base;
use crate::error::{Error, Result};
use crate::render::{self, Choice, RenderOptions, Rendering, Verdict};
use crate::series::model::Series;
use crate::series::{self, load_mutants};
use crate::tree::{self, Base, Oid, Store};

/// A state of a base to build: as it is, with a series, or with a series and a
/// break of it.
pub struct Kernel {
    /// The store that has the commits.
    pub store: Store,
    /// The base.
    pub base: Base,
    /// The series and its rendering.
    pub series: Option<(Series, Rendering)>,
}

impl Kernel {
    /// Resolves the base and renders the series, if one is named.
    ///
    /// # Errors
    /// When the base cannot be had, or the series is wrong in itself.
    pub fn get(
        ctx: &Ctx,
        series: Option<&str>,
        base: Option<&str>,
        optional: &Choice,
    ) -> Result<Kernel> {
        let series = series.map(|name| series::load(ctx.dirs.project()?, name)).transpose()?;
        let store = Store::open(&ctx.ui, &ctx.dirs)?;
        let bases = series.as_ref().map_or(&[][..], |s| &s.bases);
        let base = which_base::resolve(ctx, &store, base, bases)?;
        let series = match series {
            None => None,
            Some(series) => {
                let options = RenderOptions { optional: optional.clone() };
                let rendering = render::render(&ctx.ui, &store, &series, &base, &options)?;
                Some((series, rendering))
            }
        };
        Ok(Kernel { store, base, series })
    }

    /// The series and its rendering, which must apply.
    ///
    /// # Errors
    /// With the verdict when it does not; a conflict has its own exit code.
    pub fn applied(&self) -> Result<Option<(&Series, &Rendering)>> {
        let Some((series, rendering)) = &self.series else { return Ok(None) };
        let asked = || format!("series {} on {}", series.name, self.base.name);
        let verdict = rendering.state.to_string();
        match &rendering.state {
            Verdict::Applies => Ok(Some((series, rendering))),
            Verdict::Conflict { .. } => Err(Error::conflict(asked()).found(verdict)),
            Verdict::Absorbed { .. } | Verdict::Blocked { .. } => Err(Error::check(asked())
                .found(verdict)
                .hint(format!("cargo xtask show {} tells where it applies", series.name))),
        }
    }

    /// The commit to build, and the label of its products: the base's name, with
    /// the series' and the mutant's behind it.
    ///
    /// # Errors
    /// When the series does not apply, or there is no such mutant; `None` where the
    /// mutant makes no sense on this base.
    pub fn commit(&self, mutant: Option<&str>) -> Result<Option<(Oid, String)>> {
        let Some((series, rendering)) = self.applied()? else {
            return match mutant {
                None => Ok(Some((self.base.commit, self.base.name.clone()))),
                Some(name) => Err(Error::usage(format!("mutant {name}"))
                    .found("no series")
                    .hint("name the series that it breaks with --series")),
            };
        };
        let label = format!("{}+{}", self.base.name, series.name);
        match mutant {
            None => Ok(Some((rendering.head, label))),
            Some(name) => Ok(render::mutant(&self.store, series, rendering, name)?
                .map(|commit| (commit, format!("{label}+{name}")))),
        }
    }

    /// The mutants of the series, by name.
    ///
    /// # Errors
    /// When one is not well-formed.
    pub fn mutants(&self) -> Result<Vec<series::Mutant>> {
        self.series.as_ref().map_or_else(|| Ok(Vec::new()), |(series, _)| load_mutants(series))
    }

    /// Builds `commit`; `fill` sets what the request shall have besides source and
    /// architecture.
    ///
    /// # Errors
    /// As [`tree::worktree()`] and [`build::build()`].
    pub fn build(
        &self,
        ctx: &Ctx,
        (commit, label): (Oid, &str),
        arch: &str,
        fill: impl FnOnce(&mut Request),
    ) -> Result<Built> {
        let worktree = tree::worktree(&ctx.ui, &ctx.dirs, &self.store, &self.base, commit)?;
        let tree = self.store.repo().find_commit(commit)?.tree_id();
        let path = worktree.path.clone();
        let source = Source {
            label: label.to_owned(),
            identity: Identity::Tree { tree: tree.to_string(), commit: commit.to_string() },
            // Beside the source, so that the way from one to the other is the same
            // for every base: only then does ccache serve one base's objects to another.
            objdirs: path.parent().map(|p| p.join("obj")),
            path,
        };
        let mut request = Request::new(source, arch);
        fill(&mut request);
        build::build(&ctx.ui, &ctx.dirs, &request)
    }
}
