//! What ties a series to others: earlier versions of itself that were sent, and
//! series that it needs first.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "host/machine.rs"]
#[allow(dead_code)]
mod host;

use std::fs;
use std::process::Command;

use host::Host;
use xtask::mail::Mail;
use xtask::send::record::{self, Meta, Sent};

const ONE: &str = r#"title = "One"
change-id = "20241129-one-431ffd03aa5e"
author = "Björn Töpel <bjorn@example.org>"
date = 2024-11-29T12:00:00+01:00
cover = { text = "Why." }

[[patch]]
name = "a"
message = { text = "net: a\n\nWhy.\n\nSigned-off-by: Björn Töpel <bjorn@example.org>" }
[[patch.edit]]
file = "net/dev.c"
at = { text = "int a;" }
replace = { text = "int a1;" }

[[patch]]
name = "b"
message = { text = "net: b\n\nWhy.\n\nSigned-off-by: Björn Töpel <bjorn@example.org>" }
[[patch.edit]]
file = "net/dev.c"
at = { text = "int b;" }
replace = { text = "int b1;" }
"#;

/// A project with the series `one`, and a clone `linux`.
struct One(Host);

impl std::ops::Deref for One {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.0
    }
}

impl One {
    fn new() -> One {
        let dev = "int a;\nint m;\nint n;\nint o;\nint p;\nint b;\n";
        let one = One(Host::new(&[("net/dev.c", dev)]));
        one.series("one", ONE);
        one
    }

    fn series(&self, name: &str, text: &str) {
        self.put(&format!("project/series/{name}/series.toml"), text);
    }

    fn git(&self, args: &[&str]) -> String {
        self.0.git("linux", &[&["-c", "core.abbrev=12"], args].concat())
    }

    fn generate(&self, name: &str, more: &[&str], code: i32) -> (String, String) {
        let mut args = vec!["generate-series", name, "--base", "../linux"];
        args.extend(["--output", "../mails", "--format", "json"]);
        args.extend(more);
        self.run(&args, code)
    }

    /// The mails that were generated last.
    fn mails(&self) -> Vec<(String, String)> {
        let mut mails: Vec<(String, String)> = fs::read_dir(self.path("mails"))
            .unwrap()
            .map(|e| e.unwrap())
            .map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap()))
            .collect();
        mails.sort();
        mails
    }

    /// Generates `name`, and keeps its mails as `send` does.
    fn send(&self, name: &str, version: u32) -> String {
        let v = version.to_string();
        let branch = format!("{name}-v{version}");
        let args = ["-v", &v, "--branch", &branch];
        let (out, _) = self.generate(name, &args, 0);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        let mails = self.mails();
        let message_id = record::message_id(mails[0].1.as_bytes()).unwrap();
        let meta = Meta {
            version,
            sent_at: "2024-11-29T12:00:00Z".into(),
            base: "linux".into(),
            base_commit: report[0]["base"]["commit"].as_str().unwrap().into(),
            onto: report[0]["prerequisites"]
                .as_array()
                .and_then(|all| all.last()?["commits"].as_array()?.last()?.as_str())
                .map(str::to_owned),
            head: report[0]["commit"].as_str().unwrap().into(),
            message_id: message_id.clone(),
            mails: mails.iter().map(|m| m.0.clone()).collect(),
        };
        let mail = |(file_name, text): (String, String)| Mail {
            number: file_name[..4].parse().unwrap(),
            file_name,
            bytes: text.into_bytes(),
            warnings: Vec::new(),
        };
        let sent = Sent { meta, mails: mails.into_iter().map(mail).collect() };
        record::save(&self.path("project/series").join(name), &sent).unwrap();
        message_id
    }
}

/// The block from the range-diff's title to the tracking lines.
fn block(mail: &str) -> &str {
    let at = mail.find("\nRange-diff").unwrap_or_else(|| panic!("{mail}"));
    let block = &mail[at + 1..];
    let end = block.find("\n\nbase-commit: ").or_else(|| block.find("\n-- \n"));
    &block[..end.unwrap()]
}

