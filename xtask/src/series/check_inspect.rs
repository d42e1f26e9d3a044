//! Checks `[inspect]`: names of objects and kernels, and that their files are there.

use crate::error::Result;
use crate::host::paths::stay_below;

use super::check::Checker;
use super::key_path::KeyPath;
use super::model::{Inspect, InspectKernel};
use super::raw::{RawInspect, RawInspectKernel};

/// The kernel that the selftests want.
pub const DEFAULT: &str = "default";

impl Checker<'_> {
    pub(super) fn inspect(&self, raw: &RawInspect, path: &KeyPath) -> Result<Inspect> {
        for (i, object) in raw.objects.iter().enumerate() {
            let path = path.key("objects").index(i);
            stay_below(object, "object").map_err(|e| e.context(self.source.position_of(&path)))?;
            if !object.ends_with(".o") {
                return Err(self
                    .source
                    .error_at(&path, "an object's name ends with .o")
                    .hint("name what is made of one source file, such as net/core/dev.o"));
            }
        }
        let mut kernels: Vec<InspectKernel> = Vec::new();
        for (i, kernel) in raw.kernel.iter().enumerate() {
            let path = path.key("kernel").index(i);
            self.plain_name(&kernel.name, &path.key("name"))?;
            if kernel.name == DEFAULT || kernels.iter().any(|k| k.name == kernel.name) {
                let what = format!("a second kernel \"{}\"", kernel.name);
                let error = self.source.error_at(&path.key("name"), what);
                return Err(error.hint(format!("{DEFAULT} is the one that the selftests want")));
            }
            kernels.push(self.kernel(kernel, &path)?);
        }
        Ok(Inspect { objects: raw.objects.clone(), arches: raw.arch.clone(), kernels })
    }

    fn kernel(&self, raw: &RawInspectKernel, path: &KeyPath) -> Result<InspectKernel> {
        let folder = self.project.join("series").join(self.series);
        let mut config = Vec::new();
        for (i, word) in raw.config.iter().enumerate() {
            let path = path.key("config").index(i);
            if !word.ends_with(".config") {
                if word.is_empty() || word.contains('/') || word.starts_with(['.', '~']) {
                    let what = format!("\"{}\" is no fragment's name", word.escape_debug());
                    return Err(self.source.error_at(&path, what).hint(
                        "kasan is kconfigs/kasan.config, inspect/x.config a file of the series",
                    ));
                }
                config.push(word.clone());
                continue;
            }
            let below = stay_below(word, "fragment")
                .map_err(|e| e.context(self.source.position_of(&path)))?;
            let file = folder.join(below);
            if !file.is_file() {
                return Err(self.source.error_at(&path, format!("no file {}", file.display())));
            }
            let file = std::path::absolute(&file).unwrap_or(file);
            config.push(file.to_string_lossy().into_owned());
        }
        if config.is_empty() {
            return Err(self.source.error_at(&path.key("config"), "a kernel without fragments"));
        }
        Ok(InspectKernel { name: raw.name.clone(), config, arches: raw.arch.clone() })
    }
}

#[cfg(test)]
mod tests {
    use crate::series;

    #[test]
    fn what_is_inspected_is_checked() {
        let t = tempfile::tempdir().unwrap();
        let folder = t.path().join("series/s");
        std::fs::create_dir_all(folder.join("inspect")).unwrap();
        std::fs::write(folder.join("inspect/plain.config"), "CONFIG_A=y\n").unwrap();
        let load = |inspect: &str| {
            let text = format!(
                "title = \"t\"\nauthor = \"A <a@example.org>\"\ndate = 2024-01-01T00:00:00Z\n{inspect}\n\
                 [[patch]]\nname = \"p\"\nmessage = {{ text = \"s\" }}\n\
                 [[patch.edit]]\nfile = \"f\"\nremove = true\n"
            );
            series::load::from_text(&text, t.path(), "s")
        };
        assert!(load("").unwrap().inspect.kernels.is_empty());
        let good = load(
            "[inspect]\nobjects = [\"net/a.o\"]\narch = [\"arm64\"]\n\
             [[inspect.kernel]]\nname = \"plain\"\nconfig = [\"kasan\", \"inspect/plain.config\"]\narch = [\"x86_64\"]",
        );
        let inspect = good.unwrap().inspect;
        assert_eq!((inspect.objects.len(), inspect.arches.len()), (1, 1));
        let kernel = &inspect.kernels[0];
        assert_eq!(kernel.config[0], "kasan");
        assert!(kernel.config[1].starts_with('/') && kernel.config[1].ends_with("plain.config"));
        for (bad, why) in [
            ("objects = [\"net/a.c\"]", "ends with .o"),
            ("objects = [\"../a.o\"]", "leaves its folder"),
            ("kernel = [{ name = \"default\", config = [\"a\"] }]", "a second kernel"),
            ("kernel = [{ name = \"a b\", config = [\"a\"] }]", "a name has letters"),
            ("kernel = [{ name = \"a\", config = [] }]", "without fragments"),
            ("kernel = [{ name = \"a\", config = [\"no.config\"] }]", "no file"),
            ("kernel = [{ name = \"a\", config = [\"../../x.config\"] }]", "leaves its folder"),
            ("kernel = [{ name = \"a\", config = [\"../../x\"] }]", "no fragment's name"),
            ("kernel = [{ name = \"a\", config = [\"/etc/passwd\"] }]", "no fragment's name"),
            ("functions = [\"f\"]", "functions"),
        ] {
            let e = load(&format!("[inspect]\n{bad}")).unwrap_err().to_string();
            assert!(e.contains(why), "{bad}: {e}");
        }
    }
}
