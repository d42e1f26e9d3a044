//! The stages of `ci` that judge and mail every series: the gates, and the way
//! through a mail server and b4 to the rendered tree.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::mail_server::{Arrived, MailServer, mbox};
use super::proofs::{BASE, entry};
use super::{Stage, Status, prerequisites};
use crate::commands::own;
use crate::error::{Error, IoContext as _, Result};
use crate::gates::checkout::{Checkout, clean_git};
use crate::gates::diff::changes;
use crate::gates::maintainers::{folder_in, sections_of};
use crate::host::process::{Cmd, Output};
use crate::host::setup;
use crate::scripts::Scripts;
use crate::tree::{self, Base, Oid, Store};

/// How many paths of the base the sections of MAINTAINERS are compared for.
const PATHS: usize = 25;
/// Who sends, so that nothing can go to a real person by mistake.
const SENDER: &str = "CI <ci@example.org>";

/// Every gate on every series; with `--full` those that compile, too.
///
/// # Errors
/// When a series cannot be listed.
pub fn gates(stage: &mut Stage) -> Result<()> {
    let speed: &[&str] = if stage.full { &[] } else { &["--fast"] };
    for series in crate::series::list(stage.ctx.dirs.project()?)? {
        let args = [&["check", series.as_str(), "--base", BASE][..], speed].concat();
        let ended = own::run(stage.ctx, &args)?;
        let rows = ended.json.get("rows").and_then(Value::as_array).cloned().unwrap_or_default();
        stage.check(format!("check {series} on {BASE} runs"), !rows.is_empty(), ended.why());
        for row in &rows {
            let word = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
            let name = format!("{series}: {} of {}", word("gate"), word("subject"));
            let status = match word("status") {
                "passed" => Status::Passed,
                // A gate that could not run is not green here either.
                _ => Status::Failed,
            };
            let findings = row.get("findings").map(Value::to_string).unwrap_or_default();
            let detail = format!("{} {findings}", word("detail"));
            if status == Status::Passed {
                stage.record(&name, status, word("detail"));
            } else {
                stage.add(name, status, detail);
            }
        }
    }
    sections(stage)
}

/// Our reading of MAINTAINERS gives the sections that the base's own script gives.
fn sections(stage: &mut Stage) -> Result<()> {
    let store = Store::open(&stage.ctx.ui, &stage.ctx.dirs)?;
    let base = tree::resolve(&stage.ctx.ui, &stage.ctx.dirs, &store, BASE)?;
    let all = sections_of(store.repo(), base.tree)?;
    let top = store.repo().find_tree(base.tree)?;
    let scripts = Scripts::prepare(&stage.ctx.ui, &stage.ctx.dirs, store.repo(), base.tree)?;
    let mut wrong = Vec::new();
    for path in sample(&store, &base)? {
        let mut ours: Vec<&str> = all
            .iter()
            .filter(|s| s.covers(&path, &|p| folder_in(&top, p)))
            .map(|s| s.title.as_str())
            .collect();
        let place = scripts.root().join("sample.patch");
        let diff =
            format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n");
        std::fs::write(&place, diff).at("write", &place)?;
        let out = scripts
            .command("perl", "scripts/get_maintainer.pl")?
            .args(["--nogit", "--nogit-fallback", "--no-email", "--subsystem"])
            .args(["--no-keywords", "sample.patch"])
            .run()?;
        let text = out.text();
        // It lists mailing lists whatever it is asked; a title has no address.
        let title = |l: &&str| !l.is_empty() && !l.contains('@');
        let mut theirs: Vec<&str> = text.lines().filter(title).collect();
        ours.sort_unstable();
        theirs.sort_unstable();
        if ours != theirs {
            wrong.push(format!("{path}: {ours:?}, the script says {theirs:?}"));
        }
    }
    let name = format!("sections of MAINTAINERS for {PATHS} paths are get_maintainer.pl's");
    stage.check(name, wrong.is_empty(), wrong.join("\n"));
    Ok(())
}

/// Paths from all over the base, the same each time.
fn sample(store: &Store, base: &Base) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let top = store.repo().find_tree(base.tree)?;
    top.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() == Some(git2::ObjectType::Blob) {
            all.push(format!("{folder}{}", String::from_utf8_lossy(entry.name_bytes())));
        }
        git2::TreeWalkResult::Ok
    })?;
    let step = (all.len() / PATHS).max(1);
    Ok(all.into_iter().skip(step / 2).step_by(step).take(PATHS).collect())
}

