//! The edits that change the lines of one file: region by region, by structure
//! where a trial gives the very text, as raw diff where none does.

use crate::error::Result;
use crate::mail::diff::regions::{self, Region};

use super::NewEdit;
use super::candidates::Change;
use super::page::Page;
use super::trial;

/// A file with more changes than this is better read as a diff.
const MOST: usize = 40;
/// A larger file is not tried over and over.
const LARGEST: usize = 2 << 20;

/// One step from the old text to the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An edit by structure.
    Edit(NewEdit),
    /// The text before and after a raw diff.
    Diff(String, String),
}

/// The steps from `old` to `new`; `None` where one diff says it better.
///
/// # Errors
/// When the texts cannot be compared.
pub fn steps(path: &str, old: &str, new: &str) -> Result<Option<Vec<Step>>> {
    if old.is_empty() || new.is_empty() || old.len().max(new.len()) > LARGEST {
        return Ok(None);
    }
    let regions = joined(regions::between(old.as_bytes(), new.as_bytes())?);
    if regions.len() > MOST {
        return Ok(None);
    }
    let (old_page, new_page) = (Page::new(path, old), Page::new(path, new));
    let mut state = old.to_owned();
    let mut steps: Vec<Step> = Vec::new();
    for region in regions {
        // All above is as in the new text, all below as in the old one.
        let target =
            [new_page.lines(0..region.new.end), old_page.lines(region.old.end..old_page.len())]
                .concat();
        let page = Page::new(path, &state);
        let from = region.new.start;
        let change = Change {
            path,
            page: &page,
            old: from..from + region.old.len(),
            new: new_page.lines(region.new.clone()),
        };
        let found = change
            .candidates()
            .into_iter()
            .find(|edit| trial::run(edit, path, &state).as_deref() == Some(target.as_str()));
        match (found, steps.last_mut()) {
            (Some(edit), _) => steps.push(Step::Edit(edit)),
            (None, Some(Step::Diff(_, after))) => after.clone_from(&target),
            (None, _) => steps.push(Step::Diff(state, target.clone())),
        }
        state = target;
    }
    Ok((state == new && !steps.is_empty()).then_some(steps))
}

