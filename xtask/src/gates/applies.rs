//! `git am` of the mails in a checkout of the base gives the rendered commits:
//! tree, author and message.

use git2::{Oid, Repository};

use super::checkout::Checkout;
use super::{Finding, Gate, Row, Submission};
use crate::error::{Error, IoContext as _, Result};

/// One row a patch.
///
/// # Errors
/// When git is missing, or the checkout cannot be made.
pub fn check(s: &Submission) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
    let changes = s.patches.iter().flat_map(|p| &p.changes);
    let paths = changes.flat_map(|c| [c.path.as_str(), c.old_path.as_str()]);
    let checkout = Checkout::of(s.repo, s.base, paths, &folder.path().join("checkout"))?;
    let mails = folder.path().join("mails");
    std::fs::create_dir(&mails).at("create folder", &mails)?;
    let mut cmd = checkout.git(&["am", "--quiet", "--keep-cr"]);
    for p in &s.patches {
        let file = mails.join(&p.file_name);
        std::fs::write(&file, &p.mail).at("write", &file)?;
        cmd = cmd.arg(&file);
    }
    let out = cmd.output()?;
    let repo = Repository::open(checkout.path())?;
    let applied = commits(&repo, s.base)?;
    let mut rows = Vec::new();
    for (i, p) in s.patches.iter().enumerate() {
        let mut found = Vec::new();
        match applied.get(i) {
            None if i == applied.len() && !out.ok() => {
                let said =
                    crate::host::process::tail(&[out.stdout.as_slice(), &out.stderr].concat(), 12);
                found.push(Finding::new("does-not-apply", None, said));
            }
            None => {
                found.push(Finding::new("not-reached", None, "an earlier patch stopped git am"))
            }
            Some(&id) => {
                let commit = repo.find_commit(id)?;
                if commit.tree_id() != p.after {
                    let why = format!("git am gives {}, rendered is {}", commit.tree_id(), p.after);
                    found.push(Finding::new("other-tree", None, why));
                }
                let author = commit.author();
                let who = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
                let (name, email) = (who(author.name_bytes()), who(author.email_bytes()));
                if name != p.author.name || email != p.author.email {
                    let why = format!("{name} <{email}>, and not {}", p.author.verbatim());
                    found.push(Finding::new("other-author", None, why));
                }
                let message = String::from_utf8_lossy(commit.message_raw_bytes()).into_owned();
                if message.trim_end() != p.message.trim_end() {
                    let why = first_difference(&p.message, &message);
                    found.push(Finding::new("other-message", None, why));
                }
            }
        }
        let tree = p.after.to_string();
        let detail = format!("tree {}", tree.get(..12).unwrap_or(&tree));
        rows.push(Row::of(Gate::Applies, &p.name, detail, found));
    }
    Ok(rows)
}

fn first_difference(want: &str, got: &str) -> String {
    let (mut a, mut b) = (want.trim_end().lines(), got.trim_end().lines());
    let mut number = 1;
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if x == y => number += 1,
            (None, None) => return "the messages differ in line ends".into(),
            (x, y) => {
                let (x, y) = (x.unwrap_or("nothing"), y.unwrap_or("nothing"));
                return format!("line {number}: sent\n{x}\narrived as\n{y}");
            }
        }
    }
}

/// The commits behind `base` up to HEAD, oldest first.
fn commits(repo: &Repository, base: Oid) -> Result<Vec<Oid>> {
    let mut walk = repo.revwalk()?;
    walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::REVERSE)?;
    walk.push_head()?;
    walk.hide(base)?;
    walk.map(|id| id.map_err(Error::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::Status;
    use crate::gates::checkout::clean_git;
    use crate::gates::testing::Repo;

    /// What `git format-patch` writes of the commits.
    fn mailed(s: &mut Submission) {
        for p in &mut s.patches {
            let cmd = clean_git().args(["format-patch", "--stdout", "-1"]);
            let out = cmd.arg(p.commit.to_string()).cwd(s.repo.path()).run().unwrap();
            p.mail = out.stdout;
        }
    }

    #[test]
    fn what_was_mailed_gives_the_commits() {
        let r = Repo::new();
        let message = "net: x\n\nBody.\n\nSigned-off-by: Jane Hacker <jane@example.org>\n";
        let base = [("net/a.c", "1\n2\n3\n"), ("odd [name] #1.c", "x\n"), ("other/b.c", "x\n")];
        let mut s = r.submission(
            &base,
            &[
                (
                    "one",
                    message,
                    &[("net/a.c", "1\nnew\n3\n"), ("odd [name] #1.c", "x\n"), ("other/b.c", "x\n")],
                ),
                (
                    "two",
                    message,
                    &[
                        ("net/a.c", "1\nnew\n3\n"),
                        ("odd [name] #1.c", "y\n"),
                        ("other/b.c", "x\n"),
                        ("net/c.c", "c\n"),
                    ],
                ),
            ],
        );
        mailed(&mut s);
        let rows = check(&s).unwrap();
        assert!(rows.iter().all(|r| r.status == Status::Passed), "{rows:?}");

        // Each way to break it is seen.
        let rules = |s: &Submission| {
            let rows = check(s).unwrap();
            rows.into_iter().flat_map(|r| r.findings).map(|f| f.rule).collect::<Vec<_>>()
        };
        let mut t = s.clone();
        t.patches[0].after = t.patches[1].after;
        assert_eq!(rules(&t), ["other-tree"]);
        let mut t = s.clone();
        t.patches[0].message = message.replace("Body.", "Other.");
        assert_eq!(rules(&t), ["other-message"]);
        let mut t = s.clone();
        t.patches[1].author.name = "J".into();
        assert_eq!(rules(&t), ["other-author"]);
        let mut t = s.clone();
        let mail = String::from_utf8(t.patches[0].mail.clone()).unwrap();
        t.patches[0].mail = mail.replace("-2\n", "-4\n").into_bytes();
        assert_eq!(rules(&t), ["does-not-apply", "not-reached"]);
    }
}
