//! What a series of mails is made from, and the mails.

use git2::Oid;

use crate::mail::body::Faults;
use crate::mail::dates::Date;
use crate::mail::person::Person;
use crate::mail::range_diff::RangeDiff;
use crate::mail::subject::Prefix;
use crate::mail::tracking::Tracking;

/// The git whose form the mails have; stands in their signature, so that they do
/// not depend on the git that happens to be installed.
pub const SIGNATURE: &str = "2.47.3";

/// Everything that [`write_series`](crate::mail::write_series) needs.
#[derive(Clone, Debug)]
pub struct MailInput<'a> {
    /// The patches, first one first; each is compared with its first parent.
    pub commits: &'a [Oid],
    /// What stands in the brackets of the subjects.
    pub prefix: Prefix,
    /// The sender. `None`: each author sends, as with git. An author who is not
    /// the sender is named in the body.
    pub from: Option<Person>,
    /// The cover's date. `None`: one second before the first patch. A patch has
    /// the author date of its commit, so commit patch i at the series' date + i s.
    pub date: Option<Date>,
    /// The cover letter, if there is one.
    pub cover: Option<Cover>,
    /// Addressees, in every mail.
    pub to: Vec<Person>,
    /// Those who get a copy, in every mail.
    pub cc: Vec<Person>,
    /// Writes message ids and threads the patches under the cover (or the first
    /// patch). The name that ids begin with; without one, the change id.
    pub thread: Option<Thread>,
    /// `base-commit:`, `change-id:` and prerequisites.
    pub tracking: Tracking,
    /// What changed in which version, newest first: in the cover, or below the
    /// separator of a single patch.
    pub changelog: Vec<Changes>,
    /// The difference to an earlier version, where git puts it: behind the
    /// cover's diffstat, or behind the diff of the first patch without one.
    pub range_diff: Option<RangeDiff>,
    /// What to do with messages that `git am` would cut.
    pub faults: Faults,
    /// How bodies travel.
    pub transfer: Transfer,
    /// The last lines of a mail; empty leaves them out.
    pub signature: String,
    /// Puts `vN-` before file names of a version above 1, as git does.
    pub version_in_names: bool,
    /// Writes `1/1` on a single patch.
    pub number_single: bool,
    /// The number of the first patch, normally 1.
    pub start_number: usize,
}

impl<'a> MailInput<'a> {
    /// The mails that `git format-patch --thread` would write, made fit to be sent.
    #[must_use]
    pub fn new(commits: &'a [Oid]) -> MailInput<'a> {
        MailInput {
            commits,
            prefix: Prefix::default(),
            from: None,
            date: None,
            cover: None,
            to: Vec::new(),
            cc: Vec::new(),
            thread: Some(Thread::default()),
            tracking: Tracking::default(),
            changelog: Vec::new(),
            range_diff: None,
            faults: Faults::Refuse,
            transfer: Transfer::Mail,
            signature: SIGNATURE.to_owned(),
            version_in_names: false,
            number_single: false,
            start_number: 1,
        }
    }
}

/// A cover letter's own text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// The subject, in one line.
    pub subject: String,
    /// The text below it.
    pub body: String,
}

/// How the mails of a series hang together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// What message ids begin with; empty takes the change id.
    pub topic: String,
    /// A message id (without brackets) that the first mail answers.
    pub in_reply_to: Option<String>,
}

/// What a version changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The version that has these changes.
    pub version: u32,
    /// The text, usually a list.
    pub text: String,
    /// The message id of the version before it (its cover or only patch).
    pub previous: Option<String>,
}

/// How a body travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// As `git format-patch` writes it: never encoded, declared only where the
    /// message (not the patch) has non-ASCII text.
    Raw,
    /// Fit to be sent: quoted-printable where a carriage return or an overlong
    /// line would not survive, UTF-8 declared wherever it stands.
    #[default]
    Mail,
}

/// One mail of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// `0000-cover-letter.patch`, `0001-….patch`.
    pub file_name: String,
    /// Its whole content.
    pub bytes: Vec<u8>,
    /// 0 for the cover, else the number of the patch.
    pub number: usize,
    /// What the sender should know: the mail is right, but a receiver needs care.
    pub warnings: Vec<String>,
}
