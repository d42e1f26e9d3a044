//! Cuts a file into tokens: C with its comments, strings and preprocessor
//! lines, or plain text with its line breaks. Any bytes are taken; what is no
//! valid C still gives tokens, and an open string ends with its line.

use std::ops::Range;

use memchr::memmem;

/// What a file is written in, as far as tokens go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// C, and what has its comments and strings.
    C,
    /// Anything else: lines count.
    Plain,
}

impl Language {
    /// By the file's name.
    #[must_use]
    pub fn of(path: &str) -> Language {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("c" | "h" | "y" | "l" | "dts" | "dtsi" | "dtso") => Language::C,
            _ => Language::Plain,
        }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Identifier or keyword.
    Word,
    /// Number.
    Number,
    /// String or character literal.
    Literal,
    /// One other character.
    Punct,
    /// Comment (C).
    Comment,
    /// Line break (plain text).
    Newline,
}

/// A token of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// First byte.
    pub start: usize,
    /// One behind the last byte.
    pub end: usize,
    /// What it is.
    pub kind: TokenKind,
    /// It stands in a preprocessor line.
    pub directive: bool,
}

impl Token {
    /// Its bytes' range.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Its bytes in `src`.
    #[must_use]
    pub fn of<'s>(&self, src: &'s [u8]) -> &'s [u8] {
        src.get(self.range()).unwrap_or_default()
    }
}

/// Tokens of a region of `src`, which must begin outside of comments and strings.
#[derive(Clone, Debug)]
pub struct Lexer<'s> {
    src: &'s [u8],
    at: usize,
    end: usize,
    language: Language,
    line_start: bool,
    directive: bool,
}

