//! The text of a cover letter, or of the notes below a patch: what its author
//! wrote, apart from what tools put there (shortlog, diffstat, tracking lines).

use std::collections::BTreeMap;

use crate::tree::Oid;

use super::incoming::Changed;

/// A cover letter taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// What its author wrote.
    pub text: String,
    /// What changed in which version, newest first.
    pub changelog: Vec<Changed>,
    /// `base-commit:`.
    pub base_commit: Option<Oid>,
    /// `change-id:`.
    pub change_id: Option<String>,
    /// `prerequisite-…:` lines.
    pub prerequisites: Vec<String>,
}

/// Takes the text below the headers apart.
#[must_use]
pub fn parse(text: &str) -> Cover {
    let mut cover = Cover::default();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        if !cover.tracking(line) {
            lines.push(line);
        }
    }
    if let Some(end) = lines.iter().rposition(|l| *l == "--") {
        lines.truncate(end);
    }
    let begin = shortlog(&lines).unwrap_or(lines.len());
    let (own, tail) = lines.split_at(begin.min(lines.len()));
    // Some write their changelog below the diffstat.
    let tail = match tail.iter().rposition(|l| sums_up(l)) {
        Some(end) => tail.get(end..).unwrap_or_default(),
        None => &[],
    };
    let ranges =
        tail.iter().position(|l| l.starts_with("Range-diff") || l.starts_with("Interdiff"));
    let tail = tail.get(..ranges.unwrap_or(tail.len())).unwrap_or_default();
    let mut links = BTreeMap::new();
    let mut kept = changes(&without_diffstat(own), &mut cover.changelog, &mut links);
    let rest = tidied(&changes(&without_diffstat(tail), &mut cover.changelog, &mut links));
    kept = tidied(&kept);
    if !rest.is_empty() {
        kept.push(String::new());
        kept.extend(rest);
    }
    cover.text = kept.iter().map(|l| format!("{l}\n")).collect();
    for (version, link) in links {
        match cover.changelog.iter_mut().find(|c| c.version == version) {
            Some(entry) => entry.link = Some(link),
            None => {
                let text = String::new();
                cover.changelog.push(Changed { version, text, link: Some(link) });
            }
        }
    }
    cover.changelog.sort_by_key(|c| std::cmp::Reverse(c.version));
    cover.changelog.dedup_by_key(|c| c.version);
    cover
}

impl Cover {
    /// Takes a tracking line; false when it is none.
    fn tracking(&mut self, line: &str) -> bool {
        let Some((key, value)) = line.split_once(": ") else { return false };
        let value = value.trim();
        if value.is_empty() || value.contains(char::is_whitespace) {
            return false;
        }
        match key {
            "base-commit" => match value.parse::<Oid>() {
                Ok(id) if value.len() == 40 => self.base_commit = Some(id),
                _ => return false,
            },
            "change-id" => self.change_id = Some(value.to_owned()),
            "prerequisite-change-id" | "prerequisite-message-id" | "prerequisite-patch-id" => {
                self.prerequisites.push(line.to_owned());
            }
            _ => return false,
        }
        true
    }
}

/// Where the list of authors and subjects begins: `Joe Doe (2):`, and so many
/// indented lines at least.
fn shortlog(lines: &[&str]) -> Option<usize> {
    lines.iter().enumerate().position(|(i, line)| {
        let count = line.strip_suffix("):").and_then(|l| l.rsplit_once(" ("));
        let Some(count) = count.and_then(|(_, n)| n.parse::<usize>().ok()) else { return false };
        let below = lines.get(i + 1..).unwrap_or_default();
        count > 0
            && !line.starts_with(' ')
            && below.iter().take_while(|l| l.starts_with("  ")).count() >= count
    })
}

/// ` 2 files changed, 3 insertions(+)`.
fn sums_up(line: &str) -> bool {
    line.strip_prefix(' ').and_then(|l| l.split_once(' ')).is_some_and(|(count, rest)| {
        count.parse::<u32>().is_ok()
            && (rest.starts_with("file changed") || rest.starts_with("files changed"))
    })
}

fn without_diffstat<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    if !lines.iter().any(|l| sums_up(l)) {
        return lines.to_vec();
    }
    let is_stat = |line: &str| {
        let Some(rest) = line.strip_prefix(' ') else { return false };
        let counted = rest.split_once(" | ").is_some_and(|(_, count)| {
            let count = count.trim_start();
            count.starts_with(|c: char| c.is_ascii_digit()) || count.starts_with("Bin")
        });
        let words =
            ["create mode ", "delete mode ", "mode change ", "rename ", "copy ", "rewrite "];
        counted || sums_up(line) || words.iter().any(|w| rest.starts_with(w))
    };
    lines.iter().copied().filter(|l| !is_stat(l)).collect()
}

/// Takes the `Changes in vN:` sections out; gives what is left.
fn changes(
    lines: &[&str],
    changelog: &mut Vec<Changed>,
    links: &mut BTreeMap<u32, String>,
) -> Vec<String> {
    let mut kept = Vec::new();
    let mut open: Option<Changed> = None;
    for line in lines {
        if let Some(version) = heading(line) {
            changelog.extend(open.take().map(closed));
            open = Some(Changed { version, ..Changed::default() });
            continue;
        }
        if let Some((version, link)) = link(line) {
            links.entry(version).or_insert(link);
            continue;
        }
        let item = line.is_empty() || line.starts_with([' ', '\t', '-', '*', '+', '•']);
        match &mut open {
            Some(section) if item && *line != "---" => {
                section.text.push_str(line);
                section.text.push('\n');
            }
            _ => {
                changelog.extend(open.take().map(closed));
                kept.push((*line).to_owned());
            }
        }
    }
    changelog.extend(open.map(closed));
    kept
}

