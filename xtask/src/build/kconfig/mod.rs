//! Kernel configuration: fragments, what they ask of a tree, and whether the
//! tree's own `conf` gave it.
//!
//! The kernel's `olddefconfig` drops what it cannot set and says nothing, so each
//! line that was asked is looked up afterwards ([`check`]), and what stood in
//! its way is read from the tree's Kconfig files ([`tree`]).

pub mod check;
pub mod dotconfig;
pub mod expr;
pub mod fragment;
pub mod lang;
pub mod merge;
pub mod sources;
pub mod tree;

/// What a symbol can be set to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// `y`
    Yes,
    /// `m`
    Module,
    /// `n`, or `# CONFIG_X is not set`
    No,
    /// A number, a hexadecimal number or a quoted string, as a `.config` has it.
    Literal(String),
}

impl Value {
    /// The value as a `.config` has it behind `=`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Value::Yes => "y",
            Value::Module => "m",
            Value::No => "n",
            Value::Literal(text) => text,
        }
    }

    /// Reads what stands behind `=`.
    #[must_use]
    pub fn parse(text: &str) -> Value {
        match text {
            "y" => Value::Yes,
            "m" => Value::Module,
            "n" => Value::No,
            _ => Value::Literal(text.to_owned()),
        }
    }

    /// Whether both mean the same: `0x10` and `0x0010` do.
    #[must_use]
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Literal(a), Value::Literal(b)) => {
                a == b || matches!((number(a), number(b)), (Some(a), Some(b)) if a == b)
            }
            _ => self == other,
        }
    }
}

fn number(text: &str) -> Option<i128> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a line stands: the fragment as the user knows it, and the line from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Fragment name, path, or option.
    pub file: String,
    /// Line, from 1; 0 where the file has none (an option).
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            f.write_str(&self.file)
        } else {
            write!(f, "{}:{}", self.file, self.line)
        }
    }
}

/// Whether `name` can be a symbol: `NET_NS`, `64BIT`, `VFPv3`.
#[must_use]
pub fn is_symbol(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
