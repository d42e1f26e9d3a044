//! Keeps Linux kernel patch series as source. See `ARCHITECTURE.md` for the
//! modules and what holds between them.

pub mod bench;
pub mod build;
pub mod cli;
pub mod commands;
pub mod error;
pub mod gates;
pub mod host;
pub mod import;
pub mod inspect;
pub mod mail;
pub mod recipients;
pub mod render;
pub mod report;
pub mod results;
pub mod scripts;
pub mod send;
pub mod series;
pub mod tree;
pub mod vm;
