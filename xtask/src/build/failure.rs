//! A failed make as one error: the first thing that went wrong, what kind of
//! failure it is, and what mends it.

use std::path::{Path, PathBuf};

use crate::build::diagnostics::classify::{Class, Classified, classify};
use crate::build::diagnostics::{Diagnostic, Severity, Stage, first_error};
use crate::build::make::{Finished, Make};
use crate::error::{Error, Kind};

/// Source lines shown below the first error.
const EXCERPT: usize = 8;

/// The error for a make that ended with a code other than 0.
#[must_use]
pub fn of(label: &str, goals: &str, made: &Finished, make: &Make, log: Option<&Path>) -> Error {
    let class = classify(&made.diagnostics);
    let hosts = class.as_ref().is_some_and(|c| c.class.is_hosts());
    let kind = if hosts { Kind::Host } else { Kind::Check };
    let first = first_error(&made.diagnostics);
    let mut error = Error::new(kind, headline(label, goals, made.code, first, class.as_ref()));
    match first {
        Some(d) => error = error.found(excerpt(d)),
        None => error = error.found(last_lines(&made.tail)),
    }
    let more = made
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error && d.stage != Stage::Make)
        .count()
        .saturating_sub(1);
    if more > 0 {
        error = error.found(format!("{more} more error{}", if more == 1 { "" } else { "s" }));
    }
    if let Some(c) = &class {
        error = error.found(c.meaning.clone());
        if c.class == Class::NoSpace {
            for place in full_places(make) {
                error = error.found(place);
            }
        }
        error = error.hint(c.mend.clone());
    }
    match log {
        Some(log) => error.hint(format!("the whole log: {}", log.display())),
        None => error,
    }
}

fn headline(
    label: &str,
    goals: &str,
    code: i32,
    first: Option<&Diagnostic>,
    class: Option<&Classified>,
) -> String {
    let at = first.and_then(|d| d.object.as_deref()).unwrap_or(goals);
    match class.map(|c| c.class) {
        Some(Class::NoSpace) => format!("no space left while {label} was built, writing {at}"),
        Some(Class::NoMemory) => format!("no memory left while {label} was built, at {at}"),
        Some(Class::ToolchainMismatch) => {
            format!("the toolchain does not fit {label}: it failed at {at}")
        }
        Some(Class::MissingTool) => {
            format!("{label} cannot be built on this host: it failed at {at}")
        }
        _ if first.is_some() => format!("{label} does not build: it failed at {at}"),
        _ => format!("make {goals} of {label} ended with code {code}"),
    }
}

/// The error, and the source that the compiler shows with it.
fn excerpt(d: &Diagnostic) -> String {
    let mut text = d.to_string();
    for line in d.detail.iter().filter(|l| l.starts_with(' ') || l.starts_with('\t')).take(EXCERPT)
    {
        text.push('\n');
        text.push_str(line);
    }
    text
}

fn last_lines(tail: &str) -> String {
    let lines: Vec<&str> = tail.lines().collect();
    let from = lines.len().saturating_sub(10);
    let last = lines.get(from..).unwrap_or_default().join("\n");
    if last.is_empty() { "make said nothing".into() } else { last }
}

/// Which of the file systems that a build writes to are full.
fn full_places(make: &Make) -> Vec<String> {
    const LOW: u64 = 64 << 20;
    let temporary = std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let places = [("the object directory", make.objdir.clone()), ("temporary files", temporary)];
    places
        .into_iter()
        .filter_map(|(what, path)| {
            let stat = nix::sys::statvfs::statvfs(&path).ok()?;
            let free = stat.blocks_available().saturating_mul(stat.fragment_size());
            (free < LOW).then(|| format!("{what} ({}): {} MiB free", path.display(), free >> 20))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::diagnostics::located::Roots;
    use crate::build::diagnostics::parse::Parser;

    fn error(log: &str) -> Error {
        let mut parser = Parser::new(Roots { source: "/s".into(), objdir: "/o".into() });
        log.lines().for_each(|l| {
            parser.line(l);
        });
        let made = Finished {
            code: 2,
            diagnostics: parser.finish(),
            targets: Vec::new(),
            steps: std::collections::BTreeMap::new(),
            tail: log.to_owned(),
            seconds: 0.0,
            cpu_seconds: 0.0,
        };
        let make = Make {
            source: "/s".into(),
            objdir: "/".into(),
            assignments: Vec::new(),
            stamps: Vec::new(),
            jobs: 1,
            ccache: None,
        };
        of("6.12", "bzImage", &made, &make, Some(Path::new("/o/log")))
    }

    #[test]
    fn kinds_and_first_errors() {
        let e = error(
            "  CC      net/a.o\n/s/net/a.c:3:1: error: expected ';'\n    3 | int x\n/s/net/a.c:4:1: error: y\nmake: *** [net/a.o] Error 1",
        );
        assert_eq!(
            (e.kind(), e.asked()),
            (Kind::Check, "6.12 does not build: it failed at net/a.o")
        );
        assert_eq!(
            e.what_was_found(),
            ["net/a.c:3:1: error: expected ';'\n    3 | int x", "1 more error"]
        );
        assert_eq!(e.hints(), ["the whole log: /o/log"]);
        let e = error("  LD      vmlinux\nld: final link failed: No space left on device");
        assert_eq!(
            (e.kind(), e.asked()),
            (Kind::Host, "no space left while 6.12 was built, writing vmlinux")
        );
        let e = error("a.h:11:3: error: 'bool' cannot be defined via 'typedef'");
        assert!(e.kind() == Kind::Host && e.asked().starts_with("the toolchain does not fit 6.12"));
        let e = error("something odd\nthe end");
        assert_eq!(
            (e.kind(), e.what_was_found()),
            (Kind::Check, &["something odd\nthe end".to_owned()][..])
        );
    }
}
