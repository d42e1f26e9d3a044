//! A newer base may have put something into a place that an edit changes, or around it, and the
//! place is found all the same: that is told, until somebody has read it.

use crate::host::Host;

const DEV: &str = "void add(struct napi *n)\n{\n\tn->list = 0;\n\tn->weight = 64;\n\tn->dev = 1;\n\tn->set = 1;\n}\n";
const SERIES: &str = r#"title = "One call"
author = "Jane Hacker <jane@example.org>"
date = 2024-11-29T12:00:00Z
bases = ["6.12"]

[[patch]]
name = "call"
message = { text = "net: Call it\n\nWhy.\n\nSigned-off-by: Jane Hacker <jane@example.org>\n" }

[[patch.edit]]
file = "net/dev.c"
within = { function = "add" }
at = { from = { text = "n->list = 0;" }, to = { text = "n->dev = 1;" } }
replace = { text = "\tinit_all(n);" }

[[patch.edit]]
file = "net/new.c"
create = { text = "int check(struct napi *n)\n{\n\tif (!n)\n\t\treturn -EINVAL;\n\treturn 0;\n}\n" }
"#;
const CHECK: [&str; 6] = ["check", "one", "--base", "../linux", "--gate", "places"];
const GENERATE: [&str; 6] = ["generate-series", "one", "--base", "../linux", "-o", "../mails"];
const RECORD: &str = "project/series/one/places.toml";

struct One(Host);

impl One {
    fn new() -> One {
        One::of(SERIES)
    }

    fn of(series: &str) -> One {
        let host = Host::new(&[("net/dev.c", DEV)]);
        host.put("project/series/one/series.toml", series);
        host.put("project/templates/one/.keep", "");
        One(host)
    }

    fn record(&self) -> String {
        let args: Vec<&str> = CHECK.into_iter().chain(["--record"]).collect();
        self.0.run(&args, 0).1
    }

    /// A newer base, and what is told of it.
    fn told(&self, from: &str, to: &str) -> String {
        assert!(DEV.contains(from), "{from}");
        self.0.put("linux/net/dev.c", DEV.replacen(from, to, 1));
        self.0.commit("newer");
        let talk = self.0.run(&GENERATE, 0).1;
        self.0.run(&CHECK, i32::from(!talk.is_empty()));
        self.0.git("linux", &["reset", "-q", "--hard", "HEAD^"]);
        talk
    }
}

#[test]
fn what_nobody_has_read_is_told_until_it_is_recorded() {
    let one = One::new();
    let host = &one.0;
    let (out, _) = host.run(&CHECK, 0);
    assert!(out.contains("not recorded"), "{out}");
    assert_eq!(host.run(&GENERATE, 0).1, "");
    let told = one.record();
    assert!(told.contains("call: 1 place more recorded in places.toml"), "{told}");
    host.run(&CHECK, 0);
    assert_eq!(host.run(&GENERATE, 0).1, "");

    let newer = "\tn->weight  =\n\t\t64;\n\tn->gro = 2;\n\tn->set = 1;\n";
    host.put("linux/net/dev.c", DEV.replace("\tn->weight = 64;\n", newer));
    host.commit("newer");
    let (out, _) = host.run(&CHECK, 1);
    assert!(out.contains("unread: net/dev.c:3: series/one/series.toml:10"), "{out}");
    let shown = host.run(&["show", "one", "--base", "../linux"], 0).1;
    for talk in [host.run(&GENERATE, 0).1, shown] {
        assert!(talk.contains("nobody has read what call changes as it is there:\n"), "{talk}");
        for want in ["\n    6: n->gro = 2;\n", "\n    7: n->set = 1;\n"] {
            assert!(talk.contains(want), "{want}{talk}");
        }
        assert!(talk.contains("cargo xtask check one --base ../linux --fast --record"), "{talk}");
    }

    // It is recorded for both bases.
    let told = one.record();
    assert!(told.contains("call: 1 place more"), "{told}");
    assert_eq!(host.run(&GENERATE, 0).1, "");
    host.git("linux", &["reset", "-q", "--hard", "HEAD^"]);
    host.run(&CHECK, 0);
}

