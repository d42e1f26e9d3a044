//! Sign-offs, `Fixes:`, `Link:` and `Cc: stable`, as
//! Documentation/process/submitting-patches.rst and stable-kernel-rules.rst
//! have them.

use std::sync::LazyLock;

use git2::Repository;
use regex::Regex;

use super::{Finding, Gate, Patch, Row, Submission};
use crate::error::Result;
use crate::recipients::trailer::{self, Trailer};
use crate::recipients::{address, rules};

/// One row a patch.
///
/// # Errors
/// When a message has a NUL byte.
pub fn check(s: &Submission) -> Result<Vec<Row>> {
    s.patches
        .iter()
        .map(|p| {
            let trailers = trailer::of(&p.message)?;
            let mut found = sign_offs(s, p, &trailers);
            found.extend(forms(s, &trailers));
            found.extend(outside(&p.message, &trailers));
            Ok(Row::of(Gate::Trailers, &p.name, "", found))
        })
        .collect()
}

fn sign_offs(s: &Submission, p: &Patch, trailers: &[Trailer]) -> Vec<Finding> {
    let mut found = Vec::new();
    let email =
        |t: &Trailer| address::parse(&t.value).people.first().map(|p| p.email.to_ascii_lowercase());
    let signed: Vec<String> =
        trailers.iter().filter(|t| t.is("Signed-off-by")).filter_map(email).collect();
    let author = p.author.email.to_ascii_lowercase();
    if !signed.contains(&author) {
        let why = format!("no Signed-off-by of the author, {}", p.author.verbatim());
        found.push(Finding::new("author-sign-off", None, why));
    }
    let sender = s.sender.email.to_ascii_lowercase();
    if signed.last() != Some(&sender) {
        let why =
            format!("the last Signed-off-by must be that of who sends it, {}", s.sender.verbatim());
        found.push(Finding::new("sender-sign-off", None, why));
    }
    for (i, t) in trailers.iter().enumerate().filter(|(_, t)| t.is("Co-developed-by")) {
        let next = trailers.get(i + 1).filter(|n| n.is("Signed-off-by"));
        if next.is_none_or(|n| email(n) != email(t)) {
            let why = format!("{}: their Signed-off-by must follow at once", t.value);
            found.push(Finding::new("co-developer-sign-off", None, why));
        }
        if email(t).as_ref() == Some(&author) {
            let why = format!("{} is the author already", t.value);
            found.push(Finding::new("co-developer-is-author", None, why));
        }
    }
    found
}

fn forms(s: &Submission, trailers: &[Trailer]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (i, t) in trailers.iter().enumerate() {
        let mut add = |rule: &str, why: String| {
            let told = format!("{}: {}: {why}", t.key, t.value);
            found.push(Finding::new(rule, None, told));
        };
        if trailers.iter().take(i).any(|o| o.is(&t.key) && o.value == t.value) {
            add("duplicate-trailer", "it stands there twice".into());
        }
        if t.names_people() {
            let parsed = address::parse(&t.value);
            for (piece, why) in parsed.broken {
                add("trailer-address", format!("\"{piece}\" is no address: {why}"));
            }
            let nowhere = parsed.people.iter().find(|p| rules::goes_nowhere(&p.email));
            let marks = nowhere.is_some_and(|p| p.email.contains('+'));
            if marks && !t.value.contains("# ") {
                add("stable-reason", "the reason must follow behind a \"# \"".into());
            }
        } else if t.is("Fixes") {
            found.extend(fixes(s.repo, s.base, &t.value));
        } else if (t.is("Link") || t.is("Closes")) && !is_url(&t.value) {
            add("link-form", "a URL is asked for".into());
        }
    }
    let stable = trailers.iter().find(|t| {
        t.is("Cc")
            && address::parse(&t.value).people.iter().any(|p| rules::is_stable_list(&p.email))
    });
    if let Some(t) = stable
        && !t.value.contains('#')
        && !trailers.iter().any(|t| t.is("Fixes"))
    {
        let why = "Cc: stable with neither Fixes: nor \"# VERSION\": how far back is it needed?";
        found.push(Finding::note("stable-range", None, why));
    }
    found
}

