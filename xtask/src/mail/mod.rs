//! Mails from commits, and back.
//!
//! [`write_series`] turns commits of a repository into the mails that
//! `git format-patch` would write of them, byte for byte, plus what
//! [`MailInput`] asks for on purpose: message ids and threading, tracking lines,
//! the changelog, an encoding that survives the way. [`prove()`] reads the mails as
//! `git am` would, applies them in the object database and compares trees,
//! authors and messages with the commits; [`apply()`] is the part of it that gives
//! the trees.
//!
//! ```no_run
//! # fn main() -> xtask::error::Result<()> {
//! use xtask::mail::{self, Cover, MailInput, Person, Prefix, Tracking};
//! # let repo = git2::Repository::open(".")?;
//! # let (commits, base) = (vec![git2::Oid::ZERO_SHA1], git2::Oid::ZERO_SHA1);
//! let mut input = MailInput::new(&commits);
//! input.prefix = Prefix { list: Some("bpf-next".into()), ..Prefix::default() };
//! input.from = Some(Person::parse("Joe Doe <joe@example.org>")?);
//! input.cover = Some(Cover { subject: "Two fixes".into(), body: "Why …".into() });
//! input.tracking = Tracking { base_commit: Some(base), ..Tracking::default() };
//! let mails = mail::write_series(&repo, &input)?;
//! mail::prove(&repo, &input, &mails)?;
//! for mail in &mails {
//!     std::fs::write(&mail.file_name, &mail.bytes).ok();
//! }
//! # Ok(()) }
//! ```
//!
//! The diff's hunks come from libgit2's xdiff; everything else in a mail is
//! written here, because no library gives git's bytes. `git2` is used for
//! objects and hunks only, never for the configuration of a user or repository.

pub mod address;
pub mod apply;
pub mod body;
pub mod borrowed;
pub mod commit;
pub mod cover;
pub mod dates;
pub mod diff;
pub mod encoded_word;
pub mod fixes;
pub mod headers;
pub mod input;
pub mod mailinfo;
pub mod mbox;
pub mod message;
pub mod mime;
pub mod patch_id;
pub mod person;
mod prove;
pub mod range_diff;
pub mod raw_tree;
pub mod shortlog;
pub mod subject;
pub mod thread;
pub mod tracking;
pub mod transfer;
pub mod wrap;
mod write;

pub use apply::{Applied, apply};
pub use body::Faults;
pub use dates::Date;
pub use input::{Changes, Cover, Mail, MailInput, SIGNATURE, Thread, Transfer};
pub use mbox::mbox;
pub use person::Person;
pub use prove::prove;
pub use range_diff::RangeDiff;
pub use subject::Prefix;
pub use tracking::{Prerequisite, Tracking};
pub use write::{write_proved, write_proved_ahead, write_series};
