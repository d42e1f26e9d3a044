//! Cases that other readers of KTAP get wrong, and the laws of ours.

use proptest::prelude::*;

use super::*;

/// The tree in one line a test: `path status`, problems that are fatal after a `!`.
fn shape(text: &str) -> String {
    fn walk(block: &Block, out: &mut Vec<String>) {
        for t in &block.tests {
            if let Some(c) = &t.children {
                walk(c, out);
            }
            let fatal = if t.problems.iter().any(|p| p.fatal) { " !" } else { "" };
            out.push(format!("{} {}{fatal}", t.path, t.status.word()));
        }
    }
    let doc = parse(text.as_bytes());
    let mut out = Vec::new();
    walk(&doc.root, &mut out);
    out.push(format!("{:?}", doc.overall()).to_lowercase());
    out.join(", ")
}

#[test]
fn table() {
    // (what, output, shape)
    let cases: &[(&str, &str, &str)] = &[
        ("plain", "KTAP version 1\n1..2\nok 1 a\nok 2 - b\n", "a pass, b pass, passed"),
        (
            "three results for a plan of one, one failed",
            "1..1\nok 1 a\nok 2 b\nnot ok 3 c\n",
            "a pass, b pass, c fail, failed",
        ),
        (
            "three results for a plan of one, all ok",
            "1..1\nok 1 a\nok 2 b\nok 3 c\n",
            "a pass, b pass, c pass, failed",
        ),
        (
            "plan after the results",
            "KTAP version 1\nok 1 a\nok 2 b\n1..2\n",
            "a pass, b pass, passed",
        ),
        ("plan in the middle", "ok 1 a\n1..2\nok 2 b\n", "a pass, b pass, passed"),
        ("no plan", "ok 1 a\n", "a pass, passed"),
        ("second plan", "1..1\n1..1\nok 1 a\n", "a pass, failed"),
        ("too few", "1..3\nok 1 a\n", "a pass, test 2 not-run, test 3 not-run, failed"),
        ("nothing", "", "failed"),
        ("only noise", "hello\nworld\n", "failed"),
        ("nothing planned", "1..0 # SKIP no device\n", "skipped"),
        ("todo", "1..1\nnot ok 1 a # TODO later\n", "a expected-fail, passed"),
        ("xfail", "1..1\nnot ok 1 a # XFAIL known\n", "a expected-fail, passed"),
        ("todo that passes", "1..1\nok 1 a # TODO later\n", "a pass, passed"),
        ("xpass that fails", "1..1\nnot ok 1 a # XPASS\n", "a fail, failed"),
        ("skip, upper case", "1..1\nok 1 a # SKIP why\n", "a skip, skipped"),
        ("skip, lower case", "1..1\nok 1 a # skip why\n", "a skip, skipped"),
        ("skip, no space", "1..1\nok 1 a #SKIP\n", "a skip, skipped"),
        ("skip on not ok", "1..1\nnot ok 1 a # SKIP why\n", "a skip, skipped"),
        ("skip without a name", "1..1\nok 1 # SKIP why\n", "test 1 skip, skipped"),
        ("time-out", "1..1\nok 1 a # TIMEOUT 45 seconds\n", "a timed-out, failed"),
        ("error", "1..1\nok 1 a # ERROR no netns\n", "a fail, failed"),
        (
            "# in a description",
            "1..3\nok 1 a #3 b\nok 2 C# skip\nok 3 x # y # skip z\n",
            "a #3 b pass, C# skip pass, x # y skip, passed",
        ),
        (
            "directive words inside words",
            "1..2\nok 1 a # skipped_frames\nnot ok 2 b # todos\n",
            "a # skipped_frames pass, b # todos fail, failed",
        ),
        ("no description", "1..2\nok 1\nok 2 \n", "test 1 pass, test 2 pass, passed"),
        ("no number", "1..2\nok a\nok - b\n", "a pass, b pass, passed"),
        ("not a result", "1..1\nokay 1 a\nok1 b\nok 1 c\nnotok 1 d\n", "c pass, passed"),
        (
            "bail out after one of three",
            "1..3\nok 1 a\nBail out! no memory\n",
            "a pass, test 2 not-run, test 3 not-run, failed",
        ),
        (
            "bail out in a subtest",
            "1..2\n  1..2\n  ok 1 x\n  Bail out! y\nok 1 a\nok 2 b\n",
            "a/x pass, a/test 2 not-run, a fail !, b pass, failed",
        ),
        (
            "bail out of a program without a plan",
            "1..2\n  Bail out! y\nok 1 a\nok 2 b\n",
            "a fail !, b pass, failed",
        ),
        (
            "parent ok over a failed child",
            "1..1\n  1..2\n  ok 1 x\n  not ok 2 y\nok 1 a\n",
            "a/x pass, a/y fail, a fail !, failed",
        ),
        (
            "the same, commented",
            "1..1\n# 1..2\n# ok 1 x\n# not ok 2 y\nok 1 a\n",
            "a/x pass, a/y fail, a fail !, failed",
        ),
        (
            "the same, commented twice",
            "1..1\n# # not ok 1 z\n# ok 1 y\nok 1 a\n",
            "a/y/z fail, a/y fail !, a fail !, failed",
        ),
        (
            "the same, parent skipped",
            "1..1\n  1..1\n  not ok 1 x\nok 1 a # SKIP\n",
            "a/x fail, a fail !, failed",
        ),
        (
            "parent expected to fail",
            "1..1\n  1..1\n  not ok 1 x\nnot ok 1 a # XFAIL\n",
            "a/x fail, a expected-fail, passed",
        ),
        (
            "parent fails, children do not",
            "1..1\n  1..1\n  ok 1 x\nnot ok 1 a\n",
            "a/x pass, a fail, failed",
        ),
        (
            "plan mismatch in a child",
            "1..1\n  1..2\n  ok 1 x\nok 1 a\n",
            "a/x pass, a/test 2 not-run, a fail !, failed",
        ),
        (
            "comment that begins with ok",
            "1..1\n# ok then\n# not ok at all\nok 1 a\n",
            "a pass, passed",
        ),
        ("carriage returns", "KTAP version 1\r\n1..1\r\nok 1 a\r\n", "a pass, passed"),
        ("doubled carriage returns", "1..1\r\r\nnot ok 1 a\r\r\n", "a fail, failed"),
        (
            "colour",
            "1..2\n\x1b[32mok\x1b[0m 1 a\n\x1b[1;31mnot ok\x1b[m 2 b\n",
            "a pass, b fail, failed",
        ),
        (
            "printk stamps",
            "[    1.234567] KTAP version 1\n[    1.234567] 1..1\n<6>[    1.3456][   T12] ok 1 a\n",
            "a pass, passed",
        ),
        (
            "a message inside a result line",
            "1..1\nok 1 frag[    5.123456] random: crng init done\nmented\n",
            "frag damaged !, failed",
        ),
        ("a cut last line", "1..1\nok 1 a", "a damaged !, failed"),
        ("a cut plan", "ok 1 a\n1..1", "a pass, passed"),
        (
            "output cut by a panic",
            "KTAP version 1\n1..3\nok 1 a\n  KTAP version 1\n  # Subtest: b\n  1..2\n  ok 1 x\n",
            "a pass, b/x pass, b/test 2 not-run, b crashed !, test 3 not-run, failed",
        ),
        (
            "duplicate names",
            "1..3\nok 1 a\nok 2 a\nnot ok 3 a\n",
            "a pass, a#2 pass, a#3 fail, failed",
        ),
        (
            "duplicate names in two suites",
            "1..2\n  1..1\n  ok 1 x\nok 1 a\n  1..1\n  ok 1 x\nok 2 b\n",
            "a/x pass, a pass, b/x pass, b pass, passed",
        ),
        ("numbers out of order", "1..2\nok 2 a\nok 1 b\n", "a pass, b pass, passed"),
        (
            "KUnit of 5.10",
            "TAP version 14\n1..1\n    # Subtest: s\n    1..2\n    ok 1 - x\n    # y: EXPECTATION FAILED\n    not ok 2 - y\nnot ok 1 - s\n",
            "s/x pass, s/y fail, s fail, failed",
        ),
        (
            "KUnit of 6.12",
            "KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n    # module: m\n    1..2\n        KTAP version 1\n        # Subtest: p\n        ok 1 one\n        ok 2 two\n    # p: pass:2 fail:0 skip:0 total:2\n    ok 1 p\n    ok 2 y # SKIP no\n# s: pass:1\n# Totals: pass:3\nok 1 s\n",
            "s/p/one pass, s/p/two pass, s/p pass, s/y skip, s pass, passed",
        ),
        (
            "KUnit's debugfs, indented whole",
            "    # Subtest: s\n    1..1\n    ok 1 - x\nok 1 - s\n",
            "s/x pass, s pass, passed",
        ),
        (
            "two documents one after the other",
            "KTAP version 1\n1..1\nok 1 a\nKTAP version 1\n1..2\nok 1 b\nok 2 c\n",
            "a pass, b pass, c pass, passed",
        ),
        (
            "two documents, the first short",
            "KTAP version 1\n1..2\nok 1 a\nKTAP version 1\n1..1\nok 1 b\n",
            "a pass, test 2 not-run, b pass, failed",
        ),
        (
            "kselftest's runner",
            "TAP version 13\n1..1\n# selftests: net: x.sh\n# TAP version 13\n# 1..1\n# # Starting\n# ok 1 x\nok 1 selftests: net: x.sh\n",
            "selftests: net: x.sh/x pass, selftests: net: x.sh pass, passed",
        ),
        (
            "YAML",
            "1..2\nnot ok 1 a # TODO\n  ---\n  message: x\n  ...\nok 2 b\n",
            "a expected-fail, b pass, passed",
        ),
        (
            "YAML that never ends",
            "1..2\nok 1 a\n  ---\n  x\n  not ok 1 c\nok 2 b\n",
            "a pass, b/c fail, b fail !, failed",
        ),
        ("plan of any size", "1..99999999999999999999\nok 1 a\n", &huge_plan()),
    ];
    let mut wrong = Vec::new();
    for (what, text, want) in cases {
        let got = shape(text);
        if got != *want {
            wrong.push(format!("{what}\n  want {want}\n  got  {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn huge_plan() -> String {
    let missing: Vec<String> = (2..=1001).map(|n| format!("test {n} not-run")).collect();
    format!("a pass, {}, failed", missing.join(", "))
}

#[test]
fn warnings_are_kept() {
    let doc = parse(b"1..3\nok 1\nok 3 b #3\nok c\n");
    let texts: Vec<_> =
        doc.root.tests.iter().flat_map(|t| &t.problems).map(|p| p.text.as_str()).collect();
    assert_eq!(
        texts,
        ["no description", "numbered 3 where 2 was due", "no number where 3 was due"]
    );
}

#[test]
fn output_goes_to_the_result_after_it_and_is_bounded() {
    let mut text = String::from("1..1\n# one\ntwo\n");
    for _ in 0..1000 {
        text.push_str("noise\n");
    }
    text.push_str("ok 1 a\n# after\n");
    let doc = parse(text.as_bytes());
    let output = &doc.root.tests[0].output;
    assert_eq!((output[0].as_str(), output[1].as_str(), output.len()), ("one", "two", 401));
    assert_eq!(output[400], "… 602 more lines");
    assert_eq!(doc.root.output, ["after"]);
}

#[test]
fn the_host_completes_what_the_guest_could_not() {
    let names = ["a", "b", "c"].map(String::from);
    for text in
        ["KTAP version 1\n1..3\nok 1 a\n    ok 1 x\n", "KTAP version 1\n1..3\nok 1 a\n", "ok 1 a\n"]
    {
        let mut doc = parse(text.as_bytes());
        doc.complete(&names, Some("b"), Status::Crashed);
        let got: Vec<_> = doc.root.tests.iter().map(|t| (t.path.as_str(), t.status)).collect();
        assert_eq!(
            got,
            [("a", Status::Pass), ("b", Status::Crashed), ("c", Status::NotRun)],
            "{text}"
        );
        assert_eq!(doc.overall(), Overall::Failed);
    }
    let mut none = parse(b"");
    none.complete(&names, None, Status::Crashed);
    assert_eq!(none.counts().not_run, 3);
}

#[test]
fn results_are_told_as_they_come() {
    let mut parser = Parser::default();
    let mut told = Vec::new();
    for chunk in ["KTAP ver", "sion 1\n1..1\n  ok 1 x\n", "not o", "k 1 a\n"] {
        parser.push(chunk.as_bytes(), |s| told.push((s.depth, s.ok, s.name.clone())));
    }
    assert_eq!(told, [(1, true, "x".to_owned()), (0, false, "a".to_owned())]);
}

#[test]
fn deep_nesting_is_bounded() {
    let mut text = String::new();
    for depth in 0..10_000 {
        text.push_str(&" ".repeat(depth));
        text.push_str("ok 1 a\n");
    }
    assert_eq!(parse(text.as_bytes()).overall(), Overall::Failed);
}

/// A name and what its line says: ok, not ok, skip, expected failure.
type Leaf = (String, u8);
type Tree = Vec<(String, u8, Vec<Leaf>)>;

/// A tree that a well-behaved program could print.
fn tree() -> impl Strategy<Value = Tree> {
    let name = "[a-z][a-z0-9_ .:#-]{0,12}[a-z0-9]";
    let leaf = (name, 0u8..4);
    let test = (name, 0u8..4, prop::collection::vec(leaf, 0..4));
    prop::collection::vec(test, 1..6)
}

fn print(tests: &[(String, u8, Vec<Leaf>)]) -> String {
    let line = |pad: &str, n: usize, name: &str, kind: u8| match kind {
        0 => format!("{pad}ok {n} {name}\n"),
        1 => format!("{pad}not ok {n} {name}\n"),
        2 => format!("{pad}ok {n} {name} # SKIP why\n"),
        _ => format!("{pad}not ok {n} {name} # XFAIL why\n"),
    };
    let mut out = format!("KTAP version 1\n1..{}\n", tests.len());
    for (i, (name, kind, children)) in tests.iter().enumerate() {
        if !children.is_empty() {
            out.push_str(&format!("  KTAP version 1\n  1..{}\n", children.len()));
            for (j, (name, kind)) in children.iter().enumerate() {
                out.push_str(&line("  ", j + 1, name, *kind));
            }
        }
        out.push_str(&line("", i + 1, name, *kind));
    }
    out
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let doc = parse(&bytes);
        prop_assert_eq!(parse(doc.to_ktap().as_bytes()).overall(), doc.overall());
    }

    #[test]
    fn any_lines_are_read(lines in prop::collection::vec(
        "( {0,9}|# ){0,3}(KTAP version 1|1\\.\\.[0-9]{1,3}|ok [0-9]{1,2} a|not ok [0-9] b( # (SKIP|TODO|x))?|Bail out!|---|\\.\\.\\.|# Subtest: s|x)", 0..40)) {
        let text = lines.join("\n") + "\n";
        let doc = parse(text.as_bytes());
        // What we write says what we judged.
        let again = parse(doc.to_ktap().as_bytes());
        prop_assert_eq!(again.overall(), doc.overall(), "{}\n---\n{}", text, doc.to_ktap());
    }

    #[test]
    fn what_is_written_is_read_back(tests in tree()) {
        let doc = parse(print(&tests).as_bytes());
        prop_assert_eq!(doc.root.tests.len(), tests.len());
        let bad = |kind: u8| kind == 1;
        let failed = tests.iter().any(|(_, kind, children)| {
            bad(*kind) || *kind != 3 && children.iter().any(|(_, k)| bad(*k))
        });
        prop_assert_eq!(doc.overall() == Overall::Failed, failed);
        for (test, (name, ..)) in doc.root.tests.iter().zip(&tests) {
            prop_assert_eq!(&test.name, name);
        }
    }

    #[test]
    fn line_ends_colours_and_stamps_change_nothing(tests in tree()) {
        let text = print(&tests);
        let doc = parse(text.as_bytes());
        let crlf = text.replace('\n', "\r\n");
        let colour = text.replace("ok ", "\u{1b}[32mok\u{1b}[0m ");
        let stamped: String = text.lines().map(|l| format!("[   12.345678] {l}\n")).collect();
        let commented: String = text.lines().map(|l| format!("# {l}\n")).collect();
        for other in [crlf, colour, stamped, commented] {
            prop_assert_eq!(&parse(other.as_bytes()), &doc);
        }
    }

    /// A document that is cut anywhere never passes, but for what follows its last result.
    #[test]
    fn a_cut_document_never_passes(tests in tree(), at in any::<prop::sample::Index>()) {
        let text = print(&tests);
        let cut = &text.as_bytes()[..at.index(text.len())];
        prop_assert_eq!(parse(cut).overall(), Overall::Failed, "{}", String::from_utf8_lossy(cut));
    }

    /// Bytes come in any pieces.
    #[test]
    fn pieces_change_nothing(tests in tree(), size in 1usize..40) {
        let text = print(&tests);
        let mut parser = Parser::default();
        for chunk in text.as_bytes().chunks(size) {
            parser.push(chunk, |_| {});
        }
        prop_assert_eq!(parser.finish(), parse(text.as_bytes()));
    }
}
