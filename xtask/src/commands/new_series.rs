//! `cargo xtask new-series NAME`: a commented skeleton that renders at once.

use std::hash::{BuildHasher as _, RandomState};

use clap::Args;
use serde::Serialize;

use crate::cli::{Ctx, Outcome};
use crate::error::{Error, Result};
use crate::mail::Person;
use crate::send::git;
use crate::series::draft::{self, Draft};
use crate::series::skeleton::Skeleton;
use crate::tree::{self, Known, Store};

/// Options of `new-series`.
#[derive(Debug, Args)]
pub struct NewSeries {
    /// Its name, which its folders have: letters, digits, - and _.
    name: String,
    /// Subject of the cover letter. Default: the name in words.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Author of its commits. Default: git's user.name and user.email.
    #[arg(long, value_name = "NAME <ADDRESS>")]
    author: Option<String>,
    /// The kernel tree that it is begun on. Default: the user's default base, else 6.12.
    #[arg(long, value_name = "BASE")]
    base: Option<String>,
}

#[derive(Serialize)]
struct Report {
    series: String,
    base: String,
    files: Vec<String>,
}

impl NewSeries {
    /// Writes both folders of the series.
    ///
    /// # Errors
    /// When the name is not well-formed or taken, nobody is known as the author,
    /// or the project cannot be written.
    pub fn run(&self, ctx: &Ctx) -> Result<Outcome> {
        let project = ctx.dirs.project()?;
        draft::check_name(&self.name)?;
        let title = match &self.title {
            Some(title) if title.trim().is_empty() || title.contains(['\n', '\r', '\0']) => {
                return Err(Error::usage("--title").found("it must be one line of text"));
            }
            Some(title) => title.trim().to_owned(),
            None => self.name.replace(['-', '_'], " "),
        };
        let author = match &self.author {
            Some(text) => person(text)?,
            None => configured_author(project)?,
        };
        let default = Known::load(&ctx.dirs)?.default_base().map(str::to_owned);
        let base = self.base.clone().or(default).unwrap_or_else(|| "6.12".to_owned());
        // A name that means nothing would be found out by the first rendering.
        tree::lookup(&ctx.ui, &ctx.dirs, &Store::open(&ctx.ui, &ctx.dirs)?, &base)?;
        let now = now()?;
        let draft = Draft::begin(project, &self.name)?;
        Skeleton {
            name: &self.name,
            title: &title,
            author: &author.verbatim(),
            change_id: &change_id(now, &self.name),
            date: &now.to_string(),
            base: &base,
        }
        .write(&draft)?;
        // What it checks is also what the user's own words could break.
        draft.load()?;
        let report = Report { series: self.name.clone(), base, files: draft.commit()? };
        ctx.ui.result(&report, |w| {
            report.files.iter().try_for_each(|file| writeln!(w, "{file}"))?;
            let (name, base) = (&report.series, &report.base);
            writeln!(w, "it renders: cargo xtask generate-series {name} --base {base}")
        })?;
        Ok(Outcome::Held)
    }
}

/// A name and an address; a series needs both.
pub(super) fn person(text: &str) -> Result<Person> {
    let person = Person::parse(text)?;
    if person.name.is_empty() || person.name.contains(['<', '>']) {
        return Err(Error::usage(format!("the author \"{}\"", text.escape_debug()))
            .found("no name in it")
            .hint("write it as: Name <user@host>"));
    }
    Ok(person)
}

fn configured_author(project: &std::path::Path) -> Result<Person> {
    let (name, email) = (git::setting(project, "user.name")?, git::setting(project, "user.email")?);
    match (name, email) {
        (Some(name), Some(email)) => person(&format!("{name} <{email}>")),
        _ => Err(Error::usage("a new series needs its author")
            .found("git has no user.name and user.email here")
            .hint("git config --global user.name \"Your Name\", and user.email")
            .hint("or --author \"Your Name <you@example.org>\"")),
    }
}

/// Now, in whole seconds; `SOURCE_DATE_EPOCH` in its stead where that is set.
pub(super) fn now() -> Result<jiff::Timestamp> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text.trim().parse().map_err(|_| {
            Error::usage("SOURCE_DATE_EPOCH")
                .found(format!("\"{}\" is no number", text.escape_debug()))
                .hint("give seconds since 1970, or unset it")
        })?,
        Err(_) => jiff::Timestamp::now().as_second(),
    };
    jiff::Timestamp::from_second(seconds)
        .map_err(|e| Error::usage("SOURCE_DATE_EPOCH").found(e.to_string()))
}

/// A change id as b4 makes them: day, topic, and twelve digits that nobody else has.
pub(super) fn change_id(now: jiff::Timestamp, topic: &str) -> String {
    let day = now.to_string();
    let day: String = day.chars().filter(char::is_ascii_digit).take(8).collect();
    // Keyed anew by the system for every process.
    let random = RandomState::new().hash_one(now) & 0xffff_ffff_ffff;
    format!("{day}-{topic}-{random:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_ids_are_well_formed_and_differ() {
        let now = jiff::Timestamp::from_second(1_732_881_600).unwrap();
        let one = change_id(now, "cpumap-gro");
        assert!(one.starts_with("20241129-cpumap-gro-") && one.len() == 32, "{one}");
        assert_ne!(one, change_id(now, "cpumap-gro"));
    }

    #[test]
    fn an_author_has_a_name() {
        assert!(person("Joe <joe@x>").is_ok());
        for bad in ["joe@x", "<joe@x>", "Joe", ""] {
            assert!(person(bad).is_err(), "{bad}");
        }
    }
}