#[test]
fn the_range_diff_is_against_what_was_sent() {
    let host = One::new();
    let (_, err) = host.generate("one", &["--range-diff"], 2);
    assert!(err.contains("no version before it was sent"), "{err}");
    host.send("one", 1);
    let second =
        ONE.replace("int b1;", "int b2;").replace("\"net: a\\n\\nWhy.", "\"net: a\\n\\nX.");
    host.series("one", &second);
    // Another cache: what was sent is all there is of the version before.
    fs::remove_dir_all(host.path("cache")).unwrap();
    let git = |previous: &str, new: &str, version: &str| {
        let range_diff = format!("--range-diff=main..{previous}");
        let range = format!("main..{new}");
        let args = ["--stdout", "--cover-letter", "--base=main", version, &range_diff, &range];
        // Older gits take another default.
        let args = [&["--creation-factor=999"], &args[..]].concat();
        host.git(&[&["format-patch"], &args[..]].concat())
    };
    host.generate("one", &["-v", "2", "--range-diff", "--branch", "one-v2"], 0);
    let cover = host.mails()[0].1.clone();
    assert!(cover.contains("\nRange-diff against v1:\n1:  "), "{cover}");
    assert_eq!(block(&cover), block(&git("one-v1", "one-v2", "-v2")));

    // The fourth is compared with the newest that was sent, or the one that is named.
    host.send("one", 2);
    let fourth = second.replace("cover = { text = \"Why.\" }\n", "");
    host.series("one", &fourth.replace("int a1;", "int a4;"));
    host.generate("one", &["-v", "4", "--range-diff", "--branch", "one-v4"], 0);
    let first = host.mails()[0].1.clone();
    assert!(first.contains("\nRange-diff against v2:\n1:  "), "{first}");
    assert_eq!(block(&first), block(&git("one-v2", "one-v4", "-v3")));
    host.generate("one", &["-v", "4", "--range-diff=v1"], 0);
    let first = host.mails()[0].1.clone();
    assert_eq!(block(&first), block(&git("one-v1", "one-v4", "-v2")));
    let ids =
        format!("{}..{}", host.git(&["rev-parse", "main"]), host.git(&["rev-parse", "one-v1"]));
    host.generate("one", &["-v", "2", &format!("--range-diff={ids}")], 0);
    assert_eq!(block(&host.mails()[0].1), block(&first));

    for (name, says) in [("v3", "v3 of one was never sent"), ("nosuch", "nosuch")] {
        let (_, err) = host.generate("one", &["-v", "5", &format!("--range-diff={name}")], 2);
        assert!(err.contains(says), "{err}");
    }
    // A base that is not at hand is told.
    let record = host.path("project/series/one/sent/v2/sent.json");
    let text = fs::read_to_string(&record).unwrap();
    let base = host.git(&["rev-parse", "main"]);
    fs::write(&record, text.replace(&base, &"1".repeat(40))).unwrap();
    let (_, err) = host.generate("one", &["-v", "4", "--range-diff"], 3);
    assert!(err.contains("is not in the store"), "{err}");
}

#[test]
fn what_is_probably_not_meant_is_told() {
    let host = One::new();
    let (_, talk) = host.generate("one", &[], 0);
    assert!(!talk.contains("warning"), "{talk}");
    host.send("one", 1);
    let (_, talk) = host.generate("one", &[], 0);
    let told = "v1 was sent on 2024-11-29T12:00:00Z, and these are not those mails";
    assert!(talk.contains(told) && talk.contains("what is new is v2"), "{talk}");

    // The base is a stable release, which the maintainer of net-next does not apply to.
    for (list, wanted) in [("net-next", true), ("6.12.y", false), ("stable 6.12", false)] {
        host.series("one", &format!("list = \"{list}\"\n{ONE}"));
        let (_, talk) = host.generate("one", &["-v", "2"], 0);
        let told = format!("the subjects say {list}, and Linux 6.12.3");
        assert_eq!(talk.contains(&told), wanted, "{talk}");
    }
}

const SIGNED: &str = "Signed-off-by: Björn Töpel <bjorn@example.org>";

/// A series of one patch that replaces a line; `more` stands above its patch.
fn on_top(title: &str, more: &str, from: &str, to: &str) -> String {
    format!(
        "title = \"{title}\"\nchange-id = \"20241130-{title}-0123456789ab\"\n\
         author = \"Björn Töpel <bjorn@example.org>\"\ndate = 2024-11-30T12:00:00Z\n{more}\n\
         [[patch]]\nname = \"only\"\nmessage = {{ text = \"net: {title}\\n\\nWhy.\\n\\n{SIGNED}\" }}\n\
         [[patch.edit]]\nfile = \"net/dev.c\"\nat = {{ text = \"{from}\" }}\nreplace = {{ text = \"{to}\" }}\n"
    )
}

fn tracking(mail: &str) -> Vec<&str> {
    let is = |l: &&str| l.starts_with("base-commit: ") || l.starts_with("prerequisite-");
    mail.lines().filter(is).collect()
}

