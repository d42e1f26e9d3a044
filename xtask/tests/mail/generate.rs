//! Histories made from a seed: commits that do everything to files that a diff
//! has to show, written by `git fast-import`.

mod content;

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
