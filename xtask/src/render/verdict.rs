//! What a patch is on a base: it applies, the base has it, the base lacks
//! something, or a place is not to be found.

use std::fmt;

use serde::Serialize;

use super::locate::Near;

/// What one patch, or a series as a whole, is on a base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// It is a commit on this base.
    Applies,
    /// The base has it already, or solved it another way.
    Absorbed {
        /// What in the base says so.
        marker: String,
        /// The series' explanation.
        why: String,
    },
    /// The base lacks what it needs.
    Blocked {
        /// What is lacking.
        lacks: String,
        /// The series' explanation.
        why: String,
    },
    /// A place is not there, or there more than once.
    Conflict {
        /// Each edit that found no place.
        conflicts: Vec<Conflict>,
    },
}

/// One edit that found no place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Position of the edit in its TOML file.
    pub edit: String,
    /// The deed.
    pub deed: String,
    /// The file of the tree.
    pub file: String,
    /// What was sought, and what went wrong.
    pub what: String,
    /// The nearest candidates, or all places.
    pub near: Vec<Near>,
    /// The edit before it, which failed too, whose text has what was sought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Verdict {
    /// One word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Applies => "applies",
            Verdict::Absorbed { .. } => "absorbed",
            Verdict::Blocked { .. } => "blocked",
            Verdict::Conflict { .. } => "conflict",
        }
    }

    /// The verdict on a series by those on its patches: a conflict if any
    /// conflicts, else blocked if any is, else absorbed if all are.
    #[must_use]
    pub fn of_series<'v>(patches: impl IntoIterator<Item = &'v Verdict>) -> Verdict {
        let all: Vec<&Verdict> = patches.into_iter().collect();
        let conflicts: Vec<Conflict> = all
            .iter()
            .filter_map(|v| match v {
                Verdict::Conflict { conflicts } => Some(conflicts.iter().cloned()),
                _ => None,
            })
            .flatten()
            .collect();
        if all.iter().any(|v| matches!(v, Verdict::Conflict { .. })) {
            return Verdict::Conflict { conflicts };
        }
        let first = |word: &str| all.iter().find(|v| v.word() == word).copied();
        if let Some(blocked) = first("blocked") {
            return blocked.clone();
        }
        match first("absorbed") {
            Some(absorbed) if first("applies").is_none() => absorbed.clone(),
            _ => Verdict::Applies,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Verdict::Applies => Ok(()),
            Verdict::Absorbed { marker: what, why } | Verdict::Blocked { lacks: what, why } => {
                write!(f, ": {what}")?;
                if why.is_empty() { Ok(()) } else { write!(f, " ({why})") }
            }
            Verdict::Conflict { conflicts } => {
                for c in conflicts.iter().filter(|c| c.after.is_none()) {
                    write!(f, "\n  {}: {} in {}: {}", c.edit, c.deed, c.file, c.what)?;
                    for near in &c.near {
                        write!(f, "\n    {near}")?;
                    }
                    match conflicts.iter().filter(|d| d.after.as_ref() == Some(&c.edit)).count() {
                        0 => {}
                        1 => write!(f, "\n    one more edit needs what it makes")?,
                        n => write!(f, "\n    {n} more edits need what it makes")?,
                    }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_judged_by_its_patches() {
        let a = Verdict::Applies;
        let b = Verdict::Absorbed { marker: "m".into(), why: String::new() };
        let l = Verdict::Blocked { lacks: "x".into(), why: "w".into() };
        let c = Verdict::Conflict { conflicts: Vec::new() };
        for (patches, word) in [
            (vec![&a, &a], "applies"),
            (vec![&b, &a], "applies"),
            (vec![&b, &b], "absorbed"),
            (vec![&b, &l, &a], "blocked"),
            (vec![&l, &c], "conflict"),
            (vec![], "applies"),
        ] {
            assert_eq!(Verdict::of_series(patches).word(), word);
        }
        assert_eq!(l.to_string(), "blocked: x (w)");
        let conflict = |edit: &str, after: Option<&str>| Conflict {
            edit: edit.into(),
            deed: "delete".into(),
            file: "a.c".into(),
            what: "gone".into(),
            near: Vec::new(),
            after: after.map(str::to_owned),
        };
        let conflicts = vec![
            conflict("e1", None),
            conflict("e2", Some("e1")),
            conflict("e3", None),
            conflict("e4", Some("e1")),
            conflict("e5", Some("e3")),
        ];
        let told = "conflict\n  e1: delete in a.c: gone\n    2 more edits need what it makes\n  \
                    e3: delete in a.c: gone\n    one more edit needs what it makes";
        assert_eq!(Verdict::Conflict { conflicts }.to_string(), told);
        assert_eq!(b.to_string(), "absorbed: m");
    }
}
