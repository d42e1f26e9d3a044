use super::*;

fn before(body: &str) -> (Vec<String>, bool) {
    // A brace in the first column ends an item, and a `#` may stand anywhere.
    let body = body.replace('\n', "\n\t");
    let text = format!("int g;\n\nint f(int x)\n{{\n\t{body}\n}}\n");
    let at = text.find('@').unwrap();
    let file = FileText::new("a.c", text.replace('@', "").into_bytes());
    let before = Before::at(&file, at).unwrap();
    let next = first_code(&file, at..file.bytes().len());
    let mut told = before.told(next.as_ref());
    assert_eq!(told.remove(0), "f()");
    (told, before.governs(next.as_ref()))
}

#[test]
fn what_blocks_and_labels_a_statement_is_in() {
    for (body, want) in [
        ("a();\n@b();", vec![]),
        ("if (a &&\n    b(c)) {\n@b();\n}", vec!["if (a && b(c))"]),
        ("if (a) {\nc();\n} else {\n@b();\n}", vec!["if (a) else"]),
        ("if (a)\nc();\nelse if (d) {\n@b();\n}", vec!["if (a) else if (d)"]),
        ("if (a)\nc();\n@b();", vec![]),
        ("for (i = 0; i < 3; i++) {\n@b();\n}", vec!["for (i = 0; i < 3; i++)"]),
        ("list_for_each(p, q) {\nif (a)\nc();\n@b();\n}", vec!["list_for_each(p, q)"]),
        ("do {\n@b();\n} while (a);", vec!["do"]),
        ("do {\nb();\n} while (a);\n@c();", vec![]),
        ("{\n@b();\n}", vec!["{"]),
        (
            "switch (a) {\ncase A:\ncase B + 1:\n@b();\n}",
            vec!["switch (a)", "case A:", "case B + 1:"],
        ),
        ("switch (a) {\ncase A:\nc();\nbreak;\ndefault:\n@b();\n}", vec!["switch (a)", "default:"]),
        ("return 0;\n@b();", vec!["what follows return"]),
        ("if (a)\nreturn 0;\n@b();", vec![]),
        ("goto out;\nout:\n@b();", vec!["out:"]),
        ("x = a ? b : c;\n@b();", vec![]),
        ("int a[] = { 1, 2 };\n@b();", vec![]),
        ("if (x == 1) {\na();\n}\n@b();", vec![]),
        ("if (x == 1) {\nout:\n@b();\n}", vec!["if (x == 1)", "out:"]),
        ("while ((p = q())) {\n@b();\n}", vec!["while ((p = q()))"]),
        ("x = (struct s) { 1 };\n@b();", vec![]),
        ("switch (x) {\ncase A:\na();\nagain:\n@b();\n}", vec!["switch (x)", "case A:", "again:"]),
        ("switch (x) {\nC(A):\n@b();\n}", vec!["switch (x)", "C(A):"]),
        ("int a[] = { 1, @2 };", vec!["int a[] ="]),
        ("x = ({ a();\n@b(); });", vec!["x = ("]),
        ("x = (struct s) {\n@.a = 1,\n};", vec!["x = (struct s)"]),
        ("f((struct s) { .a = 1 }, @2);", vec!["behind f((struct s) { }, "]),
        ("a = b +\n@c;", vec!["behind a = b +"]),
    ] {
        let want: Vec<&str> = want.iter().map(|w| w.trim_end()).collect();
        assert_eq!(before(body), (want.iter().map(|w| (*w).to_owned()).collect(), false), "{body}");
    }
}

#[test]
fn what_governs_without_braces() {
    for (body, want) in [
        ("if (a)\n@b();", "if (a) without braces"),
        ("if (a)\nc();\nelse\n@b();", "if (a) else without braces"),
        ("if (a)\nfor (;;)\n@b();", "if (a) for (;;) without braces"),
        ("list_for_each(p, q)\n@b();", "list_for_each(p, q) without braces"),
        ("if (a)\n@*p = 1;", "if (a) without braces"),
        ("if unlikely(a)\n@b();", "if unlikely(a) without braces"),
        ("list_for_each(p, q)\n@++n;", "list_for_each(p, q) without braces"),
        ("if (x == 1) {\na();\n}\nif (y)\n@b();", "if (y) without braces"),
        ("if (a)\n@{\nb();\n}", "if (a) without braces"),
        // Only with Y.
        ("#ifdef Y\nif (a)\n#endif\n@b();", "if (a) without braces"),
        // Only without Y.
        ("if (a)\n#ifdef Y\nc();\n#endif\n@b();", "if (a) without braces"),
        ("#ifdef Y\nif (a)\n#else\nc();\n#endif\n@b();", "if (a) without braces"),
    ] {
        assert_eq!(before(body), (vec![want.to_owned()], true), "{body}");
    }
    for body in [
        "pr(\"a\"\n@\"b\");",
        "x = f(a)\n@+ b;",
        "x = f(a)\n@* b;",
        "return f(a)\n@* b;",
        "asm (\"nop\"\n@: : );",
        "int a[] = {\nA(1)\n@B(2)\n};",
        "if (a)\n#ifdef Y\nc();\n#else\nd();\n#endif\n@b();",
    ] {
        assert!(!before(body).1, "{body}");
    }
}

