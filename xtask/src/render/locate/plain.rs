//! Places in files that are not C: Kconfig entries, Makefile objects, entries of
//! MAINTAINERS, sections of rst.

use std::ops::Range;

use crate::series::locator::{Kind, Part};

use super::{Finder, Shape, Spot};
use cscan::lines::{is_blank, line_at, lines};

fn lines_spot(span: Range<usize>, kind: Kind) -> Spot {
    Spot { span, shape: Shape::Lines, kind, inner: false }
}

fn indent_of(line: &[u8]) -> usize {
    line.iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .map(|b| if *b == b'\t' { 8 } else { 1 })
        .sum()
}

impl Finder<'_> {
    /// `config NAME` or `menuconfig NAME` with its indented lines.
    pub(super) fn configs(
        &self,
        region: &Range<usize>,
        name: &str,
        part: Option<Part>,
    ) -> Vec<Spot> {
        let src = self.file.bytes();
        let all: Vec<Range<usize>> = lines(src, region.clone()).collect();
        let mut spots = Vec::new();
        for (i, line) in all.iter().enumerate() {
            let text = self.file.get(line.clone());
            let mut words = text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
            let is_entry = matches!(words.next(), Some(b"config" | b"menuconfig"))
                && words.next() == Some(name.as_bytes())
                && words.next().is_none_or(|w| w.starts_with(b"#"));
            if !is_entry {
                continue;
            }
            let indent = indent_of(text);
            let mut end = line.end;
            let mut help = None;
            for next in all.get(i + 1..).unwrap_or_default() {
                let text = self.file.get(next.clone());
                if is_blank(text) {
                    continue;
                }
                if indent_of(text) <= indent {
                    break;
                }
                if help.is_none() && matches!(text.trim_ascii(), b"help" | b"---help---") {
                    help = Some(next.start);
                }
                end = next.end;
            }
            match (part, help) {
                (Some(Part::Help), Some(start)) => {
                    spots.push(lines_spot(start..end, Kind::Config));
                }
                (Some(Part::Help), None) => {}
                _ => spots.push(lines_spot(line.start..end, Kind::Config)),
            }
        }
        spots
    }

    /// The Makefile lines that list this object.
    pub(super) fn objects(&self, region: &Range<usize>, name: &str) -> Vec<Spot> {
        lines(self.file.bytes(), region.clone())
            .filter(|line| {
                let text = self.file.get(line.clone());
                let code = text.split(|&b| b == b'#').next().unwrap_or_default();
                code.split(|b| b.is_ascii_whitespace() || *b == b'=')
                    .any(|word| word == name.as_bytes())
            })
            .map(|line| lines_spot(line, Kind::Object))
            .collect()
    }

    /// An entry by its title: of MAINTAINERS up to the next blank line, of rst up
    /// to the next heading that is not below it.
    pub(super) fn sections(&self, region: &Range<usize>, title: &str) -> Vec<Spot> {
        if self.file.path().ends_with(".rst") {
            return self.rst_sections(region, title);
        }
        let src = self.file.bytes();
        let all: Vec<Range<usize>> = lines(src, region.clone()).collect();
        let blank = |i: usize| all.get(i).is_none_or(|l| is_blank(self.file.get(l.clone())));
        let mut spots = Vec::new();
        for (i, line) in all.iter().enumerate() {
            let is_title = line_at(src, line.start).trim_ascii_end() == title.as_bytes()
                && (i == 0 || blank(i - 1));
            if is_title {
                let last = (i..all.len()).take_while(|&n| !blank(n)).last().unwrap_or(i);
                let end = all.get(last).map_or(line.end, |l| l.end);
                spots.push(lines_spot(line.start..end, Kind::Section));
            }
        }
        spots
    }

    fn rst_sections(&self, region: &Range<usize>, title: &str) -> Vec<Spot> {
        let src = self.file.bytes();
        let all: Vec<Range<usize>> = lines(src, region.clone()).collect();
        let text =
            |i: usize| all.get(i).map_or(&b""[..], |l| self.file.get(l.clone()).trim_ascii_end());
        // Headings with their style; a style's level is its order of appearance.
        let mut headings: Vec<(usize, usize, &[u8])> = Vec::new();
        let mut styles: Vec<(u8, bool)> = Vec::new();
        for i in 0..all.len().saturating_sub(1) {
            let Some(mark) = adornment(text(i + 1)) else { continue };
            let heading = text(i);
            let is_heading = !is_blank(heading)
                && adornment(heading).is_none()
                && !heading.starts_with(b" ")
                && text(i + 1).len() >= heading.len();
            let overlined = i > 0 && adornment(text(i - 1)) == Some(mark);
            if !is_heading && (!overlined || is_blank(heading)) {
                continue;
            }
            let style = (mark, overlined);
            let level = styles.iter().position(|s| *s == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            headings.push((if overlined { i - 1 } else { i }, level, heading));
        }
        let mut spots = Vec::new();
        for (n, (start, level, heading)) in headings.iter().enumerate() {
            if heading.trim_ascii() != title.trim().as_bytes() {
                continue;
            }
            let next = headings.iter().skip(n + 1).find(|(_, l, _)| l <= level);
            let end = next
                .map_or(region.end, |(i, _, _)| all.get(*i).map_or(region.end, |line| line.start));
            let start = all.get(*start).map_or(region.start, |line| line.start);
            spots.push(lines_spot(start..end, Kind::Section));
        }
        spots
    }
}

/// The character that a line consists of, when it underlines a heading.
fn adornment(line: &[u8]) -> Option<u8> {
    let first = *line.first()?;
    let good = line.len() >= 2 && first.is_ascii_punctuation() && line.iter().all(|&b| b == first);
    good.then_some(first)
}
