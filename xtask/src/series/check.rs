//! Checks a series: raw TOML becomes the model, and what does not hold is an
//! error that points to its place.

use std::path::Path;

use crate::error::{Error, Result};
use crate::host::paths::{as_meant_here, stay_below};
use crate::host::process;
use crate::mail;

use super::excerpt::{Document, did_you_mean};
use super::key_path::KeyPath;
use super::model::{Change, Date, Mutant, Patch, Person, Series, Test, Text};
use super::places::Places;
use super::raw::{RawMutant, RawPatch, RawSeries, RawTest};
use super::raw_value::{RawDate, RawText};
use super::templates;

/// Seconds that a test may take where it does not say.
const TEST_TIMEOUT: u64 = 120;

/// What checks need to know of the series as a whole.
pub(super) struct Checker<'c> {
    pub(super) source: &'c Document,
    pub(super) project: &'c Path,
    pub(super) series: &'c str,
    pub(super) probe_names: Vec<&'c str>,
    pub(super) patch_names: Vec<&'c str>,
}

/// Checks a series that was read from `source`.
pub(super) fn series(
    raw: &RawSeries,
    source: &Document,
    project: &Path,
    name: &str,
) -> Result<Series> {
    let checker = Checker {
        source,
        project,
        series: name,
        probe_names: raw.probes.keys().map(String::as_str).collect(),
        patch_names: raw.patch.iter().map(|p| p.name.as_str()).collect(),
    };
    let root = KeyPath::root();
    let c = &checker;
    c.one_line(&raw.title, &root.key("title"))?;
    if let Some(id) = &raw.change_id {
        c.change_id(id, &root.key("change-id"))?;
    }
    let version = raw.version.unwrap_or(1);
    if version == 0 {
        return Err(source.error_at(&root.key("version"), "versions count from 1"));
    }
    for (key, value) in [("list", &raw.list), ("prefix", &raw.prefix)] {
        if let Some(value) = value {
            c.one_line(value, &root.key(key))?;
            let prefix = mail::Prefix { word: value.clone(), ..mail::Prefix::default() };
            prefix.validate().map_err(|e| {
                let error = source.error_at(&root.key(key), "it stands in the subject's brackets");
                let error = e.what_was_found().iter().fold(error, |all, f| all.found(f.clone()));
                e.hints().iter().fold(error, |all, h| all.hint(h.clone()))
            })?;
        }
    }
    for (key, all) in [("to", &raw.to), ("cc", &raw.cc)] {
        for (i, text) in all.iter().enumerate() {
            c.address(text, &root.key(key).index(i))?;
        }
    }
    for name in raw.probes.keys().chain(raw.vars.keys()) {
        c.identifier(name, &root)?;
    }
    let vars = raw.vars.clone();
    let patches = raw
        .patch
        .iter()
        .enumerate()
        .map(|(i, p)| c.patch(p, i, &root.key("patch").index(i)))
        .collect::<Result<Vec<_>>>()?;
    if patches.is_empty() {
        return Err(Error::usage(format!("{}: a series without patches", source.label))
            .hint("add a [[patch]] (series/README.md shows one)"));
    }
    Ok(Series {
        name: name.to_owned(),
        project: project.to_owned(),
        source: source.clone(),
        title: raw.title.clone(),
        list: raw.list.clone(),
        prefix: raw.prefix.clone().unwrap_or_else(|| "PATCH".to_owned()),
        change_id: raw.change_id.clone(),
        version,
        author: c.person(&raw.author, &root.key("author"))?,
        date: c.date(raw.date, &root.key("date"))?,
        cover: raw.cover.as_ref().map(|t| c.text(t, &root.key("cover"))).transpose()?,
        to: raw.to.clone(),
        cc: raw.cc.clone(),
        bases: raw.bases.iter().map(|base| as_meant_here(project, base)).collect(),
        absorbed: c.probes(&raw.absorbed, &root.key("absorbed"))?,
        needs: c.probes(&raw.needs, &root.key("needs"))?,
        vars,
        probes: raw
            .probes
            .iter()
            .map(|(name, p)| Ok((name.clone(), c.named_probe(p, &root.key("probes").key(name))?)))
            .collect::<Result<_>>()?,
        changelog: c.changelog(raw, &root.key("changelog"))?,
        prerequisites: c.prerequisites(&raw.prerequisites, &root.key("prerequisites"))?,
        patches,
        tests: c.tests(&raw.test, &root.key("test"))?,
        inspect: c.inspect(&raw.inspect, &root.key("inspect"))?,
        benches: c.benches(&raw.bench, &root.key("bench"))?,
        places: Places::load(&project.join("series").join(name))?,
    })
}

