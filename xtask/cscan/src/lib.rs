//! Cuts kernel sources into tokens, finds text anchors in them, and tells the
//! top-level items of a C file without parsing it.
//!
//! A crate of its own because these loops run over whole files, several times a
//! patch: it is compiled optimised also where the tool around it is not. Any
//! bytes are taken; nothing here panics or allocates without bound.

pub mod anchor;
pub mod lex;
pub mod lines;
pub mod scan;
