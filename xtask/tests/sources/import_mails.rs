//! `import-series` of mails in many shapes, each compared with what `git am`
//! makes of the same patches.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use xtask::mail::transfer::quoted_printable;

use crate::git::kernel;
use crate::host::Host;

/// Two commits on a branch: one in a function, one of a new file.
fn two(host: &Host) {
    host.git("linux", &["checkout", "-q", "-b", "work"]);
    host.change(
        "net/dev.c",
        "\tn->poll = LIMIT;\n",
        "\tn->poll = LIMIT;\n\tn->weight = 1;\n",
        "net: Set the weight\n\nBecause {{ it }} was {% not %}.\n\nSigned-off-by: Jörg Author <jorg@example.org>",
    );
    host.put("linux/net/new.c", "int new;\n/* {{ braces }} {# and #} */\n");
    host.change(
        "net/Makefile",
        "+= a.o\n",
        "+= a.o\nobj-y += new.o\n",
        "net: Add new.c\n\nIt is new.",
    );
}

/// A mail's headers and body.
fn parts(mail: &str) -> (&str, &str) {
    mail.split_once("\n\n").unwrap()
}

/// Headers as an archive adds them above those of a mail.
fn archived(mail: &str, id: &str) -> String {
    let mail = mail.split_once('\n').unwrap().1;
    format!(
        "From mboxrd@z Thu Jan  1 00:00:00 1970\n\
         Return-Path: <bounce@vger.example.org>\n\
         Received: from a.example.org (a.example.org [192.0.2.1])\n\tby b.example.org (Postfix) with ESMTPS id 1234\n\tfor <netdev@vger.example.org>; Fri, 29 Nov 2024 12:00:00 +0000 (UTC)\n\
         X-Mailing-List: netdev@vger.example.org\n\
         List-Id: <netdev.vger.example.org>\n\
         DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.org;\n        h=from:to:subject; b=abc\n         def\n\
         To: netdev@vger.example.org,\n\t=?UTF-8?q?Bj=C3=B6rn?= <bjorn@example.org>\n\
         Cc: \"Last, First\" <last@example.org>\n\
         Message-ID: <{id}@example.org>\n{mail}\n"
    )
}

fn at_base() -> [&'static str; 2] {
    ["--base", "../linux"]
}

#[test]
fn a_folder_of_format_patch() {
    let host = kernel();
    two(&host);
    let files =
        host.format("p", &["--cover-letter", "--base=main", "--to=netdev@vger.example.org"]);
    let cover = host.read("p/0000-cover-letter.patch");
    let cover = cover.replace("*** SUBJECT HERE ***", "Two {{ things }}");
    host.put(
        "p/0000-cover-letter.patch",
        cover.replace("*** BLURB HERE ***", "Why {% so %}.\n\nMore."),
    );
    assert_eq!(files.len(), 3);
    let want = host.am(&["p/0001-net-Set-the-weight.patch", "p/0002-net-Add-new.c.patch"]);
    // Its base-commit is found in the clone, once that is named.
    let (_, talk) = host.run(&["import-series", "a", "--from", "../p"], 2);
    assert!(talk.contains("is not at hand") && talk.contains("--repo"), "{talk}");
    let report = host.import_and_prove("a", "../p", &["--repo", "../linux"], &want);
    let (_, talk) = host.run(&["import-series", "a2", "--from", "../p", "--repo", "../linux"], 0);
    assert!(talk.contains("has the base-commit of the mails"), "{talk}");
    let main = host.git("linux", &["rev-parse", "main"]);
    assert!(report["base"].as_str().unwrap().ends_with(&format!("linux@{main}")), "{report}");
    let toml = host.read("project/series/a/series.toml");
    for part in [
        "title     = \"Two {{ things }}\"",
        "to        = [\"netdev@vger.example.org\"]",
        "create = \"new.c\"",
    ] {
        assert!(toml.contains(part), "{part}: {toml}");
    }
    let cover = host.read("mails-a/0000-cover-letter.patch");
    assert!(cover.contains("\nWhy {% so %}.\n\nMore.\n\nJörg Author (2):\n"), "{cover}");
    assert_eq!(cover.matches("net: Set the weight").count(), 1, "{cover}");
    // Once the store knows the clone, its name is not needed.
    host.import_and_prove("b", "../p", &[], &want);
}