/// Checks a mutant of `series` that was read from `source`.
pub(super) fn mutant(
    raw: &RawMutant,
    source: &Document,
    series: &Series,
    name: &str,
) -> Result<Mutant> {
    let c = Checker {
        source,
        project: &series.project,
        series: &series.name,
        probe_names: series.probes.iter().map(|(n, _)| n.as_str()).collect(),
        patch_names: series.patches.iter().map(|p| p.name.as_str()).collect(),
    };
    let root = KeyPath::root();
    c.one_line(&raw.title, &root.key("title"))?;
    if !series.tests.iter().any(|t| t.name == raw.test) {
        let names: Vec<&str> = series.tests.iter().map(|t| t.name.as_str()).collect();
        let error = source.error_at(&root.key("test"), format!("no test \"{}\"", raw.test));
        return Err(c.with_near(error, &raw.test, &names, "the series has"));
    }
    if raw.edit.is_empty() {
        return Err(Error::usage(format!("{}: a mutant without edits", source.label)));
    }
    c.optional_patches(&raw.with, &root.key("with"))?;
    Ok(Mutant {
        name: name.to_owned(),
        source: source.clone(),
        title: raw.title.clone(),
        why: raw.why.clone(),
        test: raw.test.clone(),
        caught_by: raw.caught_by.clone(),
        with: raw.with.clone(),
        when: c.probes(&raw.when, &root.key("when"))?,
        edits: c.edits(&raw.edit, &root.key("edit"))?,
    })
}

