//! Prerequisites of each kind on their way through the mail server: b4 names them
//! as we do, finds the patches in an archive, and applies them below ours.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use super::Stage;
use super::mail_server::{Arrived, mbox};
use super::mails::{Post, Small, said};
use crate::commands::own;
use crate::error::{Error, IoContext as _, Result};
use crate::gates::checkout::clean_git;
use crate::host::process::{Cmd, Output, Running, Stream};

const ARCHIVE: &str = include_str!("archive.py");
/// What the base has. Far enough apart that no patch has another's lines around.
const WORDS: &str = "a0 a1 a2 a3 b0 b1 b2 b3 c0 c1 c2 c3 d0 d1 d2 d3 e0 e1 e2 e3";
const MAKEFILE: &str = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nEXTRAVERSION =\n";
const ONE: &str = "20241129-one-431ffd03aa5e";
const ZERO: &str = "20241129-zero-531ffd03aa5e";
const TWO: &str = "20241129-two-631ffd03aa5e";

/// Runs it.
///
/// # Errors
/// When a program cannot be started.
pub(super) fn check(post: &Post, stage: &mut Stage) -> Result<()> {
    let place = Place::new(&post.folder.join("prerequisites"))?;
    place.series("one", ONE, "", &["b1", "d1"])?;
    place.series("zero", ZERO, "", &["a1"])?;
    let mut sent = Vec::new();
    for name in ["one", "zero"] {
        sent.push(place.send(post, stage, name)?);
    }
    let [Some(one), Some(zero)] = sent.as_slice() else { return Ok(()) };
    let ids = |mails: &[Arrived]| patch_ids(&mbox(mails));
    let (of_one, of_zero) = (ids(one)?, ids(zero)?);
    let (Some(zero_id), Some(message_id)) = (of_zero.first(), zero.first().and_then(message_id))
    else {
        return Err(Error::check("send zero").found("its mail has no patch or no message id"));
    };
    let needs = format!(
        "[[prerequisites]]\nseries = \"one\"\n[[prerequisites]]\nmessage-id = \"{message_id}\"\n\
         [[prerequisites]]\npatch-id = \"{zero_id}\"\n\
         [[prerequisites]]\nchange-id = \"{ZERO}:v1\"\n"
    );
    // On top of what one made of the line.
    place.series("two", TWO, &needs, &["b1x"])?;
    let Some(two) = place.send(post, stage, "two")? else { return Ok(()) };

    let archive = Archive::start(&post.folder.join("archive"), &post.python())?;
    archive.add(ONE, one)?;
    archive.add(&message_id, zero)?;
    archive.add(ZERO, zero)?;

    // What b4 writes when it is told the same prerequisites. It looks up what is
    // elsewhere, and names the patches of it too.
    let ours = two.first().map(tracking).unwrap_or_default();
    let deps = format!(
        "change-id: {ONE}:v1\nmessage-id: <{message_id}>\npatch-id: {zero_id}\nchange-id: {ZERO}:v1\n"
    );
    let theirs = place.prepared_by_b4(post, &archive, &deps)?;
    let id = |id: &String| format!("prerequisite-patch-id: {id}");
    let mut want = ours.clone();
    let after = |want: &mut Vec<String>, line: String| {
        if let Some(at) = want.iter().position(|l| *l == line) {
            want.insert(at + 1, id(zero_id));
        }
    };
    after(&mut want, format!("prerequisite-message-id: <{message_id}>"));
    after(&mut want, format!("prerequisite-change-id: {ZERO}:v1"));
    let held = ours.len() == 2 + of_one.len() + 2 && theirs == want;
    let detail = format!("ours {ours:?}\nb4's {theirs:?}");
    stage.check(
        "b4 prep names prerequisites as we do",
        held,
        if held { String::new() } else { detail },
    );

    // b4 looks for the patches, and applies them below ours.
    let expected = place.by_git(&[one, zero, &two])?;
    let work = place.clone("shazam")?;
    let mails = post.folder.join("two.mbox");
    std::fs::write(&mails, mbox(&two)).at("write", &mails)?;
    let out = archive.b4(post, &work, &["shazam", "-m", &mails.display().to_string()])?;
    let talk = said(&out);
    let found = format!("looking for dependencies matching {} patch-ids", of_one.len() + 1);
    stage.check(
        "b4 shazam reads the ids of the patches",
        talk.contains(&found),
        said_unless(&out, talk.contains(&found)),
    );
    let applied = talk.matches("Applying prerequisite patch: ").count();
    let held = applied == of_one.len() + 1;
    stage.check("b4 shazam finds the patches by these ids", held, said_unless(&out, held));
    let got = place.git(&work, &["rev-parse", "HEAD^{tree}"])?;
    let held = out.ok() && got == expected;
    let detail = if held { format!("{got}, by git am of all of them too") } else { said(&out) };
    stage.check("b4 shazam applies them below the series", held, detail);
    Ok(())
}

