//! Guards insertions in C: text before or behind an unbraced body would change
//! what an `if`, `else` or loop governs, whatever the indentation says.

use super::super::file_text::FileText;
use super::super::locate::{Miss, Near, Spot};
use cscan::lex::{Language, Lexer, TokenKind};
use cscan::scan::ItemKind;

/// Whether a line may be put before (or behind) `spot`.
pub(super) fn check(file: &FileText, spot: &Spot, before: bool) -> Result<(), Miss> {
    if file.language() != Language::C {
        return Ok(());
    }
    let src = file.bytes();
    let (start, end) = (spot.span.start, spot.span.end);
    let host = file.scan().items.iter().find(|i| {
        i.kind == ItemKind::Function
            && i.body.as_ref().is_some_and(|b| b.start <= start && end <= b.end)
    });
    let Some(host) = host else { return Ok(()) };
    let unfit = |why: &str| {
        Err(Miss::Unfit {
            what: format!(
                "text {} {}",
                if before { "before" } else { "behind" },
                file.position(start)
            ),
            why: why.to_owned(),
            at: Near::at(file, start),
        })
    };
    let code = |from: usize, to: usize| {
        Lexer::new(src, from..to, Language::C).filter(|t| t.kind != TokenKind::Comment)
    };
    let last = code(host.span.start, start).last();
    let first = code(start, host.span.end).next();
    if let Some(last) = last.filter(|t| !t.directive) {
        let opens = first.is_some_and(|t| t.of(src) == b"{");
        let governs = matches!(last.of(src), b")" | b"else" | b"do") && !opens;
        // The place itself is governed, or it continues an expression.
        if governs {
            return unfit(
                "it is the unbraced body of an if, else or loop: replace both, with braces",
            );
        }
    }
    if !before {
        let next = code(end, host.span.end).next();
        if next.is_some_and(|t| !t.directive && t.of(src) == b"else") {
            return unfit("an `else` follows: text here would part it from its `if`");
        }
        let last_inside = code(start, end).last();
        if last_inside.is_some_and(|t| !t.directive && matches!(t.of(src), b")" | b"else" | b"do"))
        {
            return unfit("what follows is the unbraced body of this line");
        }
    }
    Ok(())
}
