//! The text of a cover letter, which may tell what the gates and the guests found.
//! That is known only when the commits are: it is rendered without, and may be
//! rendered once more with the results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use tera::{Context, Tera};

use crate::error::{Error, Result};
use crate::host::signals;
use crate::series::excerpt::Document;

use super::template;

/// What a cover letter sees of results.
pub const NAMES: [&str; 4] = ["bench", "check", "inspect", "tests"];

/// The gates, as `check.gate` has them.
pub const GATES: [&str; 13] = [
    "applies",
    "checkpatch",
    "message",
    "trailers",
    "spelling",
    "kernel_doc",
    "recipients",
    "maintainers",
    "kconfig",
    "places",
    "builds",
    "warnings",
    "sparse",
];

/// Keys of `check`.
pub const CHECK: [&str; 12] = [
    "series",
    "base",
    "commit",
    "date",
    "status",
    "patches",
    "passed",
    "explained",
    "failed",
    "skipped",
    "gate",
    "gates",
];

/// Keys of `tests`.
pub const TESTS: [&str; 8] =
    ["series", "base", "held", "passed", "failed", "skipped", "guest", "guests"];

/// Keys of `inspect`.
pub const INSPECT: [&str; 4] = ["series", "base", "runs", "run"];

/// Keys of `bench`.
pub const BENCH: [&str; 5] = ["series", "base", "emulated", "guest", "guests"];

/// What was found about the very commits that a cover letter introduces.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// `check`.
    pub check: Option<Value>,
    /// `tests`.
    pub tests: Option<Value>,
    /// `inspect`.
    pub inspect: Option<Value>,
    /// `bench`.
    pub bench: Option<Value>,
    /// For each of [`NAMES`], the command that brings it.
    pub commands: BTreeMap<&'static str, String>,
}

impl Results {
    fn get(&self, name: &str) -> Option<&Value> {
        match name {
            "check" => self.check.as_ref(),
            "tests" => self.tests.as_ref(),
            "inspect" => self.inspect.as_ref(),
            "bench" => self.bench.as_ref(),
            _ => None,
        }
    }
}

/// What came of a cover letter with results.
#[derive(Debug)]
pub enum Written {
    /// It stands.
    Whole(String),
    /// It uses what is not there; the error names the command that brings it.
    Lacks(Error),
}

/// A cover letter.
#[derive(Clone, Debug, Default)]
pub struct Cover {
    /// Its text without results; empty where there is none, or none without them.
    pub text: String,
    draft: Option<Arc<Draft>>,
}

impl Cover {
    /// One that uses no results.
    #[must_use]
    pub fn plain(text: String) -> Cover {
        Cover { text, draft: None }
    }

    /// Which of [`NAMES`] it uses.
    #[must_use]
    pub fn uses(&self) -> BTreeSet<&'static str> {
        self.draft.as_ref().map(|d| d.uses.clone()).unwrap_or_default()
    }

    /// Its text with results.
    ///
    /// # Errors
    /// When the template is wrong whatever the results are.
    pub fn with(&self, results: &Results) -> Result<Written> {
        let Some(draft) = &self.draft else { return Ok(Written::Whole(self.text.clone())) };
        let e = match draft.render(results) {
            Ok(text) => return Ok(Written::Whole(text)),
            Err(e) => e,
        };
        let lacking: Vec<&str> =
            draft.uses.iter().copied().filter(|n| results.get(n).is_none()).collect();
        if lacking.is_empty() {
            return Err(e);
        }
        let e = lacking.iter().fold(e, |e, name| {
            let e = e.found(format!("`{name}` is not there: no results of these commits"));
            match results.commands.get(name) {
                Some(command) => e.hint(format!("{command} brings it")),
                None => e,
            }
        });
        Ok(Written::Lacks(e.hint(format!("or ask {{% if {} %}} first", lacking.join(" and ")))))
    }
}

/// A cover letter that can be rendered with results.
pub(super) struct Draft {
    /// The template's name.
    pub name: String,
    /// With all that it refers to.
    pub tera: Tera,
    /// Without the results.
    pub context: Context,
    /// Which results it uses.
    pub uses: BTreeSet<&'static str>,
    /// For errors.
    pub sources: BTreeMap<String, Document>,
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Draft {
    /// The cover letter; without results where it can do without.
    pub fn into_cover(self) -> Cover {
        let text = self.render(&Results::default()).unwrap_or_default();
        Cover { text, draft: Some(Arc::new(self)) }
    }

    fn render(&self, results: &Results) -> Result<String> {
        let mut context = self.context.clone();
        for name in &self.uses {
            if let Some(value) = results.get(name) {
                context.insert(*name, value);
            }
        }
        let _cuttable = signals::at_once()?;
        let rendered = self.tera.render(&self.name, &context);
        rendered.map_err(|e| template::error(&self.sources, &self.name, &e))
    }
}
