//! Whether a Makefile of the kernel builds an object: make compiles any source that it
//! is told to, also what a configuration leaves out and does not compile then.

/// What a Makefile says of an object, or of a folder (`core/`); nothing where it does not name
/// it, or in a way that its text does not show. `is_set` tells whether a symbol (`NET`) is `y`
/// or `m`.
///
/// That it is left out is said only of what stands under `…-$(CONFIG_X)` and nowhere else.
pub(super) fn builds(makefile: &str, object: &str, is_set: &dyn Fn(&str) -> bool) -> Option<bool> {
    let lists = lists(makefile);
    let said = named(&lists, object, is_set, 0).known();
    said.filter(|built| *built || !(includes(makefile) || lists.iter().any(is_computed)))
}

/// Whether lines come from elsewhere.
fn includes(makefile: &str) -> bool {
    makefile.lines().map(|l| l.split('#').next().unwrap_or_default()).any(|line| {
        // A recipe's `for d in include …` does not begin with it.
        let word = line.split_whitespace().next().unwrap_or_default();
        matches!(word, "include" | "-include" | "sinclude")
            || line.contains("$(eval")
            || line.contains("${eval")
    })
}

/// Whether a list has more than its text names: what variables and functions give.
fn is_computed((name, words): &(String, Vec<String>)) -> bool {
    let (stem, when) = when(name);
    let is_list = matches!(when, When::Always | When::Symbol(_)) || name.contains("-$");
    is_list && !stem.ends_with("flags") && words.iter().any(|w| w.contains('$'))
}

/// Composite objects may be parts of others, but not for ever.
const DEEPEST: usize = 8;

/// What the lists that name an object say together.
#[derive(Clone, Copy, Default)]
struct Said {
    built: bool,
    left_out: bool,
    unclear: bool,
}

impl Said {
    fn known(self) -> Option<bool> {
        match self {
            Said { built: true, .. } => Some(true),
            Said { unclear: false, left_out: true, .. } => Some(false),
            _ => None,
        }
    }
}

/// When a list is taken.
enum When<'n> {
    Always,
    Symbol(&'n str),
    /// By a function, by several symbols …
    Unclear,
    /// It is no list of what is built.
    Never,
}

fn named(
    lists: &[(String, Vec<String>)],
    object: &str,
    is_set: &dyn Fn(&str) -> bool,
    depth: usize,
) -> Said {
    let mut said = Said::default();
    if depth > DEEPEST {
        said.unclear = true;
        return said;
    }
    for (name, _) in lists.iter().filter(|(_, words)| words.iter().any(|w| w == object)) {
        let (stem, when) = when(name);
        match when {
            When::Never => continue,
            When::Unclear => said.unclear = true,
            When::Symbol(symbol)
                if lists.iter().any(|(n, _)| {
                    n.split_whitespace().last().and_then(|n| n.strip_prefix("CONFIG_"))
                        == Some(symbol)
                }) =>
            {
                // The Makefile gives it a value of its own.
                said.unclear = true;
            }
            When::Symbol(symbol) if !is_set(symbol) => said.left_out = true,
            // `i40e-objs` and `i40e-y` make i40e.o, which has to be built itself.
            _ if !matches!(stem, "obj" | "lib" | "always" | "extra") => {
                let whole = named(lists, &format!("{stem}.o"), is_set, depth + 1);
                match whole.known() {
                    Some(true) => said.built = true,
                    Some(false) => said.left_out = true,
                    _ => said.unclear = true,
                }
            }
            _ => said.built = true,
        }
    }
    said
}

/// What a list's name says: `obj-y`, `i40e-objs`, `obj-$(CONFIG_NET)`.
fn when(name: &str) -> (&str, When<'_>) {
    let is_symbol = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some((stem, rest)) = name.split_once("-$(") {
        let symbol = rest.strip_prefix("CONFIG_").and_then(|r| r.strip_suffix(')'));
        return match symbol.filter(|s| !s.is_empty() && s.chars().all(is_symbol)) {
            Some(symbol) if !stem.contains('$') => (stem, When::Symbol(symbol)),
            _ => (stem, When::Unclear),
        };
    }
    if name.contains('$') {
        return (name, When::Unclear);
    }
    match name.rsplit_once('-') {
        Some((stem, "y" | "m" | "objs")) => (stem, When::Always),
        _ if matches!(name, "targets" | "obj-" | "obj-n" | "clean-files") => (name, When::Never),
        // Of another variable it is not known what becomes of it.
        _ => (name, When::Unclear),
    }
}

