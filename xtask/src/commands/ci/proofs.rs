//! The stages of `ci` that need a kernel's source: verdicts on every base, and
//! `git am` of what was mailed.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Stage;
use crate::commands::matrix::expected::{Expected, FILE};
use crate::commands::own::{self, Ended};
use crate::error::{Error, IoContext as _, Result};
use crate::host::process::Cmd;
use crate::tree::{self, Base, Store};

/// The base that kernels are built of.
pub(super) const BASE: &str = "6.12";

/// The only entry in the JSON of `generate-series` of one series.
pub(super) fn entry(ended: &Ended) -> Option<&Value> {
    match &ended.json {
        Value::Array(all) => all.first(),
        other => Some(other).filter(|o| o.get("verdict").is_some()),
    }
}

/// Every series on every base: the verdict is the expected one, and where it
/// applies the mails give the rendered tree.
///
/// # Errors
/// When the list of expected verdicts cannot be read.
pub fn verdicts(stage: &mut Stage) -> Result<()> {
    let expected = Expected::load(stage.ctx.dirs.project()?)?;
    let known = crate::series::list(stage.ctx.dirs.project()?)?;
    for name in &known {
        let listed = !expected.bases(name).is_empty();
        stage.check(format!("{name} has its verdicts listed"), listed, FILE);
    }
    for (series, bases) in &expected.0 {
        for (base, verdict) in bases {
            let ended = own::run(stage.ctx, &["generate-series", series, "--base", base])?;
            let found = entry(&ended).and_then(|e| e.get("verdict")).and_then(Value::as_str);
            let held = found == Some(verdict);
            let detail = if held { verdict.clone() } else { told(&ended, verdict, found) };
            stage.check(format!("{series} on {base}"), held, detail);
        }
    }
    Ok(())
}

fn told(ended: &Ended, verdict: &str, found: Option<&str>) -> String {
    let json = entry(ended).map(|e| e.to_string().chars().take(2000).collect::<String>());
    format!(
        "expected {verdict}, found {}\n{}",
        found.unwrap_or("no verdict"),
        json.unwrap_or_else(|| ended.why())
    )
}

/// `git am` of the mails, in a real and whole checkout of the base, gives the tree
/// that was printed.
///
/// # Errors
/// When the checkout cannot be made.
pub fn git_am(stage: &mut Stage) -> Result<()> {
    let project = stage.ctx.dirs.project()?.to_owned();
    let store = Store::open(&stage.ctx.ui, &stage.ctx.dirs)?;
    let base = tree::resolve(&stage.ctx.ui, &stage.ctx.dirs, &store, BASE)?;
    let folder = tempfile::Builder::new()
        .prefix("git-am-")
        .tempdir_in(stage.ctx.dirs.cache())
        .at("create a folder in", stage.ctx.dirs.cache())?;
    let checkout = Checkout::of(&store, &base, &folder.path().join("tree"))?;
    for series in crate::series::list(&project)? {
        let out = folder.path().join("mails").join(&series);
        let output = out.display().to_string();
        let args = ["generate-series", &series, "--base", BASE, "--with-optional", "--output"];
        let made = own::run(stage.ctx, &[&args[..], &[&output]].concat())?;
        let want = entry(&made).and_then(|e| e.get("tree")).and_then(Value::as_str);
        let name = format!("git am of {series} on {BASE} gives its tree");
        match (want, made.code) {
            (Some(want), 0) => match checkout.am(&out) {
                Ok(got) => stage.check(name, got == want, format!("{got}, printed {want}")),
                Err(e) => stage.check(name, false, e.to_string()),
            },
            _ => stage.check(name, false, made.why()),
        }
    }
    Ok(())
}

/// A checkout of a base that is thrown away at the end.
struct Checkout {
    path: PathBuf,
    commit: String,
}

impl Checkout {
    fn of(store: &Store, base: &Base, path: &Path) -> Result<Checkout> {
        Cmd::new("git")
            .args(["clone", "--quiet", "--shared", "--no-checkout"])
            .arg(store.path())
            .arg(path)
            .run()?;
        let checkout = Checkout { path: path.to_owned(), commit: base.commit.to_string() };
        checkout.git(&["checkout", "--quiet", "--detach", &checkout.commit])?;
        Ok(checkout)
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        let cmd = Cmd::new("git")
            .arg("-C")
            .arg(&self.path)
            .args(["-c", "user.name=ci", "-c", "user.email=ci@localhost"])
            .args(args);
        Ok(cmd.run()?.text())
    }

    /// Applies the patch mails of a folder and gives the tree.
    fn am(&self, folder: &Path) -> Result<String> {
        let mut mails: Vec<String> = std::fs::read_dir(folder)
            .at("read", folder)?
            .flatten()
            .map(|e| e.path().display().to_string())
            .filter(|p| p.ends_with(".patch") && !p.ends_with("/0000-cover-letter.patch"))
            .collect();
        mails.sort();
        if mails.is_empty() {
            return Err(Error::check("git am").found(format!("no mails in {}", folder.display())));
        }
        self.git(&["reset", "--quiet", "--hard", &self.commit])?;
        let mut args = vec!["am", "--quiet"];
        args.extend(mails.iter().map(String::as_str));
        self.git(&args)?;
        self.git(&["rev-parse", "HEAD^{tree}"])
    }
}
