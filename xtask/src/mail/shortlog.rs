//! The list of patches by author that a cover letter carries.

use std::collections::BTreeMap;

use crate::mail::commit::{CommitText, first_line};
use crate::mail::wrap::{First, is_space, wrapped};

/// Columns that a line of it may have.
const WIDTH: usize = 72;

/// Appends the shortlog; `name_of` gives the name that an author is listed under.
pub fn write(out: &mut Vec<u8>, commits: &[CommitText], name_of: impl Fn(&CommitText) -> Vec<u8>) {
    let mut authors: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for commit in commits {
        authors.entry(name_of(commit)).or_default().push(title(&commit.subject().0));
    }
    for (name, titles) in authors {
        out.extend_from_slice(&name);
        out.extend_from_slice(format!(" ({}):\n", titles.len()).as_bytes());
        for title in titles {
            wrapped(out, &title, First::Indent(2), 4, WIDTH);
            out.push(b'\n');
        }
        out.push(b'\n');
    }
}

/// A subject without the `[PATCH …]` that a badly applied mail left before it.
fn title(subject: &[u8]) -> Vec<u8> {
    let mut title = first_line(subject).0;
    if title.starts_with(b"[PATCH")
        && let Some(end) = memchr::memchr(b']', title)
    {
        title = title.get(end + 1..).unwrap_or_default();
    }
    let blanks = title.iter().take_while(|&&c| is_space(c)).count();
    title.get(blanks..).unwrap_or_default().to_vec()
}
