//! The lines by which tools find a series' base, its other versions, and what it
//! needs first.

use git2::Oid;

use crate::error::{Error, Result};

/// Lines at the end of the cover, or of the first patch when there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracking {
    /// The commit that the series applies to.
    pub base_commit: Option<Oid>,
    /// What all versions of the series share: `YYYYMMDD-topic-12hex`.
    pub change_id: Option<String>,
    /// What has to be applied first, in this order.
    pub prerequisites: Vec<Prerequisite>,
}

/// Something that has to be applied before the series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prerequisite {
    /// A version of another series: its change id and version.
    Change(String, u32),
    /// A series by the message id of its cover or first patch.
    Message(String),
    /// One patch, by its stable patch id.
    Patch(Oid),
}

impl Tracking {
    /// Appends the lines, with a blank one before them; nothing when there are none.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut lines = String::new();
        if let Some(base) = self.base_commit {
            lines += &format!("base-commit: {base}\n");
        }
        if let Some(id) = &self.change_id {
            lines += &format!("change-id: {id}\n");
        }
        for one in &self.prerequisites {
            lines += &match one {
                Prerequisite::Change(id, version) => {
                    format!("prerequisite-change-id: {id}:v{version}\n")
                }
                Prerequisite::Message(id) => format!("prerequisite-message-id: <{id}>\n"),
                Prerequisite::Patch(id) => format!("prerequisite-patch-id: {id}\n"),
            };
        }
        if !lines.is_empty() {
            out.push(b'\n');
            out.extend_from_slice(lines.as_bytes());
        }
    }

    /// Checks the form of all ids.
    ///
    /// # Errors
    /// When an id would break its line or be taken for something else.
    pub fn validate(&self) -> Result<()> {
        for id in self.change_id.iter() {
            change_id(id)?;
        }
        for one in &self.prerequisites {
            match one {
                Prerequisite::Change(id, _) => change_id(id)?,
                Prerequisite::Message(id) => message_id(id)?,
                Prerequisite::Patch(_) => {}
            }
        }
        Ok(())
    }
}

fn change_id(id: &str) -> Result<()> {
    let fits = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if fits {
        return Ok(());
    }
    Err(Error::usage(format!("the change id \"{}\"", id.escape_debug()))
        .found("a change id has letters, digits, dashes, dots and underscores only")
        .hint("write it as: YYYYMMDD-topic-12hex"))
}

/// Checks a message id (without angle brackets).
///
/// # Errors
/// When it has white space, brackets or no `@`.
pub fn message_id(id: &str) -> Result<()> {
    let fits = id.contains('@') && id.chars().all(|c| c.is_ascii_graphic() && !"<>".contains(c));
    if fits {
        return Ok(());
    }
    Err(Error::usage(format!("the message id \"{}\"", id.escape_debug()))
        .found("it is not of the form left@right, without brackets and blanks")
        .hint("copy it from the mail's Message-ID header, without < and >"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let tracking = Tracking {
            base_commit: Some(Oid::from_bytes(&[0xab; 20]).unwrap()),
            change_id: Some("20241129-x-431ffd03aa5e".into()),
            prerequisites: vec![
                Prerequisite::Change("20241101-y-000000000000".into(), 2),
                Prerequisite::Message("m@x".into()),
            ],
        };
        tracking.validate().unwrap();
        let mut out = Vec::new();
        tracking.write(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            format!(
                "\nbase-commit: {}\nchange-id: 20241129-x-431ffd03aa5e\n\
                 prerequisite-change-id: 20241101-y-000000000000:v2\n\
                 prerequisite-message-id: <m@x>\n",
                "ab".repeat(20)
            )
        );
    }

    #[test]
    fn bad_ids_are_refused() {
        for bad in ["", "a b", "a\nb", "<x>"] {
            let tracking = Tracking { change_id: Some(bad.into()), ..Tracking::default() };
            assert!(tracking.validate().is_err(), "{bad:?}");
            assert!(message_id(bad).is_err(), "{bad:?}");
        }
    }
}
