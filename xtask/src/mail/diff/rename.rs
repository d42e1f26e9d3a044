//! Finds renames among created and deleted files, with the choices of git's
//! `diff.renames` (copies are not looked for).
//!
//! Own code: libgit2 measures similarity otherwise and so pairs other files and
//! writes other percentages. The order here is git's: equal contents first,
//! then names that are unique on both sides, then all pairs by score.

use std::cmp::Ordering;
use std::collections::HashMap;

use git2::{Oid, Repository};

use crate::error::Result;
use crate::mail::diff::attributes::Attributes;
use crate::mail::diff::change::{Change, Side};
use crate::mail::diff::similarity::{EQUAL, Pieces};
use crate::mail::diff::write::is_binary;

/// Less similar files are no rename.
const LEAST: u32 = EQUAL / 2;
/// What files of the same, unique name need at least.
const LEAST_BY_NAME: u32 = LEAST + (EQUAL - LEAST) / 2;
/// Pairs are not tried when there are more than this many squared.
const LIMIT: usize = 1000;
/// Sources that each destination keeps in mind.
const CANDIDATES: usize = 4;
/// Equal contents that are looked at for one destination.
const EQUALS: usize = 100;

/// Puts renames in the place of the deletions and creations that they are made of.
///
/// # Errors
/// When a blob is missing.
pub fn detect(
    repo: &Repository,
    attributes: &Attributes<'_>,
    changes: Vec<Change>,
) -> Result<Vec<Change>> {
    let old: Vec<&Side> = changes.iter().filter_map(deleted).collect();
    let new: Vec<&Side> = changes.iter().filter_map(created).collect();
    if old.is_empty() || new.is_empty() {
        return Ok(changes);
    }
    let mut finder = Finder {
        repo,
        attributes,
        source_of: vec![None; new.len()],
        used: vec![false; old.len()],
        old,
        new,
        pieces: HashMap::new(),
    };
    finder.equal();
    finder.by_name()?;
    finder.by_score()?;
    let (source_of, used) = (finder.source_of, finder.used);
    let (old, new) = (finder.old, finder.new);
    let renames: HashMap<&[u8], (Side, u32)> = new
        .iter()
        .zip(source_of)
        .filter_map(|(to, from)| {
            let (from, score) = from?;
            Some((to.path.as_slice(), ((*old.get(from)?).clone(), score)))
        })
        .collect();
    let gone: Vec<&[u8]> = old
        .iter()
        .zip(&used)
        .filter(|(_, used)| **used)
        .map(|(side, _)| side.path.as_slice())
        .collect();
    Ok(changes
        .iter()
        .filter_map(|change| match change {
            Change::Deleted(side) if gone.binary_search(&side.path.as_slice()).is_ok() => None,
            Change::Created(side) => Some(match renames.get(side.path.as_slice()) {
                Some((from, score)) => Change::Renamed(from.clone(), side.clone(), *score),
                None => change.clone(),
            }),
            _ => Some(change.clone()),
        })
        .collect())
}

fn deleted(change: &Change) -> Option<&Side> {
    match change {
        Change::Deleted(side) => Some(side),
        _ => None,
    }
}

fn created(change: &Change) -> Option<&Side> {
    match change {
        Change::Created(side) => Some(side),
        _ => None,
    }
}

fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&c| c == b'/').next().unwrap_or(path)
}

struct Finder<'f, 'r> {
    repo: &'r Repository,
    attributes: &'f Attributes<'r>,
    old: Vec<&'f Side>,
    new: Vec<&'f Side>,
    /// For each new file the old one and the score.
    source_of: Vec<Option<(usize, u32)>>,
    /// Which old files have a new name.
    used: Vec<bool>,
    pieces: HashMap<Oid, Pieces>,
}

/// A possible rename.
#[derive(Clone, Copy)]
struct Candidate {
    old: usize,
    new: usize,
    score: u32,
    same_name: bool,
}

impl Candidate {
    /// The better first.
    fn order(&self, other: &Candidate) -> Ordering {
        (other.score, other.same_name).cmp(&(self.score, self.same_name))
    }
}

impl Finder<'_, '_> {
    fn record(&mut self, old: usize, new: usize, score: u32) {
        if let (Some(to), Some(from)) = (self.source_of.get_mut(new), self.used.get_mut(old)) {
            *to = Some((old, score));
            *from = true;
        }
    }

    fn is_used(&self, old: usize) -> bool {
        self.used.get(old).copied().unwrap_or(true)
    }

    fn is_found(&self, new: usize) -> bool {
        self.source_of.get(new).is_none_or(Option::is_some)
    }

