//! Each commit builds, and brings no new warning: of the compiler with W=1 and
//! of sparse, in the objects that the series touches, compared with the tree
//! before it.

use git2::Oid;

use super::diff::Deed;
use super::submission::file;
use super::{Finding, Gate, Row, Submission, makefile};
use crate::build::{Diagnostic, Severity, Stage, compare};
use crate::error::Result;

/// What compiles.
pub trait Compiler {
    /// The architectures that are asked for.
    fn arches(&self) -> &[String];

    /// Builds the whole kernel of a commit, with one configuration for all
    /// commits of the series; `label` names it for the user.
    ///
    /// # Errors
    /// When the host cannot build at all.
    fn kernel(&self, commit: Oid, label: &str, arch: &str) -> Result<Attempt>;

    /// Compiles single objects of a commit with W=1 and, where it is there, sparse.
    ///
    /// # Errors
    /// When the host cannot build at all.
    fn objects(&self, commit: Oid, label: &str, arch: &str, objects: &[String]) -> Result<Attempt>;

    /// Why there is no sparse; nothing when it is there.
    fn no_sparse(&self) -> Option<String>;
}

/// How a build went.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// It built, and this was said.
    Built(Vec<Diagnostic>),
    /// The source does not build: the first error, and what is known of it.
    Broken(String),
}

/// The rows of one of the gates that compile.
///
/// # Errors
/// When the host cannot build.
pub fn check(s: &Submission<'_>, gate: Gate, compiler: &dyn Compiler) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for arch in compiler.arches() {
        match gate {
            Gate::Builds => rows.extend(builds(s, compiler, arch)?),
            _ => rows.extend(warnings(s, gate, compiler, arch)?),
        }
    }
    Ok(rows)
}

fn builds(s: &Submission<'_>, compiler: &dyn Compiler, arch: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for p in &s.patches {
        let mut found = Vec::new();
        if let Attempt::Broken(why) = compiler.kernel(p.commit, &p.name, arch)? {
            found.push(Finding::new("does-not-build", None, why));
        }
        rows.push(Row::of(Gate::Builds, &p.name, arch, found));
    }
    Ok(rows)
}

/// What is compiled of the sources that the series touches.
#[derive(Default)]
struct Objects {
    /// The objects.
    objects: Vec<String>,
    /// How many sources no kernel of the architecture is made of.
    elsewhere: usize,
    /// How many sources others include: make would compile them alone, without what
    /// stands before them there.
    included: usize,
}

/// The objects that a tree has of the sources that the series touches.
fn objects(s: &Submission<'_>, tree: Oid, arch: &str) -> Result<Objects> {
    let mut all = Objects::default();
    let changes = s.patches.iter().flat_map(|p| &p.changes);
    for c in changes.filter(|c| c.deed != Deed::Deleted && c.has_extension(&["c", "S"])) {
        let Some((stem, _)) = c.path.rsplit_once('.') else { continue };
        let object = format!("{stem}.o");
        if all.objects.contains(&object) || file(s.repo, tree, &c.path)?.is_none() {
            continue;
        }
        if !is_of_kernel(&c.path, arch) {
            all.elsewhere += 1;
        } else if makefile::is_part_of_another(s.repo, tree, &c.path)? {
            all.included += 1;
        } else {
            all.objects.push(object);
        }
    }
    Ok(all)
}

/// Whether a source can be part of a kernel of `arch`.
fn is_of_kernel(path: &str, arch: &str) -> bool {
    const NOT: &[&str] = &["tools/", "samples/", "Documentation/", "scripts/", "usr/", "rust/"];
    let own = match arch {
        "x86_64" | "i386" => "x86",
        "riscv64" => "riscv",
        "ppc64le" => "powerpc",
        other => other,
    };
    let ours = path.strip_prefix("arch/").is_none_or(|p| p.split('/').next() == Some(own));
    ours && !NOT.iter().any(|n| path.starts_with(n))
}

