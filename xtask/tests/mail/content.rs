//! What stands in the files and messages of a made history, and what they are called.

use std::fmt::Write as _;

use fastrand::Rng;

use super::History;

impl History {
    pub(super) fn folder(&mut self) -> String {
        const PARTS: [&str; 12] = [
            "",
            "net/core/",
            "drivers/net/ethernet/intel/i40e/",
            "sub/",
            "sub/deep/",
            "a b/",
            "Documentation/networking/device_drivers/",
            "ünï/",
            "arch/x86/",
            "-dash/",
            "tools/testing/selftests/a-very-long-folder-name-that-has-to-be-cut-in-a-diffstat/",
            "x/",
        ];
        PARTS[self.rng.usize(0..PARTS.len())].to_owned()
    }

    pub(super) fn name(&mut self) -> String {
        const STEMS: [&str; 16] = [
            "dev",
            "main",
            "i40e_txrx",
            "a b",
            "quo\"te",
            "back\\slash",
            "größe",
            "-lead",
            "tab\there",
            "very_long_file_name_number_one_of_many_that_fill_the_line",
            "日本語",
            "bell\x07",
            "Kconfig",
            "x",
            "test",
            "del\x7f",
        ];
        const ENDS: [&str; 20] = [
            ".c", ".c", ".h", ".S", "", ".rs", ".rst", ".dts", ".dtsi", ".dat", ".bin", ".txtbin",
            ".bl", ".py", ".md", ".sh", ".odd", ".x", ".c", ".txt",
        ];
        loop {
            let n = self.rng.u32(0..40);
            let path = format!(
                "{}{}{n}{}",
                self.folder(),
                STEMS[self.rng.usize(0..STEMS.len())],
                ENDS[self.rng.usize(0..ENDS.len())]
            );
            if self.is_free(&path) {
                return path;
            }
        }
    }

    pub(super) fn binary(&mut self) -> Vec<u8> {
        let size = [10, 30, 300, 5_000, 40_000][self.rng.usize(0..5)];
        let compressible = self.rng.bool();
        let mut bytes: Vec<u8> = (0..size)
            .map(|i| if compressible && i % 7 > 1 { (i % 50) as u8 } else { self.rng.u8(..) })
            .collect();
        bytes[self.rng.usize(0..5)] = 0;
        bytes
    }

    pub(super) fn line(&mut self, path: &str) -> String {
        let n = self.rng.u32(0..2_000);
        let few = self.rng.u32(0..6);
        let c = [
            format!("\tint value_{n} = {n};"),
            format!("static int function_{n}(struct net_device *dev, int arg)"),
            "{".into(),
            "}".into(),
            String::new(),
            "\treturn 0;".into(),
            format!("\tif (x == {few}) {{"),
            "\t}".into(),
            format!("label_{n}:"),
            format!("out: /* {n} */"),
            format!("#define MACRO_{n}(a) ((a) + {few})"),
            format!("struct foo_{n} {{"),
            format!("/* comment {few} with ünïcödé */"),
            format!(
                "static const struct ops_with_a_long_name very_long_identifier_to_be_cut_{n} = {{ x }};"
            ),
            "\tcase 1:".into(),
            "  trailing blanks   ".into(),
        ];
        let rust = [
            format!("    pub(crate) fn f_{n}(&self) -> u32 {{"),
            format!("impl Foo_{n} for Bar {{"),
            format!("    let x = {few};"),
            "    }".into(),
            "}".into(),
            String::new(),
            format!("pub struct S_{n};"),
            format!("unsafe extern \"C\" fn g_{n}()"),
            format!("macro_rules! m_{n} {{"),
            format!("// fn comment {few}"),
        ];
        let dts = [
            "/ {".into(),
            format!("\tnode@{n} {{"),
            format!("\t\treg = <{few}>;"),
            "\t};".into(),
            format!("&label_{n} {{"),
            format!("\tmodel: thing_{n}"),
            String::new(),
        ];
        let other = [
            format!("config OPTION_{n}"),
            "\tbool \"A question\"".into(),
            format!("\tdepends on OPTION_{few}"),
            "\thelp".into(),
            format!("def func_{n}(x):"),
            format!("    async def g_{n}():"),
            format!("class C_{n}:"),
            format!("## Heading {n}"),
            format!("name_{n}() {{"),
            format!("function other_{n} {{"),
            "=======".into(),
            String::new(),
            "- a list item".into(),
            format!("ENTRY(entry_{n})"),
            format!(".globl sym_{n}"),
            format!("$dollar_{n}"),
            format!("_underscore_{n}"),
            "\\ No newline at end of file".into(),
            "-- ".into(),
            "--- a/x".into(),
            "diff --git a/x b/x".into(),
            "@@ -1,2 +3,4 @@".into(),
        ];
        let pick = |rng: &mut Rng, from: &[String]| from[rng.usize(0..from.len())].clone();
        if path.ends_with(".rs") || path.ends_with(".x") {
            pick(&mut self.rng, &rust)
        } else if path.contains(".dts") {
            pick(&mut self.rng, &dts)
        } else if [".c", ".h", ".S"].iter().any(|e| path.ends_with(e)) {
            pick(&mut self.rng, &c)
        } else {
            pick(&mut self.rng, &other)
        }
    }

