//! Planning over trees in memory: verdicts, captures, order, bad series.

use std::fs;
use std::path::Path;

use super::super::source::Memory;
use super::*;
use crate::error::Kind;
use crate::series;

mod following;
mod laws;

const HEAD: &str = "title = \"t\"\nauthor = \"A B <a@b.c>\"\ndate = 2024-01-02T03:04:05Z\n";
const C: &str = "#include <linux/a.h>\n\nint f(int a)\n{\n\tint r;\n\n\tr = one(a);\n\tr += two(a);\n\treturn r;\n}\n";

struct Semantics;

impl Semantic for Semantics {
    fn run(&self, patch: &str, path: &str, content: &[u8]) -> Result<Vec<u8>> {
        Ok([content, b"/* ", patch.trim().as_bytes(), b" ", path.as_bytes(), b" */\n"].concat())
    }
}

fn project(toml: &str, templates: &[(&str, &str)]) -> tempfile::TempDir {
    let t = tempfile::tempdir().unwrap();
    let put = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put(&t.path().join("series/s/series.toml"), &format!("{HEAD}{toml}"));
    fs::create_dir_all(t.path().join("templates/s")).unwrap();
    for (name, text) in templates {
        put(&t.path().join("templates").join(name), text);
    }
    t
}

fn planned_with(
    toml: &str,
    templates: &[(&str, &str)],
    source: &Memory,
    choice: &Choice,
) -> Result<Plan> {
    let t = project(toml, templates);
    let series = series::load(t.path(), "s")?;
    let facts = BaseFacts { name: "6.12".into(), version: "6.12.7".parse().unwrap() };
    plan(&series, &facts, source, choice, &Semantics)
}

fn planned(toml: &str, templates: &[(&str, &str)]) -> Result<Plan> {
    planned_with(toml, templates, &Memory::of(&[("f.c", C)]), &Choice::default())
}

fn content(plan: &Plan, patch: usize, path: &str) -> String {
    let entry = plan.patches[patch].changes[path].as_ref().unwrap();
    String::from_utf8(entry.text.bytes().to_vec()).unwrap()
}

/// A series with one edit of f.c.
fn one(edit: &str) -> String {
    format!(
        "[[patch]]\nname = \"p\"\nmessage = {{ text = \"s\" }}\n[[patch.edit]]\nfile = \"f.c\"\n{edit}\n"
    )
}

#[test]
fn captures_flow_into_templates_and_later_patches() {
    let toml = "[vars]\nname = \"g\"\n[probes]\none = { text = \"r = one(a);\", file = \"f.c\" }\n\
        [[patch]]\nname = \"split\"\nmessage = \"split.msg\"\n\
        [[patch.edit]]\nfile = \"f.c\"\nwithin = { function = \"f\" }\n\
        capture = { work = { from = { text = \"r = one(a);\" }, to = { text = \"r += two(a);\" } } }\n\
        at = { captured = \"work\" }\nreplace = { text = \"\\tr = {{ vars.name }}(a);\" }\n\
        [[patch.edit]]\nfile = \"f.c\"\nat = { function = \"f\" }\ninsert-before = \"s.c\"\n\
        [[patch]]\nname = \"next\"\nmessage = { text = \"again\\n\\n{{ work | shift(by=-1) }}\" }\n\
        [[patch.edit]]\nfile = \"f.c\"\nwithin = { function = \"g\" }\nat = { text = \"r += two(a);\" }\ndelete = true\n";
    let templates = [
        (
            "s/split.msg",
            "net: split {{ patch.name }}\n\nOn {{ base.version }}.  \n\n\n{% if since(v=\"6.12\") %}New.{% endif %}\n\n",
        ),
        ("s/s.c", "{% if has.one %}{% include \"shared.c\" %}{% endif %}\n"),
        (
            "shared.c",
            "static int {{ vars.name }}(int a)\n{\n\tint r;\n\n{{ work }}\n\treturn r;\n}",
        ),
    ];
    let plan = planned(toml, &templates).unwrap();
    assert_eq!(plan.verdict, Verdict::Applies);
    assert_eq!(plan.patches[0].message, "net: split split\n\nOn 6.12.7.\n\nNew.\n");
    assert_eq!(
        content(&plan, 0, "f.c"),
        "#include <linux/a.h>\n\nstatic int g(int a)\n{\n\tint r;\n\n\tr = one(a);\n\tr += two(a);\n\treturn r;\n}\n\nint f(int a)\n{\n\tint r;\n\n\tr = g(a);\n\treturn r;\n}\n"
    );
    assert_eq!(plan.patches[1].message, "again\n\nr = one(a);\nr += two(a);\n");
    assert!(!content(&plan, 1, "f.c").contains("two"));
}

