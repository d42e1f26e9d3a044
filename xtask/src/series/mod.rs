//! Series as source: `series/NAME/series.toml` read, checked, and given as a
//! model. `series/README.md` is the reference of the format.

mod check;
mod check_bench;
mod check_edit;
mod check_extract;
mod check_inspect;
mod check_place;
mod check_prerequisites;
pub mod draft;
pub mod excerpt;
pub mod key_path;
pub mod lint;
pub mod load;
pub mod locator;
pub mod model;
pub mod model_bench;
pub mod places;
pub mod prerequisites;
pub mod raw;
pub mod raw_bench;
pub mod raw_locator;
pub mod raw_value;
pub mod schema;
pub mod skeleton;
pub mod templates;
mod toml_error;
pub mod toml_text;
pub mod version;

pub use load::{list, load, load_mutants};
pub use model::{Mutant, Patch, Series};
