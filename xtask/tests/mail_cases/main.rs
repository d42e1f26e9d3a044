//! The cases that break other tools, each against the real `git format-patch`
//! and `git am`.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used
)]

mod changes;
#[path = "../mail/git.rs"]
#[allow(dead_code)]
mod git;
mod messages;
mod series;

use git::{Repo, difference};
use git2::Oid;
use xtask::error::Kind;
use xtask::mail::{self, Changes, Cover, Faults, Mail, MailInput, Person, Transfer};

/// What `git am` made of mails.
#[derive(Debug, PartialEq, Eq)]
struct Am {
    tree: Oid,
    author: String,
    message: String,
}

/// Applies the patches on `base` in a worktree of its own; gives the last commit.
fn am(repo: &Repo, base: Oid, mails: &[Mail], options: &[&str]) -> Am {
    let folder = repo.beside("mails");
    std::fs::create_dir(&folder).unwrap();
    let mut files = Vec::new();
    for mail in mails.iter().filter(|m| m.number > 0) {
        let file = folder.join(&mail.file_name);
        std::fs::write(&file, &mail.bytes).unwrap();
        files.push(file.to_str().unwrap().to_owned());
    }
    let tree = repo.beside("am");
    let tree_text = tree.to_str().unwrap();
    repo.git(&["worktree", "add", "-q", "--detach", tree_text, &base.to_string()]);
    let mut args = vec!["-C", tree_text, "am", "-q"];
    args.extend(options);
    args.extend(files.iter().map(String::as_str));
    repo.git(&args);
    let text = |format: &str| {
        let out = repo.git(&["-C", tree_text, "log", "-1", &format!("--format={format}")]);
        String::from_utf8(out).unwrap()
    };
    let am = Am {
        tree: text("%T").trim().parse().unwrap(),
        author: text("%an <%ae>").trim().to_owned(),
        message: text("%B").trim_end().to_owned(),
    };
    repo.git(&["worktree", "remove", "--force", tree_text]);
    std::fs::remove_dir_all(folder).unwrap();
    am
}

fn tree(repo: &Repo, commit: Oid) -> Oid {
    repo.open().find_commit(commit).unwrap().tree_id()
}

/// As `git format-patch` would write one commit.
fn raw(commits: &[Oid]) -> MailInput<'_> {
    let mut input = MailInput::new(commits);
    input.thread = None;
    input.transfer = Transfer::Raw;
    input
}

/// Writes and proves the mails of an input.
fn write(repo: &Repo, input: &MailInput<'_>) -> Vec<Mail> {
    let opened = repo.open();
    let mails = mail::write_series(&opened, input).unwrap_or_else(|e| panic!("{e}"));
    mail::prove(&opened, input, &mails).unwrap_or_else(|e| panic!("{e}"));
    mails
}

/// A repository with one file in one commit.
fn with_file(content: impl AsRef<[u8]>) -> (Repo, Oid) {
    let repo = Repo::new();
    repo.write("file", content);
    let base = repo.commit("base");
    (repo, base)
}

/// A commit with a plain change and this message.
fn with_message(message: &str) -> (Repo, Oid, Oid) {
    let (repo, base) = with_file("a\n");
    repo.write("file", "b\n");
    let commit = repo.commit(message);
    (repo, base, commit)
}

fn text(mail: &Mail) -> String {
    String::from_utf8(mail.bytes.clone()).unwrap()
}

fn assert_as_git(repo: &Repo, commits: &[Oid]) {
    let ours = write(repo, &raw(commits));
    let count = format!("-{}", commits.len());
    let gits = repo.format_patch("git", &[&count]);
    assert_eq!(ours.len(), gits.len());
    for (ours, (name, gits)) in ours.iter().zip(&gits) {
        assert_eq!(&ours.file_name, name);
        assert!(ours.bytes == *gits, "{name} {}", difference(&ours.bytes, gits));
    }
}