/// A question of a place that is not there has no answer, and so has its contrary, however often
/// it is turned round and wherever the place is named.
#[test]
fn no_place_is_no_answer() {
    let insert = "at = { text = \"return r;\" }\ninsert-before = { text = \"\\tx();\" }\n";
    let with = |probes: &str, absorbed: &str| {
        format!(
            "[probes]\n{probes}\n[[patch]]\nname = \"p\"\nmessage = {{ text = \"s\" }}\n\
             absorbed = {absorbed}\n[[patch.edit]]\nfile = \"f.c\"\n{insert}"
        )
    };
    let gone = "text = \"gone();\", within = { function = \"renamed\" }, file = \"f.c\"";
    let file = "text = \"gone();\", file = \"x.c\"";
    let named = "{ probe = \"q\", not = true }";
    for (probes, absorbed) in [
        (format!("q = {{ {gone} }}"), named),
        (format!("q = {{ {file} }}"), named),
        (format!("q = {{ {file}, not = true }}"), "{ probe = \"q\" }"),
        (format!("q = {{ any = [{{ {file} }}], not = true }}"), "{ probe = \"q\" }"),
        (format!("q = {{ all = [{{ {file} }}], not = true }}"), "{ probe = \"q\" }"),
        (format!("q = {{ any = [{{ {gone}, not = true }}] }}"), named),
        (
            String::new(),
            "{ function = \"renamed\", text = \"gone();\", file = \"f.c\", not = true }",
        ),
        (
            String::new(),
            "{ function = \"renamed\", has = \"gone();\", file = \"f.c\", not = true }",
        ),
        (String::new(), "{ function = \"renamed\", part = \"body\", file = \"f.c\", not = true }"),
    ] {
        let toml = with(&probes, absorbed);
        assert_eq!(planned(&toml, &[]).unwrap().verdict, Verdict::Applies, "{toml}");
    }
    // Where the place is, or another part of the question is a sure no, there is one.
    let sure = "text = \"gone();\", within = { function = \"f\" }, file = \"f.c\"";
    for (probes, absorbed) in [
        (format!("q = {{ {sure} }}"), named),
        (format!("q = {{ all = [{{ {file} }}, {{ {sure} }}] }}"), named),
        (String::new(), "{ function = \"renamed\", file = \"f.c\", not = true }"),
        (String::new(), "{ function = \"f\", has = \"gone();\", file = \"f.c\", not = true }"),
    ] {
        let toml = with(&probes, absorbed);
        let verdict = planned(&toml, &[]).unwrap().verdict;
        assert!(matches!(verdict, Verdict::Absorbed { .. }), "{toml}: {verdict}");
    }
}