    pub(super) fn text(&mut self, path: &str) -> Vec<u8> {
        let lines = [0, 1, 3, 20, 100, 400][self.rng.usize(0..6)];
        let crlf = self.rng.u32(0..12) == 0;
        let mut out = String::new();
        for _ in 0..lines {
            out += &self.line(path);
            out += if crlf { "\r\n" } else { "\n" };
        }
        if self.rng.u32(0..8) == 0 {
            out += "no end";
        }
        if self.rng.u32(0..40) == 0 {
            out += &"long ".repeat(400);
            out.push('\n');
        }
        let mut bytes = out.into_bytes();
        if self.rng.u32(0..40) == 0 {
            bytes.extend(b"latin \xe9\xff\n");
        }
        bytes
    }

    pub(super) fn message(&mut self) -> String {
        const SUBJECTS: [&str; 14] = [
            "net: add a thing",
            "net: cpumap: größere Änderung",
            "[PATCH] already bracketed subject",
            "a subject that is so long that it cannot stand on one line of a header and has to be folded",
            "a subject that is so long that it cannot stand on one line of a header and has ünïcode in it",
            "a-single-word-that-does-not-end-before-the-line-is-full-and-so-cannot-be-folded-anywhere-at-all",
            "=?odd?= question",
            "x86/asm: 日本語の件名はとても長いのでどこかで折り返さなければならないと思いますがどうでしょう",
            "two\nlines of subject",
            "Re: looks like an answer",
            "double  blank and trailing   ",
            "tab\tin the subject that also happens to be a long one, so that folding meets the tab somewhere here",
            "dots... and -- dashes --",
            "..leading",
        ];
        const BODIES: [&str; 12] = [
            "",
            "A body.\n",
            "Two paragraphs.\n\nSecond one.\n\n\n\nThird.\n",
            "Umlaute: äöü\n",
            "From: Somebody Else <else@example.org>\n\nBody begins like a header.\n",
            "trailing blanks   \n\ttabs\n.\n",
            "  indented first\n",
            "text\n---\nbelow\n",
            "text\n\ndiff --git a/x b/x\n",
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nquoted mail\n",
            "a very long line in the body that is longer than any line should be but is left as it is by git anyway, no wrapping\n",
            "no end",
        ];
        let mut out = SUBJECTS[self.rng.usize(0..SUBJECTS.len())].to_owned();
        let _ = write!(out, " {}\n\n", self.rng.u32(0..1000));
        out += BODIES[self.rng.usize(0..BODIES.len())];
        if self.rng.bool() {
            out += "\nSigned-off-by: Björn Töpel <bjorn@example.org>\n";
        }
        out
    }
}
