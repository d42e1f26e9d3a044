//! What is told and what is left behind when something is wrong: bad input, a full
//! disk, a run that is ended half-way.

use super::*;

#[test]
fn bad_input_is_told_with_its_place_and_leaves_nothing() {
    let cases = [
        ("title =", "tittle =", "series/two/series.toml:2:1: unknown key `tittle`"),
        ("insert-before = \"init.c\"", "insert-before = \"inti.c\"", "did you mean \"init.c\"?"),
        (
            "insert-before = \"init.c\"",
            "insert-before = \"int b;\"",
            "the text itself is { text = \"…\" }",
        ),
        (
            "insert-before = \"init.c\"",
            "insert-before = { text = \"int b[] = {{0}};\" }",
            "mend:  braces of C need a blank between them",
        ),
        (
            "insert-before = \"init.c\"",
            "insert-before = { text = \"int b[] = {{}};\" }",
            "mend:  braces of C need a blank between them",
        ),
        (
            "file = \"net/n.c\"\ncreate",
            "file = \"../n.c\"\ncreate",
            "it leaves its folder with \"..\"",
        ),
        ("\"init.c\"", "\"../../secret\"", "it leaves its folder with \"..\""),
        ("file = \"net/n.c\"\ncreate", "file = \".git/config\"\ncreate", "it goes into .git"),
        (
            "date = 2024-11-29T12:00:00+01:00",
            "date = 2024-11-29",
            "a date without its time or its offset",
        ),
        (
            "author = \"Björn Töpel <bjorn@example.org>\"",
            "author = \"Björn\"",
            "a person is `Name <mail@address>`",
        ),
        ("file = \"net/n.c\"\ncreate", "file = \"GIT~1/config\"\ncreate", "git takes it for that"),
        (
            "author = \"Björn Töpel <bjorn@example.org>\"",
            "author = \"Björn; <bjorn@example.org>\"",
            "series/two/series.toml:5:1: git am would make another author",
        ),
        (
            "bases =",
            "to = [\"a@b\", \"c d\"]\nbases =",
            "series/two/series.toml:8:14: no mail address",
        ),
        ("bases =", "cc = [\"a@b, c@d\"]\nbases =", "series/two/series.toml:8:7: no mail address"),
        ("list =", "prefix = \"PÄTCH\"\nlist =", "series/two/series.toml:3:1: it stands in"),
        ("at = { captured", "at = { capturedd", "did you mean `captured`?"),
        ("431ffd03aa5e", "431", "a change id is YYYYMMDD-topic-12hex"),
    ];
    let host = Two::new();
    for (from, to, want) in cases {
        host.change_series(from, to);
        let (out, err) = host.generate(&[], 2);
        assert!(err.contains(want) && out.is_empty(), "{to}\n{err}");
    }
    host.put("project/series/two/series.toml", SERIES);
    // A message that git am would cut: told by whatever renders it, with its place.
    let good = host.read("project/templates/two/split.msg");
    for (text, line, why, shown) in [
        ("net: x\n\nWhy.\n---\nNot this.\n", 4, "git am ends the message there", 0),
        ("net: x\n\nWhy\0.\n", 3, "a NUL byte", 2),
    ] {
        host.put("project/templates/two/split.msg", text);
        let place =
            format!("templates/two/split.msg:{line}: the message of split cannot be mailed");
        let (_, err) = host.generate(&[], 2);
        assert!(err.contains(&place) && err.contains(why), "{err}");
        let (_, err) = host.run(&["show", "two", "--base", "../linux"], shown);
        assert!(err.contains(&place) && err.contains(why), "{err}");
    }
    host.put("project/templates/two/split.msg", good);
    host.put("project/templates/two/init.c", "static\n{{ stup }}\n");
    let (_, err) = host.generate(&[], 2);
    assert!(
        err.contains("templates/two/init.c:2:4: nothing gives `stup`")
            && err.contains("did you mean `setup`?"),
        "{err}"
    );
    let (_, err) = host.run(&["generate-series", "tow", "--base", "../linux"], 2);
    assert!(err.contains("did you mean \"two\"?"), "{err}");
    let (_, err) = host.run(&["generate-series", "two", "--base", "../nowhere"], 2);
    assert!(err.contains("nowhere"), "{err}");
    let talk = host.run(&["generate-series", "two", "--range-diff", "v1"], 2).1;
    assert!(talk.contains("--range-diff=v1"), "{talk}");
    let (_, err) = host.generate(&["--with", "moree"], 2);
    assert!(err.contains("optional there: more"), "{err}");
    assert!(host.products().is_empty());
}

