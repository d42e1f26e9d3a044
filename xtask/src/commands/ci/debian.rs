//! A history that this tool did not write: the patches that Debian keeps on its
//! kernels, a quilt stack of mails by many hands. They are taken off the base's
//! tree and committed one by one by `git am`; then our mails of these commits are
//! compared with git's, and the stack is imported. None of it is kept here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Stage;
use super::mails::{Small, said};
use super::parity::compare;
use super::proofs::BASE;
use crate::commands::own;
use crate::error::{Error, IoContext as _, Kind, Result};
use crate::gates::checkout::clean_git;
use crate::host::process::Cmd;
use crate::tree::import::archive;
use crate::tree::{self, Known, Mode, Store, TreeView, apt};

/// Fewer that fit show nothing.
const FEWEST: usize = 50;

/// A base, and where the patches on it are: the first that can be had. What is
/// not the base's own version may have patches that do not fit.
struct Stack {
    base: &'static str,
    sources: &'static [(&'static str, &'static str)],
}

const STACKS: &[Stack] = &[
    Stack {
        base: BASE,
        sources: &[("linux-6.12", "bookworm-security"), ("linux", "bookworm-backports")],
    },
    Stack { base: "6.1", sources: &[("linux", "bookworm-security"), ("linux", "bookworm")] },
    Stack { base: "5.10", sources: &[("linux", "bullseye-security"), ("linux", "bullseye")] },
];

/// Compares on the first base, with `--full` on all.
///
/// # Errors
/// When a base or a program cannot be had.
pub(super) fn check(stage: &mut Stage) -> Result<()> {
    let count = if stage.full { STACKS.len() } else { 1 };
    STACKS.iter().take(count).try_for_each(|stack| one(stage, stack))
}

fn one(stage: &mut Stage, stack: &Stack) -> Result<()> {
    let cache = stage.ctx.dirs.cache().to_owned();
    let folder = tempfile::Builder::new()
        .prefix("debian-")
        .tempdir_in(&cache)
        .at("create a folder in", &cache)?;
    let package = download(stage, stack)?;
    let label = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let label = label.trim_end_matches(".debian.tar.xz").to_owned();
    unpack(stage, &package, folder.path())?;
    let patches = folder.path().join("debian/patches");
    let all = listed(&patches)?;
    let work = Work { path: folder.path().join("work") };
    work.fill(stage, stack.base, &patches, &all)?;

    // From the last one on: each stands on those before it.
    let mut fit: Vec<String> = Vec::new();
    for name in all.iter().rev() {
        let patch = patches.join(name).display().to_string();
        if work.git(&["apply", "-R", "--index", &patch]).output()?.ok() {
            fit.push(name.clone());
        }
    }
    fit.reverse();
    let detail = format!("{} of {}", fit.len(), all.len());
    let name = format!("patches of {label} that {} has", stack.base);
    stage.check(name, fit.len() >= FEWEST, detail);
    work.git(&["commit", "--quiet", "-m", "without the patches"]).run()?;
    work.git(&["tag", "start"]).run()?;
    let committed = work.commit_all(&patches, &fit)?;
    let (tip, head) = (work.tree("tip")?, work.tree("HEAD")?);
    let detail = format!("{} commits, {head}, {}'s {tip}", fit.len(), stack.base);
    let detail = if committed.is_empty() { detail } else { committed };
    let held = tip == head;
    stage.check(format!("git am of {label} gives {} again", stack.base), held, detail);

    let repo = work.path.display().to_string();
    compare(stage, "history", &format!("mails of {label}, as git's"), (&repo, "start..HEAD"))?;
    imported(stage, &label, &work, (&patches, &fit), &head)
}

/// The stack becomes a series, which gives git's tree.
fn imported(
    stage: &mut Stage,
    label: &str,
    work: &Work,
    (patches, fit): (&Path, &[String]),
    tree: &str,
) -> Result<()> {
    let series = patches.join("series");
    std::fs::write(&series, fit.join("\n") + "\n").at("write", &series)?;
    let project = work.path.with_extension("project");
    let place = project.join("series");
    std::fs::create_dir_all(&place).at("create folder", &place)?;
    let base = format!("{}@start", work.path.display());
    let tool = |words: &[&str]| -> Result<(i32, Value, String)> {
        let out = Cmd::new(own::EXE)
            .args(["--format", "json", "--project"])
            .arg(&project)
            .args(words)
            .args(["--base", &base])
            // Of its own: a clone that goes away must not stay known.
            .env("XDG_CACHE_HOME", work.path.with_extension("cache"))
            .output()?;
        let json = serde_json::from_slice(&out.stdout).unwrap_or(Value::Null);
        Ok((out.code, json, said(&out)))
    };
    let from = patches.display().to_string();
    let (code, _, why) = tool(&["import-series", "debian", "--from", &from])?;
    let detail = if code == 0 { format!("{} patches", fit.len()) } else { why };
    stage.check(format!("import-series of {label}"), code == 0, detail);
    if code == 0 {
        let (_, json, why) = tool(&["generate-series", "debian"])?;
        let got = json.get(0).and_then(|e| e.get("tree")).and_then(Value::as_str);
        let held = got == Some(tree);
        let detail = if held { tree.to_owned() } else { format!("git has {tree}\n{why}") };
        stage.check(format!("{label} as source gives git's tree"), held, detail);
    }
    Ok(())
}

