//! Git tree objects as bytes: read, compared and changed without copies.
//!
//! A kernel has folders of 1,400 entries of which a patch changes one; a
//! rendering looks at each such folder a dozen times. libgit2's own parser
//! copies every entry. This is a crate of its own so that it is optimised even
//! where the rest is built for quick compiling.

use std::cmp::Ordering;

use git2::Oid;

/// File type bits of a mode.
pub const TYPE: u32 = 0o170_000;
/// A regular file.
pub const REGULAR: u32 = 0o100_000;
/// A symbolic link.
pub const SYMLINK: u32 = 0o120_000;
/// A submodule's commit.
pub const GITLINK: u32 = 0o160_000;
/// A folder.
pub const DIRECTORY: u32 = 0o040_000;

/// Bytes of an id.
const ID: usize = 20;

/// The bytes are no tree object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// One entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'t> {
    /// Type and permissions, as they stand in the object.
    pub mode: u32,
    /// The name in its folder.
    pub name: &'t [u8],
    /// What it names.
    pub id: Oid,
}

impl Entry<'_> {
    /// Whether it is a folder.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        is_dir(self.mode)
    }
}

fn is_dir(mode: u32) -> bool {
    mode & TYPE == DIRECTORY
}

/// The order of entries: a folder's name counts as if it ended in `/`.
#[must_use]
pub fn order(a: &[u8], a_is_dir: bool, b: &[u8], b_is_dir: bool) -> Ordering {
    let common = a.len().min(b.len());
    a.get(..common).cmp(&b.get(..common)).then_with(|| {
        let next = |name: &[u8], dir: bool| {
            name.get(common).copied().unwrap_or(if dir { b'/' } else { 0 })
        };
        next(a, a_is_dir).cmp(&next(b, b_is_dir))
    })
}

/// The entries of a tree object's bytes, in their order.
///
/// # Errors
/// When the bytes are no tree.
pub fn entries(mut bytes: &[u8]) -> Result<Vec<Entry<'_>>, Broken> {
    let mut out = Vec::with_capacity(bytes.len() / 40);
    while !bytes.is_empty() {
        let (entry, rest) = first(bytes)?;
        out.push(entry);
        bytes = rest;
    }
    Ok(out)
}

/// The entry of this name, of whatever kind.
///
/// # Errors
/// When the bytes up to it are no tree.
pub fn find<'t>(mut bytes: &'t [u8], name: &[u8]) -> Result<Option<Entry<'t>>, Broken> {
    while !bytes.is_empty() {
        let (entry, rest) = first(bytes)?;
        if entry.name == name {
            return Ok(Some(entry));
        }
        bytes = rest;
    }
    Ok(None)
}

/// What stands in the old tree, and in the new one in its place.
pub type Pair<'t> = (Option<Entry<'t>>, Option<Entry<'t>>);

/// The entries in which two trees differ, in git's order: those of one name and
/// kind together, others alone.
///
/// # Errors
/// When the bytes are no trees.
pub fn differences<'t>(mut old: &'t [u8], mut new: &'t [u8]) -> Result<Vec<Pair<'t>>, Broken> {
    let mut out = Vec::new();
    loop {
        let same = common(old, new);
        old = old.get(same..).unwrap_or_default();
        new = new.get(same..).unwrap_or_default();
        let a = if old.is_empty() { None } else { Some(first(old)?) };
        let b = if new.is_empty() { None } else { Some(first(new)?) };
        let which = match (&a, &b) {
            (None, None) => return Ok(out),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((a, _)), Some((b, _))) => order(a.name, a.is_dir(), b.name, b.is_dir()),
        };
        let a = a.filter(|_| which != Ordering::Greater);
        let b = b.filter(|_| which != Ordering::Less);
        if let Some((_, rest)) = a {
            old = rest;
        }
        if let Some((_, rest)) = b {
            new = rest;
        }
        let (a, b) = (a.map(|a| a.0), b.map(|b| b.0));
        if a != b {
            out.push((a, b));
        }
    }
}

/// How many bytes of whole entries are the same at the beginning of both.
fn common(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    for step in [4096, 256, 16, 1] {
        while let (Some(x), Some(y)) = (a.get(same..same + step), b.get(same..same + step))
            && x == y
        {
            same += step;
        }
    }
    let mut end = 0;
    while let Some(rest) = a.get(end..same)
        && let Some(nul) = memchr::memchr(0, rest)
        && end + nul + 1 + ID <= same
    {
        end += nul + 1 + ID;
    }
    end
}

/// A name with what is to stand there: mode and id, or nothing.
pub type Change<'c> = (&'c [u8], Option<(u32, Oid)>);

