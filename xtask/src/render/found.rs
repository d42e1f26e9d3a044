//! What a place is like that an edit found: what it stands in, and what is taken from there.

use cscan::lex::{Language, Lexer, TokenKind};
use cscan::lines::{line_number, lines};

use crate::mail::diff::regions;
use crate::series::key_path::KeyPath;
use crate::series::places::Place;

use super::file_text::FileText;
use super::locate::{Miss, Near, Spot};

/// The place of `spot`, for an edit that takes its text.
pub fn taken(edit: &KeyPath, deed: &str, file: &FileText, spot: &Spot) -> Place {
    Place {
        text: file.get(spot.span.clone()).to_vec(),
        ..inserted(edit, deed, file, spot.span.start, spot.inline())
    }
}

/// The place at `at`, where an edit puts text.
pub fn inserted(edit: &KeyPath, deed: &str, file: &FileText, at: usize, inline: bool) -> Place {
    let mut around = around(file, at);
    if !inline {
        around.extend(beside(file, at));
    }
    Place {
        edit: edit.clone(),
        deed: deed.to_owned(),
        file: file.path().to_owned(),
        number: line_number(file.bytes(), at),
        around,
        text: Vec::new(),
    }
}

/// All of a file.
pub fn whole(edit: &KeyPath, deed: &str, file: &FileText) -> Place {
    Place { text: file.bytes().to_vec(), ..inserted(edit, deed, file, 0, true) }
}

/// The places that something else than a locator found: those where `new` differs.
///
/// # Errors
/// When the texts cannot be compared.
pub fn changed(
    edit: &KeyPath,
    deed: &str,
    file: &FileText,
    new: &[u8],
) -> crate::error::Result<Vec<Place>> {
    let all: Vec<_> = lines(file.bytes(), 0..file.bytes().len()).collect();
    let mut places = Vec::new();
    for region in regions::between(file.bytes(), new)? {
        let start = all.get(region.old.start).map_or(file.bytes().len(), |l| l.start);
        let last = region.old.end.checked_sub(1).and_then(|last| all.get(last));
        let end = last.map_or(start, |l| l.end).max(start);
        let text = file.get(start..end).to_vec();
        places.push(Place { text, ..inserted(edit, deed, file, start, false) });
    }
    Ok(places)
}

/// The conditionals and blocks that `at` is in, the outermost first.
pub fn around(file: &FileText, at: usize) -> Vec<String> {
    if file.language() != Language::C {
        return conditionals(file, at);
    }
    let branches = file.scan().branches.iter();
    let inside = branches.filter(|b| b.body.start <= at && at <= b.body.end);
    let mut all: Vec<String> = inside.map(|b| format!("#if {}", b.condition)).collect();
    all.extend(blocks(file, at));
    all
}

/// What a text ends and leaves open of blocks and of preprocessor conditionals.
#[derive(Debug, Default, PartialEq, Eq)]
struct Effect {
    blocks: (usize, usize),
    conditionals: (usize, usize),
}

impl Effect {
    fn of(text: &[u8]) -> Effect {
        let mut effect = Effect::default();
        let end = |(ended, open): &mut (usize, usize)| match open.checked_sub(1) {
            Some(left) => *open = left,
            None => *ended += 1,
        };
        let mut hash = false;
        for token in Lexer::new(text, 0..text.len(), Language::C) {
            let word = token.of(text);
            match (token.directive, word) {
                (false, b"{") => effect.blocks.1 += 1,
                (false, b"}") => end(&mut effect.blocks),
                (true, b"if" | b"ifdef" | b"ifndef") if hash => effect.conditionals.1 += 1,
                (true, b"endif") if hash => end(&mut effect.conditionals),
                (true, b"else" | b"elif") if hash => {
                    end(&mut effect.conditionals);
                    effect.conditionals.1 += 1;
                }
                _ => {}
            }
            hash = token.directive && word == b"#";
        }
        effect
    }
}

