//! Addresses that the kernel's documents, or common sense, treat apart: the
//! stable list, addresses that go nowhere, and robots.

use super::Source;

/// The stable list.
const STABLE: &str = "stable@vger.kernel.org";

/// Robots that report and test. They are credited in trailers and read no mail,
/// or open a new case for every mail that reaches them. `*` stands for any text.
const ROBOTS: &[&str] = &[
    "lkp@intel.com",
    "*lkp@lists.01.org",
    "*lkp@lists.linux.dev",
    "kbuild-all@*",
    "kbuild@lists.01.org",
    "syzbot*@syzkaller.appspotmail.com",
    "syzbot@kernel.org",
    "syzbot+*@*",
    "bot@kernelci.org",
    "hulkci@huawei.com",
    "hulkrobot@huawei.com",
    "abaci@linux.alibaba.com",
    "zealci@zte.com.cn",
    "patchwork-bot*@kernel.org",
    "tip-bot*@*",
    "noreply@*",
    "no-reply@*",
    "*@users.noreply.github.com",
    "dependabot*@*",
];

/// Why an address from `source` must not stand in a header; `None` when it may.
/// `backport` says that the series is meant for the stable list itself.
#[must_use]
pub fn why_not(email: &str, source: &Source, backport: bool) -> Option<&'static str> {
    let email = email.to_ascii_lowercase();
    if email == STABLE && !backport && !source.is_trailer() {
        return Some(
            "stable takes a patch by a \"Cc: stable@vger.kernel.org\" trailer in its sign-off area, \
             not by a header alone (Documentation/process/stable-kernel-rules.rst)",
        );
    }
    if goes_nowhere(&email) {
        return Some(
            "a mark for the stable team; mail to it is not delivered \
             (Documentation/process/stable-kernel-rules.rst)",
        );
    }
    if ROBOTS.iter().any(|pattern| matches(pattern, &email)) {
        return Some("a robot that is credited but reads no mail");
    }
    None
}

/// Whether it is the stable list.
#[must_use]
pub fn is_stable_list(email: &str) -> bool {
    email.eq_ignore_ascii_case(STABLE)
}

/// `stable@kernel.org` and `stable+REASON@kernel.org`: null addresses that mark
/// a patch without mailing anyone.
#[must_use]
pub fn goes_nowhere(email: &str) -> bool {
    let email = email.to_ascii_lowercase();
    match email.strip_suffix("@kernel.org") {
        Some(user) => user == "stable" || user.starts_with("stable+"),
        None => false,
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut open = false;
    for part in parts {
        open = part.is_empty();
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.is_empty() || open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipients::Source;

    #[test]
    fn addresses_apart() {
        let trailer = Source::Trailer { key: "Cc".into(), patch: "p".into() };
        for (email, from_trailer, elsewhere) in [
            ("stable@vger.kernel.org", true, false),
            ("Stable@vger.kernel.org", true, false),
            ("stable@kernel.org", false, false),
            ("stable+noautosel@kernel.org", false, false),
            ("lkp@intel.com", false, false),
            ("syzbot+0123@syzkaller.appspotmail.com", false, false),
            ("patchwork-bot+netdevbpf@kernel.org", false, false),
            ("oliver.sang@intel.com", true, true),
            ("netdev@vger.kernel.org", true, true),
            ("stable-fan@example.org", true, true),
            ("syzkaller-bugs@googlegroups.com", true, true),
        ] {
            assert_eq!(why_not(email, &trailer, false).is_none(), from_trailer, "{email}");
            let listed = why_not(email, &Source::SeriesCc, false).is_none();
            assert_eq!(listed, elsewhere, "{email}");
        }
        assert!(why_not("stable@vger.kernel.org", &Source::SeriesTo, true).is_none());
    }

    #[test]
    fn patterns() {
        for (pattern, text, want) in [
            ("a@b", "a@b", true),
            ("a@b", "a@bc", false),
            ("a*@b", "axx@b", true),
            ("*@b", "x@b", true),
            ("a@*", "a@b", true),
            ("a@*", "ba@b", false),
            ("a*b*", "axbx", true),
        ] {
            assert_eq!(matches(pattern, text), want, "{pattern} {text}");
        }
    }
}
