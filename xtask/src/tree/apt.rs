//! Debian packages of kernel source, without root: asked of the system's own
//! apt when that knows the package, else through an apt state of our own in the
//! cache, with the suite that has it on the mirror that the system uses.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::{Error, IoContext, Result};
use crate::host::atomic;
use crate::host::paths::Dirs;
use crate::host::process::{Cmd, tail};
use crate::host::tools;
use crate::host::ui::Ui;
use crate::tree::download;
use crate::tree::known::Known;

/// Downloads the package, unless the cache has its newest version, and gives the
/// path of the `.deb`. With `exact`, only `suite` will do.
///
/// # Errors
/// When apt is missing, no source has the package, or it cannot be downloaded.
pub fn fetch(
    ui: &Ui,
    dirs: &Dirs,
    known: &Known,
    package: &str,
    suite: Option<&str>,
    exact: bool,
) -> Result<PathBuf> {
    let apt = tools::need("apt-get").map_err(|e| {
        e.context(format!("cannot get the Debian package {package}"))
            .hint("on a system without apt name a clone or a tarball as base")
    })?;
    let mut why = Vec::new();
    if !(exact && suite.is_some()) {
        match Apt::system(&apt).package(ui, dirs, package) {
            Ok(path) => return Ok(path),
            Err(e) if e.kind() == crate::error::Kind::Interrupted => return Err(e),
            Err(e) => why.push(format!("the system's own apt: {}", e.asked())),
        }
    }
    let private = Apt::private(ui, dirs, known, (&apt, Part::Binary), suite)?;
    private.package(ui, dirs, package).map_err(|mut e| {
        for line in why {
            e = e.found(line);
        }
        e.context(format!("cannot get the Debian package {package}"))
            .hint("name another suite as debian:PACKAGE/SUITE, or a clone or tarball as base")
    })
}

/// Downloads what Debian adds to a package's source, its patches among it, from
/// the newest version in `suite`, and gives the path of the `.debian.tar.xz`.
///
/// # Errors
/// When apt is missing, or the suite has no such source, or it cannot be downloaded.
pub fn fetch_patches(
    ui: &Ui,
    dirs: &Dirs,
    known: &Known,
    package: &str,
    suite: &str,
) -> Result<PathBuf> {
    let apt = tools::need("apt-get")?;
    let apt = Apt::private(ui, dirs, known, (&apt, Part::Patches), Some(suite))?;
    apt.package(ui, dirs, package)
}

/// What of a package is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The package itself.
    Binary,
    /// Of its source what Debian adds.
    Patches,
}

impl Part {
    /// How a line of sources.list begins.
    fn list(self) -> &'static str {
        match self {
            Part::Binary => "deb",
            Part::Patches => "deb-src",
        }
    }

    /// How the file's name ends.
    fn ending(self) -> &'static str {
        match self {
            Part::Binary => ".deb",
            Part::Patches => ".debian.tar.xz",
        }
    }

    /// apt-get's words for it.
    fn download(self) -> &'static [&'static str] {
        match self {
            Part::Binary => &["download"],
            Part::Patches => &["--diff-only", "--download-only", "source"],
        }
    }
}

/// apt with the system's state or one of our own.
struct Apt {
    program: PathBuf,
    config: Option<PathBuf>,
    part: Part,
}

/// What apt says of a package it can download.
#[derive(Debug, PartialEq, Eq)]
struct Candidate {
    file: String,
    size: u64,
    sha256: Option<String>,
}

impl Apt {
    fn system(program: &Path) -> Apt {
        Apt { program: program.to_owned(), config: None, part: Part::Binary }
    }

    fn cmd(&self) -> Cmd {
        let cmd = Cmd::new(&self.program).env("LC_ALL", "C");
        match &self.config {
            Some(config) => cmd.arg("-c").arg(config),
            None => cmd,
        }
    }

