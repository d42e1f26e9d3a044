//! What git itself makes of patches, and small kernels to try them on.

use serde_json::Value;

use crate::host::Host;

pub const DEV: &str = "// SPDX-License-Identifier: GPL-2.0\n#include <linux/kernel.h>\n#include <linux/netdevice.h>\n\n#define LIMIT 64\n\nstruct napi {\n\tint weight;\n\tint poll;\n};\n\nstatic int one(struct napi *n)\n{\n\tif (n->weight)\n\t\treturn 1;\n\treturn 0;\n}\n\nint two(struct napi *n)\n{\n\tint err;\n\n\terr = one(n);\n\tif (err)\n\t\treturn err;\n\n\tn->poll = LIMIT;\n\treturn 0;\n}\n\nint three(void)\n{\n\treturn 3;\n}\n";

/// A host with a few files of a kernel.
pub fn kernel() -> Host {
    let host = Host::new(&[
        ("net/dev.c", DEV),
        ("net/Makefile", "obj-y := dev.o\nobj-$(CONFIG_A) += a.o\n"),
        (
            "net/Kconfig",
            "config A\n\tbool \"A\"\n\thelp\n\t  What A is.\n\nconfig C\n\tbool \"C\"\n",
        ),
        (
            "doc/old.rst",
            "Old\n===\n\nSome text.\nSome more.\n\nAnd a word that stays.\nAnd more of it.\n",
        ),
        ("doc/gone.txt", "gone\n"),
        ("open.txt", "no newline"),
    ]);
    host.put("linux/dos.txt", "one\r\ntwo\r\nthree\r\n");
    host.put("linux/latin.txt", b"K\xf6ln\nBonn\n");
    host.put("linux/bin", (0..=255u8).collect::<Vec<u8>>());
    host.git("linux", &["add", "-A"]);
    host.git("linux", &["commit", "-q", "--amend", "--no-edit"]);
    host
}

impl Host {
    /// Changes a file of `linux` and commits it.
    pub fn change(&self, file: &str, from: &str, to: &str, message: &str) {
        let text = self.read(&format!("linux/{file}"));
        assert!(text.contains(from), "{file}: {from}");
        self.put(&format!("linux/{file}"), text.replacen(from, to, 1));
        self.commit(message);
    }

    /// The commits `main..work` as files of `git format-patch`; `work` is checked out
    /// when this is called, `main` after it.
    pub fn format(&self, folder: &str, options: &[&str]) -> Vec<String> {
        let out = format!("../{folder}");
        let mut args = vec!["format-patch", "-q", "-o", &out];
        args.extend(options);
        args.push("main..HEAD");
        self.git("linux", &args);
        self.git("linux", &["checkout", "-q", "main"]);
        self.files(folder)
    }

    /// Trees, authors, dates and messages that `git am` makes of these files.
    pub fn am(&self, files: &[&str]) -> Vec<[String; 4]> {
        self.git("linux", &["checkout", "-q", "-B", "am", "main"]);
        let paths: Vec<String> = files.iter().map(|f| format!("../{f}")).collect();
        let mut args = vec!["am", "-q"];
        args.extend(paths.iter().map(String::as_str));
        self.git("linux", &args);
        let made = self.log("main..am");
        self.git("linux", &["checkout", "-q", "main"]);
        made
    }

    /// Tree, author, date and message of each commit.
    pub fn log(&self, range: &str) -> Vec<[String; 4]> {
        let format = "--format=%T%x01%an <%ae>%x01%ad%x01%B%x02";
        let log = self.git("linux", &["log", "--reverse", "--date=raw", format, range]);
        let one = |commit: &str| {
            let mut parts = commit.trim_start_matches('\n').split('\u{1}').map(str::to_owned);
            [(); 4].map(|()| parts.next().unwrap())
        };
        log.split_terminator('\u{2}').filter(|c| !c.trim().is_empty()).map(one).collect()
    }

    /// Imports a series; gives the report.
    pub fn import(&self, name: &str, from: &str, more: &[&str]) -> Value {
        let mut args = vec!["--format", "json", "import-series", name, "--from", from];
        args.extend(more);
        let (out, talk) = self.run(&args, 0);
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}\n{talk}"))
    }

    /// Imports a series, renders it, and has git apply its mails: everything must
    /// be as `want` says. Gives the report.
    pub fn import_and_prove(
        &self,
        name: &str,
        from: &str,
        more: &[&str],
        want: &[[String; 4]],
    ) -> Value {
        let report = self.import(name, from, more);
        let trees: Vec<&str> = want.iter().map(|w| w[0].as_str()).collect();
        let got: Vec<&str> = report["patches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p["tree"].as_str().unwrap())
            .collect();
        assert_eq!(got, trees, "{name}");
        let (_, talk) = self.run(&["show", name, "--base", "../linux"], 0);
        assert!(!talk.contains("rendered by nothing"), "{name}: {talk}");
        let mails = format!("../mails-{name}");
        let base =
            if more.contains(&"--base") { "../linux" } else { report["base"].as_str().unwrap() };
        self.run(&["generate-series", name, "--base", base, "-o", &mails], 0);
        let files: Vec<String> = self
            .files(&format!("mails-{name}"))
            .into_iter()
            .filter(|f| !f.starts_with("0000"))
            .map(|f| format!("mails-{name}/{f}"))
            .collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let made = self.am(&files);
        assert_eq!(made, want, "{name}");
        report
    }
}