#[test]
fn verdicts() {
    let insert = "at = { text = \"return r;\" }\ninsert-before = { text = \"\\tx();\" }\n";
    let patch = |keys: &str| {
        format!(
            "[[patch]]\nname = \"p\"\nmessage = {{ text = \"s\" }}\n{keys}\n[[patch.edit]]\nfile = \"f.c\"\n{insert}"
        )
    };
    let cases: [(String, &str); 18] = [
        (patch(""), "applies"),
        (
            patch("absorbed = { function = \"f\", file = \"f.c\", why = \"had\" }"),
            "absorbed: function \"f\" at f.c:3 (had)",
        ),
        (
            patch("absorbed = [ { function = \"x\", file = \"f.c\" }, { since = \"6.12\" } ]"),
            "absorbed: Linux 6.12 or later (the base is 6.12.7)",
        ),
        (patch("absorbed = { function = \"x\", file = \"f.c\" }"), "applies"),
        (
            patch(
                "needs = [ { file = \"f.c\" }, { function = \"g\", file = \"f.c\", why = \"w\" } ]",
            ),
            "blocked: function \"g\" in f.c (w)",
        ),
        (
            patch("needs = { since = \"6.13\" }"),
            "blocked: Linux 6.13 or later (the base is 6.12.7)",
        ),
        (patch("needs = { before = \"6.12\", not = true }"), "applies"),
        (patch("needs = { file = \"f.c\", not = true }"), "blocked: not: file f.c"),
        // What a place does not have is said of places that are there.
        (
            patch("absorbed = { text = \"gone();\", file = \"f.c\", not = true }"),
            "absorbed: not: text \"gone();\" in f.c",
        ),
        (patch("absorbed = { text = \"gone();\", file = \"x.c\", not = true }"), "applies"),
        (
            patch(
                "absorbed = { text = \"gone();\", within = { function = \"renamed\" }, file = \"f.c\", not = true }",
            ),
            "applies",
        ),
        (
            patch(
                "needs = { text = \"gone();\", within = { function = \"renamed\" }, file = \"f.c\" }",
            ),
            "blocked: text \"gone();\" in f.c, which has no function \"renamed\"",
        ),
        (
            patch(
                "needs = { function = \"f\", text = \"r += two(a);\", file = [\"g.c\", \"f.c\"] }",
            ),
            "applies",
        ),
        (format!("absorbed = {{ file = \"f.c\" }}\n{}", patch("")), "absorbed: file f.c"),
        (
            one("at = { text = \"gone();\" }\ndelete = true"),
            "conflict\n  series/s/series.toml:7:1: delete in f.c: text \"gone();\": not found",
        ),
        (
            one("at = { tokens = \"r\" }\ndelete = true"),
            "conflict\n  series/s/series.toml:7:1: delete in f.c: tokens \"r\": found 4 times, and it must be one place\n    f.c:5: int r;\n    f.c:7: r = one(a);\n    f.c:8: r += two(a);\n    f.c:9: return r;",
        ),
        (
            one("at = { text = \"return r;\" }\nreplace = { text = \"\\treturn r;\" }"),
            "conflict\n  series/s/series.toml:4:1: patch in the base: its edits change nothing here; say with `absorbed` how such a base is told",
        ),
        (
            one("when = { before = \"6.0\" }\nat = { text = \"return r;\" }\ndelete = true"),
            "conflict\n  series/s/series.toml:4:1: patch in the base: its edits change nothing here; say with `absorbed` how such a base is told",
        ),
    ];
    for (toml, want) in cases {
        let plan = planned(&toml, &[]).unwrap();
        assert_eq!(plan.patches[0].verdict.to_string(), want, "{toml}");
    }
}

#[test]
fn a_patch_that_does_not_apply_leaves_the_tree_as_it_was() {
    let toml = "[[patch]]\nname = \"a\"\nmessage = { text = \"s\" }\n\
        [[patch.edit]]\nfile = \"f.c\"\nat = { text = \"return r;\" }\ndelete = true\n\
        [[patch.edit]]\nfile = \"f.c\"\nat = { text = \"gone;\" }\ndelete = true\n\
        [[patch.edit]]\nfile = \"g.c\"\nat = { text = \"gone;\" }\ndelete = true\n\
        [[patch]]\nname = \"b\"\nmessage = { text = \"s\" }\n\
        [[patch.edit]]\nfile = \"f.c\"\nat = { text = \"return r;\" }\ninsert-before = { text = \"\\tx();\" }\n\
        [[patch]]\nname = \"c\"\noptional = true\nmessage = { text = \"s\" }\n\
        [[patch.edit]]\nwhen = { patch = \"b\" }\nfile = \"n.txt\"\ncreate = { text = \"new\" }\n\
        [[patch.edit]]\nwhen = { patch = \"a\" }\nfile = \"m.txt\"\ncreate = { text = \"new\" }\n";
    let plan = planned(toml, &[]).unwrap();
    assert_eq!(plan.verdict.word(), "conflict");
    let Verdict::Conflict { conflicts } = &plan.patches[0].verdict else { panic!() };
    assert_eq!(conflicts.len(), 2, "both are told");
    assert!(content(&plan, 1, "f.c").contains("\tx();\n\treturn r;"));
    assert_eq!(plan.patches.len(), 2, "the optional one was not asked for");
    let all = Choice { all: true, ..Choice::default() };
    let memory = Memory::of(&[("f.c", C)]);
    let plan = planned_with(toml, &[], &memory, &all).unwrap();
    assert_eq!(plan.patches[2].changes.keys().collect::<Vec<_>>(), ["n.txt"]);
    assert_eq!(content(&plan, 2, "n.txt"), "new\n");
    let wrong = Choice { with: ["d".to_owned()].into(), all: false };
    assert_eq!(planned_with(toml, &[], &memory, &wrong).unwrap_err().kind(), Kind::Usage);
}