fn closed(mut section: Changed) -> Changed {
    section.text = section.text.trim_matches('\n').to_owned();
    section
}

/// `Changes in v2:`, `Changes since v1:`, `v1 -> v2:`: the version that has them.
fn heading(line: &str) -> Option<u32> {
    let line = line.trim_end_matches(':').trim_end();
    let number = |text: &str| text.trim().strip_prefix(['v', 'V'])?.parse::<u32>().ok();
    if let Some(rest) =
        line.strip_prefix("Changes in ").or_else(|| line.strip_prefix("Changes for "))
    {
        return number(rest);
    }
    if let Some(rest) =
        line.strip_prefix("Changes since ").or_else(|| line.strip_prefix("Changes from "))
    {
        return number(rest)?.checked_add(1);
    }
    let (old, new) = line.split_once("->").or_else(|| line.split_once("=>"))?;
    number(old)?;
    number(new)
}

/// `- Link to v1: https://…`.
fn link(line: &str) -> Option<(u32, String)> {
    let rest = line.trim_start_matches(['-', '*', ' ', '\t']);
    let (version, link) = rest.strip_prefix("Link to v")?.split_once(':')?;
    let link = link.trim();
    (!link.is_empty() && !link.contains(char::is_whitespace))
        .then_some((version.parse().ok()?, link.to_owned()))
}

/// Without blank lines and separators around.
fn tidied(lines: &[String]) -> Vec<String> {
    let idle = |l: &String| l.is_empty() || l == "---" || l == "Best regards,";
    let begin = lines.iter().position(|l| !idle(l)).unwrap_or(lines.len());
    let end = lines.iter().rposition(|l| !idle(l)).map_or(begin, |e| e + 1);
    let mut out: Vec<String> = Vec::new();
    for line in lines.get(begin..end).unwrap_or_default() {
        if !(line.is_empty() && out.last().is_some_and(String::is_empty)) {
            out.push(line.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_of_format_patch() {
        let cover = parse(
            "Why.\n\n - a\n - b\n\nJoe (a) Doe (2):\n  one\n  two\n    more\n\nX (1):\n  three\n\n a.c | 2 +-\n b/{c => d}.h | 1 -\n 2 files changed, 1 insertion(+)\n create mode 100644 x\n\n\nbase-commit: 0123456789012345678901234567890123456789\nprerequisite-patch-id: 0123456789012345678901234567890123456789\n-- \n2.47.3\n\n",
        );
        assert_eq!(cover.text, "Why.\n\n - a\n - b\n");
        assert_eq!(cover.base_commit.unwrap().to_string(), "0123456789".repeat(4));
        assert_eq!(cover.prerequisites.len(), 1);
    }

    #[test]
    fn a_cover_of_b4() {
        let cover = parse(
            "Why.\n\nSigned-off-by: A <a@b>\n\n---\nChanges in v3:\n- third\n  more\n- Link to v2: https://lore.kernel.org/r/two@x\n\nChanges in v2:\n- second\n- Link to v1: https://lore.kernel.org/r/one@x\n\n---\nA (1):\n      one\n\n a.c | 2 +-\n 1 file changed, 1 insertion(+)\n---\nbase-commit: 0123456789012345678901234567890123456789\nchange-id: 20241129-x-431ffd03aa5e\n\nBest regards,\n-- \nA <a@b>\n",
        );
        assert_eq!(cover.text, "Why.\n\nSigned-off-by: A <a@b>\n");
        assert_eq!(cover.change_id.as_deref(), Some("20241129-x-431ffd03aa5e"));
        let texts: Vec<_> =
            cover.changelog.iter().map(|c| (c.version, &*c.text, c.link.as_deref())).collect();
        assert_eq!(
            texts,
            [
                (3, "- third\n  more", None),
                (2, "- second", Some("https://lore.kernel.org/r/two@x")),
                (1, "", Some("https://lore.kernel.org/r/one@x")),
            ]
        );
    }

    #[test]
    fn texts_below_the_diffstat_and_around_changes_are_kept() {
        let cover = parse(
            "Why.\n\nJoe (1):\n  one\n\n a | 1 +\n 1 file changed\n\nv1 -> v2:\n - x\n\nThanks!\n\nRange-diff against v1:\n1: a\n",
        );
        assert_eq!(cover.text, "Why.\n\nThanks!\n");
        assert_eq!(cover.changelog[0].text, " - x");
        // What only looks like it stays.
        let text = "Results (3):\nfast\n\n a | b\nchange-id: two words\n\nChanges in vain:\n- x\n";
        assert_eq!(parse(text).text, text);
        assert_eq!(parse("").text, "");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_fall(lines in proptest::collection::vec(proptest::prop_oneof![
            "A \\([0-9]{1,2}\\):", "  one", " a \\| 2 \\+", " 1 file changed", "--", "---", "Changes in v[0-9]{1,12}:",
            "Changes since v4294967295", "- Link to v1: x", "base-commit: [0-9a-f]{38,40}", "", "Range-diff", "\\PC{0,20}",
        ], 0..30)) {
            let _ = parse(&lines.join("\n"));
        }
    }
}
