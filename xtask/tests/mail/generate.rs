//! Histories made from a seed: commits that do everything to files that a diff
//! has to show, written by `git fast-import`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;

type Files = BTreeMap<String, (u32, Vec<u8>)>;

/// A history being made.
pub struct History {
    rng: Rng,
    files: Files,
    stream: Vec<u8>,
    mark: u32,
    time: i64,
}

const ATTRIBUTES: &str = "*.[ch] diff=cpp\n*.dts diff=dts\n*.dts[io] diff=dts\n*.rs diff=rust\n\
    *.dat -diff\n*.txtbin diff\n*.bl binary\n*.py diff=python\n*.md diff=markdown\n*.sh diff=bash\n\
    *.odd diff=nosuch\n";

impl History {
    /// A history with one commit in it, which has attributes and some files.
    pub fn new(seed: u64) -> History {
        let mut history = History {
            rng: Rng::with_seed(seed),
            files: Files::new(),
            stream: Vec::new(),
            mark: 0,
            time: 1_700_000_000,
        };
        history.files.insert(".gitattributes".into(), (0o100_644, ATTRIBUTES.into()));
        history.files.insert(
            "sub/.gitattributes".into(),
            (0o100_644, b"*.c -diff\n*.x diff=rust\n".to_vec()),
        );
        history.files.insert(
            ".mailmap".into(),
            (0o100_644, b"Mapped Name <mapped@example.org> <old@example.org>\n".to_vec()),
        );
        for _ in 0..40 {
            history.create();
        }
        history.commit("base\n");
        history
    }

    /// Adds `count` commits and gives the whole as a stream for fast-import.
    pub fn stream(mut self, count: usize) -> Vec<u8> {
        for _ in 0..count {
            let most = [1, 2, 4, 8][self.rng.usize(0..4)];
            let before = self.files.clone();
            for _ in 0..=self.rng.usize(0..most) {
                self.change();
            }
            // A commit that changes nothing cannot be mailed.
            while self.files == before {
                self.change();
            }
            let message = self.message();
            self.commit(&message);
        }
        self.stream
    }

    fn commit(&mut self, message: &str) {
        self.mark += 1;
        self.time += self.rng.i64(1..100_000);
        let zone = ["+0000", "+0100", "-0330", "+0545", "-1200"][self.rng.usize(0..5)];
        let author = [
            "A U Thor <author@example.org>",
            "J. Hacker <j@example.org>",
            "Björn Töpel <bjorn@example.org>",
            "Last, First <lf@example.org>",
            "Joe (ARM) <joe@example.org>",
            "Old Name <old@example.org>",
            "Quote \" Back\\slash <q@example.org>",
            "Łukasz Stelmach-Bardzo-Długie-Nazwisko Żółtowski-Gęślą-Jaźń <l@example.org>",
            "A Name That Goes On And On Until It Has To Be Folded Somewhere In The Header Line <very.long.address@some.long.host.example.org>",
            "=?odd <odd@example.org>",
        ][self.rng.usize(0..10)];
        let mut out = format!(
            "commit refs/heads/main\nmark :{}\nauthor {author} {} {zone}\n\
             committer C O Mitter <c@example.org> {} +0000\ndata {}\n{message}\n",
            self.mark,
            self.time,
            self.time + 5,
            message.len()
        )
        .into_bytes();
        if self.mark > 1 {
            out.extend(format!("from :{}\n", self.mark - 1).bytes());
        }
        out.extend(b"deleteall\n");
        for (path, (mode, bytes)) in &self.files {
            if *mode == 0o160_000 {
                let id = String::from_utf8_lossy(bytes);
                out.extend(format!("M 160000 {id} {}\n", quoted(path)).bytes());
                continue;
            }
            out.extend(
                format!("M {mode:o} inline {}\ndata {}\n", quoted(path), bytes.len()).bytes(),
            );
            out.extend(bytes);
            out.push(b'\n');
        }
        self.stream.extend(out);
    }

    fn change(&mut self) {
        match self.rng.u32(0..100) {
            0..50 => self.edit(),
            50..58 => self.create(),
            58..64 => {
                if let Some(path) = self.pick() {
                    self.files.remove(&path);
                }
            }
            64..74 => self.rename(),
            74..78 => self.mode(),
            78..82 => self.retype(),
            82..85 => self.move_folder(),
            85..88 => self.line_ends(),
            88..92 => self.last_line(),
            92..95 => self.empty(),
            95..97 => self.swap_folder(),
            _ => self.submodule(),
        }
    }

