//! Scanning again after an edit: only what the edit may have changed.
//!
//! A rendering edits a file of 12,000 lines at a few places, and looks for the
//! next place after each. Between two items, outside of conditionals, a scan
//! depends on nothing above; so what stands above the edit is kept from the old
//! scan, and what stands below it, too, as soon as both scans are between the
//! same two items.

use std::ops::Range;

use linewise::{same_begin, same_end};

use super::directive::Conditionals;
use super::{Branch, Item, ItemKind, Scan, Scanner};
use crate::lex::{Language, tokens};

/// What [`scan`](super::scan) finds in `src`, given what it `found` in `old`.
#[must_use]
pub fn rescan(old: &[u8], found: &Scan, src: &[u8]) -> Scan {
    let above = same_begin(old, src);
    let below =
        same_end(old.get(above..).unwrap_or_default(), src.get(above..).unwrap_or_default());
    // An edit of the guard itself, or above it, is scanned as if there were none.
    let guard = guard(old, found).filter(|guard| guard.directive.end <= above);
    let joints = joints(old, found, guard);
    // The last joint whose line, and the line below, are as they were.
    let begin = joints.iter().rev().find_map(|&joint| {
        let rest = old.get(joint..above)?;
        let line = memchr::memchr(b'\n', rest)?;
        rest.get(..line)?.iter().all(u8::is_ascii_whitespace).then_some((joint, joint + line + 1))
    });
    let mut scanner = Scanner::new(src);
    let (kept, from) = begin.unwrap_or((0, 0));
    if let Some(guard) = guard
        && begin.is_some()
    {
        scanner.conditionals = Conditionals::within(guard);
    }
    let mut met = None;
    let same_from = src.len() - below;
    scanner.run(from, |scanner, token| {
        let at = token.end;
        let is_joint = match guard {
            Some(guard) => scanner.is_between() && scanner.conditionals.is_only(guard),
            None => scanner.is_fresh(),
        };
        if at < same_from || !is_joint {
            return false;
        }
        // The same distance from the end.
        let joint = (at + old.len()).checked_sub(src.len());
        met = joint.filter(|j| joints.binary_search(j).is_ok()).map(|joint| (joint, at));
        met.is_some()
    });
    let between = scanner.found();
    let mut all = Scan {
        items: Vec::with_capacity(found.items.len() + between.items.len()),
        branches: Vec::with_capacity(found.branches.len() + between.branches.len()),
    };
    all.items.extend(found.items.iter().take_while(|i| i.span.start < kept).cloned());
    let above = found.branches.iter().take_while(|b| b.directive.start < kept);
    all.branches.extend(above.cloned());
    all.items.extend(between.items);
    // The guard's branch is in both.
    let twice = usize::from(guard.is_some() && begin.is_some());
    if let (Some(first), 1) = (between.branches.first(), twice)
        && let Some(guard) = all.branches.first_mut()
    {
        guard.clone_from(first);
    }
    all.branches.extend(between.branches.into_iter().skip(twice));
    if let Some((joint, at)) = met {
        let moved = |r: &Range<usize>| r.start - joint + at..r.end - joint + at;
        let items = found.items.iter().filter(|i| i.span.start >= joint);
        all.items.extend(items.map(|i| Item {
            kind: i.kind,
            names: i.names.iter().map(moved).collect(),
            span: moved(&i.span),
            body: i.body.as_ref().map(moved),
            macro_name: i.macro_name.as_ref().map(moved),
            torn: i.torn,
            glued: i.glued,
        }));
        let branches = found.branches.iter().filter(|b| b.directive.start >= joint);
        all.branches.extend(branches.map(|b| Branch {
            condition: b.condition.clone(),
            directive: moved(&b.directive),
            body: moved(&b.body),
            group: moved(&b.group),
        }));
        if let (Some(old), Some(guard)) = (guard, all.branches.first_mut()) {
            guard.body.end = old.body.end - joint + at;
            guard.group.end = old.group.end - joint + at;
        }
    }
    all
}

/// The branch that nearly all of a header stands in: the first one, which nothing but
/// comments stands before, and which has no `#else`.
fn guard<'f>(src: &[u8], found: &'f Scan) -> Option<&'f Branch> {
    let guard = found.branches.first()?;
    let alone = found.branches.iter().filter(|b| b.group == guard.group).count() == 1;
    let begins = || tokens(src, 0..guard.directive.start, Language::C).is_empty();
    (alone && begins()).then_some(guard)
}

/// Where an item ends by itself, outside of every conditional but the guard: there
/// the scanner was between items.
fn joints(src: &[u8], found: &Scan, guard: Option<&Branch>) -> Vec<usize> {
    let skipped = usize::from(guard.is_some());
    let mut groups = found.branches.iter().skip(skipped).map(|b| &b.group).peekable();
    let mut last_end = 0;
    let mut out: Vec<usize> = Vec::with_capacity(found.items.len());
    for item in &found.items {
        let end = item.span.end;
        while let Some(group) = groups.next_if(|g| g.start < end) {
            last_end = last_end.max(group.end);
        }
        let ends = end.checked_sub(1).and_then(|at| src.get(at));
        if matches!(item.kind, ItemKind::Macro | ItemKind::Include)
            || end <= last_end
            || guard.is_some_and(|guard| guard.body.end < end)
            || !matches!(ends, Some(b';' | b'}'))
        {
            continue;
        }
        if out.last().is_none_or(|&l| l < end) {
            out.push(end);
        }
    }
    out
}

