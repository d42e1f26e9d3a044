//! Checks locators, probes and captures: raw tables become the model's.

use crate::error::Result;
use crate::host::paths::stay_below;

use super::check::Checker;
use super::key_path::KeyPath;
use super::locator::{Kind, Locator, Part, Place};
use super::model::{Capture, Far, NamedProbe, Probe};
use super::raw_locator::{
    PlaceKeys, RawCapture, RawFarLocator, RawLocator, RawNamedProbe, RawProbe, RawRange,
};
use super::raw_value::OneOrMany;
use super::version::Version;

impl Checker<'_> {
    /// A locator, which must be there.
    pub(super) fn locator(&self, raw: &RawLocator, path: &KeyPath) -> Result<Locator> {
        self.place_or_range(raw, raw.range(), path)?.ok_or_else(|| self.no_place(path))
    }

    /// Locators that narrow step by step.
    pub(super) fn within(
        &self,
        raw: &OneOrMany<RawLocator>,
        path: &KeyPath,
    ) -> Result<Vec<Locator>> {
        raw.0.iter().enumerate().map(|(i, l)| self.locator(l, &path.index(i))).collect()
    }

    /// A place in this or another file.
    pub(super) fn far(&self, raw: &RawFarLocator, path: &KeyPath) -> Result<Far> {
        let at = self.place(raw, path)?.ok_or_else(|| self.no_place(path))?;
        self.optional_path(raw.file.as_deref(), &path.key("file"))?;
        Ok(Far {
            file: raw.file.clone(),
            within: self.within(&raw.within, &path.key("within"))?,
            at: Locator::Place(at),
        })
    }

    /// A capture.
    pub(super) fn capture(&self, raw: &RawCapture, path: &KeyPath) -> Result<Capture> {
        let at = self.place_or_range(raw, raw.range(), path)?.ok_or_else(|| self.no_place(path))?;
        self.optional_path(raw.file.as_deref(), &path.key("file"))?;
        let within = self.within(&raw.within, &path.key("within"))?;
        Ok(Capture {
            place: Far { file: raw.file.clone(), within, at },
            default: raw.default.clone(),
        })
    }

    fn no_place(&self, path: &KeyPath) -> crate::error::Error {
        self.source
            .error_at(path, "a locator that names no place")
            .hint("give it a kind: function, struct, text, … (series/README.md, \"Locators\")")
    }

    fn place_or_range(
        &self,
        raw: &impl PlaceKeys,
        range: RawRange<'_>,
        path: &KeyPath,
    ) -> Result<Option<Locator>> {
        let start = match (range.from, range.after) {
            (Some(_), Some(_)) => {
                return Err(self.source.error_at(path, "`from` and `after` exclude each other"));
            }
            (Some(l), None) => Some((l, true, "from")),
            (None, Some(l)) => Some((l, false, "after")),
            (None, None) => None,
        };
        let end = match (range.to, range.before) {
            (Some(_), Some(_)) => {
                return Err(self.source.error_at(path, "`to` and `before` exclude each other"));
            }
            (Some(l), None) => Some((l, true, "to")),
            (None, Some(l)) => Some((l, false, "before")),
            (None, None) => None,
        };
        match (start, end) {
            (None, None) => Ok(self.place(raw, path)?.map(Locator::Place)),
            (Some((start, start_in, start_key)), Some((end, end_in, end_key))) => {
                if let Some((kind, _)) = raw.kinds().first() {
                    return Err(self
                        .source
                        .error_at(&path.key(kind.key()), "a range has no place of its own")
                        .hint(format!("narrow it with `within = {{ {} = … }}`", kind.key())));
                }
                let q = raw.qualifiers();
                let idle = [
                    ("part", q.part.is_some()),
                    ("has", !q.has.is_empty()),
                    ("has-not", !q.has_not.is_empty()),
                    ("nth", q.nth.is_some()),
                    ("of", q.of.is_some()),
                    ("or-text", q.or_text.is_some()),
                ];
                if let Some((key, _)) = idle.iter().find(|(_, there)| *there) {
                    return Err(self
                        .source
                        .error_at(&path.key(key), format!("`{key}` means nothing on a range"))
                        .hint("put it on the range's ends"));
                }
                Ok(Some(Locator::Range {
                    start: Box::new(self.locator(start, &path.key(start_key))?),
                    start_in,
                    end: Box::new(self.locator(end, &path.key(end_key))?),
                    end_in,
                }))
            }
            (Some((_, _, key)), None) => Err(self
                .source
                .error_at(&path.key(key), "a range without its end")
                .hint("add `to` (taken in) or `before` (left out)")),
            (None, Some((_, _, key))) => Err(self
                .source
                .error_at(&path.key(key), "a range without its beginning")
                .hint("add `from` (taken in) or `after` (left out)")),
        }
    }

    fn place(&self, raw: &impl PlaceKeys, path: &KeyPath) -> Result<Option<Place>> {
        let kinds = raw.kinds();
        for pair in kinds.windows(2) {
            if let [(a, _), (b, _)] = pair
                && a.rank() == b.rank()
            {
                return Err(self
                    .source
                    .error_at(
                        &path.key(b.key()),
                        format!("`{}` beside `{}`: which narrows which?", b.key(), a.key()),
                    )
                    .hint("put the outer one into `within`"));
            }
        }
        let q = raw.qualifiers();
        let Some((kind, value)) = kinds.last().copied() else {
            if q.part.is_some() || q.nth.is_some() || !q.has.is_empty() || !q.has_not.is_empty() {
                return Err(self.no_place(path));
            }
            return Ok(None);
        };
        for (kind, value) in &kinds {
            if value.trim().is_empty() {
                return Err(self.source.error_at(&path.key(kind.key()), "an empty anchor"));
            }
        }
        if kind == Kind::Edge && !["start", "end"].contains(&value) {
            return Err(self.source.error_at(&path.key("edge"), "an edge is \"start\" or \"end\""));
        }
        for (key, list) in [("has", q.has), ("has-not", q.has_not)] {
            if list.iter().any(|h| h.trim().is_empty()) {
                return Err(self.source.error_at(&path.key(key), "an empty anchor"));
            }
        }
        let nth = match (q.nth, q.of) {
            (None, None) => None,
            (Some(n), Some(of)) if (1..=of).contains(&n) => Some((n as usize, of as usize)),
            (Some(_), Some(_)) => {
                return Err(self.source.error_at(&path.key("nth"), "`nth` counts from 1 to `of`"));
            }
            (Some(_), None) => {
                return Err(self
                    .source
                    .error_at(&path.key("nth"), "`nth` without `of`")
                    .hint("say how many places there must be, so that a base with more is seen"));
            }
            (None, Some(_)) => {
                return Err(self.source.error_at(&path.key("of"), "`of` without `nth`"));
            }
        };
        if q.or_text.is_some() && !kind.is_syntax() {
            return Err(self.source.error_at(
                &path.key("or-text"),
                format!("`or-text` is for places found by parsing; `{}` is not", kind.key()),
            ));
        }
        Ok(Some(Place {
            steps: kinds.iter().map(|(k, v)| (*k, (*v).to_owned())).collect(),
            part: self.part(q.part, kind, path)?,
            has: q.has.to_vec(),
            has_not: q.has_not.to_vec(),
            nth,
            or_text: q.or_text.map(str::to_owned),
        }))
    }

    fn part(&self, name: Option<&str>, kind: Kind, path: &KeyPath) -> Result<Option<Part>> {
        let Some(name) = name else { return Ok(None) };
        let parts = kind.parts();
        if let Some(part) = Part::from_name(name).filter(|p| parts.contains(p)) {
            return Ok(Some(part));
        }
        let names: Vec<&str> = parts.iter().map(|p| p.name()).collect();
        Err(self
            .source
            .error_at(&path.key("part"), format!("a {} has no part \"{name}\"", kind.key()))
            .hint(format!("it has: {}", names.join(", "))))
    }

    fn optional_path(&self, file: Option<&str>, path: &KeyPath) -> Result<()> {
        file.map_or(Ok(()), |f| self.tree_path(f, path))
    }

    /// A path in the kernel tree, which must stay in it.
    pub(super) fn tree_path(&self, file: &str, path: &KeyPath) -> Result<()> {
        stay_below(file, "file").map_err(|e| e.context(self.source.position_of(path)))?;
        Ok(())
    }

    /// Probes of a list.
    pub(super) fn probes(&self, raw: &OneOrMany<RawProbe>, path: &KeyPath) -> Result<Vec<Probe>> {
        raw.0.iter().enumerate().map(|(i, p)| self.probe(p, &path.index(i))).collect()
    }

    fn probe(&self, raw: &RawProbe, path: &KeyPath) -> Result<Probe> {
        let at = self.place(raw, path)?.map(Locator::Place);
        if let Some(name) = &raw.probe
            && !self.probe_names.contains(&name.as_str())
        {
            let error = self.source.error_at(&path.key("probe"), format!("no probe \"{name}\""));
            return Err(self.with_near(error, name, &self.probe_names, "[probes] has"));
        }
        if let Some(name) = &raw.patch
            && !self.patch_names.contains(&name.as_str())
        {
            let error = self.source.error_at(&path.key("patch"), format!("no patch \"{name}\""));
            return Err(self.with_near(error, name, &self.patch_names, "the series has"));
        }
        let probe = Probe {
            files: raw.file.0.clone(),
            within: self.within(&raw.within, &path.key("within"))?,
            at,
            since: self.version(raw.since.as_deref(), &path.key("since"))?,
            before: self.version(raw.before.as_deref(), &path.key("before"))?,
            probe: raw.probe.clone(),
            patch: raw.patch.clone(),
            not: raw.not,
            why: raw.why.clone(),
            path: path.clone(),
        };
        self.probe_asks_something(&probe, path)?;
        Ok(probe)
    }

    fn probe_asks_something(&self, probe: &Probe, path: &KeyPath) -> Result<()> {
        for (i, file) in probe.files.iter().enumerate() {
            self.tree_path(file, &path.key("file").index(i))?;
        }
        let in_file = probe.at.is_some() || !probe.within.is_empty();
        if in_file && probe.files.is_empty() {
            return Err(self
                .source
                .error_at(path, "a probe for a place in no file")
                .hint("add `file = \"…\"`"));
        }
        if !probe.within.is_empty() && probe.at.is_none() {
            return Err(self
                .source
                .error_at(path, "a probe with `within` and no place")
                .hint("name the place with a kind key, or move `within`'s key up"));
        }
        let idle = probe.files.is_empty()
            && probe.since.is_none()
            && probe.before.is_none()
            && probe.probe.is_none()
            && probe.patch.is_none();
        if idle {
            return Err(self
                .source
                .error_at(path, "a probe that asks nothing")
                .hint("name a file, a place, a version, a probe or a patch"));
        }
        Ok(())
    }

    /// A probe of `[probes]`.
    pub(super) fn named_probe(&self, raw: &RawNamedProbe, path: &KeyPath) -> Result<NamedProbe> {
        let lists = [("any", &raw.any), ("all", &raw.all)];
        let joined: Vec<_> = lists.iter().filter(|(_, list)| !list.is_empty()).collect();
        if let Some((key, list)) = joined.first() {
            let alone = joined.len() == 1
                && raw.kinds().is_empty()
                && raw.file.0.is_empty()
                && raw.since.is_none()
                && raw.before.is_none();
            if !alone {
                return Err(self.source.error_at(
                    &path.key(key),
                    format!("`{key}` stands alone, but for `not` and `why`"),
                ));
            }
            let parts = list
                .iter()
                .enumerate()
                .map(|(i, p)| self.probe(p, &path.key(key).index(i)))
                .collect::<Result<Vec<_>>>()?;
            if let Some(p) = parts.iter().find(|p| p.probe.is_some() || p.patch.is_some()) {
                return Err(self.source.error_at(
                    &p.path,
                    "a named probe asks the base alone, not other probes or patches",
                ));
            }
            return Ok(NamedProbe { probes: parts, any: *key == "any", not: raw.not });
        }
        let at = self.place(raw, path)?.map(Locator::Place);
        let probe = Probe {
            files: raw.file.0.clone(),
            within: self.within(&raw.within, &path.key("within"))?,
            at,
            since: self.version(raw.since.as_deref(), &path.key("since"))?,
            before: self.version(raw.before.as_deref(), &path.key("before"))?,
            probe: None,
            patch: None,
            not: false,
            why: raw.why.clone(),
            path: path.clone(),
        };
        self.probe_asks_something(&probe, path)?;
        Ok(NamedProbe { probes: vec![probe], any: false, not: raw.not })
    }

    fn version(&self, text: Option<&str>, path: &KeyPath) -> Result<Option<Version>> {
        let Some(text) = text else { return Ok(None) };
        text.parse().map(Some).map_err(|e: String| self.source.error_at(path, e))
    }
}
