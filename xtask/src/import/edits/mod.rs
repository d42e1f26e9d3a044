//! The edits that make one tree of another: by structure where that can be
//! said, by raw diff otherwise.

mod candidates;
mod lines;
mod page;
mod trial;

use crate::error::Result;
use crate::mail::diff::{self, AtHand, Attributes, Change, FileDiff, Side, change, write};
use crate::render::source::{EXECUTABLE, PLAIN};
use crate::tree::object::ObjectKind;
use crate::tree::{Oid, Store};

use lines::Step;

/// An edit to be written into a `series.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEdit {
    /// Keys with their values in TOML's notation.
    pub keys: Vec<(&'static str, String)>,
    /// The deed's text, if it has one.
    pub text: Option<DeedText>,
}

/// A text that becomes a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeedText {
    /// The deed: `create`, `replace`, `diff`, ….
    pub key: &'static str,
    /// What it renders to.
    pub text: String,
    /// The name that a file of it would have: `dev.c`.
    pub file: String,
}

impl NewEdit {
    /// Whether it is a raw diff.
    #[must_use]
    pub fn is_diff(&self) -> bool {
        self.text.as_ref().is_some_and(|t| t.key == "diff")
    }

    fn of(file: &str, key: &'static str, value: impl Into<String>) -> NewEdit {
        let file = crate::series::toml_text::string(file);
        NewEdit { keys: vec![("file", file), (key, value.into())], text: None }
    }

    fn diff(text: String, file: &str) -> NewEdit {
        let name = file.rsplit('/').next().unwrap_or(file);
        let file = format!("{name}.diff");
        NewEdit { keys: Vec::new(), text: Some(DeedText { key: "diff", text, file }) }
    }
}

/// How a patch is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Each change by structure where that gives the very bytes.
    Structure,
    /// One diff a patch.
    Diff,
    /// One diff a patch, in which a renamed file is one that goes and one that comes.
    PlainDiff,
}

/// The edits from tree `before` to tree `after`, in order.
///
/// # Errors
/// When an object is missing.
pub fn between(store: &Store, before: Oid, after: Oid, level: Level) -> Result<Vec<NewEdit>> {
    let repo = store.repo();
    let attributes = Attributes::of_tree(repo, Some(before))?;
    let mut diffs = if level == Level::PlainDiff {
        let changes = change::between(&repo.odb()?, Some(before), Some(after))?;
        let files =
            changes.into_iter().map(|c| write::file(repo, c, &attributes, &AtHand::default()));
        files.collect::<Result<Vec<_>>>()?
    } else {
        diff::trees(repo, Some(before), after, &attributes)?
    };
    // What goes makes room: a file for a folder, a name for another file.
    diffs.sort_by_key(|d| d.change.after().is_some());
    let mut edits = Vec::new();
    let mut text = String::new();
    for diff in diffs {
        if level == Level::Structure {
            edits.extend(one(store, diff, &attributes)?);
        } else {
            text.push_str(&raw(store, diff, &attributes)?);
        }
    }
    if level != Level::Structure {
        edits.push(NewEdit::diff(text, ""));
    }
    Ok(edits)
}

/// The diff as text; a content that is not UTF-8 as bytes.
fn raw(store: &Store, diff: FileDiff, attributes: &Attributes<'_>) -> Result<String> {
    match String::from_utf8(diff.text) {
        Ok(text) => Ok(text),
        Err(_) => {
            let diff = write::as_bytes(store.repo(), diff.change, attributes)?;
            Ok(String::from_utf8_lossy(&diff.text).into_owned())
        }
    }
}

