//! What b4 keeps of a series it prepares: a cover letter, and tracking data as
//! JSON behind it, in an empty commit at the branch's beginning (or its tip), or
//! in the branch's description. Seen with b4 0.16.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::mail::Person;
use crate::recipients::address;

use super::cover;
use super::incoming::{Changed, Incoming};

/// The line between cover letter and tracking data.
const MARK: &str = "--- b4-submit-tracking ---";

/// Whether a commit message is that of a cover letter.
#[must_use]
pub fn is_cover(message: &str) -> bool {
    message.lines().any(|l| l == MARK)
}

/// Takes cover letter and tracking data of a cover commit's message.
///
/// # Errors
/// When the data are no JSON.
pub fn take(message: &str, incoming: &mut Incoming) -> Result<Option<String>> {
    let (text, data) = message.split_once(MARK).unwrap_or((message, ""));
    // A line of explanation stands before them.
    let json = data.find('{').and_then(|at| data.get(at..)).unwrap_or_default();
    take_parts(text, json, incoming)
}

/// As [`take`], with the two apart. Gives the branch that the series is based on,
/// where the data name it.
///
/// # Errors
/// As [`take`].
pub fn take_parts(text: &str, json: &str, incoming: &mut Incoming) -> Result<Option<String>> {
    let data: Value = serde_json::from_str(json).map_err(|e| {
        Error::usage("cannot read b4's tracking data")
            .found(e.to_string())
            .hint("b4 prep --show-info says what is wrong with the branch")
    })?;
    let series = data.get("series").unwrap_or(&Value::Null);
    let word = |key: &str| series.get(key).and_then(Value::as_str).map(str::to_owned);
    incoming.change_id = word("change-id");
    incoming.version =
        series.get("revision").and_then(Value::as_u64).and_then(|v| v.try_into().ok()).unwrap_or(1);
    let (mut prefix, mut list) = (vec!["PATCH"], Vec::new());
    for word in strings(series.get("prefixes")) {
        if word.eq_ignore_ascii_case("resend") {
            continue;
        }
        let capital = word.chars().all(|c| !c.is_ascii_lowercase());
        if capital { prefix.push(word) } else { list.push(word) }
    }
    incoming.prefix = (prefix.len() > 1).then(|| prefix.join(" "));
    incoming.list = (!list.is_empty()).then(|| list.join(" "));
    for word in strings(series.get("prerequisites")) {
        incoming.prerequisites.push(format!("prerequisite-{word}"));
    }
    let parsed = cover::parse(&own_words(text, incoming));
    let (title, body) = parsed.text.split_once('\n').unwrap_or((&parsed.text, ""));
    if title.starts_with("EDITME") {
        incoming.warnings.push("its cover letter has not been written yet".to_owned());
    }
    incoming.cover = Some((title.trim().to_owned(), body.trim_start_matches('\n').to_owned()));
    incoming.changelog.clone_from(&parsed.changelog);
    let history = series.get("history").and_then(Value::as_object);
    for (version, ids) in history.into_iter().flatten() {
        let number = version.strip_prefix('v').and_then(|v| v.parse::<u32>().ok());
        let (Some(version), Some(id)) = (number, strings(Some(ids)).last().copied()) else {
            continue;
        };
        let link = Some(format!("https://lore.kernel.org/r/{}", id.trim_matches(['<', '>'])));
        match incoming.changelog.iter_mut().find(|c| c.version == version) {
            Some(entry) => entry.link = entry.link.take().or(link),
            None => incoming.changelog.push(Changed { version, text: String::new(), link }),
        }
    }
    incoming.changelog.sort_by_key(|c| std::cmp::Reverse(c.version));
    Ok(word("base-branch"))
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The cover letter without the lines that b4 does not send: comments, and
/// recipients, which are kept apart.
fn own_words(text: &str, incoming: &mut Incoming) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix(">#") {
            // A heading is written like this, so as not to be a comment.
            Some(_) => lines.push(line.get(1..).unwrap_or_default()),
            None if line.starts_with('#') => {}
            None => lines.push(line),
        }
    }
    // Trailers are the last paragraph above the first separator.
    let end = lines.iter().position(|l| l.trim_end() == "---").unwrap_or(lines.len());
    let head = lines.get(..end).unwrap_or_default();
    let last = head.iter().rposition(|l| !l.trim().is_empty()).map_or(0, |l| l + 1);
    let first = head.get(..last).unwrap_or_default().iter().rposition(|l| l.trim().is_empty());
    let first = first.map_or(last, |l| l + 1);
    let mut kept = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let people = |key: &str| -> Option<Vec<Person>> {
            let (name, value) = line.split_once(':')?;
            (name.eq_ignore_ascii_case(key) && (first..last).contains(&i))
                .then(|| address::parse(value).people)
        };
        if let Some(to) = people("to") {
            incoming.to.extend(to);
        } else if let Some(cc) = people("cc") {
            incoming.cc.extend(cc);
        } else {
            kept.push(*line);
        }
    }
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_commit() {
        let message = "net: A topic\n\n# Describe it.\nWhy.\n\n>#Heading\n\nTo: A <a@x>\nCc: b@x, C <c@x>\nSigned-off-by: D <d@x>\n\n---\nChanges in v3:\n- three\n\n--- b4-submit-tracking ---\n# This section is used internally by b4 prep for tracking purposes.\n{\n  \"series\": {\n    \"revision\": 3,\n    \"change-id\": \"20241129-topic-431ffd03aa5e\",\n    \"prefixes\": [\"RFC\", \"net-next\"],\n    \"history\": { \"v1\": [\"one@x\"], \"v2\": [\"old@x\", \"two@x\"] },\n    \"prerequisites\": [\"change-id: 20241101-y-000000000000:v2\"]\n  }\n}\n";
        assert!(is_cover(message) && !is_cover("net: x\n\nNo.\n"));
        let mut incoming = Incoming::default();
        take(message, &mut incoming).unwrap();
        let (title, body) = incoming.cover.unwrap();
        assert_eq!(
            (title.as_str(), body.as_str()),
            ("net: A topic", "Why.\n\n#Heading\n\nSigned-off-by: D <d@x>\n")
        );
        assert_eq!(
            (incoming.version, incoming.prefix.as_deref(), incoming.list.as_deref()),
            (3, Some("PATCH RFC"), Some("net-next"))
        );
        assert_eq!((incoming.to.len(), incoming.cc.len()), (1, 2));
        assert_eq!(incoming.prerequisites, ["prerequisite-change-id: 20241101-y-000000000000:v2"]);
        let log: Vec<_> =
            incoming.changelog.iter().map(|c| (c.version, &*c.text, c.link.as_deref())).collect();
        assert_eq!(
            log,
            [
                (3, "- three", None),
                (2, "", Some("https://lore.kernel.org/r/two@x")),
                (1, "", Some("https://lore.kernel.org/r/one@x"))
            ]
        );
        assert!(take("x\n--- b4-submit-tracking ---\n{", &mut Incoming::default()).is_err());
    }
}
