//! Lists the configuration fragments, so that each file put into `kconfigs/` is part
//! of the tool without being named a second time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name: &str| {
        env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(format!("no {name}")))
    };
    let folder = variable("CARGO_MANIFEST_DIR")?.join("../kconfigs");
    let mut files = Vec::new();
    collect(&folder, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&folder).map_err(io::Error::other)?.with_extension("");
        let _ = writeln!(table, "({:?}, include_str!({:?})),", name.display().to_string(), file);
    }
    table.push(']');
    fs::write(variable("OUT_DIR")?.join("fragments.rs"), table)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "config") {
            files.push(path);
        }
    }
    Ok(())
}
