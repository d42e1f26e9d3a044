//! Cases of every kind of locator, and what must hold for any bytes.

use super::*;
use crate::series::locator::Place;

const C: &str = "\
// SPDX-License-Identifier: GPL-2.0
#include <linux/a.h>
#include \"b.h\"

#define SIZE 8 /* entries */
#define LOOP(x) \\
\tdo { \\
\t\tx; \\
\t} while (0)

struct item {
\tint\t\ta; /* first */
\tstruct list_head list;
#ifdef CONFIG_X
\tint\t\tx;
#endif
\tunion {
\t\tu32 u;
\t};
};

enum {
\tSTATE_A,\t/* one */
\tSTATE_B = 2,
\tSTATE_C
};

static int table[SIZE] = {
\t1,
};

static int helper(struct item *it);

/**
 * work - does it
 * @it: the item
 */
static int work(struct item *it,
\t\tint n)
{
\tint i, err = 0;
\tLIST_HEAD(list);

\t/* note the time */
\tif (n > 3)
\t\treturn -EINVAL;
\tif (unlikely(n == 1)) {
\t\terr = helper(it);
\t} else if (n) {
\t\terr = 1;
\t} else {
\t\tgoto out;
\t}
\tswitch (it->a) {
\tcase 1:
\t\terr = 2;
\t\tbreak;
\tcase 2:
\tdefault:
\t\tbreak;
\t}
\tfor (i = 0; i < n; i++)
\t\tx(i);
\tlist_for_each_entry(pos, &list, list) {
\t\ty(pos);
\t}
\twhile (n--) {
\t\terr += n;
\t}
out:
\treturn helper(it) + err;
}
EXPORT_SYMBOL_GPL(work);

#ifdef CONFIG_X
static int twice(void) { return 1; }
#else
static int twice(void) { return 2; }
#endif
";