fn said_unless(out: &Output, held: bool) -> String {
    if held { String::new() } else { said(out) }
}

/// A project with small series, and the clone that they are for.
struct Place {
    project: PathBuf,
    linux: PathBuf,
    cache: PathBuf,
}

impl Place {
    fn new(folder: &Path) -> Result<Place> {
        let place = Place {
            project: folder.join("project"),
            linux: folder.join("linux"),
            // Of its own: a clone that goes away must not stay known.
            cache: folder.join("cache"),
        };
        put(&place.linux.join("Makefile"), MAKEFILE)?;
        put(&place.linux.join("net/a.c"), &lines(WORDS))?;
        let linux = &place.linux;
        place.git(linux, &["init", "--quiet", "-b", "main"])?;
        place.git(linux, &["add", "."])?;
        place.git(linux, &["commit", "--quiet", "-m", "base"])?;
        Ok(place)
    }

    /// A series that puts an x behind each of these words, one patch a word.
    fn series(&self, name: &str, change_id: &str, needs: &str, words: &[&str]) -> Result<()> {
        let mut text = format!(
            "title = \"net: {name}\"\nlist = \"net-next\"\nchange-id = \"{change_id}\"\n\
             author = \"Jane Hacker <jane@example.org>\"\ndate = 2024-11-29T12:00:00Z\n"
        );
        if words.len() > 1 {
            text.push_str("cover = { text = \"Why.\" }\n");
        }
        text.push_str(needs);
        for word in words {
            text.push_str(&format!(
                "[[patch]]\nname = \"{word}\"\nmessage = {{ text = \"net: {name}, {word}\\n\\nIt was \
                 missing.\\n\\nSigned-off-by: Jane Hacker <jane@example.org>\" }}\n\
                 [[patch.edit]]\nfile = \"net/a.c\"\nat = {{ text = \"int {word};\" }}\n\
                 replace = {{ text = \"int {word}x;\" }}\n"
            ));
        }
        put(&self.project.join("series").join(name).join("series.toml"), &text)
    }

    /// Sends a series to someone; what arrives, if all of it went there alone.
    fn send(&self, post: &Post, stage: &mut Stage, name: &str) -> Result<Option<Vec<Arrived>>> {
        let out = Cmd::new(own::EXE)
            .arg("--project")
            .arg(&self.project)
            .args(["send", name, "--base"])
            .arg(&self.linux)
            .args(["--no-maintainers", "--to", "Dora <dora@example.org>", "--force", "--yes"])
            .arg("--config-from")
            .arg(&post.folder)
            .env("XDG_CACHE_HOME", &self.cache)
            .env("GIT_CONFIG_GLOBAL", &post.config)
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()?;
        let arrived = post.server.take()?;
        let to: Vec<&Vec<String>> = arrived.iter().map(|a| &a.to).collect();
        // A line of the tracking is nobody's address.
        let held =
            out.ok() && !arrived.is_empty() && to.iter().all(|t| *t == &["dora@example.org"]);
        let detail = format!("{} mails to {to:?}", arrived.len());
        let detail = if held { detail } else { format!("{detail}\n{}", said(&out)) };
        stage.check(format!("prerequisites: send {name}"), held, detail);
        Ok(held.then_some(arrived))
    }

    fn git(&self, folder: &Path, args: &[&str]) -> Result<String> {
        let cmd = Small::author(clean_git());
        Ok(cmd.args(args).cwd(folder).run()?.text())
    }

    fn clone(&self, name: &str) -> Result<PathBuf> {
        let place = self.project.with_file_name(name);
        let from = self.linux.display().to_string();
        self.git(&self.project, &["clone", "--quiet", &from, &place.display().to_string()])?;
        Ok(place)
    }

    /// The tree that git makes of all these patches.
    fn by_git(&self, all: &[&Vec<Arrived>]) -> Result<String> {
        let work = self.clone("am")?;
        for (number, arrived) in all.iter().enumerate() {
            let patches = arrived.iter().filter(|a| has_diff(&a.bytes));
            let copies: Vec<Arrived> =
                patches.map(|a| Arrived { to: Vec::new(), bytes: a.bytes.clone() }).collect();
            let file = work.with_extension(number.to_string());
            std::fs::write(&file, mbox(&copies)).at("write", &file)?;
            let file = file.display().to_string();
            self.git(&work, &["am", "--quiet", "--patch-format=mboxrd", &file])?;
        }
        self.git(&work, &["rev-parse", "HEAD^{tree}"])
    }