/// What keeps `new` from taking a place: it begins in one block or conditional and ends in
/// another one, and `new` does not do the same.
///
/// # Errors
/// Says so.
pub fn check_whole(file: &FileText, spot: &Spot, new: &str) -> Result<(), Miss> {
    if spot.inline() || file.language() != Language::C {
        return Ok(());
    }
    if Effect::of(file.get(spot.span.clone())) == Effect::of(new.as_bytes()) {
        return Ok(());
    }
    let place = file.position(spot.span.start);
    let last = file.position(spot.span.end.saturating_sub(1));
    Err(Miss::Unfit {
        what: format!("the place from {place} to {last}"),
        why: "it begins in one block or #if and ends in another one, which would be torn"
            .to_owned(),
        at: Near::at(file, spot.span.start),
    })
}

/// Where the item begins that has `at` in its body.
fn host(file: &FileText, at: usize) -> Option<usize> {
    let items = file.scan().items.iter();
    let has = |body: &std::ops::Range<usize>| body.start <= at && at <= body.end;
    // Macros and includes may lie within others, which are what counts.
    let mut hosts = items.filter(|i| i.body.as_ref().is_some_and(has));
    hosts.next().map(|i| i.span.start)
}

/// The first word of what each block around `at` belongs to: `if`, `for`, a macro's name. A
/// function's or structure's own block is `{`.
fn blocks(file: &FileText, at: usize) -> Vec<String> {
    let Some(from) = host(file, at) else { return Vec::new() };
    let src = file.bytes();
    let mut open: Vec<String> = Vec::new();
    let mut first: Option<String> = None;
    let mut parens = 0_usize;
    for token in Lexer::new(src, from..at, Language::C) {
        if token.directive || token.kind == TokenKind::Comment {
            continue;
        }
        match token.of(src) {
            b"(" => parens += 1,
            b")" => parens = parens.saturating_sub(1),
            b"{" => {
                let head = first.take().filter(|_| !open.is_empty());
                open.push(head.unwrap_or_else(|| "{".to_owned()));
            }
            b"}" => {
                open.pop();
                first = None;
            }
            b";" if parens == 0 => first = None,
            word if first.is_none() => first = Some(String::from_utf8_lossy(word).into_owned()),
            _ => {}
        }
    }
    open
}

/// What stands right before `at` and is no end of a statement or block, and an `else` behind it:
/// what governs the place, or is parted by it.
fn beside(file: &FileText, at: usize) -> Option<String> {
    let from = host(file, at)?;
    let src = file.bytes();
    let code = |range| {
        let tokens = Lexer::new(src, range, Language::C);
        tokens.filter(|t| !t.directive && t.kind != TokenKind::Comment)
    };
    let before = code(from..at).last().map(|t| t.of(src));
    let before = before.filter(|t| !matches!(*t, b";" | b"{" | b"}"));
    let is_else = code(at..src.len()).next().is_some_and(|t| t.of(src) == b"else");
    let before = String::from_utf8_lossy(before.unwrap_or_default()).into_owned();
    match (before.as_str(), is_else) {
        ("", false) => None,
        ("", true) => Some("before else".to_owned()),
        (_, false) => Some(format!("behind {before}")),
        (_, true) => Some(format!("behind {before}, before else")),
    }
}

