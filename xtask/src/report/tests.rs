//! One report with everything in it, in each form.

use super::*;

fn sample() -> Summary {
    let case = |name: &str, status, message: Option<&str>, output: &[&str], seconds| Case {
        name: name.into(),
        status,
        message: message.map(Into::into),
        output: output.iter().map(|s| (*s).to_owned()).collect(),
        seconds,
    };
    let mut suite = Suite {
        name: "demo on 6.12, x86_64".into(),
        started: "2024-11-29T12:00:00Z".into(),
        seconds: 4.25,
        cases: vec![
            case("gro/aggregates", Status::Pass, None, &["packets per skb: 23.4"], Some(1.5)),
            case(
                "gro/<script>",
                Status::Fail,
                Some("1 & 2 \u{1}differ"),
                &["a < b", "\u{1b}x"],
                None,
            ),
            case("bpf", Status::Skip, Some("no BPF"), &[], None),
            case("old", Status::ExpectedFail, None, &[], None),
            case("late", Status::Error, Some("guest panicked"), &[], Some(2.0)),
            case("odd", Status::Flaky, None, &[], None),
            case("never", Status::NotRun, None, &[], None),
        ],
        notes: vec!["kvm hangs here".into()],
        files: vec!["console.log".into()],
        ..Suite::default()
    };
    suite.fact("kernel", "6.12.117");
    Summary { title: "test-vm demo".into(), suites: vec![suite] }
}

#[test]
fn counts_and_verdict() {
    let s = sample();
    assert_eq!(s.counts(), Counts { passed: 2, failed: 4, skipped: 1 });
    assert!(!s.held());
    assert!(!Summary::default().held(), "nothing checked is nothing held");
    let mut good = s;
    good.suites[0].cases.retain(|c| c.status.is_good());
    assert!(good.held());
}

#[test]
fn junit_has_every_case_and_no_control_characters() {
    let xml = sample().junit().unwrap();
    assert!(xml.chars().all(|c| !c.is_control() || c == '\n'), "{xml}");
    for part in [
        "<testsuites name=\"test-vm demo\" tests=\"7\" skipped=\"2\" failures=\"2\" errors=\"2\">",
        "classname=\"demo on 6.12, x86_64: gro\" time=\"1.500\"",
        "name=\"gro/&lt;script&gt;\"",
        "message=\"1 &amp; 2 differ\"",
        "<skipped message=\"no BPF\"/>",
        "<property name=\"kernel\" value=\"6.12.117\"/>",
    ] {
        assert!(xml.contains(part), "{part}\n{xml}");
    }
}

#[test]
fn html_is_whole_and_escaped() {
    let html = sample().html().unwrap();
    assert!(html.contains("gro/&lt;script&gt;") && !html.contains("<script>"), "{html}");
    assert!(html.contains("2 passed, 4 failed, 1 skipped") && html.ends_with("</html>\n"));
}

#[test]
fn json_has_the_form_and_the_counts() {
    let json = sample().json().unwrap();
    assert_eq!(json["form"], "kseries-test-results/1");
    assert_eq!(json["counts"]["failed"], 4);
    assert_eq!(json["suites"][0]["cases"][5]["status"], "flaky");
}

#[test]
fn text_ends_with_the_counts() {
    let mut out = Vec::new();
    sample().write_text(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with("\n2 passed, 4 failed, 1 skipped\n"), "{text}");
    assert!(text.contains("1 & 2"));
}
