//! Adds an `#include` where its neighbours are: the ones of the same kind and
//! folder, in order where they are in order.

use super::super::file_text::FileText;
use super::{Splice, file_ends};
use cscan::scan::ItemKind;

struct Line {
    /// With its delimiters.
    header: Vec<u8>,
    /// Whole lines.
    start: usize,
    end: usize,
}

/// The kind and top folder: `<linux/`, `<net/`, `"`.
fn family(header: &[u8]) -> &[u8] {
    let folder = memchr::memchr(b'/', header).filter(|_| header.first() == Some(&b'<'));
    header.get(..folder.map_or(1, |n| n + 1)).unwrap_or_default()
}

/// The insertion; `Ok(None)` when the file includes it already.
///
/// # Errors
/// Says so when the file has no `#include` to go with.
pub fn add(file: &FileText, header: &str) -> Result<Option<Splice>, String> {
    let header = header.as_bytes();
    let scan = file.scan();
    let mut lines: Vec<(usize, Line)> = Vec::new();
    for item in scan.items.iter().filter(|i| i.kind == ItemKind::Include) {
        let (Some(name), Some(span)) = (item.names.first(), file.whole_lines(item.span.clone()))
        else {
            continue;
        };
        let depth = scan
            .branches
            .iter()
            .filter(|b| b.body.start <= span.start && span.end <= b.body.end)
            .count();
        let found = file.get(name.clone());
        lines.push((depth, Line { header: found.to_vec(), start: span.start, end: span.end }));
    }
    // One in a conditional does not count as being there for all.
    let least = lines.iter().map(|(d, _)| *d).min().ok_or("it has no #include to go with")?;
    let lines: Vec<Line> = lines.into_iter().filter(|(d, _)| *d == least).map(|(_, l)| l).collect();
    if lines.iter().any(|l| l.header == header) {
        return Ok(None);
    }
    let kin: Vec<&Line> = lines.iter().filter(|l| family(&l.header) == family(header)).collect();
    let same_marks: Vec<&Line> =
        lines.iter().filter(|l| l.header.first() == header.first()).collect();
    let pool = [kin, same_marks, lines.iter().collect()]
        .into_iter()
        .find(|p| !p.is_empty())
        .unwrap_or_default();
    let run = longest_run(&pool, &lines);
    let sorted = run.windows(2).all(|w| match w {
        [a, b] => a.header <= b.header,
        _ => true,
    });
    let before = if sorted && run.len() > 1 {
        run.iter().position(|l| l.header.as_slice() > header)
    } else {
        None
    };
    let at = match before {
        Some(i) => run.get(i).map(|l| l.start),
        None => run.last().map(|l| l.end),
    };
    let at = at.ok_or("it has no #include to go with")?;
    let mut line = String::new();
    if at == file.bytes().len() && !file.bytes().ends_with(b"\n") {
        line.push('\n');
    }
    line.push_str("#include ");
    line.push_str(&String::from_utf8_lossy(header));
    line.push('\n');
    Ok(Some(Splice { span: at..at, text: file_ends(file, &line) }))
}

/// The longest part of `pool` that stands in one block of adjacent includes.
fn longest_run<'l>(pool: &[&'l Line], all: &[Line]) -> Vec<&'l Line> {
    let mut block = 0;
    let mut blocks = Vec::new();
    let mut last_end = None;
    for line in all {
        if last_end.is_some_and(|end| end != line.start) {
            block += 1;
        }
        blocks.push((line.start, block));
        last_end = Some(line.end);
    }
    let block_of =
        |l: &Line| blocks.iter().find(|(start, _)| *start == l.start).map_or(0, |(_, b)| *b);
    let mut best: Vec<&Line> = Vec::new();
    for b in 0..=block {
        let run: Vec<&Line> = pool.iter().copied().filter(|l| block_of(l) == b).collect();
        if run.len() > best.len() {
            best = run;
        }
    }
    best
}
