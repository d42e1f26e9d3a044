//! What planning costs on files of the size of net/core/dev.c: the scan, one
//! place by name and text, and a whole series of three patches.
//!
//! `cargo bench -p xtask --bench plan`
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use divan::{Bencher, counter::BytesCount};
use xtask::error::Result;
use xtask::render::Choice;
use xtask::render::cocci::Semantic;
use xtask::render::file_text::FileText;
use xtask::render::locate::{Captured, Finder};
use xtask::render::plan::plan;
use xtask::render::source::Memory;
use xtask::render::template::BaseFacts;
use xtask::series::locator::{Kind, Locator, Place};

fn main() {
    divan::main();
}

/// A file of `functions` functions, as long as those of the kernel's network core.
fn file(functions: usize) -> String {
    let mut text = String::from("#include <linux/a.h>\n#include <linux/b.h>\n\n");
    for i in 0..functions {
        let _ = write!(
            text,
            "/**\n * work_{i} - do it\n * @dev: the device\n *\n * It's done \"here\".\n */\n\
             int work_{i}(struct net_device *dev, int n)\n{{\n\tstruct napi_struct *napi;\n\tint err = 0;\n\n\
             \tif (unlikely(n > {i}))\n\t\treturn -EINVAL;\n\n#ifdef CONFIG_X\n\tnapi->owner = -1;\n#endif\n\
             \tlist_for_each_entry(napi, &dev->list, list) {{\n\t\tswitch (napi->state) {{\n\t\tcase {i}:\n\t\t\terr = f(\"%s\\n\", n);\n\
             \t\t\tbreak;\n\t\tdefault:\n\t\t\tgoto out;\n\t\t}}\n\t}}\n\tnapi->weight = {i};\nout:\n\treturn err;\n}}\nEXPORT_SYMBOL(work_{i});\n\n"
        );
    }
    text
}

const SERIES: &str = r#"
title = "t"
author = "A <a@b>"
date = 2024-01-01T00:00:00Z

[[patch]]
name = "one"
message = { text = "one" }
absorbed = { function = "init", file = "dev.c" }

[[patch.edit]]
file = "dev.c"
within = { function = "work_400" }
capture = { body = { from = { if = "unlikely(n > 400)" }, to = { text = "napi->weight = 400;" } } }
at = { captured = "body" }
replace = { text = "\tinit(dev);" }

[[patch.edit]]
file = "dev.c"
at = { function = "work_400" }
insert-before = { text = "static void init(struct net_device *dev)\n{\n{{ body }}\n}" }

[[patch]]
name = "two"
message = { text = "two" }

[[patch.edit]]
file = "dev.c"
at = { function = "work_401", part = "head" }
replace = { text = "static int work_401(struct net_device *dev, int n)" }

[[patch]]
name = "three"
message = { text = "three" }

[[patch.edit]]
file = "map.c"
within = { function = "work_9" }
at = { case = "9" }
insert-before = { text = "\t\tcase 8:\n\t\t\tbreak;" }
"#;

#[divan::bench]
fn scan(bencher: Bencher<'_, '_>) {
    let src = file(600).into_bytes();
    bencher.counter(BytesCount::of_slice(&src)).bench_local(|| cscan::scan::scan(&src));
}

#[divan::bench(args = [Kind::Text, Kind::Case])]
fn place(bencher: Bencher<'_, '_>, kind: Kind) {
    let src = file(600).into_bytes();
    let value = if kind == Kind::Case { "500" } else { "napi->weight = 500;" };
    let at = Locator::Place(Place {
        steps: vec![(Kind::Function, "work_500".into()), (kind, value.into())],
        part: None,
        has: Vec::new(),
        has_not: Vec::new(),
        nth: None,
        or_text: None,
    });
    bencher.with_inputs(|| FileText::new("dev.c", src.clone())).bench_local_values(|file| {
        let captured = Captured::new();
        Finder { file: &file, captured: &captured, candidates: true }
            .find_one(&[], &at, false)
            .unwrap()
    });
}

struct Nothing;

impl Semantic for Nothing {
    fn run(&self, _: &str, _: &str, content: &[u8]) -> Result<Vec<u8>> {
        Ok(content.to_vec())
    }
}

#[divan::bench]
fn three_patches(bencher: Bencher<'_, '_>) {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir_all(project.path().join("templates/s")).unwrap();
    let project: &Path = project.path();
    let (dev, map) = (file(600), file(30));
    let memory = Memory::of(&[("dev.c", &dev), ("map.c", &map)]);
    let facts = BaseFacts { name: "6.12".into(), version: "6.12".parse().unwrap() };
    bencher.bench_local(|| {
        let series = xtask::series::load::from_text(SERIES, project, "s").unwrap();
        let plan = plan(&series, &facts, &memory, &Choice::default(), &Nothing).unwrap();
        assert_eq!(plan.verdict.word(), "applies");
    });
}