/// Each list of words that is given a name: `obj-$(CONFIG_NET) += a.o b.o`.
fn lists(makefile: &str) -> Vec<(String, Vec<String>)> {
    let joined = makefile.replace("\r\n", "\n").replace("\\\n", " ");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_makefile_builds() {
        let text = "obj-y += a.o \\\n\tb.o # c.o\nobj-$(CONFIG_D) += d.o\nobj-$(CONFIG_I) := i.o\n\
                    i-objs := i_main.o \\\r\n i_x.o\ni-$(CONFIG_DCB) += i_dcb.o\n\
                    obj-$(subst m,y,$(CONFIG_I)) += e.o\nloop-y := loop.o\nobj-$(CONFIG_D) += sub/f.o sub/\n\
                    obj-$(CONFIG_N) += d.o\n$(obj)/g.o: h.h\nobj-$(if $(CONFIG_D),,y) += j.o\n\
                    obj-$(or $(CONFIG_D),y) += j2.o\nobj-$(CONFIG_$(W)) += k.o\nobj-$(CONFIG_D)$(V) += l.o\n\
                    obj-$(CONFIG_D:n=y) += m.o\nobj-$(MY_CONFIG_D) += n.o\nobj-y += x.o\n\
                    x-$(if $(CONFIG_D),,y) += o.o\nCONFIG_OWN := y\nobj-$(CONFIG_OWN) += p.o\n\
                    obj-$(CONFIG_D) += net.o\nnet-common := q.o\n\
                    targets += t.o\nobj-$(CONFIG_D) += t.o\nobj- := u.o\n";
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
            ("e.o", &["I"], None),
            ("e.o", &[], None),
            ("sub/f.o", &["D"], Some(true)),
            ("f.o", &["D"], None),
            ("sub/", &[], Some(false)),
            ("g.o", &[], None),
            ("loop.o", &[], None),
            ("j.o", &[], None),
            ("j2.o", &[], None),
            ("k.o", &[], None),
            ("l.o", &[], None),
            ("m.o", &[], None),
            ("n.o", &[], None),
            ("o.o", &[], None),
            ("p.o", &[], None),
            ("q.o", &[], None),
            ("t.o", &[], Some(false)),
            ("t.o", &["D"], Some(true)),
            ("u.o", &[], None),
        ] {
            let is_set = |s: &str| set.contains(&s);
            assert_eq!(builds(text, object, &is_set), want, "{object} {set:?}");
        }
        for more in [
            "obj-y += $(addsuffix .o,d)",
            "obj-y += ${addsuffix .o,d}",
            "obj-y += $(if $(CONFIG_D),,d.o)",
            "obj-y += $(SRCS:.c=.o)",
            "obj-y += $(x).o",
            "obj-y += z.o\nz-y := $(net-y)",
            "obj-$(or $(CONFIG_D),y) += $(x)",
            "include x.mk",
            "  -include x.mk",
            "$(eval $(call f))",
            "export CONFIG_D := y",
            "override CONFIG_D = y",
        ] {
            let text = format!("obj-$(CONFIG_D) += d.o\n{more}\n");
            assert_eq!(builds(&text, "d.o", &|_| false), None, "{more}");
            let on = builds(&text, "d.o", &|_| true);
            assert!(on == Some(true) || more.contains("CONFIG_D ") && on.is_none(), "{more}");
        }
        for (object, text) in [
            ("s.o", "list := s.o\nobj-y += $(list)\n"),
            ("r.o", "obj-$(CONFIG_D) += net.o\nnet-y := r.o\nz-y := $(net-y)\nobj-y += z.o\n"),
        ] {
            assert_eq!(builds(text, object, &|_| false), None, "{object}");
        }
        // A recipe lists nothing.
        let text = "obj-$(CONFIG_D) += d.o\ndefine rule_x\n\tfor d in include a/include; do \\\n\tdone\nendef\n\
                    ccflags-y += -I$(src)\nquiet_cmd_x = CALL $(addprefix for ,$(y))\n";
        assert_eq!(builds(text, "d.o", &|_| false), Some(false));
    }
}
