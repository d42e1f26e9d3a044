//! One file's patch: names, modes, ids, and the hunks or bytes below them.

use std::sync::Arc;

use git2::{Oid, Repository};

use crate::error::{Error, Result};
use crate::mail::diff::attributes::{Attributes, Driver};
use crate::mail::diff::change::{Change, Side};
use crate::mail::diff::hunks::{self, Content};
use crate::mail::diff::quote::quoted;
use crate::mail::diff::stat::percent;
use crate::mail::diff::{AtHand, FileDiff, binary};
use crate::mail::raw_tree::{GITLINK, TYPE};

/// Digits of an id on the `index` line, as the kernel's documents ask for.
const SHORT: usize = 12;
/// Digits of an id where the content is binary.
const FULL: usize = 40;
/// A NUL within so many bytes makes a content binary.
const LOOKED_AT: usize = 8000;

struct Loaded<'r> {
    content: Content<'r>,
    driver: Driver,
    binary: bool,
}

/// Writes the patch of one change.
///
/// # Errors
/// When a blob is missing or too big to compare.
pub fn file(
    repo: &Repository,
    change: Change,
    attributes: &Attributes<'_>,
    at_hand: &AtHand,
) -> Result<FileDiff> {
    let old = change.before().map(|s| load(repo, s, attributes, at_hand.old.get(&s.path)));
    let new = change.after().map(|s| load(repo, s, attributes, at_hand.new.get(&s.path)));
    let (old, new) = (old.transpose()?, new.transpose()?);
    written(change, old.as_ref(), new.as_ref())
}

/// As [`file()`], with the content as bytes whatever it is: plain ASCII.
///
/// # Errors
/// As [`file()`].
pub fn as_bytes(
    repo: &Repository,
    change: Change,
    attributes: &Attributes<'_>,
) -> Result<FileDiff> {
    let load = |s: &Side| load(repo, s, attributes, None).map(|l| Loaded { binary: true, ..l });
    let old = change.before().map(load).transpose()?;
    let new = change.after().map(load).transpose()?;
    written(change, old.as_ref(), new.as_ref())
}

fn written(change: Change, old: Option<&Loaded<'_>>, new: Option<&Loaded<'_>>) -> Result<FileDiff> {
    let mut text = Vec::new();
    let (mut added, mut deleted) = (0, 0);
    let is_binary = [old, new].into_iter().flatten().any(|l| l.binary);
    match (change.before(), change.after()) {
        (Some(a), Some(b)) if a.mode & TYPE != b.mode & TYPE => {
            // Another type of file: shown as deleted and created.
            one(&mut text, Some(a), None, None, old, None)?;
            one(&mut text, None, Some(b), None, None, new)?;
            if !is_binary && let (Some(old), Some(new)) = (old, new) {
                // The diffstat compares them all the same.
                (added, deleted) = hunks::write(&mut Vec::new(), &old.content, &new.content, None)?;
            }
        }
        (a, b) => {
            let similarity = match &change {
                Change::Renamed(_, _, similarity) => Some(*similarity),
                _ => None,
            };
            (added, deleted) = one(&mut text, a, b, similarity, old, new)?;
        }
    }
    if is_binary {
        let size = |l: Option<&Loaded<'_>>| l.map_or(0, |l| l.content.bytes().len());
        (added, deleted) = (size(new), size(old));
        if change.before().map(|s| s.id) == change.after().map(|s| s.id) {
            (added, deleted) = (0, 0);
        }
    }
    Ok(FileDiff { change, added, deleted, binary: is_binary, text })
}

fn load<'r>(
    repo: &'r Repository,
    side: &Side,
    attributes: &Attributes<'_>,
    at_hand: Option<&Arc<Vec<u8>>>,
) -> Result<Loaded<'r>> {
    if side.mode & TYPE == GITLINK {
        let text = format!("Subproject commit {}\n", side.id).into_bytes();
        let driver = Driver::default();
        return Ok(Loaded { content: Content::Text(text), driver, binary: false });
    }
    let content = match at_hand {
        Some(bytes) => Content::Shared(Arc::clone(bytes)),
        None => Content::Blob(repo.find_blob(side.id).map_err(|e| {
            let path = String::from_utf8_lossy(&side.path);
            Error::host(format!("cannot read {path} from {}", repo.path().display()))
                .found(e.message().to_owned())
        })?),
    };
    let driver = if side.is_regular() { attributes.driver(&side.path)? } else { Driver::default() };
    let binary = is_binary(content.bytes(), driver);
    Ok(Loaded { content, driver, binary })
}