type Steps<'a> = &'a [(Kind, &'a str)];

fn place(steps: &[(Kind, &str)], part: Option<Part>) -> Locator {
    Locator::Place(Place {
        steps: steps.iter().map(|(k, v)| (*k, (*v).to_owned())).collect(),
        part,
        has: Vec::new(),
        has_not: Vec::new(),
        nth: None,
        or_text: None,
    })
}

fn find_in(path: &str, src: &str, locator: &Locator, full: bool) -> Result<Vec<String>, Miss> {
    let file = FileText::new(path, src.as_bytes().to_vec());
    let captured = Captured::new();
    let finder = Finder { file: &file, captured: &captured, candidates: true };
    Ok(finder
        .find(&[], locator, full)?
        .into_iter()
        .map(|s| format!("{}{}", if s.inline() { "~" } else { "" }, &src[s.span]))
        .collect())
}

#[test]
fn every_kind_in_c() {
    use Kind::*;
    let cases: Vec<(Steps<'_>, Option<Part>, &[&str])> = vec![
        (&[(Include, "linux/a.h")], None, &["#include <linux/a.h>\n"]),
        (&[(Include, "\"b.h\"")], None, &["#include \"b.h\"\n"]),
        (&[(Include, "<b.h>")], None, &[]),
        (&[(Macro, "SIZE")], None, &["#define SIZE 8 /* entries */\n"]),
        (&[(Macro, "LOOP")], None, &["#define LOOP(x) \\\n\tdo { \\\n\t\tx; \\\n\t} while (0)\n"]),
        (&[(Field, "a")], None, &["\tint\t\ta; /* first */\n"]),
        (&[(Struct, "item"), (Field, "x")], None, &["\tint\t\tx;\n"]),
        (&[(Struct, "item"), (Field, "u")], None, &["\t\tu32 u;\n"]),
        (&[(Branch, "CONFIG_X"), (Field, "x")], None, &["\tint\t\tx;\n"]),
        (&[(Enumerator, "STATE_A")], None, &["\tSTATE_A,\t/* one */\n"]),
        (&[(Enumerator, "STATE_C")], None, &["\tSTATE_C\n"]),
        (&[(Variable, "table")], None, &["static int table[SIZE] = {\n\t1,\n};\n"]),
        (&[(Prototype, "helper")], None, &["static int helper(struct item *it);\n"]),
        (&[(Function, "helper")], None, &[]),
        (
            &[(Function, "work")],
            Some(Part::Head),
            &["static int work(struct item *it,\n\t\tint n)\n"],
        ),
        (&[(Function, "work")], Some(Part::Parameters), &["~struct item *it,\n\t\tint n"]),
        (
            &[(Function, "work")],
            Some(Part::Doc),
            &["/**\n * work - does it\n * @it: the item\n */\n"],
        ),
        (&[(Function, "work")], Some(Part::Export), &["EXPORT_SYMBOL_GPL(work);\n"]),
        (
            &[(Function, "work")],
            Some(Part::Declarations),
            &["\tint i, err = 0;\n\tLIST_HEAD(list);\n"],
        ),
        (&[(If, "n > 3")], None, &["\tif (n > 3)\n\t\treturn -EINVAL;\n"]),
        (&[(If, "n > 3")], Some(Part::Then), &["\t\treturn -EINVAL;\n"]),
        (&[(If, "unlikely(n==1)")], Some(Part::Then), &["\t\terr = helper(it);\n"]),
        (&[(If, "unlikely(...)")], Some(Part::Condition), &["~unlikely(n == 1)"]),
        (&[(If, "n")], Some(Part::Then), &["\t\terr = 1;\n"]),
        (&[(If, "n")], Some(Part::Else), &["\t\tgoto out;\n"]),
        (&[(Switch, "it->a")], Some(Part::Condition), &["~it->a"]),
        (&[(Case, "1")], None, &["\tcase 1:\n\t\terr = 2;\n\t\tbreak;\n"]),
        (&[(Case, "1")], Some(Part::Body), &["\t\terr = 2;\n\t\tbreak;\n"]),
        (&[(Case, "default")], None, &["\tdefault:\n\t\tbreak;\n"]),
        (&[(For, "i = 0; i < n; i++")], None, &["\tfor (i = 0; i < n; i++)\n\t\tx(i);\n"]),
        (
            &[(For, "list_for_each_entry(...)")],
            None,
            &["\tlist_for_each_entry(pos, &list, list) {\n\t\ty(pos);\n\t}\n"],
        ),
        (&[(For, "list_for_each_entry(pos, &list, list)")], Some(Part::Body), &["\t\ty(pos);\n"]),
        (&[(While, "n--")], Some(Part::Body), &["\t\terr += n;\n"]),
        (&[(Label, "out")], None, &["out:\n"]),
        (&[(Call, "y")], None, &["\t\ty(pos);\n"]),
        (&[(Call, "helper")], None, &["\t\terr = helper(it);\n", "\treturn helper(it) + err;\n"]),
        (&[(Call, "y")], Some(Part::Arguments), &["~pos"]),
        (&[(Call, "y")], Some(Part::Expression), &["~y(pos)"]),
        (&[(Local, "err")], None, &["\tint i, err = 0;\n"]),
        (&[(Statement, "goto out;")], None, &["\t\tgoto out;\n"]),
        (
            &[(Statement, "return ...;")],
            None,
            &["\t\treturn -EINVAL;\n", "\treturn helper(it) + err;\n", "~return 1;", "~return 2;"],
        ),
        (&[(Function, "work"), (Text, "err = 2; break;")], None, &["\t\terr = 2;\n\t\tbreak;\n"]),
        (&[(Text, "err = helper(it);")], None, &["\t\terr = helper(it);\n"]),
        (&[(Text, "helper(it)")], None, &[]),
        (&[(Tokens, "helper(it)")], None, &["~helper(it)", "~helper(it)"]),
        (&[(Comment, "note the time")], None, &["\t/* note the time */\n"]),
        (&[(Comment, "does it")], None, &["/**\n * work - does it\n * @it: the item\n */\n"]),
        (&[(Comment, "@it the item")], None, &["/**\n * work - does it\n * @it: the item\n */\n"]),
        (
            &[(Branch, "CONFIG_X"), (Function, "twice")],
            None,
            &["static int twice(void) { return 1; }\n"],
        ),
        (
            &[(Branch, "else CONFIG_X"), (Function, "twice")],
            None,
            &["static int twice(void) { return 2; }\n"],
        ),
        (
            &[(Function, "twice")],
            None,
            &["static int twice(void) { return 1; }\n", "static int twice(void) { return 2; }\n"],
        ),
        (&[(Function, "twice")], Some(Part::Body), &["~ return 1; ", "~ return 2; "]),
        (&[(Struct, "nothing")], None, &[]),
    ];
    for (steps, part, want) in cases {
        let got = find_in("a.c", C, &place(steps, part), false).unwrap_or_default();
        assert_eq!(got, want, "{steps:?} {part:?}");
    }
}

#[test]
fn full_takes_comment_and_exports() {
    let got = find_in("a.c", C, &place(&[(Kind::Function, "work")], None), true).unwrap();
    assert!(got[0].starts_with("/**\n * work") && got[0].ends_with("EXPORT_SYMBOL_GPL(work);\n"));
    let whole = find_in("a.c", C, &place(&[(Kind::Function, "work")], None), false).unwrap();
    assert!(whole[0].starts_with("static int work") && whole[0].ends_with("err;\n}\n"));
    let statements = place(&[(Kind::Function, "work")], Some(Part::Statements));
    let got = find_in("a.c", C, &statements, false).unwrap();
    assert!(got[0].starts_with("\t/* note the time */\n"), "{}", got[0]);
}

#[test]
fn kconfig_makefile_maintainers_rst() {
    use Kind::*;
    let kconfig = "menu \"x\"\n\nconfig A\n\tbool \"a\"\n\tselect   B if C\n\thelp\n\t  Long\n\n\t  text.\n\nconfig AB\n\tdef_bool y\n# tail\nendmenu\n";
    let make = "obj-y += a.o ab.o\nobj-$(CONFIG_A)\t+= b.o # c.o\n";
    let maintainers = "List\n\n3C59X\nM:\tA <a@b>\nS:\tOdd\n\nZED\nM:\tX\n";
    let rst = "=====\nTitle\n=====\n\nOne\n===\n\ntext\n\nSub\n---\n\nx\n\nTwo\n===\n\ny\n";
    type Case<'a> = (&'a str, &'a str, Steps<'a>, Option<Part>, &'a [&'a str]);
    let cases: Vec<Case<'_>> = vec![
        (
            "Kconfig",
            kconfig,
            &[(Config, "A")],
            None,
            &["config A\n\tbool \"a\"\n\tselect   B if C\n\thelp\n\t  Long\n\n\t  text.\n"],
        ),
        (
            "Kconfig",
            kconfig,
            &[(Config, "A")],
            Some(Part::Help),
            &["\thelp\n\t  Long\n\n\t  text.\n"],
        ),
        ("Kconfig", kconfig, &[(Config, "AB")], None, &["config AB\n\tdef_bool y\n"]),
        (
            "Kconfig",
            kconfig,
            &[(Config, "A"), (Text, "select B if C")],
            None,
            &["\tselect   B if C\n"],
        ),
        ("Makefile", make, &[(Object, "a.o")], None, &["obj-y += a.o ab.o\n"]),
        ("Makefile", make, &[(Object, "c.o")], None, &[]),
        (
            "Makefile",
            make,
            &[(Text, "obj-$(CONFIG_A) += b.o # c.o")],
            None,
            &["obj-$(CONFIG_A)\t+= b.o # c.o\n"],
        ),
        (
            "MAINTAINERS",
            maintainers,
            &[(Section, "3C59X")],
            None,
            &["3C59X\nM:\tA <a@b>\nS:\tOdd\n"],
        ),
        ("MAINTAINERS", maintainers, &[(Section, "ZED")], None, &["ZED\nM:\tX\n"]),
        ("a.rst", rst, &[(Section, "One")], None, &["One\n===\n\ntext\n\nSub\n---\n\nx\n\n"]),
        ("a.rst", rst, &[(Section, "Sub")], None, &["Sub\n---\n\nx\n\n"]),
        ("a.rst", rst, &[(Section, "Two")], None, &["Two\n===\n\ny\n"]),
    ];
    for (path, src, steps, part, want) in cases {
        let got = find_in(path, src, &place(steps, part), false).unwrap_or_default();
        assert_eq!(got, want, "{path} {steps:?} {part:?}");
    }
}

