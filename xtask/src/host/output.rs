//! Where results may go: a folder that holds nothing but what this tool put there, or that is
//! not there yet. Told before any work, since what was worked for would be lost after it.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::{Error, Result, io_error};
use crate::host::regular;

/// What one of its files is called, in each folder that a later product may replace; a folder
/// of mails has nothing but them. The store and what was sent never are.
const PRODUCTS: [&str; 2] = ["results.json", "metadata.json"];

/// What is being written; see [`super::atomic`].
pub(super) const WRITING: &str = ".writing-";

fn asked(place: &Path) -> Error {
    Error::usage(format!("put results into {}", place.display()))
}

/// The folder that `place` means: links followed, the way from the root.
///
/// # Errors
/// When something else than a folder stands there or on the way.
pub fn resolve(place: &Path) -> Result<PathBuf> {
    let other = |found: String| asked(place).found(found);
    let name = "name a folder, or one that is not there yet";
    if place.as_os_str().is_empty() {
        return Err(other("no name".into()).hint(name));
    }
    // Without a slash at the end, which would make a file's name one that is not there.
    let absolute = std::path::absolute(place).map_err(|e| io_error("find", place, &e))?;
    let absolute: PathBuf = absolute.components().collect();
    match fs::canonicalize(&absolute) {
        Ok(found) if found.is_dir() => Ok(found),
        Ok(_) => Err(other("it is there, and no folder".into()).hint(name)),
        Err(_) if absolute.symlink_metadata().is_ok_and(|m| m.is_symlink()) => {
            Err(other("it is a link to what is not there".into()).hint(name))
        }
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            below(place, &absolute)
        }
        Err(e) => Err(io_error("find", place, &e)),
    }
}

/// A folder that is not there: the way to it is made, from the part that is.
fn below(place: &Path, absolute: &Path) -> Result<PathBuf> {
    for there in absolute.ancestors().skip(1) {
        if there.symlink_metadata().is_err() {
            continue;
        }
        let Some(found) = fs::canonicalize(there).ok().filter(|f| f.is_dir()) else {
            return Err(asked(place)
                .found(format!("{} is no folder", there.display()))
                .hint("name one in a folder"));
        };
        let rest = absolute.strip_prefix(there).unwrap_or(absolute);
        if rest.components().any(|c| c == Component::ParentDir) {
            return Err(asked(place)
                .found("it goes up (..) from a folder that is not there")
                .hint("name the folder without .."));
        }
        return Ok(found.join(rest));
    }
    Ok(absolute.to_owned())
}

/// What is replaced must be a product of this tool, or an empty folder: anything else is the
/// user's, who named the place by mistake. `place` is one that [`resolve`] gave.
///
/// # Errors
/// When it is something else, or the folder that the caller is in: that would be gone under
/// their feet.
pub fn check_ours(place: &Path) -> Result<()> {
    if place.symlink_metadata().is_err() {
        return Ok(());
    }
    let here = std::env::current_dir().and_then(fs::canonicalize);
    if here.is_ok_and(|here| here.starts_with(place)) {
        return Err(asked(place)
            .found("it is the folder that you are in, or one above, and would be replaced")
            .hint("name a folder of its own"));
    }
    let foreign = |name: &str| {
        asked(place)
            .found(format!("it has {name}, and what is there would be replaced"))
            .hint("name a folder of its own, or one that is not there yet")
    };
    if place.join(".git").symlink_metadata().is_ok() {
        return Err(foreign(".git"));
    }
    if PRODUCTS.iter().any(|name| is_ours(&place.join(name))) {
        return Ok(());
    }
    for entry in fs::read_dir(place).map_err(|e| io_error("read", place, &e))? {
        let entry = entry.map_err(|e| io_error("read", place, &e))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours =
            name.starts_with(WRITING) || (name.ends_with(".patch") && is_mail(&entry.path()));
        if !ours {
            return Err(foreign(&name));
        }
    }
    Ok(())
}

/// What stands in a JSON document, which is an object.
fn object(file: &Path) -> Option<Map<String, Value>> {
    serde_json::from_reader(BufReader::new(regular::open(file)?)).ok()
}

fn text<'v>(object: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    object.get(key).and_then(Value::as_str)
}

/// The form that a JSON document says that it has.
#[must_use]
pub fn form(file: &Path) -> Option<String> {
    text(&object(file)?, "form").map(str::to_owned)
}

