//! `cargo xtask generate-series`: renders series onto a base, commits in the
//! store, writes the mails, and proves that they give the same tree again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::Scope;

use clap::Args;
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::commands::which_base;
use crate::error::{Error, IoContext as _, Result};
use crate::host::{atomic, memory};
use crate::mail::diff::AtHand;
use crate::mail::diff::ahead::Ahead;
use crate::mail::{self, Mail};
use crate::render::overlay::Changes;
use crate::render::{self, Below, Choice, RenderOptions, Rendering, Step, Verdict};
use crate::series::{self, Series};
use crate::tree::{self, Base, KernelVersion, Oid, Store};

use super::previous::Previous;
use super::{letter, series_mail};

/// Options of `generate-series`.
#[derive(Debug, Args)]
pub struct GenerateSeries {
    /// The series; `cargo xtask list` lists them.
    #[arg(required = true, value_name = "SERIES")]
    series: Vec<String>,
    /// The kernel tree: a known name, PATH or PATH@REV, `URL[#REV]`, debian:PACKAGE, a tarball.
    #[arg(long, value_name = "BASE")]
    base: Option<String>,
    /// The version, where it is not the one in series.toml.
    #[arg(long, short = 'v', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    reroll_count: Option<u32>,
    /// `[RFC PATCH]`.
    #[arg(long)]
    rfc: bool,
    /// `[PATCH RESEND]`.
    #[arg(long)]
    resend: bool,
    /// Also makes this branch in the base's clone (or --repo).
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// The clone that gets the branch.
    #[arg(long, value_name = "PATH", requires = "branch")]
    repo: Option<PathBuf>,
    /// Replaces the branch where it is there.
    #[arg(long, requires = "branch")]
    force: bool,
    /// The folder for the mails. Default: out/series/SERIES/BASE/vN.
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Takes in this optional patch.
    #[arg(long, value_name = "PATCH")]
    with: Vec<String>,
    /// Takes in all optional patches.
    #[arg(long)]
    with_optional: bool,
    #[command(flatten)]
    previous: Previous,
}

/// What came of one series.
#[derive(Debug, Serialize)]
struct Report {
    series: String,
    version: u32,
    base: BaseReport,
    #[serde(flatten)]
    verdict: Verdict,
    prerequisites: Vec<NeededReport>,
    patches: Vec<PatchReport>,
    commit: String,
    tree: String,
    folder: Option<String>,
    mails: Vec<String>,
    branch: Option<String>,
}

#[derive(Debug, Serialize)]
struct BaseReport {
    name: String,
    commit: String,
    version: KernelVersion,
    origin: String,
}