    /// An apt whose sources are the one suite on the system's mirror, or the
    /// system's own sources, with lists just updated.
    fn private(
        ui: &Ui,
        dirs: &Dirs,
        known: &Known,
        (program, part): (&Path, Part),
        suite: Option<&str>,
    ) -> Result<Apt> {
        let system = sources(program)?;
        let list = match suite {
            Some(suite) => vec![source_for(suite, &system, known)?],
            None if system.is_empty() => {
                return Err(Error::host("cannot get a Debian package")
                    .found("apt has no sources on this system"));
            }
            None => system,
        };
        let mut name = suite.unwrap_or("system").replace('/', "-");
        if part == Part::Patches {
            name.push_str("+source");
        }
        let state = dirs.cache().join("apt").join(name);
        for dir in ["lists/partial", "cache/archives/partial"] {
            let dir = state.join(dir);
            fs::create_dir_all(&dir).at("create folder", &dir)?;
        }
        let lines: String = list.iter().map(|s| s.line(part)).collect();
        atomic::write(&state.join("sources.list"), lines.as_bytes())?;
        let config = state.join("apt.conf");
        atomic::write(&config, config_text(&state)?.as_bytes())?;
        let apt = Apt { program: program.to_owned(), config: Some(config), part };
        let step = ui
            .step(format!("update the package list of {}", suite.unwrap_or("the system's suites")));
        let output = apt.cmd().args(["-q", "update"]).output()?;
        if !output.ok() {
            let error = Error::host(format!(
                "cannot read the package list of {}",
                suite.unwrap_or("Debian")
            ));
            return Err(error.found(tail(&output.stderr, 8)).hint(
                "check the name of the suite, the network, and that the package \
                 debian-archive-keyring is up to date",
            ));
        }
        step.done("done");
        Ok(apt)
    }

    /// The newest version of the package, checked, in the cache.
    fn package(&self, ui: &Ui, dirs: &Dirs, package: &str) -> Result<PathBuf> {
        let output =
            self.cmd().arg("--print-uris").args(self.part.download()).arg(package).output()?;
        let candidate =
            output.text().lines().find_map(|l| parse_uri(l, self.part)).filter(|_| output.ok());
        let Some(candidate) = candidate else {
            return Err(Error::host(format!("no Debian package {package}"))
                .found(first_line(&output.stderr)));
        };
        let dir = download::folder(dirs);
        fs::create_dir_all(&dir).at("create folder", &dir)?;
        let place = dir.join(&candidate.file);
        if place.is_file() {
            match check(&place, &candidate) {
                Ok(()) => return Ok(place),
                Err(e) => {
                    ui.warn(&format!("downloading it again: {e}"));
                    fs::remove_file(&place).at("remove", &place)?;
                }
            }
        }
        // apt writes the file under its own name and only then checks it, so it
        // works in a folder of its own; a killed one goes on there.
        let work = dir.join(".apt");
        fs::create_dir_all(&work).at("create folder", &work)?;
        let step = ui.step(format!("download {} ({} MiB)", candidate.file, candidate.size >> 20));
        let output = self
            .cmd()
            .args(["-q", "-o", "APT::Sandbox::User=root"])
            .args(self.part.download())
            .arg(package)
            .cwd(&work)
            .output()?;
        let got = work.join(&candidate.file);
        if !output.ok() || !got.is_file() {
            return Err(Error::host(format!("cannot download {}", candidate.file))
                .found(tail(&output.stderr, 6))
                .hint(format!("check the network, and the space in {}", dir.display())));
        }
        check(&got, &candidate)?;
        fs::rename(&got, &place).at("rename into place", &place)?;
        step.done("done");
        Ok(place)
    }
}

fn first_line(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr).lines().next().unwrap_or("it said nothing").to_owned()
}

