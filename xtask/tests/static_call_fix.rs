//! The first patch of `dynamic-calls` on headers of 2018, broken in different
//! ways: found, mended, and proved by running what comes out. See
//! `fixtures/static-call/README.md`.

#![allow(clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::render::cocci::Spatch;
use xtask::render::plan::{Plan, plan};
use xtask::render::source::Memory;
use xtask::render::template::BaseFacts;
use xtask::render::{Choice, Verdict};
use xtask::series;

/// Paths and texts of a tree.
type Files<'a> = &'a [(&'a str, &'a str)];

const HEADER: &str = include_str!("fixtures/static-call/static_call.h");
const PATH: &str = "include/linux/static_call.h";
const PATCH: &str = "static-call-out-of-line-update";

/// The macro calls nothing: updates have no effect.
const NO_CALL: &str = r"
static inline void __static_call_update(struct static_call_key key, void *func)
{
	cpus_read_lock();
	arch_static_call_transform(NULL, key.tramp, func);
	cpus_read_unlock();
}

#define static_call_update(key, func)					\
({									\
	BUILD_BUG_ON(!__same_type(func, STATIC_CALL_TRAMP(key)));	\
})
";

/// A pointer is expected and an object given: nothing that updates compiles.
const NOT_COMPILABLE: &str = r"
#define __static_call_update(key, func)					\
({									\
	cpus_read_lock();						\
	arch_static_call_transform(NULL, key->tramp, func);		\
	cpus_read_unlock();						\
})

#define static_call_update(key, func)					\
({									\
	BUILD_BUG_ON(!__same_type(func, STATIC_CALL_TRAMP(key)));	\
	__static_call_update(key, func);				\
})
";

/// The text is patched, the key is left behind.
const STALE_KEY: &str = r"
static inline void __static_call_update(struct static_call_key *key, void *func)
{
	cpus_read_lock();
	arch_static_call_transform(NULL, key->tramp, func);
	cpus_read_unlock();
}

#define static_call_update(key, func)					\
({									\
	BUILD_BUG_ON(!__same_type(func, STATIC_CALL_TRAMP(key)));	\
	__static_call_update(&key, func);				\
})
";

/// As it should be.
const FIXED: &str = r"
static inline void
__static_call_update(struct static_call_key *key, void *func)
{
	cpus_read_lock();
	WRITE_ONCE(key->func, func);
	arch_static_call_transform(NULL, key->tramp,
				   func);
	cpus_read_unlock();
}

#define static_call_update(key, func)					\
({									\
	BUILD_BUG_ON(!__same_type(func, STATIC_CALL_TRAMP(key)));	\
	__static_call_update(&key, func);				\
})
";

/// Merged static calls, as far as the detector looks.
const MERGED_TYPES: &str = r"
#define STATIC_CALL_KEY(name)		__PASTE(STATIC_CALL_KEY_PREFIX, name)
#define static_call(name)		__static_call(name)
";

/// The very first version.
const FIRST: &str = r"
#if defined(CONFIG_HAVE_STATIC_CALL_OPTIMIZED) || defined(CONFIG_HAVE_STATIC_CALL_UNOPTIMIZED)
#define static_call_update(key, func) __static_call_update(&STATIC_CALL_TRAMP(key), func)
#endif
";

fn header(out_of_line: &str) -> String {
    HEADER.replace("@OUT_OF_LINE@\n", out_of_line)
}

fn render(files: Files<'_>) -> Plan {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let series = series::load(&project, "dynamic-calls").expect("the series loads");
    let facts = BaseFacts { name: "2018".into(), version: "4.20.0".parse().expect("a version") };
    plan(&series, &facts, &Memory::of(files), &Choice::default(), &Spatch).expect("a plan")
}

fn verdict(plan: &Plan) -> &Verdict {
    let patch = plan.patches.iter().find(|p| p.name == PATCH);
    &patch.expect("the patch is there").verdict
}