#[test]
fn a_condition_within_a_block_with_an_assignment_governs() {
    for head in ["if (x == 1)", "for (i = 0; i < 3; i++)", "while ((p = q()))", "switch (x = 1)"] {
        let (told, governs) = before(&format!("{head} {{\nif (y)\n@b();\n}}"));
        assert_eq!(told, [head, "if (y) without braces"]);
        assert!(governs);
    }
}

#[test]
fn how_many_statements_there_are() {
    for (text, want) in [
        ("", 0),
        ("/* a */\n#ifdef X\n#endif\n", 0),
        ("a();", 1),
        ("a();\nb();", 2),
        ("{ a(); b(); }", 1),
        ("if (a)\nb();\nelse\nc();", 1),
        ("if (a) {\nb();\n} else if (d) {\nc();\n}", 1),
        ("do { a(); } while (b);", 1),
        ("int a[] = { 1 };", 1),
        ("for (;;) { a(); }\nb();", 2),
        ("A(x)", 1),
    ] {
        assert_eq!(statements(text.as_bytes()), want, "{text}");
    }
}

#[test]
fn the_condition_of_a_loop_behind_it_is_told() {
    let text = "int f(void)\n{\n\tdo {\n\t\tif (x) {\n@\t\t\tb();\n\t\t}\n\t} while (0);\n}\n";
    let at = text.find('@').unwrap();
    let file = FileText::new("a.c", text.replace('@', "").into_bytes());
    assert_eq!(Before::at(&file, at).unwrap().loops(at), ["do while (0)"]);
}

#[test]
fn a_brace_that_each_branch_opens_is_one() {
    let body = "#ifdef Y\nif (a) {\n#else\nif (b) {\n#endif\nc();\n}\n@d();";
    assert_eq!(before(body), (vec![], false));
}

proptest::proptest! {
    #[test]
    fn any_text_has_something_before_each_place(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "if", "else", "do", "case", "a", "return", "(", ")", "{", "}", "[", "]", ";",
                ":", ",", "=", "\"", "/*", "*/", "\n", "\n#if X\n", "\n#else\n", "\n#endif\n",
            ]),
            0..40,
        ),
    ) {
        let text = format!("int f(void)\n{{\n\t{}\n}}\n", words.join(" "));
        let file = FileText::new("a.c", text.clone().into_bytes());
        for at in 0..=text.len() {
            let next = first_code(&file, at..text.len());
            if let Some(before) = Before::at(&file, at) {
                proptest::prop_assert!(!before.told(next.as_ref()).is_empty());
            }
        }
    }
}

#[test]
fn what_items_are_called() {
    for (text, want) in [
        ("struct s {\n\tint a;\n@\tint b;\n};\n", vec!["struct s"]),
        ("enum e {\n\tA,\n@\tB,\n};\n", vec!["enum e"]),
        ("#define M(x)\t\\\n\tdo {\t\\\n@\t\ta(x);\t\\\n\t} while (0)\n", vec!["#define M", "do"]),
        (
            "#define M(x)\t\\\n\tif (x)\t\\\n@\t\ta(x);\n",
            vec!["#define M", "if (x) without braces"],
        ),
        ("static const int a[] = {\n\t1,\n@\t2,\n};\n", vec!["a"]),
    ] {
        let at = text.find('@').unwrap();
        let file = FileText::new("a.c", text.replace('@', "").into_bytes());
        let before = Before::at(&file, at).unwrap();
        assert_eq!(before.told(None), want, "{text}");
    }
    let file = FileText::new("a.c", b"int a;\nint b;\n".to_vec());
    assert!(Before::at(&file, 7).is_none());
}
