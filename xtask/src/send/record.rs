//! What was sent: the mails of each version, kept with the series in
//! `series/NAME/sent/vN/`, so that they can be sent again byte for byte and the
//! next version can refer to them.
//!
//! It is kept with the source and not in the cache: the cache may be thrown away,
//! and whoever else works on the series needs to know what went out.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, IoContext as _, Result};
use crate::host::{atomic, regular};
use crate::mail::Mail;

const FOLDER: &str = "sent";
const META: &str = "sent.json";

/// A version that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// About it.
    pub meta: Meta,
    /// Its mails, in order.
    pub mails: Vec<Mail>,
}

/// What is kept beside the mails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Meta {
    /// The version.
    pub version: u32,
    /// When, as RFC 3339.
    pub sent_at: String,
    /// The base's name.
    pub base: String,
    /// The base's commit.
    pub base_commit: String,
    /// The commit that the first patch stands on, where other series that it
    /// needs first lie between the base and it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<String>,
    /// The last commit.
    pub head: String,
    /// The first mail's id, without brackets; what the next version links to.
    pub message_id: String,
    /// The mails' file names, in order.
    pub mails: Vec<String>,
}

fn place(series: &Path, version: u32) -> PathBuf {
    series.join(FOLDER).join(format!("v{version}"))
}

/// The highest version that was sent.
#[must_use]
pub fn latest(series: &Path) -> Option<u32> {
    let entries = std::fs::read_dir(series.join(FOLDER)).ok()?;
    let version = |e: std::fs::DirEntry| e.file_name().to_str()?.strip_prefix('v')?.parse().ok();
    entries.flatten().filter_map(version).max()
}

/// The record of a version of the series in folder `series`; `None` when that
/// version was not sent.
///
/// # Errors
/// When it is there and cannot be read.
pub fn load(series: &Path, version: u32) -> Result<Option<Sent>> {
    let folder = place(series, version);
    let path = folder.join(META);
    let Some(bytes) = regular::read_if_there(&path)? else { return Ok(None) };
    let meta: Meta = serde_json::from_slice(&bytes).map_err(|e| {
        Error::usage(format!("read {}", path.display()))
            .found(e.to_string())
            .hint("restore it from the history of your project")
    })?;
    let mut mails = Vec::with_capacity(meta.mails.len());
    for name in &meta.mails {
        crate::host::paths::stay_below(name, "sent mail")?;
        let path = folder.join(name);
        let bytes = regular::read(&path)?;
        // A series without a cover letter begins with 1.
        let number = name.get(..4).and_then(|n| n.parse().ok()).unwrap_or(mails.len());
        mails.push(Mail { file_name: name.clone(), bytes, number, warnings: Vec::new() });
    }
    Ok(Some(Sent { meta, mails }))
}

/// Keeps a version. One that is kept already is never replaced.
///
/// # Errors
/// When it is there already, or cannot be written.
pub fn save(series: &Path, sent: &Sent) -> Result<PathBuf> {
    let folder = place(series, sent.meta.version);
    if folder.symlink_metadata().is_ok() {
        return Err(Error::usage(format!("keep what was sent in {}", folder.display()))
            .found("something is there already"));
    }
    let dir = atomic::Dir::begin(&folder)?;
    for mail in &sent.mails {
        let path = dir.path().join(&mail.file_name);
        std::fs::write(&path, &mail.bytes).at("write", &path)?;
    }
    let json = serde_json::to_vec_pretty(&sent.meta)
        .map_err(|e| Error::host("keep what was sent").found(e.to_string()))?;
    let path = dir.path().join(META);
    std::fs::write(&path, json).at("write", &path)?;
    dir.commit()?;
    Ok(folder)
}

/// The id in a mail's `Message-ID` header, without brackets.
#[must_use]
pub fn message_id(mail: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(mail);
    let head = text.split("\n\n").next()?;
    let value = head.lines().find_map(|l| {
        let (name, value) = l.split_once(':')?;
        name.eq_ignore_ascii_case("message-id").then_some(value)
    })?;
    Some(value.trim().trim_start_matches('<').trim_end_matches('>').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(version: u32) -> Sent {
        let mail = |number: usize, name: &str, bytes: &[u8]| Mail {
            file_name: name.into(),
            bytes: bytes.to_vec(),
            number,
            warnings: Vec::new(),
        };
        let mails = vec![
            mail(1, "0001-a.patch", b"Message-Id: <a@b>\nSubject: x\n\nMessage-ID: <no@no>\n"),
            mail(2, "0002-b.patch", b"\xff\r\n.\n"),
        ];
        let meta = Meta {
            version,
            sent_at: "2024-11-29T12:00:00Z".into(),
            base: "6.12".into(),
            base_commit: "0".repeat(40),
            onto: None,
            head: "1".repeat(40),
            message_id: message_id(&mails[0].bytes).unwrap(),
            mails: mails.iter().map(|m| m.file_name.clone()).collect(),
        };
        Sent { meta, mails }
    }

    #[test]
    fn it_comes_back_byte_for_byte_and_is_never_replaced() {
        let series = tempfile::tempdir().unwrap();
        assert_eq!(load(series.path(), 1).unwrap(), None);
        save(series.path(), &sent(1)).unwrap();
        assert_eq!(load(series.path(), 1).unwrap(), Some(sent(1)));
        assert_eq!(load(series.path(), 2).unwrap(), None);
        assert_eq!(save(series.path(), &sent(1)).unwrap_err().kind().exit_code(), 2);
        assert_eq!(sent(1).meta.message_id, "a@b");
    }

    #[test]
    fn a_broken_record_is_told() {
        let series = tempfile::tempdir().unwrap();
        let folder = save(series.path(), &sent(1)).unwrap();
        let json = std::fs::read_to_string(folder.join(META)).unwrap();
        std::fs::write(folder.join(META), json.replace("0001-a.patch", "../../x")).unwrap();
        assert!(load(series.path(), 1).unwrap_err().to_string().contains("leaves its folder"));
        std::fs::write(folder.join(META), "{").unwrap();
        assert!(load(series.path(), 1).is_err());
    }
}