#[test]
fn every_deed() {
    let src = Memory::of(&[
        ("f.c", C),
        ("g.c", "int g(void);\nint h(void);\n"),
        ("Makefile", "obj-y += f.o\n"),
        ("MAINTAINERS", "AAA\nM:\tx\n\nZZZ\nM:\tx\n"),
    ]);
    let cases: [(&str, &str, &str); 15] = [
        (
            "file = \"f.c\"\nat = { local = \"r\" }\ninsert-after = { text = \"int q;\" }\nindent = true",
            "f.c",
            "\tint r;\n\tint q;\n\n",
        ),
        (
            "file = \"f.c\"\nat = { call = \"two\" }\nmove-before = { call = \"one\" }",
            "f.c",
            "\tr += two(a);\n\tr = one(a);\n\treturn",
        ),
        (
            "file = \"f.c\"\nat = { call = \"one\" }\nmove-after = { text = \"return r;\" }",
            "f.c",
            "\treturn r;\n\tr = one(a);\n}",
        ),
        (
            "file = \"g.c\"\nat = { prototype = \"g\" }\nmove-after = { include = \"linux/a.h\", file = \"f.c\" }",
            "f.c",
            "a.h>\nint g(void);\n\nint f",
        ),
        (
            "file = \"g.c\"\nat = { tokens = \"void\" }\ntimes = 2\nreplace = { text = \"int\" }",
            "g.c",
            "int g(int);\nint h(int);\n",
        ),
        (
            "file = \"g.c\"\nat = { tokens = \"void\" }\ntimes = \"all\"\nreplace = { text = \"x\" }",
            "g.c",
            "int g(x);\nint h(x);\n",
        ),
        (
            "file = [\"f.c\", \"g.c\"]\nat = { prototype = \"h\" }\ndelete = true",
            "g.c",
            "int g(void);\n",
        ),
        (
            "file = [\"x.c\", \"g.c\"]\nrename = \"sub/k.c\"",
            "sub/k.c",
            "int g(void);\nint h(void);\n",
        ),
        ("file = \"sub/n.sh\"\ncreate = { text = \"x\" }\nmode = \"755\"", "sub/n.sh", "x\n"),
        (
            "file = \"f.c\"\nadd-include = [\"linux/b.h\", \"linux/c.h\"]",
            "f.c",
            "#include <linux/a.h>\n#include <linux/b.h>\n#include <linux/c.h>\n",
        ),
        (
            "file = \"Makefile\"\nadd-object = \"obj-$(CONFIG_N) += n.o\"",
            "Makefile",
            "obj-y += f.o\nobj-$(CONFIG_N) += n.o\n",
        ),
        (
            "add-maintainers = { text = \"MMM\\nM:\\ty\" }",
            "MAINTAINERS",
            "M:\tx\n\nMMM\nM:\ty\n\nZZZ",
        ),
        (
            "diff = { text = \"--- a/g.c\\n+++ b/g.c\\n@@ -1,2 +1,2 @@\\n int g(void);\\n-int h(void);\\n+int k(void);\\n\" }",
            "g.c",
            "int g(void);\nint k(void);\n",
        ),
        ("file = \"g.c\"\ncocci = { text = \"@@ @@\" }", "g.c", "int h(void);\n/* @@ @@ g.c */\n"),
        (
            "file = \"f.c\"\nwithin = [ { function = \"f\" }, { from = { text = \"r = one(a);\" }, to = { text = \"return r;\" } } ]\nat = { tokens = \"r +\" }\nreplace = { text = \"q +\" }",
            "f.c",
            "\tq += two(a);",
        ),
    ];
    for (edit, path, want) in cases {
        let toml = format!(
            "[[patch]]\nname = \"p\"\nmessage = {{ text = \"s\" }}\n[[patch.edit]]\n{edit}\n"
        );
        let plan = planned_with(&toml, &[], &src, &Choice::default()).unwrap();
        assert_eq!(plan.verdict, Verdict::Applies, "{edit}: {}", plan.verdict);
        let got = content(&plan, 0, path);
        assert!(got.contains(want), "{edit}\n{got}");
    }
    let toml = "[[patch]]\nname = \"p\"\nmessage = { text = \"s\" }\n[[patch.edit]]\nfile = \"g.c\"\nremove = true\n";
    let plan = planned_with(toml, &[], &src, &Choice::default()).unwrap();
    assert!(plan.patches[0].changes["g.c"].is_none());
}

