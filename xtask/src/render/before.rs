//! What stands before a place of C in its item: the blocks that it is in, with their conditions,
//! what governs it without braces, labels, and a jump that keeps it from being reached.

use cscan::lex::{Language, Lexer, Token, TokenKind};
use cscan::scan::{Item, ItemKind};

use super::file_text::FileText;

/// Words that a parenthesis may follow without making them the head of a block.
const NO_HEADS: [&[u8]; 8] =
    [b"return", b"sizeof", b"case", b"goto", b"typeof", b"__typeof__", b"__attribute__", b"asm"];

/// Words that are heads of blocks, together with `else` and `do`.
const KEYWORDS: [&[u8]; 4] = [b"if", b"for", b"while", b"switch"];

/// Words behind which a statement is not reached.
const JUMPS: [&[u8]; 4] = [b"return", b"goto", b"break", b"continue"];

/// What opened a brace.
#[derive(Clone, Debug, Default)]
struct Frame {
    /// What stands before its brace; nothing of the item's own one.
    head: Vec<Token>,
    /// Commas part what is in it: an initializer, or the values of an enum.
    list: bool,
    /// The parentheses that it stands in, and with them or `=` the statement that goes on behind it.
    inside: Option<(usize, Vec<Token>)>,
    /// `case` and other labels that what follows stands behind.
    labels: Vec<Vec<Token>>,
    /// Nothing stands between the last label and what follows.
    fresh: bool,
    /// The last statement was a jump.
    jumped: Option<Token>,
    /// The `if` that an `else` would belong to.
    last: Vec<Token>,
}

/// What stands before a place in its item.
#[derive(Clone, Debug)]
pub struct Before<'f> {
    src: &'f [u8],
    label: String,
    frames: Vec<Frame>,
    /// The statement that has begun.
    begun: Vec<Token>,
    parens: usize,
}

/// The ends of a conditional's branches so far.
struct Branches<'f> {
    /// As it was before the conditional.
    start: Before<'f>,
    ends: Vec<Before<'f>>,
    has_else: bool,
}

/// The item that has `at` in its body. Macros and includes may lie within others, which are what
/// counts.
pub fn host(file: &FileText, at: usize) -> Option<&Item> {
    let items = file.scan().items.iter();
    let has = |i: &&Item| match (&i.body, i.kind) {
        (_, ItemKind::Macro) => i.span.start < at && at < i.span.end,
        (Some(body), _) => body.start <= at && at <= body.end,
        (None, _) => false,
    };
    let mut hosts = items.filter(has);
    let first = hosts.next()?;
    Some(if first.kind == ItemKind::Macro { hosts.next().unwrap_or(first) } else { first })
}

/// An item for a reader: `struct napi_struct`, `add()`.
fn label(file: &FileText, item: &Item) -> String {
    let name = item.names.first().map_or(&b""[..], |n| file.get(n.clone()));
    let name = String::from_utf8_lossy(name).into_owned();
    match item.kind {
        ItemKind::Function => format!("{name}()"),
        ItemKind::Struct => format!("struct {name}"),
        ItemKind::Union => format!("union {name}"),
        ItemKind::Enum => format!("enum {name}"),
        ItemKind::Macro => format!("#define {name}"),
        _ => name,
    }
}

impl<'f> Before<'f> {
    /// What stands before `at`; `None` outside of all bodies.
    pub fn at(file: &'f FileText, at: usize) -> Option<Before<'f>> {
        let item = host(file, at)?;
        let mut before = Before {
            src: file.bytes(),
            label: label(file, item),
            frames: Vec::new(),
            begun: Vec::new(),
            parens: 0,
        };
        if item.kind == ItemKind::Macro {
            before.frames.push(Frame::default());
            return Some(before);
        }
        before.run(item, at);
        Some(before)
    }

    fn run(&mut self, item: &Item, at: usize) {
        let mut open: Vec<Branches<'f>> = Vec::new();
        let mut hash = false;
        for token in Lexer::new(self.src, item.span.start..at, Language::C) {
            if token.kind == TokenKind::Comment {
                continue;
            }
            let word = token.of(self.src);
            if !token.directive {
                self.take(token, item.kind == ItemKind::Enum);
            } else if std::mem::replace(&mut hash, word == b"#") {
                match word {
                    b"if" | b"ifdef" | b"ifndef" => open.push(Branches {
                        start: self.clone(),
                        ends: Vec::new(),
                        has_else: false,
                    }),
                    b"else" | b"elif" => {
                        if let Some(branches) = open.last_mut() {
                            branches.has_else |= word == b"else";
                            let start = branches.start.clone();
                            branches.ends.push(std::mem::replace(self, start));
                        }
                    }
                    b"endif" => {
                        if let Some(branches) = open.pop() {
                            self.join(branches);
                        }
                    }
                    _ => {}
                }
            }
            if !token.directive {
                hash = false;
            }
        }
    }

    /// Behind a conditional: what governs in one of its branches does so behind it.
    fn join(&mut self, branches: Branches<'f>) {
        if self.is_head() {
            return;
        }
        let start = (!branches.has_else).then_some(branches.start);
        if let Some(other) = branches.ends.into_iter().chain(start).find(Before::is_head) {
            *self = other;
        }
    }

    fn word(&self, token: Option<&Token>) -> &'f [u8] {
        token.map_or(&b""[..], |t| t.of(self.src))
    }