fn warnings(
    s: &Submission<'_>,
    gate: Gate,
    compiler: &dyn Compiler,
    arch: &str,
) -> Result<Vec<Row>> {
    if let Some(why) = compiler.no_sparse().filter(|_| gate == Gate::Sparse) {
        return Ok(vec![Row::skipped(gate, "series", why)]);
    }
    let stages: &[Stage] =
        if gate == Gate::Sparse { &[Stage::Sparse] } else { &[Stage::Compile, Stage::Assemble] };
    let mut rows = Vec::new();
    let mut before = said(s, compiler, arch, s.base, s.base_tree, "base")?;
    for p in &s.patches {
        let after = said(s, compiler, arch, p.commit, p.after, &p.name)?;
        let detail = detail(arch, &objects(s, p.after, arch)?);
        let row = match (&before, &after) {
            (_, Attempt::Broken(why)) => {
                let found = vec![Finding::new("does-not-build", None, why.clone())];
                Row::of(gate, &p.name, detail, found)
            }
            // Nothing to compare with: that is no proof of anything.
            (Attempt::Broken(why), _) => {
                Row::skipped(gate, &p.name, format!("the tree before it does not build: {why}"))
            }
            (Attempt::Built(old), Attempt::Built(new)) => {
                let of = |all: &[Diagnostic]| {
                    let ours = all.iter().filter(|d| stages.contains(&d.stage));
                    ours.cloned().collect::<Vec<_>>()
                };
                let brought = compare(&of(old), &of(new)).new;
                Row::of(gate, &p.name, detail, brought.iter().map(finding).collect())
            }
        };
        rows.push(row);
        before = after;
    }
    Ok(rows)
}

fn detail(arch: &str, all: &Objects) -> String {
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut detail = format!("{arch}, {}", counted(all.objects.len(), "object"));
    for (n, what) in [(all.elsewhere, "not of the kernel"), (all.included, "included by others")] {
        if n > 0 {
            detail.push_str(&format!(", {} {what}", counted(n, "file")));
        }
    }
    detail
}

fn said(
    s: &Submission<'_>,
    compiler: &dyn Compiler,
    arch: &str,
    commit: Oid,
    tree: Oid,
    label: &str,
) -> Result<Attempt> {
    let Objects { objects, .. } = objects(s, tree, arch)?;
    if objects.is_empty() {
        return Ok(Attempt::Built(Vec::new()));
    }
    compiler.objects(commit, label, arch, &objects)
}