/// Every series is sent to a mail server here; what arrives, taken by b4, gives
/// the rendered tree.
///
/// # Errors
/// When server or b4 cannot be had.
pub fn mails(stage: &mut Stage) -> Result<()> {
    let cache = stage.ctx.dirs.cache().to_owned();
    let folder = tempfile::Builder::new()
        .prefix("mails-")
        .tempdir_in(&cache)
        .at("create a folder in", &cache)?;
    let post = Post::open(stage, folder.path())?;
    for series in crate::series::list(stage.ctx.dirs.project()?)? {
        post.series(stage, &series)?;
    }
    post.versions(stage)?;
    prerequisites::check(&post, stage)
}

/// Server, b4, and a folder for both.
pub(super) struct Post {
    pub server: MailServer,
    b4: PathBuf,
    pub folder: PathBuf,
    pub config: PathBuf,
}

impl Post {
    fn open(stage: &Stage, folder: &Path) -> Result<Post> {
        let b4 = setup::ensure_python(&stage.ctx.ui, &stage.ctx.dirs, setup::B4)?;
        let server = MailServer::start(stage.ctx, folder)?;
        let config = folder.join("gitconfig");
        std::fs::write(&config, server.git_config()).at("write", &config)?;
        Ok(Post { server, b4, folder: folder.to_owned(), config })
    }

    /// `cargo xtask send`, with a git configuration that knows only our server.
    fn send(&self, stage: &Stage, args: &[&str]) -> Result<Output> {
        // A folder without a configuration of its own.
        let plain = self.folder.display().to_string();
        Cmd::new(own::EXE)
            .arg("--project")
            .arg(stage.ctx.dirs.project()?)
            .arg("send")
            .args(args)
            .args(["--config-from", &plain])
            .env("GIT_CONFIG_GLOBAL", &self.config)
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
    }

    /// The interpreter that b4 runs in.
    pub fn python(&self) -> PathBuf {
        self.b4.with_file_name("python")
    }

    /// b4 without network and without the user's settings.
    fn b4(&self, work: &Path, args: &[&str]) -> Result<Output> {
        self.b4_asking(work, &[&["--offline-mode"], args].concat())
    }

    /// b4 that may ask an archive.
    pub fn b4_asking(&self, work: &Path, args: &[&str]) -> Result<Output> {
        Cmd::new(&self.b4)
            .args(["--no-interactive", "--no-stdin"])
            .args(["--config", "b4.attestation-policy=off"])
            .args(args)
            .cwd(work)
            .env("GIT_CONFIG_GLOBAL", &self.config)
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("XDG_CACHE_HOME", self.folder.join("b4-cache"))
            .env("XDG_DATA_HOME", self.folder.join("b4-data"))
            .output()
    }

    /// One real series: sent to ourselves, fetched by b4, applied by git.
    fn series(&self, stage: &mut Stage, series: &str) -> Result<()> {
        let output = self.folder.join("generated").join(series).display().to_string();
        let args = ["generate-series", series, "--base", BASE, "--output", &output];
        let made = own::run(stage.ctx, &args)?;
        let word = |key: &str| entry(&made).and_then(|e| e.get(key)).and_then(Value::as_str);
        let (Some(tree), 0) = (word("tree"), made.code) else {
            stage.check(format!("generate {series}"), false, made.why());
            return Ok(());
        };
        let names = entry(&made).and_then(|e| e.get("mails")).and_then(Value::as_array);
        let count = names.map_or(0, Vec::len);
        let args = [series, "--base", BASE, "--reflect", "--from", SENDER, "--yes"];
        let out = self.send(stage, &args)?;
        let arrived = self.server.take()?;
        let to_us = arrived.iter().all(|a| a.to == ["ci@example.org"]);
        let detail = format!("{} of {count} mails arrived", arrived.len());
        let held = out.ok() && arrived.len() == count && to_us;
        let detail = if held { detail } else { format!("{detail}\n{}", said(&out)) };
        stage.check(format!("send --reflect {series}"), held, detail);
        if !held {
            return Ok(());
        }
        let store = Store::open(&stage.ctx.ui, &stage.ctx.dirs)?;
        let base = tree::resolve(&stage.ctx.ui, &stage.ctx.dirs, &store, BASE)?;
        let after = Oid::from_str(tree)?;
        let touched = changes(store.repo(), base.tree, after)?;
        let paths = touched.iter().flat_map(|c| [c.path.as_str(), c.old_path.as_str()]);
        let work = self.folder.join("work").join(series);
        let checkout = Checkout::of(store.repo(), base.commit, paths, &work)?;
        self.taken(stage, series, &arrived, &checkout, &base.commit.to_string(), tree)
    }

