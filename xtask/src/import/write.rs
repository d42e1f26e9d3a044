//! Writes an imported series: `series.toml` and its templates.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::Offset;

use crate::error::Result;
use crate::mail::{Date, Person, Prerequisite};
use crate::series::draft::Draft;
use crate::series::toml_text;

use super::edits::{DeedText, NewEdit};
use super::escape::escape;
use super::incoming::{Incoming, IncomingPatch};

/// A text of more lines than this gets a file of its own.
const INLINE: usize = 6;

/// What is not in the source itself.
#[derive(Clone, Debug)]
pub struct Frame<'f> {
    /// The author of the series, who sends it.
    pub author: &'f Person,
    /// The date of the series.
    pub date: Date,
    /// `YYYYMMDD-topic-12hex`.
    pub change_id: &'f str,
    /// The base that it was proved on.
    pub base: &'f str,
    /// The names of the patches.
    pub names: &'f [String],
}

/// Writes the series into a draft; `edits` has those of each patch.
///
/// # Errors
/// When the draft cannot be written.
pub fn write(
    draft: &Draft,
    incoming: &Incoming,
    frame: &Frame<'_>,
    edits: &[Vec<NewEdit>],
) -> Result<()> {
    draft.clear_templates()?;
    let mut writer = Writer { draft, toml: String::new(), taken: BTreeSet::new() };
    writer.head(incoming, frame)?;
    for (i, patch) in incoming.patches.iter().enumerate() {
        let (Some(name), Some(edits)) = (frame.names.get(i), edits.get(i)) else { continue };
        let seconds = i64::try_from(i).unwrap_or(i64::MAX).saturating_add(1);
        let expected = frame.date.plus_seconds(seconds).ok();
        writer.patch(name, patch, frame, expected)?;
        for edit in edits {
            writer.edit(name, edit)?;
        }
    }
    draft.series_file("series.toml", writer.toml.as_bytes())
}

struct Writer<'d> {
    draft: &'d Draft,
    toml: String,
    /// Names of templates.
    taken: BTreeSet<String>,
}

impl Writer<'_> {
    fn key(&mut self, key: &str, value: &str) {
        let _ = writeln!(self.toml, "{key:<9} = {value}");
    }

    fn comment(&mut self, text: &str) {
        for line in text.lines() {
            // No control character may stand in a comment but the tab.
            let line: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
            let line = format!("# {line}");
            let _ = writeln!(self.toml, "{}", line.trim_end());
        }
    }

    fn head(&mut self, incoming: &Incoming, frame: &Frame<'_>) -> Result<()> {
        self.toml.push_str("#:schema ../series.schema.json\n");
        self.comment(&format!("Imported from {}.", incoming.origin));
        self.toml.push('\n');
        let first = incoming.patches.first().map_or("", IncomingPatch::subject);
        let title = incoming.cover.as_ref().map(|(title, _)| title.trim());
        let title = title.filter(|t| !t.is_empty()).unwrap_or(first);
        self.key("title", &toml_text::string(&one_line(title)));
        for (key, value) in [("list", &incoming.list), ("prefix", &incoming.prefix)] {
            if let Some(value) = value {
                self.key(key, &toml_text::string(value));
            }
        }
        self.key("change-id", &toml_text::string(frame.change_id));
        if incoming.version > 1 {
            self.key("version", &incoming.version.to_string());
        }
        self.key("author", &toml_text::string(&frame.author.verbatim()));
        self.key("date", &date(frame.date));
        if let Some((_, text)) = &incoming.cover {
            let name = self.template("cover.tera", text)?;
            self.key("cover", &toml_text::string(&name));
        }
        for (key, people) in [("to", &incoming.to), ("cc", &incoming.cc)] {
            if !people.is_empty() {
                let texts: Vec<String> = people.iter().map(Person::verbatim).collect();
                let texts: Vec<String> = texts
                    .iter()
                    .map(|t| match t.strip_prefix('<').and_then(|t| t.strip_suffix('>')) {
                        Some(bare) => bare.to_owned(),
                        None => t.clone(),
                    })
                    .collect();
                self.key(key, &toml_text::list(&texts));
            }
        }
        self.key("bases", &toml_text::list(&[frame.base.to_owned()]));
        for change in &incoming.changelog {
            self.toml.push_str("\n[[changelog]]\n");
            self.key("version", &change.version.to_string());
            if !change.text.is_empty() {
                self.key("text", &toml_text::string(&change.text));
            }
            if let Some(link) = &change.link {
                self.key("link", &toml_text::string(link));
            }
        }
        self.prerequisites(incoming);
        Ok(())
    }

    /// What it needs first; a line that is of no known form stays as a comment.
    fn prerequisites(&mut self, incoming: &Incoming) {
        let mut seen = Vec::new();
        for line in &incoming.prerequisites {
            let text = line.strip_prefix("prerequisite-").unwrap_or(line);
            let Ok(one) = Prerequisite::parse(text) else {
                self.toml.push('\n');
                self.comment(line);
                continue;
            };
            if seen.contains(&one) {
                continue;
            }
            self.toml.push_str("\n[[prerequisites]]\n");
            match &one {
                Prerequisite::Change(id, version) => {
                    self.key("change-id", &toml_text::string(&format!("{id}:v{version}")));
                }
                Prerequisite::Message(id) => self.key("message-id", &toml_text::string(id)),
                Prerequisite::Patch(id) => {
                    self.key("patch-id", &toml_text::string(&id.to_string()));
                }
            }
            seen.push(one);
        }
    }

    fn patch(
        &mut self,
        name: &str,
        patch: &IncomingPatch,
        frame: &Frame<'_>,
        expected: Option<Date>,
    ) -> Result<()> {
        self.toml.push('\n');
        self.comment(&"-".repeat(75));
        self.comment(&patch.notes);
        self.toml.push_str("[[patch]]\n");
        self.key("name", &toml_text::string(name));
        let file = self.template(&format!("{name}.msg"), &patch.message)?;
        self.key("message", &toml_text::string(&file));
        if patch.author != *frame.author {
            self.key("author", &toml_text::string(&patch.author.verbatim()));
        }
        if let Some(own) = patch.date.filter(|d| Some(*d) != expected) {
            self.key("date", &date(own));
        }
        Ok(())
    }

    fn edit(&mut self, patch: &str, edit: &NewEdit) -> Result<()> {
        self.toml.push_str("\n[[patch.edit]]\n");
        for (key, value) in &edit.keys {
            let _ = writeln!(self.toml, "{key:<6} = {value}");
        }
        if let Some(text) = &edit.text {
            let value = self.text(patch, text)?;
            let _ = writeln!(self.toml, "{:<6} = {value}", text.key);
        }
        Ok(())
    }

    fn text(&mut self, patch: &str, text: &DeedText) -> Result<String> {
        let own = ["create", "diff"].contains(&text.key);
        if !own && text.text.lines().count() <= INLINE {
            return Ok(inline(&text.text));
        }
        let name = match text.key {
            "create" => text.file.clone(),
            "diff" if text.file == ".diff" => format!("{patch}.diff"),
            _ => format!("{patch}-{}", text.file),
        };
        Ok(toml_text::string(&self.template(&name, &text.text)?))
    }

    /// Writes a template under `name`, or one like it that is free; gives that.
    fn template(&mut self, name: &str, text: &str) -> Result<String> {
        let (stem, ending) = match name.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() => (stem, format!(".{ending}")),
            _ => (name, String::new()),
        };
        let mut free = name.to_owned();
        let mut n = 2;
        while !self.taken.insert(free.to_lowercase()) {
            free = format!("{stem}-{n}{ending}");
            n += 1;
        }
        self.draft.template(&free, escape(text).as_bytes())?;
        Ok(free)
    }
}

