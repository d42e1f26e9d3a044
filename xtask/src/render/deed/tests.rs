//! Cases of each deed, and the law that a splice keeps to its place.

use super::super::locate::{Captured, Finder};
use super::*;
use crate::series::locator::{Kind, Locator, Part, Place};

fn spot(
    file: &FileText,
    steps: &[(Kind, &str)],
    part: Option<Part>,
    full: bool,
) -> Result<Spot, Miss> {
    let captured = Captured::new();
    let at = Locator::Place(Place {
        steps: steps.iter().map(|(k, v)| (*k, (*v).to_owned())).collect(),
        part,
        has: Vec::new(),
        has_not: Vec::new(),
        nth: None,
        or_text: None,
    });
    Finder { file, captured: &captured, candidates: true }.find_one(&[], &at, full)
}

type Steps<'a> = &'a [(Kind, &'a str)];

enum Do {
    Before(&'static str),
    After(&'static str),
    Replace(&'static str),
    Delete,
}
use Do::*;

fn done(
    path: &str,
    src: &str,
    steps: &[(Kind, &str)],
    part: Option<Part>,
    what: &Do,
    fit: Fit,
) -> Result<String, Miss> {
    let file = FileText::new(path, src.as_bytes().to_vec());
    let full = !matches!(what, Replace(_));
    let spot = spot(&file, steps, part, full)?;
    let splice = match what {
        Before(text) => insert(&file, &spot, true, text, fit)?,
        After(text) => insert(&file, &spot, false, text, fit)?,
        Replace(text) => replace(&file, &spot, text, fit),
        Delete => delete(&file, &spot, fit),
    };
    Ok(String::from_utf8(apply(src.as_bytes(), vec![splice]).unwrap()).unwrap())
}

#[test]
fn deeds_on_c() {
    let f = "/* d */\nint f(void)\n{\n\ta();\n}\nEXPORT_SYMBOL(f);\n\nint g(void)\n{\n}\n";
    let fun: &[(Kind, &str)] = &[(Kind::Function, "f")];
    let a: &[(Kind, &str)] = &[(Kind::Text, "a();")];
    let two = "int x(void)\n{\n}";
    let cases: Vec<(&str, Steps<'_>, Option<Part>, Do, &str)> = vec![
        (
            f,
            fun,
            None,
            Before(two),
            "int x(void)\n{\n}\n\n/* d */\nint f(void)\n{\n\ta();\n}\nEXPORT_SYMBOL(f);\n\nint g(void)\n{\n}\n",
        ),
        (
            f,
            fun,
            None,
            After(two),
            "/* d */\nint f(void)\n{\n\ta();\n}\nEXPORT_SYMBOL(f);\n\nint x(void)\n{\n}\n\nint g(void)\n{\n}\n",
        ),
        (
            f,
            fun,
            None,
            Replace(two),
            "/* d */\nint x(void)\n{\n}\nEXPORT_SYMBOL(f);\n\nint g(void)\n{\n}\n",
        ),
        (f, fun, None, Delete, "int g(void)\n{\n}\n"),
        (
            f,
            &[(Kind::Function, "g")],
            None,
            Delete,
            "/* d */\nint f(void)\n{\n\ta();\n}\nEXPORT_SYMBOL(f);\n",
        ),
        (
            f,
            &[(Kind::Function, "g")],
            None,
            After(two),
            "/* d */\nint f(void)\n{\n\ta();\n}\nEXPORT_SYMBOL(f);\n\nint g(void)\n{\n}\n\nint x(void)\n{\n}\n",
        ),
        (
            f,
            fun,
            Some(Part::Body),
            Before("\tb();"),
            "/* d */\nint f(void)\n{\n\tb();\n\ta();\n}\nEXPORT_SYMBOL(f);\n\nint g(void)\n{\n}\n",
        ),
        (
            f,
            &[(Kind::Function, "g")],
            Some(Part::Body),
            After("\tb();"),
            "/* d */\nint f(void)\n{\n\ta();\n}\nEXPORT_SYMBOL(f);\n\nint g(void)\n{\n\tb();\n}\n",
        ),
        (
            f,
            a,
            None,
            After("\tb();\n"),
            "/* d */\nint f(void)\n{\n\ta();\n\tb();\n}\nEXPORT_SYMBOL(f);\n\nint g(void)\n{\n}\n",
        ),
        (
            f,
            a,
            None,
            Delete,
            "/* d */\nint f(void)\n{\n}\nEXPORT_SYMBOL(f);\n\nint g(void)\n{\n}\n",
        ),
        ("static int f(void);\n", &[(Kind::Tokens, "static")], None, Delete, "int f(void);\n"),
        ("int static f(void);\n", &[(Kind::Tokens, "static")], None, Delete, "int f(void);\n"),
        ("int f(int a);\n", &[(Kind::Tokens, "int a")], None, Replace("void\n"), "int f(void);\n"),
        (
            "int f(int a);\n",
            &[(Kind::Tokens, "int a")],
            None,
            After(", int b"),
            "int f(int a, int b);\n",
        ),
        ("a;", &[(Kind::Text, "a;")], None, After("b;"), "a;\nb;\n"),
        ("a;", &[(Kind::Text, "a;")], None, Replace("b;"), "b;"),
        ("a;\r\nb;\r\n", &[(Kind::Text, "b;")], None, Before("x;\ny;"), "a;\r\nx;\r\ny;\r\nb;\r\n"),
        (
            "#ifdef X\nint f(void)\n{\n}\n#endif\n",
            fun,
            None,
            After(two),
            "#ifdef X\nint f(void)\n{\n}\n\nint x(void)\n{\n}\n#endif\n",
        ),
        (
            "#ifdef X\nint f(void)\n{\n}\n#endif\n",
            fun,
            None,
            Before(two),
            "#ifdef X\nint x(void)\n{\n}\n\nint f(void)\n{\n}\n#endif\n",
        ),
        (
            "struct s {\n\tint a;\n};\n",
            &[(Kind::Struct, "s")],
            Some(Part::Body),
            After("\tint b;"),
            "struct s {\n\tint a;\n\tint b;\n};\n",
        ),
        ("", &[(Kind::Edge, "end")], None, After("x\n"), "x\n"),
        ("a\n", &[(Kind::Edge, "start")], None, Before("x\n"), "x\na\n"),
        ("a", &[(Kind::Edge, "end")], None, After("x\n"), "a\nx\n"),
    ];
    for (src, steps, part, what, want) in cases {
        let got = done("a.c", src, steps, part, &what, Fit::default());
        assert_eq!(got.as_deref(), Ok(want), "{src:?} {steps:?}");
    }
}

#[test]
fn text_is_shifted_when_asked() {
    let fit = Fit { indent: true, separate: None };
    let src = "int f(void)\n{\n\tif (x) {\n\t\ta();\n\t}\n}\n";
    let got = done("a.c", src, &[(Kind::Text, "a();")], None, &Before("if (y)\n\tb();\n"), fit);
    assert_eq!(
        got.unwrap(),
        "int f(void)\n{\n\tif (x) {\n\t\tif (y)\n\t\t\tb();\n\t\ta();\n\t}\n}\n"
    );
    let src = "int f(void)\n{\n}\n";
    let got = done("a.c", src, &[(Kind::Function, "f")], Some(Part::Body), &Before("b();"), fit);
    assert_eq!(got.unwrap(), "int f(void)\n{\n\tb();\n}\n");
}

#[test]
fn nothing_goes_beside_an_unbraced_body() {
    let src = "int f(void)\n{\n\tif (x)\n\t\ta();\n\telse\n\t\tb();\n\tfor_each(i)\n\t\tc();\n\tif (y) {\n\t\td();\n\t} else {\n\t\te();\n\t}\n\twhile (f()) ;\n\tg(); h();\n}\n";
    let refused: [(&[(Kind, &str)], bool); 9] = [
        (&[(Kind::Text, "a();")], true),
        (&[(Kind::Text, "a();")], false),
        (&[(Kind::Text, "b();")], true),
        (&[(Kind::Text, "b();")], false),
        (&[(Kind::Call, "c")], true),
        (&[(Kind::Call, "c")], false),
        (&[(Kind::Text, "if (x)")], false),
        (&[(Kind::Text, "for_each(i)")], false),
        (&[(Kind::Call, "g")], true),
    ];
    for (steps, before) in refused {
        let what = if before { Before("\tz();") } else { After("\tz();") };
        let got = done("a.c", src, steps, None, &what, Fit::default());
        assert!(
            matches!(got, Err(Miss::Unfit { .. } | Miss::Unparsable { .. })),
            "{steps:?} {before} {got:?}"
        );
    }
    for steps in [&[(Kind::Text, "d();")], &[(Kind::Text, "e();")], &[(Kind::If, "x")]] {
        for what in [Before("\tz();"), After("\tz();")] {
            assert!(done("a.c", src, steps, None, &what, Fit::default()).is_ok(), "{steps:?}");
        }
    }
}

fn with(
    path: &str,
    src: &str,
    add: impl Fn(&FileText) -> Result<Option<Splice>, String>,
) -> String {
    let file = FileText::new(path, src.as_bytes().to_vec());
    match add(&file) {
        Ok(Some(s)) => String::from_utf8(apply(src.as_bytes(), vec![s]).unwrap()).unwrap(),
        Ok(None) => "there".into(),
        Err(e) => e,
    }
}

#[test]
fn includes_go_to_their_neighbours() {
    let sorted =
        "#include <linux/a.h>\n#include <linux/c.h>\n#include <net/b.h>\n\n#include \"x.h\"\n";
    let unsorted = "#include <linux/z.h>\n#include <linux/a.h>\n#include <net/b.h>\nint x;\n";
    let guarded = "#ifndef H\n#define H\n#include <linux/a.h>\n#ifdef X\n#include <linux/b.h>\n#endif\n#endif\n";
    let cases = [
        (
            sorted,
            "<linux/b.h>",
            "#include <linux/a.h>\n#include <linux/b.h>\n#include <linux/c.h>\n#include <net/b.h>\n\n#include \"x.h\"\n",
        ),
        (
            sorted,
            "<linux/d.h>",
            "#include <linux/a.h>\n#include <linux/c.h>\n#include <linux/d.h>\n#include <net/b.h>\n\n#include \"x.h\"\n",
        ),
        (
            sorted,
            "\"y.h\"",
            "#include <linux/a.h>\n#include <linux/c.h>\n#include <net/b.h>\n\n#include \"x.h\"\n#include \"y.h\"\n",
        ),
        (sorted, "<linux/a.h>", "there"),
        (
            unsorted,
            "<linux/b.h>",
            "#include <linux/z.h>\n#include <linux/a.h>\n#include <linux/b.h>\n#include <net/b.h>\nint x;\n",
        ),
        (
            guarded,
            "<linux/b.h>",
            "#ifndef H\n#define H\n#include <linux/a.h>\n#include <linux/b.h>\n#ifdef X\n#include <linux/b.h>\n#endif\n#endif\n",
        ),
        ("int x;\n", "<linux/a.h>", "it has no #include to go with"),
        ("#include <linux/a.h>", "<linux/b.h>", "#include <linux/a.h>\n#include <linux/b.h>\n"),
    ];
    for (src, header, want) in cases {
        assert_eq!(with("a.c", src, |f| include::add(f, header)), want, "{src} {header}");
    }
}

#[test]
fn objects_go_behind_the_last_of_the_list() {
    let src = "obj-y := a.o \\\n\tb.o\nobj-$(CONFIG_X) += x.o\nifdef CONFIG_Z\nobj-y += z.o\nendif\nccflags-y += -O\n";
    assert_eq!(
        with("Makefile", src, |f| makefile::add(f, None, "obj-$(CONFIG_N) += n.o")),
        "obj-y := a.o \\\n\tb.o\nobj-$(CONFIG_X) += x.o\nobj-$(CONFIG_N) += n.o\nifdef CONFIG_Z\nobj-y += z.o\nendif\nccflags-y += -O\n"
    );
    assert_eq!(
        with("Makefile", src, |f| makefile::add(f, None, "obj-$(CONFIG_X)  +=  x.o")),
        "there"
    );
    assert_eq!(
        with("Makefile", "obj-y := a.o \\\n\tb.o", |f| makefile::add(f, None, "obj-y += c.o")),
        "obj-y := a.o \\\n\tb.o\nobj-y += c.o\n"
    );
}

#[test]
fn an_object_goes_behind_all_lines_of_the_one_that_is_named() {
    let src = "obj-y := a.o \\\n\tb.o \\\n\tc.o\nobj-y += z.o";
    let behind_list = "obj-y := a.o \\\n\tb.o \\\n\tc.o\nobj-y += n.o\nobj-y += z.o";
    for (kind, place, want) in [
        (Kind::Text, "obj-y := a.o \\", behind_list),
        (Kind::Text, "b.o \\", behind_list),
        (Kind::Text, "c.o", behind_list),
        (Kind::Object, "a.o", behind_list),
        (Kind::Text, "obj-y += z.o", &format!("{src}\nobj-y += n.o\n")),
        (Kind::Edge, "start", &format!("obj-y += n.o\n{src}")),
    ] {
        let got = with("Makefile", src, |f| {
            let at = spot(f, &[(kind, place)], None, true).unwrap();
            makefile::add(f, Some(&at), "obj-y += n.o")
        });
        assert_eq!(got, want, "{place}");
    }
}

#[test]
fn maintainers_stay_in_order() {
    let src = "Intro\n\nMaintainers List\n----------------\n\nAAA\nM:\tx\n\nMMM\nM:\tx\n\nBBB (stray)\nM:\tx\n\nZZZ\nM:\tx\nF:\ty\n\nTHE REST\nM:\tL\n";
    let add = |text: &'static str| with("MAINTAINERS", src, move |f| maintainers::add(f, text));
    assert!(add("NNN\nM:\ty\n").contains("M:\tx\n\nNNN\nM:\ty\n\nZZZ"));
    assert!(add("ABC\nM:\ty").contains("AAA\nM:\tx\n\nABC\nM:\ty\n\nMMM"));
    assert!(add("zzzz\nM:\ty").contains("F:\ty\n\nzzzz\nM:\ty\n\nTHE REST"));
    assert_eq!(add("aaa\nM:\ty"), "there");
    assert!(add("M:\ty").starts_with("an entry begins"));
}

#[test]
fn overlapping_splices_are_refused() {
    let s = |r: Range<usize>| Splice { span: r, text: b"x".to_vec() };
    assert!(apply(b"abcdef", vec![s(0..3), s(2..4)]).is_err());
    assert!(apply(b"abc", vec![s(2..9)]).is_err());
    assert_eq!(apply(b"abc", vec![s(1..1), s(1..2)]).unwrap(), b"axxc");
}

mod laws {
    use super::*;
    use proptest::prelude::*;

    const SRC: &str = "int a;\n\n/* d */\nint f(void)\n{\n\tint i;\n\n\tif (i)\n\t\ta();\n\tb(i, 2);\n\tswitch (i) {\n\tcase 1:\n\t\tc();\n\t\tbreak;\n\t}\n}\nEXPORT_SYMBOL(f);\n\nstruct s {\n\tint x;\n};\n";

    proptest! {
        // What stands outside of the splice stands there afterwards, whatever is
        // edited and whatever text goes in.
        #[test]
        fn an_edit_keeps_to_its_place(
            which in 0_usize..9, deed in 0_u8..4, text in "[a-z;{}\n\t]{0,20}", crlf: bool, indent: bool,
        ) {
            let places: [(Steps<'_>, Option<Part>); 9] = [
                (&[(Kind::Function, "f")], None),
                (&[(Kind::Function, "f")], Some(Part::Body)),
                (&[(Kind::Function, "f")], Some(Part::Statements)),
                (&[(Kind::Struct, "s")], None),
                (&[(Kind::Field, "x")], None),
                (&[(Kind::Case, "1")], Some(Part::Body)),
                (&[(Kind::Call, "b")], Some(Part::Arguments)),
                (&[(Kind::Variable, "a")], None),
                (&[(Kind::If, "i")], None),
            ];
            let src = if crlf { SRC.replace('\n', "\r\n") } else { SRC.to_owned() };
            let file = FileText::new("a.c", src.clone().into_bytes());
            let (steps, part) = places[which];
            let spot = spot(&file, steps, part, deed != 2).unwrap();
            let fit = Fit { indent, separate: None };
            let splice = match deed {
                0 => insert(&file, &spot, true, &text, fit).unwrap(),
                1 => insert(&file, &spot, false, &text, fit).unwrap(),
                2 => replace(&file, &spot, &text, fit),
                _ => delete(&file, &spot, fit),
            };
            let out = apply(src.as_bytes(), vec![splice.clone()]).unwrap();
            prop_assert!(out.starts_with(&src.as_bytes()[..splice.span.start]));
            prop_assert!(out.ends_with(&src.as_bytes()[splice.span.end..]));
            let taken = &src.as_bytes()[splice.span.clone()];
            if deed < 2 {
                prop_assert!(taken.is_empty());
            } else if deed == 2 {
                prop_assert_eq!(&splice.span, &spot.span);
            } else {
                // Blank lines aside, nothing but the place goes.
                let extra = taken.len() - spot.span.len();
                let blanks = taken.iter().filter(|b| b.is_ascii_whitespace()).count();
                prop_assert!(extra <= blanks);
            }
            if crlf {
                let bare = out.windows(2).any(|w| w[1] == b'\n' && w[0] != b'\r');
                prop_assert!(!bare);
            }
        }
    }
}