/// Changes with a single line between them are read as one.
fn joined(regions: Vec<Region>) -> Vec<Region> {
    let mut out: Vec<Region> = Vec::new();
    for region in regions {
        match out.last_mut() {
            Some(last) if region.old.start <= last.old.end + 1 => {
                last.old.end = region.old.end;
                last.new.end = region.new.end;
            }
            _ => out.push(region),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DEV: &str = "// SPDX\n#include <linux/a.h>\n#include <linux/c.h>\n\nstruct s {\n\tint a;\n\tint b;\n};\n\nstatic int one(struct s *n)\n{\n\tif (n->a)\n\t\treturn 1;\n\n\tn->b = 2;\n\treturn 0;\n}\n\nint two(void)\n{\n\tint err;\n\n\terr = 0;\n\tif (err)\n\t\treturn err;\n\treturn 0;\n}\n";

    /// Steps in short, and whether they lead to the text.
    fn shown(path: &str, old: &str, new: &str) -> Vec<String> {
        let steps = steps(path, old, new).unwrap().unwrap();
        let mut state = old.to_owned();
        let mut out = Vec::new();
        for step in steps {
            match step {
                Step::Edit(edit) => {
                    state = trial::run(&edit, path, &state).unwrap();
                    let keys = edit.keys.iter().skip(1).map(|(k, v)| format!("{k} {v}"));
                    let keys = keys.collect::<Vec<_>>().join(" ");
                    let deed = edit.text.map_or("", |t| t.key);
                    out.push(format!("{keys} {deed}").trim().to_owned());
                }
                Step::Diff(before, after) => {
                    assert_eq!(before, state);
                    state = after;
                    out.push("diff".into());
                }
            }
        }
        assert_eq!(state, new);
        out
    }

    #[test]
    fn changes_are_said_by_structure() {
        for (from, to, want) in [
            ("<linux/a.h>\n", "<linux/a.h>\n#include <linux/b.h>\n", "add-include \"linux/b.h\""),
            (
                "\tint a;\n",
                "\tint a;\n\tint x;\n",
                "within { struct = \"s\" } at { text = \"int a;\" } insert-after",
            ),
            (
                "\tn->b = 2;\n",
                "\tn->b = 3;\n",
                "within { function = \"one\" } at { text = \"n->b = 2;\" } replace",
            ),
            (
                "\tn->b = 2;\n",
                "",
                "within { function = \"one\" } at { text = \"n->b = 2;\" } delete true",
            ),
            (
                "\treturn 0;\n}\n\nint two",
                "\tn->a++;\n\treturn 0;\n}\n\nint two",
                "within { function = \"one\" } at { text = \"n->b = 2;\" } insert-after",
            ),
            (
                "int two(void)\n",
                "int new(void)\n{\n\treturn 5;\n}\n\nint two(void)\n",
                "at { function = \"one\" } insert-after",
            ),
            (&DEV[DEV.find("int two").unwrap() - 1..], "", "at { function = \"two\" } delete true"),
            (
                "\tint err;\n\n",
                "\tint err;\n\tint more;\n\n",
                "within { function = \"two\" } at { text = \"int err;\" } insert-after",
            ),
            ("static int one", "int one", "at { text = \"static int one(struct s *n)\" } replace"),
        ] {
            let new = DEV.replacen(from, to, 1);
            assert_eq!(shown("net/dev.c", DEV, &new), [want], "{from} → {to}");
        }
        let twice = DEV.replace("a.h>\n", "a.h>\n#include <linux/b.h>\n").replace("= 2", "= 3");
        assert_eq!(shown("net/dev.c", DEV, &twice).len(), 2);
    }

    #[test]
    fn kernel_files_that_are_not_c() {
        let make = "obj-y := a.o\nobj-$(CONFIG_X) += x.o\n";
        assert_eq!(
            shown("net/Makefile", make, &format!("{make}obj-y += n.o\n")),
            ["add-object \"obj-y += n.o\""]
        );
        let kconfig =
            "config A\n\tbool \"A\"\n\thelp\n\t  Aaa.\n\nconfig C\n\tbool \"C\"\n\tdepends on A\n";
        let new = kconfig.replace("\nconfig C", "\nconfig B\n\tbool \"B\"\n\nconfig C");
        assert_eq!(shown("net/Kconfig", kconfig, &new), ["at { config = \"A\" } insert-after"]);
        let new = kconfig.replace("\tdepends on A\n", "\tdepends on A && B\n");
        assert_eq!(
            shown("net/Kconfig", kconfig, &new),
            ["within { config = \"C\" } at { text = \"depends on A\" } replace"]
        );
        let dos = "one\r\ntwo\r\nthree\r\n";
        assert_eq!(
            shown("x.txt", dos, &dos.replace("two\r\n", "two\r\nmore\r\n")),
            ["at { text = \"two\" } insert-after"]
        );
    }

    #[test]
    fn what_cannot_be_told_from_its_like_is_a_diff() {
        let old = "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n";
        let new = "x\nx\nx\nx\nx\nx\ny\nx\nx\nx\nx\nx\nx\n";
        assert_eq!(shown("a.txt", old, new), ["diff"]);
        assert_eq!(steps("a.txt", "", "x\n").unwrap(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        #[test]
        fn any_change_is_led_to(edits in proptest::collection::vec((0..27usize, 0..3usize, prop_oneof![
            Just(""), Just("\tn->a = 9;\n"), Just("\n"), Just("/* {{ x }} */\n"), Just("#include \"y.h\"\n"), Just("}\n"), Just("x\\\n\n"),
        ]), 1..4), c in any::<bool>()) {
            let mut lines: Vec<&str> = DEV.split_inclusive('\n').collect();
            for (at, gone, text) in edits {
                let at = at.min(lines.len());
                let end = (at + gone).min(lines.len());
                lines.splice(at..end, [text]);
            }
            let new = lines.concat();
            prop_assume!(new != DEV && !new.is_empty());
            shown(if c { "a.c" } else { "a.txt" }, DEV, &new);
        }
    }
}
