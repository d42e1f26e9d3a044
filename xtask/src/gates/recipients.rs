//! Everyone whom `get_maintainer.pl` names gets the series, and every file that
//! is touched has someone.

use super::maintainers::{folder_in, sections_of};
use super::{Finding, Gate, Row, Submission};
use crate::error::Result;
use crate::recipients::{Header, Recipients, Source};

/// One row for the series.
///
/// # Errors
/// When the base cannot be read.
pub fn check(s: &Submission, recipients: &Recipients) -> Result<Vec<Row>> {
    let mut found = Vec::new();
    let maintainer = |source: &Source| matches!(source, Source::Maintainer { .. });
    if recipients.of(Header::To).is_empty() {
        found.push(Finding::new("no-to", None, "nobody is in To: no maintainer was found"));
    }
    let lists = recipients.all.iter().filter(|r| {
        r.sources.iter().any(|s| matches!(s, Source::Maintainer { role } if role.contains("list")))
    });
    // The kernel's own list is everyone's, so it is nobody's.
    if !lists.clone().any(|r| r.person.email != "linux-kernel@vger.kernel.org") {
        found.push(Finding::new("no-list", None, "no subsystem's mailing list is among them"));
    }
    for left in &recipients.left_out {
        let told = format!("{}: {} ({})", left.address, left.why, left.source.words());
        let finding = if left.why.starts_with("no mail address") {
            Finding::new("no-address", None, told)
        } else if left.why.starts_with("stable takes") {
            Finding::new("stable-by-header", None, told)
        } else if maintainer(&left.source) && left.why != "the sender" {
            Finding::note("left-out", None, told)
        } else {
            continue;
        };
        found.push(finding);
    }
    let sections = sections_of(s.repo, s.base_tree)?;
    let mut paths: Vec<&str> = Vec::new();
    for p in &s.patches {
        for c in &p.changes {
            // New files are the maintainers gate's.
            let old = super::submission::file(s.repo, s.base_tree, &c.old_path)?.is_some();
            if old && !paths.contains(&c.old_path.as_str()) {
                paths.push(&c.old_path);
            }
        }
    }
    let tree = s.repo.find_tree(s.base_tree)?;
    for path in paths {
        // MAINTAINERS itself, MAINTAINERS' siblings at the top: THE REST's.
        let owned =
            sections.iter().any(|m| !m.is_the_rest() && m.covers(path, &|p| folder_in(&tree, p)));
        if !owned && path.contains('/') {
            let why = "no section of MAINTAINERS but THE REST: who should take it?";
            found.push(Finding::note("unowned-file", Some(path.to_owned()), why));
        }
    }
    let detail =
        format!("{} to, {} cc", recipients.of(Header::To).len(), recipients.of(Header::Cc).len());
    Ok(vec![Row::of(Gate::Recipients, "series", detail, found)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::testing::Repo;
    use crate::mail::Person;
    use crate::recipients::{Input, collect};

    #[test]
    fn who_is_missing() {
        let r = Repo::new();
        let maintainers = "NET\nM:\tD <d@x>\nS:\tMaintained\nF:\tnet/\n";
        let files = [("MAINTAINERS", maintainers), ("net/a.c", "1\n"), ("lib/b.c", "1\n")];
        let after = [("MAINTAINERS", maintainers), ("net/a.c", "2\n"), ("lib/b.c", "1\n")];
        let both = [("MAINTAINERS", maintainers), ("net/a.c", "2\n"), ("lib/b.c", "2\n")];
        let message = "net: x\n\nSigned-off-by: Jane Hacker <jane@example.org>\n";
        let d = (Person::new("D", "d@x"), "maintainer:NET".to_owned());
        let list = (Person::new("", "netdev@x"), "open list:NET".to_owned());
        let lkml = (Person::new("", "linux-kernel@vger.kernel.org"), "open list".to_owned());
        for (maintainers, to, after, want) in [
            (vec![d.clone(), list.clone()], vec![], after, &[][..]),
            (vec![d.clone(), lkml.clone()], vec![], after, &["no-list"]),
            (vec![list.clone(), lkml], vec![], after, &["no-to"]),
            (vec![], vec![], after, &["no-to", "no-list"]),
            (vec![d.clone(), list.clone()], vec!["Nobody"], after, &["no-address"]),
            (
                vec![d.clone(), list.clone()],
                vec!["stable@vger.kernel.org"],
                after,
                &["stable-by-header"],
            ),
            (vec![d, list], vec![], both, &["unowned-file"]),
        ] {
            let s = r.submission(&files, &[("p", message, &after)]);
            let input = Input {
                maintainers,
                to: to.iter().map(|&t| t.to_owned()).collect(),
                ..Input::default()
            };
            let rows = check(&s, &collect(&input).unwrap()).unwrap();
            let rules: Vec<&str> = rows[0].findings.iter().map(|f| f.rule.as_str()).collect();
            assert_eq!(rules, want);
        }
    }
}
