//! Headers of the first mail by which b4 finds a series again: the change id,
//! and what `b4 prep --from-thread` restores its work from.

use std::io::Write as _;

use base64::Engine as _;
use flate2::Compression;
use flate2::GzBuilder;
use serde::Serialize;

use crate::error::{Error, Result};

/// What b4 keeps of a series.
#[derive(Clone, Debug)]
pub struct Tracked<'a> {
    /// The change id.
    pub change_id: &'a str,
    /// The version that is sent.
    pub version: u32,
    /// What stands in the brackets besides `PATCH`: `RFC`, `net-next`.
    pub prefixes: Vec<String>,
    /// Versions that were sent before, with the message id of their first mail.
    pub history: Vec<(u32, String)>,
}

#[derive(Serialize)]
struct Tracking<'a> {
    series: Series<'a>,
}

/// The names are b4's.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Series<'a> {
    revision: u32,
    change_id: &'a str,
    prefixes: &'a [String],
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    history: serde_json::Map<String, serde_json::Value>,
}

/// Puts `X-B4-Tracking` and `X-Change-ID` at the end of the mail's headers.
///
/// # Errors
/// When the mail has no end of headers.
pub fn add(mail: &[u8], tracked: &Tracked<'_>) -> Result<Vec<u8>> {
    let history = tracked
        .history
        .iter()
        .map(|(version, id)| (format!("v{version}"), serde_json::json!([id])))
        .collect();
    let tracking = Tracking {
        series: Series {
            revision: tracked.version,
            change_id: tracked.change_id,
            prefixes: &tracked.prefixes,
            history,
        },
    };
    let failed =
        |e: &dyn std::fmt::Display| Error::host("write b4's tracking").found(e.to_string());
    let json = serde_json::to_vec(&tracking).map_err(|e| failed(&e))?;
    // No time and no file name: the same series gives the same bytes.
    let mut gz = GzBuilder::new().write(Vec::new(), Compression::best());
    gz.write_all(&json).map_err(|e| failed(&e))?;
    let packed = gz.finish().map_err(|e| failed(&e))?;
    let text = base64::engine::general_purpose::STANDARD.encode(packed);
    let value = format!("v=1; b={text}");
    insert(mail, &[("X-B4-Tracking", &folded(&value)), ("X-Change-ID", tracked.change_id)])
}

/// Puts headers at the end of a mail's header block.
///
/// # Errors
/// When the mail has no end of headers.
pub fn insert(mail: &[u8], headers: &[(&str, &str)]) -> Result<Vec<u8>> {
    let Some(end) = memchr::memmem::find(mail, b"\n\n") else {
        return Err(Error::usage("put headers into a mail").found("its headers have no end"));
    };
    let (head, rest) = mail.split_at(end + 1);
    let mut out = head.to_vec();
    for (name, value) in headers {
        out.extend_from_slice(format!("{name}: {value}\n").as_bytes());
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// Base64 has no blanks to fold at: cut it so that no line passes 75 columns.
fn folded(value: &str) -> String {
    let (first, rest) = value.split_at_checked(58).unwrap_or((value, ""));
    let mut out = first.to_owned();
    let mut rest = rest;
    while !rest.is_empty() {
        let (line, after) = rest.split_at_checked(74).unwrap_or((rest, ""));
        out.push_str("\n ");
        out.push_str(line);
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn b4_reads_back_what_was_packed() {
        let tracked = Tracked {
            change_id: "20241129-x-431ffd03aa5e",
            version: 2,
            prefixes: vec!["bpf-next".into()],
            history: vec![(1, "a@x".into())],
        };
        let mail = add(b"From: a@b\nSubject: x\n\nbody\n\nmore\n", &tracked).unwrap();
        assert_eq!(mail, add(b"From: a@b\nSubject: x\n\nbody\n\nmore\n", &tracked).unwrap());
        let text = String::from_utf8(mail).unwrap();
        assert!(text.lines().all(|l| l.len() <= 75), "{text}");
        let (head, body) = text.split_once("\n\n").unwrap();
        assert_eq!(body, "body\n\nmore\n");
        assert!(head.ends_with("\nX-Change-ID: 20241129-x-431ffd03aa5e"));
        let begin = head.find("b=").unwrap() + 2;
        let packed: String = head[begin..]
            .lines()
            .take_while(|l| !l.starts_with("X-Change-ID"))
            .map(str::trim)
            .collect();
        let packed = base64::engine::general_purpose::STANDARD.decode(packed).unwrap();
        let mut json = String::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut json).unwrap();
        assert_eq!(
            json,
            r#"{"series":{"revision":2,"change-id":"20241129-x-431ffd03aa5e","prefixes":["bpf-next"],"history":{"v1":["a@x"]}}}"#
        );
    }

    #[test]
    fn a_mail_without_a_body_is_refused() {
        assert!(insert(b"From: a@b\n", &[("X", "y")]).is_err());
    }
}
