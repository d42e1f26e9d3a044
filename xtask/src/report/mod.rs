//! Reports of test runs: one model, written as JSON, JUnit, HTML, KTAP, and as
//! lines for a reader. It knows nothing of guests: whoever runs tests fills it. Beside it
//! [`lines`] reads the figures in what a program wrote.

mod html;
mod json;
mod junit;
pub mod lines;
mod model;
mod text;

use std::path::Path;

pub use model::{Case, Counts, Fact, Status, Suite, Summary};

use crate::error::{Error, Result};
use crate::host::atomic;

impl Summary {
    /// Writes `results.json`, `junit.xml` and `report.html` in `dir`.
    ///
    /// # Errors
    /// When one cannot be written; those before it are there.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let json = serde_json::to_vec_pretty(&self.json()?)
            .map_err(|e| Error::host("cannot write the results as JSON").found(e.to_string()))?;
        atomic::write(&dir.join("results.json"), &json)?;
        atomic::write(&dir.join("junit.xml"), self.junit()?.as_bytes())?;
        atomic::write(&dir.join("report.html"), self.html()?.as_bytes())
    }
}

#[cfg(test)]
mod tests;
