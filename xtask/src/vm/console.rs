//! A guest's console: kept in a bounded file, searched for splats as it comes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use crate::error::{IoContext, Result};
use crate::vm::ktap::plain;
use crate::vm::splat::Scanner;

/// The beginning that is kept; what is between it and the end is left out.
const HEAD: u64 = 8 << 20;
/// The end that is kept.
const TAIL: usize = 1 << 20;
/// Longer lines are taken in pieces.
const MAX_LINE: usize = 8 << 10;
/// Lines for a verdict.
const LAST_LINES: usize = 40;

/// What comes from the console, as it comes.
#[derive(Debug)]
pub struct Console {
    file: File,
    total: u64,
    tail: VecDeque<u8>,
    partial: Vec<u8>,
    last: VecDeque<String>,
    scanner: Scanner,
    booted: bool,
    no_port: bool,
    appended: Vec<u8>,
}

/// What is left of it when the guest has ended.
#[derive(Debug)]
pub struct Transcript {
    /// The last lines.
    pub last: Vec<String>,
    /// Bytes in all, also those left out of the file.
    pub total: u64,
    /// Splats, in order.
    pub splats: Vec<crate::vm::splat::Splat>,
    /// Splats beyond those kept.
    pub more_splats: usize,
    /// The kernel's first line was seen.
    pub booted: bool,
}

impl Console {
    /// Begins the file at `path`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn begin(path: &Path, scanner: Scanner) -> Result<Console> {
        Ok(Console {
            file: File::create(path).at("create", path)?,
            total: 0,
            tail: VecDeque::new(),
            partial: Vec::new(),
            last: VecDeque::new(),
            scanner,
            booted: false,
            no_port: false,
            appended: Vec::new(),
        })
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn push(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let room = usize::try_from(HEAD.saturating_sub(self.total)).unwrap_or(usize::MAX);
        let (head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.file.write_all(head)?;
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
        self.total += bytes.len() as u64;
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.partial.len() > MAX_LINE {
                self.line();
            }
        }
        Ok(())
    }

    fn line(&mut self) {
        let raw = std::mem::take(&mut self.partial);
        let text = plain(raw.strip_suffix(b"\n").unwrap_or(&raw));
        self.booted |= text.contains("Linux version ");
        self.no_port |= text.ends_with("kseries: no-port");
        self.scanner.line(&text);
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(text);
    }

    /// Bytes so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The head line of the panic, when one was seen.
    #[must_use]
    pub fn panicked(&self) -> Option<&str> {
        self.scanner.panicked()
    }

    /// Whether the kernel has said its first line.
    #[must_use]
    pub fn booted(&self) -> bool {
        self.booted
    }

    /// Whether the agent said that it finds no port to report on.
    #[must_use]
    pub fn no_port(&self) -> bool {
        self.no_port
    }

    /// Keeps a text of ours for the end of the file; it is not searched.
    pub fn append(&mut self, text: &[u8]) {
        self.appended.extend_from_slice(text);
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> std::io::Result<Transcript> {
        if !self.partial.is_empty() {
            self.line();
        }
        let left_out = self.total.saturating_sub(HEAD).saturating_sub(self.tail.len() as u64);
        if left_out > 0 {
            write!(self.file, "\n[… {left_out} bytes left out …]\n")?;
        }
        let (a, b) = self.tail.as_slices();
        self.file.write_all(a)?;
        self.file.write_all(b)?;
        self.file.write_all(&self.appended)?;
        let (splats, more_splats) = self.scanner.finish();
        Ok(Transcript {
            last: self.last.into(),
            total: self.total,
            splats,
            more_splats,
            booted: self.booted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_its_ends_are_kept() {
        let t = tempfile::tempdir().unwrap();
        let path = t.path().join("console.log");
        let mut c = Console::begin(&path, Scanner::new(Vec::new())).unwrap();
        c.push(b"[    0.000000] Linux version 6.12\r\n").unwrap();
        let block = vec![b'x'; 1 << 20];
        for _ in 0..40 {
            c.push(&block).unwrap();
        }
        c.push(b"\nlast line").unwrap();
        assert!(c.booted());
        let end = c.finish().unwrap();
        let text = std::fs::read(&path).unwrap();
        assert!((text.len() as u64) < HEAD + 2 * TAIL as u64 && text.ends_with(b"last line"));
        assert!(text.starts_with(b"[    0.000000] Linux"));
        assert_eq!(end.last.last().map(String::as_str), Some("last line"));
        assert!(end.total > 40 << 20);
    }

    #[test]
    fn lines_come_in_any_pieces() {
        let t = tempfile::tempdir().unwrap();
        let mut c = Console::begin(&t.path().join("c"), Scanner::new(Vec::new())).unwrap();
        for b in b"a\r\n[    1.000000] Kernel panic - not syncing: x\r\n" {
            c.push(&[*b]).unwrap();
        }
        assert_eq!(c.panicked(), Some("Kernel panic - not syncing: x"));
        assert_eq!(c.finish().unwrap().last, ["a", "[    1.000000] Kernel panic - not syncing: x"]);
    }
}
