//! Whether a Makefile of the kernel builds an object: make compiles any source that it
//! is told to, also what a configuration leaves out and does not compile then.

/// What a Makefile says of an object; nothing where it does not name it. `is_set` tells
/// whether a symbol (`NET`) is `y` or `m`.
pub(super) fn builds(makefile: &str, object: &str, is_set: &dyn Fn(&str) -> bool) -> Option<bool> {
    let lists = lists(makefile);
    named(&lists, object, is_set, 0)
}

/// Composite objects may be parts of others, but not for ever.
const DEEPEST: usize = 8;

fn named(
    lists: &[(String, Vec<String>)],
    object: &str,
    is_set: &dyn Fn(&str) -> bool,
    depth: usize,
) -> Option<bool> {
    let mut known = None;
    for (list, words) in lists {
        if !words.iter().any(|w| w == object) || depth > DEEPEST {
            continue;
        }
        let symbols = symbols(list);
        let mut built = symbols.is_empty() || symbols.iter().any(|s| is_set(s));
        // `i40e-objs` and `i40e-y` make i40e.o, which has to be built itself.
        let stem = list.rsplit_once('-').map_or("", |(stem, _)| stem);
        if built && !matches!(stem, "" | "obj" | "lib" | "always" | "extra") {
            built = named(lists, &format!("{stem}.o"), is_set, depth + 1).unwrap_or(true);
        }
        known = Some(known.unwrap_or(false) || built);
    }
    known
}

/// Each list of words that is given a name: `obj-$(CONFIG_NET) += a.o b.o`.
fn lists(makefile: &str) -> Vec<(String, Vec<String>)> {
    let joined = makefile.replace("\\\n", " ");
    let mut lists = Vec::new();
    for line in joined.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let Some((name, words)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches(['+', ':', '?']).trim();
        let words = words.split_whitespace().map(str::to_owned).collect();
        lists.push((name.to_owned(), words));
    }
    lists
}

/// The symbols that a name depends on, without `CONFIG_`.
fn symbols(name: &str) -> Vec<&str> {
    let is_symbol = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let behind = name.split("CONFIG_").skip(1);
    behind.filter_map(|rest| rest.split(|c| !is_symbol(c)).next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_makefile_builds() {
        let text = "obj-y += a.o \\\n\tb.o # c.o\nobj-$(CONFIG_D) += d.o\nobj-$(CONFIG_I) := i.o\n\
                    i-objs := i_main.o \\\n i_x.o\ni-$(CONFIG_DCB) += i_dcb.o\n\
                    obj-$(subst m,y,$(CONFIG_I)) += e.o\nloop-y := loop.o\nobj-$(CONFIG_D) += sub/f.o\n\
                    obj-$(CONFIG_N) += d.o\n$(obj)/g.o: h.h\n";
        for (object, set, want) in [
            ("a.o", &[][..], Some(true)),
            ("b.o", &[], Some(true)),
            ("c.o", &[], None),
            ("d.o", &[], Some(false)),
            ("d.o", &["N"], Some(true)),
            ("i_x.o", &[], Some(false)),
            ("i_x.o", &["I"], Some(true)),
            ("i_dcb.o", &["I"], Some(false)),
            ("i_dcb.o", &["I", "DCB"], Some(true)),
            ("e.o", &["I"], Some(true)),
            ("sub/f.o", &["D"], Some(true)),
            ("f.o", &["D"], None),
            ("g.o", &[], None),
            ("loop.o", &[], Some(true)),
        ] {
            let is_set = |s: &str| set.contains(&s);
            assert_eq!(builds(text, object, &is_set), want, "{object} {set:?}");
        }
    }
}