impl Checker<'_> {
    fn patch(&self, raw: &RawPatch, index: usize, path: &KeyPath) -> Result<Patch> {
        let name = &raw.name;
        self.plain_name(name, &path.key("name"))?;
        if self.patch_names.iter().take(index).any(|n| n == name) {
            return Err(self
                .source
                .error_at(&path.key("name"), format!("a second patch \"{name}\"")));
        }
        if raw.edit.is_empty() {
            return Err(self.source.error_at(path, format!("patch \"{name}\" has no edits")));
        }
        // A patch may only ask for those before it: the others are not judged yet.
        let earlier = Checker {
            patch_names: self.patch_names.iter().take(index).copied().collect(),
            probe_names: self.probe_names.clone(),
            ..*self
        };
        Ok(Patch {
            name: name.clone(),
            message: self.text(&raw.message, &path.key("message"))?,
            optional: raw.optional,
            author: raw.author.as_ref().map(|a| self.person(a, &path.key("author"))).transpose()?,
            date: raw.date.map(|d| self.date(d, &path.key("date"))).transpose()?,
            absorbed: earlier.probes(&raw.absorbed, &path.key("absorbed"))?,
            needs: earlier.probes(&raw.needs, &path.key("needs"))?,
            edits: earlier.edits(&raw.edit, &path.key("edit"))?,
            path: path.clone(),
        })
    }

    /// A template reference: it must stay below its folder and be there.
    pub(super) fn text(&self, raw: &RawText, path: &KeyPath) -> Result<Text> {
        let file = match raw {
            RawText::Inline(text) => return Ok(Text::Inline(text.clone())),
            RawText::File(file) => file,
        };
        stay_below(file, "template").map_err(|e| e.context(self.source.position_of(path)))?;
        if templates::find(self.project, self.series, file)?.is_some() {
            return Ok(Text::File(file.clone()));
        }
        let error = self
            .source
            .error_at(path, format!("no template \"{file}\" in templates/{}/", self.series));
        if file.contains(|c: char| c.is_whitespace() || "(){};=\"".contains(c)) {
            return Err(error.hint("it names a file; the text itself is { text = \"…\" }"));
        }
        let names = templates::names(self.project, self.series);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Err(self.with_near(error, file, &names, "there are"))
    }

    /// Adds the nearest of `known`, or all of them, as a hint.
    pub(super) fn with_near(&self, error: Error, name: &str, known: &[&str], are: &str) -> Error {
        match did_you_mean(name, known.iter().copied()) {
            Some(near) => error.hint(format!("did you mean \"{near}\"?")),
            None if known.is_empty() => error.hint(format!("{are} none")),
            None => error.hint(format!("{are}: {}", known.join(", "))),
        }
    }

    /// How long something in a guest may take.
    pub(super) fn seconds(&self, seconds: Option<u64>, path: &KeyPath) -> Result<()> {
        match seconds {
            Some(n) if n > process::LONGEST => Err(self
                .source
                .error_at(path, format!("{n} seconds are more than a week"))
                .hint("a guest that says nothing for a minute counts as hung anyway")),
            _ => Ok(()),
        }
    }

    fn one_line(&self, text: &str, path: &KeyPath) -> Result<()> {
        if text.trim().is_empty() || text.contains(['\n', '\r', '\0']) {
            return Err(self.source.error_at(path, "it must be one line of text"));
        }
        Ok(())
    }

    fn identifier(&self, name: &str, path: &KeyPath) -> Result<()> {
        let good = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if good {
            return Ok(());
        }
        Err(self
            .source
            .error_at(path, format!("\"{name}\" is a name for templates"))
            .hint("letters, digits and _ (templates read `-` as minus)"))
    }

    pub(super) fn plain_name(&self, name: &str, path: &KeyPath) -> Result<()> {
        let good = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if good {
            return Ok(());
        }
        Err(self.source.error_at(path, "a name has letters, digits, - and _"))
    }

    fn change_id(&self, id: &str, path: &KeyPath) -> Result<()> {
        let good = id.len() < 200
            && id.split_once('-').is_some_and(|(date, rest)| {
                date.len() == 8
                    && date.bytes().all(|b| b.is_ascii_digit())
                    && rest.rsplit_once('-').is_some_and(|(topic, hex)| {
                        !topic.is_empty()
                            && hex.len() == 12
                            && hex.bytes().all(|b| b.is_ascii_hexdigit())
                            && topic
                                .bytes()
                                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
                    })
            });
        if good {
            return Ok(());
        }
        Err(self
            .source
            .error_at(path, "a change id is YYYYMMDD-topic-12hex")
            .hint("for instance 20241129-cpumap-gro-431ffd03aa5e"))
    }

    fn person(&self, text: &str, path: &KeyPath) -> Result<Person> {
        let parsed = text.trim().strip_suffix('>').and_then(|t| t.split_once('<'));
        match parsed.map(|(name, email)| (name.trim(), email.trim())) {
            Some((name, email))
                if !name.is_empty()
                    && email.contains('@')
                    && !email.contains(['<', '>', ' '])
                    && !name.contains(['<', '>', '\n', '\0']) =>
            {
                if let Some(why) = mail::person::git_changes(name, email) {
                    return Err(self
                        .source
                        .error_at(path, format!("git am would make another author: {why}"))
                        .hint("write the name another way"));
                }
                self.address(text, path)?;
                Ok(Person { name: name.to_owned(), email: email.to_owned() })
            }
            _ => Err(self.source.error_at(path, "a person is `Name <mail@address>`")),
        }
    }

    /// What becomes an address in a header.
    fn address(&self, text: &str, path: &KeyPath) -> Result<()> {
        mail::Person::parse(text).map(drop).map_err(|e| {
            let why = e.what_was_found().first().map_or("", String::as_str);
            let error = self.source.error_at(path, format!("no mail address: {why}"));
            e.hints().iter().fold(error, |error, h| error.hint(h.clone()))
        })
    }

    fn date(&self, raw: RawDate, path: &KeyPath) -> Result<Date> {
        let bad = |why: &str| {
            Err(self
                .source
                .error_at(path, why)
                .hint("write it as 2024-11-29T12:00:00Z, or with an offset such as +01:00"))
        };
        let Some(offset) = raw.0.offset else {
            return bad("a date without its time or its offset depends on the reader's time zone");
        };
        let offset = match offset {
            toml::value::Offset::Z => 0,
            toml::value::Offset::Custom { minutes } => i32::from(minutes),
        };
        match raw.0.to_string().parse::<jiff::Timestamp>() {
            Ok(t) if t.as_second() >= 0 => Ok(Date { seconds: t.as_second(), offset }),
            Ok(_) => bad("git has no dates before 1970"),
            Err(e) => bad(&e.to_string()),
        }
    }

    fn changelog(&self, raw: &RawSeries, path: &KeyPath) -> Result<Vec<Change>> {
        for (i, pair) in raw.changelog.windows(2).enumerate() {
            if let [newer, older] = pair
                && newer.version <= older.version
            {
                return Err(self.source.error_at(
                    &path.index(i + 1).key("version"),
                    "the changelog has the newest version first",
                ));
            }
        }
        Ok(raw
            .changelog
            .iter()
            .map(|c| Change { version: c.version, text: c.text.clone(), link: c.link.clone() })
            .collect())
    }

    fn optional_patches(&self, names: &[String], path: &KeyPath) -> Result<()> {
        for (i, name) in names.iter().enumerate() {
            if !self.patch_names.contains(&name.as_str()) {
                let error = self.source.error_at(&path.index(i), format!("no patch \"{name}\""));
                return Err(self.with_near(error, name, &self.patch_names, "the series has"));
            }
        }
        Ok(())
    }

    fn tests(&self, raw: &[RawTest], path: &KeyPath) -> Result<Vec<Test>> {
        let folder = self.project.join("series").join(self.series).join("selftests");
        let mut tests: Vec<Test> = Vec::new();
        for (i, t) in raw.iter().enumerate() {
            let path = path.index(i);
            self.plain_name(&t.name, &path.key("name"))?;
            if tests.iter().any(|other| other.name == t.name) {
                return Err(self
                    .source
                    .error_at(&path.key("name"), format!("a second test \"{}\"", t.name)));
            }
            let mut sources = Vec::new();
            for (n, file) in t.sources.iter().enumerate() {
                let path = path.key("sources").index(n);
                let below = stay_below(file, "source")
                    .map_err(|e| e.context(self.source.position_of(&path)))?;
                let file = folder.join(below);
                if !file.is_file() {
                    return Err(self.source.error_at(&path, format!("no file {}", file.display())));
                }
                sources.push(file);
            }
            self.optional_patches(&t.with, &path.key("with"))?;
            self.seconds(t.timeout, &path.key("timeout"))?;
            tests.push(Test {
                name: t.name.clone(),
                sources,
                extracts: self.extracts(t, &path)?,
                kconfig: t.kconfig.clone(),
                args: t.args.clone(),
                timeout: t.timeout.unwrap_or(TEST_TIMEOUT),
                patches_text: t.patches_text,
                modules: t.modules.clone(),
                smp: t.needs_guest.smp.unwrap_or(1).max(1),
                memory: t.needs_guest.memory.clone(),
                with: t.with.clone(),
            });
        }
        Ok(tests)
    }
}
