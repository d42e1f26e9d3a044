//! Tests as the kernel's own kselftest installs them: a list of programs, and a
//! time limit for each collection in its `settings` file.
//!
//! The conventions are in the kernel's `Documentation/dev-tools/kselftest.rst` and
//! `tools/testing/selftests/kselftest/runner.sh`: 45 seconds unless `settings` says otherwise, exit
//! code 4 for a skip, 124 for a time-out, each test run in its own folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{TestKind, TestProgram};
use crate::error::{Error, IoContext as _, Result};
use crate::host::paths::stay_below;

/// What `settings` calls no limit; the guest's own limits still hold.
const NO_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// The tests installed in `root`, those of `only` (all, if it is empty) by the whole name
/// `collection:program` or the program's alone.
///
/// # Errors
/// When the list is not there or names a path outside, or a name of `only` is in none.
pub fn installed(root: &Path, only: &[String]) -> Result<Vec<TestProgram>> {
    let list = root.join("kselftest-list.txt");
    let text = std::fs::read_to_string(&list).at("read the list of tests", &list)?;
    let mut tests = Vec::new();
    let mut names = Vec::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let Some((collection, program)) = line.split_once(':') else {
            return Err(Error::usage(format!("read {}", list.display()))
                .found(format!("\"{}\" is no collection:program", line.escape_default())));
        };
        names.push(line.to_owned());
        if !only.is_empty() && !only.iter().any(|o| o == line || o == program) {
            continue;
        }
        let inside = PathBuf::from(stay_below(collection, "collection")?)
            .join(stay_below(program, "test program")?);
        let kind = TestKind::Installed { root: root.to_owned(), program: inside };
        let timeout = time_limit(&root.join(collection).join("settings"));
        tests.push(TestProgram { timeout, ..TestProgram::new(line, kind) });
    }
    let missing = only.iter().find(|o| {
        !names.iter().any(|n| n == *o || n.split_once(':').is_some_and(|(_, p)| p == *o))
    });
    match missing {
        Some(name) => Err(Error::usage(format!("test {name}"))
            .found(format!("no such test among {} installed ones", names.len()))
            .hint(format!("there are: {}", names.join(", ")))),
        None if tests.is_empty() => Err(Error::check("the collection's tests").found(
            "none was installed: none could be built, or there is none for this architecture",
        )),
        None => Ok(tests),
    }
}

fn time_limit(settings: &Path) -> Duration {
    let text = std::fs::read_to_string(settings).unwrap_or_default();
    let limit = text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("timeout=")?.trim().parse::<u64>().ok())
        .next_back();
    match limit {
        Some(0) => NO_LIMIT,
        Some(seconds) => Duration::from_secs(seconds),
        None => Duration::from_secs(45),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(list: &str) -> tempfile::TempDir {
        let t = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(t.path().join("net")).unwrap();
        std::fs::write(t.path().join("kselftest-list.txt"), list).unwrap();
        std::fs::write(t.path().join("net/settings"), "# x\ntimeout=120\n").unwrap();
        t
    }

    #[test]
    fn the_list_and_the_settings() {
        let t = tree("net:a.sh\nnet:b\n\nnet/forwarding:c.sh\n");
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|s| (*s).to_owned()).collect();
            let tests = installed(t.path(), &only).unwrap();
            tests.iter().map(|t| format!("{} {}", t.name, t.timeout.as_secs())).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["net:a.sh 120", "net:b 120", "net/forwarding:c.sh 45"]);
        assert_eq!(names(&["b", "net/forwarding:c.sh"]), ["net:b 120", "net/forwarding:c.sh 45"]);
        assert!(installed(t.path(), &["zz".to_owned()]).is_err());
        std::fs::write(t.path().join("net/settings"), "timeout=0\n").unwrap();
        assert_eq!(names(&["b"]), ["net:b 86400"]);
    }

    #[test]
    fn a_list_that_leaves_its_folder_is_refused() {
        for list in ["../x:y\n", "net:../../sh\n", "nothing\n", "/etc:passwd\n", ""] {
            assert!(installed(tree(list).path(), &[]).is_err(), "{list}");
        }
    }
}
