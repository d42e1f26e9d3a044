//! Takes a place out of a tree as text, for selftests that compile a piece of
//! the kernel: it comes from the tree each time, so none of it is kept.

use crate::error::{Error, Result};
use crate::series::model::Extract;

use super::file_text::FileText;
use super::locate::{Captured, Finder, Miss};
use super::source::Source;

/// The text of the place, with a final newline.
///
/// # Errors
/// A conflict when the place is not there, or not the only one, and has no default.
pub fn extract(source: &dyn Source, extract: &Extract) -> Result<String> {
    let place = &extract.place.place;
    let path = place.file.as_deref().unwrap_or_default();
    let asked = || Error::conflict(format!("take {} from {path}", extract.name));
    let default = || extract.place.default.clone().map(ended);
    let Some(file) = source.read(path)? else {
        return default().ok_or_else(|| asked().found("the tree has no such file"));
    };
    let file = FileText::new(path, file.bytes);
    let nothing = Captured::new();
    let finder = Finder { file: &file, captured: &nothing, candidates: true };
    match finder.find_one(&place.within, &place.at, false) {
        Ok(spot) => match std::str::from_utf8(file.get(spot.span.clone())) {
            Ok(text) => Ok(ended(text.replace("\r\n", "\n"))),
            Err(_) => {
                Err(asked().found(format!("{} is not UTF-8", file.position(spot.span.start))))
            }
        },
        Err(miss @ Miss::None { .. }) => default().ok_or_else(|| asked().found(miss.to_string())),
        Err(miss) => Err(asked().found(miss.to_string())),
    }
}

fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::render::source::Memory;
    use crate::series::locator::{Kind as Place, Locator, Place as At};
    use crate::series::model::{Capture, Far};

    fn function(name: &str) -> Locator {
        Locator::Place(At {
            steps: vec![(Place::Function, name.to_owned())],
            part: None,
            has: Vec::new(),
            has_not: Vec::new(),
            nth: None,
            or_text: None,
        })
    }

    fn of(locator: Locator, default: Option<&str>) -> Extract {
        let place = Far { file: Some("a.c".into()), within: Vec::new(), at: locator };
        let place = Capture { place, default: default.map(str::to_owned) };
        Extract { name: "f.inc".into(), from_base: false, place }
    }

    #[test]
    fn a_function_is_taken_as_it_stands() {
        let tree = Memory::of(&[("a.c", "int a;\n\nstatic int f(void)\n{\n\treturn 1;\n}\n")]);
        let f = of(function("f"), None);
        let want = "static int f(void)\n{\n\treturn 1;\n}\n";
        assert_eq!(extract(&tree, &f).unwrap(), want);
    }

    #[test]
    fn what_is_not_there_is_a_conflict_or_the_default() {
        let tree = Memory::of(&[("a.c", "int a;\n")]);
        let g = function("g");
        assert_eq!(extract(&tree, &of(g.clone(), Some("/* none */"))).unwrap(), "/* none */\n");
        let e = extract(&tree, &of(g.clone(), None)).unwrap_err();
        assert_eq!(e.kind(), Kind::Conflict);
        let e = extract(&Memory::of(&[]), &of(g, None)).unwrap_err();
        assert!(e.to_string().contains("no such file"), "{e}");
    }
}