#[test]
fn whatever_comes_goes_or_moves_is_told() {
    let one = One::new();
    one.record();
    let (head, tail) = ("\tn->list = 0;\n", "\tn->dev = 1;\n");
    let all = "\tn->list = 0;\n\tn->weight = 64;\n\tn->dev = 1;\n";
    // Blanks and line breaks do not count.
    assert_eq!(one.told(head, "\tn->list =\n\t\t0;\n\n"), "");
    for (from, to, want) in [
        // Lines that a new file of the patch has too.
        (
            tail,
            "\tif (!n)\n\t\treturn -EINVAL;\n\tn->dev = 1;\n",
            "5: if (!n)\n    6: return -EINVAL;",
        ),
        ("\tn->weight = 64;\n", "", "1 line there no more"),
        (head, "\tn->list = 0;\n\t/* why */\n", "4: /* why */"),
        (head, "\tgoto out;\n\tn->list = 0;\n", "add() > what follows goto now"),
        (
            all,
            &format!("\tswitch (n->a) {{\n\tcase 1:\n{all}\t}}\n"),
            "add() > switch (n->a) > case 1: now",
        ),
        // An `if` governs what takes its place.
        (head, "\tif (n)\n\t\tn->list = 0;\n", "it stands in add() > if (n) without braces now"),
        (DEV, &format!("#ifdef CONFIG_X\n{DEV}#endif\n"), "#if CONFIG_X > add() now"),
    ] {
        let talk = one.told(from, to);
        assert!(talk.contains(want), "{to}: {talk}");
    }
}

#[test]
fn what_is_carried_elsewhere_counts_and_what_an_edit_before_put_there() {
    let edits = r#"
[[patch.edit]]
file = "net/dev.c"
within = { function = "add" }
at = { text = "n->list = 0;" }
capture = { setup = { from = { text = "n->weight = 64;" }, to = { text = "n->dev = 1;" } } }
insert-before = { text = "\tprepare(n);\n{{ setup }}" }

[[patch.edit]]
file = "net/dev.c"
within = { function = "add" }
at = { from = { text = "n->list = 0;" }, before = { text = "n->set = 1;" } }
delete = true
"#;
    let (head, _) = SERIES.split_once("[[patch.edit]]").unwrap();
    let one = One::of(&format!("{head}{edits}"));
    assert!(one.record().contains("call: 3 places more"));
    let talk = one.told("\tn->dev = 1;\n", "\tn->irq = n->dev;\n\tn->dev = 1;\n");
    assert!(talk.contains("(capture): 1 line new or in another place\n    5: n->irq"), "{talk}");
    // The first edit puts its text into what the second one takes away.
    let moved = "\tn->weight = 64;\n\tn->dev = 1;\n\tn->list = 0;\n";
    let talk = one.told("\tn->list = 0;\n\tn->weight = 64;\n\tn->dev = 1;\n", moved);
    assert!(talk.contains("(delete): "), "{talk}");
}

/// A series with one edit of `add`, on a base where `from` is `to`, that ends with `code`: what is
/// said.
fn outcome(edit: &str, from: &str, to: &str, code: i32) -> String {
    let (head, _) = SERIES.split_once("[[patch.edit]]").unwrap();
    let edit =
        format!("[[patch.edit]]\nfile = \"net/dev.c\"\nwithin = {{ function = \"add\" }}\n{edit}");
    let one = One::of(&format!("{head}{edit}\n"));
    assert!(DEV.contains(from), "{from}");
    one.0.put("linux/net/dev.c", DEV.replacen(from, to, 1));
    one.0.commit("newer");
    one.0.run(&GENERATE, code).0
}