#[test]
fn ranges() {
    let range = |start, start_in, end, end_in| Locator::Range {
        start: Box::new(place(&[(Kind::Text, start)], None)),
        start_in,
        end: Box::new(place(&[(Kind::Text, end)], None)),
        end_in,
    };
    let got = find_in("a.c", C, &range("case 1:", true, "case 2:", false), false).unwrap();
    assert_eq!(got, ["\tcase 1:\n\t\terr = 2;\n\t\tbreak;\n"]);
    let got = find_in("a.c", C, &range("case 1:", false, "err = 2;", true), false).unwrap();
    assert_eq!(got, ["\t\terr = 2;\n"]);
    // The end is sought behind the beginning.
    let miss = find_in("a.c", C, &range("case 2:", true, "case 1:", true), false).unwrap_err();
    assert!(miss.to_string().contains("behind a.c:"), "{miss}");
    // `break;` stands twice behind it.
    let miss = find_in("a.c", C, &range("case 1:", true, "break;", true), false).unwrap_err();
    assert!(miss.to_string().contains("found 2 times"), "{miss}");
}

#[test]
fn misses_name_what_is_near() {
    let miss = |steps: &[(Kind, &str)]| find_in("a.c", C, &place(steps, None), false).unwrap_err();
    let m = miss(&[(Kind::Function, "wrok")]);
    assert_eq!(m.to_string(), "function \"wrok\": not found");
    assert_eq!(m.near()[0].to_string(), "a.c:38: static int work(struct item *it,");
    let m = miss(&[(Kind::Function, "helper")]);
    assert_eq!(m.near()[0].text, "static int helper(struct item *it);", "the prototype");
    let m = miss(&[(Kind::Function, "work"), (Kind::Text, "err = helper(it, 1);")]);
    assert_eq!(m.near()[0].text, "err = helper(it);");
    let m = miss(&[(Kind::Function, "gone"), (Kind::Text, "x;")]);
    assert_eq!(m.to_string(), "text \"x;\" in function \"gone\": there is no function \"gone\"");
}

