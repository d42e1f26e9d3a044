//! What a place is like that an edit found: what it stands in, and what is taken from there.

mod build;

use cscan::lex::{Language, Lexer, TokenKind};
use cscan::lines::{line_number, lines};
use cscan::scan::Branch;

use crate::mail::diff::regions;
use crate::series::key_path::KeyPath;
use crate::series::places::Place;

use super::before::{Before, first_code};
use super::file_text::FileText;
use super::locate::{Miss, Near, Spot};

/// The place of `spot`, for an edit that takes its text.
pub fn taken(edit: &KeyPath, deed: &str, file: &FileText, spot: &Spot) -> Place {
    let mut around = around(file, spot.span.start);
    if spot.inline() {
        around.extend(rest(file, spot.span.end));
    } else if else_follows(file, spot.span.end) {
        around.push("before else".to_owned());
    }
    Place {
        edit: edit.clone(),
        deed: deed.to_owned(),
        file: file.path().to_owned(),
        number: line_number(file.bytes(), spot.span.start),
        around,
        text: file.get(spot.span.clone()).to_vec(),
    }
}

/// The place before (or behind) `spot`, where an edit puts text. Of what it is put beside the
/// nearest line counts, but of an item that has a name: what that is like is its own matter.
pub fn beside(edit: &KeyPath, deed: &str, file: &FileText, spot: &Spot, before: bool) -> Place {
    let at = if before { spot.span.start } else { spot.span.end };
    let mut all = lines(file.bytes(), spot.span.clone());
    let line = if before { all.next() } else { all.last() };
    let line = line.filter(|_| !spot.inner && !spot.kind.stands_alone());
    // Behind the last line of an entry that is not C comes the next entry.
    let beside = line.as_ref().filter(|_| file.language() != Language::C);
    let mut around = around(file, beside.map_or(at, |line| line.start));
    if spot.inline() {
        around.extend(rest(file, at));
    } else if else_follows(file, at) {
        around.push("before else".to_owned());
    }
    Place {
        edit: edit.clone(),
        deed: deed.to_owned(),
        file: file.path().to_owned(),
        number: line_number(file.bytes(), at),
        around,
        text: line.map_or_else(Vec::new, |line| file.get(line).to_vec()),
    }
}

/// That a capture found nothing, and its default stands for it.
pub fn lacking(edit: &KeyPath, name: &str, file: &str) -> Place {
    Place {
        edit: edit.clone(),
        deed: "capture".to_owned(),
        file: file.to_owned(),
        number: 1,
        around: vec![format!("a file without what {name} captures")],
        text: Vec::new(),
    }
}

/// All of a file.
pub fn whole(edit: &KeyPath, deed: &str, file: &FileText) -> Place {
    Place {
        edit: edit.clone(),
        deed: deed.to_owned(),
        file: file.path().to_owned(),
        number: 1,
        around: Vec::new(),
        text: file.bytes().to_vec(),
    }
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
        places.push(Place {
            edit: edit.clone(),
            deed: deed.to_owned(),
            file: file.path().to_owned(),
            number: line_number(file.bytes(), start),
            around: around(file, start),
            text: file.get(start..end).to_vec(),
        });
    }
    Ok(places)
}

/// What `at` is in, the outermost first: conditionals, its item and blocks, what is right before.
pub fn around(file: &FileText, at: usize) -> Vec<String> {
    if file.language() != Language::C {
        return build::around(file, at);
    }
    let branches = &file.scan().branches;
    let inside = branches.iter().filter(|b| b.body.start <= at && at <= b.body.end);
    let mut all: Vec<String> = inside.map(|b| conditions(branches, b)).collect();
    if let Some(before) = Before::at(file, at) {
        let next = first_code(file, at..file.bytes().len());
        all.extend(before.told(next.as_ref()));
        all.extend(before.loops(at));
    }
    all
}

/// The condition of a branch, with those that it is the `#elif` or `#else` of.
fn conditions(all: &[Branch], branch: &Branch) -> String {
    let before = all.iter().filter(|b| b.group == branch.group && b.body.end <= branch.body.start);
    let before: Vec<&str> = before.map(|b| b.condition.as_str()).collect();
    // That of the `#else` of an `#if` has it.
    if before.is_empty() || before.len() == 1 && branch.condition.starts_with("else ") {
        return format!("#if {}", branch.condition);
    }
    format!("#if {} behind {}", branch.condition, before.join(", "))
}

/// What stands on the other side of a span inside of a statement, up to its end.
fn rest(file: &FileText, at: usize) -> Option<String> {
    const MOST: usize = 64;
    if file.language() != Language::C {
        return None;
    }
    let mut depth = 0_usize;
    let tokens = Lexer::new(file.bytes(), at..file.bytes().len(), Language::C);
    let tokens = tokens.filter(|t| t.kind != TokenKind::Comment);
    let rest = tokens.map(|t| t.of(file.bytes())).take_while(|word| {
        match *word {
            b"(" | b"[" => depth += 1,
            b")" | b"]" if depth > 0 => depth -= 1,
            b")" | b"]" | b";" | b"{" | b"}" => return false,
            b"," => return depth > 0,
            _ => {}
        }
        true
    });
    let rest: Vec<_> = rest.take(MOST).map(String::from_utf8_lossy).collect();
    (!rest.is_empty()).then(|| format!("before {}", rest.join(" ")))
}

