//! Kconfig expressions: `A && (B || !C) && D != "x"`, parsed, evaluated in the
//! three-valued logic of Documentation/kbuild/kconfig-language.rst, and taken
//! apart into the terms that do not hold.

use std::fmt;

use crate::build::kconfig::Value;
use crate::build::kconfig::dotconfig::DotConfig;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A symbol, `y`, `m`, `n`, or a number.
    Symbol(String),
    /// A quoted string, without its quotes.
    Text(String),
    /// A macro call, `$(cc-option,…)`: only the tree's own `conf` knows its value.
    Macro(String),
    /// `!E`
    Not(Box<Expr>),
    /// `E && E`
    And(Box<Expr>, Box<Expr>),
    /// `E || E`
    Or(Box<Expr>, Box<Expr>),
    /// `A = B` and its kin.
    Compare(Box<Expr>, &'static str, Box<Expr>),
}

/// Deeper nesting than any tree has: bounds the recursion on bad input.
const MAX_DEPTH: usize = 100;

/// The three values, in the order that `&&` (minimum) and `||` (maximum) use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tri {
    /// `n`
    No,
    /// `m`
    Module,
    /// `y`
    Yes,
}

impl Expr {
    /// Reads an expression that fills `text`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Expr> {
        let (expr, rest) = Expr::parse_prefix(text)?;
        rest.trim().is_empty().then_some(expr)
    }

    /// Reads the expression that `text` begins with, and gives the rest.
    #[must_use]
    pub fn parse_prefix(text: &str) -> Option<(Expr, &str)> {
        let mut parser = Parser { rest: text, depth: 0 };
        let expr = parser.or()?;
        Some((expr, parser.rest))
    }

    /// The value under a configuration; nothing when a macro decides.
    #[must_use]
    pub fn eval(&self, config: &DotConfig) -> Option<Tri> {
        match self {
            Expr::Symbol(name) => Some(tristate(name, config)),
            Expr::Text(text) => Some(constant(text).unwrap_or(Tri::No)),
            Expr::Macro(_) => None,
            Expr::Not(e) => e.eval(config).map(|v| match v {
                Tri::No => Tri::Yes,
                Tri::Module => Tri::Module,
                Tri::Yes => Tri::No,
            }),
            Expr::And(a, b) => match (a.eval(config), b.eval(config)) {
                (Some(Tri::No), _) | (_, Some(Tri::No)) => Some(Tri::No),
                (a, b) => Some(a?.min(b?)),
            },
            Expr::Or(a, b) => match (a.eval(config), b.eval(config)) {
                (Some(Tri::Yes), _) | (_, Some(Tri::Yes)) => Some(Tri::Yes),
                (a, b) => Some(a?.max(b?)),
            },
            Expr::Compare(a, op, b) => {
                let holds = compare(&a.text(config)?, op, &b.text(config)?);
                Some(if holds { Tri::Yes } else { Tri::No })
            }
        }
    }

    /// The text that a comparison sees.
    fn text(&self, config: &DotConfig) -> Option<String> {
        match self {
            Expr::Symbol(name) if constant(name).is_some() || is_number(name) => Some(name.clone()),
            Expr::Symbol(name) => Some(match config.get(name) {
                Value::Literal(text) => text.trim_matches('"').to_owned(),
                value => value.as_str().to_owned(),
            }),
            Expr::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The terms of the outermost conjunction that are below `wanted`.
    #[must_use]
    pub fn unmet<'e>(&'e self, config: &DotConfig, wanted: Tri) -> Vec<&'e Expr> {
        match self {
            Expr::And(a, b) => {
                let mut terms = a.unmet(config, wanted);
                terms.extend(b.unmet(config, wanted));
                terms
            }
            _ if self.eval(config).is_some_and(|v| v < wanted) => vec![self],
            _ => Vec::new(),
        }
    }

    /// The macros whose value only `conf` knows.
    #[must_use]
    pub fn macros(&self) -> Vec<&str> {
        match self {
            Expr::Macro(text) => vec![text],
            Expr::Not(e) => e.macros(),
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Compare(a, _, b) => {
                let mut all = a.macros();
                all.extend(b.macros());
                all
            }
            _ => Vec::new(),
        }
    }

    /// The symbols it names, in order, each once.
    #[must_use]
    pub fn symbols(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.collect(&mut names);
        names
    }

    fn collect<'e>(&'e self, names: &mut Vec<&'e str>) {
        match self {
            Expr::Symbol(name)
                if constant(name).is_none()
                    && !is_number(name)
                    && !names.contains(&name.as_str()) =>
            {
                names.push(name);
            }
            Expr::Not(e) => e.collect(names),
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Compare(a, _, b) => {
                a.collect(names);
                b.collect(names);
            }
            _ => {}
        }
    }
}

/// The tristate of a symbol; numbers and strings count as `n`, as in `conf`.
#[must_use]
pub fn tristate(name: &str, config: &DotConfig) -> Tri {
    constant(name).unwrap_or_else(|| match config.get(name) {
        Value::Yes => Tri::Yes,
        Value::Module => Tri::Module,
        _ => Tri::No,
    })
}