fn after(plan: &Plan) -> String {
    let patch = plan.patches.iter().find(|p| p.name == PATCH).expect("the patch is there");
    let entry = patch.changes.get(PATH).and_then(Option::as_ref).expect("the header changed");
    String::from_utf8(entry.text.bytes().to_vec()).expect("UTF-8")
}

/// Compiles the harness with this header and runs it: Ok with its points, or
/// why it did not hold.
fn run(header: &str) -> Result<String, String> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/static-call");
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("linux")).expect("a folder");
    fs::write(folder.path().join("linux/static_call.h"), header).expect("a header");
    let program: PathBuf = folder.path().join("run");
    let compiled = Command::new("gcc")
        .args(["-std=gnu11", "-O2", "-no-pie", "-fcf-protection=none", "-w"])
        .arg("-DCONFIG_HAVE_STATIC_CALL")
        .arg("-I")
        .arg(fixtures.join("shim"))
        .arg("-I")
        .arg(folder.path())
        .arg(fixtures.join("harness.c"))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("gcc runs");
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let ran = Command::new(&program).output().expect("the harness runs");
    let points = String::from_utf8_lossy(&ran.stdout).into_owned();
    if ran.status.success() { Ok(points) } else { Err(points) }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn each_defect_is_seen_and_mended() {
    let cases = [
        ("no call", NO_CALL, "not ok - the new target is called"),
        ("not compilable", NOT_COMPILABLE, "error: invalid type argument"),
        ("stale key", STALE_KEY, "not ok - the key names the new target"),
    ];
    for (name, out_of_line, symptom) in cases {
        let broken = header(out_of_line);
        let failed = run(&broken).expect_err(name);
        assert!(failed.contains(symptom), "{name}: {failed}");

        let plan = render(&[(PATH, &broken)]);
        assert_eq!(verdict(&plan), &Verdict::Applies, "{name}");
        let mended = after(&plan);
        let points = run(&mended).unwrap_or_else(|e| panic!("{name}, mended: {e}\n{mended}"));
        assert_eq!(points.lines().count(), 7, "{name}: {points}");

        let (start, end) = ("#elif defined(CONFIG_HAVE_STATIC_CALL)", "#else /* function pointers");
        let parts = |text: &str| {
            let (head, rest) = text.split_once(start).expect(start);
            let (_, tail) = rest.split_once(end).expect(end);
            (head.to_owned(), tail.to_owned())
        };
        assert_eq!(parts(&broken), parts(&mended), "{name}: only that branch changes");

        // Once mended, nothing is left to do.
        let again = render(&[(PATH, &mended)]);
        assert!(matches!(verdict(&again), Verdict::Absorbed { .. }), "{name}: {again:?}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_harness_passes_what_is_right() {
    run(&header(FIXED)).expect("a right header");
}

#[test]
fn right_and_later_trees_have_absorbed_it() {
    let fixed = header(FIXED);
    let merged = "#define static_call_update(name, func) __static_call_update()\n";
    let cases: [(&str, Files<'_>, &str); 2] = [
        ("mended by somebody else", &[(PATH, &fixed)], "the update writes"),
        (
            "5.10 and later",
            &[(PATH, merged), ("include/linux/static_call_types.h", MERGED_TYPES)],
            "STATIC_CALL_KEY() and static_call(name)",
        ),
    ];
    for (name, files, told) in cases {
        match verdict(&render(files)) {
            Verdict::Absorbed { marker, why } => {
                assert!(!marker.is_empty(), "{name}");
                let told: Vec<&str> = told.split(' ').collect();
                assert!(told.iter().any(|w| why.contains(w)), "{name}: {why}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn other_trees_lack_what_it_mends() {
    let cases: [(&str, Files<'_>, &str); 3] = [
        ("no static calls", &[("Makefile", "VERSION = 4\n")], "no static calls"),
        ("first version", &[(PATH, FIRST)], "very first version"),
        (
            "pointers alone",
            &[(PATH, "#define static_call(key, args...) key.func(args)\n")],
            "out-of-line",
        ),
    ];
    for (name, files, told) in cases {
        match verdict(&render(files)) {
            Verdict::Blocked { why, .. } => assert!(why.contains(told), "{name}: {why}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