    fn take(&mut self, token: Token, is_enum: bool) {
        match token.of(self.src) {
            b"{" => self.open(token, is_enum),
            b"}" => self.close(token),
            b";" if self.parens == 0 => self.end(),
            b"," if self.parens == 0 && self.frames.last().is_some_and(|f| f.list) => {
                self.begun.clear();
            }
            b":" if self.parens == 0 && self.is_label() => {
                let label = std::mem::take(&mut self.begun);
                if let Some(frame) = self.frames.last_mut() {
                    if !std::mem::replace(&mut frame.fresh, true) {
                        frame.labels.clear();
                    }
                    frame.labels.push(label);
                    frame.jumped = None;
                }
            }
            word => {
                match word {
                    b"(" | b"[" => self.parens += 1,
                    b")" | b"]" => self.parens = self.parens.saturating_sub(1),
                    b"else" if self.begun.is_empty() => {
                        let last = self.frames.last_mut().map(|f| std::mem::take(&mut f.last));
                        self.begun = last.unwrap_or_default();
                    }
                    _ => {}
                }
                self.begun.push(token);
            }
        }
    }

    fn is_label(&self) -> bool {
        let first = self.begun.first();
        self.word(first) == b"case"
            || self.begun.len() == 1 && first.is_some_and(|t| t.kind == TokenKind::Word)
    }

    fn open(&mut self, token: Token, is_enum: bool) {
        let first = self.word(self.begun.first());
        let last = self.word(self.begun.last());
        let assigns = self.begun.iter().any(|t| t.of(self.src) == b"=");
        let list = match self.frames.last() {
            None => is_enum || assigns,
            // A statement within an expression has statements.
            Some(_) if last == b"(" => false,
            Some(frame) => {
                frame.list || self.parens > 0 || assigns || matches!(first, b"enum" | b"return")
            }
        };
        let mut head = std::mem::take(&mut self.begun);
        let parens = std::mem::take(&mut self.parens);
        let goes_on = (list || parens > 0 || last == b"do") && !self.frames.is_empty();
        let inside = goes_on.then(|| {
            let mut begun = head.clone();
            begun.push(token);
            (parens, begun)
        });
        if self.frames.is_empty() {
            head.clear();
        }
        self.frames.push(Frame { head, list, inside, ..Frame::default() });
    }

    fn close(&mut self, token: Token) {
        let Some(frame) = self.frames.pop() else { return };
        self.begun.clear();
        self.parens = 0;
        if let Some(outer) = self.frames.last_mut() {
            (outer.fresh, outer.jumped) = (false, None);
            match frame.inside {
                Some((parens, mut begun)) => {
                    begun.push(token);
                    (self.parens, self.begun) = (parens, begun);
                }
                None => outer.last = frame.head,
            }
        }
    }

    fn end(&mut self) {
        let begun = std::mem::take(&mut self.begun);
        let jump = begun.first().copied().filter(|t| JUMPS.contains(&t.of(self.src)));
        // `if (a) f();` begins like `if (a) each(b)`.
        let heads = self.units(&begun).1;
        if let Some(frame) = self.frames.last_mut() {
            frame.fresh = false;
            frame.jumped = jump;
            frame.last = begun;
            frame.last.truncate(heads);
        }
    }

    /// How many of these tokens look like heads of blocks in a row, `if (a) else each(…)`, and
    /// where the last one of them ends that is one for sure.
    fn units(&self, tokens: &[Token]) -> (usize, usize) {
        let (mut at, mut sure) = (0, 0);
        while let Some(token) = tokens.get(at) {
            let word = token.of(self.src);
            if matches!(word, b"else" | b"do") {
                at += 1;
                sure = at;
                continue;
            }
            let head = token.kind == TokenKind::Word && !NO_HEADS.contains(&word);
            if !head || self.word(tokens.get(at + 1)) != b"(" {
                break;
            }
            let mut depth = 0_usize;
            let rest = tokens.iter().enumerate().skip(at + 1);
            let mut ends = rest.filter(|(_, t)| match t.of(self.src) {
                b"(" => {
                    depth += 1;
                    false
                }
                b")" => {
                    depth = depth.saturating_sub(1);
                    depth == 0
                }
                _ => false,
            });
            match ends.next() {
                Some((end, _)) => at = end + 1,
                None => break,
            }
            if KEYWORDS.contains(&word) {
                sure = at;
            }
        }
        (at, sure)
    }