#[test]
fn misses_of_names_tell_names_that_are_near() {
    let kconfig = "config NET_X\n\tbool\n\nmenuconfig NET_RX_BUSY\n\tbool\n\tselect NET_Y\n";
    let makefile = "obj-y += dev.o gro-cells.o\nobj-$(CONFIG_X) += x.o\n";
    let maintainers = "NETWORKING DRIVERS\nM:\tA\n\nBPF\nM:\tB\n";
    let c = "struct s {\n\tint count;\n\tu32 gro_node;\n};\nenum e {\n\tE_FIRST,\n};\n";
    for (path, text, kind, value, near) in [
        ("Kconfig", kconfig, Kind::Config, "NET_Z", "config NET_X"),
        ("Kconfig", kconfig, Kind::Config, "CONFIG_NET_X", "config NET_X"),
        ("Kconfig", kconfig, Kind::Config, "RX_BUSY", "menuconfig NET_RX_BUSY"),
        ("Makefile", makefile, Kind::Object, "gro_cells.o", "obj-y += dev.o gro-cells.o"),
        ("MAINTAINERS", maintainers, Kind::Section, "NETWORK DRIVERS", "NETWORKING DRIVERS"),
        ("a.c", c, Kind::Field, "gro_nodes", "u32 gro_node;"),
        ("a.c", c, Kind::Enumerator, "E_FRIST", "E_FIRST,"),
    ] {
        let miss = find_in(path, text, &place(&[(kind, value)], None), false).unwrap_err();
        assert_eq!(miss.near().first().map(|n| n.text.as_str()), Some(near), "{value}: {miss}");
        let slip = miss.to_string().contains("named without CONFIG_: \"NET_X\"");
        assert_eq!(slip, value.starts_with("CONFIG_"), "{miss}");
    }
}