/// A report says its form; a kernel has a hash of all that it was made from.
fn is_ours(file: &Path) -> bool {
    object(file).is_some_and(|o| {
        let hash = text(&o, "inputs-hash").is_some_and(|hash| is_hex(hash, 64));
        let is_kernel = hash && o.get("inputs").is_some_and(Value::is_object);
        is_kernel || text(&o, "form").is_some_and(|form| form.starts_with("kseries-"))
    })
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// How much of a file tells whether it is one of our mails.
const HEAD_BYTES: u64 = 4096;

/// Whether a mail has an id of the form that this tool gives: `NAME-v1-0-HASH@…`. What was
/// made by hand or by git has none, or another.
fn is_mail(file: &Path) -> bool {
    let Some(open) = regular::open(file) else { return false };
    let lines = BufReader::new(open.take(HEAD_BYTES)).lines().map_while(io::Result::ok);
    let mut header = lines.take_while(|l| !l.is_empty());
    header.any(|line| {
        let id = line.strip_prefix("Message-ID: <").unwrap_or_default();
        let mut parts = id.split('@').next().unwrap_or_default().rsplit('-');
        let (hash, number, version) = (parts.next(), parts.next(), parts.next());
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        hash.is_some_and(|h| is_hex(h, 12))
            && number.is_some_and(digits)
            && version.is_some_and(|v| v.strip_prefix('v').is_some_and(digits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_a_place_means() {
        let t = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(t.path()).unwrap();
        fs::create_dir(top.join("dir")).unwrap();
        fs::write(top.join("file"), "1").unwrap();
        symlink("dir", top.join("link")).unwrap();
        symlink("nowhere", top.join("dangling")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        for (place, want) in [
            ("dir", Ok("dir")),
            ("dir/", Ok("dir")),
            ("link/", Ok("dir")),
            ("new/a/b", Ok("new/a/b")),
            ("link/new", Ok("dir/new")),
            ("dir/../new/.", Ok("new")),
            ("file", Err("no folder")),
            ("file/", Err("no folder")),
            ("file/x", Err("file is no folder")),
            ("file/x/y/", Err("file is no folder")),
            ("dangling", Err("a link to what is not there")),
            ("dangling/", Err("a link to what is not there")),
            ("dangling/x", Err("dangling is no folder")),
            ("new/../x", Err("goes up")),
        ] {
            let got = resolve(&top.join(place));
            match (got, want) {
                (Ok(got), Ok(want)) => assert_eq!(got, top.join(want), "{place}"),
                (Err(e), Err(want)) => {
                    assert_eq!(e.kind(), Kind::Usage, "{place}: {e}");
                    assert!(e.to_string().contains(want), "{place}: {e}");
                }
                (got, want) => panic!("{place}: {got:?}, not {want:?}"),
            }
        }
        assert!(resolve(&top.join("loop")).is_err());
        for here in [".", "./", "..", "/"] {
            let e = check_ours(&resolve(Path::new(here)).unwrap()).unwrap_err();
            assert!(e.to_string().contains("you are in"), "{here}: {e}");
        }
        assert!(resolve(Path::new("")).is_err());
    }

    const OURS: &str =
        "From 0 Mon Sep 17\nMessage-ID: <s-6.12-v1-0-4f0e9a3b5c6d@example.org>\n\nx\n";

    const KERNEL: &str = r#"{"inputs": {}, "inputs-hash": "0000000000000000000000000000000000000000000000000000000000000000"}"#;

    #[test]
    fn what_may_be_replaced() {
        let t = tempfile::tempdir().unwrap();
        for (number, (files, ours)) in [
            (&[][..], true),
            (&[("results.json", r#"{"counts": {}, "form": "kseries-test-results/1"}"#)], true),
            (&[("metadata.json", KERNEL), ("bzImage", "")], true),
            (&[("metadata.json", r#"{"inputs-hash": "00", "inputs": {}}"#), ("a", "")], false),
            (&[("metadata.json", &KERNEL.replace("{}", "1")), ("a", "")], false),
            (&[("results.json", r#"["kseries-test-results/1", "00"]"#)], false),
            (&[("metadata.json", r#"{"uuid": "x@y"}"#), ("extension.js", "")], false),
            (&[("results.json", r#"{"form": "mine"}"#)], false),
            (&[("results.json", "[]")], false),
            (&[("results.json", "")], false),
            (&[("results.json", r#"{"form": "kseries-x/1"}"#), (".git", "gitdir: x")], false),
            (&[("0000-a.patch", OURS), ("0001-b.patch", OURS), (".writing-1-x", "")], true),
            (&[("0000-a.patch", OURS), ("0001-mine.patch", "From 0\nSubject: x\n\n")], false),
            (&[("0001-g.patch", "Message-ID: <cover.1700000000.git.a@b>\n\n")], false),
            (&[("0000-a.patch", "Message-ID: <20241101-x-v1-0-mine@b>\n\n")], false),
            (&[("0001-b.patch", "Subject: x\n\nMessage-ID: <s-v1-0-f@b>\n")], false),
            (&[("thesis.txt", "1")], false),
            (&[("sent.json", "{}")], false),
            (&[("HEAD", "ref: refs/heads/main\n")], false),
        ]
        .into_iter()
        .enumerate()
        {
            let place = t.path().join(number.to_string());
            fs::create_dir(&place).unwrap();
            for (name, text) in files {
                fs::write(place.join(name), text).unwrap();
            }
            assert_eq!(check_ours(&place).is_ok(), ours, "{files:?}");
        }
        assert!(check_ours(&t.path().join("new")).is_ok());
    }
}
