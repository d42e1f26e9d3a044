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

impl Prerequisite {
    /// Reads one as `b4 prep --edit-deps` takes it: `patch-id: ID`,
    /// `message-id: <ID>` or `change-id: ID:vN`.
    ///
    /// # Errors
    /// When it is none of them, or its id is not well-formed.
    pub fn parse(text: &str) -> Result<Prerequisite> {
        let bad = |what: &str| {
            Error::usage(format!("the prerequisite \"{}\"", text.escape_debug()))
                .found(what)
                .hint("write it as patch-id: ID, message-id: ID or change-id: ID:vN")
        };
        let (kind, value) = text.split_once(':').ok_or_else(|| bad("it does not say its kind"))?;
        let value = value.trim();
        match kind.trim() {
            "patch-id" => match value.parse() {
                Ok(id) if value.len() == 40 => Ok(Prerequisite::Patch(id)),
                _ => Err(bad("a patch id has 40 hex digits")),
            },
            "message-id" => {
                let id = value.trim_start_matches('<').trim_end_matches('>');
                message_id(id)?;
                Ok(Prerequisite::Message(id.to_owned()))
            }
            "change-id" => {
                let (id, version) = value.rsplit_once(":v").unwrap_or_default();
                let version = version.parse().ok().filter(|&v| v > 0);
                let version = version.ok_or_else(|| bad("it does not end in :vN"))?;
                change_id(id)?;
                Ok(Prerequisite::Change(id.to_owned(), version))
            }
            _ => Err(bad("no such kind of prerequisite")),
        }
    }
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
    fn prerequisites_are_read_as_b4_writes_them() {
        let patch = "ab".repeat(20);
        for (text, want) in [
            (
                "change-id: 20241101-y-000000000000:v2",
                Some("change-id: 20241101-y-000000000000:v2"),
            ),
            ("message-id: <m@x>", Some("message-id: <m@x>")),
            ("message-id:m@x", Some("message-id: <m@x>")),
            (&format!("patch-id: {patch}"), Some(&*format!("patch-id: {patch}"))),
            ("patch-id: abc", None),
            ("change-id: 20241101-y-000000000000", None),
            ("change-id: a:v0", None),
            ("change-id: a b:v1", None),
            ("message-id: x", None),
            ("base-commit: v6.9", None),
            ("", None),
        ] {
            let mut out = Vec::new();
            if let Ok(one) = Prerequisite::parse(text) {
                Tracking { prerequisites: vec![one], ..Tracking::default() }.write(&mut out);
            }
            let want = want.map(|w| format!("\nprerequisite-{w}\n")).unwrap_or_default();
            assert_eq!(String::from_utf8(out).unwrap(), want, "{text}");
        }
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
