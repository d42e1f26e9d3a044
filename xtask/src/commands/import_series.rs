//! `cargo xtask import-series NAME --from SOURCE`: a series that exists already
//! becomes source, and is proved to render to the same trees.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::new_series::{change_id, now, person};
use crate::cli::{Ctx, Outcome};
use crate::error::Result;
use crate::import::source::{Reading, Source};
use crate::import::{self, Imported, Wish, base};
use crate::series::draft::{self, Draft};
use crate::tree::Store;

/// Options of `import-series`.
#[derive(Debug, Args)]
pub struct ImportSeries {
    /// Its name here, which its folders have: letters, digits, - and _.
    name: String,
    /// A file of mails (mbox, plain or .gz), a maildir, a folder of .patch files, a
    /// quilt stack, `CLONE@OLD..NEW`, or `CLONE@BRANCH` that b4 prepared.
    #[arg(
        long,
        value_name = "SOURCE",
        required_unless_present = "range",
        conflicts_with = "range"
    )]
    from: Option<String>,
    /// Commits of the clone --repo: `OLD..NEW`, or a branch that b4 prepared.
    #[arg(long, value_name = "OLD..NEW", requires = "repo")]
    range: Option<String>,
    /// The kernel tree that it is imported on. Default: the one its base-commit names.
    #[arg(long, value_name = "BASE")]
    base: Option<String>,
    /// A clone in which the base commit is sought, and --range.
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// The version, where the mails have several. Default: the newest.
    #[arg(long, short = 'v', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    version: Option<u32>,
    /// The author of patches that name none (of a quilt stack).
    #[arg(long, value_name = "NAME <ADDRESS>")]
    author: Option<String>,
    /// Keeps every patch as a raw diff.
    #[arg(long)]
    diffs_only: bool,
}

#[derive(Serialize)]
struct Report {
    series: String,
    version: u32,
    base: String,
    patches: Vec<PatchReport>,
    files: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct PatchReport {
    name: String,
    subject: String,
    /// Renders to this tree, as the source does.
    tree: String,
    /// Edits by structure.
    structural: usize,
    /// Raw diffs.
    diffs: usize,
}

impl ImportSeries {
    /// Imports, proves, and puts the series into the project.
    ///
    /// # Errors
    /// When the name is not free, the source holds no whole series, a patch does
    /// not apply to the base, or the import does not render to the same trees.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let project = ctx.dirs.project()?;
        draft::check_name(&self.name)?;
        let draft = Draft::begin(project, &self.name)?;
        let author = self.author.as_deref().map(person).transpose()?;
        let source = match (&self.from, &self.range, &self.repo) {
            (None, Some(range), Some(repo)) => Source::Range(repo.clone(), range.clone()),
            (from, ..) => Source::parse(from.as_deref().unwrap_or_default())?,
        };
        let store = Store::open(&ctx.ui, &ctx.dirs)?;
        let how = Reading { version: self.version, author: author.as_ref() };
        let mut incoming = source.read(&ctx.ui, &ctx.dirs, &store, how)?;
        let (named, repo) = (self.base.as_deref(), self.repo.as_deref());
        let found = base::find(&ctx.ui, &ctx.dirs, &store, &mut incoming, named, repo)?;
        let now = now()?;
        let id = change_id(now, &self.name);
        let wish = Wish { diffs_only: self.diffs_only, now, change_id: &id };
        let subjects: Vec<String> =
            incoming.patches.iter().map(|p| p.subject().to_owned()).collect();
        let version = incoming.version.max(1);
        let done =
            import::import(&ctx.ui, &store, draft, incoming, &found.base, &found.spec, &wish)?;
        for warning in &done.warnings {
            ctx.ui.warn(warning);
        }
        let report = self.report(done, version, &subjects, &found.spec)?;
        ctx.ui.result(&report, |w| human(w, &report))?;
        Ok(Outcome::Held)
    }

    fn report(
        &self,
        done: Imported,
        version: u32,
        subjects: &[String],
        base: &str,
    ) -> Result<Report> {
        let patches = done.names.iter().zip(subjects).zip(&done.trees).zip(&done.edits);
        let patches = patches.map(|(((name, subject), tree), edits)| {
            let diffs = edits.iter().filter(|e| e.is_diff()).count();
            PatchReport {
                name: name.clone(),
                subject: subject.clone(),
                tree: tree.to_string(),
                structural: edits.len() - diffs,
                diffs,
            }
        });
        Ok(Report {
            series: self.name.clone(),
            version,
            base: base.to_owned(),
            patches: patches.collect(),
            files: done.draft.commit()?,
            warnings: done.warnings,
        })
    }
}

fn human(w: &mut dyn std::io::Write, r: &Report) -> std::io::Result<()> {
    let count = counted(r.patches.len(), "patch", "patches");
    writeln!(
        w,
        "{} v{} on {}: {count}, each with the tree of its source",
        r.series, r.version, r.base
    )?;
    for p in &r.patches {
        let tree = p.tree.get(..12).unwrap_or(&p.tree);
        write!(w, "  {tree}  {}  ({} by structure", p.subject, p.structural)?;
        writeln!(w, ", {})", counted(p.diffs, "raw diff", "raw diffs"))?;
    }
    let templates = r.files.iter().filter(|f| f.starts_with("templates/")).count();
    let templates = counted(templates, "template", "templates");
    writeln!(w, "  source  series/{}/series.toml and {templates}", r.series)
}

fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}
