//! One edit on a tree: its file, its captures, its places, its deed. A place
//! that is not there is a conflict, everything else that fails is an error.

use std::ops::Range;

use crate::error::{Error, Kind, Result};
use crate::series::excerpt::Document;
use crate::series::locator::Locator;
use crate::series::model::{Capture, Deed, Edit, Far, Text, Times};
use crate::series::places::Place;

use super::cocci::Semantic;
use super::deed::{self, Fit, Splice};
use super::diff;
use super::file_text::FileText;
use super::found;
use super::locate::{Captured, Finder, Miss, Near, Spot};
use super::overlay::{Entry, Overlay};
use super::source::{EXECUTABLE, PLAIN};
use super::template::Templates;
use super::verdict::Conflict;

/// What keeps an edit from being made.
#[derive(Debug)]
pub enum Fault {
    /// The tree does not fit it.
    Conflict(Box<Conflict>),
    /// Something is wrong with the series or the host.
    Error(Error),
}

impl From<Error> for Fault {
    fn from(e: Error) -> Fault {
        Fault::Error(e)
    }
}

/// Makes edits on a tree.
pub struct Editor<'e, 'b, 's> {
    /// The tree.
    pub tree: &'e mut Overlay<'b>,
    /// The series' templates.
    pub templates: &'e mut Templates<'s>,
    /// The TOML file that the edits stand in.
    pub source: &'e Document,
    /// Runs semantic patches.
    pub semantic: &'e dyn Semantic,
    /// What the places were like that were found, where that is asked.
    pub found: Option<Vec<Place>>,
}

struct Places {
    path: String,
    entry: Entry,
    captures: Vec<(String, String)>,
    spots: Vec<Spot>,
    /// What the captured places were like.
    found: Vec<Place>,
}

/// What a capture took.
struct Taken {
    text: String,
    /// Where, in the edit's own file.
    here: Option<Range<usize>>,
    /// What the place was like, where that is asked.
    place: Option<Place>,
}