/// Compares size and SHA-256 with what the signed package list says.
fn check(path: &Path, candidate: &Candidate) -> Result<()> {
    let bad = |why: String| Error::host(format!("{} is damaged", path.display())).found(why);
    let mut file = fs::File::open(path).at("open", path)?;
    let size = file.metadata().at("open", path)?.len();
    if size != candidate.size {
        return Err(bad(format!("it has {size} bytes, {} were expected", candidate.size)));
    }
    let Some(want) = &candidate.sha256 else { return Ok(()) };
    let mut sha = Sha256::new();
    std::io::copy(&mut file, &mut HashWriter(&mut sha)).at("read", path)?;
    let got: String = sha.finalize().iter().map(|b| format!("{b:02x}")).collect();
    if got == *want {
        Ok(())
    } else {
        Err(bad(format!("its SHA-256 is {got}, {want} was expected")))
    }
}

struct HashWriter<'h>(&'h mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.0.update(buf);
        Ok(buf.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A line of `--print-uris`: `'URI' FILE SIZE SHA256:HASH`.
fn parse_uri(line: &str, part: Part) -> Option<Candidate> {
    let mut words = line.strip_prefix('\'')?.split_once("' ")?.1.split(' ');
    let (file, size) = (words.next()?, words.next()?.parse().ok()?);
    if file.contains('/') || !file.ends_with(part.ending()) {
        return None;
    }
    let sha256 = words.next().and_then(|h| h.strip_prefix("SHA256:")).map(str::to_owned);
    Some(Candidate { file: file.to_owned(), size, sha256 })
}

/// One suite on one mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    uri: String,
    suite: String,
    component: String,
    signed_by: Option<String>,
}

impl Source {
    fn line(&self, part: Part) -> String {
        let options = self.signed_by.as_ref().map(|k| format!("[signed-by={k}] "));
        let options = options.unwrap_or_default();
        format!("{} {options}{} {} {}\n", part.list(), self.uri, self.suite, self.component)
    }
}

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The system's own sources, in whatever form they are written.
fn sources(apt: &Path) -> Result<Vec<Source>> {
    let output = Cmd::new(apt)
        .env("LC_ALL", "C")
        .args(["indextargets", "--format", "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)"])
        .arg("Created-By: Packages")
        .output()?;
    let mut sources: Vec<Source> = output.text().lines().filter_map(parse_source).collect();
    sources.dedup();
    Ok(sources)
}

fn parse_source(line: &str) -> Option<Source> {
    let mut fields = line.split('|');
    let (uri, suite, component) = (fields.next()?, fields.next()?, fields.next()?);
    // A field that is not set is left as it was written in the format.
    let key = fields.next().filter(|k| k.starts_with('/') && !k.contains(' '));
    let keyring = || Path::new(KEYRING).exists().then(|| KEYRING.to_owned());
    if uri.is_empty() || suite.is_empty() || component.is_empty() {
        return None;
    }
    Some(Source {
        uri: uri.to_owned(),
        suite: suite.to_owned(),
        component: component.to_owned(),
        signed_by: key.map(str::to_owned).or_else(keyring),
    })
}

/// The source line for `suite`: security suites are on a mirror of their own.
fn source_for(suite: &str, system: &[Source], known: &Known) -> Result<Source> {
    let security = suite.contains("security");
    let named = if security { &known.security_mirror } else { &known.mirror };
    let component = || "main".to_owned();
    if let Some(uri) = named {
        let signed_by = Path::new(KEYRING).exists().then(|| KEYRING.to_owned());
        return Ok(Source {
            uri: uri.clone(),
            suite: suite.to_owned(),
            component: component(),
            signed_by,
        });
    }
    let debian = system.iter().filter(|s| s.component == "main" && s.uri.contains("debian"));
    let same_kind = debian.clone().find(|s| s.suite.contains("security") == security);
    let (uri, like) = match (same_kind, debian.clone().next()) {
        (Some(s), _) => (s.uri.clone(), s),
        (None, Some(s)) => (sibling(&s.uri, security), s),
        (None, None) => {
            return Err(Error::host(format!("cannot find a Debian mirror for {suite}"))
                .found("none of the system's apt sources is Debian's main archive")
                .hint("write [debian] mirror = \"URL\" (and security-mirror) into the user's bases.toml, \
                       or name a clone or a tarball as base"));
        }
    };
    Ok(Source {
        uri,
        suite: suite.to_owned(),
        component: component(),
        signed_by: like.signed_by.clone(),
    })
}