#[test]
fn what_is_torn_or_governed_is_a_conflict_without_any_record() {
    let range = "at = { from = { text = \"n->list = 0;\" }, to = { text = \"n->dev = 1;\" } }\n\
                 replace = { text = \"\\tinit_all(n);\" }";
    let condition = "at = { from = { if = \"n->list\" }, to = { text = \"n->dev = 1;\" } }\n\
                     replace = { text = \"\\tinit_all(n);\" }";
    let delete = "at = { text = \"n->list = 0;\" }\ndelete = true";
    let before = "at = { text = \"n->list = 0;\" }\ninsert-before = { text = \"\\tx();\" }";
    let block = "at = { text = \"{ n->list = 0; }\" }\n";
    let list = "\tn->list = 0;\n";
    let tokens = "at = { tokens = \"n->list = 0;\" }\n";
    let governed = "\tif (n)\n\t\tn->list = 0;\n";
    for (edit, from, to, want) in [
        (format!("{tokens}delete = true").as_str(), list, governed, "unbraced body of an if"),
        (
            format!("{tokens}insert-before = {{ text = \"x(); \" }}").as_str(),
            list,
            governed,
            "unbraced body of an if",
        ),
        (
            format!("{tokens}replace = {{ text = \"x(); y();\" }}").as_str(),
            list,
            governed,
            "2 statements take its place",
        ),
        (range, list, "\tif (n) {\n\t\tn->list = 0;\n\t}\n", "which would be torn"),
        (range, list, "#ifdef X\n\tn->list = 0;\n#endif\n", "from net/dev.c:4 to net/dev.c:7"),
        (
            condition,
            list,
            "\tif (n) {\n\t\tx();\n\t} else if (n->list) {\n\t\tx();\n\t}\n",
            "shares its lines",
        ),
        (
            "at = { statement = \"x();\" }\ndelete = true",
            list,
            "\tx(); n->list = 0;\n",
            "shares its",
        ),
        (delete, list, "\tif (n)\n\t\tn->list = 0;\n", "unbraced body of an if"),
        (before, list, "\tif (n)\n\t\tn->list = 0;\n", "unbraced body of an if"),
        // Only in a kernel without X.
        (delete, list, "\tif (n)\n#ifdef X\n\t\tx();\n#endif\n\t\tn->list = 0;\n", "unbraced body"),
        (
            &format!("{block}delete = true"),
            list,
            "\tif (n)\n\t{\n\t\tn->list = 0;\n\t}\n",
            "which would govern what follows",
        ),
        (
            &format!("{block}insert-before = {{ text = \"\\tx();\" }}"),
            list,
            "\tif (n)\n\t{\n\t\tn->list = 0;\n\t}\n",
            "would part from it",
        ),
        (
            "at = { text = \"n->list = 0;\" }\nreplace = { text = \"\\tx();\\n\\ty();\" }",
            list,
            "\tif (n == 1) {\n\t\tif (n)\n\t\t\tn->list = 0;\n\t}\n",
            "2 statements take its place",
        ),
        (
            "at = { text = \"if (n) n->list = 0;\" }\ndelete = true",
            list,
            "\tif (n)\n\t\tn->list = 0;\n\telse\n\t\tx();\n",
            "an `else` follows",
        ),
    ] {
        let out = outcome(edit, from, to, 4);
        assert!(out.contains(want), "{to}: {out}");
    }
    for (edit, from, to) in [
        (delete, list, "\tx();\n\tn->list = 0;\n"),
        (format!("{tokens}replace = {{ text = \"x();\" }}").as_str(), list, governed),
        (format!("{tokens}delete = true").as_str(), list, "\tx();\n\tn->list = 0;\n"),
        // Each branch opens the block that both close.
        (
            "at = { from = { text = \"#ifdef X\" }, to = { text = \"x(); }\" } }\ndelete = true",
            list,
            "#ifdef X\n\tif (n) {\n#else\n\tif (!n) {\n#endif\n\t\tx();\n\t}\n",
        ),
        // A line of an expression.
        (
            "at = { text = \"A(2)\" }\ndelete = true",
            list,
            "\tint a[] = {\n\t\tA(1)\n\t\tA(2)\n\t};\n",
        ),
        (
            "at = { text = \"else x();\" }\ndelete = true",
            list,
            "\tif (n)\n\t\tn->list = 0;\n\telse\n\t\tx();\n",
        ),
    ] {
        outcome(edit, from, to, 0);
    }
}

