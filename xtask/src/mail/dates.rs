//! Points in time with the zone they were written in.

use jiff::Timestamp;
use jiff::tz::Offset;

use crate::error::{Error, Result};

/// Seconds since 1970 and the minutes that its zone is east of UTC, as commits
/// have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    seconds: i64,
    offset: i32,
}

impl Date {
    /// A date from a commit or a series.
    ///
    /// # Errors
    /// When it is outside the years that a mail can name, or its zone is more
    /// than a day off.
    pub fn new(seconds: i64, offset_minutes: i32) -> Result<Date> {
        let date = Date { seconds, offset: offset_minutes };
        // A four-digit year is all that RFC 2822 has.
        if !(-62_000_000_000..253_402_000_000).contains(&seconds) || date.civil().is_none() {
            return Err(Error::usage(format!("the date {seconds} {offset_minutes:+} min"))
                .found("no mail can carry it")
                .hint("give a date between the years 1 and 9999, and a zone within a day of UTC"));
        }
        Ok(date)
    }

    /// Seconds since 1970-01-01 00:00 UTC.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Minutes that the zone is east of UTC.
    #[must_use]
    pub fn offset_minutes(self) -> i32 {
        self.offset
    }

    /// So many seconds later, in the same zone.
    ///
    /// # Errors
    /// When that leaves the years that a mail can name.
    pub fn plus_seconds(self, seconds: i64) -> Result<Date> {
        Date::new(self.seconds.saturating_add(seconds), self.offset)
    }

    /// As the Date header has it: `Fri, 29 Nov 2024 12:00:01 +0000`.
    #[must_use]
    pub fn rfc2822(self) -> String {
        let zone = self.offset.abs();
        let sign = if self.offset < 0 { '-' } else { '+' };
        // `new` has checked that it can be expressed.
        let civil = self.civil().unwrap_or_default();
        let day = civil.strftime("%a, %-d %b %Y %H:%M:%S");
        format!("{day} {sign}{:02}{:02}", zone / 60, zone % 60)
    }

    fn civil(self) -> Option<jiff::civil::DateTime> {
        let offset = Offset::from_seconds(self.offset.checked_mul(60)?).ok()?;
        Some(offset.to_datetime(Timestamp::from_second(self.seconds).ok()?))
    }

    /// Reads a Date header: RFC 2822's form, or git's `@seconds zone` and ISO forms.
    ///
    /// # Errors
    /// When it is none of them.
    pub fn parse(text: &str) -> Result<Date> {
        let t = text.trim();
        let bad = || {
            Error::usage(format!("the date \"{}\"", t.escape_debug()))
                .found("not in the form of a mail's Date header")
                .hint("write it as: Fri, 29 Nov 2024 12:00:01 +0000")
        };
        if let Some(raw) = t.strip_prefix('@') {
            let (seconds, zone) = raw.split_once(' ').unwrap_or((raw, "+0000"));
            return Date::new(
                seconds.parse().map_err(|_| bad())?,
                zone_minutes(zone).ok_or_else(bad)?,
            );
        }
        if let Ok(z) = jiff::fmt::rfc2822::parse(t) {
            return Date::new(z.timestamp().as_second(), z.offset().seconds() / 60);
        }
        let at: Timestamp = t.parse().map_err(|_| bad())?;
        let zone = t.get(t.len().saturating_sub(6)..).unwrap_or_default().replace(':', "");
        Date::new(at.as_second(), zone_minutes(&zone).unwrap_or(0))
    }
}

/// `+0130` in minutes.
fn zone_minutes(zone: &str) -> Option<i32> {
    let (sign, digits) = match zone.as_bytes().first()? {
        b'+' => (1, zone.get(1..)?),
        b'-' => (-1, zone.get(1..)?),
        _ => return None,
    };
    if digits.len() != 4 || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let n: i32 = digits.parse().ok()?;
    Some(sign * (n / 100 * 60 + n % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_reads_dates() {
        for (seconds, offset, text) in [
            (1_732_881_601, 0, "Fri, 29 Nov 2024 12:00:01 +0000"),
            (1_732_881_601, 330, "Fri, 29 Nov 2024 17:30:01 +0530"),
            (1_709_251_199, -210, "Thu, 29 Feb 2024 20:29:59 -0330"),
            (0, 0, "Thu, 1 Jan 1970 00:00:00 +0000"),
            (1_735_689_600, 0, "Wed, 1 Jan 2025 00:00:00 +0000"),
        ] {
            let date = Date::new(seconds, offset).unwrap();
            assert_eq!(date.rfc2822(), text);
            assert_eq!(Date::parse(text).unwrap(), date);
        }
        assert_eq!(Date::parse("@5 -0130").unwrap(), Date::new(5, -90).unwrap());
        assert!(Date::parse("yesterday").is_err());
        assert!(Date::new(i64::MAX, 0).is_err());
        assert!(Date::new(0, i32::MAX).is_err());
    }
}