    fn pick(&mut self) -> Option<String> {
        let names: Vec<&String> = self
            .files
            .keys()
            .filter(|p| !p.ends_with(".gitattributes") && *p != ".mailmap")
            .collect();
        self.rng.choice(names).cloned()
    }

    fn pick_file(&mut self) -> Option<String> {
        let path = self.pick()?;
        (self.files[&path].0 & 0o170_000 == 0o100_000).then_some(path)
    }

    fn folder(&mut self) -> String {
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

    fn name(&mut self) -> String {
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

    /// Whether no file and no folder is in the way.
    fn is_free(&self, path: &str) -> bool {
        !self.files.keys().any(|f| {
            f == path || f.starts_with(&format!("{path}/")) || path.starts_with(&format!("{f}/"))
        })
    }

    fn create(&mut self) {
        let path = self.name();
        let (mode, bytes) = match self.rng.u32(0..20) {
            0 => (0o120_000, format!("../target/{}", self.rng.u32(0..9)).into_bytes()),
            1 => (0o100_755, self.text(&path)),
            2 => (0o100_644, Vec::new()),
            3 | 4 => (0o100_644, self.binary()),
            _ => (0o100_644, self.text(&path)),
        };
        self.files.insert(path, (mode, bytes));
    }

    fn binary(&mut self) -> Vec<u8> {
        let size = [10, 30, 300, 5_000, 40_000][self.rng.usize(0..5)];
        let compressible = self.rng.bool();
        let mut bytes: Vec<u8> = (0..size)
            .map(|i| if compressible && i % 7 > 1 { (i % 50) as u8 } else { self.rng.u8(..) })
            .collect();
        bytes[self.rng.usize(0..5)] = 0;
        bytes
    }

    fn line(&mut self, path: &str) -> String {
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

    fn text(&mut self, path: &str) -> Vec<u8> {
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

    fn edit(&mut self) {
        let Some(path) = self.pick_file() else { return };
        let (mode, bytes) = self.files[&path].clone();
        let bytes = if bytes.contains(&0) {
            self.edit_bytes(bytes)
        } else {
            self.edit_lines(&path, &bytes)
        };
        self.files.insert(path, (mode, bytes));
    }

    fn edit_bytes(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..self.rng.usize(1..4) {
            let at = self.rng.usize(0..=bytes.len());
            match self.rng.u32(0..4) {
                0 => {
                    let more: Vec<u8> =
                        (0..self.rng.usize(1..200)).map(|_| self.rng.u8(..)).collect();
                    bytes.splice(at..at, more);
                }
                1 => {
                    let to = (at + self.rng.usize(0..300)).min(bytes.len());
                    bytes.drain(at..to);
                }
                2 => {
                    let from = self.rng.usize(0..=at);
                    let piece = bytes[from..at].to_vec();
                    bytes.extend(piece);
                }
                _ => {
                    if let Some(b) = bytes.get_mut(at) {
                        *b = b.wrapping_add(1);
                    }
                }
            }
        }
        bytes
    }

    fn edit_lines(&mut self, path: &str, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|&c| c == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..self.rng.usize(1..5) {
            let at = self.rng.usize(0..=lines.len());
            let most = [2, 4, 30][self.rng.usize(0..3)];
            let count = self.rng.usize(0..most);
            let end = (at + count).min(lines.len());
            let mut fresh = Vec::new();
            for _ in 0..count {
                fresh.push((self.line(path) + "\n").into_bytes());
            }
            match self.rng.u32(0..6) {
                0 | 1 => drop(lines.splice(at..at, fresh)),
                2 => drop(lines.drain(at..end)),
                3 => drop(lines.splice(at..end, fresh)),
                4 => {
                    // A block moves, which leaves many ways to show it.
                    let block: Vec<_> = lines.drain(at..end).collect();
                    let to = self.rng.usize(0..=lines.len());
                    lines.splice(to..to, block);
                }
                _ => {
                    let copy = lines[at..end].to_vec();
                    lines.splice(at..at, copy);
                }
            }
        }
        lines.concat()
    }

    fn rename(&mut self) {
        let Some(from) = self.pick() else { return };
        let to = match self.rng.u32(0..3) {
            0 => {
                // The same name in another folder.
                let name = from.rsplit('/').next().unwrap().to_owned();
                let to = format!("{}{name}", self.folder());
                if !self.is_free(&to) {
                    return;
                }
                to
            }
            _ => self.name(),
        };
        let Some((mode, bytes)) = self.files.remove(&from) else { return };
        let bytes = match self.rng.u32(0..3) {
            0 => bytes,
            _ if mode & 0o170_000 != 0o100_000 => bytes,
            _ if bytes.contains(&0) => self.edit_bytes(bytes),
            _ => self.edit_lines(&to, &bytes),
        };
        let mode = if mode == 0o100_644 && self.rng.u32(0..8) == 0 { 0o100_755 } else { mode };
        self.files.insert(to, (mode, bytes));
    }

    fn move_folder(&mut self) {
        let from = self.folder();
        let to = format!("moved{}/", self.rng.u32(0..5));
        if from.is_empty() {
            return;
        }
        let names: Vec<String> = self
            .files
            .keys()
            .filter(|f| f.starts_with(&from) && !f.ends_with(".gitattributes"))
            .cloned()
            .collect();
        for name in names {
            let target = format!("{to}{}", &name[from.len()..]);
            if !self.is_free(&target) {
                continue;
            }
            let (mode, bytes) = self.files.remove(&name).unwrap();
            let edit =
                self.rng.u32(0..4) == 0 && mode & 0o170_000 == 0o100_000 && !bytes.contains(&0);
            let bytes = if edit { self.edit_lines(&target, &bytes) } else { bytes };
            self.files.insert(target, (mode, bytes));
        }
    }

    fn mode(&mut self) {
        let Some(path) = self.pick_file() else { return };
        if let Some((mode, _)) = self.files.get_mut(&path) {
            *mode ^= 0o111;
        }
    }

    fn retype(&mut self) {
        let Some(path) = self.pick() else { return };
        let (mode, _) = self.files[&path];
        let new = if mode == 0o120_000 {
            (0o100_644, self.text(&path))
        } else {
            (0o120_000, b"some/where".to_vec())
        };
        self.files.insert(path, new);
    }

    fn line_ends(&mut self) {
        let Some(path) = self.pick_file() else { return };
        let (mode, bytes) = self.files[&path].clone();
        if bytes.contains(&0) {
            return;
        }
        let mut out = Vec::new();
        let has = bytes.contains(&b'\r');
        for c in bytes {
            match c {
                b'\r' => {}
                b'\n' if !has => out.extend(b"\r\n"),
                c => out.push(c),
            }
        }
        self.files.insert(path, (mode, out));
    }

    fn last_line(&mut self) {
        let Some(path) = self.pick_file() else { return };
        if let Some((_, bytes)) = self.files.get_mut(&path)
            && bytes.pop_if(|c| *c == b'\n').is_none()
        {
            bytes.push(b'\n');
        }
    }

    fn empty(&mut self) {
        let path = self.name();
        self.files.insert(path, (0o100_644, Vec::new()));
    }

    /// A file becomes a folder, or a folder a file.
    fn swap_folder(&mut self) {
        let Some(path) = self.pick_file() else { return };
        let file = self.files.remove(&path).unwrap();
        if self.rng.bool() {
            self.files.insert(format!("{path}/inner.c"), file);
        } else if let Some((folder, _)) = path.rsplit_once('/').filter(|(f, _)| *f != "sub") {
            let inside = format!("{folder}/");
            self.files.retain(|f, _| !f.starts_with(&inside));
            self.files.insert(folder.to_owned(), file);
        }
    }

    fn submodule(&mut self) {
        let id: String =
            (0..40).map(|_| char::from_digit(self.rng.u32(0..16), 16).unwrap()).collect();
        let path = format!("module{}", self.rng.u32(0..3));
        if !self.files.contains_key(&path) && !self.is_free(&path) {
            return;
        }
        self.files.insert(path, (0o160_000, id.into_bytes()));
    }

    fn message(&mut self) -> String {
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

fn quoted(path: &str) -> String {
    let mut out = String::from("\"");
    for c in path.bytes() {
        match c {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(c));
            }
            0x20..0x7f => out.push(char::from(c)),
            _ => {
                let _ = write!(out, "\\{c:03o}");
            }
        }
    }
    out.push('"');
    out
}