fn finding(d: &Diagnostic) -> Finding {
    let place = d.line.map_or_else(|| d.file.clone(), |line| format!("{}:{line}", d.file));
    let rule = match (&d.flag, d.severity) {
        (Some(flag), _) => flag.trim_start_matches('-').to_owned(),
        (None, Severity::Error) => "error".to_owned(),
        (None, Severity::Warning) => "warning".to_owned(),
    };
    let text = match &d.function {
        Some(function) => format!("{} (in {function})", d.message),
        None => d.message.clone(),
    };
    Finding::new(&rule, Some(place).filter(|p| !p.is_empty()), text)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::gates::Status;
    use crate::gates::testing::Repo;

    /// Says what the test gave it for each label.
    struct Told {
        arches: Vec<String>,
        answers: Vec<(&'static str, Attempt)>,
        asked: RefCell<Vec<String>>,
    }

    impl Told {
        fn answer(&self, label: &str, objects: &[String]) -> Attempt {
            self.asked.borrow_mut().push(format!("{label}: {}", objects.join(" ")));
            let found = self.answers.iter().find(|(l, _)| *l == label);
            found.map_or(Attempt::Built(Vec::new()), |(_, a)| a.clone())
        }
    }

    impl Compiler for Told {
        fn arches(&self) -> &[String] {
            &self.arches
        }
        fn kernel(&self, _: Oid, label: &str, _: &str) -> Result<Attempt> {
            Ok(self.answer(label, &[]))
        }
        fn objects(&self, _: Oid, label: &str, _: &str, objects: &[String]) -> Result<Attempt> {
            Ok(self.answer(label, objects))
        }
        fn no_sparse(&self) -> Option<String> {
            None
        }
    }

    fn warning(line: u32, message: &str, stage: Stage) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            stage,
            file: "net/a.c".into(),
            line: Some(line),
            column: None,
            flag: Some("-Wunused".into()),
            message: message.into(),
            function: None,
            object: Some("net/a.o".into()),
            detail: Vec::new(),
        }
    }

    const MAKEFILE: &str = "obj-y += a.o\nobj-$(CONFIG_B) += b.o\n";

    fn run(gate: Gate, answers: Vec<(&'static str, Attempt)>) -> (Vec<Row>, Vec<String>) {
        let r = Repo::new();
        let s = r.submission(
            &[
                ("net/a.c", "1\n"),
                ("net/h.h", "1\n"),
                ("tools/t.c", "1\n"),
                ("net/Makefile", MAKEFILE),
            ],
            &[
                (
                    "one",
                    "net: x\n",
                    &[
                        ("net/a.c", "2\n"),
                        ("net/h.h", "1\n"),
                        ("tools/t.c", "2\n"),
                        ("net/Makefile", MAKEFILE),
                    ],
                ),
                (
                    "two",
                    "net: y\n",
                    &[
                        ("net/a.c", "3\n"),
                        ("net/h.h", "2\n"),
                        ("tools/t.c", "2\n"),
                        ("net/b.c", "#include \"in_b.c\"\n"),
                        ("net/in_b.c", "1\n"),
                        ("net/Makefile", MAKEFILE),
                    ],
                ),
            ],
        );
        let arches = vec!["x86_64".to_owned()];
        let compiler = Told { arches, answers, asked: RefCell::default() };
        let rows = check(&s, gate, &compiler).unwrap();
        (rows, compiler.asked.into_inner())
    }

    #[test]
    fn only_what_a_patch_brings_is_found() {
        use Stage::{Compile, Sparse};
        let built = |all: &[Diagnostic]| Attempt::Built(all.to_vec());
        let old = warning(5, "old", Compile);
        let moved = warning(9, "old", Compile);
        let new = warning(3, "new", Compile);
        let sparse = warning(4, "context imbalance", Sparse);
        let answers = || {
            vec![
                ("base", built(std::slice::from_ref(&old))),
                ("one", built(&[moved.clone(), new.clone()])),
                ("two", built(&[moved.clone(), new.clone(), sparse.clone()])),
            ]
        };
        let (rows, asked) = run(Gate::Warnings, answers());
        assert_eq!(asked, ["base: net/a.o", "one: net/a.o", "two: net/a.o net/b.o"]);
        let seen: Vec<_> = rows.iter().map(|r| (r.subject.as_str(), r.status)).collect();
        assert_eq!(seen, [("one", Status::Failed), ("two", Status::Passed)]);
        assert_eq!(rows[0].findings[0].place.as_deref(), Some("net/a.c:3"));
        assert_eq!(rows[0].detail, "x86_64, 1 object, 1 file not of the kernel");
        let detail = "x86_64, 2 objects, 1 file not of the kernel, 1 file included by others";
        assert_eq!(rows[1].detail, detail);
        let (rows, _) = run(Gate::Sparse, answers());
        let seen: Vec<_> = rows.iter().map(|r| r.status).collect();
        assert_eq!(seen, [Status::Passed, Status::Failed]);
    }

    #[test]
    fn what_does_not_build_fails_and_proves_nothing_of_the_next() {
        let broken = || vec![("one", Attempt::Broken("net/a.c:1: error: no".into()))];
        let (rows, _) = run(Gate::Warnings, broken());
        let seen: Vec<_> = rows.iter().map(|r| r.status).collect();
        assert_eq!(seen, [Status::Failed, Status::Skipped]);
        let (rows, asked) = run(Gate::Builds, broken());
        assert_eq!(asked, ["one: ", "two: "]);
        let seen: Vec<_> = rows.iter().map(|r| r.status).collect();
        assert_eq!(seen, [Status::Failed, Status::Passed]);
    }

    #[test]
    fn which_sources_are_of_a_kernel() {
        for (path, arch, want) in [
            ("net/a.c", "x86_64", true),
            ("arch/x86/a.c", "x86_64", true),
            ("arch/arm64/a.c", "x86_64", false),
            ("arch/arm64/a.c", "arm64", true),
            ("arch/x86/a.c", "arm64", false),
            ("tools/a.c", "arm64", false),
            ("tools/testing/a.c", "x86_64", false),
        ] {
            assert_eq!(is_of_kernel(path, arch), want, "{path} {arch}");
        }
    }
}
