//! The places that the patches change are as somebody has read them: what a newer base has put
//! into a range goes with it, and no locator notices.

use super::{Finding, Gate, Row};
use crate::error::{Error, Result};
use crate::series::places::{FILE, Unread};

/// A patch by its name, with those of its places that nobody has read as they are.
pub type OfPatch = (String, Vec<Unread>);

/// One row a patch; `unread` is `None` where the series has no record at all.
///
/// # Errors
/// Of commits that are of no series, nothing can be said.
pub fn check(is_series: bool, unread: Option<&[OfPatch]>) -> Result<Vec<Row>> {
    if !is_series {
        return Err(Error::usage("judge the places of a range of commits")
            .found("only the edits of a series have places"));
    }
    let Some(unread) = unread else {
        let why = format!(
            "there is no {FILE}: what a newer base puts in the way of an edit would go without a word; \
             once you have read the mails, --record keeps what the places are like"
        );
        let note = Finding::note("no-record", None, why);
        return Ok(vec![Row::of(Gate::Places, "series", "not recorded", vec![note])]);
    };
    let row = |(patch, places): &OfPatch| {
        let finding = |u: &Unread| {
            let lines: String = u.new.iter().map(|(n, l)| format!("\n{n}: {l}")).collect();
            Finding::new("unread", Some(u.place.clone()), format!("{u}{lines}"))
        };
        let found: Vec<Finding> = places.iter().map(finding).collect();
        let detail = if found.is_empty() { "" } else { "read the mail; if it is right, --record" };
        Row::of(Gate::Places, patch, detail, found)
    };
    Ok(unread.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::Status;

    #[test]
    fn a_place_that_nobody_read_fails_its_patch_alone() {
        let place = Unread {
            edit: "series/a/series.toml:4".into(),
            deed: "replace".into(),
            place: "a.c:5".into(),
            new: vec![(7, "case NEW:".into())],
            gone: 1,
            around: None,
            times: None,
        };
        let unread = [("one".to_owned(), vec![place]), ("two".to_owned(), Vec::new())];
        let rows = check(true, Some(&unread)).unwrap();
        let seen: Vec<_> = rows.iter().map(|r| (r.subject.as_str(), r.status)).collect();
        assert_eq!(seen, [("one", Status::Failed), ("two", Status::Passed)]);
        let finding = &rows[0].findings[0];
        let want = "series/a/series.toml:4 (replace): 1 line new or in another place, \
                    1 line there no more\n7: case NEW:";
        assert_eq!((finding.place.as_deref(), &*finding.text), (Some("a.c:5"), want));
    }

    #[test]
    fn without_a_record_that_is_told() {
        let rows = check(true, None).unwrap();
        assert_eq!((rows.len(), rows[0].status), (1, Status::Passed));
        assert!(rows[0].findings[0].note, "{rows:?}");
        assert!(check(false, None).is_err());
    }
}
