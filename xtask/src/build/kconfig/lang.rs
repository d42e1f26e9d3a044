//! The Kconfig language, as far as the question needs it: which symbols a file
//! defines, what each depends on, and what selects it.
//!
//! Blocks (`if`, `menu`, `choice`) add their conditions to what stands in them.
//! `source` is left to the caller, who has the tree. What cannot be read is passed
//! over: the answer only explains what the tree's own `conf` has decided.

use crate::build::kconfig::expr::Expr;

/// One statement of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `config` or `menuconfig`.
    Symbol(Definition),
    /// `source` with its path as written, and the conditions around it.
    Source {
        /// The path, macros and all.
        path: String,
        /// `rsource`: relative to the file it stands in.
        relative: bool,
        /// The conditions around it.
        conditions: Vec<Expr>,
    },
}

/// One definition of a symbol; a symbol may have several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The symbol.
    pub name: String,
    /// Its line, from 1.
    pub line: usize,
    /// Whether it has a prompt: without one only `select` or a default sets it.
    pub prompt: bool,
    /// When the prompt shows (`prompt … if`, `visible if` of its menu).
    pub visible: Vec<Expr>,
    /// All that must hold, its own conditions and those of the blocks around.
    pub depends: Vec<Expr>,
    /// What it selects, and under which condition.
    pub selects: Vec<(String, Option<Expr>)>,
    /// The number of the choice it is a member of, within the file.
    pub choice: Option<usize>,
}

#[derive(Debug)]
enum Block {
    If,
    Menu,
    Choice(usize),
}

struct Frame {
    block: Block,
    depends: Vec<Expr>,
    visible: Vec<Expr>,
}

/// Reads the statements of one file.
#[must_use]
pub fn parse(text: &str) -> Vec<Statement> {
    let mut reader = Reader::default();
    for (line, text) in logical_lines(text) {
        reader.line(line, &text);
    }
    reader.close_entry();
    reader.out
}

#[derive(Default)]
struct Reader {
    out: Vec<Statement>,
    stack: Vec<Frame>,
    entry: Option<Definition>,
    choices: usize,
}

impl Reader {
    fn line(&mut self, line: usize, text: &str) {
        let (word, rest) = split(text);
        match word {
            "config" | "menuconfig" => {
                self.close_entry();
                let choice = self.stack.iter().rev().find_map(|f| match f.block {
                    Block::Choice(n) => Some(n),
                    _ => None,
                });
                let name = rest.to_owned();
                self.entry = Some(Definition { name, line, choice, ..Definition::default() });
            }
            "if" => self.open(Block::If, Expr::parse(rest)),
            "menu" => self.open(Block::Menu, None),
            "choice" => {
                self.choices += 1;
                self.open(Block::Choice(self.choices), None);
            }
            "endif" | "endmenu" | "endchoice" => {
                self.close_entry();
                self.stack.pop();
            }
            "comment" | "mainmenu" => {
                self.close_entry();
                // Takes the conditions of the comment, and is then dropped.
                self.entry = Some(Definition::default());
            }
            "source" | "osource" | "rsource" | "orsource" => {
                self.close_entry();
                self.out.push(Statement::Source {
                    path: rest.trim_matches(['"', '\'']).to_owned(),
                    relative: word.contains("rs"),
                    conditions: self.conditions(),
                });
            }
            _ => self.attribute(word, rest),
        }
    }

    fn attribute(&mut self, word: &str, rest: &str) {
        match word {
            "depends" => {
                let expr = rest.strip_prefix("on").and_then(Expr::parse);
                match &mut self.entry {
                    Some(entry) => entry.depends.extend(expr),
                    None => self.on_block(|frame| frame.depends.extend(expr)),
                }
            }
            "visible" => {
                let expr = rest.strip_prefix("if").and_then(Expr::parse);
                self.on_block(|frame| frame.visible.extend(expr));
            }
            "bool" | "tristate" | "int" | "hex" | "string" | "prompt" => {
                // A choice has a prompt too: only an entry's own counts.
                if let Some(entry) = &mut self.entry
                    && rest.starts_with(['"', '\''])
                {
                    entry.prompt = true;
                    entry.visible.extend(condition(after_quoted(rest)));
                }
            }
            "select" => {
                if let Some(entry) = &mut self.entry {
                    let (target, rest) = split(rest);
                    entry.selects.push((target.to_owned(), condition(rest)));
                }
            }
            _ => {}
        }
    }

    /// Applies an attribute to the block that has just begun.
    fn on_block(&mut self, change: impl FnOnce(&mut Frame)) {
        if let Some(frame) = self.stack.last_mut() {
            change(frame);
        }
    }

    fn open(&mut self, block: Block, depends: Option<Expr>) {
        self.close_entry();
        let depends = depends.into_iter().collect();
        self.stack.push(Frame { block, depends, visible: Vec::new() });
    }

    fn conditions(&self) -> Vec<Expr> {
        self.stack.iter().flat_map(|f| f.depends.iter().cloned()).collect()
    }

    fn close_entry(&mut self) {
        let Some(mut entry) = self.entry.take().filter(|e| !e.name.is_empty()) else { return };
        let mut depends = self.conditions();
        depends.append(&mut entry.depends);
        entry.depends = depends;
        entry.visible.extend(self.stack.iter().flat_map(|f| f.visible.iter().cloned()));
        self.out.push(Statement::Symbol(entry));
    }
}