#[test]
fn an_mbox_of_format_patch_without_numbers() {
    let host = kernel();
    two(&host);
    let text = host.git("linux", &["format-patch", "--stdout", "-N", "main..HEAD"]);
    host.put("all.mbox", format!("{text}\n\n"));
    host.git("linux", &["checkout", "-q", "main"]);
    let want = host.am(&["all.mbox"]);
    host.import_and_prove("a", "../all.mbox", &at_base(), &want);
    // Subjects as they were committed, too.
    let text = host.git("linux", &["format-patch", "--stdout", "-k", "main..work"]);
    host.put("bare.mbox", format!("{text}\n\n"));
    host.import_and_prove("b", "../bare.mbox", &at_base(), &want);
}

#[test]
fn an_archived_thread_out_of_order_with_replies_versions_and_repeats() {
    let host = kernel();
    two(&host);
    host.format("v1", &["--cover-letter"]);
    host.git("linux", &["checkout", "-q", "work"]);
    host.change("net/dev.c", "weight = 1", "weight = 2", "fixup");
    host.git("linux", &["reset", "-q", "--soft", "HEAD~3"]);
    host.git(
        "linux",
        &["commit", "-q", "-m", "net: All at once\n\nFrom here on\n\n>From this it was."],
    );
    host.change("net/dev.c", "return 3", "return 4", "net: Four\n\nIs more.");
    host.format("v2", &["--cover-letter", "-v2"]);
    let read = |name: &str| host.read(name);
    let v1 = [read("v1/0001-net-Set-the-weight.patch"), read("v1/0002-net-Add-new.c.patch")];
    let v2 = [read("v2/v2-0001-net-All-at-once.patch"), read("v2/v2-0002-net-Four.patch")];
    let cover = read("v2/v2-0000-cover-letter.patch").replace(
        "*** BLURB HERE ***",
        "What.\n\nChanges in v2:\n- all at once\n- Link to v1: https://lore.kernel.org/r/v1-0@example.org",
    );
    let reply = format!(
        "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: R <r@example.org>\nSubject: Re: [PATCH v2 1/2] net: All at once\nMessage-ID: <r@example.org>\nContent-Type: text/plain; format=flowed\n\n> quoted\nHow about\n{}\n",
        parts(&v1[0]).1
    );
    // An archive quotes what looks like the beginning of a mail.
    let quoted = |text: String| {
        text.replace("\nFrom here", "\n>From here").replace("\n>From this", "\n>>From this")
    };
    let mbox = [
        archived(&v2[1], "v2-2"),
        reply,
        archived(&v1[1], "v1-2"),
        quoted(archived(&v2[0], "v2-1")),
        archived(&cover.replace("*** SUBJECT HERE ***", "Second try"), "v2-0"),
        archived(&v1[0], "v1-1"),
        // Another list's copy.
        archived(&v2[1].replace("X-Mailing-List", "X-Other"), "v2-2"),
    ];
    host.put("t.mbox", mbox.concat());
    let want = host.am(&["v2/v2-0001-net-All-at-once.patch", "v2/v2-0002-net-Four.patch"]);
    let report = host.import_and_prove("a", "../t.mbox", &at_base(), &want);
    assert_eq!(report["version"], 2);
    let toml = host.read("project/series/a/series.toml");
    for part in [
        "title     = \"Second try\"",
        "version   = 2",
        "to        = [\"netdev@vger.example.org\", \"Björn <bjorn@example.org>\"]",
        "cc        = [\"Last, First <last@example.org>\"]",
        "text      = \"- all at once\"",
        "link      = \"https://lore.kernel.org/r/v1-0@example.org\"",
    ] {
        assert!(toml.contains(part), "{part}: {toml}");
    }
    let mail = host.read("mails-a/0000-cover-letter.patch");
    assert!(mail.contains("\nWhat.\n\nChanges in v2:\n- all at once\n- Link to v1: https://lore.kernel.org/r/v1-0@example.org\n"), "{mail}");
    let first = host.am(&["v1/0001-net-Set-the-weight.patch", "v1/0002-net-Add-new.c.patch"]);
    let report =
        host.import_and_prove("b", "../t.mbox", &["--base", "../linux", "--version", "1"], &first);
    assert_eq!(report["version"], 1);
}