    /// The tracking lines of a series that b4 prepared with these prerequisites.
    fn prepared_by_b4(&self, post: &Post, archive: &Archive, deps: &str) -> Result<Vec<String>> {
        let work = self.clone("prep")?;
        let (list, editor) = (work.with_extension("deps"), work.with_extension("editor"));
        put(&list, deps)?;
        put(&editor, &format!("#!/bin/sh\ncat '{}' > \"$1\"\n", list.display()))?;
        let run = |args: &[&str]| -> Result<()> {
            let out = archive.b4(post, &work, args)?;
            if out.ok() {
                return Ok(());
            }
            Err(Error::check(format!("b4 {}", args.join(" "))).found(said(&out)))
        };
        run(&["prep", "-n", "two", "-f", "main"])?;
        put(&work.join("net/a.c"), &lines(&WORDS.replace("b1", "b1xx")))?;
        let message =
            "net: two\n\nIt was missing.\n\nSigned-off-by: Jane Hacker <jane@example.org>";
        // b4 rewrites only what its user committed.
        for (key, value) in [("user.name", "CI"), ("user.email", "ci@localhost")] {
            self.git(&work, &["config", key, value])?;
        }
        let commit = clean_git().args(["commit", "--quiet", "-a", "-m", message]);
        commit.cwd(&work).run()?;
        self.git(&work, &["config", "core.editor", &format!("sh '{}'", editor.display())])?;
        run(&["prep", "--edit-deps"])?;
        let to = work.with_extension("made");
        run(&["prep", "--format-patch", &to.display().to_string()])?;
        for entry in std::fs::read_dir(&to).at("read", &to)? {
            let path = entry.at("read", &to)?.path();
            let bytes = std::fs::read(&path).at("read", &path)?;
            let found = tracking(&Arrived { to: Vec::new(), bytes });
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }
}

fn lines(words: &str) -> String {
    words.split(' ').map(|w| format!("int {w};\n")).collect()
}

fn put(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).at("create folder", folder)?;
    std::fs::write(path, text).at("write", path)
}

fn has_diff(mail: &[u8]) -> bool {
    String::from_utf8_lossy(mail).contains("\ndiff --git ")
}

fn tracking(mail: &Arrived) -> Vec<String> {
    let text = String::from_utf8_lossy(&mail.bytes);
    text.lines().filter(|l| l.starts_with("prerequisite-")).map(str::to_owned).collect()
}

fn message_id(mail: &Arrived) -> Option<String> {
    let id = crate::send::record::message_id(&mail.bytes)?;
    Some(id.trim_matches(['<', '>']).to_owned())
}

/// What `git patch-id --stable` says of the patches in an mbox.
fn patch_ids(mbox: &[u8]) -> Result<Vec<String>> {
    let out = clean_git().args(["patch-id", "--stable"]).stdin(mbox).run()?;
    let id = |l: &str| l.split(' ').next().unwrap_or_default().to_owned();
    Ok(out.text().lines().map(id).collect())
}

/// The running archive; it ends with this.
struct Archive {
    _running: Running,
    folder: PathBuf,
    port: String,
}

impl Archive {
    fn start(folder: &Path, python: &Path) -> Result<Archive> {
        std::fs::create_dir_all(folder).at("create folder", folder)?;
        let script = folder.join("archive.py");
        put(&script, ARCHIVE)?;
        let mut running = Cmd::new(python).arg(&script).arg(folder).spawn()?;
        let mut port = String::new();
        for (stream, pipe) in running.take_outputs() {
            let mut pipe = BufReader::new(pipe);
            if stream == Stream::Out {
                pipe.read_line(&mut port).at("read the port of", &script)?;
            }
            std::thread::spawn(move || std::io::copy(&mut pipe, &mut std::io::sink()));
        }
        let port = port.trim().to_owned();
        if port.is_empty() {
            return Err(Error::host("start a mail archive on 127.0.0.1").found("it ended"));
        }
        Ok(Archive { _running: running, folder: folder.to_owned(), port })
    }

    /// Keeps mails under a word that b4 asks for.
    fn add(&self, name: &str, mails: &[Arrived]) -> Result<()> {
        let place = self.folder.join(format!("{name}.mbox"));
        std::fs::write(&place, mbox(mails)).at("write", &place)
    }

    /// b4, which asks this archive and nobody else.
    fn b4(&self, post: &Post, work: &Path, args: &[&str]) -> Result<Output> {
        let mask = format!("b4.midmask=http://127.0.0.1:{}/all/%s", self.port);
        post.b4_asking(work, &[&["--config", mask.as_str()], args].concat())
    }
}