impl<'s> Lexer<'s> {
    /// Over `region` of `src`.
    #[must_use]
    pub fn new(src: &'s [u8], region: Range<usize>, language: Language) -> Lexer<'s> {
        let end = region.end.min(src.len());
        let at = region.start.min(end);
        let line_start = src.get(..at).is_none_or(|before| {
            before.iter().rev().take_while(|&&b| b != b'\n').all(u8::is_ascii_whitespace)
        });
        Lexer { src, at, end, language, line_start, directive: false }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        if at < self.end { self.src.get(at).copied() } else { None }
    }

    fn run_end(&self, mut at: usize, ok: impl Fn(u8) -> bool) -> usize {
        while self.byte(at).is_some_and(&ok) {
            at += 1;
        }
        at
    }

    fn token(&mut self, kind: TokenKind, end: usize) -> Token {
        let token = Token { start: self.at, end, kind, directive: self.directive };
        self.at = end;
        token
    }

    /// Passes over what can be no brace, literal, comment or preprocessor line:
    /// most of a function's body. Nothing is done within a preprocessor line.
    pub fn skip_code(&mut self) {
        if self.directive || self.language != Language::C {
            return;
        }
        while let Some(b) = self.byte(self.at) {
            match b {
                b'{' | b'}' | b'"' | b'\'' => return,
                b'#' if self.line_start => return,
                b'/' if matches!(self.byte(self.at + 1), Some(b'/' | b'*')) => return,
                b'\n' => self.line_start = true,
                _ if b.is_ascii_whitespace() => {}
                _ => self.line_start = false,
            }
            self.at += 1;
        }
    }

    /// The end of a literal that `quote` opened before `at`.
    fn literal_end(&self, mut at: usize, quote: u8) -> usize {
        while let Some(b) = self.byte(at) {
            match b {
                b'\\' => at += 2,
                b'\n' => return at,
                _ if b == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.end
    }

    fn next_plain(&mut self) -> Option<Token> {
        self.at = self.run_end(self.at, |b| b != b'\n' && b.is_ascii_whitespace());
        let b = self.byte(self.at)?;
        if b == b'\n' {
            return Some(self.token(TokenKind::Newline, self.at + 1));
        }
        if is_word(b) {
            let end = self.run_end(self.at, is_word);
            return Some(self.token(TokenKind::Word, end));
        }
        Some(self.token(TokenKind::Punct, self.at + 1))
    }

    fn next_c(&mut self) -> Option<Token> {
        loop {
            let b = self.byte(self.at)?;
            match b {
                b'\n' => {
                    self.line_start = true;
                    self.directive = false;
                    self.at += 1;
                }
                b'\\' if matches!(self.byte(self.at + 1), Some(b'\n')) => self.at += 2,
                b'\\'
                    if self.byte(self.at + 1) == Some(b'\r')
                        && self.byte(self.at + 2) == Some(b'\n') =>
                {
                    self.at += 3;
                }
                _ if b.is_ascii_whitespace() => self.at += 1,
                b'/' if self.byte(self.at + 1) == Some(b'/') => {
                    let end = self.run_end(self.at, |b| b != b'\n');
                    return Some(self.token(TokenKind::Comment, end));
                }
                b'/' if self.byte(self.at + 1) == Some(b'*') => {
                    let body = self.src.get(self.at + 2..self.end).unwrap_or_default();
                    let end = memmem::find(body, b"*/").map_or(self.end, |n| self.at + n + 4);
                    return Some(self.token(TokenKind::Comment, end));
                }
                _ => {
                    if b == b'#' && self.line_start {
                        self.directive = true;
                    }
                    self.line_start = false;
                    break;
                }
            }
        }
        let b = self.byte(self.at)?;
        let (kind, end) = match b {
            b'"' | b'\'' => (TokenKind::Literal, self.literal_end(self.at + 1, b)),
            b'0'..=b'9' => (TokenKind::Number, self.run_end(self.at, |b| is_word(b) || b == b'.')),
            _ if is_word(b) => (TokenKind::Word, self.run_end(self.at, is_word)),
            _ => (TokenKind::Punct, self.at + 1),
        };
        Some(self.token(kind, end.min(self.end)))
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        match self.language {
            Language::C => self.next_c(),
            Language::Plain => self.next_plain(),
        }
    }
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

/// Tokens of a region, comments left out.
#[must_use]
pub fn tokens(src: &[u8], region: Range<usize>, language: Language) -> Vec<Token> {
    Lexer::new(src, region, language).filter(|t| t.kind != TokenKind::Comment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(src: &str, language: Language) -> Vec<String> {
        tokens(src.as_bytes(), 0..src.len(), language)
            .iter()
            .map(|t| String::from_utf8_lossy(t.of(src.as_bytes())).into_owned())
            .collect()
    }

    #[test]
    fn c_tokens() {
        let cases: [(&str, &[&str]); 9] = [
            ("a->b", &["a", "-", ">", "b"]),
            ("f(/* x */1.5f)// y\n;", &["f", "(", "1.5f", ")", ";"]),
            ("\"a\\\"b/*\" 'x' '\\''", &["\"a\\\"b/*\"", "'x'", "'\\''"]),
            ("\"open\nnext", &["\"open", "next"]),
            ("/* open", &[]),
            ("a\\\nb", &["a", "b"]),
            ("0x1fUL+_x$", &["0x1fUL", "+", "_x$"]),
            ("\"tail\\", &["\"tail\\"]),
            ("", &[]),
        ];
        for (src, want) in cases {
            assert_eq!(words(src, Language::C), want, "{src}");
        }
    }

    #[test]
    fn directives_are_marked_to_their_end() {
        let src = b" # define A \\\n  b\nc # d\n";
        let marks: Vec<bool> =
            Lexer::new(src, 0..src.len(), Language::C).map(|t| t.directive).collect();
        assert_eq!(marks, [true, true, true, true, false, false, false]);
    }

    #[test]
    fn plain_tokens_keep_line_breaks() {
        assert_eq!(
            words("obj-y  += a.o\n\n", Language::Plain),
            ["obj", "-", "y", "+", "=", "a", ".", "o", "\n", "\n"]
        );
    }

    #[test]
    fn languages() {
        for (path, language) in [
            ("net/core/dev.c", Language::C),
            ("a/b.h", Language::C),
            ("MAINTAINERS", Language::Plain),
            ("arch/x86/Kconfig", Language::Plain),
            ("a.c/Makefile", Language::Plain),
            ("x.S", Language::Plain),
        ] {
            assert_eq!(Language::of(path), language, "{path}");
        }
    }
}
