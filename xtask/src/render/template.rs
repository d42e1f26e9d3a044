//! Tera templates of one series on one base. A template is read and compiled
//! when first used; a name that nothing gives is an error with its line, in
//! conditions too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use tera::{Context, ErrorKind, ReportError, Tera};

use crate::error::{Error, Result};
use crate::host::signals;
use crate::series::excerpt::{Document, did_you_mean};
use crate::series::model::{Series, Text};
use crate::series::templates;
use crate::series::version::Version;

use super::cover::{self, Cover, Draft};
use super::{braces, filters};

// Tera's names are ASCII; Unicode's classes are large to compile.
static ASSIGNED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)\{%-?\s*set(?:_global)?\s+([A-Za-z_]\w*)").ok());
static MEMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)\b([A-Za-z_]\w*)\.([A-Za-z_]\w*)").ok());
static GATE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)\bcheck\.gate\.([A-Za-z_]\w*)").ok());

/// What templates see of the base.
#[derive(Clone, Debug)]
pub struct BaseFacts {
    /// Its short name.
    pub name: String,
    /// Its version.
    pub version: Version,
}

/// The templates of a series on a base.
pub struct Templates<'s> {
    series: &'s Series,
    tera: Tera,
    context: Context,
    /// Members of `has`, `vars`, …, to find misspelt ones.
    members: BTreeMap<&'static str, BTreeSet<String>>,
    /// Top-level names: the objects and all captures, taken or not.
    names: BTreeSet<String>,
    sources: BTreeMap<String, Document>,
    inline: usize,
}

impl std::fmt::Debug for Templates<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Templates").field("series", &self.series.name).finish_non_exhaustive()
    }
}