/// A series that lies below.
#[derive(Debug, Serialize)]
struct NeededReport {
    series: String,
    version: u32,
    #[serde(flatten)]
    verdict: Verdict,
    commits: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PatchReport {
    name: String,
    #[serde(flatten)]
    verdict: Verdict,
    commit: Option<String>,
    tree: Option<String>,
    subject: Option<String>,
}

impl GenerateSeries {
    /// Renders each series; what does not apply is told and changes the exit code.
    ///
    /// # Errors
    /// When a series is wrong in itself, the base cannot be had, or a product
    /// cannot be written.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        if self.branch.is_some() && self.series.len() > 1 {
            return Err(Error::usage("--branch with several series")
                .found("a branch carries one series")
                .hint("run it once for each"));
        }
        memory::keep_freed();
        let (all, store) = std::thread::scope(|scope| {
            let opening = scope.spawn(|| Store::open(&ctx.ui, &ctx.dirs));
            let all = self.load(ctx);
            let store = opening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (all, store)
        });
        let (all, store) = (all?, store?);
        let bases: Vec<String> = all.first().map(|s| s.bases.clone()).unwrap_or_default();
        let base = which_base::resolve(ctx, &store, self.base.as_deref(), &bases)?;
        let mut reports = Vec::new();
        for series in &all {
            reports.push(self.generate(ctx, &store, series, &base)?);
        }
        ctx.ui.result(&reports, |w| reports.iter().try_for_each(|r| human(w, r)))?;
        // The process ends now; to take all that the store keeps apart takes time.
        std::mem::forget(store);
        let words: BTreeSet<&str> = reports.iter().map(|r| r.verdict.word()).collect();
        Ok(if words.contains("conflict") {
            Outcome::Conflict
        } else if words.contains("blocked") {
            Outcome::Failed
        } else {
            Outcome::Held
        })
    }

    fn load(&self, ctx: &Ctx) -> Result<Vec<Series>> {
        let project = ctx.dirs.project()?;
        let mut all = Vec::new();
        for name in &self.series {
            let mut series =
                series::load(project, name).map_err(|e| self.previous.explain(name, e))?;
            if let Some(version) = self.reroll_count {
                series.version = version;
            }
            self.options().optional.check(&series)?;
            all.push(series);
        }
        Ok(all)
    }

    fn options(&self) -> RenderOptions {
        RenderOptions {
            optional: Choice { with: self.with.iter().cloned().collect(), all: self.with_optional },
        }
    }

    fn generate(&self, ctx: &Ctx, store: &Store, series: &Series, base: &Base) -> Result<Report> {
        std::thread::scope(|scope| {
            let mut diffs = RenderedDiffs::new(scope, store, series, base);
            let options = self.options();
            let rendering =
                render::render_each(store, series, base, &options, &mut |step| diffs.begin(step))?;
            let ahead = diffs.rendered(&rendering);
            self.mail(ctx, scope, store, series, &rendering, ahead)
        })
    }

    fn mail<'scope, 'env>(
        &self,
        ctx: &Ctx,
        scope: &'scope Scope<'scope, 'env>,
        store: &Store,
        series: &Series,
        rendering: &Rendering,
        ahead: Ahead<'scope, 'env>,
    ) -> Result<Report> {
        let base = &rendering.base;
        let folder = self.folder(ctx, series, base)?;
        let mut report = Report::new(series, rendering);
        if rendering.state != Verdict::Applies {
            if folder.is_dir() {
                ctx.ui.warn(&format!(
                    "mails of an earlier rendering are still in {}",
                    folder.display()
                ));
            }
            return Ok(report);
        }
        let commits = rendering.commits();
        let content = (&commits[..], letter::whole(ctx, store.repo(), series, rendering)?);
        let mut input =
            series_mail::input(store.repo(), series, rendering, content, self.rfc, self.resend)?;
        input.range_diff = self.previous.of_series(store, series, rendering.onto, &commits)?;
        for remark in series_mail::remarks(series, &input, rendering) {
            ctx.ui.warn(&format!("{}: {remark}", series.name));
        }
        let (files, to_file) = channel();
        let filing = scope.spawn({
            let folder = folder.clone();
            move || file_all(&folder, to_file)
        });
        let send = |mail: &Mail| drop(files.send((mail.file_name.clone(), mail.bytes.clone())));
        let mails = mail::write_proved_ahead(scope, store.repo(), &input, Some(ahead), send)?;
        drop(files);
        for mail in &mails {
            for warning in &mail.warnings {
                ctx.ui.warn(&format!("{}: {warning}", mail.file_name));
            }
        }
        if let Some(name) = &self.branch {
            let clone = self.clone_of(base)?;
            let (from, to) = (base.commit, rendering.head);
            tree::branch::publish(store, &clone, name, from, to, self.force)?;
            report.branch = Some(name.clone());
        }
        let filed = filing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let filed = filed?;
        check_replaceable(&folder)?;
        filed.commit()?;
        report.mails = mails.into_iter().map(|m| m.file_name).collect();
        // JSON knows no other bytes than UTF-8.
        report.folder = Some(folder.display().to_string());
        Ok(report)
    }

    fn folder(&self, ctx: &Ctx, series: &Series, base: &Base) -> Result<PathBuf> {
        match &self.output {
            // Where a link leads to is replaced, not the link.
            Some(folder) => {
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                Ok(if self.series.len() == 1 { folder } else { folder.join(&series.name) })
            }
            None => {
                let place = ctx.dirs.out()?.join("series").join(&series.name).join(&base.name);
                Ok(place.join(format!("v{}", series.version)))
            }
        }
    }

    fn clone_of(&self, base: &Base) -> Result<PathBuf> {
        if let Some(path) = &self.repo {
            return Ok(path.clone());
        }
        let path = base.spec.rsplit_once('@').map_or(base.spec.as_str(), |(path, _)| path);
        [base.spec.as_str(), path].into_iter().map(PathBuf::from).find(|p| p.is_dir()).ok_or_else(
            || {
                Error::usage("--branch without a clone to put it into")
                    .found(format!("the base {} is no clone", base.spec))
                    .hint("name the clone with --repo PATH")
            },
        )
    }
}

