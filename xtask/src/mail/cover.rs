//! The cover letter: its text, what changed since earlier versions, the
//! shortlog, the diffstat of the whole series, and the tracking lines.

use git2::{Mailmap, Odb, Oid, Repository, Signature, Time};

use crate::error::Result;
use crate::mail::commit::CommitText;
use crate::mail::diff::{self, Attributes, Counts, stat};
use crate::mail::input::{Changes, Cover};
use crate::mail::{body, raw_tree, shortlog};

/// The text below the cover's headers, up to the tracking lines. `base` is the
/// tree that the series begins from.
///
/// # Errors
/// When an object is missing.
pub fn text(
    repo: &Repository,
    cover: &Cover,
    changelog: &[Changes],
    commits: &[CommitText],
    base: Option<Oid>,
    attributes: &Attributes<'_>,
    known: &Counts,
) -> Result<Vec<u8>> {
    let mut out = body::lines(cover.body.as_bytes());
    if !changelog.is_empty() {
        out.truncate(crate::mail::commit::trim_end(&out).len());
        if !out.is_empty() {
            out.extend_from_slice(b"\n\n");
        }
        out.extend_from_slice(&changes(changelog));
    }
    out.push(b'\n');
    let mailmap = mailmap(&repo.odb()?, base)?;
    shortlog::write(&mut out, commits, |c| listed_name(mailmap.as_ref(), c));
    if let Some(last) = commits.last() {
        let files = diff::counted(repo, (base, last.tree), attributes, known)?;
        stat::write(&mut out, &files);
        out.push(b'\n');
    }
    Ok(out)
}

/// "Changes in vN" with a link to the version before it.
#[must_use]
pub fn changes(changelog: &[Changes]) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, one) in changelog.iter().enumerate() {
        if i > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(format!("Changes in v{}:\n", one.version).as_bytes());
        out.extend_from_slice(&body::printed(one.text.as_bytes()));
        if let Some(id) = &one.previous {
            let before = one.version.saturating_sub(1);
            let link = format!("- Link to v{before}: https://lore.kernel.org/r/{id}\n");
            out.extend_from_slice(link.as_bytes());
        }
    }
    out
}

/// The `.mailmap` of the base, by which git lists authors.
fn mailmap(odb: &Odb<'_>, tree: Option<Oid>) -> Result<Option<Mailmap>> {
    let Some(tree) = tree else { return Ok(None) };
    let tree = odb.read(tree)?;
    let entries = raw_tree::entries(tree.data())?;
    let Some(file) = entries.iter().find(|e| e.name == b".mailmap" && !e.is_dir()) else {
        return Ok(None);
    };
    let blob = odb.read(file.id)?;
    let text = String::from_utf8_lossy(blob.data());
    Ok(Some(Mailmap::from_buffer(&text)?))
}

fn listed_name(mailmap: Option<&Mailmap>, commit: &CommitText) -> Vec<u8> {
    let mapped = || {
        let name = std::str::from_utf8(&commit.name).ok()?;
        let email = std::str::from_utf8(&commit.email).ok()?;
        let author = Signature::new(name, email, &Time::new(0, 0)).ok()?;
        let real = mailmap?.resolve_signature(&author).ok()?;
        Some(real.name_bytes().to_vec())
    };
    mapped().unwrap_or_else(|| commit.name.clone())
}