/// Whether an `else` stands behind `at`: what is put or left out before it parts it from its `if`.
pub fn else_follows(file: &FileText, at: usize) -> bool {
    let c = file.language() == Language::C;
    let next = first_code(file, at..file.bytes().len()).filter(|_| c);
    next.is_some_and(|t| t.of(file.bytes()) == b"else")
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
        // Each branch of a conditional may open the same block.
        let mut starts: Vec<(usize, usize)> = Vec::new();
        for token in Lexer::new(text, 0..text.len(), Language::C) {
            let word = token.of(text);
            match (token.directive, word) {
                (false, b"{") => effect.blocks.1 += 1,
                (false, b"}") => end(&mut effect.blocks),
                (true, b"if" | b"ifdef" | b"ifndef") if hash => {
                    effect.conditionals.1 += 1;
                    starts.push(effect.blocks);
                }
                (true, b"endif") if hash => {
                    end(&mut effect.conditionals);
                    starts.pop();
                }
                (true, b"else" | b"elif") if hash => {
                    end(&mut effect.conditionals);
                    effect.conditionals.1 += 1;
                    if let Some(start) = starts.last() {
                        effect.blocks = *start;
                    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, text: &str) -> Vec<String> {
        let at = text.find('@').unwrap();
        let file = FileText::new(path, text.replace('@', "").into_bytes());
        around(&file, at)
    }

    #[test]
    fn what_c_stands_in() {
        for (text, want) in [
            ("@int a;\n", vec![]),
            ("#ifdef X\n@int a;\n#endif\n", vec!["#if X"]),
            ("#ifdef X\nint a;\n@#endif\n", vec!["#if X"]),
            ("#ifdef X\nint a;\n#endif\n@int b;\n", vec![]),
            ("#ifdef X\n#else\n@int a;\n#endif\n", vec!["#if else X"]),
            ("#if A\n#elif B\n@int a;\n#endif\n", vec!["#if B behind A"]),
            ("#if A\n#elif B\n#else\n@int a;\n#endif\n", vec!["#if else A behind A, B"]),
            (
                "void f(void)\n{\n\tdo {\n@\t\ta();\n\t} while (x);\n}\n",
                vec!["f()", "do", "do while (x)"],
            ),
            ("void f(void)\n{\n@\ta();\n}\n", vec!["f()"]),
            ("void f(void)\n{\n\ta();\n@}\n", vec!["f()"]),
            ("void f(void)\n{\n\tif (x) {\n\t\ta();\n\t}\n@}\n", vec!["f()"]),
            (
                "void f(void)\n{\n\tif (x)\n#ifdef Y\n@\t\ta();\n#endif\n}\n",
                vec!["#if Y", "f()", "if (x) without braces"],
            ),
        ] {
            assert_eq!(at("a.c", text), want, "{text}");
        }
    }

    fn spot(text: &str, lines: &str) -> (FileText, Spot) {
        let file = FileText::new("a.c", text.as_bytes().to_vec());
        let start = text.find(lines).unwrap();
        let spot = Spot {
            span: start..start + lines.len(),
            shape: super::super::locate::Shape::Lines,
            kind: crate::series::locator::Kind::Text,
            inner: false,
        };
        (file, spot)
    }

    #[test]
    fn an_else_behind_a_place_is_told() {
        let text = "void f(void)\n{\n\tif (x)\n\t\ta();\n\telse\n\t\tb();\n}\n";
        let (file, spot) = spot(text, "\t\ta();\n");
        let want = ["f()", "if (x) without braces", "before else"];
        assert_eq!(taken(&KeyPath::root(), "", &file, &spot).around, want);
        let behind = beside(&KeyPath::root(), "", &file, &spot, false);
        assert_eq!(behind.around, ["f()", "before else"]);
    }

    #[test]
    fn the_line_beside_which_text_is_put_counts() {
        let text = "void f(void)\n{\n\ta();\n\tb();\n\tc();\n}\n";
        let (file, mut spot) = spot(text, "\ta();\n\tb();\n");
        let line = |spot: &Spot, before| {
            let place = beside(&KeyPath::root(), "", &file, spot, before);
            (place.number, String::from_utf8(place.text).unwrap())
        };
        assert_eq!(line(&spot, true), (3, "\ta();\n".to_owned()));
        assert_eq!(line(&spot, false), (5, "\tb();\n".to_owned()));
        spot.inner = true;
        assert_eq!(line(&spot, false), (5, String::new()));
    }

    #[test]
    fn both_sides_of_a_span_count() {
        let text = "void f(void)\n{\n\tx = alloc(len * n, a) + 1;\n}\n";
        let (file, mut spot) = spot(text, "len");
        spot.shape = super::super::locate::Shape::Span;
        let want = ["f()", "behind x = alloc(", "before * n"];
        assert_eq!(taken(&KeyPath::root(), "", &file, &spot).around, want);
    }

    #[test]
    fn a_property_of_a_kconfig_entry_is_in_it_whatever_follows() {
        let text = "config X\n\tbool\n\tdepends on Q\n\nconfig Y\n\tbool\n";
        let (_, spot) = spot(text, "\tdepends on Q\n");
        let file = FileText::new("net/Kconfig", text.as_bytes().to_vec());
        for before in [true, false] {
            let place = beside(&KeyPath::root(), "", &file, &spot, before);
            assert_eq!(place.around, ["config X"], "{before}");
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
            ("#ifdef X\nif (a) {\n#else\nif (b) {\n#endif\nc();\n}\n", (0, 0), (0, 0)),
        ] {
            assert_eq!(Effect::of(text.as_bytes()), Effect { blocks, conditionals }, "{text}");
        }
    }

    #[test]
    fn what_is_taken_and_where() {
        let (file, spot) = spot("int a;\nint b;\n", "int b;\n");
        let place = taken(&KeyPath::root(), "delete", &file, &spot);
        assert_eq!((place.number, place.text.as_slice()), (2, &b"int b;\n"[..]));
    }
}