impl<'s> Templates<'s> {
    /// With the answers of the named probes, and the names of all captures that
    /// there may be.
    ///
    /// # Errors
    /// When a value of `[vars]` cannot be given to templates.
    pub fn new(
        series: &'s Series,
        base: &BaseFacts,
        has: &BTreeMap<String, bool>,
        captures: impl IntoIterator<Item = String>,
    ) -> Result<Templates<'s>> {
        let mut tera = Tera::new();
        tera.autoescape_on(Vec::<&str>::new());
        filters::register(&mut tera, base.version);
        let mut context = Context::new();
        context.insert("has", has);
        context.insert("vars", &series.vars);
        let facts = BTreeMap::from([
            ("name", serde_json::Value::from(base.name.clone())),
            ("version", base.version.to_string().into()),
            ("major", base.version.major.into()),
            ("minor", base.version.minor.into()),
            ("patch", base.version.patch.into()),
        ]);
        context.insert("base", &facts);
        let about = BTreeMap::from([
            ("name", serde_json::Value::from(series.name.clone())),
            ("title", series.title.clone().into()),
            ("version", series.version.into()),
        ]);
        context.insert("series", &about);
        let set = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        let members = BTreeMap::from([
            ("has", has.keys().cloned().collect()),
            ("vars", series.vars.keys().cloned().collect()),
            ("base", facts.keys().map(|k| (*k).to_owned()).collect()),
            ("series", about.keys().map(|k| (*k).to_owned()).collect()),
            ("patch", set(vec!["name"])),
        ]);
        let mut names: BTreeSet<String> = members.keys().map(|k| (*k).to_owned()).collect();
        names.extend(captures);
        names.insert("applied".to_owned());
        Ok(Templates { series, tera, context, members, names, sources: BTreeMap::new(), inline: 0 })
    }

    /// Names the patch whose texts are rendered next.
    pub fn set_patch(&mut self, name: &str) {
        self.context.insert("patch", &BTreeMap::from([("name", name)]));
    }

    /// Tells the cover letter which patches apply, in order.
    pub fn set_applied(&mut self, names: &[&str]) {
        self.context.insert("applied", names);
    }

    /// Gives a captured text to all that is rendered from now on.
    pub fn set_capture(&mut self, name: &str, text: &str) {
        self.context.insert(name.to_owned(), text);
    }

    /// Renders a text; `place` says where an inline one stands, and is asked only
    /// when something is wrong there: finding it costs a reading of the series.
    ///
    /// # Errors
    /// Names template, line and what is wrong there.
    pub fn render(&mut self, text: &Text, place: impl FnOnce() -> String) -> Result<String> {
        let text = match text {
            Text::File(name) => {
                return match self.load(name)? {
                    Some(plain) => Ok(plain),
                    None => self.fill(name),
                };
            }
            Text::Inline(text) => text,
        };
        self.inline += 1;
        if is_plain(text) {
            return Ok(text.clone());
        }
        let name = format!("inline {}", self.inline);
        let filled = self.inline(name.clone(), text);
        if filled.is_ok() {
            return filled;
        }
        self.inline(format!("{} ({name})", place()), text)
    }

    /// Renders the cover letter, the last text of all. It sees results, but for
    /// those whose name a capture has.
    ///
    /// # Errors
    /// As [`render`](Self::render). What fails because results are lacking comes
    /// with [`Cover::with`].
    pub fn cover(mut self, text: &Text, place: impl FnOnce() -> String) -> Result<Cover> {
        let seen: Vec<&'static str> =
            cover::NAMES.into_iter().filter(|n| self.names.insert((*n).to_owned())).collect();
        for (name, keys) in [
            ("bench", &cover::BENCH[..]),
            ("check", &cover::CHECK[..]),
            ("tests", &cover::TESTS[..]),
            ("inspect", &cover::INSPECT[..]),
        ] {
            if seen.contains(&name) {
                self.members.insert(name, keys.iter().map(|k| (*k).to_owned()).collect());
            }
        }
        let name = match text {
            Text::File(name) => {
                if let Some(plain) = self.load(name)? {
                    return Ok(Cover::plain(plain));
                }
                name.clone()
            }
            Text::Inline(text) => {
                let name = "the cover letter".to_owned();
                let document = Document::new(format!("{} ({name})", place()), text.clone());
                self.add(vec![(name.clone(), document)])?;
                name
            }
        };
        self.check_names(&name)?;
        let used = self.tera.get_template_variables(&name).map_err(|e| self.error(&name, &e))?;
        let uses: BTreeSet<&'static str> = seen.into_iter().filter(|n| used.contains(n)).collect();
        if uses.is_empty() {
            return self.fill(&name).map(Cover::plain);
        }
        let Templates { tera, context, sources, .. } = self;
        Ok(Draft { name, tera, context, uses, sources }.into_cover())
    }

    /// Each in the place of the one before: with every template that it is given,
    /// Tera looks through all that it has.
    fn inline(&mut self, label: String, text: &str) -> Result<String> {
        const INLINE: &str = "inline";
        self.add(vec![(INLINE.to_owned(), Document::new(label, text.to_owned()))])?;
        self.fill(INLINE)
    }

    fn fill(&self, name: &str) -> Result<String> {
        self.check_names(name)?;
        let _cuttable = signals::at_once()?;
        self.tera.render(name, &self.context).map_err(|e| self.error(name, &e))
    }

    /// Reads a template and all that it refers to; gives back the text of one in
    /// which Tera has nothing to do.
    fn load(&mut self, name: &str) -> Result<Option<String>> {
        if self.sources.contains_key(name) {
            return Ok(None);
        }
        let mut wanted = vec![(name.to_owned(), None)];
        let mut new: BTreeMap<String, Document> = BTreeMap::new();
        while let Some((name, from)) = wanted.pop() {
            if self.sources.contains_key(&name) || new.contains_key(&name) {
                continue;
            }
            let found = templates::read(&self.series.project, &self.series.name, &name)?;
            let Some((path, text)) = found else {
                return Err(self.missing(&name, from));
            };
            if from.is_none() && is_plain(&text) {
                return Ok(Some(text));
            }
            let label = path.strip_prefix(&self.series.project).unwrap_or(&path);
            let document = Document::new(label.display().to_string(), text);
            for reference in templates::reference_spans(&document.text) {
                let at = (document.clone(), reference.clone());
                let Some(name) = document.text.get(reference) else { continue };
                wanted.push((name.to_owned(), Some(at)));
            }
            new.insert(name, document);
        }
        self.add(new.into_iter().collect())?;
        Ok(None)
    }

    fn missing(&self, name: &str, from: Option<(Document, std::ops::Range<usize>)>) -> Error {
        let known = templates::names(&self.series.project, &self.series.name);
        let error = match from {
            Some((document, span)) => document.error(span, format!("no template \"{name}\"")),
            None => Error::usage(format!(
                "no template \"{name}\" in templates/{}/ or templates/",
                self.series.name
            )),
        };
        match did_you_mean(name, known.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean \"{near}\"?")),
            None => error.hint(format!("there are: {}", known.join(", "))),
        }
    }

    fn add(&mut self, new: Vec<(String, Document)>) -> Result<()> {
        for (name, document) in &new {
            self.sources.insert(name.clone(), document.clone());
        }
        let raw = new.iter().map(|(name, d)| (name.as_str(), d.text.as_str()));
        self.tera.add_raw_templates(raw).map_err(|e| {
            let name = new.first().map_or("", |(n, _)| n.as_str());
            self.error(name, &e)
        })
    }

    /// Finds names that nothing gives, where Tera would take them as false.
    fn check_names(&self, name: &str) -> Result<()> {
        let used = self.tera.get_template_variables(name).map_err(|e| self.error(name, &e))?;
        let mut documents: Vec<&Document> = self.sources.get(name).into_iter().collect();
        let mut seen = BTreeSet::from([name]);
        let mut i = 0;
        while let Some(document) = documents.get(i).copied() {
            for reference in templates::reference_spans(&document.text) {
                if let Some((name, included)) =
                    document.text.get(reference).and_then(|n| self.sources.get_key_value(n))
                    && seen.insert(name.as_str())
                {
                    documents.push(included);
                }
            }
            i += 1;
        }
        let mut unknown: Vec<&str> =
            used.into_iter().filter(|n| !self.names.contains(*n)).collect();
        unknown.sort_unstable();
        for document in &documents {
            for assigned in captures(&ASSIGNED, &document.text) {
                unknown.retain(|n| document.text.get(assigned.clone()) != Some(n));
            }
        }
        if let Some(name) = unknown.first() {
            let known = self.names.iter().map(String::as_str);
            for document in &documents {
                if let Some(span) = word_in_tag(&document.text, name) {
                    return Err(near(
                        document.error(span, format!("nothing gives `{name}`")),
                        name,
                        known,
                    ));
                }
            }
        }
        for document in documents {
            braces::check(document)?;
            self.check_members(document)?;
        }
        Ok(())
    }

    fn check_members(&self, document: &Document) -> Result<()> {
        let (Some(member), Some(gate)) = (MEMBER.as_ref(), GATE.as_ref()) else { return Ok(()) };
        for tag in tags(&document.text) {
            let text = document.text.get(tag.clone()).unwrap_or("");
            let of_results = self.members.contains_key("check");
            for found in gate.captures_iter(text).filter(|_| of_results) {
                let Some(name) = found.get(1) else { continue };
                if !cover::GATES.contains(&name.as_str()) {
                    let span = tag.start + name.start()..tag.start + name.end();
                    let e = document.error(span, format!("no gate is called `{}`", name.as_str()));
                    return Err(near(e, name.as_str(), cover::GATES.into_iter()));
                }
            }
            for found in member.captures_iter(text) {
                let (Some(object), Some(name)) = (found.get(1), found.get(2)) else { continue };
                let before = text.get(..object.start()).unwrap_or("");
                // A member's member, or a file name in quotes.
                if before.ends_with('.') || before.matches('"').count() % 2 == 1 {
                    continue;
                }
                let Some(known) = self.members.get(object.as_str()) else { continue };
                if !known.contains(name.as_str()) {
                    let span = tag.start + name.start()..tag.start + name.end();
                    let what = format!("{} has no `{}`", object.as_str(), name.as_str());
                    let known = known.iter().map(String::as_str);
                    return Err(near(document.error(span, what), name.as_str(), known));
                }
            }
        }
        Ok(())
    }

    fn error(&self, name: &str, e: &tera::Error) -> Error {
        error(&self.sources, name, e)
    }
}

