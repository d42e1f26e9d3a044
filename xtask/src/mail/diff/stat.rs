//! The diffstat and the summary below it, scaled to 72 columns as
//! `git format-patch` does.

use crate::mail::diff::quote::{push, quoted};
use crate::mail::diff::{Change, FileDiff};
use crate::mail::wrap::columns;

/// The width of a diffstat in mails.
const WIDTH: usize = 72;

struct Line {
    name: Vec<u8>,
    added: usize,
    deleted: usize,
    binary: bool,
}

/// Appends the diffstat of `files`, its line of totals, and the summary of
/// created, deleted, renamed files and changed modes.
pub fn write(out: &mut Vec<u8>, files: &[FileDiff]) {
    let lines: Vec<Line> = files.iter().filter_map(line).collect();
    let layout = Layout::of(&lines);
    for line in &lines {
        layout.write(out, line);
    }
    totals(out, &lines);
    for file in files {
        summary(out, &file.change);
    }
}

fn line(file: &FileDiff) -> Option<Line> {
    if let Change::Modified(old, new) = &file.change {
        // Compared, and nothing differs: git does not list it.
        if file.added + file.deleted == 0 && !file.binary && old.mode == new.mode {
            return None;
        }
    }
    let name = match &file.change {
        Change::Renamed(old, new, _) => rename(&old.path, &new.path),
        change => quoted("", change.path()),
    };
    Some(Line { name, added: file.added, deleted: file.deleted, binary: file.binary })
}

struct Layout {
    name: usize,
    number: usize,
    graph: usize,
    most: usize,
}

impl Layout {
    fn of(lines: &[Line]) -> Layout {
        let longest = lines.iter().map(|l| columns(&l.name)).max().unwrap_or(0);
        let text = || lines.iter().filter(|l| !l.binary);
        let most = text().map(|l| l.added + l.deleted).max().unwrap_or(0);
        let binary = lines.iter().filter(|l| l.binary);
        let binary = binary.map(|l| 14 + digits(l.added) + digits(l.deleted)).max();
        let number = digits(most).max(if binary.is_some() { 3 } else { 0 });
        let binary = binary.unwrap_or(0);
        // At least 6 columns of graph and 10 of name.
        let width = WIDTH.max(16 + 6 + number);
        let mut graph = if most + 4 > binary { most } else { binary - 4 };
        let mut name = longest;
        if name + number + 6 + graph > width {
            let share = (width * 3 / 8).saturating_sub(number + 6);
            if graph > share {
                graph = share.max(6);
            }
            let room = width - number - 6;
            if name > room - graph {
                name = room - graph;
            } else {
                graph = room - name;
            }
        }
        Layout { name, number, graph, most }
    }

    fn write(&self, out: &mut Vec<u8>, line: &Line) {
        let (cut, name, width) = self.fit(&line.name);
        out.push(b' ');
        out.extend_from_slice(cut);
        out.extend_from_slice(name);
        out.resize(out.len() + width.saturating_sub(columns(name)), b' ');
        if line.binary {
            let number = self.number;
            out.extend_from_slice(format!(" | {:>number$}", "Bin").as_bytes());
            if line.added + line.deleted > 0 {
                let sizes = format!(" {} -> {} bytes", line.deleted, line.added);
                out.extend_from_slice(sizes.as_bytes());
            }
            out.push(b'\n');
            return;
        }
        let total = line.added + line.deleted;
        let number = self.number;
        let blank = if total > 0 { " " } else { "" };
        out.extend_from_slice(format!(" | {total:>number$}{blank}").as_bytes());
        let (plus, minus) = self.scaled(line);
        out.resize(out.len() + plus, b'+');
        out.resize(out.len() + minus, b'-');
        out.push(b'\n');
    }

    /// What is put before the name, what is left of it, and its columns.
    fn fit<'n>(&self, name: &'n [u8]) -> (&'static [u8], &'n [u8], usize) {
        let mut have = columns(name);
        if self.name >= have {
            return (b"", name, self.name);
        }
        let width = self.name.saturating_sub(3);
        let mut rest = name;
        while have > width {
            let one = std::str::from_utf8(rest).ok().and_then(|s| s.chars().next());
            let (head, tail) = rest.split_at(one.map_or(1, char::len_utf8).min(rest.len()));
            have = have.saturating_sub(columns(head));
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        // Better a whole component, where one begins in what is left.
        let slash = memchr::memchr(b'/', rest).unwrap_or(0);
        (b"...", rest.get(slash..).unwrap_or_default(), width)
    }

    fn scaled(&self, line: &Line) -> (usize, usize) {
        let (added, deleted) = (line.added, line.deleted);
        if self.graph > self.most {
            return (added, deleted);
        }
        let mut total = self.scale(added + deleted);
        if total < 2 && added > 0 && deleted > 0 {
            total = 2;
        }
        if added < deleted {
            let added = self.scale(added);
            (added, total.saturating_sub(added))
        } else {
            let deleted = self.scale(deleted);
            (total.saturating_sub(deleted), deleted)
        }
    }

    /// Never 0 for what is not 0.
    fn scale(&self, n: usize) -> usize {
        if n == 0 { 0 } else { 1 + n * (self.graph - 1) / self.most.max(1) }
    }
}

