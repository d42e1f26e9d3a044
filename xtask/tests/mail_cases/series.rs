//! Cover letters, versions and threads.

use crate::*;

/// Cases 7, 8 and 17.
#[test]
fn covers() {
    let (repo, _, commit) = with_message("net: x\n");
    let commits = [commit];
    let mut input = MailInput::new(&commits);
    input.from = Some(Person::new("Sen Der", "s@example.org"));
    let subject = "a cover letter subject of some more than just sixty characters";
    input.cover = Some(Cover { subject: subject.into(), body: "Größe\n".into() });
    let mails = write(&repo, &input);
    let cover = text(&mails[0]);
    // The prefix and some of the text stand behind "Subject:".
    assert!(cover.contains("\nSubject: [PATCH 0/1] a cover letter"), "{cover}");
    assert!(cover.contains("\nFrom: Sen Der <s@example.org>\n"));
    assert!(
        cover
            .contains("Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n")
    );
    assert!(!text(&mails[1]).contains("Content-Type"), "only the cover has UTF-8");
    assert!(text(&mails[1]).contains("\n\nFrom: A U Thor <author@example.org>\n\n"));
    input.from = None;
    assert!(text(&write(&repo, &input)[0]).contains("\nFrom: A U Thor <author@example.org>\n"));
}

/// Threads, tracking lines and changelogs.
#[test]
fn a_second_version() {
    let (repo, base, first) = with_message("net: one\n");
    repo.write("file", "c\n");
    let second = repo.commit("net: two\n");
    let commits = [first, second];
    let mut input = MailInput::new(&commits);
    input.prefix.version = 2;
    input.cover = Some(Cover { subject: "Two".into(), body: "Why.".into() });
    input.tracking.base_commit = Some(base);
    input.tracking.change_id = Some("20241129-two-431ffd03aa5e".into());
    input.changelog = vec![Changes {
        version: 2,
        text: "- two is new".into(),
        previous: Some("20241129-two-v1-0-aaaaaaaaaaaa@example.org".into()),
    }];
    let mails = write(&repo, &input);
    let again = write(&repo, &input);
    assert_eq!(mails, again, "same source, same bytes");
    let cover = text(&mails[0]);
    let id = |mail: &str| {
        let line = mail.lines().find(|l| l.starts_with("Message-ID: ")).unwrap();
        line.trim_start_matches("Message-ID: ").to_owned()
    };
    assert!(id(&cover).starts_with("<20241129-two-v2-0-"), "{cover}");
    assert!(
        cover.contains(
            "\nWhy.\n\nChanges in v2:\n- two is new\n\
         - Link to v1: https://lore.kernel.org/r/20241129-two-v1-0-aaaaaaaaaaaa@example.org\n\n\
         A U Thor (2):\n  net: one\n  net: two\n\n file | 2 +-\n"
        ),
        "{cover}"
    );
    let end = format!("\n\nbase-commit: {base}\nchange-id: 20241129-two-431ffd03aa5e\n-- \n");
    assert!(cover.contains(&end), "{cover}");
    for mail in &mails[1..] {
        let mail = text(mail);
        let above = format!("In-Reply-To: {0}\nReferences: {0}\n", id(&cover));
        assert!(mail.contains(&above) && !mail.contains("base-commit"), "{mail}");
    }
    assert!(text(&mails[2]).contains("Subject: [PATCH v2 2/2] net: two\n"));
    // Alone, a patch carries all of that itself.
    let one = [second];
    let mut alone = MailInput::new(&one);
    alone.prefix.version = 2;
    alone.changelog.clone_from(&input.changelog);
    alone.tracking.clone_from(&input.tracking);
    let mails = write(&repo, &alone);
    let mail = text(&mails[0]);
    assert!(mail.contains("Subject: [PATCH v2] net: two\n"), "{mail}");
    assert!(mail.contains("\n---\nChanges in v2:\n- two is new\n"), "{mail}");
    assert!(
        mail.contains(&format!("+c\n{}", end.trim_start_matches('\n')).replace("+c\n", "+c\n\n")),
        "{mail}"
    );
}

/// The threading headers are those of git, apart from the ids themselves.
#[test]
fn threads_as_git_makes_them() {
    let (repo, _, first) = with_message("net: one\n");
    repo.write("file", "c\n");
    let second = repo.commit("net: two\n");
    let commits = [first, second];
    for reply in [None, Some("top@example.org")] {
        for cover in [false, true] {
            let mut input = MailInput::new(&commits);
            input.transfer = Transfer::Raw;
            input.thread =
                Some(mail::Thread { topic: "t".into(), in_reply_to: reply.map(str::to_owned) });
            let mut args = vec!["-2", "--thread=shallow"];
            let answer = reply.map(|r| format!("--in-reply-to={r}"));
            args.extend(answer.as_deref());
            if cover {
                args.push("--cover-letter");
                input.cover =
                    Some(Cover { subject: "*** SUBJECT HERE ***".into(), body: String::new() });
            }
            let gits = repo.format_patch("git", &args);
            let ours = write(&repo, &input);
            let headers = |mails: Vec<String>| -> Vec<String> {
                // Ids are numbered in the order in which they come.
                let mut ids: Vec<String> = Vec::new();
                mails
                    .iter()
                    .map(|m| {
                        let head = m.split("\n\n").next().unwrap();
                        let keep = head.lines().filter(|l| {
                            ["Message-ID", "In-Reply-To", "References", "\t"]
                                .iter()
                                .any(|k| l.starts_with(k))
                        });
                        let mut out = keep.collect::<Vec<_>>().join("\n");
                        let found: Vec<String> = out
                            .split('<')
                            .skip(1)
                            .filter_map(|p| p.split('>').next())
                            .map(str::to_owned)
                            .collect();
                        for id in found {
                            let n = ids.iter().position(|i| *i == id).unwrap_or_else(|| {
                                ids.push(id.clone());
                                ids.len() - 1
                            });
                            out = out.replace(&format!("<{id}>"), &format!("<{n}>"));
                        }
                        out
                    })
                    .collect()
            };
            // Before 2.41 git wrote it so.
            let gits = gits.into_iter().map(|(_, b)| String::from_utf8(b).unwrap());
            let gits = gits.map(|t| t.replace("\nMessage-Id: ", "\nMessage-ID: ")).collect();
            assert_eq!(headers(ours.iter().map(text).collect()), headers(gits));
        }
    }
}