#[test]
fn a_series_is_rendered_on_top_of_what_it_needs() {
    let host = One::new();
    let needs = "[[prerequisites]]\nseries = \"one\"\n";
    host.series("two", &on_top("two", needs, "int b1;", "int b2;"));
    // Through another series, and directly: once.
    let both = "[[prerequisites]]\nseries = \"two\"\n[[prerequisites]]\nseries = \"one\"\n\
                [[prerequisites]]\nmessage-id = \"<m@example.org>\"\n";
    host.series("three", &on_top("three", both, "int b2;", "int b3;"));
    host.generate("one", &[], 0);
    let ones: String = host.mails().iter().skip(1).map(|m| m.1.clone()).collect();
    host.put("ones", &ones);
    let ids = Command::new("git")
        .args(["patch-id", "--stable"])
        .stdin(fs::File::open(host.path("ones")).unwrap())
        .output()
        .unwrap();
    let ids = String::from_utf8(ids.stdout).unwrap();
    let ids: Vec<&str> = ids.lines().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(ids.len(), 2);

    let (out, _) = host.generate("two", &["--branch", "two"], 0);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report[0]["prerequisites"][0]["verdict"], "applies");
    assert_eq!(
        host.git(&["log", "--format=%s", "--reverse", "main..two"]),
        "net: a\nnet: b\nnet: two"
    );
    let mails = host.mails();
    assert_eq!(mails.len(), 1);
    let base = format!("base-commit: {}", host.git(&["rev-parse", "main"]));
    let change = "prerequisite-change-id: 20241129-one-431ffd03aa5e:v1".to_owned();
    let patch = |id: &&str| format!("prerequisite-patch-id: {id}");
    let mut want = vec![base, change];
    want.extend(ids.iter().map(patch));
    assert_eq!(tracking(&mails[0].1), want);
    // git itself names the same patches in the same order.
    let git = host.git(&["format-patch", "--stdout", "--base=main", "two~1..two"]);
    want.remove(1);
    assert_eq!(tracking(&git), want);

    let (out, _) = host.generate("three", &["--branch", "three"], 0);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report[0]["prerequisites"].as_array().unwrap().len(), 2);
    assert_eq!(host.git(&["rev-list", "--count", "main..three"]), "4");
    assert_eq!(host.git(&["rev-parse", "three~1"]), host.git(&["rev-parse", "two"]));
    let mails = host.mails();
    let lines = tracking(&mails[0].1);
    assert_eq!(lines.len(), 1 + 3 + 2 + 1, "{lines:?}");
    assert_eq!(lines[4], "prerequisite-change-id: 20241130-two-0123456789ab:v1");
    assert_eq!(lines[6], "prerequisite-message-id: <m@example.org>");

    // What was sent becomes commits again on what it stood on.
    host.send("two", 1);
    host.series("two", &on_top("two", needs, "int b1;", "int b4;"));
    host.generate("two", &["-v", "2", "--range-diff", "--branch", "two-v2"], 0);
    let args = ["-v2", "--range-diff=one-v1..two-v1", "one-v1..two-v2"];
    host.git(&["branch", "-f", "one-v1", "two-v1~1"]);
    let git = host.git(&[&["format-patch", "--stdout", "--base=main"], &args[..]].concat());
    // Older ones put the diffstat elsewhere.
    if xtask::host::tools::git_is_at_least(2, 44).unwrap() {
        assert_eq!(block(&host.mails()[0].1), block(&git));
    }

    // What the cover sums up is this series' alone.
    let four = ONE
        .replace("-one-", "-four-")
        .replace("\n[[patch]]\nname = \"a\"", &format!("{needs}\n[[patch]]\nname = \"a\""));
    let four = four.replace("int a", "int m").replace("int b", "int n");
    host.series("four", &four);
    host.generate("four", &["--branch", "four"], 0);
    let mails = host.mails();
    assert_eq!(mails.len(), 3);
    let stat = host.git(&["diff", "--stat", "four~2..four"]);
    assert!(mails[0].1.contains(&format!("\n {}\n", stat.trim())), "{stat}\n{}", mails[0].1);

    let (out, _) = host.run(&["generate-series", "two", "--base", "../linux"], 0);
    assert!(out.contains("on one v1, 2 patches: applies"), "{out}");
    let (out, _) = host.run(&["show", "two", "--base", "../linux"], 0);
    assert!(out.contains("applies"), "{out}");
}