    /// Whether what has begun is the head of what follows, and nothing else.
    fn is_head(&self) -> bool {
        let block = self.frames.last().is_some_and(|f| !f.list);
        block
            && !self.begun.is_empty()
            && self.parens == 0
            && self.units(&self.begun).0 == self.begun.len()
    }

    /// Whether an `if`, `else`, loop or macro like one governs what follows, which begins with
    /// `next`. A call without semicolon in an expression looks like such a macro, but for what
    /// follows it.
    pub fn governs(&self, next: Option<&Token>) -> bool {
        if !self.is_head() {
            return false;
        }
        self.units(&self.begun).1 == self.begun.len()
            || next.is_some_and(|t| t.kind == TokenKind::Word || t.of(self.src) == b"{")
    }

    fn text(&self, tokens: &[Token]) -> String {
        let mut out = String::new();
        let mut end = None;
        for token in tokens {
            if end.is_some_and(|end| end != token.start) {
                out.push(' ');
            }
            out.push_str(&String::from_utf8_lossy(token.of(self.src)));
            end = Some(token.end);
        }
        out
    }

    /// All of it for a reader, the outermost first; `next` is what the place begins with.
    pub fn told(&self, next: Option<&Token>) -> Vec<String> {
        let mut all = vec![self.label.clone()];
        for (i, frame) in self.frames.iter().enumerate() {
            if i > 0 {
                let head = self.text(&frame.head);
                all.push(if head.is_empty() { "{".to_owned() } else { head });
            }
            all.extend(frame.labels.iter().map(|label| format!("{}:", self.text(label))));
        }
        let jumped = self.frames.last().and_then(|f| f.jumped);
        if self.governs(next) {
            all.push(format!("{} without braces", self.text(&self.begun)));
        } else if !self.begun.is_empty() {
            all.push(format!("behind {}", self.text(&self.begun)));
        } else if let Some(jump) = jumped {
            all.push(format!("what follows {}", self.text(&[jump])));
        }
        all
    }
}

