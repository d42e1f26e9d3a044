//! One file a command: its options, and what it does in terms of the modules.

pub mod bases;
pub mod ci;
pub mod doctor;
pub mod format_series;
pub mod which_base;
