//! One file a command: its options, and what it does in terms of the modules.

pub mod bases;
pub mod bench;
pub mod build_kernel;
pub mod check;
pub mod ci;
pub mod compiler;
pub mod doctor;
pub mod fitting;
pub mod format_series;
pub mod generate_series;
pub mod import_series;
pub mod inspect;
pub mod kernel;
mod letter;
pub mod list;
mod material;
pub mod matrix;
pub mod new_series;
pub mod own;
mod previous;
pub mod quickstart;
pub mod send;
pub mod series_mail;
pub mod show;
pub mod test_vm;
pub mod which_base;
