//! What a user may name as a base, and the short label that stands for it in
//! paths.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::tree::known::{Known, Origin};

/// A base as it was asked for, with its meaning found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseSpec {
    /// What was asked for.
    pub asked: String,
    /// The short name that stands for it in paths: `6.12`, `net-next`.
    pub label: String,
    /// Where it comes from.
    pub origin: Origin,
    /// It was asked for by a known name, which nothing else is called.
    pub known: bool,
}

/// The forms, for messages.
pub const FORMS: &str = "a known name, CLONE[@REV], URL[#REV] of a git repository, \
path or URL of a tarball, or debian:PACKAGE[/SUITE]";

impl BaseSpec {
    /// Finds out what `text` means: a known name first, then by its form.
    ///
    /// # Errors
    /// When it is none of the forms; says the nearest known names.
    pub fn parse(text: &str, known: &Known) -> Result<BaseSpec> {
        let spec = |label: String, origin| {
            let label = clean(&label);
            let asked = text.to_owned();
            Ok(BaseSpec { asked, label, origin, known: false }.apart_from(known))
        };
        if let Some(origin) = known.get(text) {
            let (label, origin) = (clean(text), origin.clone());
            return Ok(BaseSpec { asked: text.to_owned(), label, origin, known: true });
        }
        if let Some(rest) = text.strip_prefix("debian:") {
            let (package, suite) = match rest.split_once('/') {
                Some((package, suite)) => (package, Some(suite.to_owned())),
                None => (rest, None),
            };
            check_debian(text, package, suite.as_deref())?;
            let version = package.strip_prefix("linux-source-").unwrap_or(package);
            let exact = suite.is_some();
            let origin = Origin::Debian { package: package.to_owned(), suite, exact };
            return spec(format!("debian-{version}"), origin);
        }
        if is_url(text) {
            let (url, rev) = match text.split_once('#') {
                Some((url, rev)) => (url, Some(rev.to_owned()).filter(|r| !r.is_empty())),
                None => (text, None),
            };
            let name = archive_stem(url.rsplit('/').next().unwrap_or(url));
            if let (Some(stem), None) = (name, &rev) {
                return spec(stem.to_owned(), Origin::ArchiveUrl { url: url.to_owned() });
            }
            let stem = url.trim_end_matches('/').trim_end_matches(".git");
            let stem = stem.rsplit(['/', ':']).next().unwrap_or(stem);
            let label = join_label(stem, rev.as_deref());
            return spec(label, Origin::Git { url: url.to_owned(), branch: rev });
        }
        if let Some((path, rev)) = existing_dir(text) {
            let full = std::fs::canonicalize(&path).unwrap_or(path);
            let name = full.file_name().map(|n| n.to_string_lossy().into_owned());
            let label = join_label(&name.unwrap_or_default(), rev.as_deref());
            return spec(label, Origin::Clone { path: full, rev });
        }
        let path = expand_home(text);
        if path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let stem = archive_stem(&name).unwrap_or(&name).to_owned();
            let full = std::fs::canonicalize(&path).unwrap_or(path);
            return spec(stem, Origin::Archive { path: full });
        }
        let error = Error::usage(format!("no base \"{}\"", text.escape_debug()));
        if text.contains('/') || archive_stem(text).is_some() {
            return Err(error
                .found("there is no file or folder of this name")
                .hint(format!("name {FORMS}")));
        }
        let near = known.nearest(text);
        let error = match near.as_slice() {
            [] => error,
            near => error.found(format!("nearest: {}", near.join(", "))),
        };
        Err(error
            .hint(format!("known: {}", known.names().join(", ")))
            .hint(format!("or name {FORMS}")))
    }

    /// With another label where a known base has this one: a clone in a folder
    /// `6.12` is not the base 6.12.
    fn apart_from(mut self, known: &Known) -> BaseSpec {
        if known.get(&self.label).is_some() {
            self.label = self.key();
        }
        self
    }

    /// What the record of an imported base is kept under: the label for a reader,
    /// and a hash of the origin, so that two bases never share one.
    #[must_use]
    pub fn key(&self) -> String {
        with_hash(&self.label, &format!("{:?}", self.origin))
    }
}

/// A label that is told apart from the same one of something else.
pub(super) fn with_hash(label: &str, what: &str) -> String {
    use sha1::{Digest as _, Sha1};
    let hash = Sha1::digest(what);
    let short: String = hash.iter().take(4).map(|b| format!("{b:02x}")).collect();
    format!("{label}-{short}")
}

fn join_label(name: &str, rev: Option<&str>) -> String {
    match rev {
        Some(rev) if name.is_empty() => rev.to_owned(),
        Some(rev) => format!("{name}@{rev}"),
        None => name.to_owned(),
    }
}

/// A label as it may stand in a path, an object folder's name and a ref: letters,
/// digits and a few marks. (make takes neither blanks nor colons in `O=`.)
fn clean(label: &str) -> String {
    let mut out: String = label
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-@+".contains(c) { c } else { '-' })
        .take(80)
        .collect();
    while out.contains("..") {
        out = out.replace("..", ".");
    }
    let trimmed = out.trim_matches(['.', '-', '@']).trim_end_matches(".lock");
    if trimmed.is_empty() { "base".to_owned() } else { trimmed.to_owned() }
}

/// `x://…`, or scp's `user@host:path` where no such file exists.
fn is_url(text: &str) -> bool {
    if let Some((scheme, _)) = text.split_once("://") {
        return !scheme.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    }
    match text.split_once(':') {
        Some((host, path)) => {
            host.contains('@')
                && !host.contains('/')
                && !path.is_empty()
                && !Path::new(text).exists()
        }
        None => false,
    }
}

