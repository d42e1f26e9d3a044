//! Lists the configuration fragments, so that each file put into `kconfigs/` is part
//! of the tool without being named a second time; and gives each source file of the tool
//! a number that changes with it, so that a kept result is known by what made it.

use std::fmt::Write as _;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name: &str| {
        env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(format!("no {name}")))
    };
    // At a fixed address: the tool runs for milliseconds, and the loader needs one
    // to correct the 40,000 addresses in it otherwise.
    if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu") {
        println!("cargo::rustc-link-arg-bin=xtask=-no-pie");
    }
    let here = variable("CARGO_MANIFEST_DIR")?;
    let output = variable("OUT_DIR")?;
    let folder = here.join("../kconfigs");
    let fragments = collect(&folder, |name| name == "config")?;
    let mut table = String::from("&[\n");
    for file in &fragments {
        let name = file.strip_prefix(&folder).map_err(io::Error::other)?.with_extension("");
        let _ = writeln!(table, "({:?}, include_str!({:?})),", name.display().to_string(), file);
    }
    table.push(']');
    fs::write(output.join("fragments.rs"), table)?;

    let mut numbers = String::from("&[\n");
    let is_source = |name: &str| matches!(name, "rs" | "c" | "h" | "config" | "toml");
    for (prefix, folder) in
        [("", here.join("src")), ("cscan/", here.join("cscan/src")), ("kconfigs/", folder)]
    {
        for file in collect(&folder, is_source)? {
            let name = file.strip_prefix(&folder).map_err(io::Error::other)?.display();
            let mut hasher = std::hash::DefaultHasher::new();
            hasher.write(&fs::read(&file)?);
            let _ = writeln!(numbers, "(\"{prefix}{name}\", {}),", hasher.finish());
        }
    }
    numbers.push(']');
    fs::write(output.join("sources.rs"), numbers)
}

/// The files below `folder` with an extension that is `wanted`, sorted.
fn collect(folder: &Path, wanted: impl Copy + Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(collect(&path, wanted)?);
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(wanted) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
