//! Our mails against those of `git format-patch`, byte for byte, over histories
//! made from seeds; and each mail read back and applied.
//!
//! The sample is part of every test run. The whole (5,000 commits and more) is
//! run by `cargo test --test mail_parity -- --ignored parity`; a history that is
//! there already by
//! `PARITY_REPO=/path PARITY_RANGE=v1..v2 cargo test --test mail_parity -- --ignored history`.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used
)]

#[path = "mail/generate.rs"]
mod generate;
#[path = "mail/git.rs"]
#[allow(dead_code)]
mod git;

use generate::History;
use git::{Repo, difference};
use xtask::host::tools::git_is_at_least;
use xtask::mail::{self, Cover, Faults, MailInput, Person, Prefix, SIGNATURE, Transfer};

/// How one part of a history is formatted, by us and by git.
struct Way {
    args: &'static [&'static str],
    set: fn(&mut MailInput<'_>),
}

const WAYS: [Way; 5] = [
    Way { args: &[], set: |_| {} },
    Way {
        args: &["--subject-prefix=RFC/WIP PATCH", "--from=Sen Der <s@example.org>"],
        set: |i| {
            i.prefix.word = "RFC/WIP PATCH".into();
            i.from = Some(Person::new("Sen Der", "s@example.org"));
        },
    },
    Way {
        args: &["--subject-prefix=PATCH bpf-next", "-v3", "--numbered"],
        set: |i| {
            i.prefix = Prefix { list: Some("bpf-next".into()), version: 3, ..Prefix::default() };
            i.number_single = true;
        },
    },
    Way {
        args: &["--rfc", "--cover-letter", "--from=C O Mitter <c@example.org>", "--signature=x"],
        set: |i| {
            i.prefix.rfc = true;
            i.from = Some(Person::new("C O Mitter", "c@example.org"));
            i.signature = "x".into();
            i.cover = Some(Cover {
                subject: "*** SUBJECT HERE ***".into(),
                body: "*** BLURB HERE ***".into(),
            });
        },
    },
    Way {
        args: &["--start-number=7", "--to=A B <a@b>", "--to=l@x", "--cc=c@d", "--signature="],
        set: |i| {
            i.start_number = 7;
            i.to = vec![Person::new("A B", "a@b"), Person::new("", "l@x")];
            i.cc = vec![Person::new("", "c@d")];
            i.signature.clear();
        },
    },
];

/// Formats a history in parts and compares; gives the number of mails compared.
fn compare(seed: u64, count: usize) -> usize {
    let repo = Repo::new();
    repo.import(&History::new(seed).stream(count));
    let opened = repo.open();
    let ids = String::from_utf8(repo.git(&["rev-list", "--reverse", "main"])).unwrap();
    let ids: Vec<git2::Oid> = ids.lines().map(|l| l.parse().unwrap()).collect();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut failures = Vec::new();
    let mut compared = 0;
    let mut at = 1;
    while at < ids.len() {
        let end = (at + rng.usize(1..60)).min(ids.len());
        let way = &WAYS[rng.usize(0..WAYS.len())];
        let part: Vec<git2::Oid> = ids[at..end].to_vec();
        compared += compare_part(&repo, &opened, &part, way, &mut failures);
        at = end;
    }
    let some: String = failures.iter().take(4).map(|f| format!("{f}\n")).collect();
    assert!(failures.is_empty(), "{} of {compared} differ\n{some}", failures.len());
    compared
}

fn compare_part(
    repo: &Repo,
    opened: &git2::Repository,
    part: &[git2::Oid],
    way: &Way,
    failures: &mut Vec<String>,
) -> usize {
    let range = format!("{}^..{}", part[0], part[part.len() - 1]);
    let mut args = way.args.to_vec();
    args.push(&range);
    let gits = repo.format_patch("git", &args);
    let mut input = MailInput::new(part);
    input.thread = None;
    input.faults = Faults::Keep;
    input.transfer = Transfer::Raw;
    input.version_in_names = true;
    (way.set)(&mut input);
    let ours = mail::write_series(opened, &input).unwrap();
    assert_eq!(ours.len(), gits.len(), "{range}");
    for (ours, (name, gits)) in ours.iter().zip(&gits) {
        assert_eq!(&ours.file_name, name, "{range}");
        let (ours, gits) = match ours.number {
            // The cover's date is the day's with git.
            0 => (without_date(&ours.bytes), without_date(gits)),
            _ => (ours.bytes.clone(), gits.clone()),
        };
        if ours != gits {
            failures.push(format!("{range} {name} {}", difference(&ours, &gits)));
        }
    }
    // Read back: plain, and as it would travel.
    if let Err(e) = mail::prove(opened, &input, &ours) {
        failures.push(format!("{range} {e}"));
    }
    input.transfer = Transfer::Mail;
    let mails = mail::write_series(opened, &input).unwrap();
    if let Err(e) = mail::prove(opened, &input, &mails) {
        failures.push(format!("{range} on its way: {e}"));
    }
    gits.len()
}

