//! The declarations and the statements of a function's body.

use crate::series::locator::Kind;

use super::syntax::walk;
use super::{Finder, Miss, Near, Shape, Spot};
use cscan::lines::{line_start, lines};
use cscan::scan::Item;

/// Macros that declare a variable and look like calls.
const DECLARING: [&[u8]; 8] = [
    b"DEFINE_",
    b"DECLARE_",
    b"LIST_HEAD",
    b"HLIST_HEAD",
    b"ASSERT_",
    b"CLASS",
    b"SHASH_DESC_ON_STACK",
    b"SKCIPHER_REQUEST_ON_STACK",
];

impl Finder<'_> {
    /// The lines of the body's leading declarations, or those behind them.
    pub(super) fn declarations_or_statements(
        &self,
        item: &Item,
        statements: bool,
        value: &str,
    ) -> Result<Spot, Miss> {
        let unfit = |why: &str| Miss::Unfit {
            what: format!("function \"{value}\""),
            why: why.to_owned(),
            at: Near::at(self.file, item.span.start),
        };
        let body = item.body.clone().ok_or_else(|| unfit("it has no body"))?;
        let inside = self.between_braces(body.clone(), Kind::Function);
        if inside.inline() {
            return Err(unfit("its body is not on lines of its own"));
        }
        let parsed = self.parse(item).ok_or_else(|| unfit("it cannot be parsed"))?;
        let block = walk(parsed.tree.root())
            .into_iter()
            .find(|n| n.kind() == "compound_statement" && parsed.range(n).start + 1 == body.start)
            .ok_or_else(|| unfit("the parser is not sure of its body"))?;
        let src = self.file.bytes();
        let mut end = inside.span.start;
        let mut cursor = block.walk();
        for child in block.named_children(&mut cursor) {
            let range = parsed.range(&child);
            let declares = match child.kind() {
                "declaration" | "type_definition" => !child.has_error(),
                "expression_statement" => {
                    DECLARING.iter().any(|d| self.file.get(range.clone()).starts_with(d))
                }
                "struct_specifier" | "enum_specifier" | "union_specifier" => true,
                // A comment belongs to what follows it.
                "comment" => continue,
                _ => false,
            };
            if !declares {
                break;
            }
            end = self
                .file
                .whole_lines(range)
                .ok_or_else(|| unfit("a declaration shares its line with a statement"))?
                .end;
        }
        let span = if statements {
            // Not the blank line between the two.
            let mut start = end;
            for line in lines(src, end..inside.span.end) {
                if !self.file.get(line.clone()).trim_ascii().is_empty() {
                    break;
                }
                start = line.end;
            }
            start..inside.span.end
        } else {
            inside.span.start..end
        };
        debug_assert_eq!(line_start(src, span.start), span.start);
        Ok(Spot { span, shape: Shape::Lines, kind: Kind::Function, inner: true })
    }
}