    /// `b4 am` finds all of it, and `git am` and `b4 shazam` give the tree.
    fn taken(
        &self,
        stage: &mut Stage,
        name: &str,
        arrived: &[Arrived],
        checkout: &Checkout,
        base: &str,
        tree: &str,
    ) -> Result<()> {
        let archive = self.folder.join(format!("{name}.mbox"));
        std::fs::write(&archive, mbox(arrived)).at("write", &archive)?;
        let archive = archive.display().to_string();
        let taken = self.folder.join("taken").join(name);
        let taken_to = taken.display().to_string();
        let out = self.b4(checkout.path(), &["--debug", "am", "-m", &archive, "-o", &taken_to])?;
        let talk = said(&out);
        // With a cover letter one mail is no patch.
        let cover = talk.contains("\nCover: ");
        let patches = arrived.len() - usize::from(cover);
        let found = [
            ("all patches", talk.contains(&format!("Total patches: {patches}\n"))),
            ("the base", talk.contains(base)),
            ("the cover letter", cover || arrived.len() == 1),
        ];
        for (what, held) in found {
            let detail = if held { String::new() } else { talk.clone() };
            stage.check(format!("b4 am of {name} finds {what}"), out.ok() && held, detail);
        }
        let ready = mbx(&taken)?;
        let am = checkout.git(&["am", "--quiet", &ready.display().to_string()]).output()?;
        let got = checkout.git(&["rev-parse", "HEAD^{tree}"]).run()?.text();
        let detail = if am.ok() { format!("{got}, rendered {tree}") } else { said(&am) };
        stage.check(format!("git am of what b4 made of {name}"), am.ok() && got == tree, detail);
        checkout.git(&["checkout", "--quiet", base]).run()?;
        let out = self.b4(checkout.path(), &["shazam", "-m", &archive])?;
        let got = checkout.git(&["rev-parse", "HEAD^{tree}"]).run()?.text();
        let detail = if out.ok() { format!("{got}, rendered {tree}") } else { said(&out) };
        stage.check(format!("b4 shazam of {name}"), out.ok() && got == tree, detail);
        Ok(())
    }

    /// Two versions of a small series, sent in full: to everyone who was shown,
    /// and b4 compares them.
    fn versions(&self, stage: &mut Stage) -> Result<()> {
        let small = Small::new(&self.folder.join("small"))?;
        let mut archives = Vec::new();
        for version in ["1", "2"] {
            let tree = small.version(version)?;
            let repo = small.path.display().to_string();
            let cover = small.cover.display().to_string();
            let common = ["--range", "base..HEAD", "--repo", &repo, "--cover-letter", &cover];
            let who = ["--no-maintainers", "--to", "Dora <dora@example.org>", "--list", "net-next"];
            let track =
                ["--change-id", "20241129-two-lines-431ffd03aa5e", "-v", version, "--force"];
            let args = [&common[..], &who[..], &track[..]].concat();
            let dry = self.send(stage, &[&args[..], &["--dry-run"]].concat())?;
            let nothing = self.server.take()?.is_empty();
            stage.check(
                format!("send --dry-run of v{version}"),
                dry.ok() && nothing,
                said_if(&dry),
            );
            let out = self.send(stage, &[&args[..], &["--yes"]].concat())?;
            let arrived = self.server.take()?;
            let want = ["dora@example.org", "bjorn@example.org"];
            let all = arrived.len() == 3 && arrived.iter().all(|a| a.to == want);
            let to: Vec<&Vec<String>> = arrived.iter().map(|a| &a.to).collect();
            let detail = format!("{} mails to {to:?}", arrived.len());
            let held = out.ok() && all;
            let detail = if held { detail } else { format!("{detail}\n{}", said(&out)) };
            stage.check(format!("v{version} goes to those who were shown"), held, detail);
            if !held {
                return Ok(());
            }
            let base = small.git(&["rev-parse", "base"])?;
            let checkout = small.checkout(&self.folder.join("work").join(version))?;
            let name = format!("v{version}");
            self.taken(stage, &name, &arrived, &checkout, &base, &tree)?;
            archives.push(self.folder.join(format!("{name}.mbox")).display().to_string());
        }
        let [old, new] = archives.as_slice() else { return Ok(()) };
        let out = self.b4(&small.path, &["diff", "-m", old, new])?;
        let talk = said(&out);
        // The first patch is the same, the second is not.
        let same = talk.contains(" = ") && talk.contains("net: the first line");
        let differs = talk.contains("a third word");
        let held = out.ok() && same && differs;
        let detail = if held { String::new() } else { said(&out) };
        stage.check("b4 diff between v1 and v2", held, detail);
        Ok(())
    }
}

