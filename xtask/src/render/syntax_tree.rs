//! The syntax tree of one item of a C file, with the places that the parser was not
//! sure of.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

use tree_sitter::{Node, Parser, Tree};

/// An item, parsed: nodes count from its start.
#[derive(Debug)]
pub struct SyntaxTree {
    tree: Tree,
    unsure: Vec<Range<usize>>,
}

impl SyntaxTree {
    /// Parses the text of an item.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<SyntaxTree> {
        let tree = parsed(text)?;
        let unsure = unsure_places(&tree);
        Some(SyntaxTree { tree, unsure })
    }

    /// The outermost node.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Where the parser was unsure.
    #[must_use]
    pub fn unsure(&self) -> &[Range<usize>] {
        &self.unsure
    }
}

fn parsed(text: &[u8]) -> Option<Tree> {
    thread_local! {
        static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
    }
    PARSER.with_borrow_mut(|parser| {
        if parser.is_none() {
            let mut new = Parser::new();
            new.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
            *parser = Some(new);
        }
        parser.as_mut()?.parse(text, None)
    })
}

/// A macro loop such as `list_for_each_entry(a, b, c)`: a call that lacks its `;`.
pub(super) fn is_macro_loop(node: &Node<'_>) -> bool {
    node.kind() == "expression_statement"
        && node.named_child(0).is_some_and(|c| c.kind() == "call_expression")
        && node.child(1).is_some_and(|c| c.is_missing() && c.kind() == ";")
}

/// The ranges of what the parser was unsure of: errors, missing tokens, and macros
/// with arguments that it took for a type, as it does with `for_each_cpu(i) f(i);`.
fn unsure_places(tree: &Tree) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let typelike = typelike();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let unsure = if node.kind_id() == typelike {
            node.parent()
        } else if node.is_error()
            || (node.is_missing() && !node.parent().is_some_and(|p| is_macro_loop(&p)))
        {
            Some(node)
        } else {
            None
        };
        out.extend(unsure.map(|node| node.byte_range()));
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

fn typelike() -> u16 {
    static ID: OnceLock<u16> = OnceLock::new();
    *ID.get_or_init(|| {
        tree_sitter::Language::from(tree_sitter_c::LANGUAGE)
            .id_for_node_kind("macro_type_specifier", true)
    })
}
