//! What was found of one kernel: an architecture and a configuration.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Modify, Style};

use super::compare::{Function, Kind, Object, Totals};
use super::counts::Counts;

/// A configuration fragment that was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fragment {
    /// A name of `kconfigs/`, or a path.
    pub name: String,
    /// SHA-256 of the file, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An object that was not compiled, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The object.
    pub object: String,
    /// Why.
    pub why: String,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The form of this document.
    pub form: String,
    /// The series.
    pub series: String,
    /// The base's name.
    pub base: String,
    /// The commit before the series.
    pub before: String,
    /// The last commit of the series.
    pub after: String,
    /// Its tree.
    pub tree: String,
    /// The architecture.
    pub arch: String,
    /// What the configuration is called.
    pub kernel: String,
    /// What the compiler says of itself.
    pub compiler: String,
    /// SHA-256 of the configuration that both trees were compiled with.
    pub config: String,
    /// The fragments besides those of every build.
    pub fragments: Vec<Fragment>,
    /// When, RFC 3339 in UTC.
    pub date: String,
    /// Sums over all functions.
    pub total: Totals,
    /// Sums over the functions whose figures are others, and those that are new or gone.
    pub changed: Totals,
    /// Objects that this kernel does not have.
    pub left_out: Vec<LeftOut>,
    /// The objects.
    pub objects: Vec<Object>,
}

/// A column of the table: its head, and the figure in it.
type Column = (&'static str, fn(&Counts) -> u64);

const COLUMNS: [Column; 10] = [
    ("bytes", |c| c.bytes),
    ("indirect calls", |c| c.indirect_calls),
    ("indirect jumps", |c| c.indirect_jumps),
    ("retpolines", |c| c.thunk_calls + c.thunk_jumps),
    ("jump tables", |c| c.jump_tables),
    ("direct calls", |c| c.direct_calls),
    ("tail calls", |c| c.tail_calls),
    ("static calls", |c| c.static_calls),
    ("boot-patched", |c| c.boot_patched_calls),
    ("undecoded", |c| c.undecoded),
];

impl Run {
    /// Keeps only what `shows` says yes to; sums stay those of all.
    pub fn retain(&mut self, shows: impl Fn(&Function) -> bool) {
        for object in &mut self.objects {
            object.functions.retain(&shows);
        }
        self.objects.retain(|o| !o.functions.is_empty());
    }

    /// The functions.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.objects.iter().flat_map(|o| &o.functions)
    }

    /// Writes a table: what `shows` says yes to, and sums of all. Where it is `brief`, an
    /// object that only one of the trees has is told in one line.
    ///
    /// # Errors
    /// When `w` cannot be written.
    pub fn human(
        &self,
        w: &mut dyn Write,
        shows: &dyn Fn(&Function) -> bool,
        brief: bool,
    ) -> io::Result<()> {
        writeln!(w, "{} on {}, {}, kernel {}", self.series, self.base, self.arch, self.kernel)?;
        writeln!(w, "{}; before {:.12}, after {:.12}", self.compiler, self.before, self.after)?;
        let shown: Vec<&Function> = self.functions().filter(|f| shows(f)).collect();
        let sums = [self.total.before, self.total.after];
        let all = shown.iter().flat_map(|f| [f.before, f.after]).flatten().chain(sums);
        let all: Vec<Counts> = all.collect();
        // What nothing here has needs no column.
        let columns: Vec<&Column> =
            COLUMNS.iter().filter(|(_, figure)| all.iter().any(|c| figure(c) > 0)).collect();
        let mut table = tabled::builder::Builder::default();
        let heads = columns.iter().map(|(head, _)| (*head).to_owned());
        table.push_record(std::iter::once(String::new()).chain(heads).chain([String::new()]));
        let row = |name: String, before: Option<Counts>, after: Option<Counts>, note: &str| {
            let cells = columns
                .iter()
                .map(|(_, figure)| cell(before.as_ref().map(figure), after.as_ref().map(figure)));
            std::iter::once(name).chain(cells).chain([note.to_owned()]).collect::<Vec<_>>()
        };
        for object in &self.objects {
            let of_it: Vec<&Function> = object.functions.iter().filter(|f| shows(f)).collect();
            let sum = Totals::of(&object.functions);
            let whole = whole(object);
            for f in of_it.iter().filter(|_| !brief || whole.is_none()) {
                table.push_record(row(format!("  {}", called(f)), f.before, f.after, note(f)));
            }
            let name = format!("{} ({})", object.object, count(object.functions.len(), "function"));
            let whole = whole.unwrap_or_default();
            table.push_record(row(name, Some(sum.before), Some(sum.after), whole));
        }
        if self.objects.len() > 1 {
            let Totals { before, after } = self.total;
            table.push_record(row("all objects".to_owned(), Some(before), Some(after), ""));
        }
        let mut table = table.build();
        table.with(Style::blank());
        table.with(Modify::new(Columns::new(1..=columns.len())).with(Alignment::right()));
        for line in table.to_string().lines() {
            writeln!(w, "{}", line.trim_end())?;
        }
        let other = self.functions().filter(|f| f.kind == Kind::OtherCode).count();
        if other > 0 {
            let functions = count(other, "function");
            writeln!(w, "{functions} with other instructions and the same figures")?;
        }
        for left_out in &self.left_out {
            writeln!(w, "{} is left out: {}", left_out.object, left_out.why)?;
        }
        Ok(())
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn called(f: &Function) -> String {
    match &f.was {
        Some(was) => format!("{} (was {was})", f.name),
        None => f.name.clone(),
    }
}

/// What became of an object that only one of the trees has.
fn whole(object: &Object) -> Option<&'static str> {
    let all = |kind: Kind| object.functions.iter().all(|f| f.kind == kind);
    match object.functions.is_empty() {
        false if all(Kind::New) => Some("new"),
        false if all(Kind::Gone) => Some("gone"),
        _ => None,
    }
}

fn note(f: &Function) -> &'static str {
    match (f.why, f.kind) {
        (Some(why), _) => why.word(),
        (None, Kind::OtherCode) => "other instructions",
        _ => "",
    }
}

fn cell(before: Option<u64>, after: Option<u64>) -> String {
    match (before, after) {
        (Some(a), Some(b)) if a == b => a.to_string(),
        (Some(a), Some(b)) => {
            let sign = if b > a { '+' } else { '-' };
            format!("{a} → {b} ({sign}{})", b.abs_diff(a))
        }
        (Some(a), None) => format!("{a} → -"),
        (None, Some(b)) => format!("- → {b}"),
        (None, None) => String::new(),
    }
}