    /// Equal contents; of several the first with the same name, else the first.
    fn equal(&mut self) {
        let mut by_id: HashMap<Oid, Vec<usize>> = HashMap::new();
        for (i, side) in self.old.iter().enumerate() {
            by_id.entry(side.id).or_default().push(i);
        }
        for n in 0..self.new.len() {
            let Some(to) = self.new.get(n) else { continue };
            let mut best: Option<(usize, bool)> = None;
            let mut left = EQUALS;
            for &o in by_id.get(&to.id).into_iter().flatten() {
                let Some(from) = self.old.get(o) else { continue };
                let other_kind = !(from.is_regular() && to.is_regular()) && from.mode != to.mode;
                if other_kind || self.is_used(o) {
                    continue;
                }
                let same_name = base_name(&from.path) == base_name(&to.path);
                if best.is_none_or(|(_, same)| same_name && !same) {
                    best = Some((o, same_name));
                }
                left -= 1;
                if same_name || left == 0 {
                    break;
                }
            }
            if let Some((o, _)) = best {
                self.record(o, n, EQUAL);
            }
        }
    }

    /// Names that one file on each side has.
    fn by_name(&mut self) -> Result<()> {
        let unique = |names: Vec<(usize, &[u8])>| {
            let mut map: HashMap<Vec<u8>, Option<usize>> = HashMap::new();
            for (i, name) in names {
                map.entry(name.to_vec()).and_modify(|e| *e = None).or_insert(Some(i));
            }
            map
        };
        let left = |sides: &[&Side], taken: &dyn Fn(usize) -> bool| {
            let named = sides.iter().enumerate().filter(|(i, _)| !taken(*i));
            unique(named.map(|(i, s)| (i, base_name(&s.path))).collect())
        };
        let old = left(&self.old, &|i| self.is_used(i));
        let new = left(&self.new, &|i| self.is_found(i));
        for o in 0..self.old.len() {
            let Some(name) = self.old.get(o).map(|s| base_name(&s.path)) else { continue };
            let (Some(Some(only)), Some(Some(n))) = (old.get(name), new.get(name)) else {
                continue;
            };
            if *only != o {
                continue;
            }
            let score = self.score(o, *n, LEAST_BY_NAME)?;
            if score >= LEAST_BY_NAME {
                self.record(o, *n, score);
            }
        }
        Ok(())
    }

    /// What is left: all pairs, the most similar first.
    fn by_score(&mut self) -> Result<()> {
        let old: Vec<usize> = (0..self.old.len()).filter(|&o| !self.is_used(o)).collect();
        let new: Vec<usize> = (0..self.new.len()).filter(|&n| !self.is_found(n)).collect();
        if old.is_empty() || new.is_empty() || old.len() * new.len() > LIMIT * LIMIT {
            return Ok(());
        }
        let mut all: Vec<Candidate> = Vec::new();
        for &n in &new {
            let mut best: Vec<Option<Candidate>> = vec![None; CANDIDATES];
            for &o in &old {
                let (Some(from), Some(to)) = (self.old.get(o), self.new.get(n)) else { continue };
                let same_name = base_name(&from.path) == base_name(&to.path);
                let score = self.score(o, n, LEAST)?;
                keep(&mut best, Candidate { old: o, new: n, score, same_name });
            }
            all.extend(best.into_iter().flatten());
        }
        all.sort_by(Candidate::order);
        for c in all {
            if c.score < LEAST {
                break;
            }
            if !self.is_found(c.new) && !self.is_used(c.old) {
                self.record(c.old, c.new, c.score);
            }
        }
        Ok(())
    }

    /// The score of a pair; 0 when it cannot reach `least`, or is not of two
    /// regular files.
    fn score(&mut self, old: usize, new: usize, least: u32) -> Result<u32> {
        let (Some(&from), Some(&to)) = (self.old.get(old), self.new.get(new)) else {
            return Ok(0);
        };
        if !from.is_regular() || !to.is_regular() {
            return Ok(0);
        }
        self.load(from)?;
        self.load(to)?;
        let (Some(a), Some(b)) = (self.pieces.get(&from.id), self.pieces.get(&to.id)) else {
            return Ok(0);
        };
        let (most, difference) = (a.size.max(b.size), a.size.abs_diff(b.size));
        if most * u64::from(EQUAL - least) < difference * u64::from(EQUAL) {
            return Ok(0);
        }
        Ok(a.score(b))
    }

    fn load(&mut self, side: &Side) -> Result<()> {
        if !self.pieces.contains_key(&side.id) {
            let blob = self.repo.find_blob(side.id)?;
            let driver = self.attributes.driver(&side.path)?;
            let text = !is_binary(blob.content(), driver);
            self.pieces.insert(side.id, Pieces::of(blob.content(), text));
        }
        Ok(())
    }
}

/// Puts a candidate in the place of the worst, when it is better.
fn keep(best: &mut [Option<Candidate>], candidate: Candidate) {
    let worse = |a: &Option<Candidate>, b: &Option<Candidate>| match (a, b) {
        (None, Some(_)) => true,
        (Some(a), Some(b)) => a.order(b).is_gt(),
        (_, None) => false,
    };
    let mut worst = 0;
    for i in 1..best.len() {
        if let (Some(a), Some(b)) = (best.get(i), best.get(worst))
            && worse(a, b)
        {
            worst = i;
        }
    }
    if let Some(slot) = best.get_mut(worst)
        && worse(slot, &Some(candidate))
    {
        *slot = Some(candidate);
    }
}