#[test]
fn bodies_in_quoted_printable_and_base64_in_a_maildir_with_crlf() {
    let host = kernel();
    two(&host);
    host.git("linux", &["checkout", "-q", "work"]);
    host.change("dos.txt", "two\r\n", "two\r\nand a half\r\n", "doc: Keep carriage returns = good");
    let files = host.format("p", &[]);
    let names: Vec<String> = files.iter().map(|f| format!("p/{f}")).collect();
    // git am takes carriage returns for those of the mail unless they are encoded.
    let qp = |name: &str| {
        let mail = host.read(name);
        let (headers, body) = parts(&mail);
        let lines = headers
            .lines()
            .skip(1)
            .filter(|l| !l.starts_with("Content-") && !l.starts_with("MIME"));
        let body = String::from_utf8(quoted_printable(body.as_bytes())).unwrap();
        format!(
            "{}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=\"utf-8\"\nContent-Transfer-Encoding: quoted-printable\n\n{body}",
            lines.collect::<Vec<_>>().join("\n")
        )
    };
    let b64 = |name: &str| {
        let mail = host.read(name);
        let (headers, body) = parts(&mail);
        let lines = headers
            .lines()
            .skip(1)
            .filter(|l| !l.starts_with("Content-") && !l.starts_with("MIME"));
        format!(
            "{}\nMIME-Version: 1.0\nContent-Type: text/plain;\n charset=UTF-8\nContent-Transfer-Encoding: base64\n\n{}",
            lines.collect::<Vec<_>>().join("\n"),
            base64(body.as_bytes())
        )
    };
    let mails = [qp(&names[0]), b64(&names[1]), qp(&names[2])];
    let reference: Vec<String> = (0..3).map(|i| format!("q{i}.eml")).collect();
    for (name, mail) in reference.iter().zip(&mails) {
        host.put(name, mail);
    }
    let want = host.am(&reference.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(host.git("linux", &["show", "am:dos.txt"]).contains("half\r\n"));
    for (i, mail) in mails.iter().enumerate() {
        // Delivered in no order, with the line ends of the wire.
        let folder = if i == 1 { "new" } else { "cur" };
        host.put(&format!("maildir/{folder}/{}.host:2,S", 9 - i), mail.replace('\n', "\r\n"));
    }
    fs::create_dir_all(host.path("maildir/tmp")).unwrap();
    host.import_and_prove("a", "../maildir", &at_base(), &want);
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for (i, three) in bytes.chunks(3).enumerate() {
        let n = three.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for j in 0..4 {
            let digit = DIGITS[(n >> (18 - 6 * j) & 63) as usize] as char;
            out.push(if j > three.len() { '=' } else { digit });
        }
        if i % 18 == 17 {
            out.push('\n');
        }
    }
    out + "\n"
}

#[test]
fn a_series_as_b4_sends_it() {
    let host = kernel();
    two(&host);
    host.format("p", &["-v3"]);
    let main = host.git("linux", &["rev-parse", "main"]);
    let sent = |name: &str, n: usize| {
        let mail = host.read(name);
        let mail =
            mail.replace("[PATCH v3 ", "[PATCH RFC bpf-next v3 ").replace("\n-- \n", "\n\n-- \n");
        archived(&mail, &format!("20241129-topic-v3-{n}-431ffd03aa5e"))
    };
    let cover = format!(
        "From: Jörg Author <jorg@example.org>\nDate: Fri, 29 Nov 2024 14:00:00 +0200\nSubject: [PATCH RFC bpf-next v3 0/2] bpf: A topic\nMessage-Id: <20241129-topic-v3-0-431ffd03aa5e@example.org>\nMIME-Version: 1.0\nContent-Type: text/plain; charset=\"utf-8\"\nContent-Transfer-Encoding: 8bit\nTo: A <a@example.org>\nX-Change-ID: 20241101-topic-431ffd03aa5e\n\nWhat it is.\n\nSigned-off-by: Jörg Author <jorg@example.org>\n\n---\nChanges in v3:\n- three\n- Link to v2: https://lore.kernel.org/r/20241110-topic-v2-0-431ffd03aa5e@example.org\n\nChanges in v2:\n- two\n- Link to v1: https://lore.kernel.org/r/20241101-topic-v1-0-431ffd03aa5e@example.org\n\n---\nJörg Author (2):\n      net: Set the weight\n      net: Add new.c\n\n net/Makefile | 1 +\n net/dev.c    | 1 +\n net/new.c    | 2 ++\n 3 files changed, 4 insertions(+)\n---\nbase-commit: {main}\nchange-id: 20241101-topic-431ffd03aa5e\nprerequisite-message-id: <x@example.org>\n\nBest regards,\n-- \nJörg Author <jorg@example.org>\n\n"
    );
    let from = "From git@z Thu Jan  1 00:00:00 1970\n";
    let mbox = [
        format!("{from}{cover}"),
        sent("p/v3-0001-net-Set-the-weight.patch", 1),
        sent("p/v3-0002-net-Add-new.c.patch", 2),
    ];
    // As archives serve it.
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(mbox.concat().as_bytes()).unwrap();
    host.put("t.mbox.gz", gz.finish().unwrap());
    let want = host.am(&["p/v3-0001-net-Set-the-weight.patch", "p/v3-0002-net-Add-new.c.patch"]);
    let report = host.import_and_prove("topic", "../t.mbox.gz", &["--repo", "../linux"], &want);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 0, "{report}");
    let toml = host.read("project/series/topic/series.toml");
    for part in [
        "[[prerequisites]]\nmessage-id = \"x@example.org\"\n",
        "list      = \"bpf-next\"",
        "change-id = \"20241101-topic-431ffd03aa5e\"",
        "date      = 2024-11-29T14:00:00+02:00",
    ] {
        assert!(toml.contains(part), "{part}: {toml}");
    }
    let mail = host.read("mails-topic/0000-cover-letter.patch");
    for part in [
        "RFC",
        "bpf-next v3 0/2] bpf: A topic",
        "\nprerequisite-message-id: <x@example.org>\n",
        "\nWhat it is.\n\nSigned-off-by: Jörg Author <jorg@example.org>\n\nChanges in v3:\n- three\n",
        "- Link to v1: https://lore.kernel.org/r/20241101-topic-v1-0-431ffd03aa5e@example.org\n",
    ] {
        assert!(mail.contains(part), "{part}: {mail}");
    }
    assert!(!mail.contains("Best regards"), "{mail}");
}