/// The first token of code in `range` that is neither a comment nor of a preprocessor line.
pub fn first_code(file: &FileText, range: std::ops::Range<usize>) -> Option<Token> {
    let mut tokens = Lexer::new(file.bytes(), range, Language::C);
    tokens.find(|t| !t.directive && t.kind != TokenKind::Comment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(body: &str) -> (Vec<String>, bool) {
        // A brace in the first column ends an item, and a `#` may stand anywhere.
        let body = body.replace('\n', "\n\t");
        let text = format!("int g;\n\nint f(int x)\n{{\n\t{body}\n}}\n");
        let at = text.find('@').unwrap();
        let file = FileText::new("a.c", text.replace('@', "").into_bytes());
        let before = Before::at(&file, at).unwrap();
        let next = first_code(&file, at..file.bytes().len());
        let mut told = before.told(next.as_ref());
        assert_eq!(told.remove(0), "f()");
        (told, before.governs(next.as_ref()))
    }

    #[test]
    fn what_blocks_and_labels_a_statement_is_in() {
        for (body, want) in [
            ("a();\n@b();", vec![]),
            ("if (a &&\n    b(c)) {\n@b();\n}", vec!["if (a && b(c))"]),
            ("if (a) {\nc();\n} else {\n@b();\n}", vec!["if (a) else"]),
            ("if (a)\nc();\nelse if (d) {\n@b();\n}", vec!["if (a) else if (d)"]),
            ("if (a)\nc();\n@b();", vec![]),
            ("for (i = 0; i < 3; i++) {\n@b();\n}", vec!["for (i = 0; i < 3; i++)"]),
            ("list_for_each(p, q) {\nif (a)\nc();\n@b();\n}", vec!["list_for_each(p, q)"]),
            ("do {\n@b();\n} while (a);", vec!["do"]),
            ("do {\nb();\n} while (a);\n@c();", vec![]),
            ("{\n@b();\n}", vec!["{"]),
            (
                "switch (a) {\ncase A:\ncase B + 1:\n@b();\n}",
                vec!["switch (a)", "case A:", "case B + 1:"],
            ),
            (
                "switch (a) {\ncase A:\nc();\nbreak;\ndefault:\n@b();\n}",
                vec!["switch (a)", "default:"],
            ),
            ("return 0;\n@b();", vec!["what follows return"]),
            ("if (a)\nreturn 0;\n@b();", vec![]),
            ("goto out;\nout:\n@b();", vec!["out:"]),
            ("x = a ? b : c;\n@b();", vec![]),
            ("int a[] = { 1, 2 };\n@b();", vec![]),
            ("int a[] = { 1, @2 };", vec!["int a[] ="]),
            ("x = ({ a();\n@b(); });", vec!["x = ("]),
            ("x = (struct s) {\n@.a = 1,\n};", vec!["x = (struct s)"]),
            ("f((struct s) { .a = 1 }, @2);", vec!["behind f((struct s) { }, "]),
            ("a = b +\n@c;", vec!["behind a = b +"]),
        ] {
            let want: Vec<&str> = want.iter().map(|w| w.trim_end()).collect();
            assert_eq!(
                before(body),
                (want.iter().map(|w| (*w).to_owned()).collect(), false),
                "{body}"
            );
        }
    }

    #[test]
    fn what_governs_without_braces() {
        for (body, want) in [
            ("if (a)\n@b();", "if (a) without braces"),
            ("if (a)\nc();\nelse\n@b();", "if (a) else without braces"),
            ("if (a)\nfor (;;)\n@b();", "if (a) for (;;) without braces"),
            ("list_for_each(p, q)\n@b();", "list_for_each(p, q) without braces"),
            ("if (a)\n@*p = 1;", "if (a) without braces"),
            ("if (a)\n@{\nb();\n}", "if (a) without braces"),
            // Only with Y.
            ("#ifdef Y\nif (a)\n#endif\n@b();", "if (a) without braces"),
            // Only without Y.
            ("if (a)\n#ifdef Y\nc();\n#endif\n@b();", "if (a) without braces"),
            ("#ifdef Y\nif (a)\n#else\nc();\n#endif\n@b();", "if (a) without braces"),
        ] {
            assert_eq!(before(body), (vec![want.to_owned()], true), "{body}");
        }
        for body in [
            "pr(\"a\"\n@\"b\");",
            "x = f(a)\n@+ b;",
            "x = f(a)\n@* b;",
            "return f(a)\n@* b;",
            "asm (\"nop\"\n@: : );",
            "int a[] = {\nA(1)\n@B(2)\n};",
            "if (a)\n#ifdef Y\nc();\n#else\nd();\n#endif\n@b();",
        ] {
            assert!(!before(body).1, "{body}");
        }
    }

    #[test]
    fn a_brace_that_each_branch_opens_is_one() {
        let body = "#ifdef Y\nif (a) {\n#else\nif (b) {\n#endif\nc();\n}\n@d();";
        assert_eq!(before(body), (vec![], false));
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_something_before_each_place(
            words in proptest::collection::vec(
                proptest::sample::select(vec![
                    "if", "else", "do", "case", "a", "return", "(", ")", "{", "}", "[", "]", ";",
                    ":", ",", "=", "\"", "/*", "*/", "\n", "\n#if X\n", "\n#else\n", "\n#endif\n",
                ]),
                0..40,
            ),
        ) {
            let text = format!("int f(void)\n{{\n\t{}\n}}\n", words.join(" "));
            let file = FileText::new("a.c", text.clone().into_bytes());
            for at in 0..=text.len() {
                let next = first_code(&file, at..text.len());
                if let Some(before) = Before::at(&file, at) {
                    proptest::prop_assert!(!before.told(next.as_ref()).is_empty());
                }
            }
        }
    }

    #[test]
    fn what_items_are_called() {
        for (text, want) in [
            ("struct s {\n\tint a;\n@\tint b;\n};\n", vec!["struct s"]),
            ("enum e {\n\tA,\n@\tB,\n};\n", vec!["enum e"]),
            ("#define M(x)\t\\\n\tdo {\t\\\n@\t\ta(x);\t\\\n\t} while (0)\n", vec!["#define M"]),
            ("static const int a[] = {\n\t1,\n@\t2,\n};\n", vec!["a"]),
        ] {
            let at = text.find('@').unwrap();
            let file = FileText::new("a.c", text.replace('@', "").into_bytes());
            let before = Before::at(&file, at).unwrap();
            assert_eq!(before.told(None), want, "{text}");
        }
        let file = FileText::new("a.c", b"int a;\nint b;\n".to_vec());
        assert!(Before::at(&file, 7).is_none());
    }
}
