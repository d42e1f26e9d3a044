//! Files that a series names, read and scanned in a thread of their own before
//! planning asks for them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::Scope;

use cscan::lex::Language;
use cscan::scan::scan;

use crate::error::Result;
use crate::series::model::{Edit, Probe, Series};
use crate::tree::{FileReader, Oid, Store};

use super::execute::StoreSource;
use super::source::{Source, SourceFile};

/// Files that are read ahead, at most: a long series has work enough for other
/// processors once its first patches are rendered, and files need memory.
const MOST: usize = 16;

/// A tree in the store, with the files that a series names read ahead.
pub struct Prefetched<'s> {
    source: StoreSource<'s>,
    /// Who claims a file first reads it.
    claims: Arc<HashMap<String, AtomicBool>>,
    told: Receiver<(String, Option<SourceFile>)>,
    /// What was told before it was asked for.
    early: RefCell<HashMap<String, Option<SourceFile>>>,
}

impl<'s> Prefetched<'s> {
    /// Begins to read; the thread ends with what it is at when this is dropped.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn begin<'scope>(
        scope: &'scope Scope<'scope, '_>,
        store: &'s Store,
        tree: Oid,
        series: &Series,
    ) -> Result<Prefetched<'s>>
    where
        's: 'scope,
    {
        let mut paths = Vec::new();
        let mut claims = HashMap::new();
        for path in named(series) {
            if paths.len() == MOST {
                break;
            }
            if claims.insert(path.to_owned(), AtomicBool::new(false)).is_none() {
                paths.push(path.to_owned());
            }
        }
        let claims = Arc::new(claims);
        let (tell, told) = channel();
        let reader = FileReader::new(store, tree)?;
        let claimed = Arc::clone(&claims);
        scope.spawn(move || {
            // Who asks reads the small ones itself meanwhile.
            let size = |path: &String| reader.size(path).ok().flatten().unwrap_or(0);
            paths.sort_by_cached_key(|path| std::cmp::Reverse(size(path)));
            for path in paths {
                if claimed.get(&path).is_none_or(|c| c.swap(true, Ordering::Relaxed)) {
                    continue;
                }
                // What cannot be read is read again, for its error, by who asks.
                let file = read(&reader, &path).ok().flatten();
                if tell.send((path, file)).is_err() {
                    break;
                }
            }
        });
        let source = StoreSource::new(store, tree);
        Ok(Prefetched { source, claims, told, early: RefCell::default() })
    }

    /// A file that the thread read, or is reading.
    fn take(&self, path: &str) -> Option<SourceFile> {
        if !self.claims.get(path)?.swap(true, Ordering::Relaxed) {
            return None;
        }
        if let Some(file) = self.early.borrow_mut().remove(path) {
            return file;
        }
        // It ends when the thread has, also where a file is asked for again.
        for (name, file) in &self.told {
            if name == path {
                return file;
            }
            self.early.borrow_mut().insert(name, file);
        }
        None
    }
}

impl Source for Prefetched<'_> {
    fn read(&self, path: &str) -> Result<Option<SourceFile>> {
        match self.take(path) {
            Some(file) => Ok(Some(file)),
            None => self.source.read(path),
        }
    }

    fn is_folder(&self, path: &str) -> Result<bool> {
        self.source.is_folder(path)
    }

    fn blob(&self, id: &str) -> Result<Option<Vec<u8>>> {
        self.source.blob(id)
    }
}

fn read(reader: &FileReader<'_>, path: &str) -> Result<Option<SourceFile>> {
    let Some(file) = reader.read(path)? else { return Ok(None) };
    let is_c = file.mode.is_file() && Language::of(path) == Language::C;
    let scan = is_c.then(|| scan(&file.bytes));
    Ok(Some(SourceFile { mode: file.mode.raw(), bytes: file.bytes, scan }))
}

/// The files that planning will ask for, about in that order.
fn named(series: &Series) -> impl Iterator<Item = &str> {
    let named = series.probes.iter().flat_map(|(_, named)| &named.probes);
    let whole = series.absorbed.iter().chain(&series.needs);
    let patches = series.patches.iter().filter(|patch| !patch.optional);
    let of_patches = patches.flat_map(|patch| {
        let probes = patch.absorbed.iter().chain(&patch.needs).flat_map(of_probe);
        probes.chain(patch.edits.iter().flat_map(of_edit))
    });
    named.chain(whole).flat_map(of_probe).chain(of_patches).map(String::as_str)
}

fn of_probe(probe: &Probe) -> impl Iterator<Item = &String> {
    probe.files.iter()
}

fn of_edit(edit: &Edit) -> impl Iterator<Item = &String> {
    let probes = edit.when.iter().chain(&edit.unless).flat_map(of_probe);
    let captures = edit.captures.iter().filter_map(|(_, capture)| capture.place.file.as_ref());
    probes.chain(&edit.files).chain(captures)
}
