//! A kernel's version, as the top of its Makefile or a user says it.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// `6.12.117`, `7.2.0-rc3`. Ordered as releases are: a `-rc` comes before its
/// release, any other suffix after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct KernelVersion {
    /// VERSION.
    pub major: u32,
    /// PATCHLEVEL.
    pub minor: u32,
    /// SUBLEVEL.
    pub patch: u32,
    /// EXTRAVERSION, with its dash.
    pub extra: String,
}

impl KernelVersion {
    /// Reads the assignments at the top of a kernel's Makefile.
    #[must_use]
    pub fn from_makefile(makefile: &[u8]) -> Option<KernelVersion> {
        let (mut major, mut minor, mut patch, mut extra) = (None, None, None, String::new());
        // They are in the first lines; the rest of the file is long.
        for line in makefile.split(|&b| b == b'\n').take(20) {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let Some((name, value)) = line.split_once('=') else { continue };
            let value = value.trim();
            match name.trim_end() {
                "VERSION" => major = value.parse().ok(),
                "PATCHLEVEL" => minor = value.parse().ok(),
                "SUBLEVEL" => patch = value.parse().ok(),
                "EXTRAVERSION" => value.clone_into(&mut extra),
                _ => {}
            }
        }
        Some(KernelVersion { major: major?, minor: minor?, patch: patch?, extra })
    }

    /// The number of the `-rc`, when it is one.
    #[must_use]
    pub fn rc(&self) -> Option<u32> {
        let digits = self.extra.strip_prefix("-rc")?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits.get(..end)?.parse().ok()
    }
}

impl Ord for KernelVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |v: &KernelVersion| {
            let stage = match v.rc() {
                Some(n) => (0, n),
                None if v.extra.is_empty() => (1, 0),
                None => (2, 0),
            };
            (v.major, v.minor, v.patch, stage)
        };
        key(self).cmp(&key(other)).then_with(|| self.extra.cmp(&other.extra))
    }
}

impl PartialOrd for KernelVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}{}", self.major, self.minor, self.patch, self.extra)
    }
}

impl From<KernelVersion> for String {
    fn from(v: KernelVersion) -> String {
        v.to_string()
    }
}

impl TryFrom<String> for KernelVersion {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl FromStr for KernelVersion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        let (numbers, extra) = match bare.find('-') {
            Some(dash) => bare.split_at(dash),
            None => (bare, ""),
        };
        let parts: Option<Vec<u32>> = numbers
            .split('.')
            .map(|n| n.bytes().all(|b| b.is_ascii_digit()).then(|| n.parse().ok()).flatten())
            .collect();
        let (major, minor, patch) = match parts.as_deref() {
            Some(&[major, minor]) => (major, minor, 0),
            Some(&[major, minor, patch]) => (major, minor, patch),
            _ => {
                return Err(Error::usage(format!("kernel version \"{}\"", text.escape_default()))
                    .found("it has not the form 6.12, 6.12.3 or 7.2-rc1"));
            }
        };
        Ok(KernelVersion { major, minor, patch, extra: extra.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makefiles_and_texts_are_read() {
        let m = b"# SPDX-License-Identifier: GPL-2.0\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\nNAME = Baby\n";
        assert_eq!(KernelVersion::from_makefile(m).unwrap().to_string(), "6.12.117");
        let m = b"VERSION=7\nPATCHLEVEL=2\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n";
        assert_eq!(KernelVersion::from_makefile(m), Some("v7.2-rc3".parse().unwrap()));
        assert_eq!(KernelVersion::from_makefile(b"all:\n\tVERSION = 1\n"), None);
        for bad in ["", "6", "6.x", "6.1.2.3", "a6.1", "6.+1", "99999999999.1", "6..1"] {
            assert!(bad.parse::<KernelVersion>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_order_is_that_of_releases() {
        let sorted =
            ["5.10.262", "6.1", "6.1.192", "6.2-rc1", "6.2-rc10", "6.2", "6.2.0-1-amd64", "6.12"];
        let parsed: Vec<KernelVersion> = sorted.iter().map(|v| v.parse().unwrap()).collect();
        assert!(parsed.is_sorted(), "{parsed:?}");
    }
}
