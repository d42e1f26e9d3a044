//! The report as one HTML page that needs nothing beside it.

use tera::{Context, Tera};

use super::Summary;
use crate::error::{Error, Result};

const PAGE: &str = include_str!("page.html");

impl Summary {
    /// The report as one page. All text in it is escaped.
    ///
    /// # Errors
    /// When the page's template does not fit the model, which a test excludes.
    pub fn html(&self) -> Result<String> {
        let mut context = Context::new();
        context.insert("title", &self.title);
        context.insert("counts", &self.counts());
        context.insert("held", &self.held());
        context.insert("suites", &self.suites);
        // Tera escapes one-off templates when told to.
        Tera::one_off(PAGE, &context, true)
            .map_err(|e| Error::host("cannot write the results as HTML").found(format!("{e:?}")))
    }
}
