//! What a subject says before its text: reply or not, prefix, version, number.

/// A subject taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// It answers or forwards another mail.
    pub reply: bool,
    /// Words of the brackets other than version and numbers: `RFC`, `PATCH`, `net-next`.
    pub words: Vec<String>,
    /// The version; 1 where none is given.
    pub version: u32,
    /// Number and total.
    pub number: Option<(usize, usize)>,
    /// It was sent before.
    pub resend: bool,
    /// What stands behind the brackets.
    pub text: String,
}

impl Subject {
    /// Whether the brackets say that it is a patch (or its cover letter).
    #[must_use]
    pub fn is_patch(&self) -> bool {
        !self.reply && self.is_tagged()
    }

    fn is_tagged(&self) -> bool {
        let word = |w: &String| w.split(['/', '-']).any(|p| ["PATCH", "RFC", "RFT"].contains(&p));
        self.number.is_some() || self.words.iter().any(word)
    }

    /// The words in capitals, without the bare `PATCH`; `None` when that is all.
    #[must_use]
    pub fn prefix(&self) -> Option<String> {
        let words: Vec<&str> =
            self.words.iter().map(String::as_str).filter(|w| is_prefix(w)).collect();
        let text = words.join(" ");
        (!text.is_empty() && text != "PATCH").then_some(text)
    }

    /// The other words: a tree or list.
    #[must_use]
    pub fn list(&self) -> Option<String> {
        let words: Vec<&str> =
            self.words.iter().map(String::as_str).filter(|w| !is_prefix(w)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

fn is_prefix(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_uppercase()) && !word.chars().any(|c| c.is_ascii_lowercase())
}

/// Takes a decoded Subject header apart.
#[must_use]
pub fn parse(subject: &str) -> Subject {
    let mut out = Subject { version: 1, ..Subject::default() };
    let mut rest = subject.trim();
    // What stands behind the brackets is the subject's own, even a "Re:".
    while !out.is_tagged() {
        let lower = rest.get(..4).unwrap_or(rest).to_ascii_lowercase();
        let answer = ["re:", "aw:", "sv:", "fw:", "fwd:"].iter().find(|a| lower.starts_with(*a));
        if let Some(answer) = answer {
            out.reply = true;
            rest = rest.get(answer.len()..).unwrap_or_default().trim_start();
            continue;
        }
        let Some((inside, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) else {
            break;
        };
        let mut one = Subject { version: 1, ..Subject::default() };
        inside.split(|c: char| c.is_whitespace() || c == ',').for_each(|w| word(&mut one, w));
        // Lists put their own name in brackets before the patch's; git drops those
        // as well.
        if one.is_tagged() {
            (out.words, out.version) = (one.words, one.version);
            (out.number, out.resend) = (one.number, one.resend);
        }
        rest = after.trim_start();
    }
    out.text = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    out
}

fn word(out: &mut Subject, word: &str) {
    if word.is_empty() {
        return;
    }
    if let Some((number, total)) = word.split_once('/')
        && let (Ok(number), Ok(total)) = (number.parse(), total.parse())
    {
        out.number = Some((number, total));
        return;
    }
    if let Some(version) = version(word) {
        out.version = version;
        return;
    }
    // Some write it together: PATCHv2.
    for glued in ["PATCH", "RFC"] {
        let tail = word.strip_prefix(glued).map(|t| t.trim_start_matches(['-', '_']));
        if let Some(version) = tail.and_then(version) {
            out.version = version;
            out.words.push(glued.to_owned());
            return;
        }
    }
    if word.eq_ignore_ascii_case("resend") {
        out.resend = true;
        return;
    }
    out.words.push(word.to_owned());
}

fn version(word: &str) -> Option<u32> {
    word.strip_prefix(['v', 'V'])?.parse().ok().filter(|v| (1..10_000).contains(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects() {
        for (subject, reply, prefix, list, version, number, text) in [
            ("[PATCH] net: x", false, None, None, 1, None, "net: x"),
            (
                "[PATCH bpf-next v2 01/10] net:\tx  y",
                false,
                None,
                Some("bpf-next"),
                2,
                Some((1, 10)),
                "net: x y",
            ),
            ("[RFC/WIP PATCH 0/2] x", false, Some("RFC/WIP PATCH"), None, 1, Some((0, 2)), "x"),
            ("Re: [RFC v3 1/1] x", true, Some("RFC"), None, 3, Some((1, 1)), "x"),
            ("[PATCHv4 2/3] [foo] x", false, None, None, 4, Some((2, 3)), "[foo] x"),
            ("[PATCH 1/2] Re: x", false, None, None, 1, Some((1, 2)), "Re: x"),
            ("[PATCH,v2,2/3] x", false, None, None, 2, Some((2, 3)), "x"),
            ("[netdev] [PATCH RESEND net] x", false, None, Some("net"), 1, None, "x"),
            ("AW: Fwd: [1/2] x", true, None, None, 1, Some((1, 2)), "x"),
            ("hello [PATCH] x", false, None, None, 1, None, "hello [PATCH] x"),
            ("[PATCH 6.1 2/2", false, None, None, 1, None, "[PATCH 6.1 2/2"),
        ] {
            let s = parse(subject);
            assert_eq!(
                (
                    s.reply,
                    s.prefix().as_deref(),
                    s.list().as_deref(),
                    s.version,
                    s.number,
                    &*s.text
                ),
                (reply, prefix, list, version, number, text),
                "{subject}"
            );
        }
        assert!(parse("[PATCH RESEND] x").resend && !parse("[bug] x").is_patch());
        assert!(parse("[RFC-PATCH 1] x").is_patch() && !parse("Re: [PATCH] x").is_patch());
    }

    proptest::proptest! {
        #[test]
        fn no_subject_makes_it_fall(subject in "(\\[|\\]|Re:|PATCH|v[0-9]{1,12}|[0-9]{1,30}/[0-9]|ß|[ ,])*") {
            let s = parse(&subject);
            proptest::prop_assert!(s.version >= 1);
        }
    }
}
