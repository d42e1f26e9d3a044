//! Guests: boots a kernel, runs tests in it, and says what became of them.

pub mod console;
pub mod ktap;
pub mod splat;
