use super::*;
use proptest::prelude::*;

fn source() -> Document {
    Document::new("series/a/series.toml", "title = \"A\"\n")
}

fn place(around: &[&str], text: &str) -> Place {
    Place {
        edit: KeyPath::root(),
        deed: "replace".into(),
        file: "net/a.c".into(),
        number: 10,
        around: around.iter().map(|a| (*a).to_owned()).collect(),
        text: text.as_bytes().to_vec(),
    }
}

fn read(places: &[Place]) -> Places {
    let mut all = Places::default();
    all.record("p", places, "6.12.1");
    all
}

fn told(places: &Places, place: Place) -> Option<String> {
    let unread = places.unread("p", &[place], &source());
    unread.first().map(|u| {
        let lines: String = u.new.iter().map(|(n, l)| format!(" | {n}: {l}")).collect();
        format!("{u}{lines}")
    })
}

const TEXT: &str = "\ta();\n\n\tput(x);\n\tb(1, 2);\n\tput(x);\n";

#[test]
fn what_was_read_is_known_however_it_is_broken_into_lines() {
    let places = read(&[place(&["fn"], TEXT)]);
    for same in
        [TEXT, "a();\nput(x);\nb(1,\n  2);\nput( x );\n", "\ta(); put(x);\r\n\tb(1, 2); put(x);"]
    {
        assert_eq!(told(&places, place(&["fn"], same)), None, "{same}");
    }
}

#[test]
fn what_tells_texts_apart() {
    let file = |path: &str, text: &[u8]| Place {
        file: path.into(),
        text: text.to_vec(),
        ..place(&[], "")
    };
    for (path, one, other) in [
        ("a.c", &b"int x;"[..], &b"intx;"[..]),
        ("a.c", b"a - -b;", b"a --b;"),
        ("a.c", b"#define A (1)\n", b"#define A(1)\n"),
        ("a.c", b"p(\"a b\");", b"p(\"ab\");"),
        ("a.c", b"a(); /* x */", b"a();"),
        ("a.c", b"a /* b */ c", b"a /* */ b c"),
        // A target's command, and a conditional.
        ("Makefile", b"\tifdef X\n", b"ifdef X\n"),
        ("a.py", b"  x\n  y\n", b"  x\ny\n"),
        ("a.bin", b"\0 \n", b"\0\n"),
    ] {
        let known = read(&[file(path, one)]);
        assert!(known.unread("p", &[file(path, one)], &source()).is_empty());
        let unread = known.unread("p", &[file(path, other)], &source());
        assert_eq!(unread.len(), 1, "{path}: {}", String::from_utf8_lossy(one));
        assert!(!unread[0].to_string().ends_with(": "), "{}", unread[0]);
    }
    for (path, one, other) in [
        ("a.c", &b"if (a) {"[..], &b"if(a)\n{"[..]),
        ("a.c", b"/* a\n * b */", b"/* a * b */"),
        ("Makefile", b"a\n\nb \n", b"a\nb\n"),
    ] {
        let known = read(&[file(path, one)]);
        assert!(known.unread("p", &[file(path, other)], &source()).is_empty(), "{path}");
    }
    // The same text in another file, or once more.
    let known = read(&[file("a.c", b"x;")]);
    assert_eq!(known.unread("p", &[file("b.c", b"x;")], &source()).len(), 1);
    let twice = known.unread("p", &[file("a.c", b"x;"), file("a.c", b"x;")], &source());
    assert!(twice[0].to_string().ends_with("2 places like that now"), "{}", twice[0]);
}

#[test]
fn what_differs_is_told_where_it_is() {
    let places = read(&[place(&["fn"], TEXT), place(&["fn", "for"], "")]);
    let edit = format!("{} (replace):", source().position_of(&KeyPath::root()));
    for (around, text, want) in [
        // One more of a line that is there twice.
        (
            "fn",
            "\ta();\n\tput(x);\n\tput(x);\n\tb(1, 2);\n\tput(x);\n",
            "1 line new or in another place | 12: put(x);",
        ),
        (
            "fn",
            "\ta();\n\tnew();\n\tput(x);\n\tb(1, 2);\n\tput(x);\n",
            "1 line new or in another place | 11: new();",
        ),
        ("fn", "\ta();\n\tput(x);\n\tput(x);\n", "1 line there no more"),
        (
            "fn",
            "\ta();\n\tput(x);\n\tc();\n\tput(x);\n",
            "1 line new or in another place, 1 line there no more | 12: c();",
        ),
        // The same lines in another order.
        (
            "fn",
            "\tb(1, 2);\n\ta();\n\tput(x);\n\tput(x);\n",
            "1 line new or in another place, 1 line there no more | 10: b(1, 2);",
        ),
        ("if", TEXT, "it stands in if now"),
        ("", "", "it stands in no block and no conditional now"),
        ("fn", "\tother();\n", "1 line new or in another place | 10: other();"),
    ] {
        let got = told(&places, place(&[around], text)).unwrap();
        assert_eq!(got, format!("{edit} {want}"), "{text}");
    }
    // Nothing of another patch counts.
    assert_eq!(places.unread("q", &[place(&["fn"], TEXT)], &source())[0].new.len(), 4);
    assert!(
        places.unread("q", &[place(&[], "")], &source())[0]
            .to_string()
            .ends_with("no block and no conditional now")
    );
}

