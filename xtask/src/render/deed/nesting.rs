//! Guards edits in C: text before or behind an unbraced body would change what an `if`, `else`
//! or loop governs, whatever the indentation says, and so would taking it out.

use super::super::before::{Before, first_code, host, statements};
use super::super::file_text::FileText;
use super::super::found::else_follows;
use super::super::locate::{Miss, Near, Spot};
use cscan::lex::Language;
use cscan::scan::ItemKind;

const PARTED: &str = "an `else` follows: text here would part it from its `if`";

/// Whether `spot` lies in the body of a function, where statements govern others.
fn applies(file: &FileText, spot: &Spot) -> bool {
    file.language() == Language::C
        && host(file, spot.span.start).is_some_and(|item| {
            let end = match item.kind {
                ItemKind::Function => item.body.as_ref().map(|b| b.end),
                ItemKind::Macro => Some(item.span.end),
                _ => None,
            };
            // The line break behind a macro is none of it.
            end.is_some_and(|end| spot.span.end <= end + 1)
        })
}

/// What governs the code behind `at`, which it begins with if that is asked.
fn governed(file: &FileText, at: usize) -> bool {
    let next = first_code(file, at..file.bytes().len());
    Before::at(file, at).is_some_and(|before| before.governs(next.as_ref()))
}

fn unfit(file: &FileText, what: &str, at: usize, why: &str) -> Miss {
    Miss::Unfit {
        what: format!("{what} {}", file.position(at)),
        why: why.to_owned(),
        at: Near::at(file, at),
    }
}

/// Whether a line may be put before (or behind) `spot`.
pub(super) fn check(file: &FileText, spot: &Spot, before: bool) -> Result<(), Miss> {
    if !applies(file, spot) {
        return Ok(());
    }
    let (start, end) = (spot.span.start, spot.span.end);
    let what = if before { "text before" } else { "text behind" };
    let block = first_code(file, start..end).is_some_and(|t| t.of(file.bytes()) == b"{");
    if (before || !block) && governed(file, start) {
        return Err(unfit(
            file,
            what,
            start,
            if block {
                "it is the block of an if, else or loop, which text here would part from it"
            } else {
                "it is the unbraced body of an if, else or loop: replace both, with braces"
            },
        ));
    }
    if before && else_follows(file, start) || !before && else_follows(file, end) {
        return Err(unfit(file, what, start, PARTED));
    }
    if !before && governed(file, end) {
        return Err(unfit(file, what, start, "what follows is the unbraced body of this line"));
    }
    Ok(())
}

/// Whether `spot` may be taken out: what an `if`, `else` or loop governs cannot, since it would
/// govern what follows, and no `if` can whose `else` stays.
pub(super) fn check_taken(file: &FileText, spot: &Spot) -> Result<(), Miss> {
    let Some(first) = first_code(file, spot.span.clone()) else { return Ok(()) };
    if !applies(file, spot) {
        return Ok(());
    }
    let (start, what) = (spot.span.start, "the place at");
    let first = first.of(file.bytes());
    if governed(file, start) {
        let why = if first == b"{" {
            "it is the block of an if, else or loop, which would govern what follows"
        } else {
            "it is the unbraced body of an if, else or loop: replace both, with braces"
        };
        return Err(unfit(file, what, start, why));
    }
    if !matches!(first, b"else" | b"}") && else_follows(file, spot.span.end) {
        let why = "an `else` follows, which would lose its `if`, or go to another one";
        return Err(unfit(file, what, start, why));
    }
    Ok(())
}

/// Whether `text` may take the place of `spot`: for what an `if`, `else` or loop governs, only one
/// statement can.
pub(super) fn check_replaced(file: &FileText, spot: &Spot, text: &str) -> Result<(), Miss> {
    let (start, end) = (spot.span.start, spot.span.end);
    if !applies(file, spot) || first_code(file, start..end).is_none() || !governed(file, start) {
        return Ok(());
    }
    match statements(text.as_bytes()) {
        1 => Ok(()),
        n => {
            let why = format!(
                "it is the unbraced body of an if, else or loop, and {n} statements take its place: \
                 replace both, with braces"
            );
            Err(unfit(file, "the place at", start, &why))
        }
    }
}