#[test]
fn conflicts_of_whole_files() {
    let cases = [
        ("file = \"f.c\"\ncreate = { text = \"x\" }", "create in f.c: there is a file f.c already"),
        ("file = \"f.c/x\"\ncreate = { text = \"x\" }", "create in f.c/x: f.c is a file"),
        ("file = \"x.c\"\nremove = true", "remove in x.c: the base has no such file"),
        ("file = \"f.c\"\nrename = \"f.c\"", "rename in f.c: there is a file f.c already"),
        ("file = \"f.c\"\nadd-object = \"obj-y += x.o\"", "add-object in f.c: it has no obj- line"),
        (
            "file = \"f.c\"\nat = { function = \"f\" }\nmove-after = { text = \"return r;\" }",
            "it would move into itself",
        ),
        (
            "file = \"f.c\"\nwithin = { function = \"g\" }\nat = { text = \"x;\" }\ndelete = true",
            "delete in f.c: function \"g\": not found",
        ),
        (
            "file = \"f.c\"\nat = { tokens = \"r\" }\ntimes = 3\ndelete = true",
            "found 4 times, not 3",
        ),
        (
            "file = \"f.c\"\ncapture = { x = { text = \"no;\" } }\nadd-include = \"a.h\"",
            "capture x: text \"no;\": not found",
        ),
    ];
    for (edit, want) in cases {
        let toml = format!(
            "[[patch]]\nname = \"p\"\nmessage = {{ text = \"s\" }}\n[[patch.edit]]\n{edit}\n"
        );
        let got = planned(&toml, &[]).unwrap().verdict.to_string();
        assert!(got.contains(want), "{edit}\n{got}");
    }
}