fn constant(text: &str) -> Option<Tri> {
    match text {
        "y" => Some(Tri::Yes),
        "m" => Some(Tri::Module),
        "n" => Some(Tri::No),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    integer(text).is_some()
}

fn integer(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn compare(a: &str, op: &str, b: &str) -> bool {
    let order = match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.cmp(b),
    };
    match op {
        "=" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Parentheses only where the precedence needs them.
        let group = |f: &mut fmt::Formatter<'_>, e: &Expr, wrap: bool| {
            if wrap { write!(f, "({e})") } else { write!(f, "{e}") }
        };
        match self {
            Expr::Symbol(name) => f.write_str(name),
            Expr::Text(text) => write!(f, "\"{text}\""),
            Expr::Macro(text) => f.write_str(text),
            Expr::Not(e) => {
                f.write_str("!")?;
                group(f, e, matches!(**e, Expr::And(..) | Expr::Or(..) | Expr::Compare(..)))
            }
            Expr::And(a, b) => {
                group(f, a, matches!(**a, Expr::Or(..)))?;
                f.write_str(" && ")?;
                group(f, b, matches!(**b, Expr::Or(..)))
            }
            Expr::Or(a, b) => write!(f, "{a} || {b}"),
            Expr::Compare(a, op, b) => write!(f, "{a} {op} {b}"),
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl Parser<'_> {
    fn or(&mut self) -> Option<Expr> {
        let mut left = self.and()?;
        while self.take("||") {
            left = Expr::Or(Box::new(left), Box::new(self.and()?));
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Expr> {
        let mut left = self.term()?;
        while self.take("&&") {
            left = Expr::And(Box::new(left), Box::new(self.term()?));
        }
        Some(left)
    }

    fn term(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let term = if !self.rest.trim_start().starts_with("!=") && self.take("!") {
            Expr::Not(Box::new(self.term()?))
        } else if self.take("(") {
            let inner = self.or()?;
            if !self.take(")") {
                return None;
            }
            inner
        } else {
            let left = self.atom()?;
            match ["!=", "<=", ">=", "=", "<", ">"].into_iter().find(|op| self.take(op)) {
                Some(op) => Expr::Compare(Box::new(left), op, Box::new(self.atom()?)),
                None => left,
            }
        };
        self.depth -= 1;
        Some(term)
    }

    fn atom(&mut self) -> Option<Expr> {
        let text = self.rest.trim_start();
        let (expr, end) = match text.chars().next()? {
            quote @ ('"' | '\'') => {
                let inner = text.get(1..)?;
                let close = inner.find(quote)?;
                (Expr::Text(inner.get(..close)?.to_owned()), close + 2)
            }
            '$' => {
                let end = macro_end(text)?;
                (Expr::Macro(text.get(..end)?.to_owned()), end)
            }
            _ => {
                let part =
                    |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
                let end = text.find(|c| !part(c)).unwrap_or(text.len());
                let name = text.get(..end).filter(|name| !name.is_empty())?;
                // `A if B`: the condition is not part of the expression.
                if name == "if" {
                    return None;
                }
                (Expr::Symbol(name.to_owned()), end)
            }
        };
        self.rest = text.get(end..)?;
        Some(expr)
    }

    fn take(&mut self, token: &str) -> bool {
        let text = self.rest.trim_start();
        match text.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

/// Where the macro call that `text` begins with ends.
fn macro_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> DotConfig {
        DotConfig::parse("CONFIG_Y=y\nCONFIG_M=m\nCONFIG_NUM=120000\nCONFIG_STR=\"arm\"\n")
    }

    #[test]
    fn evaluates_as_conf_does() {
        for (text, value) in [
            ("Y", Some(Tri::Yes)),
            ("M", Some(Tri::Module)),
            ("N", Some(Tri::No)),
            ("!M", Some(Tri::Module)),
            ("!N && Y", Some(Tri::Yes)),
            ("Y && M || N", Some(Tri::Module)),
            ("Y || N && N", Some(Tri::Yes)),
            ("(Y || N) && N", Some(Tri::No)),
            ("M!=n", Some(Tri::Yes)),
            ("STR = \"arm\"", Some(Tri::Yes)),
            ("NUM >= 110000", Some(Tri::Yes)),
            ("NUM < 110000", Some(Tri::No)),
            ("$(cc-option,-fx(y))", None),
            ("N && $(cc-option,-f)", Some(Tri::No)),
            ("Y || $(success,true)", Some(Tri::Yes)),
            ("Y && $(success,true)", None),
            ("m && MODULES", Some(Tri::No)),
        ] {
            let e = Expr::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(e.eval(&config()), value, "{text}");
        }
    }

    #[test]
    fn unmet_terms_are_named_as_written() {
        let e = Expr::parse("Y && (A || B) && !(Y) && M && C=y").unwrap();
        let terms = |wanted| -> Vec<String> {
            e.unmet(&config(), wanted).iter().map(ToString::to_string).collect()
        };
        assert_eq!(terms(Tri::Module), ["A || B", "!Y", "C = y"]);
        assert_eq!(terms(Tri::Yes), ["A || B", "!Y", "M", "C = y"]);
        assert_eq!(e.symbols(), ["Y", "A", "B", "M", "C"]);
    }

    #[test]
    fn bad_expressions_are_refused() {
        for bad in ["", "A &&", "(A", "A)", "&& A", "A B", "$(x", "\"x", "A ==", "if A"] {
            assert!(Expr::parse(bad).is_none(), "{bad}");
        }
        assert!(Expr::parse(&"(".repeat(10_000)).is_none());
        assert!(Expr::parse(&"!".repeat(10_000)).is_none());
    }

    proptest::proptest! {
        #[test]
        fn what_is_shown_reads_back(text in "[YMN!&|()= ]{0,40}") {
            if let Some(e) = Expr::parse(&text) {
                let again = Expr::parse(&e.to_string()).unwrap();
                assert_eq!(again.eval(&config()), e.eval(&config()), "{}", text);
            }
        }
        #[test]
        fn nothing_panics(text in ".{0,100}") {
            let _ = Expr::parse(&text);
        }
    }
}
