//! Cases of the scan: what items a text has, and what its branches are.

use super::*;

/// `kind name|name` of each item.
fn items(src: &str) -> Vec<String> {
    scan(src.as_bytes())
        .items
        .iter()
        .map(|i| {
            let names: Vec<&str> = i.names.iter().map(|n| &src[n.clone()]).collect();
            let torn = if i.torn { " torn" } else { "" };
            format!("{:?} {}{torn}", i.kind, names.join("|"))
        })
        .collect()
}

#[test]
fn kinds_and_names() {
    let cases: [(&str, &[&str]); 41] = [
        ("int f(void)\n{\n\treturn 0;\n}\n", &["Function f"]),
        ("static struct x *f(int a, int (*g)(void))\n{\n}\n", &["Function f"]),
        ("static __printf(1, 2) void f(int a) __acquires(x)\n{\n}\n", &["Function f"]),
        ("void f(void) __must_hold(&a) __releases(b)\n{ }\n", &["Function f"]),
        ("static int __init f(void) { }\nint g(void) { }\n", &["Function f", "Function g"]),
        ("static noinline int\nf(struct a *b)\n{\n}\n", &["Function f"]),
        ("BPF_CALL_2(f, int, a, int, b)\n{\n}\n", &["Function BPF_CALL_2|f"]),
        ("SYSCALL_DEFINE1(bpf, int, a) { }", &["Function SYSCALL_DEFINE1|bpf"]),
        ("int f(void);\n", &["Prototype f"]),
        ("extern __printf(1, 2) void f(const char *s, ...) __cold;\n", &["Prototype f"]),
        ("struct a *f(void (*cb)(int));\n", &["Prototype f"]),
        ("struct a {\n\tint b;\n};\n", &["Struct a"]),
        ("struct a { int b; } __packed;\n", &["Struct a", "Variable __packed"]),
        ("static struct a { int b; } c = { 1 };\n", &["Struct a", "Variable c"]),
        ("struct __packed a { int b; };\n", &["Struct a"]),
        ("struct __attribute__((packed)) a { int b; };\n", &["Struct a"]),
        ("union u { int a; };\nenum e { A };\nenum { B };\n", &["Union u", "Enum e", "Enum "]),
        ("enum e : u8 { A };\n", &["Enum e"]),
        ("typedef struct a { int b; } c;\n", &["Struct a", "Typedef c"]),
        ("typedef int (*f)(int);\ntypedef u32 __bitwise x;\n", &["Typedef f", "Typedef x"]),
        ("typedef int f(int);\n", &["Typedef f"]),
        ("struct a;\n", &["Other "]),
        ("int a, *b, c[3];\n", &["Variable a|b|c"]),
        ("int a = f(1), x;\n", &["Variable a"]),
        ("static const struct o ops = {\n\t.f = g,\n};\n", &["Variable ops"]),
        ("static int a[] = { 1, 2 };\n", &["Variable a"]),
        ("int (*f)(void) = g;\n", &["Variable f"]),
        ("int a __read_mostly = 3;\n", &["Variable __read_mostly|a"]),
        ("int a __aligned(8);\n", &["Variable a"]),
        ("static u32 __x;\n", &["Variable __x|u32"]),
        ("EXPORT_SYMBOL(f);\nmodule_init(g);\n", &["Invocation f", "Invocation g"]),
        ("static DEFINE_PER_CPU(struct a, b);\n", &["Invocation b"]),
        ("DEFINE_STATIC_KEY_FALSE(k);\n", &["Invocation k"]),
        ("MODULE_ALIAS(\"x\")\nstatic int f(void) { }\n", &["Invocation ", "Function f"]),
        ("#define A 1\n#define F(x) \\\n\tdo { \\\n\t} while (0)\n", &["Macro A", "Macro F"]),
        (
            "#include <linux/a.h>\n#include \"b.h\" // c\n",
            &["Include <linux/a.h>", "Include \"b.h\""],
        ),
        ("/* int f(void) { } */ // g() {\n", &[]),
        ("char *s = \"}{\"; int f(void) { g('{'); }\n", &["Variable s", "Function f"]),
        ("extern \"C\" {\nint f(void);\n}\nint g(void) { }\n", &["Prototype f", "Function g"]),
        ("}\n};\nint f(void) { }\n", &["Function f"]),
        ("int f(void) {\n#define X 1\n\tg(X);\n}\n", &["Function f", "Macro X"]),
    ];
    for (src, want) in cases {
        assert_eq!(items(src), want, "{src}");
    }
}