/// The conditionals of a Makefile or Kconfig file that `at` is in.
fn conditionals(file: &FileText, at: usize) -> Vec<String> {
    let name = file.path().rsplit('/').next().unwrap_or_default();
    let kconfig = name.starts_with("Kconfig");
    if !kconfig && !name.starts_with("Makefile") && !name.starts_with("Kbuild") {
        return Vec::new();
    }
    let mut open: Vec<String> = Vec::new();
    for line in lines(file.bytes(), 0..at) {
        let line = String::from_utf8_lossy(file.get(line)).into_owned();
        let words: Vec<&str> = line.split_whitespace().collect();
        let text = || words.join(" ");
        match words.first().copied() {
            // Help may begin like that, and is indented.
            Some("if") if kconfig && line.starts_with("if") => open.push(text()),
            Some("ifeq" | "ifneq" | "ifdef" | "ifndef") if !kconfig => open.push(text()),
            Some("else") if !kconfig => {
                if let Some(last) = open.last_mut() {
                    *last = format!("{} of {last}", text());
                }
            }
            Some("endif") => drop(open.pop()),
            _ => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, text: &str) -> Vec<String> {
        let at = text.find('@').unwrap();
        let file = FileText::new(path, text.replace('@', "").into_bytes());
        inserted(&KeyPath::root(), "", &file, at, false).around
    }

    #[test]
    fn what_c_stands_in() {
        for (text, want) in [
            ("@int a;\n", vec![]),
            ("#ifdef X\n@int a;\n#endif\n", vec!["#if X"]),
            ("#ifdef X\nint a;\n@#endif\n", vec!["#if X"]),
            ("#ifdef X\nint a;\n#endif\n@int b;\n", vec![]),
            ("#ifdef X\n#else\n@int a;\n#endif\n", vec!["#if else X"]),
            ("void f(void)\n{\n@\ta();\n}\n", vec!["{"]),
            ("void f(void)\n{\n\ta();\n@}\n", vec!["{"]),
            ("void f(void)\n{\n\tif (x) {\n@\t\ta();\n\t}\n}\n", vec!["{", "if"]),
            ("void f(void)\n{\n\tif (x) {\n\t\ta();\n\t}\n@}\n", vec!["{"]),
            ("void f(void)\n{\n\tfor (i = 0; i < 3; i++) {\n@\t\ta();\n\t}\n}\n", vec!["{", "for"]),
            ("void f(void)\n{\n\tb();\n\teach(x, l) {\n@\t\ta();\n\t}\n}\n", vec!["{", "each"]),
            ("void f(void)\n{\n\tif (x)\n@\t\ta();\n}\n", vec!["{", "behind )"]),
            (
                "void f(void)\n{\n\tif (x)\n\t\ta();\n\telse\n@\t\tb();\n}\n",
                vec!["{", "behind else"],
            ),
            (
                "void f(void)\n{\n\tif (x)\n\t\ta();\n@\telse\n\t\tb();\n}\n",
                vec!["{", "before else"],
            ),
            (
                "void f(void)\n{\n\tif (x)\n#ifdef Y\n@\t\ta();\n#endif\n}\n",
                vec!["#if Y", "{", "behind )"],
            ),
            ("struct s {\n\tint a;\n@\tint b;\n};\n", vec!["{"]),
        ] {
            assert_eq!(at("a.c", text), want, "{text}");
        }
    }

    #[test]
    fn what_lines_of_a_makefile_or_kconfig_file_stand_in() {
        for (path, text, want) in [
            ("Makefile", "a\n@b\n", vec![]),
            ("net/Makefile", "ifdef  CONFIG_X\n@b\nendif\n", vec!["ifdef CONFIG_X"]),
            ("net/Makefile", "ifdef CONFIG_X\nelse\n@b\nendif\n", vec!["else of ifdef CONFIG_X"]),
            ("net/Makefile", "ifdef CONFIG_X\nendif\n@b\n", vec![]),
            (
                "net/Kconfig",
                "if NET\n\nif INET\n@config A\nendif\nendif\n",
                vec!["if NET", "if INET"],
            ),
            ("net/Kconfig", "config A\n\thelp\n\t  if it\n@config B\n", vec![]),
            ("doc/a.rst", "if x\n@b\n", vec![]),
        ] {
            assert_eq!(at(path, text), want, "{text}");
        }
    }

    #[test]
    fn what_a_text_ends_and_leaves_open() {
        for (text, blocks, conditionals) in [
            ("if (x) {\n\ta();\n}\n", (0, 0), (0, 0)),
            ("a();\n}\n", (1, 0), (0, 0)),
            ("} else {\n", (1, 1), (0, 0)),
            ("int f(void)\n{\n\twhile (1) {\n", (0, 2), (0, 0)),
            ("#ifdef X\n#else\n#endif\n", (0, 0), (0, 0)),
            ("#else\na();\n", (0, 0), (1, 1)),
            ("a();\n#endif\n#if A && defined(if)\n", (0, 0), (1, 1)),
            ("/* { */ \"{\" '{'\n", (0, 0), (0, 0)),
        ] {
            assert_eq!(Effect::of(text.as_bytes()), Effect { blocks, conditionals }, "{text}");
        }
    }

    #[test]
    fn what_is_taken_and_where() {
        let file = FileText::new("a.c", b"int a;\nint b;\n".to_vec());
        let spot = Spot {
            span: 7..14,
            shape: super::super::locate::Shape::Lines,
            kind: crate::series::locator::Kind::Text,
            inner: false,
        };
        let place = taken(&KeyPath::root(), "delete", &file, &spot);
        assert_eq!((place.number, place.text.as_slice()), (2, &b"int b;\n"[..]));
    }
}
