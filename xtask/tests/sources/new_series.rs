//! `new-series`.

use std::fs;

use crate::host::Host;

const ME: [&str; 2] = ["--author", "Jörg Author <jorg@example.org>"];

#[test]
fn a_new_series_renders_and_git_takes_its_mails() {
    let host = Host::new(&[]);
    let (out, _) = host.run(&["new-series", "my-idea", ME[0], ME[1]], 0);
    let files = [
        "series/my-idea/series.toml",
        "templates/my-idea/cover.tera",
        "templates/my-idea/header.h",
        "templates/my-idea/header.msg",
    ];
    assert_eq!(host.files("project"), files);
    assert!(files.iter().all(|f| out.contains(f)), "{out}");
    let (list, _) = host.run(&["list"], 0);
    assert!(list.contains("my-idea"), "{list}");
    let (_, talk) = host.run(&["show", "my-idea", "--base", "../linux"], 0);
    assert!(!talk.contains("warning"), "{talk}");
    let base = "../linux";
    let args = ["--format", "json", "generate-series", "my-idea", "--base", base, "-o", "../mails"];
    let (out, talk) = host.run(&args, 0);
    // What is left to write is told, and fails the gate.
    assert!(talk.contains("cover letter: \"What the problem is"), "{talk}");
    assert!(talk.contains("header: \": Add what the subject says\""), "{talk}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    host.git("linux", &["am", "-q", "../mails/0001-my_idea-Add-what-the-subject-says.patch"]);
    assert_eq!(report[0]["tree"], host.git("linux", &["rev-parse", "HEAD^{tree}"]).as_str());
    let header = host.read("linux/include/linux/my-idea.h");
    assert!(header.contains("static inline bool my_idea_enabled(void)"), "{header}");
    let cover = host.read("mails/0000-cover-letter.patch");
    assert!(cover.contains("] my idea\n") && cover.contains("\nchange-id: 20241129-my-idea-"));
}

#[test]
fn names_that_are_taken_or_leave_the_folder_are_refused() {
    let host = Host::new(&[]);
    host.run(&["new-series", "a", ME[0], ME[1]], 0);
    host.put("project/templates/b/x", "");
    let before = host.files("project");
    for name in ["a", "b", "../x", "x/y", ".x", "", "ä"] {
        let (_, talk) = host.run(&["new-series", name, ME[0], ME[1]], 2);
        assert!(talk.contains("mend:"), "{name}: {talk}");
    }
    // Without an author there is nothing to begin with.
    let (_, talk) = host.run(&["new-series", "c"], 2);
    assert!(talk.contains("git config --global user.name"), "{talk}");
    host.run(&["new-series", "c", "--author", "joe@x"], 2);
    host.run(&["new-series", "c", "--title", "a\nb", ME[0], ME[1]], 2);
    let (_, talk) = host.run(&["new-series", "c", "--base", "6.13", ME[0], ME[1]], 2);
    assert!(talk.contains("no base \"6.13\""), "{talk}");
    assert_eq!(host.files("project"), before);
    let hidden = |e: fs::DirEntry| e.file_name().to_string_lossy().starts_with('.');
    assert!(!fs::read_dir(host.path("project")).unwrap().any(|e| hidden(e.unwrap())));
}

#[test]
fn what_a_killed_run_left_is_swept() {
    let host = Host::new(&[]);
    // No process has this number: it is above what the kernel gives.
    host.put("project/.writing-4194999-x/series/old/series.toml", "x");
    host.put("project/.writing-notes", "mine");
    host.run(&["new-series", "a", ME[0], ME[1]], 0);
    assert!(!host.path("project/.writing-4194999-x").exists());
    assert!(host.path("project/.writing-notes").exists());
}

#[test]
fn the_first_series_begins_a_project() {
    let host = Host::new(&[]);
    fs::create_dir(host.path("empty")).unwrap();
    host.run_in("empty", &["new-series", "a", ME[0], ME[1]], 2);
    host.run_in("empty", &["new-series", "a", "--project", ".", ME[0], ME[1]], 0);
    host.git("empty", &["init", "-q"]);
    host.git("empty", &["config", "user.name", "Joe \"J\" Doe"]);
    host.git("empty", &["config", "user.email", "joe@example.org"]);
    host.run_in("empty", &["new-series", "b", "--title", "Zwei: \"two\""], 0);
    let (list, _) = host.run_in("empty", &["list"], 0);
    assert!(list.contains('a') && list.contains("Zwei: \"two\""), "{list}");
    let toml = host.read("empty/series/b/series.toml");
    assert!(toml.contains(r#"author    = "Joe \"J\" Doe <joe@example.org>""#), "{toml}");
}