#[test]
fn what_only_follows_from_a_conflict_is_counted_below_it() {
    let more = r#"
[[patch.edit]]
file = "net/dev.c"
at = { function = "add" }
insert-before = { text = "static void sub(void)\n{\n}\n" }

[[patch.edit]]
file = "net/dev.c"
at = { function = "sub", part = "body" }
insert-after = { text = "\treturn;" }

[[patch.edit]]
file = "net/dev.c"
at = { function = "subtle" }
insert-after = { text = "int x;" }
"#;
    let one = One::of(&format!("{SERIES}{more}"));
    one.0.put("linux/net/dev.c", DEV.replace("add(", "put("));
    one.0.commit("renamed");
    let (out, _) = one.0.run(&GENERATE, 4);
    assert_eq!(out.matches("one more edit needs what it makes").count(), 1, "{out}");
    assert!(!out.contains("\"sub\"") && out.contains("\"subtle\""), "{out}");
}

#[test]
fn a_record_has_no_line_of_the_kernel_and_keeps_other_patches() {
    let one = One::new();
    one.0.put(
        RECORD,
        "[[other]]\nlinux = \"6.1\"\naround = \"0123456789ab\"\ntext = \"0123456789ab\"\n",
    );
    // A patch that it does not know is told.
    let talk = one.0.run(&GENERATE, 0).1;
    assert!(talk.contains("places.toml has nothing of that patch"), "{talk}");
    one.record();
    let text = one.0.read(RECORD);
    assert!(
        text.contains(
            "[[other]]\nlinux = \"6.1\"\naround = \"0123456789ab\"\ntext = \"0123456789ab\"\n"
        ),
        "{text}"
    );
    assert!(text.contains("[[call]]\nlinux = \"6.12.3\"\naround = "), "{text}");
    assert!(!text.contains("n->") && !text.contains("weight"), "{text}");
    // It is told that there is no such patch.
    let (_, talk) = one.0.run(&["show", "one", "--base", "../linux"], 0);
    assert!(talk.contains("places.toml: there is no patch other"), "{talk}");
}

#[test]
fn bad_records_and_wrong_places_for_them() {
    let one = One::new();
    one.0.put(RECORD, "[[call]]\nlinux = \"6.1\"\naround = \"12\"\ntext = \"12\"\n");
    for args in [&GENERATE[..], &CHECK, &["show", "one", "--base", "../linux"]] {
        let (_, talk) = one.0.run(args, 2);
        assert!(talk.contains("places.toml") && talk.contains("mend:"), "{talk}");
    }
    std::fs::remove_file(one.0.path(RECORD)).unwrap();
    one.0.run(&["check", "--range", "HEAD^..HEAD", "--repo", "../linux", "--record"], 2);
    // What is wrong in the command is told before anything is recorded.
    let args = ["check", "one", "--base", "../linux", "--fast", "--gate", "builds", "--record"];
    one.0.run(&args, 2);
    assert!(!one.0.path(RECORD).exists());
}

#[test]
fn what_is_recorded_at_once_is_recorded_all() {
    let one = One::new();
    let branches: Vec<String> = (0..4).map(|n| format!("b{n}")).collect();
    for branch in &branches {
        one.0.git("linux", &["checkout", "-qb", branch, "main"]);
        one.0.put("linux/net/dev.c", DEV.replace("64", &format!("64 + {branch}")));
        one.0.commit(branch);
    }
    std::thread::scope(|scope| {
        for branch in &branches {
            let base = format!("../linux@{branch}");
            let host = &one.0;
            scope.spawn(move || {
                let args = ["check", "one", "--base", &base, "--gate", "places", "--record"];
                host.run(&args, 0);
            });
        }
    });
    assert_eq!(one.0.read(RECORD).matches("[[call]]").count(), branches.len());
}

#[test]
fn what_is_imported_was_read() {
    let one = One::new();
    let host = &one.0;
    host.git("linux", &["checkout", "-qb", "work"]);
    host.put("linux/net/dev.c", DEV.replace("\tn->weight = 64;\n", ""));
    host.commit("net: Drop it\n\nWhy.\n\nSigned-off-by: Jane Hacker <jane@example.org>");
    host.git("linux", &["checkout", "-q", "main"]);
    host.run(&["import-series", "in", "--from", "../linux@main..work"], 0);
    let text = host.read("project/series/in/places.toml");
    assert_eq!(text.matches("\naround = ").count(), 1, "{text}");
    host.run(&["check", "in", "--base", "../linux", "--gate", "places"], 0);
}
