//! The cover letter: its text, what changed since earlier versions, the
//! shortlog, the diffstat of the whole series, and the tracking lines.

use std::collections::BTreeSet;

use git2::{Mailmap, Odb, Oid, Repository, Signature, Time};

use memchr::memmem;

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
    let mailmap = mailmap(&repo.odb()?, base, commits)?;
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

/// The `.mailmap` of the base, by which git lists authors, as far as it is about
/// those of `commits`: the kernel's names 1,500 people.
fn mailmap(odb: &Odb<'_>, tree: Option<Oid>, commits: &[CommitText]) -> Result<Option<Mailmap>> {
    let Some(tree) = tree else { return Ok(None) };
    let tree = odb.read(tree)?;
    let entries = raw_tree::entries(tree.data())?;
    let Some(file) = entries.iter().find(|e| e.name == b".mailmap" && !e.is_dir()) else {
        return Ok(None);
    };
    let blob = odb.read(file.id)?;
    let emails: BTreeSet<&[u8]> = commits.iter().map(|c| c.email.as_slice()).collect();
    let text = lines_with(blob.data(), &emails);
    Ok(Some(Mailmap::from_buffer(&String::from_utf8_lossy(&text))?))
}

/// The lines of `text` that have one of `words`, in whatever case: all of them, where
/// one of these is nothing.
fn lines_with(text: &[u8], words: &BTreeSet<&[u8]>) -> Vec<u8> {
    if words.iter().any(|word| word.is_empty()) {
        return text.to_vec();
    }
    let small = text.to_ascii_lowercase();
    let mut lines = BTreeSet::new();
    for word in words {
        let word = word.to_ascii_lowercase();
        let mut at = 0;
        while let Some(found) = small.get(at..).and_then(|rest| memmem::find(rest, &word)) {
            let above = small.get(..at + found).unwrap_or_default();
            let begin = memchr::memrchr(b'\n', above).map_or(0, |end| end + 1);
            let below = text.get(at + found..).unwrap_or_default();
            let end = memchr::memchr(b'\n', below).map_or(text.len(), |end| at + found + end + 1);
            lines.insert((begin, end));
            at = end;
        }
    }
    lines.into_iter().filter_map(|(begin, end)| text.get(begin..end)).collect::<Vec<_>>().concat()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_someone() {
        let text = b"# a\nA <a@x> <B@X>\nC <c@x>\n<a@x> <d@x>\nlast <B@x>";
        let of = |words: &[&[u8]]| {
            let found = lines_with(text, &words.iter().copied().collect());
            String::from_utf8(found).unwrap()
        };
        assert_eq!(of(&[b"b@x"]), "A <a@x> <B@X>\nlast <B@x>");
        assert_eq!(of(&[b"A@x", b"d@x"]), "A <a@x> <B@X>\n<a@x> <d@x>\n");
        assert_eq!(of(&[b"z@x"]), "");
        assert_eq!(of(&[b"z@x", b""]).len(), text.len());
    }
}