impl Editor<'_, '_, '_> {
    /// Makes one edit.
    ///
    /// # Errors
    /// A conflict names the place in the series and what is near in the tree.
    pub fn make(&mut self, edit: &Edit) -> Result<(), Fault> {
        match &edit.deed {
            Some(Deed::Diff(text)) => return self.diff(edit, text),
            Some(Deed::Create { text, executable }) => {
                return self.create(edit, text, *executable);
            }
            _ => {}
        }
        let mut places = self.places(edit)?;
        if let Some(found) = &mut self.found {
            found.append(&mut places.found);
        }
        for (name, text) in &places.captures {
            self.templates.set_capture(name, text);
        }
        if let Some(deed) = &edit.deed {
            self.deed(edit, deed, &places)?;
        }
        Ok(())
    }

    fn conflict(&self, edit: &Edit, file: &str, what: String, near: Vec<Near>) -> Fault {
        Fault::Conflict(Box::new(Conflict {
            edit: self.source.position_of(&edit.path),
            deed: edit.deed.as_ref().map_or("capture", Deed::key).to_owned(),
            file: file.to_owned(),
            what,
            near,
            after: None,
        }))
    }

    fn missed(&self, edit: &Edit, file: &str, miss: &Miss) -> Fault {
        self.conflict(edit, file, miss.to_string(), miss.near().to_vec())
    }

    /// The one candidate file that has what the edit names, and where.
    fn places(&self, edit: &Edit) -> Result<Places, Fault> {
        let mut found: Vec<Places> = Vec::new();
        let mut missed: Option<Fault> = None;
        for path in &edit.files {
            let Some(entry) = self.tree.get(path)? else { continue };
            if ![PLAIN, EXECUTABLE].contains(&entry.mode) {
                let what = format!("it is no plain file (mode {:o})", entry.mode);
                return Err(self.conflict(edit, path, what, Vec::new()));
            }
            match self.places_in(edit, path, &entry) {
                Ok(places) => found.push(places),
                Err(Fault::Conflict(c)) => missed = Some(Fault::Conflict(c)),
                Err(e) => return Err(e),
            }
        }
        let names = edit.files.join(" or ");
        match (found.pop(), found.pop()) {
            (Some(one), None) => Ok(one),
            (Some(a), Some(b)) => {
                let what = format!("{} and {} both have the place", b.path, a.path);
                Err(self.conflict(edit, &names, what, Vec::new()))
            }
            (None, _) => Err(missed.unwrap_or_else(|| {
                self.conflict(edit, &names, "the base has no such file".to_owned(), Vec::new())
            })),
        }
    }

    fn places_in(&self, edit: &Edit, path: &str, entry: &Entry) -> Result<Places, Fault> {
        let mut captured = Captured::new();
        let (mut captures, mut found) = (Vec::new(), Vec::new());
        for (name, capture) in &edit.captures {
            let taken = self.capture(edit, path, entry, name, capture)?;
            captures.push((name.clone(), taken.text));
            captured.extend(taken.here.map(|span| (name.clone(), span)));
            found.extend(taken.place);
        }
        let spots = match &edit.at {
            None => Vec::new(),
            Some(at) => {
                let finder = Finder { file: &entry.text, captured: &captured, candidates: true };
                let spots = finder
                    .find(&edit.within, at, takes_full(edit.deed.as_ref()))
                    .map_err(|m| self.missed(edit, path, &m))?;
                if let Times::Exactly(n) = edit.times
                    && spots.len() != n
                {
                    let miss = Miss::count(&entry.text, at, n, &spots);
                    return Err(self.missed(edit, path, &miss));
                }
                spots
            }
        };
        Ok(Places { path: path.to_owned(), entry: entry.clone(), captures, spots, found })
    }

    fn capture(
        &self,
        edit: &Edit,
        path: &str,
        entry: &Entry,
        name: &str,
        capture: &Capture,
    ) -> Result<Taken, Fault> {
        let other = match &capture.place.file {
            Some(file) if file != path => match self.tree.get(file)? {
                Some(entry) => Some(entry),
                None => {
                    return match &capture.default {
                        Some(text) => Ok(self.lacking(edit, name, file, text)),
                        None => {
                            let what = format!("capture {name}: the base has no such file");
                            Err(self.conflict(edit, file, what, Vec::new()))
                        }
                    };
                }
            },
            _ => None,
        };
        let here = other.is_none();
        let file: &FileText = other.as_ref().map_or(&entry.text, |e| &e.text);
        let within: &[Locator] = if capture.place.within.is_empty() && here {
            &edit.within
        } else {
            &capture.place.within
        };
        let nothing = Captured::new();
        let finder = Finder { file, captured: &nothing, candidates: true };
        match finder.find_one(within, &capture.place.at, false) {
            Ok(spot) => {
                let text = std::str::from_utf8(file.get(spot.span.clone())).map_err(|_| {
                    let at = file.position(spot.span.start);
                    Error::conflict(format!("capture {name} at {at} is not UTF-8"))
                })?;
                // Templates have plain line ends; a file's own come back with the edit.
                let text = text.replace("\r\n", "\n");
                let watched = self.found.is_some();
                Ok(Taken {
                    text: text.strip_suffix('\n').unwrap_or(&text).to_owned(),
                    place: watched.then(|| found::taken(&edit.path, "capture", file, &spot)),
                    here: here.then_some(spot.span),
                })
            }
            Err(Miss::None { .. }) if capture.default.is_some() => {
                let text = capture.default.as_deref().unwrap_or_default();
                Ok(self.lacking(edit, name, file.path(), text))
            }
            Err(miss) => {
                let what = format!("capture {name}: {miss}");
                Err(self.conflict(edit, file.path(), what, miss.near().to_vec()))
            }
        }
    }

    /// The default of a capture that found nothing.
    fn lacking(&self, edit: &Edit, name: &str, file: &str, default: &str) -> Taken {
        let place = self.found.as_ref().map(|_| found::lacking(&edit.path, name, file));
        Taken { text: default.to_owned(), here: None, place }
    }

    /// The text that an edit puts somewhere, if that can be told.
    pub fn new_text(&mut self, edit: &Edit) -> Option<String> {
        match &edit.deed {
            Some(
                Deed::InsertBefore(text)
                | Deed::InsertAfter(text)
                | Deed::Replace(text)
                | Deed::Create { text, .. },
            ) => self.text(edit, text).ok(),
            _ => None,
        }
    }

    fn text(&mut self, edit: &Edit, text: &Text) -> Result<String> {
        let source = self.source;
        let deed = edit.deed.as_ref().map_or("", Deed::key);
        self.templates.render(text, || source.position_of(&edit.path.key(deed)))
    }

    fn deed(&mut self, edit: &Edit, deed: &Deed, places: &Places) -> Result<(), Fault> {
        let fit = Fit { indent: edit.indent, separate: edit.separate };
        let file = &places.entry.text;
        let path = places.path.as_str();
        self.note(edit, deed, places);
        self.check_places(edit, deed, places)?;
        let splices: Vec<Splice> = match deed {
            Deed::InsertBefore(text) | Deed::InsertAfter(text) => {
                let text = self.text(edit, text)?;
                let before = matches!(deed, Deed::InsertBefore(_));
                let spots = places.spots.iter();
                spots
                    .map(|s| deed::insert(file, s, before, &text, fit))
                    .collect::<Result<_, _>>()
                    .map_err(|m| self.missed(edit, path, &m))?
            }
            Deed::Replace(text) => {
                let text = self.text(edit, text)?;
                for spot in &places.spots {
                    found::check_whole(file, spot, &text)
                        .and_then(|()| deed::check_replaced(file, spot, &text))
                        .map_err(|m| self.missed(edit, path, &m))?;
                }
                places.spots.iter().map(|s| deed::replace(file, s, &text, fit)).collect()
            }
            Deed::Delete => places.spots.iter().map(|s| deed::delete(file, s, fit)).collect(),
            Deed::MoveBefore(far) => return self.relocate(edit, places, far, true, fit),
            Deed::MoveAfter(far) => return self.relocate(edit, places, far, false, fit),
            Deed::Remove => {
                self.tree.remove(path);
                return Ok(());
            }
            Deed::Rename(to) => {
                if let Some(what) = self.tree.obstacle(to)? {
                    return Err(self.conflict(edit, path, what, Vec::new()));
                }
                self.tree.put(to, places.entry.mode, file.bytes().to_vec());
                self.tree.remove(path);
                return Ok(());
            }
            Deed::AddInclude(headers) => {
                // One after the other: each may be the next one's neighbour.
                for header in headers {
                    let Some(entry) = self.tree.get(path)? else { break };
                    let splice = deed::include::add(&entry.text, header)
                        .map_err(|what| self.conflict(edit, path, what, Vec::new()))?;
                    self.splice(edit, path, &entry, splice.into_iter().collect())?;
                }
                return Ok(());
            }
            Deed::AddObject(line) => deed::makefile::add(file, places.spots.first(), line)
                .map_err(|what| self.conflict(edit, path, what, Vec::new()))?
                .into_iter()
                .collect(),
            Deed::AddMaintainers(text) => {
                let text = self.text(edit, text)?;
                deed::maintainers::add(file, &text)
                    .map_err(|what| self.conflict(edit, path, what, Vec::new()))?
                    .into_iter()
                    .collect()
            }
            Deed::Cocci(text) => {
                let text = self.text(edit, text)?;
                let new = self.semantic.run(&text, path, file.bytes())?;
                if let Some(found) = &mut self.found {
                    found.extend(found::changed(&edit.path, deed.key(), file, &new)?);
                }
                self.tree.put(path, places.entry.mode, new);
                return Ok(());
            }
            // Handled before places are sought.
            Deed::Diff(_) | Deed::Create { .. } => Vec::new(),
        };
        self.splice(edit, path, &places.entry, splices)
    }

    /// What is taken out must be a piece of its own.
    fn check_places(&self, edit: &Edit, deed: &Deed, places: &Places) -> Result<(), Fault> {
        let out = matches!(deed, Deed::Delete | Deed::MoveBefore(_) | Deed::MoveAfter(_));
        if !out && !matches!(deed, Deed::Replace(_)) {
            return Ok(());
        }
        let file = &places.entry.text;
        let whole = |spot| {
            deed::check_lines(file, spot)?;
            if out {
                found::check_whole(file, spot, "")?;
                deed::check_governed(file, spot)?;
            }
            Ok(())
        };
        for spot in &places.spots {
            whole(spot).map_err(|m| self.missed(edit, &places.path, &m))?;
        }
        Ok(())
    }

    /// Keeps what the places of a deed were like.
    fn note(&mut self, edit: &Edit, deed: &Deed, places: &Places) {
        let Some(found) = &mut self.found else { return };
        let (file, key) = (&places.entry.text, deed.key());
        match deed {
            Deed::Replace(_) | Deed::Delete | Deed::MoveBefore(_) | Deed::MoveAfter(_) => {
                found.extend(places.spots.iter().map(|s| found::taken(&edit.path, key, file, s)));
            }
            // A line of a Makefile too, where its place is named.
            Deed::InsertBefore(_) | Deed::InsertAfter(_) | Deed::AddObject(_) => {
                let before = matches!(deed, Deed::InsertBefore(_));
                let spots = places.spots.iter();
                found.extend(spots.map(|s| found::beside(&edit.path, key, file, s, before)));
            }
            Deed::Remove => found.push(found::whole(&edit.path, key, file)),
            // What they take is in them, or they take nothing.
            Deed::Rename(_)
            | Deed::AddInclude(_)
            | Deed::AddMaintainers(_)
            | Deed::Cocci(_)
            | Deed::Diff(_)
            | Deed::Create { .. } => {}
        }
    }

    fn splice(
        &mut self,
        edit: &Edit,
        path: &str,
        entry: &Entry,
        splices: Vec<Splice>,
    ) -> Result<(), Fault> {
        if splices.is_empty() {
            return Ok(());
        }
        match deed::apply(entry.text.bytes(), splices) {
            Ok(bytes) => {
                self.tree.put(path, entry.mode, bytes);
                Ok(())
            }
            Err(splice) => {
                let near = vec![Near::at(&entry.text, splice.span.start)];
                Err(self.conflict(edit, path, "two places of this edit overlap".to_owned(), near))
            }
        }
    }

    fn relocate(
        &mut self,
        edit: &Edit,
        places: &Places,
        far: &Far,
        before: bool,
        fit: Fit,
    ) -> Result<(), Fault> {
        let path = places.path.as_str();
        let from = &places.entry.text;
        let to_path = far.file.as_deref().unwrap_or(path);
        let Some(to) = self.tree.get(to_path)? else {
            let what = "the base has no such file to move to".to_owned();
            return Err(self.conflict(edit, to_path, what, Vec::new()));
        };
        let nothing = Captured::new();
        let target = Finder { file: &to.text, captured: &nothing, candidates: true }
            .find_one(&far.within, &far.at, true)
            .map_err(|m| self.missed(edit, to_path, &m))?;
        if let Some(found) = &mut self.found {
            let deed = edit.deed.as_ref().map_or("", Deed::key);
            found.push(found::beside(&edit.path, deed, &to.text, &target, before));
        }
        let mut taken = Vec::new();
        let mut put = Vec::new();
        for spot in &places.spots {
            let text = String::from_utf8_lossy(from.get(spot.span.clone())).into_owned();
            let at = if before { target.span.start } else { target.span.end };
            if to_path == path && spot.span.start < at && at < spot.span.end {
                let near = vec![Near::at(from, at)];
                let what = "it would move into itself".to_owned();
                return Err(self.conflict(edit, path, what, near));
            }
            taken.push(deed::delete(from, spot, fit));
            // What stands alone where it came from does so where it goes.
            let alone = Spot { kind: spot.kind, ..target.clone() };
            put.push(
                deed::insert(&to.text, &alone, before, &text, fit)
                    .map_err(|m| self.missed(edit, to_path, &m))?,
            );
        }
        if to_path == path {
            taken.extend(put);
            return self.splice(edit, path, &places.entry, taken);
        }
        self.splice(edit, path, &places.entry, taken)?;
        self.splice(edit, to_path, &to, put)
    }

    fn create(&mut self, edit: &Edit, text: &Text, executable: bool) -> Result<(), Fault> {
        let Some(path) = edit.files.first() else { return Ok(()) };
        if let Some(what) = self.tree.obstacle(path)? {
            return Err(self.conflict(edit, path, what, Vec::new()));
        }
        let mut text = self.text(edit, text)?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let mode = if executable { EXECUTABLE } else { PLAIN };
        self.tree.put(path, mode, text.into_bytes());
        Ok(())
    }

    fn diff(&mut self, edit: &Edit, text: &Text) -> Result<(), Fault> {
        let text = self.text(edit, text)?;
        match diff::apply(self.tree, text.as_bytes()) {
            Ok(()) => Ok(()),
            Err(diff::Unfit::Error(e)) if e.kind() == Kind::Conflict => {
                Err(self.conflict(edit, "the tree", e.to_string(), Vec::new()))
            }
            Err(diff::Unfit::Error(e)) => {
                Err(e.context(self.source.position_of(&edit.path)).into())
            }
            Err(diff::Unfit::Place { file, what, near }) => {
                Err(self.conflict(edit, &file, what, near))
            }
        }
    }
}

/// Whether a deed takes a place with its comment and exports.
fn takes_full(deed: Option<&Deed>) -> bool {
    matches!(
        deed,
        Some(
            Deed::InsertBefore(_)
                | Deed::InsertAfter(_)
                | Deed::Delete
                | Deed::MoveBefore(_)
                | Deed::MoveAfter(_)
        )
    )
}
