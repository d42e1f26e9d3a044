//! Tests of merging.

use super::*;

fn person(text: &str) -> Person {
    Person::parse(text).unwrap()
}

fn patch<'p>(name: &'p str, message: &'p str) -> PatchPeople<'p> {
    PatchPeople { name, author: person("Me <me@x>"), message, fixed: vec![] }
}

/// `To: a, b / Cc: c` in short.
fn short(r: &Recipients) -> String {
    let list = |h| r.of(h).iter().map(Person::verbatim).collect::<Vec<_>>().join(", ");
    format!("To: {} / Cc: {}", list(Header::To), list(Header::Cc))
}

#[test]
fn one_address_once_and_to_before_cc() {
    let input = Input {
        sender: Some(person("Me <me@x>")),
        to: vec!["L <list@x>".into()],
        cc: vec!["other@x".into(), "LIST@X".into()],
        maintainers: vec![
            (person("list@x"), "open list:A".into()),
            (person("M <m@x>"), "maintainer:A".into()),
            (person("R <r@x>"), "reviewer:A".into()),
            (person("S <s@x>"), "supporter:B".into()),
        ],
        patches: vec![patch(
            "one",
            "a: b\n\nReviewed-by: m <M@x>\nCc: Other <other@x>\nSigned-off-by: Me <me@x>\n",
        )],
        ..Input::default()
    };
    let r = collect(&input).unwrap();
    assert_eq!(short(&r), "To: L <list@x>, M <m@x>, S <s@x> / Cc: R <r@x>, Other <other@x>");
    let m = r.all.iter().find(|r| r.person.email == "m@x").unwrap();
    let why: Vec<String> = m.sources.iter().map(Source::words).collect();
    assert_eq!(why, ["maintainer:A", "Reviewed-by in one"]);
    assert_eq!(r.left_out.len(), 1, "{:?}", r.left_out);
    assert_eq!(r.left_out[0].why, "the sender");
}

#[test]
fn each_trailer_kind() {
    for (trailers, want) in [
        ("Cc: stable@vger.kernel.org # v5.10+", "<stable@vger.kernel.org>"),
        ("Cc: <stable+noautosel@kernel.org> # because", ""),
        ("Cc: A <a@x>, B <b@x>", "A <a@x>, B <b@x>"),
        ("cc: a@x\nCC: A <A@X>\nReviewed-By: A <a@x>", "A <a@x>"),
        ("prerequisite-message-id: <p@x>", ""),
        ("Message-Id: <p@x>\nLink: https://lore.kernel.org/r/p@x", ""),
        ("Reported-by: syzbot+12@syzkaller.appspotmail.com", ""),
        ("Reported-by: kernel test robot <lkp@intel.com>", ""),
        ("Reported-by: Joe (ARM) <joe@arm.com>", "Joe (ARM) <joe@arm.com>"),
        ("Suggested-by: Björn Töpel <bjorn@kernel.org>", "Björn Töpel <bjorn@kernel.org>"),
        ("Co-developed-by: D <d@x>\nSigned-off-by: D <d@x>", "D <d@x>"),
        ("Tested-by: Nobody", ""),
    ] {
        let message = format!("a: b\n\nbody\n\n{trailers}\nSigned-off-by: Me <me@x>\n");
        let input = Input {
            sender: Some(person("me@x")),
            patches: vec![patch("p", &message)],
            ..Input::default()
        };
        assert_eq!(short(&collect(&input).unwrap()), format!("To:  / Cc: {want}"), "{trailers}");
    }
}

#[test]
fn stable_by_header_only_for_a_backport() {
    let id = "0123456789012345678901234567890123456789";
    for (message, to) in [
        ("a: b\n\nSigned-off-by: Me <me@x>\n".to_owned(), ""),
        (
            format!("a: b\n\ncommit {id} upstream.\n\nSigned-off-by: Me <me@x>\n"),
            "<stable@vger.kernel.org>",
        ),
        (format!("a: b\n\n[ Upstream commit {id} ]\n"), "<stable@vger.kernel.org>"),
        ("a: b\n\ncommit 0123 upstream.\n".to_owned(), ""),
    ] {
        let input = Input {
            sender: Some(person("me@x")),
            to: vec!["stable@vger.kernel.org".into()],
            patches: vec![patch("p", &message)],
            ..Input::default()
        };
        assert_eq!(short(&collect(&input).unwrap()), format!("To: {to} / Cc: "), "{message}");
    }
}

#[test]
fn overrides_authors_and_fixed_commits() {
    let mut p = patch("p", "a: b\n\nReviewed-by: Gone <gone@x>\n");
    p.author = person("Author <author@x>");
    p.fixed = vec![("0123456789ab".into(), person("Old <old@x>"))];
    let input = Input {
        sender: Some(person("me@x")),
        option_to: vec!["old@x".into()],
        option_cc: vec!["c@x".into()],
        unwanted: vec![("GONE@x".into(), "bounces".into())],
        patches: vec![p],
        ..Input::default()
    };
    let r = collect(&input).unwrap();
    assert_eq!(short(&r), "To: Old <old@x> / Cc: <c@x>, Author <author@x>");
    assert_eq!((r.left_out[0].address.as_str(), r.left_out[0].why.as_str()), ("gone@x", "bounces"));
}

proptest::proptest! {
    #[test]
    fn no_address_twice_and_to_first(
        picks in proptest::collection::vec((0..6usize, 0..5usize), 0..40),
    ) {
        let roles = ["maintainer:A", "reviewer:A", "open list:A", "supporter:B", "moderated list"];
        let maintainers = picks
            .iter()
            .map(|&(who, role)| (person(&format!("P{who} <p{who}@x>")), roles[role].to_owned()))
            .collect();
        let input = Input { maintainers, ..Input::default() };
        let r = collect(&input).unwrap();
        let mut emails: Vec<&str> = r.all.iter().map(|r| r.person.email.as_str()).collect();
        emails.sort_unstable();
        let all = emails.len();
        emails.dedup();
        proptest::prop_assert_eq!(emails.len(), all);
        proptest::prop_assert!(r.all.is_sorted_by_key(|r| r.header));
    }
}
