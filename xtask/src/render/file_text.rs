//! One file of a tree as locators see it: its bytes, and what was found out
//! about them so far. Everything derived is made once, when first asked for.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use cscan::anchor::Anchor;
use cscan::lex::Language;
use cscan::lines::{line_at, line_number, whole_lines_c, whole_lines_plain};
use cscan::scan::{Scan, rescan, scan};

use super::syntax_tree::SyntaxTree;

/// Syntax trees by the slice that was parsed; `None` where parsing failed.
type Trees = HashMap<(usize, usize), Option<Rc<SyntaxTree>>>;

/// A file's content with its derived facts.
#[derive(Debug)]
pub struct FileText {
    path: String,
    bytes: Arc<Vec<u8>>,
    language: Language,
    scan: OnceCell<Scan>,
    trees: RefCell<Trees>,
}

impl FileText {
    /// Of a file at `path` in the tree.
    #[must_use]
    pub fn new(path: &str, bytes: Vec<u8>) -> FileText {
        FileText::scanned(path, bytes, None)
    }

    /// As [`FileText::new`], with its scan where it was made already.
    #[must_use]
    pub fn scanned(path: &str, bytes: Vec<u8>, scan: Option<Scan>) -> FileText {
        FileText {
            path: path.to_owned(),
            bytes: Arc::new(bytes),
            language: Language::of(path),
            scan: scan.map_or_else(OnceCell::new, OnceCell::from),
            trees: RefCell::default(),
        }
    }

    /// The file with other content; what is known of this one saves scanning
    /// most of that one.
    #[must_use]
    pub fn edited(&self, path: &str, bytes: Vec<u8>) -> FileText {
        let new = FileText::new(path, bytes);
        if let Some(found) = self.scan.get().filter(|_| new.language == self.language)
            && new.language == Language::C
        {
            let found = rescan(&self.bytes, found, &new.bytes);
            let _ = new.scan.set(found);
        }
        new
    }

    /// The file without what was found out about it.
    #[must_use]
    pub fn forgetful(&self) -> FileText {
        FileText {
            path: self.path.clone(),
            bytes: Arc::clone(&self.bytes),
            language: self.language,
            scan: OnceCell::new(),
            trees: RefCell::default(),
        }
    }

    /// Its content, to keep or to hand to another thread.
    #[must_use]
    pub fn shared(&self) -> Arc<Vec<u8>> {
        Arc::clone(&self.bytes)
    }

    /// Its path in the tree.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its content.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of a range; none for one that is not there.
    #[must_use]
    pub fn get(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Its language.
    #[must_use]
    pub fn language(&self) -> Language {
        self.language
    }

    /// Its top-level items; none where it is not C.
    #[must_use]
    pub fn scan(&self) -> &Scan {
        self.scan.get_or_init(|| match self.language {
            Language::C => scan(&self.bytes),
            Language::Plain => Scan::default(),
        })
    }

    /// Every place in `region` that has the tokens of `anchor`.
    #[must_use]
    pub fn find(&self, anchor: &Anchor, region: Range<usize>) -> Vec<Range<usize>> {
        match self.scan.get() {
            Some(scan) => anchor.find_among(&self.bytes, region, &scan.breaks(&self.bytes)),
            None => anchor.find(&self.bytes, region),
        }
    }

    /// The syntax tree of one item's bytes, parsed once.
    #[must_use]
    pub fn tree(&self, slice: Range<usize>) -> Option<Rc<SyntaxTree>> {
        let key = (slice.start, slice.end);
        if let Some(tree) = self.trees.borrow().get(&key) {
            return tree.clone();
        }
        let tree = SyntaxTree::parse(self.get(slice)).map(Rc::new);
        self.trees.borrow_mut().insert(key, tree.clone());
        tree
    }

    /// The whole lines that a span takes, if nothing else is on them.
    #[must_use]
    pub fn whole_lines(&self, span: Range<usize>) -> Option<Range<usize>> {
        match self.language {
            Language::C => whole_lines_c(&self.bytes, span),
            Language::Plain => whole_lines_plain(&self.bytes, span),
        }
    }

    /// `path:line` of an offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> String {
        format!("{}:{}", self.path, line_number(&self.bytes, offset))
    }

    /// The text of the line at an offset, trimmed.
    #[must_use]
    pub fn line_text(&self, offset: usize) -> String {
        String::from_utf8_lossy(line_at(&self.bytes, offset).trim_ascii()).into_owned()
    }
}
