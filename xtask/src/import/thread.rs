//! Finds the series in a heap of mails: replies and repeated mails are passed
//! over, the newest version wins, and every number must be there once.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};

use super::letter::Letter;

/// The mails of one version, in order.
#[derive(Debug)]
pub struct Thread {
    /// The version.
    pub version: u32,
    /// The cover letter.
    pub cover: Option<Letter>,
    /// The patches.
    pub patches: Vec<Letter>,
    /// What was passed over and should be known.
    pub warnings: Vec<String>,
}

/// Picks the series out of `letters`: its newest version, or the one `wanted`.
///
/// # Errors
/// When there is no patch, no such version, one is missing, or two differ.
pub fn pick(letters: Vec<Letter>, wanted: Option<u32>) -> Result<Thread> {
    let count = letters.len();
    // A file that git format-patch -k wrote has no brackets: its patch tells.
    let (patches, others): (Vec<Letter>, Vec<Letter>) = letters
        .into_iter()
        .partition(|l| !l.subject.reply && l.has_patch() && numbered(l) != Some(0));
    let versions: BTreeSet<u32> = patches.iter().map(|l| l.subject.version).collect();
    let Some(newest) = versions.last().copied() else {
        return Err(Error::usage("no patch in what was given")
            .found(format!("{count} mails, none with a diff that is no reply"))
            .hint("name a file as git format-patch or a list's archive (t.mbox.gz) gives it"));
    };
    let version = wanted.unwrap_or(newest);
    if !versions.contains(&version) {
        let there: Vec<String> = versions.iter().map(|v| format!("v{v}")).collect();
        return Err(Error::usage(format!("--version {version}"))
            .found(format!("the mails have {}", there.join(", "))));
    }
    let mut warnings = Vec::new();
    let mine: Vec<Letter> = patches.into_iter().filter(|l| l.subject.version == version).collect();
    let covers: Vec<Letter> = others
        .into_iter()
        .filter(|l| !l.subject.reply && l.subject.version == version && numbered(l) == Some(0))
        .collect();
    let (counted, loose): (Vec<Letter>, Vec<Letter>) =
        mine.into_iter().partition(|l| l.subject.number.is_some());
    let cover = one_of(covers)?;
    if counted.is_empty() {
        let patches = without_repeats(loose);
        return Ok(Thread { version, cover, patches, warnings });
    }
    for letter in loose {
        warnings.push(format!("passed over, since its subject has no number: {}", letter.label()));
    }
    let patches = in_order(counted, version, &versions)?;
    Ok(Thread { version, cover, patches, warnings })
}

fn numbered(letter: &Letter) -> Option<usize> {
    letter.subject.number.map(|(n, _)| n)
}

/// Every number from 1 to the total, once.
fn in_order(letters: Vec<Letter>, version: u32, versions: &BTreeSet<u32>) -> Result<Vec<Letter>> {
    let totals: BTreeSet<usize> =
        letters.iter().filter_map(|l| l.subject.number.map(|(_, total)| total)).collect();
    let (Some(&total), 1) = (totals.first(), totals.len()) else {
        let all: Vec<String> = totals.iter().map(|t| format!("n/{t}")).collect();
        return Err(Error::usage(format!("several series of version {version}"))
            .found(format!("subjects count {}", all.join(" and ")))
            .hint("give the mails of one series alone: one thread, or one folder"));
    };
    let mut by_number: BTreeMap<usize, Vec<Letter>> = BTreeMap::new();
    for letter in letters {
        let number = numbered(&letter).unwrap_or_default();
        if number > total {
            return Err(Error::usage(format!("cannot import {}", letter.label()))
                .found(format!("its subject counts {number} of {total}")));
        }
        by_number.entry(number).or_default().push(letter);
    }
    let missing: Vec<String> = (1..=total.min(10_000))
        .filter(|n| !by_number.contains_key(n))
        .map(|n| format!("{n}/{total}"))
        .collect();
    if !missing.is_empty() {
        let some: Vec<&str> = missing.iter().take(20).map(String::as_str).collect();
        let more = if missing.len() > some.len() { ", …" } else { "" };
        let error = Error::usage(format!("patches of version {version} are missing"))
            .found(format!("no mail for {}{more}", some.join(", ")))
            .hint("fetch the whole thread: b4 mbox MESSAGE-ID");
        return Err(match versions.iter().rev().find(|v| **v != version) {
            Some(other) => error.hint(format!("or take another version with --version {other}")),
            None => error,
        });
    }
    by_number.into_values().filter_map(|letters| one_of(letters).transpose()).collect()
}

