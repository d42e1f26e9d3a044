//! The series that a series needs first, and those that they need: loaded, in
//! the order in which they are applied.

use crate::error::{Error, Result};

use super::key_path::KeyPath;
use super::load;
use super::model::{Prerequisite, Series};

/// One thing that is applied before a series.
#[derive(Clone, Debug)]
pub enum Needed {
    /// A series of this project.
    Series(Box<Series>),
    /// What is elsewhere, and can only be named.
    Elsewhere(crate::mail::Prerequisite),
}

/// Everything that has to be applied before `series`, each once, what is needed
/// by others before them.
///
/// # Errors
/// When a series is not there or does not hold, or needs itself.
pub fn of(series: &Series) -> Result<Vec<Needed>> {
    let mut all = Vec::new();
    collect(series, &mut vec![series.name.clone()], &mut all)?;
    Ok(all)
}

/// Adds what `series` needs; `above` are the series that lead to it, itself last.
fn collect(series: &Series, above: &mut Vec<String>, all: &mut Vec<Needed>) -> Result<()> {
    for (i, one) in series.prerequisites.iter().enumerate() {
        let name = match one {
            Prerequisite::Elsewhere(one) => {
                let known = |n: &Needed| matches!(n, Needed::Elsewhere(other) if other == one);
                if !all.iter().any(known) {
                    all.push(Needed::Elsewhere(one.clone()));
                }
                continue;
            }
            Prerequisite::Series(name) => name,
        };
        let place = || KeyPath::root().key("prerequisites").index(i).key("series");
        if let Some(at) = above.iter().position(|n| n == name) {
            let mut circle = above.get(at..).unwrap_or_default().join("\", which needs \"");
            circle.push_str("\", which needs \"");
            return Err(series
                .source
                .error_at(&place(), "series that need each other")
                .found(format!("\"{circle}{name}\"")));
        }
        if all.iter().any(|n| matches!(n, Needed::Series(s) if s.name == *name)) {
            continue;
        }
        let needed = load::alone(&series.project, name).map_err(|e: Error| {
            e.context(format!("{}: a prerequisite", series.source.position_of(&place())))
        })?;
        above.push(name.clone());
        collect(&needed, above, all)?;
        above.pop();
        all.push(Needed::Series(Box::new(needed)));
    }
    Ok(())
}
