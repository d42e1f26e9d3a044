//! Kernel versions as series files compare them: "5.12", "6.1.192".

use std::fmt;
use std::str::FromStr;

/// A kernel version; a release candidate counts as its release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// VERSION.
    pub major: u32,
    /// PATCHLEVEL.
    pub minor: u32,
    /// SUBLEVEL.
    pub patch: u32,
}

impl Version {
    /// A version of its three numbers.
    #[must_use]
    pub fn new(major: u32, minor: u32, patch: u32) -> Version {
        Version { major, minor, patch }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.patch > 0 { write!(f, ".{}", self.patch) } else { Ok(()) }
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(s: &str) -> Result<Version, String> {
        let bad = || format!("\"{s}\" is no kernel version such as \"6.12\" or \"6.1.192\"");
        let mut numbers = s.split('.').map(|n| {
            // "+6" and " 6" parse as numbers elsewhere, and are none here.
            if n.bytes().all(|b| b.is_ascii_digit()) { n.parse().ok() } else { None }
        });
        let major = numbers.next().flatten().ok_or_else(bad)?;
        let minor = numbers.next().flatten().ok_or_else(bad)?;
        let patch = match numbers.next() {
            None => 0,
            Some(n) => n.ok_or_else(bad)?,
        };
        if numbers.next().is_some() { Err(bad()) } else { Ok(Version { major, minor, patch }) }
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn parse_order_and_display() {
        let v = |s: &str| s.parse::<Version>().unwrap();
        assert!(v("5.12") < v("6.1") && v("6.1") < v("6.1.192") && v("6.2") < v("6.12"));
        assert_eq!(v("6.12").to_string(), "6.12");
        assert_eq!(v("6.1.192").to_string(), "6.1.192");
        for bad in ["", "6", "6.", "6.x", "6.1.2.3", "+6.1", "6.1-rc1", "99999999999.1"] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }
}
