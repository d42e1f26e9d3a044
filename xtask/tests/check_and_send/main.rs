//! `cargo xtask check` and `cargo xtask send` as their user runs them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr)]

mod check;
mod outbox;
mod send;