/// What Tera says of template `name`, with the place in its source.
pub(super) fn error(sources: &BTreeMap<String, Document>, name: &str, e: &tera::Error) -> Error {
    let at = |report: &ReportError| {
        let document = sources.get(report.filename());
        let document = document.or_else(|| sources.get(name));
        match document {
            Some(d) => {
                let span = report.span().range.clone();
                braces::hint(d.error(span.clone(), report.message()), &d.text, span.start)
            }
            None => Error::usage(format!("template {name}: {}", report.message())),
        }
    };
    match e.kind() {
        ErrorKind::SyntaxError(report) | ErrorKind::RenderingError(report) => at(report),
        ErrorKind::CircularInclude { include_chain: chain, .. }
        | ErrorKind::CircularExtend { inheritance_chain: chain, .. } => {
            Error::usage(format!("template {name} includes itself"))
                .found(chain.join(" includes "))
                .hint("take one of the includes out")
        }
        other => Error::usage(format!("template {name}")).found(other.to_string()),
    }
}

/// Whether Tera would give the text as it is.
fn is_plain(text: &str) -> bool {
    !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}

fn near<'k>(error: Error, name: &str, known: impl Iterator<Item = &'k str> + Clone) -> Error {
    match did_you_mean(name, known.clone()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => {
            let known: Vec<&str> = known.collect();
            error.hint(format!("known: {}", known.join(", ")))
        }
    }
}

