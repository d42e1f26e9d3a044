//! The checks of `ci` on mails that the fast tests cannot afford: parity with
//! `git format-patch` over thousands of commits and over the project's own
//! history, and what b4 makes of a rendered series.

use std::path::Path;

use super::proofs::Checkout;
use super::{Stage, Status};
use crate::commands::own;
use crate::error::{IoContext as _, Result};
use crate::host::process::{Cmd, tail};
use crate::host::setup;
use crate::mail::{Mail, mailinfo, mbox};

/// Every byte as git's: over histories made from seeds, and the project's own.
///
/// # Errors
/// When cargo cannot be run.
pub fn parity(stage: &mut Stage) -> Result<()> {
    let project = stage.ctx.dirs.project()?.to_owned();
    let mut runs = vec![("parity", "histories made from seeds")];
    // A source archive has no history.
    if project.join(".git").exists() {
        runs.push(("history", "the project's own history"));
    } else {
        stage.add("the project's own history", Status::Skipped, "no .git here");
    }
    for (test, name) in runs {
        let output = Cmd::new("cargo")
            .args(["test", "--quiet", "--locked", "--test", "mail_parity", "--"])
            .args(["--ignored", "--exact", "--nocapture", test])
            .env("PARITY_REPO", &project)
            .env("PARITY_RANGE", "HEAD")
            .cwd(&project)
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let counted = said.lines().find(|l| l.contains("mails compared"));
        let held = output.ok() && counted.is_some();
        let all = [output.stdout.as_slice(), &output.stderr].concat();
        let detail = counted.map_or_else(|| tail(&all, 40), str::to_owned);
        stage.check(name, held, if held { detail } else { tail(&all, 40) });
    }
    Ok(())
}

/// What b4 makes of the mails in `folder`, which were made of `series` and give
/// `tree`; and of a second version beside them.
///
/// # Errors
/// When a file cannot be read or written.
pub fn b4(
    stage: &mut Stage,
    checkout: &Checkout,
    (series, base): (&str, &str),
    folder: &Path,
    tree: &str,
) -> Result<()> {
    let name = format!("b4 takes {series}");
    let Some(b4) = setup::find_python(&stage.ctx.dirs, setup::B4) else {
        stage.add(name, Status::Skipped, "b4 is not installed");
        return Ok(());
    };
    let work = folder.with_extension("b4");
    std::fs::create_dir_all(&work).at("create folder", &work)?;
    let first = Thread::of(folder, &work.join("v1.mbx"))?;
    let run = |args: &[&str]| {
        Cmd::new(&b4)
            .args(["--no-interactive", "--offline-mode", "--debug"])
            .args(args)
            .env("HOME", &work)
            .env("NO_COLOR", "1")
            .cwd(checkout.path())
            .output()
    };
    let out = work.join("out");
    let (mbx, out_text) = (first.path.display().to_string(), out.display().to_string());
    let taken = run(&["am", "--use-local-mbox", &mbx, "--outdir", &out_text, &first.id])?;
    let said =
        String::from_utf8_lossy(&[taken.stdout.as_slice(), &taken.stderr].concat()).into_owned();
    let finds = [
        format!("Total patches: {}", first.patches),
        "Cover: ".to_owned(),
        format!("using specified base-commit {}", checkout.commit()),
    ];
    let missing: Vec<&String> = finds.iter().filter(|f| !said.contains(f.as_str())).collect();
    let held = taken.ok() && missing.is_empty();
    let detail = match held {
        true => "cover, all patches and base found".to_owned(),
        false => format!("not found: {missing:?}\n{}", tail(said.as_bytes(), 30)),
    };
    stage.check(&name, held, detail);
    let ready = std::fs::read_dir(&out).at("read", &out)?.flatten().map(|e| e.path());
    let ready: Vec<String> = ready
        .filter(|p| p.extension().is_some_and(|e| e == "mbx"))
        .map(|p| p.display().to_string())
        .collect();
    match checkout.am_files(&ready) {
        Ok(got) => {
            let name = format!("git am of what b4 made of {series} gives its tree");
            stage.check(name, got == tree, format!("{got}, printed {tree}"));
        }
        Err(e) => stage.check(format!("git am of what b4 made of {series}"), false, e.to_string()),
    }
    let next = folder.with_extension("v2");
    let next_text = next.display().to_string();
    let made = own::run(
        stage.ctx,
        &[
            "generate-series",
            series,
            "--base",
            base,
            "-v",
            "2",
            "--with-optional",
            "--output",
            &next_text,
        ],
    )?;
    if made.code != 0 {
        stage.check(format!("version 2 of {series}"), false, made.why());
        return Ok(());
    }
    let second = Thread::of(&next, &work.join("v2.mbx"))?;
    let diff = run(&["diff", "--ambox", &mbx, &second.path.display().to_string()])?;
    let said =
        String::from_utf8_lossy(&[diff.stdout.as_slice(), &diff.stderr].concat()).into_owned();
    // range-diff marks a patch that is the same in both with "=".
    let same = said.lines().filter(|l| l.contains(" = ")).count();
    let held = diff.ok() && same == first.patches;
    let detail = if held { format!("{same} patches paired") } else { tail(said.as_bytes(), 30) };
    stage.check(format!("b4 diff of two versions of {series}"), held, detail);
    Ok(())
}

/// The mails of a series in one file.
struct Thread {
    path: std::path::PathBuf,
    /// Message id of the first mail.
    id: String,
    patches: usize,
}

impl Thread {
    fn of(folder: &Path, path: &Path) -> Result<Thread> {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).at("read", folder)?.flatten().map(|e| e.path()).collect();
        files.retain(|f| f.extension().is_some_and(|e| e == "patch"));
        files.sort();
        let mut mails = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let bytes = std::fs::read(file).at("read", file)?;
            let file_name = file.display().to_string();
            mails.push(Mail { file_name, bytes, number, warnings: Vec::new() });
        }
        let first = mails.first().map(|m| mailinfo::parse(&m.bytes, mailinfo::Options::default()));
        let id = first.transpose()?.and_then(|m| m.message_id).unwrap_or_default();
        crate::host::atomic::write(path, &mbox(&mails))?;
        let patches = files.iter().filter(|f| !f.ends_with("0000-cover-letter.patch")).count();
        Ok(Thread { path: path.to_owned(), id, patches })
    }
}
