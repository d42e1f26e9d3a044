//! Renders series onto trees: templates, locators, probes, edits, plan, execute.

pub mod anchor;
pub mod deed;
pub mod file_text;
mod filters;
pub mod lex;
pub mod lines;
pub mod locate;
pub mod overlay;
pub mod scan;
pub mod source;
pub mod template;
pub mod verdict;