#[test]
fn one_patch_with_notes_by_another_author() {
    let host = kernel();
    host.git("linux", &["checkout", "-q", "-b", "work"]);
    host.put("linux/net/dev.c", host.read("linux/net/dev.c").replace("return 3", "return 4"));
    let who = "--author=\"Dr. No\" <no@example.org>";
    host.git(
        "linux",
        &[
            "commit",
            "-qam",
            "net: Four\n\nIs more.\n\nFixes: 0123456789ab (\"net: x\")",
            who,
            "--date=2020-02-29T01:02:03-0330",
        ],
    );
    host.format("p", &["-v2", "--from=Joe Sender <joe@example.org>"]);
    let name = "p/v2-0001-net-Four.patch";
    let mail = host.read(name);
    host.put(
        name,
        mail.replacen("\n---\n", "\n---\nA note for [brackets].\n\nChanges in v2:\n - four\n\n", 1),
    );
    let want = host.am(&[name]);
    assert!(want[0][1].contains("Dr. No"), "{want:?}");
    let report = host.import_and_prove("a", &format!("../{name}"), &at_base(), &want);
    assert_eq!(
        (report["version"].as_u64(), report["patches"].as_array().unwrap().len()),
        (Some(2), 1)
    );
    let toml = host.read("project/series/a/series.toml");
    assert!(
        toml.contains("# A note for [brackets].\n") && toml.contains("text      = \" - four\""),
        "{toml}"
    );
    assert!(!toml.contains("cover ") && !toml.contains("| 2 +-"), "{toml}");
}

