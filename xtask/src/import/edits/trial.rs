//! Tries an edit by the renderer itself: written into a series of one patch, on
//! a tree of one file.

use std::path::Path;

use crate::render::cocci::Spatch;
use crate::render::plan::{Choice, plan};
use crate::render::source::Memory;
use crate::render::template::BaseFacts;
use crate::series::load::from_text;
use crate::series::version::Version;

use super::super::write::inline;
use super::NewEdit;

const HEAD: &str = "title = \"t\"\nauthor = \"A <a@b>\"\ndate = 2000-01-01T00:00:00Z\n\
[[patch]]\nname = \"p\"\nmessage = { text = \"s\" }\n[[patch.edit]]\n";

/// What the edit makes of the file; `None` where it is none that holds, finds no
/// place, or leaves no text.
#[must_use]
pub fn run(edit: &NewEdit, path: &str, text: &str) -> Option<String> {
    let mut toml = HEAD.to_owned();
    for (key, value) in &edit.keys {
        toml.push_str(&format!("{key} = {value}\n"));
    }
    if let Some(text) = &edit.text {
        toml.push_str(&format!("{} = {}\n", text.key, inline(&text.text)));
    }
    let series = from_text(&toml, Path::new("/nowhere"), "trial").ok()?;
    let facts = BaseFacts { name: "trial".to_owned(), version: Version::new(6, 0, 0) };
    let source = Memory::of(&[(path, text)]);
    let plan = plan(&series, &facts, &source, &Choice::default(), &Spatch).ok()?;
    let entry = plan.patches.into_iter().next()?.changes.remove(path)??;
    String::from_utf8(entry.text.bytes().to_vec()).ok()
}