/// The one letter that several copies are of. One that was sent again wins.
fn one_of(letters: Vec<Letter>) -> Result<Option<Letter>> {
    let again = letters.iter().any(|l| l.subject.resend);
    let kept = letters.into_iter().filter(|l| l.subject.resend == again).collect();
    let mut left = without_repeats(kept);
    let first = if left.is_empty() { None } else { Some(left.remove(0)) };
    if let (Some(first), Some(other)) = (&first, left.first()) {
        let id = |l: &Letter| l.received.message_id.clone().unwrap_or_else(|| "(none)".into());
        return Err(Error::usage("two different mails have the same number")
            .found(format!("{}, Message-ID {}", first.label(), id(first)))
            .found(format!("{}, Message-ID {}", other.label(), id(other)))
            .hint("take one of them out"));
    }
    Ok(first)
}

/// Archives of several lists hold a mail once each, with other headers and
/// sometimes another footer.
fn without_repeats(letters: Vec<Letter>) -> Vec<Letter> {
    let mut kept: Vec<Letter> = Vec::new();
    for letter in letters {
        let same = |k: &Letter| {
            let (a, b) = (&k.received, &letter.received);
            (a.message_id.is_some() && a.message_id == b.message_id)
                || (a.author == b.author && a.message() == b.message() && a.patch == b.patch)
        };
        if !kept.iter().any(same) {
            kept.push(letter);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(subject: &str, id: &str, diff: bool) -> Letter {
        let diff = if diff { "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n" } else { "" };
        let mail =
            format!("From: A B <a@x>\nSubject: {subject}\nMessage-ID: <{id}>\n\n{id}\n---\n{diff}");
        Letter::read(mail.as_bytes(), "m".into()).unwrap()
    }

    fn picked(mails: &[(&str, &str, bool)], wanted: Option<u32>) -> Result<String, String> {
        let letters = mails.iter().map(|(s, id, diff)| letter(s, id, *diff)).collect();
        match pick(letters, wanted) {
            Ok(t) => {
                let id = |l: &Letter| l.received.message_id.clone().unwrap();
                let cover = t.cover.as_ref().map(id).unwrap_or_default();
                let ids: Vec<String> = t.patches.iter().map(id).collect();
                Ok(format!("v{} {cover}|{}|{}", t.version, ids.join(" "), t.warnings.len()))
            }
            Err(e) => Err(e.to_string()),
        }
    }

    #[test]
    fn series_are_found() {
        let v1 = [
            ("[PATCH 2/2] b", "2", true),
            ("Re: [PATCH 1/2] a", "r", true),
            ("[PATCH 0/2] c", "0", false),
            ("[PATCH 1/2] a", "1", true),
            ("[PATCH 1/2] a", "1", true),
            ("[ANNOUNCE] x", "x", false),
        ];
        assert_eq!(picked(&v1, None).unwrap(), "v1 0|1 2|0");
        let both: Vec<_> = v1.iter().copied().chain([("[PATCH v2] d", "d", true)]).collect();
        assert_eq!(picked(&both, None).unwrap(), "v2 |d|0");
        assert_eq!(picked(&both, Some(1)).unwrap(), "v1 0|1 2|0");
        assert!(picked(&both, Some(3)).unwrap_err().contains("v1, v2"));
        // Without numbers the order is that of the mails.
        assert_eq!(
            picked(&[("b", "b", true), ("[PATCH] a", "a", true)], None).unwrap(),
            "v1 |b a|0"
        );
        // One that stands loose beside a numbered series is not part of it.
        let loose = [("[PATCH 1/1] a", "1", true), ("[PATCH] fixup", "f", true)];
        assert_eq!(picked(&loose, None).unwrap(), "v1 |1|1");
        // One that was sent again wins.
        let again = [("[PATCH 1/1] a", "1", true), ("[PATCH RESEND 1/1] a", "2", true)];
        assert_eq!(picked(&again, None).unwrap(), "v1 |2|0");
    }

    #[test]
    fn what_is_no_series_is_refused() {
        for (mails, why) in [
            (&[][..], "no patch"),
            (&[("[PATCH 0/2] c", "0", false)], "no patch"),
            (&[("[PATCH 1/3] a", "1", true)], "2/3, 3/3"),
            (&[("[PATCH 1/1] a", "1", true), ("[PATCH 1/1] b", "2", true)], "two different"),
            (&[("[PATCH 1/1] a", "1", true), ("[PATCH 1/2] b", "2", true)], "several series"),
            (&[("[PATCH 3/2] a", "1", true)], "3 of 2"),
            (&[("[PATCH 1/1000000000] a", "1", true)], "missing"),
            (&[("[PATCH v2 2/2] a", "1", true), ("[PATCH 1/1] b", "2", true)], "--version 1"),
        ] {
            let e = picked(mails, None).unwrap_err();
            assert!(e.contains(why), "{why}: {e}");
        }
    }
}
