//! Text anchors: a sequence of tokens that is sought in a file, white space and
//! comments aside. `...` stands for any tokens up to the next one named, within
//! the same brackets and not beyond `;`, `{` or `}`.

use std::ops::Range;

use crate::lex::{Language, Lexer, Token, TokenKind, tokens};

/// Steps that one search may take; an anchor with many `...` gives up there.
const STEPS: usize = 2_000_000;

/// A region shorter than this is read whole.
const WORTHWHILE: usize = if cfg!(test) { 1 } else { 8 << 10 };

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Token(Vec<u8>),
    /// `...`; inside of parentheses it may pass `{ … }`.
    Any {
        in_parens: bool,
    },
}

/// An anchor, cut into tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pieces: Vec<Piece>,
    language: Language,
}

impl Anchor {
    /// Cuts `text`; `None` when it has no token (blank, or comments alone).
    #[must_use]
    pub fn new(text: &str, language: Language) -> Option<Anchor> {
        let src = match language {
            Language::C => text,
            // Blank lines around are the notation's, not the anchor's.
            Language::Plain => text.trim(),
        };
        let src = src.as_bytes();
        let mut pieces = Vec::new();
        let mut parens = 0_usize;
        for token in tokens(src, 0..src.len(), language) {
            match token.of(src) {
                b"(" => parens += 1,
                b")" => parens = parens.saturating_sub(1),
                _ => {}
            }
            pieces.push(Piece::Token(token.of(src).to_vec()));
            let dots = pieces.iter().rev().take(3);
            if dots.filter(|p| matches!(p, Piece::Token(t) if t == b".")).count() == 3 {
                pieces.truncate(pieces.len() - 3);
                // Two in a row say no more than one, and cost time.
                if !matches!(pieces.last(), Some(Piece::Any { .. })) {
                    pieces.push(Piece::Any { in_parens: parens > 0 });
                }
            }
        }
        let named = pieces.iter().any(|p| matches!(p, Piece::Token(_)));
        named.then_some(Anchor { pieces, language })
    }

    /// Whether `file_tokens` as a whole are this anchor.
    #[must_use]
    pub fn is(&self, src: &[u8], file_tokens: &[Token]) -> bool {
        let mut steps = STEPS;
        self.match_at(src, file_tokens, 0, 0, true, &mut steps) == Some(file_tokens.len())
    }

    /// Every place in `region` that has these tokens, from its first token's
    /// start to its last one's end. Places do not overlap.
    #[must_use]
    pub fn find(&self, src: &[u8], region: Range<usize>) -> Vec<Range<usize>> {
        let text = src.get(region.start..region.end.min(src.len()));
        if !self.may_be_in(text.unwrap_or_default()) {
            return Vec::new();
        }
        let file_tokens = tokens(src, region, self.language);
        self.find_in(src, &file_tokens)
    }

    /// As [`Anchor::find`], and reads only what is around its longest word. `breaks`
    /// are those of the [scan](crate::scan::Scan::breaks) of `src`.
    #[must_use]
    pub fn find_among(
        &self,
        src: &[u8],
        region: Range<usize>,
        breaks: &[usize],
    ) -> Vec<Range<usize>> {
        match self.windows(src, &region, breaks) {
            Some(windows) => {
                let found = |window| self.find_in(src, &tokens(src, window, self.language));
                windows.into_iter().flat_map(found).collect()
            }
            None => self.find(src, region),
        }
    }

    /// The parts of `region` that hold every place, if that is not most of it. A
    /// place has its longest word, and no more tokens than the anchor: so it does
    /// not reach over as many items.
    fn windows(
        &self,
        src: &[u8],
        region: &Range<usize>,
        breaks: &[usize],
    ) -> Option<Vec<Range<usize>>> {
        let plain = self.pieces.iter().all(|p| matches!(p, Piece::Token(_)));
        if !plain || self.language != Language::C || region.len() < WORTHWHILE {
            return None;
        }
        let text = src.get(region.clone())?;
        let reach = self.pieces.len();
        let mut windows: Vec<Range<usize>> = Vec::new();
        let mut covered = 0;
        for at in memchr::memmem::find_iter(text, self.longest()) {
            let at = region.start + at;
            let next = breaks.partition_point(|&b| b <= at);
            let start = next.checked_sub(reach + 1).and_then(|i| breaks.get(i)).copied();
            let start = start.unwrap_or(region.start).max(region.start);
            let end = breaks.get(next + reach).copied().unwrap_or(region.end).min(region.end);
            covered += end - start;
            match windows.last_mut() {
                Some(last) if start <= last.end => {
                    covered -= last.end.min(end) - start;
                    last.end = last.end.max(end);
                }
                _ => windows.push(start..end),
            }
            if covered > region.len() / 2 {
                return None;
            }
        }
        Some(windows)
    }