/// The lines that are statements: continued ones joined, comments cut, help texts left out.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((i, line)) = lines.next() {
        let mut joined = String::new();
        let mut piece = line;
        while let Some(start) = piece.strip_suffix('\\') {
            joined.push_str(start);
            match lines.next() {
                Some((_, next)) => piece = next,
                None => piece = "",
            }
        }
        joined.push_str(piece);
        let statement = cut_comment(&joined).trim();
        if matches!(statement, "help" | "---help---") {
            skip_help(&mut lines);
        } else if !statement.is_empty() {
            out.push((i + 1, statement.to_owned()));
        }
    }
    out
}

/// A help text goes on to the first line that is indented less than its own first.
fn skip_help<'t>(lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'t str)>>) {
    let mut level = None;
    while let Some((_, line)) = lines.peek() {
        if !line.trim().is_empty() {
            let indent = indentation(line);
            let first = *level.get_or_insert(indent);
            if indent < first || indent == 0 {
                return;
            }
        }
        lines.next();
    }
}

/// Columns of white space, tabs to the next multiple of 8, as in the kernel's lexer.
fn indentation(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars() {
        match c {
            '\t' => columns = (columns / 8 + 1) * 8,
            ' ' => columns += 1,
            _ => break,
        }
    }
    columns
}

fn cut_comment(line: &str) -> &str {
    let mut quote = None;
    for (i, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return line.get(..i).unwrap_or(line),
            (None, '"' | '\'') => quote = Some(c),
            (Some(q), _) if q == c => quote = None,
            _ => {}
        }
    }
    line
}

/// The expression behind `if`, when there is one.
fn condition(rest: &str) -> Option<Expr> {
    rest.trim_start().strip_prefix("if").and_then(Expr::parse)
}

fn after_quoted(text: &str) -> &str {
    let mut chars = text.char_indices();
    let Some((_, quote)) = chars.next() else { return "" };
    let mut escaped = false;
    for (i, c) in chars {
        if c == quote && !escaped {
            return text.get(i + 1..).unwrap_or("");
        }
        escaped = c == '\\' && !escaped;
    }
    ""
}

fn split(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
mainmenu "x"
menuconfig NET
	bool "Networking # support"
	select NLATTR
	help
	  if this were code:
	    config NOT_ONE

	  It ends here.

if NET

config PACKET
	tristate "Packet socket" if EXPERT # why
	depends on A && \
		   B
	select CRC32 if C = "x"
	---help---
	  text
menu "Inner"
	depends on D
	visible if E
config HIDDEN
	def_bool y
comment "talk"
	depends on NOT_THE_MENU
choice
	prompt "One"
	depends on F
config ONE
	bool "one"
config TWO
	bool "two"
endchoice
source "net/$(SRCARCH)/Kconfig"
endmenu
endif # NET
config LAST
	bool
"#;

    fn symbol<'a>(all: &'a [Statement], name: &str) -> &'a Definition {
        all.iter()
            .find_map(|s| match s {
                Statement::Symbol(d) if d.name == name => Some(d),
                _ => None,
            })
            .unwrap_or_else(|| panic!("{name}"))
    }

    fn shown(exprs: &[Expr]) -> Vec<String> {
        exprs.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn blocks_add_their_conditions() {
        let all = parse(FILE);
        let names: Vec<_> = all
            .iter()
            .map(|s| match s {
                Statement::Symbol(d) => d.name.as_str(),
                Statement::Source { path, .. } => path,
            })
            .collect();
        let order = ["NET", "PACKET", "HIDDEN", "ONE", "TWO", "net/$(SRCARCH)/Kconfig", "LAST"];
        assert_eq!(names, order);
        let packet = symbol(&all, "PACKET");
        assert_eq!(shown(&packet.depends), ["NET", "A && B"]);
        assert_eq!(shown(&packet.visible), ["EXPERT"]);
        assert_eq!(packet.line, 14);
        assert_eq!(packet.selects, [("CRC32".into(), Expr::parse("C = \"x\""))]);
        let hidden = symbol(&all, "HIDDEN");
        assert!(!hidden.prompt);
        assert_eq!(
            (shown(&hidden.depends), shown(&hidden.visible)),
            (vec!["NET".into(), "D".into()], vec!["E".to_string()])
        );
        assert_eq!(shown(&symbol(&all, "ONE").depends), ["NET", "D", "F"]);
        assert_eq!(symbol(&all, "ONE").choice, symbol(&all, "TWO").choice);
        assert!(symbol(&all, "ONE").choice.is_some() && symbol(&all, "LAST").choice.is_none());
        assert!(symbol(&all, "LAST").depends.is_empty());
        assert!(symbol(&all, "NET").prompt && !symbol(&all, "LAST").prompt);
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "(\t?(config|if|help|menu|endmenu|choice|depends on|bool|source|select)? ?[A-Z\"#\\\\ ]{0,6}\n){0,30}") {
            let _ = parse(&text);
        }
        #[test]
        fn nothing_panics_on_noise(text in "(?s).{0,300}") {
            let _ = parse(&text);
        }
    }
}