/// Whether a content is compared as bytes.
pub(super) fn is_binary(content: &[u8], driver: Driver) -> bool {
    let head = content.get(..LOOKED_AT).unwrap_or(content);
    driver.binary.unwrap_or_else(|| memchr::memchr(0, head).is_some())
}

fn one(
    out: &mut Vec<u8>,
    old: Option<&Side>,
    new: Option<&Side>,
    similarity: Option<u32>,
    before: Option<&Loaded<'_>>,
    after: Option<&Loaded<'_>>,
) -> Result<(usize, usize)> {
    let nothing = Content::Text(Vec::new());
    let before_content = before.map_or(&nothing, |l| &l.content);
    let after_content = after.map_or(&nothing, |l| &l.content);
    let is_binary = [before, after].into_iter().flatten().any(|l| l.binary);
    names(out, old, new, similarity);
    let ids = (old.map_or(Oid::ZERO_SHA1, |s| s.id), new.map_or(Oid::ZERO_SHA1, |s| s.id));
    if ids.0 == ids.1 {
        return Ok((0, 0));
    }
    let digits = if is_binary { FULL } else { SHORT };
    let short = |id: Oid| id.to_string().chars().take(digits).collect::<String>();
    let mode = match (old, new) {
        (Some(a), Some(b)) if a.mode == b.mode => format!(" {:06o}", a.mode),
        _ => String::new(),
    };
    let index = format!("index {}..{}{mode}\n", short(ids.0), short(ids.1));
    out.extend_from_slice(index.as_bytes());
    if is_binary {
        // An empty file, made or removed, has nothing to show.
        if before_content.bytes() != after_content.bytes() {
            binary::write(out, before_content.bytes(), after_content.bytes())?;
        }
        return Ok((0, 0));
    }
    let language = [before, after].into_iter().flatten().find_map(|l| l.driver.language);
    let labels = out.len();
    label(out, "--- ", "a/", old);
    label(out, "+++ ", "b/", new);
    let hunks_begin = out.len();
    let counts = hunks::write(out, before_content, after_content, language)?;
    if out.len() == hunks_begin {
        // An empty file made or removed has no lines to name.
        out.truncate(labels);
    }
    Ok(counts)
}

/// From `diff --git` to the line before `index`.
fn names(out: &mut Vec<u8>, old: Option<&Side>, new: Option<&Side>, similarity: Option<u32>) {
    let Some((a, b)) = old.or(new).zip(new.or(old)) else { return };
    out.extend_from_slice(b"diff --git ");
    out.extend_from_slice(&quoted("a/", &a.path));
    out.push(b' ');
    out.extend_from_slice(&quoted("b/", &b.path));
    out.push(b'\n');
    let modes = match (old, new) {
        (None, Some(b)) => format!("new file mode {:06o}\n", b.mode),
        (Some(a), None) => format!("deleted file mode {:06o}\n", a.mode),
        (Some(a), Some(b)) if a.mode != b.mode => {
            format!("old mode {:06o}\nnew mode {:06o}\n", a.mode, b.mode)
        }
        _ => String::new(),
    };
    out.extend_from_slice(modes.as_bytes());
    if let Some(similarity) = similarity {
        let index = format!("similarity index {}%\nrename from ", percent(similarity));
        out.extend_from_slice(index.as_bytes());
        out.extend_from_slice(&quoted("", &a.path));
        out.extend_from_slice(b"\nrename to ");
        out.extend_from_slice(&quoted("", &b.path));
        out.push(b'\n');
    }
}

fn label(out: &mut Vec<u8>, mark: &str, prefix: &str, side: Option<&Side>) {
    out.extend_from_slice(mark.as_bytes());
    match side {
        None => out.extend_from_slice(b"/dev/null"),
        Some(side) => {
            out.extend_from_slice(&quoted(prefix, &side.path));
            // So that other patch programs see where the name ends.
            if side.path.contains(&b' ') {
                out.push(b'\t');
            }
        }
    }
    out.push(b'\n');
}