    /// As [`Anchor::find`], in tokens that are there already.
    #[must_use]
    pub fn find_in(&self, src: &[u8], file_tokens: &[Token]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut steps = STEPS;
        let mut i = 0;
        while i < file_tokens.len() {
            match self.match_at(src, file_tokens, i, 0, false, &mut steps) {
                Some(end) if end > i => {
                    if let (Some(first), Some(last)) =
                        (file_tokens.get(i), file_tokens.get(end - 1))
                    {
                        found.push(first.start..last.end);
                    }
                    i = end;
                }
                _ => i += 1,
            }
            if steps == 0 {
                break;
            }
        }
        found
    }

    /// The index behind the match of pieces from `piece` on at token `i`.
    fn match_at(
        &self,
        src: &[u8],
        file: &[Token],
        mut i: usize,
        mut piece: usize,
        to_end: bool,
        steps: &mut usize,
    ) -> Option<usize> {
        loop {
            *steps = steps.checked_sub(1)?;
            match self.pieces.get(piece) {
                None => return (!to_end || i == file.len()).then_some(i),
                Some(Piece::Token(wanted)) => {
                    if file.get(i)?.of(src) != wanted.as_slice() {
                        return None;
                    }
                    i += 1;
                    piece += 1;
                }
                Some(Piece::Any { in_parens }) => {
                    let mut depth = 0_usize;
                    loop {
                        if depth == 0
                            && let Some(end) = self.match_at(src, file, i, piece + 1, to_end, steps)
                        {
                            return Some(end);
                        }
                        let token = file.get(i)?;
                        depth = depth_after(token, src, depth, *in_parens)?;
                        i += 1;
                        *steps = steps.checked_sub(1)?;
                    }
                }
            }
        }
    }

    /// Whether its longest word is somewhere in `src` at all, comments included: a
    /// cheap test before a parse.
    #[must_use]
    pub fn may_be_in(&self, src: &[u8]) -> bool {
        memchr::memmem::find(src, self.longest()).is_some()
    }

    /// Its longest word; every place has it.
    #[must_use]
    pub fn longest(&self) -> &[u8] {
        let words = self.pieces.iter().filter_map(|p| match p {
            Piece::Token(t) => Some(t.as_slice()),
            Piece::Any { .. } => None,
        });
        words.max_by_key(|word| word.len()).unwrap_or_default()
    }

    /// How alike a line is, from 0 to 1: shared tokens of both.
    #[must_use]
    pub fn likeness(&self, src: &[u8], line: Range<usize>) -> f64 {
        let theirs: Vec<&[u8]> = Lexer::new(src, line, self.language)
            .filter(|t| !matches!(t.kind, TokenKind::Comment | TokenKind::Newline))
            .map(|t| t.of(src))
            .collect();
        // Only the anchor's first line: a candidate is one line too.
        let ours: Vec<&[u8]> = self
            .pieces
            .iter()
            .filter_map(|p| match p {
                Piece::Token(t) => Some(t.as_slice()),
                Piece::Any { .. } => None,
            })
            .take_while(|t| *t != b"\n")
            .take(24)
            .collect();
        let all = ours.len() + theirs.len();
        if all == 0 {
            return 0.0;
        }
        let mut pool = theirs;
        let mut weight = 0.0;
        let mut shared = 0.0;
        let mut word = false;
        for token in &ours {
            // Words tell lines apart; punctuation is everywhere.
            let value = if token.len() > 1 { 2.0 } else { 0.5 };
            weight += value;
            if let Some(at) = pool.iter().position(|t| t == token) {
                pool.swap_remove(at);
                word |= token.iter().any(u8::is_ascii_alphanumeric);
                shared += value;
            }
        }
        if !word {
            return 0.0;
        }
        let left: f64 = pool.iter().map(|t| if t.len() > 1 { 0.5 } else { 0.1 }).sum();
        shared / (weight + left)
    }
}

