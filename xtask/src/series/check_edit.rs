//! Checks edits: exactly one deed, with what that deed needs and nothing that
//! would go unheard.

use crate::error::{Error, Result};

use super::check::Checker;
use super::key_path::KeyPath;
use super::model::{Deed, Edit, Text, Times};
use super::raw::RawEdit;
use super::raw_value::{RawText, RawTimes};

/// Names that templates see besides captures.
const RESERVED: [&str; 7] = ["vars", "has", "base", "series", "patch", "loop", "__tera_context"];

impl Checker<'_> {
    /// Edits of a patch or a mutant.
    pub(super) fn edits(&self, raw: &[RawEdit], path: &KeyPath) -> Result<Vec<Edit>> {
        raw.iter().enumerate().map(|(i, e)| self.edit(e, &path.index(i))).collect()
    }

    fn edit(&self, raw: &RawEdit, path: &KeyPath) -> Result<Edit> {
        let deed = self.deed(raw, path)?;
        let mut files = raw.file.0.clone();
        for (i, file) in files.iter().enumerate() {
            self.tree_path(file, &path.key("file").index(i))?;
        }
        match &deed {
            Some(Deed::Diff(_)) if !files.is_empty() => {
                return Err(self.source.error_at(
                    &path.key("file"),
                    "a diff names its files itself: leave `file` out",
                ));
            }
            Some(Deed::Diff(_)) => {}
            Some(Deed::AddMaintainers(_)) if files.is_empty() => {
                files.push("MAINTAINERS".to_owned());
            }
            Some(Deed::Create { .. }) if files.len() > 1 => {
                return Err(self.source.error_at(&path.key("file"), "`create` makes one file"));
            }
            _ if files.is_empty() => {
                return Err(self
                    .source
                    .error_at(path, "an edit of no file")
                    .hint("add `file = \"path/in/the/tree\"`"));
            }
            _ => {}
        }
        let at = match &raw.at {
            Some(l) => Some(self.locator(l, &path.key("at"))?),
            None => None,
        };
        self.place_fits_deed(raw, deed.as_ref(), at.is_some(), path)?;
        Ok(Edit {
            files,
            when: self.probes(&raw.when, &path.key("when"))?,
            unless: self.probes(&raw.unless, &path.key("unless"))?,
            within: self.within(&raw.within, &path.key("within"))?,
            at,
            times: match raw.times {
                None => Times::Exactly(1),
                Some(RawTimes::Exactly(n)) => Times::Exactly(n as usize),
                Some(RawTimes::All) => Times::All,
            },
            captures: raw
                .capture
                .iter()
                .map(|(name, c)| {
                    let path = path.key("capture").key(name);
                    self.capture_name(name, &path)?;
                    Ok((name.clone(), self.capture(c, &path)?))
                })
                .collect::<Result<_>>()?,
            indent: raw.indent,
            separate: raw.separate,
            deed,
            path: path.clone(),
        })
    }

    fn capture_name(&self, name: &str, path: &KeyPath) -> Result<()> {
        let mut chars = name.chars();
        let good = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !good {
            return Err(self.source.error_at(path, "a capture's name has letters, digits and _"));
        }
        if RESERVED.contains(&name) {
            let what = format!("\"{name}\" is a name of its own in templates");
            return Err(self
                .source
                .error_at(path, what)
                .hint(format!("another one than: {}", RESERVED.join(", "))));
        }
        Ok(())
    }

    fn deed(&self, raw: &RawEdit, path: &KeyPath) -> Result<Option<Deed>> {
        let mut deeds: Vec<Deed> = Vec::new();
        type FromText = fn(Text) -> Deed;
        let texts: [(&str, &Option<RawText>, FromText); 6] = [
            ("insert-before", &raw.insert_before, Deed::InsertBefore),
            ("insert-after", &raw.insert_after, Deed::InsertAfter),
            ("replace", &raw.replace, Deed::Replace),
            ("add-maintainers", &raw.add_maintainers, Deed::AddMaintainers),
            ("diff", &raw.diff, Deed::Diff),
            ("cocci", &raw.cocci, Deed::Cocci),
        ];
        for (key, text, make) in texts {
            if let Some(text) = text {
                deeds.push(make(self.text(text, &path.key(key))?));
            }
        }
        for (key, flag, deed) in
            [("delete", raw.delete, Deed::Delete), ("remove", raw.remove, Deed::Remove)]
        {
            match flag {
                Some(true) => deeds.push(deed),
                Some(false) => {
                    return Err(self
                        .source
                        .error_at(&path.key(key), format!("`{key} = false` does nothing")));
                }
                None => {}
            }
        }
        if let Some(far) = &raw.move_before {
            deeds.push(Deed::MoveBefore(self.far(far, &path.key("move-before"))?));
        }
        if let Some(far) = &raw.move_after {
            deeds.push(Deed::MoveAfter(self.far(far, &path.key("move-after"))?));
        }
        if let Some(text) = &raw.create {
            let executable = match raw.mode.as_deref() {
                None | Some("644") => false,
                Some("755") => true,
                Some(_) => {
                    return Err(self
                        .source
                        .error_at(&path.key("mode"), "a mode is \"644\" or \"755\""));
                }
            };
            deeds.push(Deed::Create { text: self.text(text, &path.key("create"))?, executable });
        } else if raw.mode.is_some() {
            return Err(self.source.error_at(&path.key("mode"), "`mode` goes with `create`"));
        }
        if let Some(to) = &raw.rename {
            self.tree_path(to, &path.key("rename"))?;
            deeds.push(Deed::Rename(to.clone()));
        }
        if !raw.add_include.0.is_empty() {
            let all = raw.add_include.0.iter().enumerate().map(|(i, header)| {
                include_target(header).ok_or_else(|| {
                    self.source.error_at(
                        &path.key("add-include").index(i),
                        "a header is linux/x.h, <linux/x.h> or \"x.h\"",
                    )
                })
            });
            deeds.push(Deed::AddInclude(all.collect::<Result<_>>()?));
        }
        if let Some(line) = &raw.add_object {
            if line.contains('\n') || !line.contains('=') {
                return Err(self.source.error_at(
                    &path.key("add-object"),
                    "one Makefile line such as \"obj-$(CONFIG_X) += x.o\"",
                ));
            }
            deeds.push(Deed::AddObject(line.trim().to_owned()));
        }
        if let [first, second, ..] = deeds.as_slice() {
            return Err(self
                .source
                .error_at(
                    &path.key(second.key()),
                    format!("two deeds in one edit: `{}` and `{}`", first.key(), second.key()),
                )
                .hint("make two edits of it"));
        }
        if deeds.is_empty() && raw.capture.is_empty() {
            return Err(self
                .source
                .error_at(path, "an edit that does nothing")
                .hint("add one deed: insert-before, insert-after, replace, delete, create, …"));
        }
        Ok(deeds.pop())
    }

    /// Whether place keys are there when the deed needs them, and only then.
    fn place_fits_deed(
        &self,
        raw: &RawEdit,
        deed: Option<&Deed>,
        has_at: bool,
        path: &KeyPath,
    ) -> Result<()> {
        let Some(deed) = deed else {
            return if has_at {
                Err(self.idle(&path.key("at"), "at", "an edit that only captures"))
            } else {
                Ok(())
            };
        };
        let what = format!("`{}`", deed.key());
        let (needs_at, takes_at, takes_text) = match deed {
            Deed::InsertBefore(_) | Deed::InsertAfter(_) | Deed::Replace(_) => (true, true, true),
            Deed::Delete | Deed::MoveBefore(_) | Deed::MoveAfter(_) => (true, true, false),
            Deed::AddObject(_) => (false, true, false),
            _ => (false, false, false),
        };
        if needs_at && !has_at {
            return Err(self
                .source
                .error_at(&path.key(deed.key()), format!("{what} without a place"))
                .hint("add `at = { … }` (series/README.md, \"Locators\")"));
        }
        let captures = !raw.capture.is_empty();
        let idle = [
            ("at", has_at && !takes_at),
            ("within", !raw.within.0.is_empty() && !takes_at && !captures),
            ("times", raw.times.is_some() && !needs_at),
            ("indent", raw.indent && !takes_text),
            ("separate", raw.separate.is_some() && !needs_at),
        ];
        match idle.iter().find(|(_, there)| *there) {
            Some((key, _)) => Err(self.idle(&path.key(key), key, &what)),
            None => Ok(()),
        }
    }

    fn idle(&self, path: &KeyPath, key: &str, with: &str) -> Error {
        self.source.error_at(path, format!("`{key}` means nothing with {with}"))
    }
}

/// A header with its delimiters, as an `#include` line has it.
fn include_target(header: &str) -> Option<String> {
    let plain =
        |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_graphic() && !b"<>\"".contains(&b));
    let quoted = |open: char, close: char| {
        header.strip_prefix(open)?.strip_suffix(close).filter(|inner| plain(inner))
    };
    if quoted('<', '>').is_some() || quoted('"', '"').is_some() {
        Some(header.to_owned())
    } else if plain(header) {
        Some(format!("<{header}>"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::include_target;

    #[test]
    fn header_names() {
        let cases = [
            ("linux/x.h", Some("<linux/x.h>")),
            ("<linux/x.h>", Some("<linux/x.h>")),
            ("\"i40e.h\"", Some("\"i40e.h\"")),
            ("", None),
            ("a b.h", None),
            ("<x.h", None),
            ("<>", None),
            ("x.h>\n#include <y.h", None),
        ];
        for (from, to) in cases {
            assert_eq!(include_target(from).as_deref(), to, "{from}");
        }
    }
}