#[test]
fn what_is_no_file_is_told_and_waited_for_by_nobody() {
    let host = Two::new();
    fs::create_dir_all(host.path("project/series/odd")).unwrap();
    fs::create_dir_all(host.path("project/series/gone")).unwrap();
    std::os::unix::fs::symlink("nowhere", host.path("project/series/gone/series.toml")).unwrap();
    let fifo = |name: &str| {
        let path = host.path(name);
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    };
    fifo("project/series/odd/series.toml");
    host.put("project/series/.hidden/series.toml", "");
    let (out, err) = host.run(&["list"], 0);
    assert_eq!(out.lines().count(), 1, "{out}");
    assert!(
        err.contains("left out: ") && err.contains("odd/series.toml is no regular file"),
        "{err}"
    );
    assert!(err.contains("gone/series.toml: No such file"), "{err}");
    let (_, err) = host.run(&["show", "odd"], 2);
    assert!(err.contains("it is a FIFO"), "{err}");
    for name in ["templates/two/split.msg", "templates/two/cover.tera", "series/two/checks.toml"] {
        fifo(&format!("project/{name}"));
        let args = ["check", "two", "--base", "../linux", "--gate", "message"];
        let (_, err) = host.run(&args, 2);
        assert!(err.contains(&name["templates/".len()..]) && err.contains("it is a FIFO"), "{err}");
        fs::remove_file(host.path("project").join(name)).unwrap();
        host.put("project/templates/two/split.msg", "net: x\n");
        host.put("project/templates/two/cover.tera", "Why.\n");
    }
}

#[test]
fn a_full_disk_is_said_and_nothing_is_half_written() {
    let host = Two::new();
    // Room for the folders, not for the mails.
    if let Some(disk) = Mounted::new(&host.path("project/out"), "size=8k") {
        let (out, err) = host.generate(&[], 3);
        assert!(err.contains("No space left") && err.contains("mend:"), "{err}");
        assert!(out.is_empty() && host.products().is_empty(), "{out} {:?}", host.products());
        drop(disk);
    }
    // The store has none either: it is not begun, or told.
    let host = Two::new();
    if let Some(disk) = Mounted::new(&host.path("cache"), "size=16k") {
        let (out, err) = host.generate(&[], 3);
        assert!(err.contains("No space left") && err.contains("mend:"), "{err}");
        assert!(out.is_empty() && host.products().is_empty());
        drop(disk);
    }
    host.generate(&[], 0);
}

#[test]
fn killed_at_any_moment_it_leaves_all_mails_or_those_before() {
    let host = Two::new();
    host.generate(&[], 0);
    let all = host.products();
    let begun = std::time::Instant::now();
    host.generate(&[], 0);
    let whole = begun.elapsed();
    for i in 0..16 {
        let mut c = Command::new(env!("CARGO_BIN_EXE_xtask"));
        let version = format!("{}", i + 2);
        c.args(["generate-series", "two", "--base", "../linux", "-v", &version]);
        c.current_dir(host.path("project")).stderr(std::process::Stdio::null());
        c.stdout(std::process::Stdio::null());
        host.clean(&mut c);
        let mut child = c.spawn().unwrap();
        std::thread::sleep(whole * i / 12);
        child.kill().unwrap();
        child.wait().unwrap();
        let made = walk(&host.path(&format!("project/out/series/two/linux/v{version}"))).len();
        assert!(made == 0 || made == all.len(), "killed at {i}/12: {made} mails");
        // What it left behind does not stand in the way.
        host.generate(&["-v", &version], 0);
    }
    let left = walk(&host.path("project/out"));
    assert_eq!(left.len(), 17 * all.len(), "{left:?}");
}

#[test]
fn a_signal_ends_a_template_that_takes_for_ever() {
    use nix::sys::signal::{Signal, kill};
    let host = Two::new();
    let many = "{% for i in range(end=3000) %}";
    let endless = format!("{0}{0}{0}{0}{1}{1}{1}{1}", many, "{% endfor %}");
    host.put("project/templates/two/init.c", endless);
    let mut c = Command::new(env!("CARGO_BIN_EXE_xtask"));
    c.args(["generate-series", "two", "--base", "../linux", "--format", "json"]);
    c.current_dir(host.path("project"));
    c.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    host.clean(&mut c);
    let child = c.spawn().unwrap();
    // Before there is a store, nobody listens for signals.
    while !host.path("cache/kseries/store.git/HEAD").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    let begun = std::time::Instant::now();
    kill(nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
    let out = child.wait_with_output().unwrap();
    // Else it is ended after five seconds.
    assert!(begun.elapsed().as_secs() < 4, "{:?}", begun.elapsed());
    assert_eq!(out.status.code(), Some(130));
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["error"]["kind"], "interrupted");
    assert!(String::from_utf8_lossy(&out.stderr).contains("ended by the user"));
    assert!(host.products().is_empty());
}

#[test]
fn a_usage_error_has_its_document_where_json_is_asked_for() {
    let host = Two::new();
    for args in [&["generate-series", "--format", "json", "--nope"][..], &["nope", "--format=json"]]
    {
        let (out, err) = host.run(args, 2);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["error"]["kind"], "usage", "{out}");
        assert!(err.contains("error:"), "{err}");
    }
    let (out, _) = host.run(&["generate-series", "--nope"], 2);
    assert!(out.is_empty(), "{out}");
}