/// The name without the ending of an archive.
fn archive_stem(name: &str) -> Option<&str> {
    const ENDS: [&str; 11] = [
        ".tar", ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tgz", ".txz", ".tzst", ".tbz2",
        ".tbz", ".deb",
    ];
    let end = ENDS.iter().filter(|e| name.ends_with(*e)).max_by_key(|e| e.len())?;
    name.strip_suffix(end).filter(|s| !s.is_empty())
}

/// Splits `PATH[@REV]`; either part may hold an `@`, so the longest PATH that is
/// a folder wins.
fn existing_dir(text: &str) -> Option<(PathBuf, Option<String>)> {
    let whole = expand_home(text);
    if whole.is_dir() {
        return Some((whole, None));
    }
    text.rmatch_indices('@').find_map(|(i, _)| {
        let (path, rev) = (text.get(..i)?, text.get(i + 1..)?);
        let dir = expand_home(path);
        (!path.is_empty() && !rev.is_empty() && dir.is_dir()).then(|| (dir, Some(rev.to_owned())))
    })
}

/// A path that may begin with `~/`.
pub(crate) fn expand_home(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(text),
    }
}

/// Package and suite go to apt as arguments: only what a name may have
/// (Debian policy 5.6.7), so that none is taken for an option or a pattern.
pub(crate) fn check_debian(asked: &str, package: &str, suite: Option<&str>) -> Result<()> {
    let good = |name: &str, also: &[u8]| {
        name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || also.contains(&b))
    };
    if good(package, b"+-.") && suite.is_none_or(|s| good(s, b"-./") && !s.contains("..")) {
        return Ok(());
    }
    Err(Error::usage(format!("base \"{}\"", asked.escape_debug()))
        .found("that is no name of a Debian package or suite")
        .hint("write debian:linux-source-6.12 or debian:linux-source-6.12/bookworm-security"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<BaseSpec> {
        BaseSpec::parse(text, &Known::embedded().unwrap())
    }

    #[test]
    fn forms_are_told_apart() {
        let t = tempfile::tempdir().unwrap();
        let p = |s: &str| t.path().join(s).to_str().unwrap().to_owned();
        std::fs::create_dir(p("a@b")).unwrap();
        std::fs::create_dir(p("linux")).unwrap();
        std::fs::write(p("linux-6.1.tar.xz"), "").unwrap();
        let clone = |path: &str, rev: Option<&str>| Origin::Clone {
            path: std::fs::canonicalize(p(path)).unwrap(),
            rev: rev.map(str::to_owned),
        };
        let git = |url: &str, branch: Option<&str>| Origin::Git {
            url: url.to_owned(),
            branch: branch.map(str::to_owned),
        };
        let cases = [
            (p("linux"), "linux", clone("linux", None)),
            (p("linux@v6.1"), "linux@v6.1", clone("linux", Some("v6.1"))),
            (p("linux@HEAD@{1}"), "linux@HEAD@-1", clone("linux", Some("HEAD@{1}"))),
            (p("a@b"), "a@b", clone("a@b", None)),
            (p("a@b@x/y"), "a@b@x-y", clone("a@b", Some("x/y"))),
            (
                "https://h/p/net.git#main".into(),
                "net@main",
                git("https://h/p/net.git", Some("main")),
            ),
            ("git@h:p/net.git".into(), "net", git("git@h:p/net.git", None)),
            (
                "https://h/linux-6.9.tar.xz".into(),
                "linux-6.9",
                Origin::ArchiveUrl { url: "https://h/linux-6.9.tar.xz".into() },
            ),
            (
                "debian:linux-source-6.12/sid".into(),
                "debian-6.12",
                Origin::Debian {
                    package: "linux-source-6.12".into(),
                    suite: Some("sid".into()),
                    exact: true,
                },
            ),
            (
                p("linux-6.1.tar.xz"),
                "linux-6.1",
                Origin::Archive { path: std::fs::canonicalize(p("linux-6.1.tar.xz")).unwrap() },
            ),
        ];
        for (text, label, origin) in cases {
            let spec = parse(&text).unwrap();
            assert_eq!((spec.label.as_str(), &spec.origin), (label, &origin), "{text}");
        }
    }

    #[test]
    fn unknown_names_say_the_nearest_and_the_list() {
        let e = parse("net-nxt").unwrap_err().to_string();
        assert!(
            e.contains("nearest: net-next") && e.contains("known: ") && e.contains("6.12"),
            "{e}"
        );
        for bad in
            ["", "no/such/dir", "x.tar.xz", "debian:-o", "debian:a b", "debian:x/../y", "\0", "@"]
        {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_folder_called_like_a_known_base_is_another_one() {
        let t = tempfile::tempdir().unwrap();
        let folder = t.path().join("6.12");
        std::fs::create_dir(&folder).unwrap();
        let clone = parse(folder.to_str().unwrap()).unwrap();
        assert!(clone.label.starts_with("6.12-") && clone.label.len() == 13, "{}", clone.label);
        let known = parse("6.12").unwrap();
        assert!(known.known && known.label == "6.12" && !clone.known);
    }

    #[test]
    fn labels_can_stand_in_paths_and_refs() {
        for (from, to) in
            [("a b:c", "a-b-c"), ("..", "base"), ("x..y", "x.y"), ("é", "base"), ("v6.lock", "v6")]
        {
            assert_eq!(clean(from), to);
        }
    }
}
