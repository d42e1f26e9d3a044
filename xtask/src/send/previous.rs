//! An earlier version of a series as commits again: the mails that were sent,
//! applied onto the base that they were made for.
//!
//! The mails, and not the commits that they were made of: the store is a cache
//! and may be another machine's, while what was sent is kept with the series.

use std::path::Path;

use git2::Oid;
use jiff::Timestamp;
use jiff::tz::Offset;

use crate::error::{Error, Result};
use crate::mail::apply::Applier;
use crate::mail::mailinfo::Options;
use crate::mail::range_diff::Range;
use crate::mail::{Applied, Date};
use crate::send::record::{self, Sent};
use crate::tree::{CommitSpec, Signature, Store, commit};

/// The newest version before `version` that was sent of the series in folder
/// `series`.
///
/// # Errors
/// When a record cannot be read.
pub fn newest(series: &Path, version: u32) -> Result<Option<Sent>> {
    for earlier in (1..version).rev() {
        if let Some(sent) = record::load(series, earlier)? {
            return Ok(Some(sent));
        }
    }
    Ok(None)
}

/// Makes the commits of a version that was sent, in the store.
///
/// # Errors
/// When its base is not in the store, or a mail does not apply to it.
pub fn commits(store: &Store, sent: &Sent) -> Result<Range> {
    let meta = &sent.meta;
    let v = format!("v{} as it was sent at {}", meta.version, meta.sent_at);
    let bad = |e: git2::Error| Error::usage(v.clone()).found(e.message().to_owned());
    let base: Oid = meta.onto.as_ref().unwrap_or(&meta.base_commit).parse().map_err(bad)?;
    let tree = store.repo().find_commit(base).map(|c| c.tree_id()).map_err(|_| {
        Error::host(v.clone())
            .found(match &meta.onto {
                None => format!("its base {}, commit {base}, is not in the store", meta.base),
                Some(_) => format!("what it stood on, commit {base}, is not in the store"),
            })
            .hint(format!("cargo xtask bases import {}", meta.base))
            .hint("or name another version, or a range, with --range-diff=PREVIOUS")
    })?;
    let options = Options { keep_non_patch: true, ..Options::default() };
    let mut applier = Applier::new(store.repo(), Some(tree), options)?;
    let mut head = base;
    for mail in sent.mails.iter().filter(|m| m.number > 0) {
        let applied = applier
            .mail(&mail.bytes)
            .map_err(|e| e.context(format!("{v}: {} does not apply", mail.file_name)))?;
        let tree = applier.write()?;
        head = commit(store, &spec(&applied, tree, head)?)?;
    }
    Ok(Range { base, head })
}

fn spec(applied: &Applied, tree: Oid, parent: Oid) -> Result<CommitSpec> {
    let date = applied.date.as_deref().map(Date::parse).transpose()?;
    let (seconds, minutes) = date.map_or((0, 0), |d| (d.seconds(), d.offset_minutes()));
    let bad = |e: jiff::Error| Error::usage("the date of a mail").found(e.to_string());
    let who = Signature {
        name: applied.author.name.clone(),
        email: applied.author.email.clone(),
        when: Timestamp::from_second(seconds).map_err(bad)?,
        offset: Offset::from_seconds(minutes.saturating_mul(60)).map_err(bad)?,
    };
    Ok(CommitSpec {
        tree,
        parents: vec![parent],
        author: who.clone(),
        committer: who,
        message: String::from_utf8_lossy(&applied.message).into_owned(),
    })
}