fn is_url(value: &str) -> bool {
    let url = value.split_whitespace().next().unwrap_or_default();
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|r| r.contains('.') && !r.starts_with('.'))
}

static FIXES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^([0-9a-f]+) \("(.+)"\)(\s+#.*)?$"#).ok());
/// Hex digits of an abbreviated id, at least.
const FIXES_DIGITS: usize = 12;

fn fixes(repo: &Repository, base: git2::Oid, value: &str) -> Vec<Finding> {
    let form = || {
        let why = format!("Fixes: {value}: the form is <12 or more hex digits> (\"subject\")");
        vec![Finding::new("fixes-form", None, why)]
    };
    let Some(groups) = FIXES.as_ref().and_then(|r| r.captures(value)) else { return form() };
    let (Some(id), Some(title)) = (groups.get(1), groups.get(2)) else { return form() };
    let (id, title) = (id.as_str(), title.as_str());
    if id.len() < FIXES_DIGITS || id.len() > 40 {
        return form();
    }
    let told =
        |rule: &str, why: String| vec![Finding::new(rule, None, format!("Fixes: {id}: {why}"))];
    match repo.find_commit_by_prefix(id) {
        Ok(commit) => {
            let subject = commit.summary_bytes().map(String::from_utf8_lossy).unwrap_or_default();
            if subject != title {
                return told("fixes-subject", format!("that commit is (\"{subject}\")"));
            }
            let at = commit.id();
            // A base with no history knows nothing of its ancestors.
            match repo.graph_descendant_of(base, at) {
                Ok(false) if at != base && has_history(repo, base) => {
                    told("fixes-not-in-base", "the base does not have that commit".into())
                }
                _ => Vec::new(),
            }
        }
        Err(e) if e.code() == git2::ErrorCode::Ambiguous => {
            told("fixes-ambiguous", "several commits begin so: give more digits".into())
        }
        Err(_) => {
            let why = "its commit is not at hand here, so its subject was not compared";
            vec![Finding::note("fixes-unseen", None, format!("Fixes: {id}: {why}"))]
        }
    }
}

fn has_history(repo: &Repository, base: git2::Oid) -> bool {
    repo.find_commit(base).is_ok_and(|c| c.parent_count() > 0) && !repo.is_shallow()
}

/// Lines that look like trailers and stand where git does not see them as such.
fn outside(message: &str, trailers: &[Trailer]) -> Vec<Finding> {
    const KEYS: &[&str] = &[
        "signed-off-by:",
        "reviewed-by:",
        "acked-by:",
        "tested-by:",
        "reported-by:",
        "suggested-by:",
        "co-developed-by:",
        "fixes:",
        "closes:",
        "cc:",
    ];
    let looks = |l: &str| {
        let l = l.to_ascii_lowercase();
        KEYS.iter().any(|k| l.starts_with(k))
    };
    let first = message.lines().count();
    let seen = trailers.len();
    // The trailers are the message's last lines, so what looks like one and is
    // not among the last lines is not seen. Continuation lines only widen that.
    let begin = if seen == 0 { first } else { last_block(message) };
    message
        .lines()
        .enumerate()
        .filter(|(i, l)| *i > 0 && *i < begin && looks(l))
        .map(|(i, l)| {
            let why = format!("\"{l}\" is outside of the last paragraph, so git sees no trailer");
            Finding::new("trailer-outside", Some(format!("message:{}", i + 1)), why)
        })
        .collect()
}

/// Number of the first line of the last paragraph, from 0.
fn last_block(message: &str) -> usize {
    let lines: Vec<&str> = message.trim_end().lines().collect();
    lines.iter().rposition(|l| l.trim().is_empty()).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::testing::{Repo, commit, tree};

    const SOB: &str = "Signed-off-by: Jane Hacker <jane@example.org>";

    fn rules_of(trailers: &str) -> Vec<String> {
        let r = Repo::new();
        let rows = check(&r.message(&format!("net: x\n\nBody.\n\n{trailers}\n"))).unwrap();
        rows.into_iter().flat_map(|r| r.findings).map(|f| f.rule).collect()
    }

    #[test]
    fn a_table_of_trailers() {
        let with = |t: &str| format!("{t}\n{SOB}");
        for (trailers, want) in [
            (SOB.to_owned(), &[][..]),
            ("Signed-off-by: J. H. <JANE@example.org>".into(), &[]),
            ("Cc: a@b".into(), &["author-sign-off", "sender-sign-off"]),
            (format!("{SOB}\nSigned-off-by: Other <o@x>"), &["sender-sign-off"]),
            (with("Co-developed-by: O <o@x>\nSigned-off-by: O <o@x>"), &[]),
            (with("Co-developed-by: O <o@x>"), &["co-developer-sign-off"]),
            (with("Co-developed-by: J <jane@example.org>"), &["co-developer-is-author"]),
            (with("Reviewed-by: Nobody"), &["trailer-address"]),
            (with("Reviewed-by: A <a@b>\nReviewed-by: A <a@b>"), &["duplicate-trailer"]),
            (with("Fixes: 0123456789ab (\"net: y\")"), &["fixes-unseen"]),
            (with("Fixes: 0123456789abcdef0123 (\"net: (y) \"z\"\")"), &["fixes-unseen"]),
            (with("Fixes: ?"), &["fixes-form"]),
            (with("Fixes: 01234567 (\"net: y\")"), &["fixes-form"]),
            (with("Fixes: 0123456789AB (\"net: y\")"), &["fixes-form"]),
            (with("Fixes: commit 0123456789ab (\"net: y\")"), &["fixes-form"]),
            (with("Fixes: 0123456789ab"), &["fixes-form"]),
            (with("Link: https://lore.kernel.org/r/x@y"), &[]),
            (with("Link: https://lore.kernel.org/r/x@y [1]"), &[]),
            (with("Link: <x@y>"), &["link-form"]),
            (with("Closes: bug 12"), &["link-form"]),
            (with("Cc: stable@vger.kernel.org # v5.10+"), &[]),
            (with("Cc: stable@vger.kernel.org"), &["stable-range"]),
            (
                with("Fixes: 0123456789ab (\"net: y\")\nCc: stable@vger.kernel.org"),
                &["fixes-unseen"],
            ),
            (with("Cc: <stable+noautosel@kernel.org> # needs more testing"), &[]),
            (with("Cc: <stable+noautosel@kernel.org>"), &["stable-reason"]),
            (with("Fixes: 0123456789ab (\"net: y\")\n"), &["trailer-outside"]),
            (
                format!("{SOB}\n\nPlain text."),
                &["author-sign-off", "sender-sign-off", "trailer-outside"],
            ),
        ] {
            assert_eq!(rules_of(&trailers), want, "{trailers}");
        }
    }

    #[test]
    fn a_fixes_tag_is_compared_with_the_commit_where_it_is_at_hand() {
        let r = Repo::new();
        let t = tree(&r.repo, &[("a", "0\n")]);
        let old = commit(&r.repo, t, None, "net: the bug\n");
        let base = commit(&r.repo, t, Some(old), "net: base\n");
        let other = commit(&r.repo, t, None, "net: elsewhere\n");
        let rules = |id: git2::Oid, title: &str| {
            let id = id.to_string();
            let found = fixes(&r.repo, base, &format!("{} (\"{title}\")", &id[..12]));
            found.into_iter().map(|f| f.rule).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(rules(old, "net: the bug"), "");
        assert_eq!(rules(base, "net: base"), "");
        assert_eq!(rules(old, "net: a bug"), "fixes-subject");
        assert_eq!(rules(other, "net: elsewhere"), "fixes-not-in-base");
    }
}