/// The diffs of a rendering, begun while its later patches are still rendered.
struct RenderedDiffs<'scope, 'env> {
    ahead: Ahead<'scope, 'env>,
    /// What the first patch is rendered onto.
    base: Option<Oid>,
    has_cover: bool,
    changed: BTreeMap<String, Changed>,
    /// Bytes of what is kept in `changed`.
    kept: usize,
}

/// A file that patches change.
#[derive(Default)]
struct Changed {
    /// How many of them do.
    patches: usize,
    /// Its content in the base.
    first: Option<Arc<Vec<u8>>>,
    /// Its content by the last of them.
    last: Option<Arc<Vec<u8>>>,
}

/// The most that is kept of contents for the diffstat of the whole series, in bytes:
/// the rest is read again.
const KEPT: usize = 2 << 20;

impl<'scope, 'env> RenderedDiffs<'scope, 'env> {
    fn new(
        scope: &'scope Scope<'scope, 'env>,
        store: &Store,
        series: &Series,
        base: &Base,
    ) -> Self {
        // One processor is busy with the rendering.
        let ahead = Ahead::new(scope, store.repo().path().to_owned(), Some(base.tree), 1);
        let has_cover = series.cover.is_some();
        RenderedDiffs { ahead, base: None, has_cover, changed: BTreeMap::new(), kept: 0 }
    }

    /// Begins the diff of a patch and, of files that a patch before it changed,
    /// what the diffstat of the whole series needs: mostly no later one does.
    fn begin(&mut self, step: Step<'_>) {
        self.base.get_or_insert(step.before);
        let at_hand = AtHand { old: contents(step.old), new: contents(step.changes) };
        let mut again = Vec::new();
        for path in step.changes.keys() {
            let changed = self.changed.entry(path.clone()).or_default();
            changed.patches += 1;
            let of = |all: &HashMap<Vec<u8>, Arc<Vec<u8>>>| all.get(path.as_bytes()).cloned();
            if changed.patches == 1 {
                let first = of(&at_hand.old).filter(|first| self.kept + first.len() <= KEPT);
                self.kept += first.as_ref().map_or(0, |first| first.len());
                changed.first = first;
            } else if changed.first.is_some() {
                changed.last = of(&at_hand.new);
            }
            if changed.patches == 2 {
                again.push(path.clone());
            }
        }
        self.ahead.begin((Some(step.before), step.after), at_hand);
        self.begin_paths(step.after, again);
    }

    /// Begins what is left once all patches are rendered.
    fn rendered(mut self, rendering: &Rendering) -> Ahead<'scope, 'env> {
        let often = self.changed.iter().filter(|(_, changed)| changed.patches > 2);
        let paths = often.map(|(path, _)| path.clone()).collect();
        self.begin_paths(rendering.tree, paths);
        self.ahead
    }

    fn begin_paths(&mut self, after: Oid, paths: Vec<String>) {
        if !self.has_cover || paths.is_empty() {
            return;
        }
        let mut at_hand = AtHand::default();
        for path in &paths {
            let Some(changed) = self.changed.get(path) else { continue };
            if let (Some(first), Some(last)) = (&changed.first, &changed.last) {
                at_hand.old.insert(path.clone().into_bytes(), Arc::clone(first));
                at_hand.new.insert(path.clone().into_bytes(), Arc::clone(last));
            }
        }
        self.ahead.begin_paths((self.base, after), paths, at_hand);
    }
}

