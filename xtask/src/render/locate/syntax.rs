//! Places inside of definitions, by tree-sitter: only the items that matter are
//! parsed, each once. Where the parser met what it does not know, a place is
//! only taken when nothing unknown is in it, around it, or could hide another.

use std::ops::Range;
use std::rc::Rc;

use tree_sitter::Node;

use crate::series::locator::{Kind, Part};

use super::super::syntax_tree::{SyntaxTree, is_macro_loop};
use super::{Finder, Miss, Near, Shape, Spot};
use cscan::anchor::Anchor;
use cscan::lex::{Language, Token, tokens};
use cscan::scan::{Item, ItemKind};

/// A parsed item: nodes count from its start.
pub(super) struct Parsed {
    pub(super) tree: Rc<SyntaxTree>,
    pub(super) base: usize,
}

impl Parsed {
    /// A node's bytes in the file.
    pub(super) fn range(&self, node: &Node<'_>) -> Range<usize> {
        self.base + node.start_byte()..self.base + node.end_byte()
    }

    /// The bytes in the file of what the parser was unsure of.
    fn unsure(&self) -> impl Iterator<Item = Range<usize>> {
        self.tree.unsure().iter().map(|r| self.base + r.start..self.base + r.end)
    }
}

/// All nodes below `node`, outermost first.
pub(super) fn walk<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut out = Vec::new();
    let mut cursor = node.walk();
    loop {
        out.push(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

/// The nodes below `root` that hold one of `places`, outermost first.
fn around<'t>(root: Node<'t>, places: &[usize], length: usize) -> Vec<Node<'t>> {
    let mut out = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let (start, end) = (node.start_byte(), node.end_byte());
        let first = places.partition_point(|&at| at < start);
        let holds = places.get(first).is_some_and(|at| at + length <= end);
        if holds {
            out.push(node);
            if cursor.goto_first_child() {
                continue;
            }
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

impl Finder<'_> {
    pub(super) fn parse(&self, item: &Item) -> Option<Parsed> {
        let tree = self.file.tree(item.span.clone())?;
        Some(Parsed { tree, base: item.span.start })
    }

    /// The items whose inside is searched: the one around the region, or those in it.
    fn hosts(&self, region: &Range<usize>, kind: Kind) -> Vec<&Item> {
        let kinds: &[ItemKind] = match kind {
            Kind::Field => &[ItemKind::Struct, ItemKind::Union],
            Kind::Enumerator => &[ItemKind::Enum],
            _ => &[ItemKind::Function],
        };
        self.file.scan().with_body(kinds, region)
    }

    pub(super) fn syntax(
        &self,
        region: &Range<usize>,
        kind: Kind,
        value: &str,
        part: Option<Part>,
    ) -> Result<Vec<Spot>, Miss> {
        let what = || format!("{} \"{}\"", kind.key(), value.trim());
        let Some(anchor) = Anchor::new(value, Language::C) else {
            return Err(Miss::Unfit {
                what: what(),
                why: "it has no token to compare".to_owned(),
                at: Near { position: self.file.path().to_owned(), text: String::new() },
            });
        };
        let src = self.file.bytes();
        let mut spots = Vec::new();
        for item in self.hosts(region, kind) {
            let within = region.start.max(item.span.start)..region.end.min(item.span.end);
            // What cannot be there need not be parsed.
            if !anchor.may_be_in(self.file.get(within.clone())) {
                continue;
            }
            let unparsable =
                |at: usize| Miss::Unparsable { what: what(), at: Near::at(self.file, at) };
            let parsed = self.parse(item).ok_or_else(|| unparsable(item.span.start))?;
            // What is sought has the anchor's longest word inside.
            let word = anchor.longest();
            let places: Vec<usize> =
                memchr::memmem::find_iter(self.file.get(item.span.clone()), word).collect();
            let nodes = around(parsed.tree.root(), &places, word.len());
            let search = Search { finder: self, parsed: &parsed, anchor: &anchor, kind, src };
            let mut hits: Vec<(Range<usize>, Spot)> = Vec::new();
            for node in &nodes {
                if let Some((whole, spot)) = search.hit(node, part)
                    && within.start <= whole.start
                    && whole.end <= within.end
                {
                    hits.push((whole, spot));
                }
            }
            for bad in parsed.unsure() {
                let touches = |w: &Range<usize>| w.start <= bad.end && bad.start <= w.end;
                let hides = within.start < bad.end
                    && bad.start < within.end
                    && !anchor.find(src, bad.clone()).is_empty();
                if hides || hits.iter().any(|(whole, _)| touches(whole)) {
                    return Err(unparsable(bad.start));
                }
            }
            if item.torn && !hits.is_empty() {
                return Err(unparsable(item.span.start));
            }
            spots.extend(hits.into_iter().map(|(_, spot)| spot));
        }
        Ok(spots)
    }
}

struct Search<'a, 'f> {
    finder: &'a Finder<'f>,
    parsed: &'a Parsed,
    anchor: &'a Anchor,
    kind: Kind,
    src: &'a [u8],
}

impl Search<'_, '_> {
    fn lexed(&self, range: Range<usize>) -> Vec<Token> {
        tokens(self.src, range, Language::C)
    }

    fn is(&self, range: Range<usize>) -> bool {
        self.anchor.is(self.src, &self.lexed(range))
    }

    /// The bytes inside of a parenthesised node.
    fn inside(&self, node: &Node<'_>) -> Range<usize> {
        let range = self.parsed.range(node);
        let open = self.src.get(range.start) == Some(&b'(');
        let close = range.end > range.start + 1 && self.src.get(range.end - 1) == Some(&b')');
        if open && close { range.start + 1..range.end - 1 } else { range }
    }

    /// The place around `node` and the spot of its part, when `node` is what is sought.
    fn hit(&self, node: &Node<'_>, part: Option<Part>) -> Option<(Range<usize>, Spot)> {
        let whole = self.parsed.range(node);
        match self.kind {
            Kind::If | Kind::Switch | Kind::While => self.headed(node, part),
            Kind::For => self.looped(node, part),
            Kind::Case => self.case(node, part),
            Kind::Label => {
                let label = node.child_by_field_name("label")?;
                let named =
                    node.kind() == "labeled_statement" && self.is(self.parsed.range(&label));
                named.then(|| {
                    let colon = self.parsed.range(&label).end
                        + self
                            .src
                            .get(self.parsed.range(&label).end..whole.end)
                            .map_or(0, |rest| memchr::memchr(b':', rest).map_or(0, |n| n + 1));
                    (whole.clone(), self.whole(whole.start..colon))
                })
            }
            Kind::Call => self.call(node, part),
            Kind::Local => {
                let named = node.kind() == "declaration"
                    && node.parent().is_some_and(|p| p.kind() != "translation_unit")
                    && declarators(node).iter().any(|d| self.is(self.parsed.range(d)));
                named.then(|| (whole.clone(), self.whole(whole)))
            }
            Kind::Statement => {
                let is_statement = node.kind().ends_with("_statement")
                    || (node.kind() == "declaration"
                        && node.parent().is_some_and(|p| p.kind() != "translation_unit"));
                let fits = is_statement && !is_macro_loop(node) && self.is(whole.clone());
                fits.then(|| (whole.clone(), self.whole(whole)))
            }
            Kind::Field => {
                let named = node.kind() == "field_declaration"
                    && declarators(node).iter().any(|d| self.is(self.parsed.range(d)));
                named.then(|| (whole.clone(), self.whole(whole)))
            }
            Kind::Enumerator => {
                let name = node.child_by_field_name("name")?;
                if node.kind() != "enumerator" || !self.is(self.parsed.range(&name)) {
                    return None;
                }
                let rest = self.src.get(whole.end..).unwrap_or_default();
                let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
                let comma = rest.get(blanks) == Some(&b',');
                let end = if comma { whole.end + blanks + 1 } else { whole.end };
                Some((whole.clone(), self.whole(whole.start..end)))
            }
            _ => None,
        }
    }

    fn whole(&self, range: Range<usize>) -> Spot {
        self.finder.spot(range, self.kind)
    }

    fn inline(&self, span: Range<usize>) -> Spot {
        Spot { span, shape: Shape::Span, kind: self.kind, inner: false }
    }

    /// A block's content, or the one statement that stands for it.
    fn block(&self, node: &Node<'_>) -> Spot {
        let range = self.parsed.range(node);
        if node.kind() == "compound_statement" && range.len() >= 2 {
            return self.finder.between_braces(range.start + 1..range.end - 1, self.kind);
        }
        self.whole(range)
    }

    fn headed(&self, node: &Node<'_>, part: Option<Part>) -> Option<(Range<usize>, Spot)> {
        let fits = match self.kind {
            Kind::If => node.kind() == "if_statement",
            Kind::Switch => node.kind() == "switch_statement",
            _ => matches!(node.kind(), "while_statement" | "do_statement"),
        };
        if !fits {
            return None;
        }
        let condition = self.inside(&node.child_by_field_name("condition")?);
        if !self.is(condition.clone()) {
            return None;
        }
        let whole = self.parsed.range(node);
        let spot =
            match part {
                Some(Part::Condition) => self.inline(condition),
                Some(Part::Then) => self.block(&node.child_by_field_name("consequence")?),
                Some(Part::Else) => {
                    let clause = node.child_by_field_name("alternative")?;
                    self.block(&clause.named_child(
                        u32::try_from(clause.named_child_count().checked_sub(1)?).ok()?,
                    )?)
                }
                Some(Part::Body) => self.block(&node.child_by_field_name("body")?),
                _ => self.whole(whole.clone()),
            };
        Some((whole, spot))
    }

    fn looped(&self, node: &Node<'_>, part: Option<Part>) -> Option<(Range<usize>, Spot)> {
        if is_macro_loop(node) {
            let call = node.named_child(0)?;
            if !self.is(self.parsed.range(&call)) {
                return None;
            }
            // A loop without anything behind it is not one, or the parser was lost.
            let body = next_statement(node)?;
            let whole = self.parsed.range(node).start..self.parsed.range(&body).end;
            let spot = match part {
                Some(Part::Condition) => {
                    self.inline(self.inside(&call.child_by_field_name("arguments")?))
                }
                Some(Part::Body) => self.block(&body),
                _ => self.whole(whole.clone()),
            };
            return Some((whole, spot));
        }
        if node.kind() != "for_statement" {
            return None;
        }
        let body = node.child_by_field_name("body")?;
        let whole = self.parsed.range(node);
        let head = self.src.get(whole.start..self.parsed.range(&body).start)?;
        let open = memchr::memchr(b'(', head)? + whole.start + 1;
        let close = memchr::memrchr(b')', head)? + whole.start;
        if open > close || !self.is(open..close) {
            return None;
        }
        let spot = match part {
            Some(Part::Condition) => self.inline(open..close),
            Some(Part::Body) => self.block(&body),
            _ => self.whole(whole.clone()),
        };
        Some((whole, spot))
    }

    fn case(&self, node: &Node<'_>, part: Option<Part>) -> Option<(Range<usize>, Spot)> {
        if node.kind() != "case_statement" {
            return None;
        }
        let value = node.child_by_field_name("value");
        let label = match &value {
            Some(value) => self.parsed.range(value),
            None => self.parsed.range(&node.child(0)?),
        };
        if !self.is(label) {
            return None;
        }
        let whole = self.parsed.range(node);
        let spot = if part == Some(Part::Body) {
            let colon =
                (0..node.child_count()).filter_map(|i| node.child(i)).find(|c| c.kind() == ":")?;
            let first = next_named(&colon)?;
            self.whole(self.parsed.range(&first).start..whole.end)
        } else {
            self.whole(whole.clone())
        };
        Some((whole, spot))
    }

    fn call(&self, node: &Node<'_>, part: Option<Part>) -> Option<(Range<usize>, Spot)> {
        if node.kind() != "call_expression" {
            return None;
        }
        let function = node.child_by_field_name("function")?;
        if !self.is(self.parsed.range(&function)) {
            return None;
        }
        let statement = enclosing_statement(node)?;
        let whole = self.parsed.range(&statement);
        let spot = match part {
            Some(Part::Expression) => self.inline(self.parsed.range(node)),
            Some(Part::Arguments) => {
                self.inline(self.inside(&node.child_by_field_name("arguments")?))
            }
            _ => self.whole(whole.clone()),
        };
        // A call in a loop's or an `if`'s head has the whole statement around it;
        // what must be sure there is the call.
        let sure = if matches!(part, Some(Part::Expression | Part::Arguments)) {
            self.parsed.range(node)
        } else {
            whole
        };
        Some((sure, spot))
    }
}

fn next_named<'t>(node: &Node<'t>) -> Option<Node<'t>> {
    let mut next = node.next_sibling();
    while let Some(n) = next {
        if n.is_named() {
            return Some(n);
        }
        next = n.next_sibling();
    }
    None
}

fn next_statement<'t>(node: &Node<'t>) -> Option<Node<'t>> {
    let mut next = node.next_named_sibling()?;
    while next.kind() == "comment" {
        next = next.next_named_sibling()?;
    }
    // A loop in a loop: the inner one with its own body.
    if is_macro_loop(&next) {
        return next_statement(&next);
    }
    Some(next)
}

pub(super) fn enclosing_statement<'t>(node: &Node<'t>) -> Option<Node<'t>> {
    let mut at = *node;
    loop {
        if at.kind().ends_with("_statement") || at.kind() == "declaration" {
            return Some(at);
        }
        at = at.parent()?;
    }
}

/// The identifiers that a declaration declares.
fn declarators<'t>(node: &Node<'t>) -> Vec<Node<'t>> {
    let mut out = Vec::new();
    let mut cursor = node.walk();
    for child in node.children_by_field_name("declarator", &mut cursor) {
        let mut at = Some(child);
        while let Some(n) = at {
            if matches!(n.kind(), "identifier" | "field_identifier" | "type_identifier") {
                out.push(n);
                break;
            }
            at = n.child_by_field_name("declarator").or_else(|| n.named_child(0));
        }
    }
    out
}
