//! The bracketed prefix of a subject, and the file name of a mail.

use crate::error::{Error, Result};

/// What stands in the brackets, apart from the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// `PATCH`, `RFC`, `RFC/WIP PATCH`, …; empty leaves it out.
    pub word: String,
    /// The tree or list that it is meant for: `net-next`, `bpf-next`.
    pub list: Option<String>,
    /// The version; 1 is not written.
    pub version: u32,
    /// Puts `RFC ` before a word that does not begin with it.
    pub rfc: bool,
    /// Writes `RESEND`.
    pub resend: bool,
}

impl Default for Prefix {
    fn default() -> Prefix {
        Prefix { word: "PATCH".into(), list: None, version: 1, rfc: false, resend: false }
    }
}

impl Prefix {
    /// The words in their order: `RFC PATCH RESEND bpf-next v2`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        if self.rfc && !self.word.starts_with("RFC") {
            words.push("RFC".into());
        }
        words.push(self.word.trim().to_owned());
        if self.resend {
            words.push("RESEND".into());
        }
        words.extend(self.list.iter().map(|l| l.trim().to_owned()));
        if self.version > 1 {
            words.push(format!("v{}", self.version));
        }
        words.retain(|w| !w.is_empty());
        words.join(" ")
    }

    /// The brackets of mail `number` of `total` with the blank behind them; a
    /// `total` of 0 leaves the numbers out. The number has the width of the total.
    #[must_use]
    pub fn brackets(&self, number: usize, total: usize) -> String {
        let words = self.words();
        match (words.is_empty(), total) {
            (true, 0) => String::new(),
            (false, 0) => format!("[{words}] "),
            (bare, _) => {
                let width = total.to_string().len();
                let blank = if bare { "" } else { " " };
                format!("[{words}{blank}{number:0width$}/{total}] ")
            }
        }
    }

    /// Checks that the words keep the brackets whole.
    ///
    /// # Errors
    /// When a word has a bracket, a control character or something outside ASCII.
    pub fn validate(&self) -> Result<()> {
        let words = [Some(&self.word), self.list.as_ref()];
        for word in words.into_iter().flatten() {
            if word.chars().any(|c| !(' '..='~').contains(&c) || "[]".contains(c)) {
                return Err(Error::usage(format!(
                    "the subject prefix \"{}\"",
                    word.escape_debug()
                ))
                .found("a character that cannot stand inside the brackets of a subject")
                .hint("use plain ASCII without brackets, as in: RFC/WIP PATCH"));
            }
        }
        Ok(())
    }
}

/// The longest file name, as `git format-patch` cuts it.
const LONGEST_NAME: usize = 64;
const SUFFIX: &str = ".patch";

/// The file name of mail `number`: `0001-net-add-x.patch`, with `v2-` before it
/// when `version` is given. `line` is the first line of the commit message.
#[must_use]
pub fn file_name(number: usize, version: Option<u32>, line: &[u8]) -> String {
    let version = version.map(|v| format!("v{v}-")).unwrap_or_default();
    let mut name = format!("{version}{number:04}-{}", slug(line));
    name.truncate(LONGEST_NAME - SUFFIX.len() - 1);
    name + SUFFIX
}

/// Letters, digits, `.` and `_` of a line; all else becomes one `-`.
fn slug(line: &[u8]) -> String {
    let mut out = String::new();
    let mut gap = false;
    let mut chars = line.iter().peekable();
    while let Some(&c) = chars.next() {
        if !(c.is_ascii_alphanumeric() || c == b'.' || c == b'_') {
            gap = true;
            continue;
        }
        if gap && !out.is_empty() {
            out.push('-');
        }
        gap = false;
        out.push(char::from(c));
        while c == b'.' && chars.next_if_eq(&&b'.').is_some() {}
    }
    out.truncate(out.trim_end_matches(['.', '-']).len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets() {
        let prefix = |word: &str, list: Option<&str>, version, rfc, resend| Prefix {
            word: word.into(),
            list: list.map(Into::into),
            version,
            rfc,
            resend,
        };
        for (p, number, total, want) in [
            (prefix("PATCH", None, 1, false, false), 0, 0, "[PATCH] "),
            (prefix("RFC/WIP PATCH", None, 1, false, false), 0, 2, "[RFC/WIP PATCH 0/2] "),
            (
                prefix("PATCH", Some("net-next"), 2, false, false),
                2,
                10,
                "[PATCH net-next v2 02/10] ",
            ),
            (prefix("PATCH", None, 1, true, false), 1, 1000, "[RFC PATCH 0001/1000] "),
            (prefix("RFC", Some("bpf-next"), 3, true, false), 0, 3, "[RFC bpf-next v3 0/3] "),
            (prefix("PATCH", Some("net"), 1, false, true), 1, 2, "[PATCH RESEND net 1/2] "),
            (prefix("", None, 1, false, false), 1, 2, "[1/2] "),
            (prefix("", None, 1, false, false), 0, 0, ""),
        ] {
            assert_eq!(p.brackets(number, total), want);
        }
        assert!(prefix("PATCH]", None, 1, false, false).validate().is_err());
        assert!(prefix("PÄTCH", None, 1, false, false).validate().is_err());
    }

    #[test]
    fn file_names() {
        for (number, version, line, want) in [
            (1, None, "net: add x", "0001-net-add-x.patch"),
            (1000, None, "--a.. b--c.", "1000-a.-b-c.patch"),
            (12, Some(2), "Köpfe", "v2-0012-K-pfe.patch"),
            (3, None, "", "0003-.patch"),
        ] {
            assert_eq!(file_name(number, version, line.as_bytes()), want);
        }
        assert_eq!(file_name(1, None, &[b'a'; 100]).len(), 63);
    }
}