/// The archive beside the one known: `…/debian` has `…/debian-security`.
fn sibling(uri: &str, security: bool) -> String {
    let bare = uri.trim_end_matches('/');
    if security {
        format!("{bare}-security/")
    } else {
        format!("{}/", bare.strip_suffix("-security").unwrap_or(bare))
    }
}

/// An apt.conf(5) that keeps all state below `state` and runs no hooks.
fn config_text(state: &Path) -> Result<String> {
    let dir = state.to_str().filter(|s| !s.contains(['"', '\n'])).ok_or_else(|| {
        Error::usage(format!("cannot keep apt's state in {}", state.display()))
            .found("apt cannot name this path")
            .hint("put the cache elsewhere with XDG_CACHE_HOME")
    })?;
    Ok(format!(
        "Dir::State \"{dir}\";
Dir::State::lists \"{dir}/lists\";
Dir::Cache \"{dir}/cache\";
Dir::Etc::sourcelist \"{dir}/sources.list\";
Dir::Etc::sourceparts \"-\";
APT::Sandbox::User \"root\";
APT::Update::Error-Mode \"any\";
Acquire::Languages \"none\";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::DEP-11-icons;
#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
#clear Acquire::IndexTargets::deb::CNF;
#clear Acquire::IndexTargets::deb::Contents-deb;
"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(uri: &str, suite: &str) -> Source {
        parse_source(&format!("{uri}|{suite}|main|/k.gpg")).unwrap()
    }

    #[test]
    fn apts_lines_are_read() {
        let c = parse_uri("'http://h/p/l_1%7e2_all.deb' l_1~2_all.deb 12 SHA256:ab", Part::Binary)
            .unwrap();
        assert_eq!(
            (c.file.as_str(), c.size, c.sha256.as_deref()),
            ("l_1~2_all.deb", 12, Some("ab"))
        );
        for bad in ["", "'x' ", "'u' f.deb x", "'u' ../f.deb 1 SHA256:a", "E: no", "'u' f.rpm 1"] {
            assert_eq!(parse_uri(bad, Part::Binary), None, "{bad}");
        }
        assert_eq!(
            source("http://h/debian/", "sid").line(Part::Binary),
            "deb [signed-by=/k.gpg] http://h/debian/ sid main\n"
        );
        let c = parse_uri("'u' l_1-2.debian.tar.xz 3 SHA256:ab", Part::Patches).unwrap();
        assert_eq!(c.file, "l_1-2.debian.tar.xz");
        assert!(parse_uri("'u' l_1-2.dsc 3 SHA256:ab", Part::Patches).is_none());
        let line = source("http://h/debian/", "sid").line(Part::Patches);
        assert!(line.starts_with("deb-src [signed-by=/k.gpg] http://h/debian/ sid"));
        assert!(parse_source("a|b").is_none());
    }

    #[test]
    fn the_mirror_is_the_systems() {
        let both = [
            source("http://h/debian/", "bookworm"),
            source("http://s/debian-security/", "bookworm-security"),
        ];
        let known = Known::default();
        let uri = |suite: &str, system: &[Source]| source_for(suite, system, &known).map(|s| s.uri);
        assert_eq!(uri("sid", &both).unwrap(), "http://h/debian/");
        assert_eq!(uri("bullseye-security", &both).unwrap(), "http://s/debian-security/");
        assert_eq!(uri("bullseye-security", &both[..1]).unwrap(), "http://h/debian-security/");
        assert_eq!(uri("sid", &both[1..]).unwrap(), "http://s/debian/");
        assert!(uri("sid", &[source("http://h/ubuntu/", "noble")]).is_err());
        let mut known = Known::default();
        known.mirror = Some("http://m/d".into());
        assert_eq!(source_for("sid", &both, &known).unwrap().uri, "http://m/d");
    }
}
