//! What a line of a Makefile or a Kconfig file stands in.

use cscan::lines::lines;

use super::FileText;

/// The conditionals, menus and definitions that `at` is in, the outermost first, and the last
/// entry of a Kconfig file.
pub fn around(file: &FileText, at: usize) -> Vec<String> {
    let name = file.path().rsplit('/').next().unwrap_or_default();
    let makes = name.starts_with("Makefile") || name.starts_with("Kbuild");
    if name.starts_with("Kconfig") {
        kconfig(file, at)
    } else if makes || name.rsplit_once('.').is_some_and(|(_, end)| end == "mk") {
        makefile(file, at)
    } else if [".S", ".lds"].iter().any(|end| name.ends_with(end)) {
        assembly(file, at)
    } else {
        Vec::new()
    }
}

/// Conditions of the preprocessor, as they are written.
fn assembly(file: &FileText, at: usize) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for line in lines(file.bytes(), 0..at) {
        let line = String::from_utf8_lossy(file.get(line)).into_owned();
        let Some(rest) = line.trim().strip_prefix('#').map(str::trim_start) else { continue };
        if rest.starts_with("if") {
            open.push(format!("#{rest}"));
        } else if rest.starts_with("el") {
            if let Some(last) = open.last_mut() {
                *last = format!("#{rest} of {last}");
            }
        } else if rest.starts_with("endif") {
            open.pop();
        }
    }
    open
}

/// The words of each line before `at`, and whether it begins in the first column.
fn words(file: &FileText, at: usize) -> impl Iterator<Item = (bool, Vec<String>)> {
    lines(file.bytes(), 0..at).map(|line| {
        let line = String::from_utf8_lossy(file.get(line)).into_owned();
        let first = line.starts_with(|c: char| !c.is_whitespace());
        (first, line.split_whitespace().map(str::to_owned).collect())
    })
}

fn kconfig(file: &FileText, at: usize) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut entry = None;
    for (first, words) in words(file, at) {
        match words.first().map(String::as_str) {
            Some("config" | "menuconfig") if first || is_entry(&words) => {
                entry = Some(words.join(" "));
            }
            // Help is indented, and may begin with any of these words.
            _ if !first => {}
            Some("if" | "menu" | "choice") => {
                open.push(words.join(" "));
                entry = None;
            }
            Some("endif" | "endmenu" | "endchoice") => {
                open.pop();
                entry = None;
            }
            _ => {}
        }
    }
    // Text at an entry's beginning is put before it.
    open.extend(entry.filter(|_| !starts_entry(file, at)));
    open
}

/// Whether an indented line begins an entry, as in a choice: help has more to say.
fn is_entry(words: &[String]) -> bool {
    let symbol = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    words.len() == 2 && words.get(1).is_some_and(|w| w.chars().all(symbol))
}

/// Whether no property of an entry stands at `at`.
fn starts_entry(file: &FileText, at: usize) -> bool {
    let rest = file.get(at..file.bytes().len());
    let line = rest.split(|&b| b == b'\n').find(|l| !l.trim_ascii().is_empty());
    line.is_none_or(|l| l.first().is_some_and(|b| !b.is_ascii_whitespace()))
}

fn makefile(file: &FileText, at: usize) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut goes_on = None;
    for (_, words) in words(file, at) {
        let first = words.first().map(String::as_str);
        match first {
            _ if goes_on.is_some() => {}
            Some("ifeq" | "ifneq" | "ifdef" | "ifndef" | "define") => open.push(words.join(" ")),
            Some("else") => {
                if let Some(last) = open.last_mut() {
                    *last = format!("{} of {last}", words.join(" "));
                }
            }
            Some("endif" | "endef") => drop(open.pop()),
            _ => {}
        }
        let continued = words.last().is_some_and(|w| w.ends_with('\\'));
        let head = goes_on.or_else(|| first.map(str::to_owned));
        goes_on = head.filter(|_| continued);
    }
    open.extend(goes_on.map(|head| format!("the line of {head}")));
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lines_of_a_makefile_or_kconfig_file_stand_in() {
        for (path, text, want) in [
            ("Makefile", "a\n@b\n", vec![]),
            ("net/Makefile", "ifdef  CONFIG_X\n@b\nendif\n", vec!["ifdef CONFIG_X"]),
            ("net/Makefile", "ifdef CONFIG_X\nelse\n@b\nendif\n", vec!["else of ifdef CONFIG_X"]),
            ("net/Makefile", "ifdef CONFIG_X\nendif\n@b\n", vec![]),
            ("a/x.mk", "define do\n@\ta\nendef\n", vec!["define do"]),
            ("Makefile", "x-y += a.o \\\n\tb.o \\\n@\tc.o\n", vec!["the line of x-y"]),
            ("Makefile", "x-y += a.o \\\n\tb.o\n@y := 1\n", vec![]),
            (
                "net/Kconfig",
                "if NET\n\nif INET\n@config A\nendif\nendif\n",
                vec!["if NET", "if INET"],
            ),
            ("net/Kconfig", "config A\n\thelp\n\t  if it\n\t  endif\n@config B\n", vec![]),
            ("Kconfig", "config A\n\tbool \"a\"\n@\tselect C\n", vec!["config A"]),
            ("Kconfig", "menu \"m\"\nchoice\nconfig A\n@endchoice\n", vec!["menu \"m\"", "choice"]),
            (
                "Kconfig",
                "choice\n\tconfig A\n\t\tbool\n@\t\tselect C\n",
                vec!["choice", "config A"],
            ),
            ("doc/a.rst", "if x\n@b\n", vec![]),
            ("a.S", "#ifdef A\n#else\n@\tnop\n#endif\n", vec!["#else of #ifdef A"]),
            ("a.lds.S", "# if A\n# endif\n@b\n", vec![]),
        ] {
            let at = text.find('@').unwrap();
            let file = FileText::new(path, text.replace('@', "").into_bytes());
            assert_eq!(around(&file, at), want, "{text}");
        }
    }
}
