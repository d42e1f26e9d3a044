//! Which function of one object is which of another: by name, and where a compiler
//! numbers what it made of a function, without the number.

use std::collections::BTreeMap;

use super::count::Measured;

/// Words of suffixes that stand for the function itself, made for certain callers.
const CLONES: [&str; 5] = ["isra", "constprop", "llvm", "lto_priv", "specialized"];

/// The function that a name comes from: `f` of `f.part.0`, `f.cold`.
pub(super) fn stem(name: &str) -> &str {
    // A name may begin with a dot.
    let dot = name.char_indices().skip(1).find(|(_, c)| *c == '.');
    dot.and_then(|(at, _)| name.get(..at)).unwrap_or(name)
}

/// Whether it is a piece that was split off: `f.cold`, `f.part.0`.
pub(super) fn is_part(name: &str) -> bool {
    let suffix = name.get(stem(name).len()..).unwrap_or_default();
    suffix.split('.').any(|word| matches!(word, "cold" | "part" | "warm"))
}

/// The name without numbers in its suffixes, and without the words of `CLONES` where
/// `clones` is false.
fn plain(name: &str, clones: bool) -> String {
    let stem = stem(name);
    let mut out = stem.to_owned();
    for word in name.get(stem.len()..).unwrap_or_default().split('.').filter(|w| !w.is_empty()) {
        let is_number = word.bytes().all(|b| b.is_ascii_digit());
        if is_number || (!clones && CLONES.contains(&word)) {
            continue;
        }
        out.push('.');
        out.push_str(word);
    }
    out
}

/// Numbers of the functions that belong together; each function is in one pair.
pub(super) fn pairs(
    before: &[Measured],
    after: &[Measured],
) -> Vec<(Option<usize>, Option<usize>)> {
    let mut left: Vec<bool> = vec![true; before.len()];
    let mut partner: Vec<Option<usize>> = vec![None; after.len()];
    // By name: several of the same in the order in which they stand.
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, f) in before.iter().enumerate() {
        for name in &f.names {
            named.entry(name).or_default().push(i);
        }
    }
    for aliases in [false, true] {
        for (f, partner) in after.iter().zip(&mut partner).filter(|(_, p)| p.is_none()) {
            let names = f.names.iter().take(if aliases { usize::MAX } else { 1 });
            let known = names.filter_map(|n| named.get(n.as_str())).flatten();
            *partner = known.copied().find(|i| take(&mut left, *i));
        }
    }
    for clones in [true, false] {
        let open = |f: &Measured| f.names.first().map(|n| plain(n, clones)).unwrap_or_default();
        let mut of: BTreeMap<String, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (i, f) in before.iter().enumerate().filter(|(i, _)| left.get(*i) == Some(&true)) {
            of.entry(open(f)).or_default().0.push(i);
        }
        for (i, f) in after.iter().enumerate() {
            if partner.get(i) == Some(&None) {
                of.entry(open(f)).or_default().1.push(i);
            }
        }
        for (old, new) in of.into_values() {
            if let ([old], [new]) = (old.as_slice(), new.as_slice())
                && take(&mut left, *old)
                && let Some(partner) = partner.get_mut(*new)
            {
                *partner = Some(*old);
            }
        }
    }
    let gone = left.iter().enumerate().filter(|(_, left)| **left).map(|(i, _)| (Some(i), None));
    let there = partner.iter().enumerate().map(|(i, old)| (*old, Some(i)));
    there.chain(gone).collect()
}

/// Takes a number that is left.
fn take(left: &mut [bool], i: usize) -> bool {
    left.get_mut(i).is_some_and(std::mem::take)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::Counts;

    fn all(names: &[&str]) -> Vec<Measured> {
        let one = |n: &&str| Measured {
            names: n.split('=').map(str::to_owned).collect(),
            counts: Counts::default(),
            code: 0,
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn functions_are_told_by_their_names() {
        for (before, after, want) in [
            (&["f", "g"][..], &["g", "f"][..], "f~f g~g"),
            (&["f.part.0"], &["f.part.1"], "f.part.0~f.part.1"),
            (&["f.cold"], &["f.cold.3"], "f.cold~f.cold.3"),
            (&["f"], &["f.isra.0"], "f~f.isra.0"),
            (&["f"], &["f.part.0"], "-~f.part.0 f~-"),
            (&["f.isra.0", "f.isra.1"], &["f.isra.2"], "-~f.isra.2 f.isra.0~- f.isra.1~-"),
            (&["f.constprop.0", "f.cold"], &["f.cold", "f"], "f.cold~f.cold f.constprop.0~f"),
            (&["a=b"], &["b=c"], "a~b"),
            (&["s", "s"], &["s"], "s~- s~s"),
            (&[], &["n"], "-~n"),
        ] {
            let (old, new) = (all(before), all(after));
            let name = |all: &[Measured], i: Option<usize>| {
                i.map_or_else(|| "-".to_owned(), |i| all[i].names[0].clone())
            };
            let told = pairs(&old, &new);
            let mut told: Vec<String> = told
                .iter()
                .map(|(o, n)| format!("{}~{}", name(&old, *o), name(&new, *n)))
                .collect();
            told.sort();
            assert_eq!(told.join(" "), want);
        }
    }

    #[test]
    fn stems() {
        for (name, of, part) in [
            ("f", "f", false),
            ("f.part.0", "f", true),
            (".x.cold", ".x", true),
            ("f.isra.0", "f", false),
            ("", "", false),
        ] {
            assert_eq!((stem(name), is_part(name)), (of, part), "{name}");
        }
    }
}