/// The edits of one file.
fn one(store: &Store, diff: FileDiff, attributes: &Attributes<'_>) -> Result<Vec<NewEdit>> {
    let structural = match &diff.change {
        Change::Created(new) => created(store, new)?,
        Change::Deleted(old) if plain(old) => {
            utf8(&old.path).map(|path| vec![NewEdit::of(path, "remove", "true")])
        }
        Change::Renamed(old, new, _) if plain(old) && old.mode == new.mode => {
            renamed(store, old, new, attributes)?
        }
        Change::Modified(old, new) if plain(old) && old.mode == new.mode => {
            changed(store, old, new, attributes)?
        }
        _ => None,
    };
    match structural {
        Some(edits) => Ok(edits),
        None => {
            let path = String::from_utf8_lossy(diff.change.path()).into_owned();
            Ok(vec![NewEdit::diff(raw(store, diff, attributes)?, &path)])
        }
    }
}

fn utf8(path: &[u8]) -> Option<&str> {
    std::str::from_utf8(path).ok()
}

/// A file that edits can change, apart from its mode.
fn plain(side: &Side) -> bool {
    [PLAIN, EXECUTABLE].contains(&side.mode)
}

/// A blob's text, where it is one that templates can hold.
fn text_of(store: &Store, side: &Side) -> Result<Option<String>> {
    let blob = store.repo().find_blob(side.id)?;
    let text = std::str::from_utf8(blob.content()).ok();
    Ok(text.filter(|t| !t.contains('\0')).map(str::to_owned))
}

fn created(store: &Store, new: &Side) -> Result<Option<Vec<NewEdit>>> {
    let (Some(path), true) = (utf8(&new.path), plain(new)) else { return Ok(None) };
    // A last line without its end would get one.
    let whole = |t: &String| t.is_empty() || t.ends_with('\n');
    let Some(text) = text_of(store, new)?.filter(whole) else { return Ok(None) };
    let mut edit = NewEdit::of(path, "mode", "\"755\"");
    if new.mode != EXECUTABLE {
        edit.keys.pop();
    }
    let file = path.rsplit('/').next().unwrap_or(path).to_owned();
    edit.text = Some(DeedText { key: "create", text, file });
    Ok(Some(vec![edit]))
}

fn renamed(
    store: &Store,
    old: &Side,
    new: &Side,
    attributes: &Attributes<'_>,
) -> Result<Option<Vec<NewEdit>>> {
    let (Some(from), Some(to)) = (utf8(&old.path), utf8(&new.path)) else { return Ok(None) };
    let mut edits = vec![NewEdit::of(from, "rename", crate::series::toml_text::string(to))];
    if old.id != new.id {
        let moved = Side { path: new.path.clone(), ..old.clone() };
        let Some(more) = changed(store, &moved, new, attributes)? else { return Ok(None) };
        edits.extend(more);
    }
    Ok(Some(edits))
}

/// The edits of a file that stays where it is.
fn changed(
    store: &Store,
    old: &Side,
    new: &Side,
    attributes: &Attributes<'_>,
) -> Result<Option<Vec<NewEdit>>> {
    let (Some(path), Some(before), Some(after)) =
        (utf8(&new.path), text_of(store, old)?, text_of(store, new)?)
    else {
        return Ok(None);
    };
    let Some(steps) = lines::steps(path, &before, &after)? else { return Ok(None) };
    // Nothing but diffs: one of the whole file is the plainer one.
    if steps.iter().all(|s| matches!(s, Step::Diff(..))) {
        return Ok(None);
    }
    let mut edits = Vec::new();
    for step in steps {
        edits.push(match step {
            Step::Edit(edit) => edit,
            Step::Diff(before, after) => {
                let side = |text: &str| -> Result<Side> {
                    let id = store.write(ObjectKind::Blob, text.as_bytes())?;
                    Ok(Side { path: new.path.clone(), mode: new.mode, id })
                };
                let change = Change::Modified(side(&before)?, side(&after)?);
                let diff = write::file(store.repo(), change, attributes, &AtHand::default())?;
                NewEdit::diff(raw(store, diff, attributes)?, path)
            }
        });
    }
    Ok(Some(edits))
}
