//! Groups of tests that can share a guest: the same optional patches and the
//! same configuration of the kernel. Each group has a kernel of its own, with an object
//! directory of its own, so that going from one to the other rebuilds nothing.

use std::collections::BTreeSet;

use crate::build::Request;
use crate::series::model::{Series, Test};

/// Fragments that every kernel of a guest has; they do not tell groups apart.
const DEFAULT: [&str; 4] = ["boot", "vm", "net", "bpf"];

/// Tests for one guest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    /// Optional patches of the series.
    pub with: BTreeSet<String>,
    /// Fragments besides the default ones, in the order in which they were named.
    pub fragments: Vec<String>,
    /// Its tests, by name.
    pub tests: Vec<String>,
}

impl Group {
    /// Puts the tests of a series whose name is in `only` (all, if it is empty) into groups;
    /// `more` fragments come on top of what each test asks.
    pub fn all(series: &Series, only: &[String], more: &[String]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let wanted = |t: &&Test| only.is_empty() || only.contains(&t.name);
        for test in series.tests.iter().filter(wanted) {
            let with: BTreeSet<String> = test.with.iter().cloned().collect();
            let fragments = fragments(&test.kconfig, more);
            match groups.iter_mut().find(|g| g.with == with && g.fragments == fragments) {
                Some(group) => group.tests.push(test.name.clone()),
                None => groups.push(Group { with, fragments, tests: vec![test.name.clone()] }),
            }
        }
        if groups.is_empty() && only.is_empty() {
            groups.push(Group::plain(more));
        }
        groups
    }

    /// A guest without tests: it is booted all the same.
    pub fn plain(more: &[String]) -> Group {
        Group { with: BTreeSet::new(), fragments: fragments(&[], more), tests: Vec::new() }
    }

    /// A word for folders; empty for the usual kernel.
    pub fn slug(&self) -> String {
        let words: Vec<&str> =
            self.with.iter().chain(&self.fragments).map(String::as_str).collect();
        words
            .join("+")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '_' })
            .collect()
    }

    /// Sets configuration and folders in the request of a build.
    pub fn fill(&self, request: &mut Request) {
        request.fragments.clone_from(&self.fragments);
        let slug = self.slug();
        if !slug.is_empty()
            && let Some(objdirs) = &request.source.objdirs
        {
            request.objdir = Some(objdirs.join(format!("{}-{slug}", request.arch)));
        }
    }
}

fn fragments(asked: &[String], more: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for name in asked.iter().chain(more) {
        if !DEFAULT.contains(&name.as_str()) && !out.contains(name) {
            out.push(name.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_fragments_do_not_tell_kernels_apart() {
        let own = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert_eq!(fragments(&own(&["net", "bpf"]), &[]), own(&[]));
        let both = fragments(&own(&["boot", "kunit"]), &own(&["debug", "kunit"]));
        assert_eq!(both, own(&["kunit", "debug"]));
        let group =
            Group { with: BTreeSet::from(["a b".to_owned()]), fragments: both, tests: Vec::new() };
        assert_eq!(group.slug(), "a_b+kunit+debug");
    }
}
