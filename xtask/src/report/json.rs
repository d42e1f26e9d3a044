//! The report as JSON: the model as it is, with a name and number of its form.

use serde::Serialize;

use super::{Counts, Suite, Summary};
use crate::error::{Error, Result};

/// Changes when a reader of the old form could misread the new one.
const FORM: &str = "kseries-test-results/1";

#[derive(Serialize)]
struct Report<'s> {
    form: &'static str,
    title: &'s str,
    held: bool,
    counts: Counts,
    suites: &'s [Suite],
}

impl Summary {
    /// The report as one JSON value.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::to_value(Report {
            form: FORM,
            title: &self.title,
            held: self.held(),
            counts: self.counts(),
            suites: &self.suites,
        })
        .map_err(|e| Error::host("cannot write the results as JSON").found(e.to_string()))
    }
}