/// A text as `{ text = "…" }`: without the last line break, which comes back
/// with the edit, unless a blank line would go with it.
#[must_use]
pub fn inline(text: &str) -> String {
    let text = match text.strip_suffix('\n') {
        Some(short) if !short.is_empty() && !short.ends_with('\n') => short,
        _ => text,
    };
    format!("{{ text = {} }}", toml_text::string(&escape(text)))
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c == '\0')
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A date in TOML's notation.
fn date(date: Date) -> String {
    let offset = Offset::from_seconds(date.offset_minutes().saturating_mul(60))
        .ok()
        .filter(|o| o.seconds() != 0 && o.seconds().abs() < 86_400);
    let time = Timestamp::from_second(date.seconds()).unwrap_or_default();
    match offset {
        None => time.to_string(),
        Some(offset) => {
            let minutes = offset.seconds().abs() / 60;
            let sign = if offset.is_negative() { '-' } else { '+' };
            let civil = offset.to_datetime(time);
            format!("{civil}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    }
}

/// Names for patches, by their subjects: words behind the subsystem, joined by
/// dashes; none twice.
#[must_use]
pub fn names<'s>(subjects: impl Iterator<Item = &'s str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    subjects
        .map(|subject| {
            let words = subject.rsplit_once(": ").map_or(subject, |(_, text)| text).to_lowercase();
            let mut name = String::new();
            for word in words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty())
            {
                if name.len() + word.len() > 40 {
                    break;
                }
                if !name.is_empty() {
                    name.push('-');
                }
                name.push_str(word);
            }
            if name.is_empty() {
                "patch".clone_into(&mut name);
            }
            let mut free = name.clone();
            let mut n = 2;
            while !taken.insert(free.clone()) {
                free = format!("{name}-{n}");
                n += 1;
            }
            free
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_names() {
        for (seconds, offset, text) in [
            (1_732_881_601, 0, "2024-11-29T12:00:01Z"),
            (1_732_881_601, 330, "2024-11-29T17:30:01+05:30"),
            (1_732_881_601, -90, "2024-11-29T10:30:01-01:30"),
        ] {
            let own = date(Date::new(seconds, offset).unwrap());
            assert_eq!(own, text);
            let toml: toml::Table = format!("x = {own}").parse().unwrap();
            assert!(toml["x"].is_datetime());
        }
        let subjects = ["net: dsa: Add x_y() (fast)", "net: Add x_y(), fast", "Köln", "ß: "];
        let names = names(subjects.into_iter());
        assert_eq!(names, ["add-x-y-fast", "add-x-y-fast-2", "k-ln", "patch"]);
        assert_eq!(inline("a\n"), "{ text = \"a\" }");
        assert_eq!(inline("a\n\n"), "{ text = \"a\\n\\n\" }");
        assert_eq!(inline("\n"), "{ text = \"\\n\" }");
    }
}
