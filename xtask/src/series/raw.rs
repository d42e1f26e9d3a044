//! `series.toml` as it is written: the types that TOML is read into, before
//! anything is checked beyond names and types. The JSON Schema is made of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::raw_bench::RawBench;
use super::raw_locator::{RawCapture, RawFarLocator, RawLocator, RawNamedProbe, RawProbe};
use super::raw_value::{OneOrMany, RawDate, RawText, RawTimes};

/// A kernel patch series as source.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawSeries {
    /// Subject of the cover letter.
    pub title: String,
    /// List name in the subject prefix: "bpf-next" gives `[PATCH bpf-next 1/3]`.
    pub list: Option<String>,
    /// Subject prefix: "PATCH" (default), "RFC", "RFC/WIP PATCH".
    pub prefix: Option<String>,
    /// `YYYYMMDD-topic-12hex`; stays the same over all versions.
    pub change_id: Option<String>,
    /// Version of the series (default 1).
    pub version: Option<u32>,
    /// `Name <mail>` of the commits' author.
    pub author: String,
    /// Date of the series; patch i is dated i seconds later.
    pub date: RawDate,
    /// Template of the cover letter.
    pub cover: Option<RawText>,
    /// Recipients (To) beside those of the trailers.
    #[serde(default)]
    pub to: Vec<String>,
    /// Recipients (Cc) beside those of the trailers.
    #[serde(default)]
    pub cc: Vec<String>,
    /// Bases it is kept alive on, the preferred one first; ./ and ../ are relative to the project.
    #[serde(default)]
    pub bases: Vec<String>,
    /// If any of these holds, every patch is absorbed.
    #[serde(default)]
    pub absorbed: OneOrMany<RawProbe>,
    /// What every patch needs of the base.
    #[serde(default)]
    pub needs: OneOrMany<RawProbe>,
    /// Values that templates see as `vars.NAME`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub vars: toml::Table,
    /// Named questions to the base; templates see the answers as `has.NAME`.
    #[serde(default)]
    pub probes: BTreeMap<String, RawNamedProbe>,
    /// What changed in each version, newest first.
    #[serde(default)]
    pub changelog: Vec<RawChange>,
    /// What has to be applied before it, in this order.
    #[serde(default)]
    pub prerequisites: Vec<RawPrerequisite>,
    /// The patches, in order.
    #[serde(default)]
    pub patch: Vec<RawPatch>,
    /// The selftests.
    #[serde(default)]
    pub test: Vec<RawTest>,
    /// What `inspect` looks at.
    #[serde(default)]
    pub inspect: RawInspect,
    /// The benchmarks.
    #[serde(default)]
    pub bench: Vec<RawBench>,
}

/// What `inspect` looks at beside the objects of the sources that patches touch.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawInspect {
    /// More objects, as make names them: "net/core/gro.o".
    #[serde(default)]
    pub objects: Vec<String>,
    /// Architectures (default: the host's).
    #[serde(default)]
    pub arch: Vec<String>,
    /// Kernels beside the one that the selftests want.
    #[serde(default)]
    pub kernel: Vec<RawInspectKernel>,
}

/// A kernel whose code is looked at.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawInspectKernel {
    /// What it is called.
    pub name: String,
    /// Fragments of `kconfigs/`, or files (`*.config`) below the series' folder.
    pub config: Vec<String>,
    /// The architectures that it is for (default: all that are asked for).
    #[serde(default)]
    pub arch: Vec<String>,
}

/// Something that has to be applied before the series; exactly one key.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawPrerequisite {
    /// Another series of this project, rendered below this one.
    pub series: Option<String>,
    /// The message id of a series' cover letter or first patch.
    pub message_id: Option<String>,
    /// A patch, by `git patch-id --stable`.
    pub patch_id: Option<String>,
    /// A version of a series elsewhere: its change id, `:v` and the version.
    pub change_id: Option<String>,
}

/// What changed in one version.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawChange {
    /// The version that has the change.
    pub version: u32,
    /// What changed against the version before; empty for the first one.
    #[serde(default)]
    pub text: String,
    /// Where that version was sent: an archive's address or a message id.
    pub link: Option<String>,
}

/// One patch: a commit to be.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawPatch {
    /// Its name within the series.
    pub name: String,
    /// Template of the commit message: subject, blank line, body, trailers.
    pub message: RawText,
    /// Only made when asked for (`--with NAME`, `--with-optional`).
    #[serde(default)]
    pub optional: bool,
    /// `Name <mail>`, where it differs from the series' author.
    pub author: Option<String>,
    /// Author date, where it is not the series' date and i seconds.
    pub date: Option<RawDate>,
    /// If any of these holds, the base has this patch already.
    #[serde(default)]
    pub absorbed: OneOrMany<RawProbe>,
    /// What this patch needs of the base; all must hold.
    #[serde(default)]
    pub needs: OneOrMany<RawProbe>,
    /// The changes, in order.
    #[serde(default)]
    pub edit: Vec<RawEdit>,
}

