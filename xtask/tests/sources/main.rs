//! `new-series` and `import-series` as their user runs them: where series come
//! from, and that git makes the same trees of the same patches.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod git;
#[path = "../host/machine.rs"]
mod host;
mod import_commits;
mod import_errors;
mod import_mails;
mod new_series;
