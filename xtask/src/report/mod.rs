//! Reports of test runs: one model, written as JSON, JUnit, HTML, KTAP, and as
//! lines for a reader. It knows nothing of guests: whoever runs tests fills it.

mod html;
mod json;
mod junit;
mod model;
mod text;

pub use model::{Case, Counts, Fact, Status, Suite, Summary};

#[cfg(test)]
mod tests;
