//! A small repository with a patch in it, and a script in place of a mail server.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The message of the first patch.
pub const MESSAGE: &str = "net: add b\n\nThe second line is missing.\n\n\
    Reviewed-by: Joe (ARM) <joe@arm.com>\nCc: stable@vger.kernel.org # v5.10+\n\
    Reported-by: kernel test robot <lkp@intel.com>\nSigned-off-by: Björn Hacker <bjorn@example.org>\n";

/// Judges in the form of checkpatch: an added line with BAD is an error.
const CHECKPATCH: &str = r#"
for my $file (grep { -f $_ } @ARGV) {
    open(my $in, "<", $file) or die; my $n = 0;
    while (<$in>) { $n++; print "$file:$n: ERROR:BAD: no good\n#$n: FILE: net/a.c:2:\n$_\n" if /^\+.*BAD/; }
    print "total: 0 errors, 0 warnings, 0 checks, $n lines checked\n";
}
"#;
const GET_MAINTAINER: &str = r#"
print "Dora <dora\@example.org> (maintainer:NETWORKING)\n";
print "netdev\@example.org (open list:NETWORKING)\n";
"#;
const MAINTAINERS: &str = "NETWORKING\nM:\tDora <dora@example.org>\nS:\tMaintained\nF:\tnet/\n";
const SENDMAIL: &str = "#!/bin/sh\nn=$(ls \"$OUT\" | grep -c mail)\n\
    echo \"$@\" > \"$OUT/$n.args\"\ncat > \"$OUT/$n.mail\"\n";

/// All of it, in a folder of its own.
pub struct Outbox {
    dir: TempDir,
}

impl Outbox {
    pub fn new() -> Outbox {
        let outbox = Outbox { dir: tempfile::tempdir().unwrap() };
        for (path, text) in [
            ("net/a.c", "a\n"),
            ("MAINTAINERS", MAINTAINERS),
            ("scripts/checkpatch.pl", CHECKPATCH),
            ("scripts/get_maintainer.pl", GET_MAINTAINER),
            ("scripts/spelling.txt", "teh||the\n"),
            ("scripts/kernel-doc", "exit 0;\n"),
        ] {
            outbox.put(path, text);
        }
        outbox.git(&["init", "--quiet"]);
        outbox.git(&["add", "."]);
        outbox.git(&["commit", "--quiet", "-m", "base"]);
        outbox.git(&["tag", "base"]);
        outbox.change("a\nb\n", MESSAGE);
        fs::write(outbox.path("cover"), "net: two lines\n\nWhy there are two.\n").unwrap();
        fs::create_dir(outbox.path("out")).unwrap();
        outbox.script("sendmail", SENDMAIL);
        outbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn script(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn put(&self, path: &str, text: &str) {
        let path = self.path("repo").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn change(&self, text: &str, message: &str) {
        self.put("net/a.c", text);
        self.git(&["commit", "--quiet", "-a", "-m", message]);
    }

    /// Nothing of the real user's, and a user of our own.
    pub fn clean(&self, command: &mut Command) {
        let set = |command: &mut Command, role: &str| {
            command.env(format!("GIT_{role}_NAME"), "Björn Hacker");
            command.env(format!("GIT_{role}_EMAIL"), "bjorn@example.org");
        };
        set(command, "AUTHOR");
        set(command, "COMMITTER");
        command
            .env("HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("OUT", self.path("out"))
            .env_remove("PAGER");
    }

    pub fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        self.clean(&mut command);
        let out = command.args(args).current_dir(self.path("repo")).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        self.clean(&mut command);
        command.args(args).args(["--range", "base..HEAD", "--repo"]).arg(self.path("repo"));
        command.args(["--list", "net-next", "--change-id", "20241129-b-431ffd03aa5e"]);
        command.arg("--cover-letter").arg(self.path("cover"));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub fn send(&self, args: &[&str]) -> Command {
        let mut command = self.command(&["send"]);
        command.arg("--sendmail-cmd").arg(self.path("sendmail")).args(args);
        command
    }

    /// The addresses that the script was called with, and the mail, in order.
    pub fn sent(&self) -> Vec<(Vec<String>, String)> {
        let read = |name: String| fs::read_to_string(self.path("out").join(name)).unwrap();
        let count = fs::read_dir(self.path("out")).unwrap().count() / 2;
        (0..count)
            .map(|n| {
                let args = read(format!("{n}.args"));
                let to = args.split_whitespace().filter(|a| a.contains('@')).map(str::to_owned);
                (to.collect(), read(format!("{n}.mail")))
            })
            .collect()
    }
}

pub fn code(out: &Output) -> i32 {
    out.status.code().unwrap_or(-1)
}

pub fn talk(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// The value of a header; its name in any case.
pub fn header(mail: &str, name: &str) -> Option<String> {
    let head = mail.split("\n\n").next()?;
    head.lines().find_map(|l| {
        let (key, value) = l.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}
