//! Commits that do everything to files, mailed by git, and imported: the source
//! must render to the trees of the commits, which are those that `git am` makes.
//!
//! The sample is part of every test run; more by
//! `cargo test --test import_property -- --ignored`.

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

use std::fs;

use generate::History;
use git::Repo;
use git2::Oid;
use xtask::host::ui::{Format, Ui};
use xtask::import::letter::Letter;
use xtask::import::{self, Wish, mails};
use xtask::mail::{self, Faults, MailInput};
use xtask::series::draft::Draft;
use xtask::tree::{Base, Store};

/// A store that reads the objects of a repository.
fn store(repo: &Repo, ui: &Ui) -> Store {
    let path = repo.beside("store.git");
    drop(Store::open_at(ui, &path).unwrap());
    let objects = repo.path().join(".git/objects");
    fs::create_dir_all(path.join("objects/info")).unwrap();
    fs::write(path.join("objects/info/alternates"), format!("{}\n", objects.display())).unwrap();
    Store::open_at(ui, &path).unwrap()
}

#[derive(Default, Debug)]
struct Counts {
    patches: usize,
    by_git: usize,
    structural: usize,
    diffs: usize,
    refused: usize,
}

struct Machine {
    repo: Repo,
    ui: Ui,
    store: Store,
    counts: Counts,
}

impl Machine {
    fn import(&mut self, base: Oid, texts: &[Vec<u8>]) -> Result<Vec<Oid>, String> {
        let letters = texts.iter().map(|t| Letter::read(t, "m".into()).map_err(|e| e.to_string()));
        let letters = letters.collect::<Result<Vec<_>, _>>()?;
        let incoming = mails::incoming(letters, None).map_err(|e| e.to_string())?;
        let project = tempfile::tempdir().unwrap();
        let draft = Draft::begin(project.path(), "s").unwrap();
        let base = Base {
            label: "x".into(),
            name: "b".into(),
            spec: "b".into(),
            commit: base,
            tree: self.store.repo().find_commit(base).unwrap().tree_id(),
            version: "6.12.3".parse().unwrap(),
            origin: "a test".into(),
        };
        let wish = Wish {
            diffs_only: false,
            now: jiff::Timestamp::from_second(1_700_000_000).unwrap(),
            change_id: "20241129-x-431ffd03aa5e",
        };
        let done = import::import(&self.ui, &self.store, draft, incoming, &base, "6.12", &wish)
            .map_err(|e| e.to_string())?;
        let edits = || done.edits.iter().flatten();
        let diffs = edits().filter(|e| e.is_diff()).count();
        self.counts.diffs += diffs;
        self.counts.structural += edits().count() - diffs;
        Ok(done.trees)
    }

    /// Imports the commits `part`, from the mails as they would be sent and from
    /// those of git.
    fn check(&mut self, part: &[Oid]) {
        let opened = self.repo.open();
        let commit = |id: Oid| opened.find_commit(id).unwrap();
        let base = commit(part[0]).parent_id(0).unwrap();
        let want: Vec<Oid> = part.iter().map(|c| commit(*c).tree_id()).collect();
        let mut input = MailInput::new(part);
        input.thread = None;
        input.faults = Faults::Mend;
        let range = format!("{base}..{}", part[part.len() - 1]);
        let Ok(sent) = mail::write_series(&opened, &input) else { return };
        let texts: Vec<Vec<u8>> = sent.into_iter().map(|m| m.bytes).collect();
        match self.import(base, &texts) {
            Ok(trees) => assert_eq!(trees, want, "{range}"),
            Err(e) if e.contains("no submodules") => {
                self.counts.refused += part.len();
                return;
            }
            Err(e) => panic!("{range}: {e}"),
        }
        self.counts.patches += part.len();
        let gits = self.repo.format_patch("git", &[&range]);
        let texts: Vec<Vec<u8>> = gits.into_iter().map(|(_, bytes)| bytes).collect();
        // git am takes these for parts of line ends.
        if texts.iter().any(|t| t.contains(&b'\r')) {
            return;
        }
        self.repo.git(&["reset", "-q", "--hard", &base.to_string()]);
        self.repo.git(&["clean", "-qfdx"]);
        let folder = self.repo.beside("am");
        fs::create_dir_all(&folder).unwrap();
        let names: Vec<String> = (0..texts.len()).map(|i| format!("../am/{i}")).collect();
        for (i, text) in texts.iter().enumerate() {
            fs::write(folder.join(i.to_string()), text).unwrap();
        }
        let mut args = vec!["am", "-q"];
        args.extend(names.iter().map(String::as_str));
        if !self.repo.command(&args).output().unwrap().status.success() {
            // git itself may have stumbled over these names, and left a lock.
            let _ = fs::remove_file(self.repo.path().join(".git/index.lock"));
            let _ = fs::remove_dir_all(self.repo.path().join(".git/rebase-apply"));
            return;
        }
        let log = self.repo.git(&["log", "--reverse", "--format=%T", &format!("{base}..HEAD")]);
        let made = String::from_utf8(log).unwrap();
        let trees = self.import(base, &texts).unwrap_or_else(|e| panic!("{range}: {e}"));
        let trees: Vec<String> = trees.iter().map(Oid::to_string).collect();
        assert_eq!(trees, made.lines().collect::<Vec<_>>(), "{range}");
        self.counts.by_git += part.len();
    }
}

fn run(seed: u64, count: usize) -> Counts {
    let repo = Repo::new();
    repo.import(&History::new(seed).stream(count));
    let ids = String::from_utf8(repo.git(&["rev-list", "--reverse", "main"])).unwrap();
    let ids: Vec<Oid> = ids.lines().map(|l| l.parse().unwrap()).collect();
    repo.git(&["checkout", "-q", "-f", "-b", "am"]);
    let ui = Ui::new(Format::Human);
    let store = store(&repo, &ui);
    let mut machine = Machine { repo, ui, store, counts: Counts::default() };
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut at = 1;
    while at < ids.len() {
        let end = (at + rng.usize(1..6)).min(ids.len());
        machine.check(&ids[at..end]);
        at = end;
    }
    machine.counts
}

#[test]
fn sample() {
    let counts = run(11, 40);
    assert!(counts.patches > 20 && counts.by_git > 3 && counts.structural > 20, "{counts:?}");
}

#[test]
#[ignore = "takes minutes; the sample is run always"]
fn many() {
    for seed in 200..220 {
        println!("{seed}: {:?}", run(seed, 100));
    }
}
