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
            before.run_macro(file, item, at);
        } else {
            before.run(item, at);
        }
        Some(before)
    }

    /// The statements of a macro, as if they stood in a function.
    fn run_macro(&mut self, file: &FileText, item: &Item, at: usize) {
        self.frames.push(Frame::default());
        let name = item.names.first().map_or(item.span.start, |n| n.end);
        let mut depth = 0_usize;
        let mut in_parameters = file.get(name..name + 1) == b"(";
        for token in Lexer::new(self.src, name..at, Language::C) {
            match token.of(self.src) {
                _ if token.kind == TokenKind::Comment => {}
                b"(" if in_parameters => depth += 1,
                b")" if in_parameters => {
                    depth = depth.saturating_sub(1);
                    in_parameters = depth > 0;
                }
                _ if in_parameters => {}
                _ => self.take(token, false),
            }
        }
    }

    /// The conditions of the `do { … } while (…)` that what stands here is in, and which come
    /// behind it.
    pub fn loops(&self, at: usize) -> Vec<String> {
        let is_do = |f: &Frame| self.word(f.head.last()) == b"do";
        let mut open: Vec<bool> = self.frames.iter().map(is_do).collect();
        let mut found = Vec::new();
        let mut inside = 0_usize;
        let mut condition: Option<Vec<Token>> = None;
        for token in Lexer::new(self.src, at..self.src.len(), Language::C) {
            if !open.contains(&true) && condition.is_none() {
                break;
            }
            if token.kind == TokenKind::Comment {
                continue;
            }
            match token.of(self.src) {
                b";" if condition.is_some() => {
                    found.extend(condition.take().map(|c| format!("do {}", self.text(&c))));
                }
                _ if condition.is_some() => condition.iter_mut().for_each(|c| c.push(token)),
                b"{" => inside += 1,
                b"}" if inside > 0 => inside -= 1,
                b"}" => {
                    condition = open.pop().filter(|is_do| *is_do).map(|_| Vec::new());
                }
                _ => {}
            }
        }
        found
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
                let src = self.src;
                let is_case = |label: &[Token]| {
                    label.first().is_some_and(|t| matches!(t.of(src), b"case" | b"default"))
                };
                if let Some(frame) = self.frames.last_mut() {
                    if !std::mem::replace(&mut frame.fresh, true) {
                        // A label to go to is one of the case that it stands in.
                        let stays = !is_case(&label);
                        frame.labels.retain(|l| stays && is_case(l));
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
        // A macro may stand for a case.
        let macro_alone = self.units(&self.begun) == (self.begun.len(), 0);
        self.word(first) == b"case"
            || macro_alone && !self.begun.is_empty()
            || self.begun.len() == 1 && first.is_some_and(|t| t.kind == TokenKind::Word)
    }

    fn open(&mut self, token: Token, is_enum: bool) {
        let first = self.word(self.begun.first());
        let last = self.word(self.begun.last());
        // The `=` of a condition is none.
        let heads = self.units(&self.begun).0 == self.begun.len();
        let assigns = last == b"=" || last == b")" && !heads && self.assigns();
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

    /// Whether what has begun assigns something, outside of all parentheses.
    fn assigns(&self) -> bool {
        let mut depth = 0_usize;
        self.begun.iter().any(|t| {
            match t.of(self.src) {
                b"(" | b"[" => depth += 1,
                b")" | b"]" => depth = depth.saturating_sub(1),
                b"=" => return depth == 0,
                _ => {}
            }
            false
        })
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
            let keyword = KEYWORDS.contains(&word);
            // A macro may bring the parentheses: `if unlikely(x)`.
            let brings = |t: &Token| keyword && t.kind == TokenKind::Word;
            let open = at + if tokens.get(at + 1).is_some_and(brings) { 2 } else { 1 };
            if !head || self.word(tokens.get(open)) != b"(" {
                break;
            }
            let mut depth = 0_usize;
            let rest = tokens.iter().enumerate().skip(open);
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
            // Loops by macros are mostly called so.
            if keyword || memchr::memmem::find(word, b"for_each").is_some() {
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

/// How many statements `text` has, if it is C that may stand in a function.
pub fn statements(text: &[u8]) -> usize {
    let mut before = Before {
        src: text,
        label: String::new(),
        frames: vec![Frame::default()],
        begun: Vec::new(),
        parens: 0,
    };
    let mut count = 0_usize;
    for token in Lexer::new(text, 0..text.len(), Language::C) {
        if token.directive || token.kind == TokenKind::Comment {
            continue;
        }
        let begins = before.begun.is_empty();
        let top = before.frames.len() == 1;
        // It goes on with the statement before.
        if begins && top && token.of(text) == b"else" {
            count = count.saturating_sub(1);
        }
        let deep = before.frames.len();
        before.take(token, false);
        let ended = before.begun.is_empty() && before.frames.len() == 1;
        let closed = deep == 2 && token.of(text) == b"}";
        if ended && (token.of(text) == b";" || closed) {
            count += 1;
        }
    }
    count + usize::from(!before.begun.is_empty())
}

/// The first token of code in `range` that is neither a comment nor of a preprocessor line.
pub fn first_code(file: &FileText, range: std::ops::Range<usize>) -> Option<Token> {
    let mut tokens = Lexer::new(file.bytes(), range, Language::C);
    tokens.find(|t| !t.directive && t.kind != TokenKind::Comment)
}

#[cfg(test)]
mod tests;
