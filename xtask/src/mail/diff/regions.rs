//! Where two texts differ, as ranges of lines.

use std::ops::Range;

use git2::{DiffOptions, Patch};

use crate::error::Result;

/// Lines of the old text, and the lines of the new one that stand in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// In the old text, from 0.
    pub old: Range<usize>,
    /// In the new text, from 0.
    pub new: Range<usize>,
}

/// The differences from `old` to `new`, in order, as git's diff finds them.
///
/// # Errors
/// When libgit2 cannot compare them.
pub fn between(old: &[u8], new: &[u8]) -> Result<Vec<Region>> {
    let mut options = DiffOptions::new();
    options.force_text(true).indent_heuristic(true).context_lines(0).interhunk_lines(0);
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
    let mut out = Vec::new();
    for i in 0..patch.num_hunks() {
        let (hunk, _) = patch.hunk(i)?;
        // A side without lines names the line above it.
        let range = |start: u32, count: u32| {
            let begin = (start as usize).saturating_sub(usize::from(count > 0));
            begin..begin + count as usize
        };
        out.push(Region {
            old: range(hunk.old_start(), hunk.old_lines()),
            new: range(hunk.new_start(), hunk.new_lines()),
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn regions_lead_from_one_text_to_the_other(old in "([abc]\n){0,12}[ab]?", new in "([abc]\n){0,12}[ab]?") {
            let lines = |t: &str| t.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
            let (a, b) = (lines(&old), lines(&new));
            let mut out = Vec::new();
            let mut at = 0;
            for region in between(old.as_bytes(), new.as_bytes()).unwrap() {
                out.extend_from_slice(&a[at..region.old.start]);
                prop_assert_eq!(out.len(), region.new.start);
                out.extend_from_slice(&b[region.new.clone()]);
                at = region.old.end;
            }
            out.extend_from_slice(&a[at..]);
            prop_assert_eq!(out.concat(), new);
        }
    }
}
