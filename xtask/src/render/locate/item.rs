//! Top-level items and preprocessor branches, by the scan.

use std::ops::Range;

use crate::series::locator::{Kind, Part};

use super::{Finder, Miss, Near, Shape, Spot};
use cscan::lex::{Language, tokens};
use cscan::lines::{comment_above, line_start};
use cscan::scan::{Item, ItemKind, normal_condition};

impl Finder<'_> {
    pub(super) fn branches(
        &self,
        region: &Range<usize>,
        value: &str,
        part: Option<Part>,
    ) -> Vec<Spot> {
        let wanted = condition(value);
        self.file
            .scan()
            .branches
            .iter()
            .filter(|b| region.start <= b.group.start && b.group.end <= region.end)
            .filter(|b| b.condition == wanted)
            .map(|b| {
                let whole = part == Some(Part::Whole);
                let span = if whole { b.group.clone() } else { b.body.clone() };
                Spot { span, shape: Shape::Lines, kind: Kind::Branch, inner: !whole }
            })
            .collect()
    }

    pub(super) fn items(
        &self,
        region: &Range<usize>,
        kind: Kind,
        value: &str,
        part: Option<Part>,
        full: bool,
    ) -> Result<Vec<Spot>, Miss> {
        // A name that is nowhere in the file needs no scan.
        let named = region.end <= self.file.bytes().len()
            && memchr::memmem::find(self.file.get(region.clone()), value.as_bytes()).is_some();
        if value != "*" && !named {
            return Ok(Vec::new());
        }
        let mut spots = Vec::new();
        let scan = self.file.scan();
        let all = value == "*" || kind == Kind::Include;
        let items: Vec<&Item> =
            if all { scan.items.iter().collect() } else { scan.named(self.file.bytes(), value) };
        for item in items {
            let inside = region.start <= item.span.start && item.span.end <= region.end;
            if !inside || !self.is_wanted(item, kind, value) {
                continue;
            }
            // Among all of a kind it is just not one that can be touched.
            if item.torn && value == "*" {
                continue;
            }
            if item.torn {
                return Err(Miss::Unfit {
                    what: format!("{} \"{value}\"", kind.key()),
                    why: "it begins in one preprocessor branch and ends in another".to_owned(),
                    at: Near::at(self.file, item.span.start),
                });
            }
            if item.glued && (part == Some(Part::Full) || (full && part.is_none())) {
                return Err(Miss::Unfit {
                    what: format!("{} \"{value}\"", kind.key()),
                    why: "a macro without `;` stands right above and may belong to it; \
                          name the place by text"
                        .to_owned(),
                    at: Near::at(self.file, item.span.start),
                });
            }
            spots.push(self.item_part(item, kind, value, part, full)?);
        }
        Ok(spots)
    }

    fn is_wanted(&self, item: &Item, kind: Kind, value: &str) -> bool {
        let src = self.file.bytes();
        let named = value == "*" || item.is_named(src, value);
        match kind {
            Kind::Function => item.kind == ItemKind::Function && named,
            Kind::Struct => item.kind == ItemKind::Struct && named,
            Kind::Union => item.kind == ItemKind::Union && named,
            Kind::Enum => item.kind == ItemKind::Enum && named,
            Kind::Macro => item.kind == ItemKind::Macro && named,
            Kind::Prototype => item.kind == ItemKind::Prototype && named,
            Kind::Typedef => item.kind == ItemKind::Typedef && named,
            Kind::Variable => match item.kind {
                ItemKind::Variable => named,
                ItemKind::Invocation => named && !self.is_export(item),
                _ => false,
            },
            Kind::Include => {
                item.kind == ItemKind::Include
                    && item.names.iter().any(|n| {
                        let header = self.file.get(n.clone());
                        header == value.as_bytes()
                            || header
                                .get(1..header.len().saturating_sub(1))
                                .is_some_and(|inner| inner == value.as_bytes())
                    })
            }
            _ => false,
        }
    }

    fn is_export(&self, item: &Item) -> bool {
        item.macro_name.as_ref().is_some_and(|m| self.file.get(m.clone()).starts_with(b"EXPORT_"))
    }

    fn item_part(
        &self,
        item: &Item,
        kind: Kind,
        value: &str,
        part: Option<Part>,
        full: bool,
    ) -> Result<Spot, Miss> {
        let whole = self.spot(item.span.clone(), kind);
        let missing = |what: &str| Miss::Unfit {
            what: format!("{} of {} \"{value}\"", part.map_or("", Part::name), kind.key()),
            why: format!("it has no {what}"),
            at: Near::at(self.file, item.span.start),
        };
        match part {
            None if full => Ok(self.full(item, whole)),
            None | Some(Part::Whole) => Ok(whole),
            Some(Part::Full) => Ok(self.full(item, whole)),
            Some(Part::Doc) => {
                let start = line_start(self.file.bytes(), item.span.start);
                let span = comment_above(self.file.bytes(), start)
                    .ok_or_else(|| missing("comment right above"))?;
                Ok(Spot { span, shape: Shape::Lines, kind, inner: false })
            }
            Some(Part::Export) => {
                let export = self.export(item).ok_or_else(|| missing("EXPORT_SYMBOL below"))?;
                Ok(self.spot(export, kind))
            }
            Some(Part::Head) => {
                let open = item.body.as_ref().ok_or_else(|| missing("body"))?.start;
                let head = item.span.start..open.saturating_sub(1);
                let trimmed = self.file.get(head.clone()).trim_ascii_end().len();
                Ok(self.spot(head.start..head.start + trimmed, kind))
            }
            Some(Part::Body) => {
                let body = item.body.clone().ok_or_else(|| missing("body"))?;
                Ok(self.between_braces(body, kind))
            }
            Some(Part::Parameters) => {
                let span = self.parameters(item).ok_or_else(|| missing("parameter list"))?;
                Ok(Spot { span, shape: Shape::Span, kind, inner: false })
            }
            Some(Part::Declarations | Part::Statements) => {
                self.declarations_or_statements(item, part == Some(Part::Statements), value)
            }
            Some(other) => Err(Miss::Unfit {
                what: format!("{} \"{value}\"", kind.key()),
                why: format!("it has no part \"{}\"", other.name()),
                at: Near::at(self.file, item.span.start),
            }),
        }
    }

    /// The item with the comment above it and its exports below.
    fn full(&self, item: &Item, whole: Spot) -> Spot {
        if whole.inline() {
            return whole;
        }
        let src = self.file.bytes();
        let start = comment_above(src, whole.span.start).map_or(whole.span.start, |c| c.start);
        let mut end = whole.span.end;
        if item.kind == ItemKind::Function
            && let Some(export) = self.export(item)
            && let Some(lines) = self.file.whole_lines(export)
        {
            end = end.max(lines.end);
        }
        Spot { span: start..end, ..whole }
    }

    /// What is said about the function right below it: `EXPORT_SYMBOL(f);` and
    /// the like, one or more lines, without a blank line between.
    fn export(&self, item: &Item) -> Option<Range<usize>> {
        let mut end = item.span.end;
        let mut first = None;
        for next in self.file.scan().items.iter().filter(|i| i.span.start >= item.span.end) {
            let gap = self.file.get(end..next.span.start);
            let adjoins = gap.iter().all(u8::is_ascii_whitespace)
                && memchr::memchr_iter(b'\n', gap).count() <= 1;
            let about = item.names.iter().any(|n| {
                let name = self.file.get(n.clone());
                next.names.iter().any(|m| self.file.get(m.clone()) == name)
            });
            if next.kind != ItemKind::Invocation || !adjoins || !about {
                break;
            }
            first.get_or_insert(next.span.start);
            end = next.span.end;
        }
        first.map(|start| start..end)
    }

    /// The lines between two braces, or what is between them on one line.
    pub(super) fn between_braces(&self, body: Range<usize>, kind: Kind) -> Spot {
        let src = self.file.bytes();
        let inner = self.file.get(body.clone());
        let first_break = memchr::memchr(b'\n', inner).map(|n| body.start + n + 1);
        let last_line = line_start(src, body.end);
        match first_break {
            Some(start)
                if start <= last_line
                    && self.file.get(last_line..body.end).trim_ascii().is_empty()
                    && is_comment_or_blank(self.file.get(body.start..start)) =>
            {
                Spot { span: start..last_line, shape: Shape::Lines, kind, inner: true }
            }
            _ => Spot { span: body, shape: Shape::Shared, kind, inner: true },
        }
    }

    fn parameters(&self, item: &Item) -> Option<Range<usize>> {
        let src = self.file.bytes();
        let end = item.body.as_ref().map_or(item.span.end, |b| b.start);
        let name = item.names.first()?;
        let list = tokens(src, name.end..end, Language::C);
        let mut depth = 0_usize;
        let open = list.first().filter(|t| t.of(src) == b"(")?;
        for token in &list {
            match token.of(src) {
                b"(" => depth += 1,
                b")" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(open.end..token.start);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// What is between a brace and its line's end.
fn is_comment_or_blank(rest: &[u8]) -> bool {
    tokens(rest, 0..rest.len(), Language::C).is_empty()
}

/// A condition as `series.toml` writes it, in the scan's form.
fn condition(value: &str) -> String {
    let (prefix, rest) = match value.trim().strip_prefix("else ") {
        Some(rest) => ("else ", rest),
        None => ("", value),
    };
    let src = rest.as_bytes();
    format!("{prefix}{}", normal_condition(src, &tokens(src, 0..src.len(), Language::C)))
}