/// The bytes of the tree after some entries were put, replaced or taken out.
///
/// # Errors
/// When the bytes are no tree.
pub fn changed(bytes: &[u8], changes: &[Change<'_>]) -> Result<Vec<u8>, Broken> {
    let mut all = entries(bytes)?;
    let mut sorted = true;
    for &(name, now) in changes {
        let at = all.iter().position(|e| e.name == name);
        match (at.and_then(|i| all.get_mut(i)), now) {
            (Some(entry), Some((mode, id))) => {
                sorted &= is_dir(mode) == entry.is_dir();
                (entry.mode, entry.id) = (mode, id);
            }
            (Some(_), None) => all.retain(|e| e.name != name),
            (None, Some((mode, id))) => {
                sorted = false;
                all.push(Entry { mode, name, id });
            }
            (None, None) => {}
        }
    }
    if !sorted {
        all.sort_by(|a, b| order(a.name, a.is_dir(), b.name, b.is_dir()));
    }
    Ok(write(&all))
}

/// The bytes of a tree object with these entries, which must be in order.
#[must_use]
pub fn write(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(entries.iter().map(|e| e.name.len() + 28).sum());
    for e in entries {
        let mut digits = 3 * (u32::BITS.saturating_sub(e.mode.leading_zeros()).div_ceil(3)).max(1);
        while digits > 0 {
            digits -= 3;
            out.push(b'0' + u8::try_from((e.mode >> digits) & 7).unwrap_or(0));
        }
        out.push(b' ');
        out.extend_from_slice(e.name);
        out.push(0);
        out.extend_from_slice(e.id.as_bytes());
    }
    out
}

/// The first entry, and what follows it.
fn first(bytes: &[u8]) -> Result<(Entry<'_>, &[u8]), Broken> {
    parse(bytes).ok_or(Broken)
}

fn parse(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let (mut mode, mut blank) = (0u32, 0);
    loop {
        match *bytes.get(blank)? {
            b' ' => break,
            digit @ b'0'..=b'7' => {
                mode = mode.checked_mul(8)?.checked_add(u32::from(digit - b'0'))?;
            }
            _ => return None,
        }
        blank += 1;
    }
    let rest = bytes.get(blank + 1..)?;
    let (name, rest) = rest.split_at(memchr::memchr(0, rest)?);
    let (id, rest) = rest.get(1..)?.split_at_checked(ID)?;
    Some((Entry { mode, name, id: Oid::from_bytes(id).ok()? }, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folders_sort_as_if_they_ended_in_a_slash() {
        assert_eq!(order(b"a", true, b"a-b", false), Ordering::Greater);
        assert_eq!(order(b"a", false, b"a-b", false), Ordering::Less);
        assert_eq!(order(b"a", true, b"a0", false), Ordering::Less);
        assert_eq!(order(b"a", false, b"a", false), Ordering::Equal);
    }

    #[test]
    fn broken_trees_are_refused() {
        let mut good = b"100644 a\0".to_vec();
        good.extend([7; 20]);
        assert_eq!(entries(&good).unwrap().len(), 1);
        for cut in 1..good.len() {
            let broken = good.get(..cut).unwrap();
            assert_eq!(entries(broken), Err(Broken), "{cut}");
            assert_eq!(differences(broken, &good), Err(Broken), "{cut}");
            assert_eq!(find(broken, b"b"), Err(Broken), "{cut}");
            assert_eq!(changed(broken, &[]), Err(Broken), "{cut}");
        }
        assert_eq!(entries(b"1x0644 a\0"), Err(Broken));
        assert_eq!(entries(b"77777777777777777 a\0aaaaaaaaaaaaaaaaaaaa"), Err(Broken));
    }

    #[test]
    fn modes_are_written_as_they_were() {
        for mode in [0, 7, 0o100_644, 0o040_000, 0o100_664, 0o120_000, 0o160_000, u32::MAX] {
            let id = Oid::from_bytes(&[3; 20]).unwrap();
            let entry = Entry { mode, name: b"n", id };
            let bytes = write(&[entry]);
            assert!(bytes.starts_with(format!("{mode:o} n\0").as_bytes()), "{mode:o}");
            assert_eq!(entries(&bytes).unwrap(), [entry]);
        }
    }

    type Owned = Vec<(Vec<u8>, u32, u8)>;

    /// A tree of few names, so that two of them share most.
    fn tree() -> impl Strategy<Value = Owned> {
        let mode = prop_oneof![Just(0o100_644u32), Just(0o040_000), Just(0o100_755)];
        let name =
            prop_oneof![Just("a"), Just("a-"), Just("a0"), Just("b"), Just("b.c"), Just("z")]
                .prop_map(|n| n.as_bytes().to_vec());
        // A NUL in an id must not be taken for the end of a name.
        let id = prop_oneof![Just(0u8), Just(1), Just(b' ')];
        proptest::collection::vec((name, mode, id), 0..7).prop_map(|mut all| {
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all.dedup_by(|a, b| a.0 == b.0);
            all.sort_by(|a, b| order(&a.0, is_dir(a.1), &b.0, is_dir(b.1)));
            all
        })
    }

    fn bytes(tree: &Owned) -> Vec<u8> {
        let all: Vec<Entry<'_>> = tree
            .iter()
            .map(|(name, mode, id)| Entry {
                mode: *mode,
                name,
                id: Oid::from_bytes(&[*id; 20]).unwrap(),
            })
            .collect();
        write(&all)
    }

    proptest! {
        #[test]
        fn differences_turn_one_tree_into_the_other(a in tree(), b in tree()) {
            let (old, new) = (bytes(&a), bytes(&b));
            let pairs = differences(&old, &new).unwrap();
            for (x, y) in &pairs {
                prop_assert!(x != y);
            }
            // First what goes, then what comes: a file may become a folder.
            let gone: Vec<Change<'_>> =
                pairs.iter().filter_map(|p| p.0.map(|e| (e.name, None))).collect();
            let come: Vec<Change<'_>> =
                pairs.iter().filter_map(|p| p.1.map(|e| (e.name, Some((e.mode, e.id))))).collect();
            let turned = changed(&changed(&old, &gone).unwrap(), &come).unwrap();
            prop_assert_eq!(turned, new);
        }

        #[test]
        fn every_entry_is_found(a in tree()) {
            let all = bytes(&a);
            for entry in entries(&all).unwrap() {
                prop_assert_eq!(find(&all, entry.name).unwrap(), Some(entry));
            }
            prop_assert_eq!(find(&all, b"none").unwrap(), None);
        }

        #[test]
        fn nothing_panics(a: Vec<u8>, b: Vec<u8>) {
            let _ = (entries(&a), differences(&a, &b), find(&a, b"x"), changed(&a, &[]));
        }
    }
}