impl Scan {
    /// Where lines begin right behind an item: tokens can be told from comments and
    /// strings from there on, whatever stands above. There is an item, at least,
    /// between two of them.
    #[must_use]
    pub fn breaks(&self, src: &[u8]) -> Vec<usize> {
        let mut out: Vec<usize> = Vec::with_capacity(self.items.len());
        for item in &self.items {
            if matches!(item.kind, ItemKind::Macro | ItemKind::Include) {
                continue;
            }
            let rest = src.get(item.span.end..).unwrap_or_default();
            let Some(line) = memchr::memchr(b'\n', rest) else { continue };
            let blank = rest.iter().take(line).all(u8::is_ascii_whitespace);
            let begin = item.span.end + line + 1;
            if blank && out.last().is_none_or(|&last| last < begin) {
                out.push(begin);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::scan;
    use super::*;

    const PIECES: &[&str] = &[
        "int f(void)\n{\n\treturn g(1);\n}\n",
        "struct s {\n\tint a;\n\tstruct { int b; } c;\n};\n",
        "#define M(x) \\\n\tdo { x; } while (0)\n",
        "#include <linux/bpf.h>\n",
        "#ifdef CONFIG_X\n",
        "#else\n",
        "#elif defined(Y)\n",
        "#endif\n",
        "EXPORT_SYMBOL(f);\n",
        "MODULE_ALIAS(\"x\")\n",
        "static int v;\n",
        "/* a comment; with } in it */\n",
        "// one more {\n",
        "extern \"C\" {\n",
        "}\n",
        "{\n",
        "int a, *b[3];\n",
        "static const char *t = \"};\";\n",
        "\n",
        ";",
        "#",
        "(",
        ")",
        "/*",
        "*/",
        "\"",
        "\\\n",
        " x ",
        "enum { A, B };\n",
        "DEFINE_PER_CPU(int, n);\n",
        "void p(int a,\n\tint b);\n",
    ];

    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(PIECES), 0..14)
            .prop_map(|all| all.concat())
    }

    fn both(old: &str, new: &str) {
        let again = rescan(old.as_bytes(), &scan(old.as_bytes()), new.as_bytes());
        assert_eq!(again, scan(new.as_bytes()), "from {old:?} to {new:?}");
    }

    #[test]
    fn only_the_edited_item_is_scanned() {
        let plain = "int f(void)\n{\n}\n".repeat(100);
        let new = plain.replacen("f(void)", "g(int x)", 1);
        both(&plain, &new);
        both(&new, &plain);
        both(&plain, "");
        both("", &plain);
        both(&plain, &plain);
    }

    #[test]
    fn what_is_no_guard() {
        // An item that goes on behind the guard.
        let crossing = "#ifndef H\n*/int f(void)\n{\n}\nM(x)\n#endif\nint y;\n";
        both(crossing, crossing);
        both(crossing, &crossing.replace("y;", "z;"));
        // A brace that is open before it.
        let open = "{\n#ifdef X\nint f(void)\n{\n\treturn g(1);\n}\nEXPORT_SYMBOL(f);\n";
        both(&format!("{open}enum {{ A }};\n"), &format!("{open}#else\nenum {{ A }};\n"));
        let guarded = format!("#ifndef H\n#define H\n{}#endif\n", "int f(void);\n".repeat(9));
        both(&guarded, &guarded.replacen("void", "int x", 4));
        both(&guarded, &guarded.replacen("#ifndef H", "#ifndef I", 1));
        both(&guarded, &guarded.replace("#endif", "#else\n#endif"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn as_a_whole_scan(a in text(), b in text(), c in text(), d in text()) {
            both(&format!("{a}{b}{d}"), &format!("{a}{c}{d}"));
        }

        #[test]
        fn in_a_guard(
            above in proptest::sample::select(vec!["", "/* SPDX */\n\n", "int x;\n", "(", "extern \"C\" {\n"]),
            open in proptest::sample::select(vec!["#ifndef H\n#define H\n", "#if 1\n", "#ifndef H\n"]),
            a in text(), b in text(), c in text(), d in text(),
            end in proptest::sample::select(vec!["#endif\n", "#endif /* H */\nint y;\n", "#else\n#endif\n", ""]),
        ) {
            both(&format!("{above}{open}{a}{b}{d}{end}"), &format!("{above}{open}{a}{c}{d}{end}"));
            both(&format!("{above}{a}{b}{d}{end}"), &format!("{above}{open}{a}{b}{d}{end}"));
            both(&format!("{above}{open}{a}{b}{d}{end}"), &format!("{above}{a}{b}{d}"));
        }

        #[test]
        fn whatever_the_bytes(a: Vec<u8>, b: Vec<u8>) {
            prop_assert_eq!(rescan(&a, &scan(&a), &b), scan(&b));
        }
    }
}
