//! The series that `new-series` begins with: small, with a comment for
//! everything that may be wanted next, and fit to be rendered at once.

use crate::error::Result;

use super::draft::Draft;
use super::toml_text;

/// What the skeleton is filled with.
#[derive(Clone, Debug)]
pub struct Skeleton<'s> {
    /// The series' name.
    pub name: &'s str,
    /// Subject of its cover letter.
    pub title: &'s str,
    /// `Name <mail>`.
    pub author: &'s str,
    /// `YYYYMMDD-topic-12hex`.
    pub change_id: &'s str,
    /// In TOML's notation, with offset.
    pub date: &'s str,
    /// The base that it is begun on.
    pub base: &'s str,
}

const SERIES: &str = include_str!("skeleton/series.toml");
const TEMPLATES: [(&str, &str); 3] = [
    ("cover.tera", include_str!("skeleton/cover.tera")),
    ("header.msg", include_str!("skeleton/header.msg")),
    ("header.h", include_str!("skeleton/header.h")),
];

/// What git and this tool put where an author is to write.
const PLACEHOLDERS: [&str; 6] = [
    "*** SUBJECT HERE ***",
    "*** BLURB HERE ***",
    ": Add what the subject says",
    "What is wrong today, what this patch changes, and why that is right.",
    "What the problem is, and whom it hurts.",
    "and elsewhere, and what was measured.",
];

/// What in `text` is still as the skeleton had it.
pub fn left_in(text: &str) -> impl Iterator<Item = &'static str> {
    PLACEHOLDERS.into_iter().filter(|p| text.contains(p))
}

impl Skeleton<'_> {
    /// Writes its files.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, draft: &Draft) -> Result<()> {
        draft.series_file("series.toml", self.fill(SERIES).as_bytes())?;
        for (name, text) in TEMPLATES {
            draft.template(name, self.fill(text).as_bytes())?;
        }
        Ok(())
    }

    fn fill(&self, text: &str) -> String {
        // A C identifier must not begin with a digit.
        let mut ident = self.name.replace('-', "_").to_lowercase();
        if ident.starts_with(|c: char| c.is_ascii_digit()) {
            ident.insert(0, '_');
        }
        let values = [
            ("@name@", self.name.to_owned()),
            ("@ident@", ident.clone()),
            ("@IDENT@", ident.to_uppercase()),
            ("@change-id@", toml_text::string(self.change_id)),
            ("@date@", self.date.to_owned()),
            ("@base@", toml_text::string(self.base)),
            // What the user wrote comes last: no marks are sought in it.
            ("@author@", toml_text::string(self.author)),
            ("@title@", toml_text::string(self.title)),
        ];
        let mut out = String::with_capacity(text.len() + 256);
        let mut rest = text;
        while let Some(at) = rest.find('@') {
            let (before, mark) = rest.split_at(at);
            out.push_str(before);
            match values.iter().find(|(name, _)| mark.starts_with(name)) {
                Some((name, value)) => {
                    out.push_str(value);
                    rest = mark.get(name.len()..).unwrap_or_default();
                }
                None => {
                    out.push('@');
                    rest = mark.get(1..).unwrap_or_default();
                }
            }
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::plan::{Choice, plan};
    use crate::render::source::Memory;
    use crate::render::template::BaseFacts;
    use crate::render::{Verdict, cocci};
    use crate::series::version::Version;

    fn skeleton<'s>(name: &'s str, title: &'s str) -> Skeleton<'s> {
        Skeleton {
            name,
            title,
            author: "Joe \"J\" H <joe@example.org>",
            change_id: "20241129-x-431ffd03aa5e",
            date: "2024-11-29T12:00:00Z",
            base: "6.12",
        }
    }

    #[test]
    fn it_renders_at_once_whatever_it_is_called() {
        for (name, title) in [("a", "t"), ("9p-x", "{{ x }} @name@ \\ \""), ("Snake_case", "Fünf")]
        {
            let t = tempfile::tempdir().unwrap();
            let draft = Draft::begin(t.path(), name).unwrap();
            skeleton(name, title).write(&draft).unwrap();
            let series = draft.load().unwrap();
            assert_eq!(series.title, title);
            let facts = BaseFacts { name: "b".into(), version: Version::new(6, 12, 0) };
            let choice = Choice::default();
            let plan = plan(&series, &facts, &Memory::default(), &choice, &cocci::Spatch).unwrap();
            assert_eq!(plan.verdict, Verdict::Applies);
            let file = plan.patches[0].changes.get(&format!("include/linux/{name}.h"));
            let bytes = file.unwrap().as_ref().unwrap().text.bytes().to_vec();
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.contains(title) && !text.contains("@ident@"), "{text}");
            assert_eq!(left_in(&plan.cover.text).count(), 2);
            assert_eq!(left_in(&plan.patches[0].message).count(), 2);
            assert!(
                plan.cover.text.contains("these 1 patches") && plan.cover.text.contains("6.12")
            );
            assert!(crate::series::lint::lint(&series, &[]).unwrap().is_empty());
        }
    }

    #[test]
    fn what_is_commented_out_holds_when_it_is_not() {
        let t = tempfile::tempdir().unwrap();
        let draft = Draft::begin(t.path(), "a-b").unwrap();
        let one = skeleton("a-b", "t");
        one.write(&draft).unwrap();
        let text: Vec<String> = one
            .fill(SERIES)
            .lines()
            .map(|line| match line.strip_prefix('#') {
                // Words have a blank behind the mark, TOML has none.
                Some(rest) if !rest.starts_with([' ', ':']) => rest.to_owned(),
                _ => line.to_owned(),
            })
            .collect();
        draft.series_file("series.toml", text.join("\n").as_bytes()).unwrap();
        let series = draft.load().unwrap();
        assert_eq!((series.patches.len(), series.patches[0].edits.len()), (2, 3));
        assert_eq!((series.probes.len(), series.changelog.len(), series.to.len()), (1, 1, 1));
    }
}