#[test]
fn files_of_every_kind() {
    let host = kernel();
    let commit = |m: &str| host.commit(m);
    host.git("linux", &["checkout", "-q", "-b", "work"]);
    host.put("linux/empty", "");
    host.put("linux/tool", "#!/bin/sh\n");
    host.git("linux", &["add", "-A"]);
    host.git("linux", &["update-index", "--chmod=+x", "tool"]);
    host.git("linux", &["commit", "-qm", "One: add"]);
    host.git("linux", &["checkout", "-q", "."]);
    host.git("linux", &["mv", "doc/old.rst", "doc/new.rst"]);
    fs::remove_file(host.path("linux/doc/gone.txt")).unwrap();
    std::os::unix::fs::symlink("dev.c", host.path("linux/net/link.c")).unwrap();
    commit("Two: move, remove, link");
    host.put("linux/bin", [&[0u8; 64][..], &(0..=255u8).collect::<Vec<u8>>()].concat());
    host.put("linux/latin.txt", b"K\xf6ln\n\xdcbach\n");
    host.put("linux/open.txt", "no newline\nstill none");
    commit("Three: odd contents");
    host.git("linux", &["update-index", "--chmod=+x", "net/dev.c"]);
    host.git("linux", &["commit", "-qm", "Four: a mode alone"]);
    host.git("linux", &["checkout", "-q", "."]);
    host.git("linux", &["mv", "doc/new.rst", "doc/again.rst"]);
    host.change("doc/again.rst", "Some text.", "Some other text.", "Five: move and change");
    fs::remove_file(host.path("linux/net/link.c")).unwrap();
    host.put("linux/net/link.c", "int no_link;\n");
    host.put("linux/with space/\"q\" {{ x }}.txt", "x\n");
    host.put("linux/doc/gone.txt", "back, without newline");
    commit("Six: another type, an odd name");
    // Two files change names, and one becomes a folder.
    host.git("linux", &["mv", "net/link.c", "x"]);
    host.git("linux", &["mv", "tool", "net/link.c"]);
    host.git("linux", &["mv", "x", "tool"]);
    fs::remove_file(host.path("linux/empty")).unwrap();
    host.put("linux/empty/not", "any more\n");
    commit("Seven: swap");
    let files = host.format("p", &["--binary"]);
    let names: Vec<String> = files.iter().map(|f| format!("p/{f}")).collect();
    let want = host.am(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let report = host.import_and_prove("a", "../p", &at_base(), &want);
    let count = |i: usize| {
        let p = &report["patches"][i];
        (p["structural"].as_u64().unwrap(), p["diffs"].as_u64().unwrap())
    };
    assert_eq!([count(0), count(1)], [(2, 0), (2, 1)], "{report:#}");
    let mail = fs::read(host.path("mails-a/0003-Three-odd-contents.patch")).unwrap();
    assert!(String::from_utf8_lossy(&mail).contains("GIT binary patch"));
}

#[test]
fn signed_and_recoded_mails() {
    let host = kernel();
    two(&host);
    host.format("p", &["--cover-letter"]);
    // A signature beside the text, a footer of the list, a name and a text in
    // another charset.
    let mail = host.read("p/0001-net-Set-the-weight.patch");
    let (headers, body) = parts(&mail);
    let kept =
        |h: &&str| !h.starts_with("Content-") && !h.starts_with("MIME") && !h.starts_with("From");
    let headers: Vec<&str> = headers.lines().filter(kept).collect();
    let mut signed = format!(
        "From git@z Thu Jan  1 00:00:00 1970\nFrom: =?iso-8859-1?Q?J=F6rg?= Author\n <jorg@example.org>\n{}\nMIME-Version: 1.0\nContent-Type: multipart/signed; micalg=pgp-sha512;\n\tprotocol=\"application/pgp-signature\"; boundary=\"=-b/0\"\n\n--=-b/0\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit\n\n",
        headers.join("\n")
    )
    .into_bytes();
    signed.extend(body.replace('ö', "\u{1}").bytes().map(|b| if b == 1 { 0xf6 } else { b }));
    signed.extend(b"\n--=-b/0\nContent-Type: text/plain\n\n____\na list's footer\n\n--=-b/0\nContent-Type: application/pgp-signature; name=\"signature.asc\"\nContent-Disposition: attachment\n\n-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n\n--=-b/0--\n\n");
    host.put("one.eml", &signed);
    let want = host.am(&["one.eml", "p/0002-net-Add-new.c.patch"]);
    assert!(want[0][1].starts_with("Jörg") && want[0][3].contains("Jörg"), "{want:?}");
    let second = host.read("p/0002-net-Add-new.c.patch");
    let again = second.replacen("[PATCH 2/2]", "[PATCH RESEND 2/2]", 1);
    let cover = host.read("p/0000-cover-letter.patch").replace("*** SUBJECT HERE ***", "Zwei =?");
    let mbox = [&signed, second.as_bytes(), b"\n", cover.as_bytes(), b"\n", again.as_bytes()];
    host.put("t.mbox", mbox.concat());
    host.import_and_prove("a", "../t.mbox", &at_base(), &want);
}

#[test]
fn lines_that_moved_are_found_as_git_finds_them() {
    let host = kernel();
    two(&host);
    host.format("p", &[]);
    // The tree has moved on since.
    host.change(
        "net/dev.c",
        "#define LIMIT 64\n",
        "/* More. */\n#define LIMIT 64\n",
        "main: shift",
    );
    let names = ["p/0001-net-Set-the-weight.patch", "p/0002-net-Add-new.c.patch"];
    let want = host.am(&names);
    host.import_and_prove("a", "../p", &at_base(), &want);
    // Raw diffs alone do it as well.
    host.import_and_prove("b", "../p", &["--base", "../linux", "--diffs-only"], &want);
    let toml = host.read("project/series/b/series.toml");
    assert_eq!(toml.matches("diff   = ").count(), 2, "{toml}");
    assert!(Path::new(&host.path("project/templates/b/set-the-weight.diff")).exists());
}

#[test]
fn what_the_tool_itself_sends_comes_back() {
    let host = kernel();
    two(&host);
    host.format("p", &["--cover-letter"]);
    let cover = host.read("p/0000-cover-letter.patch").replace("*** SUBJECT HERE ***", "A topic");
    host.put("p/0000-cover-letter.patch", cover.replace("*** BLURB HERE ***", "Why.\n\n - so"));
    let want = host.am(&["p/0001-net-Set-the-weight.patch", "p/0002-net-Add-new.c.patch"]);
    host.import_and_prove("a", "../p", &at_base(), &want);
    host.run(&["generate-series", "a", "--base", "../linux", "-v", "2", "-o", "../sent"], 0);
    host.import_and_prove("b", "../sent", &[], &want);
    let strip = |name: &str| -> Vec<String> {
        let text = host.read(&format!("project/series/{name}/series.toml"));
        let skip = ["bases", "# Imported", "version"];
        text.lines().filter(|l| !skip.iter().any(|s| l.starts_with(s))).map(str::to_owned).collect()
    };
    assert_eq!(strip("a"), strip("b"));
    assert_eq!(
        host.read("project/templates/a/cover.tera"),
        host.read("project/templates/b/cover.tera")
    );
}
