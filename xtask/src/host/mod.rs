//! The host: its tools, processes, folders, locks, signals, and the terminal.
//!
//! No other module spawns a process or writes a product file by itself.

pub mod atomic;
pub mod lock;
pub mod memory;
pub mod output;
pub mod paths;
pub mod process;
pub mod regular;
pub mod setup;
pub mod signals;
pub mod size;
pub mod tools;
pub mod ui;