#[test]
fn what_nobody_has_read_below_is_told() {
    let host = One::new();
    host.series(
        "two",
        &on_top("two", "[[prerequisites]]\nseries = \"one\"\n", "int b1;", "int b2;"),
    );
    // A record that has nothing of its patches.
    let record = "[[gone]]\nlinux = \"6.1\"\naround = \"0123456789ab\"\ntext = \"0123456789ab\"\n";
    host.put("project/series/one/places.toml", record);
    let mails = ["generate-series", "two", "--base", "../linux", "-o", "../mails"];
    let check = ["check", "two", "--base", "../linux", "--gate", "places"];
    for args in [&mails[..], &["show", "two", "--base", "../linux"], &check] {
        let (_, talk) = host.run(args, 0);
        let told = "nobody has read what a of the prerequisite one changes on ";
        assert_eq!(talk.matches(told).count(), 1, "{args:?}: {talk}");
        assert!(talk.contains("cargo xtask show one --base ../linux"), "{args:?}: {talk}");
    }
    // Gates that have nothing to do with places.
    let (_, talk) = host.run(&["check", "two", "--base", "../linux", "--gate", "trailers"], 0);
    assert!(!talk.contains("nobody has read"), "{talk}");
}

#[test]
fn what_is_wrong_below_is_told() {
    let host = One::new();
    let needs = "[[prerequisites]]\nseries = \"one\"\n";
    let has = |what: &str| {
        ONE.replace("\n[[patch]]\nname = \"a\"", &format!("{what}\n\n[[patch]]\nname = \"a\""))
    };
    // The base has it: nothing lies between, and nothing is named.
    host.series(
        "one",
        &has("absorbed = { text = \"int a;\", file = \"net/dev.c\", why = \"there\" }"),
    );
    host.series("two", &on_top("two", needs, "int b;", "int b2;"));
    let (out, _) = host.generate("two", &["--branch", "two"], 0);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report[0]["prerequisites"][0]["verdict"], "absorbed");
    assert_eq!(host.git(&["rev-list", "--count", "main..two"]), "1");
    assert_eq!(tracking(&host.mails()[0].1).len(), 1);
    // It is blocked, or in conflict: so is all that stands on it.
    host.series(
        "three",
        &on_top("three", "[[prerequisites]]\nseries = \"two\"\n", "int b2;", "int b3;"),
    );
    for (one, says) in [
        (has("needs = { since = \"7.0\", why = \"too old\" }"), "one itself is blocked: "),
        (ONE.replace("\"int a;\"", "\"int z;\""), "one itself is conflict"),
    ] {
        host.series("one", &one);
        for name in ["two", "three"] {
            let (out, _) = host.generate(name, &[], 1);
            let report: serde_json::Value = serde_json::from_str(&out).unwrap();
            assert_eq!(report[0]["verdict"], "blocked", "{out}");
            assert_eq!(report[0]["lacks"], "the series one, a prerequisite");
            assert!(report[0]["why"].as_str().unwrap().contains(says), "{out}");
            let (out, _) = host.run(&["show", name, "--base", "../linux"], 0);
            assert!(out.contains("the series one, a prerequisite"), "{out}");
        }
    }
    // Wrong in itself: told with its place, by whatever loads it.
    host.series("one", &has(""));
    for (more, says) in [
        ("series = \"onee\"", "did you mean \"one\"?"),
        ("series = \"../one\"", "no series"),
        ("series = \"two\"", "which needs"),
        ("message-id = \"x\"", "left@right"),
        ("patch-id = \"abc\"", "40 hex digits"),
        ("change-id = \"20241130-x-0123456789ab\"", ":vN"),
        ("series = \"one\"\nmessage-id = \"a@b\"", "exactly one thing"),
        ("", "exactly one thing"),
        ("series = \"one\"\n[[prerequisites]]\nseries = \"one\"", "a second time"),
    ] {
        host.series(
            "two",
            &on_top("two", &format!("[[prerequisites]]\n{more}\n"), "int b;", "int c;"),
        );
        let (_, err) = host.generate("two", &[], 2);
        assert!(err.contains(says) && err.contains("series/two/series.toml:"), "{more}: {err}");
    }
    host.series(
        "two",
        &on_top("two", "[[prerequisites]]\nseries = \"three\"\n", "int b;", "int c;"),
    );
    let (_, err) = host.run(&["show", "two"], 2);
    assert!(err.contains("\"two\", which needs \"three\", which needs \"two\""), "{err}");
}