fn without_date(mail: &[u8]) -> Vec<u8> {
    let mut lines = mail.split_inclusive(|&c| c == b'\n').collect::<Vec<_>>();
    if let Some(at) = lines.iter().position(|l| l.starts_with(b"Date: ")) {
        lines.remove(at);
    }
    lines.concat()
}

#[test]
fn sample() {
    // Before 2.44 git left out a last line without line break.
    if !git_is_at_least(2, 44).unwrap() {
        eprintln!("not compared: this git estimates the similarity of files otherwise");
        return;
    }
    let compared: usize = [1, 2].into_iter().map(|seed| compare(seed, 150)).sum();
    assert!(compared > 200, "{compared}");
}

#[test]
#[ignore = "takes minutes; the sample is run always"]
fn parity() {
    let compared: usize = (100..125).map(|seed| compare(seed, 300)).sum();
    println!("{compared} mails compared");
    assert!(compared > 5_000, "{compared}");
}

#[test]
#[ignore = "needs a repository in PARITY_REPO and a range in PARITY_RANGE"]
fn history() {
    let (repo, range) = match (std::env::var("PARITY_REPO"), std::env::var("PARITY_RANGE")) {
        (Ok(repo), Ok(range)) => (repo, range),
        _ => panic!("set PARITY_REPO to a repository and PARITY_RANGE to a range in it"),
    };
    let home = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-C", &repo, "-c", "core.abbrev=12"]).args(args);
        git::clean(&mut command, home.path());
        let out = command.output().unwrap();
        assert!(out.status.success(), "{args:?} {}", String::from_utf8_lossy(&out.stderr));
        out.stdout
    };
    let ids = String::from_utf8(git(&["rev-list", "--reverse", "--no-merges", &range])).unwrap();
    let opened = git2::Repository::open(&repo).unwrap();
    let probe = ["--attr-source=HEAD", "rev-parse", "HEAD"];
    let knows_attr_source = std::process::Command::new("git")
        .args(probe)
        .current_dir(&repo)
        .output()
        .is_ok_and(|out| out.status.success());
    let folder = home.path().join("git");
    let folder_text = folder.to_str().unwrap();
    let (mut compared, mut failures, mut skipped) = (0, Vec::new(), 0);
    for id in ids.lines() {
        // The attributes are those of the tree that the commit stands on.
        let Ok(parent) = opened.find_commit(id.parse().unwrap()).unwrap().parent_id(0) else {
            skipped += 1;
            continue;
        };
        let source = format!("--attr-source={parent}");
        let signature = format!("--signature={SIGNATURE}");
        let format = ["format-patch", "-q", "-1", &signature, "-o", folder_text, id];
        if knows_attr_source {
            git(&[&[source.as_str()], &format[..]].concat());
        } else {
            // Before 2.41 git reads the attributes of the worktree only.
            let tree = opened.find_commit(parent).unwrap().tree().unwrap();
            if tree.get_name(".gitattributes").is_some() {
                skipped += 1;
                continue;
            }
            git(&format);
        }
        let gits = git::read_all(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        let part = [id.parse().unwrap()];
        let mut input = MailInput::new(&part);
        input.thread = None;
        input.faults = Faults::Keep;
        input.transfer = Transfer::Raw;
        let ours = match mail::write_series(&opened, &input) {
            Ok(ours) => ours,
            Err(e) if e.to_string().contains("it changes nothing") => {
                skipped += 1;
                continue;
            }
            Err(e) => panic!("{e}"),
        };
        let (ours, (name, gits)) = (&ours[0], &gits[0]);
        assert_eq!(&ours.file_name, name);
        if ours.bytes != *gits {
            failures.push(format!("{id} {name} {}", difference(&ours.bytes, gits)));
        }
        if let Err(e) = mail::prove(&opened, &input, std::slice::from_ref(ours)) {
            failures.push(format!("{id} {e}"));
        }
        compared += 1;
    }
    println!("{compared} mails compared, {skipped} commits without a diff skipped");
    let some: String = failures.iter().take(20).map(|f| format!("{f}\n")).collect();
    assert!(failures.is_empty(), "{} of {compared} differ\n{some}", failures.len());
}
