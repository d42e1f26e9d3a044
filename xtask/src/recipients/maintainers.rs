//! `get_maintainer.pl` of the base, run once over all patches of a series.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, IoContext as _, Kind, Result};
use crate::host::atomic;
use crate::host::paths::Dirs;
use crate::mail::Person;
use crate::scripts::Scripts;

const SCRIPT: &str = "scripts/get_maintainer.pl";

/// A line of the script's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    person: String,
    role: String,
}

/// Who maintains what `mails` change, with the role in the script's words.
///
/// The answer is kept in the cache under a hash of the script, MAINTAINERS and
/// the patches, so asking again costs nothing.
///
/// # Errors
/// When the base has no such script, perl is missing, or the script fails.
pub fn ask(
    dirs: &Dirs,
    scripts: &Scripts<'_>,
    mails: &[(&str, &[u8])],
) -> Result<Vec<(Person, String)>> {
    let place = cache_place(dirs, scripts, mails)?;
    if let Some(lines) = remembered(&place) {
        return people(&lines);
    }
    let folder = tempfile::tempdir().at("create a folder in", &std::env::temp_dir())?;
    let mut cmd = scripts
        .command("perl", SCRIPT)
        .map_err(|e| e.hint("--no-maintainers asks nobody"))?
        .args([
            // The history of a base is short or absent: who maintains it is what counts.
            "--nogit",
            "--nogit-fallback",
            "--norolestats",
            "--roles",
        ]);
    for (name, bytes) in mails {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).at("write", &file)?;
        cmd = cmd.arg(&file);
    }
    let out = cmd.output()?;
    if !out.ok() {
        return Err(cmd.failure(&out));
    }
    let lines = parse(&out.text())?;
    let json = serde_json::to_vec(&lines)
        .map_err(|e| Error::host("remember the maintainers").found(e.to_string()))?;
    atomic::write(&place, &json)?;
    people(&lines)
}

fn cache_place(dirs: &Dirs, scripts: &Scripts<'_>, mails: &[(&str, &[u8])]) -> Result<PathBuf> {
    let mut key = Sha256::new();
    for name in [SCRIPT, "MAINTAINERS", ".mailmap", ".get_maintainer.ignore"] {
        let path = scripts.root().join(name);
        match std::fs::read(&path) {
            Ok(bytes) => key.update(Sha256::digest(bytes)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => key.update([0]),
            Err(e) => return Err(e).at("read", &path),
        }
    }
    for (_, mail) in mails {
        // Dates and ids in the headers play no part.
        let body = memchr::memmem::find(mail, b"\n\n").and_then(|at| mail.get(at..));
        key.update(Sha256::digest(body.unwrap_or(mail)));
    }
    let key: String = key.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect();
    Ok(dirs.cache().join("maintainers").join(format!("{key}.json")))
}

/// What an earlier run was told; anything unreadable counts as nothing.
fn remembered(place: &Path) -> Option<Vec<Line>> {
    serde_json::from_slice(&std::fs::read(place).ok()?).ok()
}

fn people(lines: &[Line]) -> Result<Vec<(Person, String)>> {
    lines.iter().map(|l| Ok((Person::parse(&l.person)?, l.role.clone()))).collect()
}

/// Reads lines `"Name" <address> (role)` and `address (role)`; the role may have
/// parentheses of its own.
fn parse(output: &str) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for line in output.lines().filter(|l| !l.trim().is_empty()) {
        let end = line.find('>').map(|at| at + 1).or_else(|| line.find(" ("));
        let (person, rest) = line.split_at_checked(end.unwrap_or(line.len())).unwrap_or((line, ""));
        let rest = rest.trim();
        let role = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')')).unwrap_or(rest);
        let line = Line { person: person.trim().to_owned(), role: role.to_owned() };
        if let Err(e) = Person::parse(&line.person) {
            return Err(Error::new(Kind::Host, format!("understand {SCRIPT} of the base"))
                .found(format!("a line that names nobody: {}", e.asked())));
        }
        lines.push(line);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_script() {
        for (line, person, role) in [
            (
                "\"David S. Miller\" <d@x> (maintainer:NETWORKING [GENERAL])",
                "\"David S. Miller\" <d@x>",
                "maintainer:NETWORKING [GENERAL]",
            ),
            (
                "netdev@x (open list:NETWORKING [GENERAL])",
                "netdev@x",
                "open list:NETWORKING [GENERAL]",
            ),
            (
                "bpf@x (open list:BPF [MISC]:Keyword:(?:\\b|_)bpf(?:\\b|_))",
                "bpf@x",
                "open list:BPF [MISC]:Keyword:(?:\\b|_)bpf(?:\\b|_)",
            ),
            ("linux-kernel@x (open list)", "linux-kernel@x", "open list"),
            ("A <a@x> (maintainer:X (Y),reviewer:Z)", "A <a@x>", "maintainer:X (Y),reviewer:Z"),
            ("a@x", "a@x", ""),
        ] {
            let want = Line { person: person.into(), role: role.into() };
            assert_eq!(parse(&format!("{line}\n")).unwrap(), [want], "{line}");
        }
        assert!(parse("Can't open perl script\n").is_err());
        assert!(parse("\n").unwrap().is_empty());
    }
}
