//! One file a command: its options, and what it does in terms of the modules.

pub mod bases;
pub mod build_kernel;
pub mod check;
pub mod ci;
pub mod doctor;
pub mod format_series;
pub mod kernel;
pub mod own;
pub mod quickstart;
pub mod test_vm;
pub mod which_base;

mod material;