/// The bracket depth behind `token` within a `...`, `None` where that ends.
fn depth_after(token: &Token, src: &[u8], depth: usize, in_parens: bool) -> Option<usize> {
    if token.kind == TokenKind::Newline {
        return None;
    }
    match token.of(src) {
        b"(" | b"[" => Some(depth + 1),
        b")" | b"]" => depth.checked_sub(1),
        b"{" if depth > 0 || in_parens => Some(depth + 1),
        b"}" if depth > 0 => Some(depth - 1),
        b"{" | b"}" | b";" if depth == 0 => None,
        _ => Some(depth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(anchor: &str, src: &str, language: Language) -> Vec<String> {
        Anchor::new(anchor, language)
            .unwrap()
            .find(src.as_bytes(), 0..src.len())
            .into_iter()
            .map(|r| src[r].to_owned())
            .collect()
    }

    #[test]
    fn tokens_match_across_blanks_and_comments() {
        let src = "\tx = f(a,\n\t      b); /* note */\n\ty(x);\n";
        let cases: [(&str, &[&str]); 9] = [
            ("x=f(a,b);", &["x = f(a,\n\t      b);"]),
            ("x = f(...);", &["x = f(a,\n\t      b);"]),
            ("f(..., b)", &["f(a,\n\t      b)"]),
            ("x", &["x", "x"]),
            ("b); y(x);", &["b); /* note */\n\ty(x);"]),
            ("f(a)", &[]),
            ("x = ... y(x);", &[]),
            ("y(...)", &["y(x)"]),
            ("z", &[]),
        ];
        for (anchor, want) in cases {
            assert_eq!(found(anchor, src, Language::C), want, "{anchor}");
        }
    }

    #[test]
    fn any_stays_in_its_brackets_and_statement() {
        let src = "f(a(1, 2), b[3]); g({ x; }, 2); h(1); i(2);";
        assert_eq!(found("f(...)", src, Language::C), ["f(a(1, 2), b[3])"]);
        assert_eq!(found("g(...)", src, Language::C), ["g({ x; }, 2)"]);
        assert!(found("h(... i", src, Language::C).is_empty());
        assert!(found("h ... (2)", src, Language::C).is_empty());
        assert!(found("a(... b", src, Language::C).is_empty());
    }

    #[test]
    fn plain_text_is_compared_by_lines() {
        let src = "config A\n\tbool  \"x y\"\n\n\tselect B if C\n";
        assert_eq!(found("select B if C", src, Language::Plain), ["select B if C"]);
        assert_eq!(found("bool \"x y\"\n", src, Language::Plain), ["bool  \"x y\""]);
        assert!(found("bool \"x y\" select B", src, Language::Plain).is_empty());
        assert_eq!(found("config A\nbool ...", src, Language::Plain).len(), 1);
        assert!(found("config ... select", src, Language::Plain).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn among_breaks_as_everywhere(
            src in proptest::collection::vec(proptest::sample::select(vec![
                "int f(void)\n{\n\treturn long_name(1);\n}\n", "int v; ", "int long_name;\n", "\n", "/* long_name */\n",
                "struct s {\n\tint a;\n};\n", "\"long_name\" ", "/*", "*/\n", "#define M(x) long_name(x)\n", "}\n", "{ ",
                "long_name; long_name;\n", "x;\n", "#ifdef A\n", "#endif\n",
            ]), 0..30),
            anchor in proptest::collection::vec(proptest::sample::select(vec![
                "long_name", ";", "int", "(", "1", "}", "{", "x", "\"long_name\"",
            ]), 1..5),
            cut: (proptest::sample::Index, proptest::sample::Index),
        ) {
            let src = src.concat();
            let anchor = Anchor::new(&anchor.join(" "), Language::C).unwrap();
            let breaks = crate::scan::scan(src.as_bytes()).breaks(src.as_bytes());
            let all = 0..src.len();
            proptest::prop_assert_eq!(
                anchor.find_among(src.as_bytes(), all.clone(), &breaks),
                anchor.find(src.as_bytes(), all)
            );
            // A region begins between tokens, as a break does.
            let from = if breaks.is_empty() { 0 } else { breaks[cut.0.index(breaks.len())] };
            let region = from..from + cut.1.index(src.len() - from + 1);
            proptest::prop_assert_eq!(
                anchor.find_among(src.as_bytes(), region.clone(), &breaks),
                anchor.find(src.as_bytes(), region)
            );
        }
    }

    #[test]
    fn an_anchor_needs_a_token() {
        for nothing in ["", "  \n", "/* only a comment */", "...", "... // x"] {
            assert_eq!(Anchor::new(nothing, Language::C), None, "{nothing}");
        }
    }

    #[test]
    fn many_wild_cards_end() {
        let anchor = Anchor::new(&"(...".repeat(40), Language::C).unwrap();
        let src = "(".repeat(4000);
        let begun = std::time::Instant::now();
        let _ = anchor.find(src.as_bytes(), 0..src.len());
        assert!(begun.elapsed().as_secs() < 10);
    }
}