#[test]
fn one_more_base_adds_what_it_has_of_its_own() {
    let mut places = read(&[place(&["fn"], TEXT)]);
    assert_eq!(places.record("p", &[place(&["fn"], TEXT), place(&["fn"], "x();\n")], "7.2"), 1);
    assert_eq!(places.record("p", &[place(&["fn"], "x();\n")], "7.3"), 0);
    // Lines of the one and of the other make no third.
    assert!(told(&places, place(&["fn"], "\ta();\n\tx();\n")).is_some());
}

#[test]
fn what_no_terminal_should_get_is_escaped_and_cut() {
    let got = told(&Places::default(), place(&[], "a\u{1b}[2J\tb\n")).unwrap();
    assert!(got.ends_with("10: a\\u{1b}[2J b"), "{got}");
    let got = told(&Places::default(), place(&[], "a\u{202e}b\n")).unwrap();
    assert!(got.ends_with("10: a\\u{202e}b"), "{got}");
    let got = told(&Places::default(), place(&[], &"x".repeat(3000))).unwrap();
    assert!(got.len() < 400 && got.ends_with('…'), "{got}");
    // Bytes count, whatever they mean.
    let other = |text: &[u8]| Place { text: text.to_vec(), ..place(&[], "") };
    assert!(
        !read(&[other(b"K\xf6ln\n")]).unread("p", &[other(b"K\xe4ln\n")], &source()).is_empty()
    );
}

#[test]
fn what_the_file_looks_like() {
    let mut places = read(&[place(&["fn"], "a\nb\nc\nd\ne\nf\ng\na\n"), place(&[], "")]);
    places.record("q", &[], "6.12.1");
    places.record("odd \"name\"", &[place(&[], "a")], "7.3.4");
    insta::assert_snapshot!(places.text());
}

#[test]
fn no_record_is_not_an_empty_one() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Places::load(dir.path()).unwrap(), None);
    Places::change(dir.path(), |_| ()).unwrap();
    assert_eq!(Places::load(dir.path()).unwrap(), Some(Places::default()));
    let names: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, [FILE]);
    // A link stays, and what it leads to is written.
    std::fs::rename(dir.path().join(FILE), dir.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", dir.path().join(FILE)).unwrap();
    Places::change(dir.path(), |p| p.record("p", &[place(&[], "")], "6.1")).unwrap();
    assert!(dir.path().join(FILE).is_symlink());
    assert!(std::fs::read_to_string(dir.path().join("real")).unwrap().contains("6.1"));
    std::fs::remove_file(dir.path().join("real")).unwrap();
    assert_eq!(Places::load(dir.path()).unwrap_err().kind().exit_code(), 2);
}

#[test]
fn bad_files() {
    for bad in [
        "p",
        "p = 1",
        "p = [1]",
        "[[p]]\nlinux = \"1\"",
        "[[p]]\nlinux = \"1\"\naround = \"0123456789ab\"",
        "[[p]]\nlinux = \"1\"\naround = \"0123456789ab\"\ntext = \"0123\"",
        "[[p]]\nlinux = \"1\"\naround = \"0123456789AB\"\ntext = \"0123456789ab\"",
        "[[p]]\nlinux = \"1\"\naround = \"0123456789ab\"\ntext = \"0123456789ab\"\nlines = [\"x\"]",
        "[[p]]\nlinux = \"1\"\naround = \"0123456789ab\"\ntext = \"0123456789ab\"\ntimes = -1",
        "[[p]]\nlinux = \"1\"\naround = \"0123456789ab\"\ntext = \"0123456789ab\"\nmore = 1",
    ] {
        let e = Places::parse(bad).unwrap_err();
        assert_eq!(e.kind().exit_code(), 2, "{bad}");
        assert!(e.to_string().contains("--record"), "{e}");
    }
}

proptest! {
    #[test]
    fn a_record_reads_back_and_knows_all_of_it(
        name in "(?s).{0,8}",
        linux in "(?s).{0,6}",
        texts in proptest::collection::vec("([ab \t]{0,3}\n?){0,4}", 0..6),
        others in proptest::collection::vec("([ab \t]{0,3}\n?){0,4}", 0..6),
    ) {
        let all = |texts: &[String]| texts.iter().map(|t| place(&["fn"], t)).collect::<Vec<_>>();
        let mut places = Places::default();
        places.record(&name, &all(&texts), &linux);
        places.record(&name, &all(&others), &linux);
        let again = Places::parse(&places.text()).unwrap();
        prop_assert_eq!(&again, &places);
        prop_assert!(again.unread(&name, &all(&texts), &source()).is_empty());
        prop_assert!(again.unread(&name, &all(&others), &source()).is_empty());
    }

    #[test]
    fn whatever_differs_is_told(a in "([abc]\n){0,6}", b in "([abc]\n){0,6}") {
        let places = read(&[place(&[], &a)]);
        let unread = places.unread("p", &[place(&[], &b)], &source());
        prop_assert_eq!(unread.is_empty(), a == b);
        for u in unread {
            prop_assert!(!u.new.is_empty() || u.gone > 0 || u.around.is_some() || u.times.is_some());
            for (number, line) in u.new {
                prop_assert_eq!(b.lines().nth(number - 10), Some(line.as_str()));
            }
        }
    }
}