#[test]
fn bad_series_are_told_with_their_place() {
    let del = "at = { text = \"return r;\" }\ndelete = true";
    type Case<'a> = (String, &'a [(&'a str, &'a str)], &'a str);
    let cases: Vec<Case<'_>> = vec![
        (
            "[[patch]]\nname = \"p\"\nmessage = \"none.msg\"\n".into(),
            &[],
            "4:1: patch \"p\" has no edits",
        ),
        (
            one("replace = \"gone.c\"\nat = { text = \"x\" }"),
            &[("s/gona.c", "")],
            "series.toml:9:1: no template \"gone.c\" in templates/s/",
        ),
        (one("replace = \"../x.c\"\nat = { text = \"x\" }"), &[], "leaves its folder"),
        (
            one("delete = true\nat = { text = \"x\" }").replace("f.c", "../f.c"),
            &[],
            "leaves its folder",
        ),
        (one("delete = true"), &[], "`delete` without a place"),
        (one(&format!("{del}\nreplace = {{ text = \"x\" }}")), &[], "two deeds in one edit"),
        (
            one("at = { text = \"x\", tokens = \"y\" }\ndelete = true"),
            &[],
            "`tokens` beside `text`",
        ),
        (
            one("at = { function = \"f\", part = \"then\" }\ndelete = true"),
            &[],
            "a function has no part \"then\"",
        ),
        (one("at = { from = { text = \"x\" } }\ndelete = true"), &[], "a range without its end"),
        (one("at = { text = \"x\", nth = 2 }\ndelete = true"), &[], "`nth` without `of`"),
        (one("at = { text = \" \" }\ndelete = true"), &[], "an empty anchor"),
        (one(&format!("{del}\nwhen = {{ probe = \"x\" }}")), &[], "no probe \"x\""),
        (one(&format!("{del}\nwhen = {{ patch = \"p\" }}")), &[], "no patch \"p\""),
        (one(&format!("{del}\nwhen = {{ since = \"six\" }}")), &[], "is no kernel version"),
        (one(&format!("{del}\nwhen = {{ why = \"x\" }}")), &[], "a probe that asks nothing"),
        (
            one(&format!("{del}\ncapture = {{ has = {{ text = \"x\" }} }}")),
            &[],
            "is a name of its own",
        ),
        (
            one("insert-before = \"x.c\"\nat = { text = \"return r;\" }"),
            &[("s/x.c", "a\n{{ nope }}\n")],
            "templates/s/x.c:2:4: nothing gives `nope`",
        ),
        (
            one("insert-before = \"x.c\"\nat = { text = \"return r;\" }"),
            &[("s/x.c", "a\n{% if has.nope %}b{% endif %}\n")],
            "templates/s/x.c:2:11: has has no `nope`",
        ),
        (
            one("insert-before = \"x.c\"\nat = { text = \"return r;\" }"),
            &[("s/x.c", "{% if x \n")],
            "templates/s/x.c:1",
        ),
        (
            one("insert-before = \"x.c\"\nat = { text = \"return r;\" }"),
            &[("s/x.c", "{% include \"y.c\" %}"), ("s/y.c", "{% include \"x.c\" %}")],
            "includes itself",
        ),
        (
            one("insert-before = \"x.c\"\nat = { text = \"return r;\" }"),
            &[("s/x.c", "\n {% include \"y.c\" %}")],
            "templates/s/x.c:2:14: no template \"y.c\"",
        ),
        (
            one("insert-before = \"x.c\"\nat = { text = \"return r;\" }"),
            &[("s/x.c", "{% include \"../../../etc/passwd\" %}")],
            "leaves its folder",
        ),
        (
            one("insert-before = \"x.c\"\nat = { text = \"return r;\" }"),
            &[("s/x.c", "{{ vars.x | nope }}")],
            "Unknown filter",
        ),
        (one(del).replace("text = \"s\"", "text = \"\\n\""), &[], "it has no subject"),
        (
            one(del).replace("text = \"s\"", "text = \"a\\nb\""),
            &[],
            "its second line must be blank",
        ),
        (one(del).replace("author", "x"), &[], ""),
    ];
    for (toml, templates, want) in cases {
        match planned(&toml, templates) {
            Err(e) => {
                assert_eq!(e.kind(), Kind::Usage, "{toml}: {e}");
                assert!(e.to_string().contains(want), "{toml}\nwanted {want}\n{e}");
            }
            Ok(plan) => assert!(want.is_empty(), "{toml}: {}", plan.verdict),
        }
    }
}

#[test]
fn links_do_not_lead_out_of_the_templates() {
    let t = project(&one("insert-before = \"x.c\"\nat = { text = \"return r;\" }"), &[]);
    fs::write(t.path().join("secret"), "x").unwrap();
    std::os::unix::fs::symlink(t.path().join("secret"), t.path().join("templates/s/x.c")).unwrap();
    let e = series::load(t.path(), "s").unwrap_err();
    assert!(e.to_string().contains("outside of"), "{e}");
}
