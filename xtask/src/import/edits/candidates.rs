//! Edits by structure that may say one change of lines: the best first. None is
//! trusted; each is tried.

use std::ops::Range;

use crate::series::toml_text::{list, string};

use super::page::Page;
use super::{DeedText, NewEdit};

/// A text of more lines than this is named by its first and last one.
const WHOLE: usize = 4;
/// Lines that a place may take in on each side to be told from others.
const AROUND: usize = 3;

/// A change of lines in a file.
pub struct Change<'c> {
    /// The file's path.
    pub path: &'c str,
    /// The file before it.
    pub page: &'c Page,
    /// The lines that go; may be empty.
    pub old: Range<usize>,
    /// The text that comes in their place; may be empty.
    pub new: &'c str,
}

impl Change<'_> {
    /// The candidates.
    #[must_use]
    pub fn candidates(&self) -> Vec<NewEdit> {
        let mut out = Vec::new();
        let scopes = self.page.scopes(&self.old);
        if self.old.is_empty() {
            self.by_kind(&mut out);
            if scopes.is_empty() || self.in_kconfig() {
                self.beside_entries(&mut out);
            }
        } else if let Some(item) = self.page.item(&self.old) {
            out.push(self.stands_for(None, item));
        }
        // The narrowest container, then the whole file.
        let scopes = scopes.into_iter().take(1).map(Some).chain([None]);
        for scope in scopes {
            if self.old.is_empty() {
                self.beside_lines(scope.as_deref(), &mut out);
            }
            for extra in 0..=AROUND {
                for (up, down) in [(extra, 0), (0, extra), (extra, extra)] {
                    if extra > 0 || up == down {
                        self.over_lines(scope.as_deref(), up, down, &mut out);
                    }
                    if extra == 0 {
                        break;
                    }
                }
            }
        }
        out
    }

    fn in_kconfig(&self) -> bool {
        self.name().starts_with("Kconfig")
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    fn edit(&self, scope: Option<&str>, at: Option<String>) -> NewEdit {
        let mut keys = vec![("file", string(self.path))];
        keys.extend(scope.map(|s| ("within", s.to_owned())));
        keys.extend(at.map(|at| ("at", at)));
        NewEdit { keys, text: None }
    }

    fn with_text(&self, mut edit: NewEdit, key: &'static str, text: &str) -> NewEdit {
        // Templates have plain line ends; those of the file come back.
        let text = text.replace("\r\n", "\n");
        edit.text = Some(DeedText { key, text, file: self.name().to_owned() });
        edit
    }

    /// What has a deed of its own: `#include`, a Makefile's objects, MAINTAINERS.
    fn by_kind(&self, out: &mut Vec<NewEdit>) {
        let lines: Vec<&str> = self.new.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        let headers: Option<Vec<String>> = lines.iter().map(|l| header(l)).collect();
        if let Some(headers) = headers.filter(|h| !h.is_empty()) {
            let mut edit = self.edit(None, None);
            let value = match headers.as_slice() {
                [one] => string(one),
                several => list(several),
            };
            edit.keys.push(("add-include", value));
            out.push(edit);
        }
        let makefile = ["Makefile", "Kbuild"].iter().any(|n| self.name().starts_with(n));
        if let ([line], true) = (lines.as_slice(), makefile) {
            let above = self.anchor(self.old.start.wrapping_sub(1));
            for at in [None, above] {
                let mut edit = self.edit(None, at.map(|a| format!("{{ text = {} }}", string(&a))));
                edit.keys.push(("add-object", string(line)));
                out.push(edit);
            }
        }
        if self.path == "MAINTAINERS" {
            let text = format!("{}\n", self.new.trim_matches('\n'));
            out.push(self.with_text(self.edit(None, None), "add-maintainers", &text));
        }
    }

    /// Behind or before a function, type or Kconfig entry.
    fn beside_entries(&self, out: &mut Vec<NewEdit>) {
        let (above, below) = self.page.neighbours(&self.old);
        let text = format!("{}\n", self.new.trim_matches('\n'));
        for (place, deed) in [(above, "insert-after"), (below, "insert-before")] {
            if let Some(place) = place {
                out.push(self.with_text(self.edit(None, Some(place)), deed, &text));
            }
        }
    }

    /// Right behind the line above, or right before the line below.
    fn beside_lines(&self, scope: Option<&str>, out: &mut Vec<NewEdit>) {
        let at = self.old.start;
        for count in [1, 2] {
            let above = at.checked_sub(count).map(|begin| begin..at);
            let below = Some(at..at + count).filter(|l| l.end <= self.page.len());
            for (lines, deed) in [(above, "insert-after"), (below, "insert-before")] {
                if let Some(place) = lines.and_then(|l| self.place(&l)) {
                    out.push(self.with_text(self.edit(scope, Some(place)), deed, self.new));
                }
            }
        }
    }

    /// In place of the lines, with so many more above and below.
    fn over_lines(&self, scope: Option<&str>, up: usize, down: usize, out: &mut Vec<NewEdit>) {
        let mut lines =
            self.old.start.saturating_sub(up)..(self.old.end + down).min(self.page.len());
        // A place begins and ends with text.
        while lines.start > 0
            && !self.page.has_text(lines.start)
            && self.old.start - lines.start <= AROUND
        {
            lines.start -= 1;
        }
        while lines.end < self.page.len()
            && !self.page.has_text(lines.end.wrapping_sub(1))
            && lines.end - self.old.end <= AROUND
        {
            lines.end += 1;
        }
        let Some(place) = self.place(&lines) else { return };
        let text = [
            self.page.lines(lines.start..self.old.start),
            self.new,
            self.page.lines(self.old.end..lines.end),
        ]
        .concat();
        let edit = self.edit(scope, Some(place));
        out.push(self.replaced(edit, &text));
    }

    fn stands_for(&self, scope: Option<&str>, place: String) -> NewEdit {
        self.replaced(self.edit(scope, Some(place)), self.new)
    }

    fn replaced(&self, mut edit: NewEdit, text: &str) -> NewEdit {
        if text.trim().is_empty() {
            edit.keys.push(("delete", "true".to_owned()));
            return edit;
        }
        self.with_text(edit, "replace", text)
    }

    /// A locator of these lines, by their text; `None` where the ends have none.
    fn place(&self, lines: &Range<usize>) -> Option<String> {
        let first = self.anchor(lines.start)?;
        let last = self.anchor(lines.end.checked_sub(1)?)?;
        if lines.len() <= WHOLE {
            let all = self.page.lines(lines.clone());
            let text = all.lines().map(str::trim).collect::<Vec<_>>().join("\n");
            return Some(format!("{{ text = {} }}", string(&text)));
        }
        Some(format!(
            "{{ from = {{ text = {} }}, to = {{ text = {} }} }}",
            string(&first),
            string(&last)
        ))
    }

    /// The text of a line, as an anchor has it.
    fn anchor(&self, line: usize) -> Option<String> {
        let text = self.page.lines(line..line.checked_add(1)?).trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// `#include <linux/x.h>` as `add-include` names it.
fn header(line: &str) -> Option<String> {
    let name = line.strip_prefix("#include ")?.trim();
    match name.strip_prefix('<').and_then(|n| n.strip_suffix('>')) {
        Some(plain) => Some(plain.to_owned()),
        None => name.starts_with('"').then(|| name.to_owned()),
    }
}
