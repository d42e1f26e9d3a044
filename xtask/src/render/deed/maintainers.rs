//! Adds an entry to MAINTAINERS in its alphabetical order.
//!
//! The list is nearly sorted, not quite: the place is the one where the fewest
//! entries are on the wrong side of the new one.

use super::super::file_text::FileText;
use super::{Splice, file_ends};
use cscan::lines::{is_blank, lines};

struct Entry {
    start: usize,
    title: Vec<u8>,
}

fn key(title: &[u8]) -> Vec<u8> {
    title.trim_ascii().to_ascii_uppercase()
}

/// The insertion; `Ok(None)` when an entry of that title is there already.
///
/// # Errors
/// Says so when the text has no title, or the file no entries.
pub fn add(file: &FileText, text: &str) -> Result<Option<Splice>, String> {
    let text = text.trim_matches('\n');
    let title = text.lines().next().unwrap_or("");
    let is_title = |l: &[u8]| !l.is_empty() && !l.starts_with(b"\t") && l.get(1) != Some(&b':');
    if !is_title(title.as_bytes()) {
        return Err(
            "an entry begins with its title, then lines such as \"M:\\tName <mail>\"".into()
        );
    }
    let entries = entries(file);
    let wanted = key(title.as_bytes());
    if entries.iter().any(|e| key(&e.title) == wanted) {
        return Ok(None);
    }
    // "THE REST" ends the list whatever its letters.
    let sorted: Vec<&Entry> = entries.iter().take_while(|e| key(&e.title) != b"THE REST").collect();
    if sorted.is_empty() {
        return Err("it has no entries (a title, then \"M:\" and the like)".into());
    }
    let mut wrong = sorted.iter().filter(|e| key(&e.title) < wanted).count();
    let mut best = (wrong, 0);
    for (i, entry) in sorted.iter().enumerate() {
        if key(&entry.title) < wanted {
            wrong -= 1;
        } else {
            wrong += 1;
        }
        if wrong < best.0 {
            best = (wrong, i + 1);
        }
    }
    let next = entries.get(best.1);
    let (at, text) = match next {
        Some(entry) => (entry.start, format!("{text}\n\n")),
        None => {
            let open = if file.bytes().ends_with(b"\n") { "" } else { "\n" };
            (file.bytes().len(), format!("{open}\n{text}\n"))
        }
    };
    Ok(Some(Splice { span: at..at, text: file_ends(file, &text) }))
}

/// Blocks between blank lines whose second line is `X:\t…`.
fn entries(file: &FileText) -> Vec<Entry> {
    let src = file.bytes();
    let mut entries = Vec::new();
    let mut above_blank = true;
    let mut title: Option<std::ops::Range<usize>> = None;
    for line in lines(src, 0..src.len()) {
        let text = file.get(line.clone());
        if let Some(t) = title.take() {
            let field = text.first().is_some_and(u8::is_ascii_uppercase)
                && text.get(1) == Some(&b':')
                && text.get(2).is_some_and(u8::is_ascii_whitespace);
            if field {
                let name = file.get(t.clone()).trim_ascii().to_vec();
                entries.push(Entry { start: t.start, title: name });
            }
        }
        if is_blank(text) {
            above_blank = true;
        } else {
            if above_blank && !text.starts_with(b"\t") && !text.starts_with(b" ") {
                title = Some(line);
            }
            above_blank = false;
        }
    }
    entries
}