fn contents(files: &Changes) -> HashMap<Vec<u8>, Arc<Vec<u8>>> {
    let there = files.iter().filter_map(|(path, entry)| Some((path, entry.as_ref()?)));
    there.map(|(path, entry)| (path.clone().into_bytes(), entry.text.shared())).collect()
}

/// Writes files, as they come, beside the folder that they are to be in.
fn file_all(folder: &Path, files: Receiver<(String, Vec<u8>)>) -> Result<atomic::Dir> {
    let mut dir = atomic::Dir::begin(folder)?;
    loop {
        let next = match files.try_recv() {
            Ok(next) => Some(next),
            Err(TryRecvError::Disconnected) => break,
            // The disk works while there is nothing to write.
            Err(TryRecvError::Empty) => {
                dir.sync()?;
                files.recv().ok()
            }
        };
        if let Some((name, bytes)) = next {
            dir.write(&name, &bytes)?;
        }
    }
    dir.sync()?;
    Ok(dir)
}

/// A folder that has anything but mails is not ours to replace.
fn check_replaceable(folder: &Path) -> Result<()> {
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).at("read", folder)? {
        let name = entry.at("read", folder)?.file_name();
        let name = name.to_string_lossy();
        let ours = name.ends_with(".patch")
            && name.get(..4).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if !ours {
            return Err(Error::usage(format!("the folder {}", folder.display()))
                .found(format!("it has {name}, which is no mail of a series"))
                .hint("name a folder of its own with --output"));
        }
    }
    Ok(())
}

impl Report {
    fn new(series: &Series, rendering: &Rendering) -> Report {
        let base = &rendering.base;
        Report {
            series: series.name.clone(),
            version: series.version,
            base: BaseReport {
                name: base.name.clone(),
                commit: base.commit.to_string(),
                version: base.version.clone(),
                origin: base.origin.clone(),
            },
            verdict: rendering.state.clone(),
            prerequisites: rendering.below.iter().filter_map(NeededReport::of).collect(),
            patches: rendering
                .patches
                .iter()
                .map(|p| PatchReport {
                    name: p.name.clone(),
                    verdict: p.verdict.clone(),
                    commit: p.commit.map(|c| c.to_string()),
                    tree: p.tree.map(|t| t.to_string()),
                    subject: p.message.lines().next().map(str::to_owned),
                })
                .collect(),
            commit: rendering.head.to_string(),
            tree: rendering.tree.to_string(),
            folder: None,
            mails: Vec::new(),
            branch: None,
        }
    }
}

impl NeededReport {
    fn of(below: &Below) -> Option<NeededReport> {
        let Below::Series { name, version, verdict, commits, .. } = below else { return None };
        Some(NeededReport {
            series: name.clone(),
            version: *version,
            verdict: verdict.clone(),
            commits: commits.iter().map(ToString::to_string).collect(),
        })
    }
}

fn human(w: &mut dyn std::io::Write, r: &Report) -> std::io::Result<()> {
    let word = r.verdict.word();
    writeln!(
        w,
        "{} v{} on {} (Linux {}): {word}",
        r.series, r.version, r.base.name, r.base.version
    )?;
    for n in &r.prerequisites {
        let verdict = n.verdict.to_string().replace('\n', "\n  ");
        writeln!(w, "  on {} v{}, {} patches: {verdict}", n.series, n.version, n.commits.len())?;
    }
    for p in &r.patches {
        match (&p.commit, &p.subject) {
            (Some(commit), Some(subject)) => {
                writeln!(w, "  {}  {subject}", commit.get(..12).unwrap_or(commit))?;
            }
            _ => writeln!(w, "  {}: {}", p.name, p.verdict.to_string().replace('\n', "\n  "))?,
        }
    }
    if let Some(folder) = &r.folder {
        writeln!(w, "  tree    {}", r.tree)?;
        if let Some(branch) = &r.branch {
            writeln!(w, "  branch  {branch}")?;
        }
        writeln!(w, "  mails   {} in {}, proved", r.mails.len(), folder)?;
    }
    Ok(())
}
