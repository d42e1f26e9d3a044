//! Checks `[[prerequisites]]`: each says one thing, in the form of its kind.

use crate::error::Result;
use crate::mail;

use super::check::Checker;
use super::key_path::KeyPath;
use super::model::Prerequisite;
use super::raw::RawPrerequisite;

impl Checker<'_> {
    pub(super) fn prerequisites(
        &self,
        raw: &[RawPrerequisite],
        path: &KeyPath,
    ) -> Result<Vec<Prerequisite>> {
        let mut all = Vec::with_capacity(raw.len());
        for (i, one) in raw.iter().enumerate() {
            let one = self.prerequisite(one, &path.index(i))?;
            if all.contains(&one) {
                return Err(self.source.error_at(&path.index(i), "it is there a second time"));
            }
            all.push(one);
        }
        Ok(all)
    }

    fn prerequisite(&self, raw: &RawPrerequisite, path: &KeyPath) -> Result<Prerequisite> {
        let keys = [
            ("series", &raw.series),
            ("message-id", &raw.message_id),
            ("patch-id", &raw.patch_id),
            ("change-id", &raw.change_id),
        ];
        let mut said = keys.iter().filter_map(|(key, v)| v.as_ref().map(|v| (*key, v)));
        let (Some((key, value)), None) = (said.next(), said.next()) else {
            return Err(self
                .source
                .error_at(path, "a prerequisite says exactly one thing")
                .hint("give it one of: series, message-id, patch-id, change-id"));
        };
        if key == "series" {
            return Ok(Prerequisite::Series(value.clone()));
        }
        mail::Prerequisite::parse(&format!("{key}: {value}"))
            .map(Prerequisite::Elsewhere)
            .map_err(|e| e.context(self.source.position_of(&path.key(key))))
    }
}
