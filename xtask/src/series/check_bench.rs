//! Checks `[[bench]]` tables: sources and fragments that are there, figures that can be told
//! from each other in the output.

use crate::bench::plot;
use crate::error::Result;
use crate::host::paths::stay_below;
use crate::host::size;

use super::check::Checker;
use super::key_path::KeyPath;
use super::model::{Bench, Figure, Fragment};
use super::raw_bench::{RawBench, RawFigure};

/// Seconds that a benchmark may take where it does not say.
const TIMEOUT: u64 = 300;

impl Checker<'_> {
    pub(super) fn benches(&self, raw: &[RawBench], path: &KeyPath) -> Result<Vec<Bench>> {
        let mut benches: Vec<Bench> = Vec::new();
        for (i, b) in raw.iter().enumerate() {
            let path = path.index(i);
            self.plain_name(&b.name, &path.key("name"))?;
            if benches.iter().any(|other| other.name == b.name) {
                let what = format!("a second bench \"{}\"", b.name);
                return Err(self.source.error_at(&path.key("name"), what));
            }
            benches.push(self.bench(b, &path)?);
        }
        Ok(benches)
    }

    fn bench(&self, raw: &RawBench, path: &KeyPath) -> Result<Bench> {
        let files = |names: &[String], key: &str, what: &str| -> Result<Vec<_>> {
            let places = names.iter().enumerate();
            places.map(|(n, f)| self.series_file(f, &path.key(key).index(n), what)).collect()
        };
        let sources = files(&raw.sources, "sources", "source")?;
        let is_c = |p: &std::path::PathBuf| p.extension().is_some_and(|e| e == "c");
        if sources.is_empty() || (sources.len() > 1 && !sources.iter().all(is_c)) {
            return Err(self
                .source
                .error_at(&path.key("sources"), "neither C files nor one script")
                .hint("sources = [\"bench/x.c\", \"selftests/y.c\"]"));
        }
        if raw.timeout == Some(0) {
            return Err(self.source.error_at(&path.key("timeout"), "it would end at once"));
        }
        self.seconds(raw.timeout, &path.key("timeout"))?;
        if raw.needs_guest.smp.is_some_and(|n| n == 0 || n > 255) {
            let at = path.key("needs-guest").key("smp");
            return Err(self.source.error_at(&at, "a guest has between 1 and 255 CPUs"));
        }
        let memory = raw.needs_guest.memory.as_deref().map(size::mebibytes).transpose();
        let memory = memory
            .map_err(|why| self.source.error_at(&path.key("needs-guest").key("memory"), why))?;
        Ok(Bench {
            name: raw.name.clone(),
            sources,
            kconfig: self.fragments(&raw.kconfig, &path.key("kconfig"))?,
            kconfig_series: self.fragments(&raw.kconfig_series, &path.key("kconfig-series"))?,
            args: raw.args.clone(),
            timeout: raw.timeout.unwrap_or(TIMEOUT),
            patches_text: raw.patches_text,
            modules: raw.modules.clone(),
            smp: raw.needs_guest.smp.unwrap_or(1),
            memory,
            figures: self.figures(&raw.figures, path)?,
        })
    }

    /// A file below the series' folder.
    fn series_file(&self, name: &str, path: &KeyPath, what: &str) -> Result<std::path::PathBuf> {
        let below = stay_below(name, what).map_err(|e| e.context(self.source.position_of(path)))?;
        let file = self.project.join("series").join(self.series).join(below);
        if file.is_file() {
            return Ok(file);
        }
        let error = self.source.error_at(path, format!("no file {}", file.display()));
        Err(if name.contains('/') {
            error
        } else {
            error.hint(format!("it is named from series/{}/: bench/{name}", self.series))
        })
    }

    fn fragments(&self, names: &[String], path: &KeyPath) -> Result<Vec<Fragment>> {
        let one = |(n, name): (usize, &String)| {
            let path = path.index(n);
            if !name.contains('/') {
                if name.is_empty() || name.starts_with(['.', '~']) || name.ends_with(".config") {
                    let what = format!("\"{}\" is no fragment's name", name.escape_debug());
                    return Err(self
                        .source
                        .error_at(&path, what)
                        .hint("net is kconfigs/net.config, bench/x.config a file of the series"));
                }
                return Ok(Fragment { name: name.clone(), file: None });
            }
            let file = self.series_file(name, &path, "fragment")?;
            if file.extension().is_none_or(|e| e != "config") {
                let what = format!("\"{name}\" does not end with .config");
                return Err(self.source.error_at(&path, what));
            }
            Ok(Fragment { name: name.clone(), file: Some(file) })
        };
        names.iter().enumerate().map(one).collect()
    }

    fn figures(&self, raw: &[RawFigure], path: &KeyPath) -> Result<Vec<Figure>> {
        if raw.is_empty() {
            return Err(self
                .source
                .error_at(path, "a bench without figures measures nothing")
                .hint(
                    "figures = [{ label = \"rate\", unit = \"packets/s\", better = \"higher\" }]",
                ));
        }
        let path = path.key("figures");
        let mut figures: Vec<Figure> = Vec::new();
        for (n, f) in raw.iter().enumerate() {
            let path = path.index(n);
            if !is_label(&f.label) {
                return Err(self
                    .source
                    .error_at(&path.key("label"), "it could not be read from the output again")
                    .hint("a label is one line without : and =, that begins neither with a digit nor as a line of KTAP"));
            }
            if !is_unit(&f.unit) {
                return Err(self
                    .source
                    .error_at(&path.key("unit"), "it could not be read from the output again")
                    .hint("a unit is %, or begins with a letter and has none of ( , ;"));
            }
            if figures.iter().any(|other| other.label == f.label) {
                let what = format!("a second figure \"{}\"", f.label);
                return Err(self.source.error_at(&path.key("label"), what));
            }
            let name = |label: &str| plot::file_name("", label);
            if let Some(other) = figures.iter().find(|o| name(&o.label) == name(&f.label)) {
                let what = format!("its picture would have the name of \"{}\"", other.label);
                let error = self.source.error_at(&path.key("label"), what);
                return Err(error.hint("labels must differ in letters or digits"));
            }
            let (label, unit) = (f.label.clone(), f.unit.clone());
            figures.push(Figure { label, unit, better: f.better, kind: f.kind });
        }
        Ok(figures)
    }
}

