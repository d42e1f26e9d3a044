//! Message ids and how the mails of a series refer to each other.

use sha2::{Digest as _, Sha256};

use git2::Oid;

/// The message ids of one series of mails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    stem: String,
    tail: String,
}

impl Ids {
    /// Ids that are unique to these commits in this version, and the same each
    /// time: `20241129-topic-v2-3-4f0e9a3b5c6d@host`.
    ///
    /// `topic` is the change id, or any name; characters that have no place in an
    /// id are left out. `host` comes from the sender's address.
    #[must_use]
    pub fn new(topic: &str, version: u32, commits: &[Oid], sender: &str) -> Ids {
        let mut hash = Sha256::new();
        hash.update(topic.as_bytes());
        hash.update([0]);
        hash.update(version.to_be_bytes());
        for commit in commits {
            hash.update(commit.as_bytes());
        }
        let digest: String = hash.finalize().iter().take(6).map(|b| format!("{b:02x}")).collect();
        let fits = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        let stem: String = topic.chars().filter(fits).collect();
        // The change id ends in random digits of its own; ours take their place.
        let stem = match stem.rsplit_once('-') {
            Some((head, tail))
                if tail.len() == 12 && tail.bytes().all(|c| c.is_ascii_hexdigit()) =>
            {
                head.to_owned()
            }
            _ => stem,
        };
        let stem = stem.trim_matches(['-', '.']);
        let stem = if stem.is_empty() { "series" } else { stem };
        let host: String =
            sender.rsplit('@').next().unwrap_or_default().chars().filter(fits).collect();
        let host = host.trim_matches('.');
        let host = if host.is_empty() { "localhost" } else { host };
        Ids { stem: format!("{stem}-v{version}"), tail: format!("{digest}@{host}") }
    }

    /// The id of mail `number` (0: the cover), without angle brackets.
    #[must_use]
    pub fn of(&self, number: usize) -> String {
        format!("{}-{number}-{}", self.stem, self.tail)
    }
}

/// Appends `Message-ID`, `In-Reply-To` and `References`; `above` are the ids
/// that the mail follows, the nearest last.
pub fn write(out: &mut Vec<u8>, id: &str, above: &[String]) {
    out.extend_from_slice(format!("Message-ID: <{id}>\n").as_bytes());
    let Some(nearest) = above.last() else { return };
    out.extend_from_slice(format!("In-Reply-To: <{nearest}>\n").as_bytes());
    let all: Vec<String> = above.iter().map(|id| format!("<{id}>")).collect();
    out.extend_from_slice(format!("References: {}\n", all.join("\n\t")).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_stable_and_unique() {
        let commits = [Oid::from_bytes(&[1; 20]).unwrap()];
        let other = [Oid::from_bytes(&[2; 20]).unwrap()];
        let ids =
            |topic, version, commits| Ids::new(topic, version, commits, "a@example.org").of(1);
        let one = ids("20241129-cpumap-gro-431ffd03aa5e", 1, &commits);
        assert_eq!(one, ids("20241129-cpumap-gro-431ffd03aa5e", 1, &commits));
        assert!(
            one.starts_with("20241129-cpumap-gro-v1-1-") && one.ends_with("@example.org"),
            "{one}"
        );
        for another in [
            ids("20241129-cpumap-gro-431ffd03aa5f", 1, &commits),
            ids("20241129-cpumap-gro-431ffd03aa5e", 2, &commits),
            ids("20241129-cpumap-gro-431ffd03aa5e", 1, &other),
        ] {
            assert_ne!(one, another);
        }
        assert!(Ids::new("<> ö", 1, &commits, "x").of(0).starts_with("series-v1-0-"));
    }

    #[test]
    fn references_name_all_above() {
        let mut out = Vec::new();
        write(&mut out, "c@x", &["a@x".into(), "b@x".into()]);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "Message-ID: <c@x>\nIn-Reply-To: <b@x>\nReferences: <a@x>\n\t<b@x>\n"
        );
    }
}