#[test]
fn qualifiers_narrow() {
    let mut at = Place {
        steps: vec![(Kind::Call, "helper".into())],
        part: None,
        has: vec!["return".into()],
        has_not: Vec::new(),
        nth: None,
        or_text: None,
    };
    let run = |p: &Place| find_in("a.c", C, &Locator::Place(p.clone()), false);
    assert_eq!(run(&at).unwrap(), ["\treturn helper(it) + err;\n"]);
    at.has_not = std::mem::take(&mut at.has);
    assert_eq!(run(&at).unwrap(), ["\t\terr = helper(it);\n"]);
    at.has_not.clear();
    at.nth = Some((2, 2));
    assert_eq!(run(&at).unwrap(), ["\treturn helper(it) + err;\n"]);
    at.nth = Some((1, 3));
    assert!(run(&at).unwrap_err().to_string().contains("found 2 times, not 3"));
}

#[test]
fn what_the_parser_does_not_know_is_not_touched() {
    // A macro that opens a brace of its own.
    let src = "int f(void)\n{\n\tFOO(a, b, {\n\t\tg(1);\n\t}})) x\n\tg(2);\n\treturn 0;\n}\n";
    let at = place(&[(Kind::Function, "f"), (Kind::Call, "g")], None);
    match find_in("a.c", src, &at, false) {
        Err(Miss::Unparsable { .. } | Miss::None { .. } | Miss::Unfit { .. }) => {}
        other => panic!("{other:?}"),
    }
    let Locator::Place(mut p) = at else { unreachable!() };
    p.or_text = Some("g(2);".into());
    let got = find_in("a.c", src, &Locator::Place(p), false);
    if let Ok(got) = got {
        assert_eq!(got, ["\tg(2);\n"]);
    }
}

mod laws {
    use super::*;
    use proptest::prelude::*;

    fn all_hold(path: &str, bytes: &[u8], value: &str) -> Result<(), TestCaseError> {
        let file = FileText::new(path, bytes.to_vec());
        let captured = Captured::from([("a".to_owned(), 0..bytes.len())]);
        let finder = Finder { file: &file, captured: &captured, candidates: true };
        for kind in Kind::ALL {
            for part in std::iter::once(None).chain(kind.parts().iter().copied().map(Some)) {
                let Ok(spots) = finder.find(&[], &place(&[(kind, value)], part), true) else {
                    continue;
                };
                for s in spots {
                    prop_assert!(s.fits(bytes), "{kind:?} {part:?} {s:?}");
                }
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300), value in "[a-f]{1,2}|\\*") {
            all_hold("a.c", &bytes, &value)?;
            all_hold("Kconfig", &bytes, &value)?;
            all_hold("a.rst", &bytes, &value)?;
        }

        #[test]
        fn c_like(src in "(a|b|int |struct |enum |if|else|for|while|do|switch|case |default|goto |return |[(){};:,=*]|\n|\t|#if a\n|#else\n|#endif\n|#define |\\\\\n|/\\*|\\*/){0,60}", value in "[ab]|\\*") {
            all_hold("a.c", src.as_bytes(), &value)?;
        }
    }
}