/// A repository of our own with two versions of a series of two.
pub(super) struct Small {
    path: PathBuf,
    cover: PathBuf,
}

impl Small {
    fn new(path: &Path) -> Result<Small> {
        let small = Small { path: path.to_owned(), cover: path.with_extension("cover") };
        std::fs::create_dir_all(path).at("create folder", path)?;
        std::fs::write(&small.cover, "net: two lines\n\nBjörn needs two lines.\n")
            .at("write", &small.cover)?;
        small.git(&["init", "--quiet"])?;
        small.commit("one\n", "base\n")?;
        small.git(&["tag", "base"])?;
        Ok(small)
    }

    /// git in the name of someone.
    pub fn author(git: Cmd) -> Cmd {
        ["AUTHOR", "COMMITTER"].iter().fold(git, |cmd, role| {
            cmd.env(format!("GIT_{role}_NAME"), "Jane Hacker")
                .env(format!("GIT_{role}_EMAIL"), "jane@example.org")
        })
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        Ok(Small::author(clean_git()).args(args).cwd(&self.path).run()?.text())
    }

    fn commit(&self, text: &str, message: &str) -> Result<()> {
        let file = self.path.join("a.c");
        std::fs::write(&file, text).at("write", &file)?;
        self.git(&["add", "."])?;
        self.git(&["commit", "--quiet", "-m", message]).map(|_| ())
    }

    /// The commits of a version, on top of the base; gives their tree.
    fn version(&self, version: &str) -> Result<String> {
        self.git(&["reset", "--quiet", "--hard", "base"])?;
        let by = "Suggested-by: Björn Töpel <bjorn@example.org>\n\
                  Signed-off-by: Jane Hacker <jane@example.org>\n";
        let line = if version == "1" { "two words" } else { "two words and a third word" };
        self.commit("zero\none\n", &format!("net: the first line\n\nIt was missing.\n\n{by}"))?;
        // Long enough that range-diff takes both versions for the same patch.
        let more: String = (2..20).map(|i| format!("line {i}\n")).collect();
        let text = format!("zero\none\n{more}{line}\n");
        self.commit(&text, &format!("net: the last line\n\nIt was missing.\n\n{by}"))?;
        self.git(&["rev-parse", "HEAD^{tree}"])
    }

    fn checkout(&self, place: &Path) -> Result<Checkout> {
        let repo = git2::Repository::open(&self.path)?;
        let base = repo.revparse_single("base")?.id();
        Checkout::of(&repo, base, ["a.c"].into_iter(), place)
    }
}

/// The mbox that `b4 am` made.
fn mbx(folder: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).at("read", folder)?;
    let mut found = entries.flatten().map(|e| e.path());
    found
        .find(|p| p.extension().is_some_and(|e| e == "mbx"))
        .ok_or_else(|| Error::check("b4 am").found(format!("no .mbx in {}", folder.display())))
}

pub(super) fn said(out: &Output) -> String {
    let both = [out.stdout.as_slice(), &out.stderr].concat();
    format!("code {}\n{}", out.code, String::from_utf8_lossy(&both))
}

/// What was said, where it failed.
fn said_if(out: &Output) -> String {
    if out.ok() { String::new() } else { said(out) }
}