/// As `report::lines` reads them back. The program's comment comes as one line
/// whose ends are trimmed.
fn is_label(text: &str) -> bool {
    // A comment that begins so is a line of an inner KTAP document.
    let ktap = ["ok", "not ok", "KTAP version", "TAP version", "Bail out", "#"];
    !text.is_empty()
        && text.trim() == text
        && !ktap.iter().any(|word| text.starts_with(word))
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.contains([':', '='])
        && !text.chars().any(char::is_control)
}

fn is_unit(text: &str) -> bool {
    text.is_empty()
        || text == "%"
        || (text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.trim() == text
            && !text.contains(['(', ',', ';'])
            && !text.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::lines;
    use proptest::prelude::*;

    proptest! {
        // Labels that are not allowed come often.
        #![proptest_config(ProptestConfig { max_global_rejects: 8192, ..ProptestConfig::default() })]
        #[test]
        fn what_is_allowed_is_read_back(
            label in prop_oneof!["[A-Za-z][ -~äµ]{0,19}", "[!-9a-zäµ ]{1,20}"],
            unit in prop_oneof!["%?", "[A-Za-z][A-Za-z0-9 /.µ^%-]{0,11}"],
            n in -1_000_000i32..1_000_000,
        ) {
            prop_assume!(is_label(&label) && is_unit(&unit));
            let number = format!("{}.5", n);
            let line = format!("{label}: {number} {unit}");
            prop_assert_eq!(lines::figure(&line), Some((&*label, &*number, &*unit)));
        }
    }

    /// Loads a series with one bench of these lines.
    fn load(lines: &str) -> crate::error::Result<crate::series::Series> {
        let t = tempfile::tempdir().unwrap();
        let folder = t.path().join("series/s/bench");
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["a.c", "b.c", "run.sh", "x.config"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let text = format!(
            "title = \"t\"\nauthor = \"A <a@b>\"\ndate = 2024-01-01T00:00:00Z\n[[patch]]\n\
             name = \"p\"\nmessage = {{ text = \"s\" }}\n[[patch.edit]]\nfile = \"f\"\nremove = true\n\
             [[bench]]\nname = \"b\"\n{lines}\n"
        );
        crate::series::load::from_text(&text, t.path(), "s")
    }

    const FIGURE: &str = "figures = [{ label = \"rate\", unit = \"kpps\", better = \"higher\" }]";

    #[test]
    fn a_bench_is_read() {
        let more = "sources = [\"bench/a.c\", \"bench/b.c\"]\nkconfig = [\"net\"]\n\
                    kconfig-series = [\"bench/x.config\"]\nneeds-guest = { smp = 2, memory = \"1G\" }";
        let series = load(&format!("{more}\n{FIGURE}")).unwrap();
        let bench = &series.benches[0];
        assert_eq!((bench.smp, bench.memory, bench.timeout), (2, Some(1024), TIMEOUT));
        assert!(bench.sources[1].ends_with("series/s/bench/b.c"));
        assert_eq!(bench.kconfig[0].word(), "net");
        assert!(bench.kconfig_series[0].word().ends_with("/series/s/bench/x.config"));
        assert_eq!(bench.kconfig_series[0].short(), "bench/x");
        assert!(load(&format!("sources = [\"bench/run.sh\"]\n{FIGURE}")).is_ok());
    }

    #[test]
    fn what_does_not_hold_names_its_place() {
        let with = |lines: &str| format!("sources = [\"bench/a.c\"]\n{lines}");
        let figure = |f: &str| with(&format!("figures = [{{ better = \"higher\", {f} }}]"));
        for (lines, says) in [
            (FIGURE.to_owned(), "neither C files nor one script"),
            (format!("sources = [\"bench/a.c\", \"bench/run.sh\"]\n{FIGURE}"), "neither C files"),
            (format!("sources = [\"a.c\"]\n{FIGURE}"), "bench/a.c"),
            (format!("sources = [\"../a.c\"]\n{FIGURE}"), "leaves its folder"),
            (with(""), "measures nothing"),
            (with(&format!("timeout = 0\n{FIGURE}")), "end at once"),
            (with(&format!("kconfig = [\"bench/a.c\"]\n{FIGURE}")), "does not end with .config"),
            (with(&format!("kconfig = [\"bench/no.config\"]\n{FIGURE}")), "no file"),
            (with(&format!("kconfig-series = [\"x.config\"]\n{FIGURE}")), "no fragment's name"),
            (with(&format!("kconfig = [\"/etc/x.config\"]\n{FIGURE}")), "absolute"),
            (with(&format!("needs-guest = {{ memory = \"1\" }}\n{FIGURE}")), "64M"),
            (with(&format!("needs-guest = {{ smp = 0 }}\n{FIGURE}")), "between 1 and 255"),
            (with(&format!("with = [\"p\"]\n{FIGURE}")), "with"),
            (figure("label = \"a: b\""), "one line without : and ="),
            (figure("label = \"ok 1 a\""), "as a line of KTAP"),
            (figure("label = \"\""), "one line without : and ="),
            (figure("label = \"a\", unit = \"1/s\""), "begins with a letter"),
            (figure("label = \"a\", kind = \"tme\""), "time"),
            (with("figures = [{ label = \"a\" }]"), "better"),
            (
                with(
                    "figures = [{ label = \"a\", better = \"lower\" }, { label = \"a\", better = \"lower\" }]",
                ),
                "a second figure \"a\"",
            ),
            (with(&format!("{FIGURE}\n[[bench]]\nname = \"b\"")), "a second bench \"b\""),
            (with(&format!("{FIGURE}\n[[bench]]\nname = \"b b\"")), "letters, digits"),
        ] {
            let e = load(&lines).unwrap_err().to_string();
            assert!(e.contains(says) && e.contains("series/s/series.toml"), "{lines}: {e}");
        }
    }
}
