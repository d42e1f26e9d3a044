//! What is allowed in a series and is probably not meant: names that nothing
//! uses, templates that nothing renders, a version without its changes.

use std::collections::BTreeSet;

use crate::error::Result;

use super::model::{Deed, Edit, Mutant, Probe, Series, Text};
use super::places::{self, Places};
use super::templates;

/// Lines of warning, in the order of the file.
///
/// # Errors
/// When a template cannot be read.
pub fn lint(series: &Series, mutants: &[Mutant]) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    if series.bases.is_empty() {
        warnings.push("no `bases`: nobody is told what it is kept alive on".to_owned());
    }
    let plain = series.patches.iter().filter(|p| !p.optional).count();
    if plain > 1 && series.cover.is_none() {
        warnings.push(format!("{plain} patches and no cover letter"));
    }
    if series.version > 1 && !series.changelog.iter().any(|c| c.version == series.version) {
        warnings.push(format!("version {} has no entry in the changelog", series.version));
    }
    let used = Used::of(series, mutants)?;
    for name in series.vars.keys().filter(|n| !used.member("vars", n)) {
        warnings.push(format!("vars.{name} is used by no template"));
    }
    for (name, _) in &series.probes {
        if !used.member("has", name) && !used.probes.contains(name.as_str()) {
            warnings.push(format!("probe {name} is asked by nothing"));
        }
    }
    let edits = series.patches.iter().flat_map(|p| &p.edits);
    for edit in edits {
        for (name, _) in &edit.captures {
            let places = edit.at.iter().chain(&edit.within);
            let in_place = places.into_iter().any(|l| l.uses_capture(name));
            if !in_place && !used.word(name) {
                let at = series.source.position_of(&edit.path.key("capture").key(name));
                warnings.push(format!("{at}: capture {name} is used by no template"));
            }
        }
    }
    let recorded = series.places.iter().flat_map(Places::patches);
    for name in recorded.filter(|n| series.patch(n).is_none()) {
        let name = name.escape_debug();
        warnings.push(format!("{}: there is no patch {name}; take its tables out", places::FILE));
    }
    for name in templates::names(&series.project, &series.name) {
        // C that is created in the tree includes its neighbours by name.
        let file = name.rsplit('/').next().unwrap_or(&name);
        if !used.files.contains(&name) && !used.word(file) {
            warnings.push(format!("templates/{}/{name} is rendered by nothing", series.name));
        }
    }
    Ok(warnings)
}

/// What templates and probes refer to.
struct Used {
    /// Texts of all templates that are rendered.
    texts: Vec<String>,
    /// Their file names.
    files: BTreeSet<String>,
    /// Named probes that probes ask.
    probes: BTreeSet<String>,
}

impl Used {
    fn of(series: &Series, mutants: &[Mutant]) -> Result<Used> {
        let mut used = Used { texts: Vec::new(), files: BTreeSet::new(), probes: BTreeSet::new() };
        let mut wanted: Vec<&Text> = series.cover.iter().collect();
        for patch in &series.patches {
            wanted.push(&patch.message);
            used.ask(&patch.absorbed);
            used.ask(&patch.needs);
            used.edits(&patch.edits, &mut wanted);
        }
        used.ask(&series.absorbed);
        used.ask(&series.needs);
        for mutant in mutants {
            used.ask(&mutant.when);
            used.edits(&mutant.edits, &mut wanted);
        }
        for text in wanted {
            match text {
                Text::Inline(text) => used.add(series, text.clone())?,
                Text::File(name) => used.read(series, name)?,
            }
        }
        Ok(used)
    }

    fn ask(&mut self, probes: &[Probe]) {
        self.probes.extend(probes.iter().filter_map(|p| p.probe.clone()));
    }

    fn edits<'s>(&mut self, edits: &'s [Edit], wanted: &mut Vec<&'s Text>) {
        for edit in edits {
            self.ask(&edit.when);
            self.ask(&edit.unless);
            wanted.extend(match &edit.deed {
                Some(
                    Deed::InsertBefore(t)
                    | Deed::InsertAfter(t)
                    | Deed::Replace(t)
                    | Deed::Create { text: t, .. }
                    | Deed::AddMaintainers(t)
                    | Deed::Diff(t)
                    | Deed::Cocci(t),
                ) => Some(t),
                _ => None,
            });
        }
    }

    fn read(&mut self, series: &Series, name: &str) -> Result<()> {
        if !self.files.insert(name.to_owned()) {
            return Ok(());
        }
        match templates::read(&series.project, &series.name, name)? {
            Some((_, text)) => self.add(series, text),
            None => Ok(()),
        }
    }

    fn add(&mut self, series: &Series, text: String) -> Result<()> {
        let names = templates::references(&text);
        self.texts.push(text);
        names.iter().try_for_each(|name| self.read(series, name))
    }

    /// Whether `object.name` stands in a template.
    fn member(&self, object: &str, name: &str) -> bool {
        self.word(&format!("{object}.{name}"))
    }

    /// Whether a template has the word, in a tag or not.
    fn word(&self, word: &str) -> bool {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        self.texts.iter().any(|text| {
            text.match_indices(word).any(|(at, _)| {
                let before = text.get(..at).and_then(|t| t.chars().next_back());
                let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
                !before.is_some_and(is_word) && !after.is_some_and(is_word)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn what_nothing_uses_is_told() {
        let t = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = t.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("templates/s/a.c", "{% include \"b.c\" %}{{ one }} {{ vars.used }}");
        put("templates/s/b.c", "{% if has.asked %}x{% endif %}");
        put("templates/s/left.c", "{{ two }}");
        put(
            "series/s/series.toml",
            "title = \"t\"\nauthor = \"A <a@b>\"\ndate = 2024-01-01T00:00:00Z\nversion = 2\n\
             [vars]\nused = 1\nidle = 2\n[probes]\nasked = { file = \"x\" }\nunasked = { file = \"x\" }\n\
             inner = { file = \"x\" }\n[[patch]]\nname = \"p\"\nmessage = { text = \"s\" }\n\
             [[patch.edit]]\nfile = \"f.c\"\nwhen = { probe = \"inner\" }\n\
             capture = { one = { text = \"x\" }, two = { text = \"y\" }, three = { text = \"z\" } }\n\
             at = { captured = \"three\" }\nreplace = \"a.c\"\n",
        );
        let series = crate::series::load(t.path(), "s").unwrap();
        let warnings = super::lint(&series, &[]).unwrap();
        let want = [
            "no `bases`: nobody is told what it is kept alive on",
            "version 2 has no entry in the changelog",
            "vars.idle is used by no template",
            "probe unasked is asked by nothing",
            "series/s/series.toml:18:35: capture two is used by no template",
            "templates/s/left.c is rendered by nothing",
        ];
        assert_eq!(warnings, want);
    }
}