/// Ranges of the first group of each match.
fn captures(regex: &LazyLock<Option<Regex>>, text: &str) -> Vec<std::ops::Range<usize>> {
    let Some(regex) = regex.as_ref() else { return Vec::new() };
    regex.captures_iter(text).filter_map(|c| c.get(1).map(|m| m.range())).collect()
}

/// The insides of `{{ … }}` and `{% … %}`.
fn tags(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(open) =
        text.get(at..).and_then(|t| t.find("{{").into_iter().chain(t.find("{%")).min())
    {
        let start = at + open + 2;
        let close = if text.as_bytes().get(start - 1) == Some(&b'%') { "%}" } else { "}}" };
        let Some(end) = text.get(start..).and_then(|t| t.find(close)) else { break };
        out.push(start..start + end);
        at = start + end + 2;
    }
    out
}

fn word_in_tag(text: &str, word: &str) -> Option<std::ops::Range<usize>> {
    let is_word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    for tag in tags(text) {
        for (at, _) in text.get(tag.clone())?.match_indices(word) {
            let start = tag.start + at;
            let before = start.checked_sub(1).and_then(|i| text.as_bytes().get(i));
            let member = before == Some(&b'.');
            let longer = is_word(before) || is_word(text.as_bytes().get(start + word.len()));
            if !member && !longer {
                return Some(start..start + word.len());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_what_tera_makes_of_it() {
        for text in [
            "",
            "\n",
            "a\n",
            "no end",
            "  blanks \t\n\n\n",
            "\r\nf(x) { return (struct s){}; }\n",
            "a } } b }} %} #} { { \u{e9}\n",
            "{ %, { #, 100 %, # a\n",
        ] {
            assert!(is_plain(text), "{text:?}");
            let mut tera = Tera::new();
            tera.autoescape_on(Vec::<&str>::new());
            tera.add_raw_templates([("t", text)]).unwrap();
            assert_eq!(tera.render("t", &Context::new()).unwrap(), text);
        }
        for text in ["{{ a }}", "{% if a %}", "{# a #}", "{{", "f({{}})"] {
            assert!(!is_plain(text), "{text:?}");
        }
    }
}