fn digits(n: usize) -> usize {
    n.to_string().len()
}

fn totals(out: &mut Vec<u8>, lines: &[Line]) {
    let text = || lines.iter().filter(|l| !l.binary);
    let added: usize = text().map(|l| l.added).sum();
    let deleted: usize = text().map(|l| l.deleted).sum();
    let s = |n: usize| if n == 1 { "" } else { "s" };
    let n = lines.len();
    let mut line = format!(" {n} file{} changed", s(n));
    if n > 0 {
        if added > 0 || deleted == 0 {
            line += &format!(", {added} insertion{}(+)", s(added));
        }
        if deleted > 0 || added == 0 {
            line += &format!(", {deleted} deletion{}(-)", s(deleted));
        }
    }
    out.extend_from_slice(line.as_bytes());
    out.push(b'\n');
}

fn summary(out: &mut Vec<u8>, change: &Change) {
    let mut named = |what: &str, name: &[u8]| {
        out.extend_from_slice(what.as_bytes());
        push(out, "", name);
        out.push(b'\n');
    };
    match change {
        Change::Created(new) => named(&format!(" create mode {:06o} ", new.mode), &new.path),
        Change::Deleted(old) => named(&format!(" delete mode {:06o} ", old.mode), &old.path),
        Change::Modified(old, new) if old.mode != new.mode => {
            named(&format!(" mode change {:06o} => {:06o} ", old.mode, new.mode), &new.path);
        }
        Change::Modified(..) => {}
        Change::Renamed(old, new, similarity) => {
            out.extend_from_slice(b" rename ");
            out.extend_from_slice(&rename(&old.path, &new.path));
            out.extend_from_slice(format!(" ({}%)\n", percent(*similarity)).as_bytes());
            if old.mode != new.mode {
                let line = format!(" mode change {:06o} => {:06o}\n", old.mode, new.mode);
                out.extend_from_slice(line.as_bytes());
            }
        }
    }
}

/// Similarity in per cent from 60,000ths.
#[must_use]
pub fn percent(similarity: u32) -> u32 {
    similarity * 100 / 60_000
}

/// A rename in short: `dir/{old => new}/file`, or both names whole when one has
/// to be quoted.
fn rename(old: &[u8], new: &[u8]) -> Vec<u8> {
    use crate::mail::diff::quote::needs_quotes;
    if needs_quotes(old) || needs_quotes(new) {
        let mut out = quoted("", old);
        out.extend_from_slice(b" => ");
        push(&mut out, "", new);
        return out;
    }
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let begin = old.iter().take(same).rposition(|&c| c == b'/').map_or(0, |at| at + 1);
    // The common end begins with a slash; that slash may be the one that ends
    // the common beginning.
    let least = begin.saturating_sub(1);
    let mut end = 0;
    for n in 1..=old.len().min(new.len()) {
        let (a, b) = (old.len() - n, new.len() - n);
        if a < least || b < least || old.get(a) != new.get(b) {
            break;
        }
        if old.get(a) == Some(&b'/') {
            end = n;
        }
    }
    let middle = |name: &[u8]| {
        name.get(begin..name.len().saturating_sub(end).max(begin)).unwrap_or_default().to_vec()
    };
    let (a, b) = (middle(old), middle(new));
    let braces = begin + end > 0;
    let mut out = old.get(..begin).unwrap_or_default().to_vec();
    if braces {
        out.push(b'{');
    }
    out.extend_from_slice(&a);
    out.extend_from_slice(b" => ");
    out.extend_from_slice(&b);
    if braces {
        out.push(b'}');
        out.extend_from_slice(old.get(old.len() - end..).unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::rename;

    #[test]
    fn renames_in_short() {
        for (old, new, want) in [
            ("a/b/c", "a/d/c", "a/{b => d}/c"),
            ("a/b", "a/c", "a/{b => c}"),
            ("a/c", "b/c", "{a => b}/c"),
            ("a", "b", "a => b"),
            ("a/b", "c", "a/b => c"),
            ("a/c", "a/b/c", "a/{ => b}/c"),
            ("a/b/c", "a/c", "a/{b => }/c"),
        ] {
            assert_eq!(rename(old.as_bytes(), new.as_bytes()), want.as_bytes(), "{old} {new}");
        }
    }
}