#[test]
fn conditionals_balance_the_braces() {
    let src = "\
int f(void)
{
#ifdef A
\tif (x) {
#else
\tif (y) {
#endif
\t\tz();
\t}
}
int g(void) { }
";
    assert_eq!(items(src), ["Function f", "Function g"]);
}

#[test]
fn an_item_over_two_branches_is_torn() {
    let src = "\
#ifdef A
int f(int a)
{
#else
int f(void)
{
#endif
\tg();
}
int h(void) { }
";
    assert_eq!(items(src), ["Function f torn", "Function h"]);
    // Braces that never balance: column 0 ends the item, and says so.
    let src = "int f(void)\n{\n#ifdef A\n\tif (x) {\n#endif\n}\nint h(void)\n{\n}\n";
    assert_eq!(items(src), ["Function f torn", "Function h"]);
}

#[test]
fn macros_without_semicolon_do_not_join_what_follows() {
    let spans = |src: &str| -> Vec<String> {
        let scan = scan(src.as_bytes());
        scan.items
            .iter()
            .map(|i| {
                format!(
                    "{}{}",
                    src[i.span.clone()].replace('\n', " ").replace('\t', ""),
                    if i.glued { " glued" } else { "" }
                )
            })
            .collect()
    };
    let cases: [(&str, &[&str]); 6] = [
        (
            "BTF_ID(func, a)\n#ifdef X\nBTF_ID(func, b)\n#else\nBTF_ID_UNUSED\n#endif\n\nint f(void)\n{\n}\n",
            &["BTF_ID(func, a)", "BTF_ID(func, b)", "BTF_ID_UNUSED", "int f(void) { }"],
        ),
        (
            "PAGEFLAG(A, a)\n\tTESTFLAG(A, a)\n\nenum e {\n\tX\n};\n",
            &["PAGEFLAG(A, a) TESTFLAG(A, a)", "enum e { X };"],
        ),
        ("FOO(x)\nint f(void)\n{\n}\n", &["FOO(x)", "int f(void) { } glued"]),
        ("static int\nf(int a,\n\n  int b)\n{\n}\n", &["static int f(int a,    int b) { }"]),
        ("int a =\n\n3;\n", &["int a =  3;"]),
        ("int f(void)\n\n{\n}\n", &["int f(void)  { }"]),
    ];
    for (src, want) in cases {
        assert_eq!(spans(src), want, "{src}");
    }
    // Braces in column 0 that end no function.
    let src = "int f(void)\n{\n\tint t[] = {\n\t\t1\n};\n\tg();\n}\nint h(void)\n{\n\tif (a) {\n}\t}\nint k(void) { }\n";
    assert_eq!(items(src), ["Function f", "Function h", "Function k"]);
}

#[test]
fn variants_in_branches_are_two_items() {
    let src = "#ifdef A\nint f(void);\n#else\nstatic inline int f(void) { }\n#endif\n";
    assert_eq!(items(src), ["Prototype f", "Function f"]);
}

#[test]
fn branches_have_conditions_bodies_and_groups() {
    let src = "\
#ifndef H
#if defined(A) && B
one
#elif defined(C)
two
# if !defined D
three
# endif
#else
four
#endif
#endif
";
    let found: Vec<(String, &str)> =
        scan(src.as_bytes()).branches.into_iter().map(|b| (b.condition, &src[b.body])).collect();
    let want = [
        (
            "! H",
            "#if defined(A) && B\none\n#elif defined(C)\ntwo\n# if !defined D\nthree\n# endif\n#else\nfour\n#endif\n",
        ),
        ("defined ( A ) & & B", "one\n"),
        ("C", "two\n# if !defined D\nthree\n# endif\n"),
        ("! D", "three\n"),
        ("else defined ( A ) & & B", "four\n"),
    ];
    let want: Vec<(String, &str)> = want.iter().map(|(c, b)| ((*c).to_owned(), *b)).collect();
    assert_eq!(found, want);
}

#[test]
fn bodies_lie_between_the_braces() {
    let src = "int f(void)\n{\n\tg();\n}\nEXPORT_SYMBOL(f);\n";
    let scan = scan(src.as_bytes());
    assert_eq!(&src[scan.items[0].body.clone().unwrap()], "\n\tg();\n");
    assert_eq!(&src[scan.items[0].span.clone()], "int f(void)\n{\n\tg();\n}");
    assert_eq!(&src[scan.items[1].macro_name.clone().unwrap()], "EXPORT_SYMBOL");
}

mod laws {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_taken(src in proptest::collection::vec(any::<u8>(), 0..400)) {
            let scan = super::scan(&src);
            for item in &scan.items {
                prop_assert!(item.span.start <= item.span.end && item.span.end <= src.len());
            }
        }

        #[test]
        fn c_like_text_is_taken(src in "([a-c(){};=,*#\"'/ \n\\\\]|#if A\n|#else\n|#endif\n|/\\*|\\*/|struct |\n}){0,80}") {
            let scan = super::scan(src.as_bytes());
            for item in &scan.items {
                prop_assert!(item.span.end <= src.len());
                if let Some(body) = &item.body {
                    prop_assert!(item.span.start <= body.start && body.end <= item.span.end);
                }
            }
            for b in &scan.branches {
                prop_assert!(b.group.start <= b.body.start && b.body.end <= b.group.end.max(b.body.end));
            }
        }
    }
}