/// One change to one file: where, and exactly one deed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawEdit {
    /// The file, or several of which exactly one has the place.
    #[serde(default)]
    pub file: OneOrMany<String>,
    /// Made only if all of these hold.
    #[serde(default)]
    pub when: OneOrMany<RawProbe>,
    /// Made only if none of these holds.
    #[serde(default)]
    pub unless: OneOrMany<RawProbe>,
    /// Narrows where `at` and the captures are sought; a list narrows step by step.
    #[serde(default)]
    pub within: OneOrMany<RawLocator>,
    /// The place.
    pub at: Option<RawLocator>,
    /// How many places there are: 1 (default), a number, or "all".
    pub times: Option<RawTimes>,
    /// Text that is taken from the file and seen by templates under its name.
    #[serde(default)]
    pub capture: BTreeMap<String, RawCapture>,
    /// Shift the text to the indentation of the place.
    #[serde(default)]
    pub indent: bool,
    /// Keep one blank line between the text and its neighbours; the default depends on the place.
    pub separate: Option<bool>,
    /// Deed: put text before the place.
    pub insert_before: Option<RawText>,
    /// Deed: put text behind the place.
    pub insert_after: Option<RawText>,
    /// Deed: put text in the place's stead.
    pub replace: Option<RawText>,
    /// Deed: take the place out.
    pub delete: Option<bool>,
    /// Deed: move the place before another one.
    pub move_before: Option<RawFarLocator>,
    /// Deed: move the place behind another one.
    pub move_after: Option<RawFarLocator>,
    /// Deed: a new file.
    pub create: Option<RawText>,
    /// Mode of a new file: "644" (default) or "755".
    pub mode: Option<String>,
    /// Deed: remove the file.
    pub remove: Option<bool>,
    /// Deed: rename the file.
    pub rename: Option<String>,
    /// Deed: add `#include` lines where their neighbours are.
    #[serde(default)]
    pub add_include: OneOrMany<String>,
    /// Deed: add a Makefile line such as `obj-$(CONFIG_X) += x.o`.
    pub add_object: Option<String>,
    /// Deed: add an entry to MAINTAINERS in alphabetical order.
    pub add_maintainers: Option<RawText>,
    /// Deed: apply a unified diff, three-way.
    pub diff: Option<RawText>,
    /// Deed: run a semantic patch (Coccinelle) over the file.
    pub cocci: Option<RawText>,
}

/// A selftest that runs in the guest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawTest {
    /// Its name.
    pub name: String,
    /// C files below the series' `selftests/`, built as one static program.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Files that the sources include: each a place of the rendered tree.
    #[serde(default)]
    pub extract: BTreeMap<String, RawCapture>,
    /// The same, each a place of the base as it is.
    #[serde(default)]
    pub extract_base: BTreeMap<String, RawCapture>,
    /// Kconfig fragments it needs.
    #[serde(default)]
    pub kconfig: Vec<String>,
    /// Arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// Seconds after which it counts as hung (default 120).
    pub timeout: Option<u64>,
    /// It patches kernel text while that runs: under TCG only `thread=single` is sound.
    #[serde(default)]
    pub patches_text: bool,
    /// Kernel modules that the guest must have.
    #[serde(default)]
    pub modules: Vec<String>,
    /// What the guest must be like.
    #[serde(default)]
    pub needs_guest: RawGuest,
    /// Optional patches that it needs.
    #[serde(default)]
    pub with: Vec<String>,
}

/// What a guest must be like.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawGuest {
    /// Number of CPUs (default 1).
    pub smp: Option<u32>,
    /// Memory, as QEMU takes it: "512M".
    pub memory: Option<String>,
}

/// A deliberate break of a series that its selftest must catch.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawMutant {
    /// Subject of the commit that carries it.
    pub title: String,
    /// What it breaks.
    pub why: String,
    /// The test that must catch it.
    pub test: String,
    /// The test point that fails, or a part of its name; "panic" and "splat" name the console.
    pub caught_by: String,
    /// Optional patches that must be there.
    #[serde(default)]
    pub with: Vec<String>,
    /// Bases it makes sense on: all of these must hold.
    #[serde(default)]
    pub when: OneOrMany<RawProbe>,
    /// The changes, on the rendered head.
    #[serde(default)]
    pub edit: Vec<RawEdit>,
}