/// The first of the sources that can be had.
fn download(stage: &Stage, stack: &Stack) -> Result<PathBuf> {
    let ctx = stage.ctx;
    let known = Known::load(&ctx.dirs)?;
    let mut why = Vec::new();
    for (package, suite) in stack.sources {
        match apt::fetch_patches(&ctx.ui, &ctx.dirs, &known, package, suite) {
            Ok(path) => return Ok(path),
            Err(e) if e.kind() == Kind::Interrupted => return Err(e),
            Err(e) => why.push(format!("{package} in {suite}: {e}")),
        }
    }
    let error = Error::host(format!("download Debian's patches on Linux {}", stack.base));
    Err(why.into_iter().fold(error, Error::found).hint(
        "check the network and that the mirror has sources ([debian] mirror in the user's \
         bases.toml names another), or leave the stage out with --skip parity",
    ))
}

fn unpack(stage: &Stage, package: &Path, to: &Path) -> Result<()> {
    let step = stage.ctx.ui.step("unpack the patches");
    tar::Archive::new(archive::open(package, &step)?).unpack(to).at("unpack", package)?;
    step.done("done");
    Ok(())
}

/// The patches of a quilt stack, in order.
fn listed(patches: &Path) -> Result<Vec<String>> {
    let series = patches.join("series");
    let text = std::fs::read_to_string(&series).at("read", &series)?;
    let name = |l: &str| l.split([' ', '\t', '#']).next().unwrap_or_default().to_owned();
    Ok(text.lines().map(name).filter(|n| !n.is_empty()).collect())
}

/// Paths that a patch may name; more than it does no harm.
fn touched(patch: &str) -> impl Iterator<Item = &str> {
    patch.lines().filter_map(|line| {
        let path = ["--- ", "+++ "].iter().find_map(|p| line.strip_prefix(p));
        let path = path.and_then(|p| Some(p.split_once('/')?.1));
        let moved = ["rename from ", "copy from ", "rename to "];
        let path = path.or_else(|| moved.iter().find_map(|p| line.strip_prefix(p)))?;
        path.split('\t').next()
    })
}

/// A repository with those files of the base that the patches touch.
struct Work {
    path: PathBuf,
}

impl Work {
    fn git(&self, args: &[&str]) -> Cmd {
        Small::author(clean_git()).args(args).cwd(&self.path)
    }

    fn tree(&self, rev: &str) -> Result<String> {
        Ok(self.git(&["rev-parse", &format!("{rev}^{{tree}}")]).run()?.text())
    }

    fn fill(&self, stage: &Stage, base: &str, patches: &Path, names: &[String]) -> Result<()> {
        let store = Store::open(&stage.ctx.ui, &stage.ctx.dirs)?;
        let base = tree::resolve(&stage.ctx.ui, &stage.ctx.dirs, &store, base)?;
        // Attributes decide what stands behind @@, the Makefile which version it is.
        let mut paths = BTreeSet::from([".gitattributes".to_owned(), "Makefile".to_owned()]);
        for name in names {
            let file = patches.join(name);
            let text = std::fs::read(&file).at("read", &file)?;
            paths.extend(touched(&String::from_utf8_lossy(&text)).map(str::to_owned));
        }
        let view = TreeView::new(&store, base.tree);
        for path in &paths {
            let Some(blob) = view.read(path)?.filter(|b| b.mode != Mode::Symlink) else { continue };
            let place = self.path.join(path);
            let parent = place.parent().unwrap_or(&self.path);
            std::fs::create_dir_all(parent).at("create folder", parent)?;
            std::fs::write(&place, &blob.bytes).at("write", &place)?;
            if blob.mode == Mode::Executable {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = std::fs::Permissions::from_mode(0o755);
                std::fs::set_permissions(&place, mode).at("set the mode of", &place)?;
            }
        }
        self.git(&["init", "--quiet"]).run()?;
        // What the tree ignores is in it all the same.
        self.git(&["add", "--force", "--all"]).run()?;
        self.git(&["commit", "--quiet", "-m", "the base"]).run()?;
        self.git(&["tag", "tip"]).run().map(|_| ())
    }

    /// Commits each patch, a mail by `git am`; tells of the first that does not go.
    fn commit_all(&self, patches: &Path, names: &[String]) -> Result<String> {
        for name in names {
            let file = patches.join(name);
            let text = std::fs::read(&file).at("read", &file)?;
            let is_mail = String::from_utf8_lossy(&text).lines().any(|l| l.starts_with("From: "));
            let path = file.display().to_string();
            let steps: &[&[&str]] = if is_mail {
                &[&["am", "--quiet", &path]]
            } else {
                &[&["apply", "--index", &path], &["commit", "--quiet", "-m", name]]
            };
            for step in steps {
                let out = self.git(step).output()?;
                if !out.ok() {
                    return Ok(format!("{name}: {}", said(&out)));
                }
            }
        }
        Ok(String::new())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_of_a_patch() {
        let patch = "--- a/net/x.c\t2024-01-01\n+++ linux/net/y.c\n--- /dev/null\n-- \n\
                     rename from net/o.c\n--- no\n";
        let paths: Vec<&str> = super::touched(patch).collect();
        assert_eq!(paths, ["net/x.c", "net/y.c", "dev/null", "net/o.c"]);
    }
}
