//! Boots that were made up, and what comes of them.

use super::*;
use std::collections::BTreeMap;

/// A bench with these figures: label, unit, which way is better, kind.
pub(crate) fn bench(figures: &[(&str, &str, Better, FigureKind)]) -> Bench {
    Bench {
        name: "stream".into(),
        sources: Vec::new(),
        kconfig: Vec::new(),
        kconfig_series: Vec::new(),
        args: Vec::new(),
        timeout: 1,
        patches_text: false,
        modules: Vec::new(),
        smp: 2,
        memory: None,
        figures: figures
            .iter()
            .map(|(label, unit, better, kind)| Figure {
                label: (*label).into(),
                unit: (*unit).into(),
                better: *better,
                kind: *kind,
            })
            .collect(),
    }
}

/// Results with one bench of two figures: a rate and a count.
pub(crate) fn kept(values: &[(Side, f64, f64)], emulated: bool) -> Kept {
    let bench = bench(&[
        ("rate", "MB/s", Better::Higher, FigureKind::Time),
        ("packets per skb", "", Better::Higher, FigureKind::Count),
    ]);
    let mut kept = Kept {
        form: Kept::form(),
        series: "s".into(),
        base: "6.12".into(),
        version: "6.12.3".into(),
        arch: "x86_64".into(),
        against_itself: false,
        config: Vec::new(),
        emulated,
        date: "2026-11-30T12:00:00Z".into(),
        fingerprint: "f".into(),
        runs: values.len() / 2,
        seed: 7,
        kernels: Side::BOTH
            .iter()
            .map(|side| KernelFacts {
                side: *side,
                commit: "01".repeat(20),
                tree: "02".repeat(20),
                release: "6.12.3".into(),
                compiler: "gcc 12.2.0".into(),
            })
            .collect(),
        machine: Machine {
            accelerator: if emulated { "tcg" } else { "kvm" }.into(),
            qemu: "10.0".into(),
            no_kvm: None,
        },
        host: Host { cpu: "C".into(), cpus: 2, kernel: "6.1".into(), governor: None },
        warnings: Vec::new(),
        benches: vec![Measured {
            name: bench.name.clone(),
            guest: "microvm, 2 CPUs, 512 MiB".into(),
            config_differs: vec!["GRO_MORE".into()],
            boots: values
                .iter()
                .enumerate()
                .map(|(i, (side, rate, count))| Boot {
                    pair: i / 2 + 1,
                    side: *side,
                    started: "2026-11-30T11:00:00Z".into(),
                    seconds: 3.0,
                    load: Load { average: Some(0.1), busy: Some(0.0) },
                    values: BTreeMap::from([
                        ("rate".to_owned(), vec![*rate]),
                        ("packets per skb".to_owned(), vec![*count]),
                    ]),
                    output: Vec::new(),
                })
                .collect(),
            figures: Vec::new(),
        }],
    };
    compare(&mut kept.benches, &[&bench]);
    kept
}

/// Five pairs: the rate is the same but for noise, the count is not.
pub(crate) fn usual(emulated: bool) -> Kept {
    let rates = [100.0, 101.0, 99.0, 100.5, 98.5];
    let mut values = Vec::new();
    for (i, rate) in rates.iter().enumerate() {
        let count = 22.0 + rate / 100.0;
        let pair = [(Side::Baseline, *rate, 1.0), (Side::Patched, rate + 0.1, count)];
        values.extend(if i % 2 == 0 { pair } else { [pair[1], pair[0]] });
    }
    kept(&values, emulated)
}

#[test]
fn each_figure_has_its_word() {
    let kept = usual(false);
    let words: Vec<_> = kept.figures().map(|(_, f)| f.verdict.as_str()).collect();
    assert_eq!(words, [SAME, "better"]);
    let rate = &kept.benches[0].figures[0];
    assert_eq!((rate.baseline.n, rate.change().as_str()), (5, "+0.10 %"));
    assert_eq!(kept.benches[0].figures[1].change(), "+2199.8 %");

    let side = |s, v: [f64; 3]| v.map(|x| (s, x, 0.0));
    let apart = [side(Side::Baseline, [1.0, 1.1, 0.9]), side(Side::Patched, [2.0, 2.1, 1.9])];
    for (better, kind, word) in [
        (Better::Higher, FigureKind::Time, "faster"),
        (Better::Lower, FigureKind::Time, "slower"),
        (Better::Lower, FigureKind::Count, "worse"),
        (Better::Neither, FigureKind::Time, "higher"),
    ] {
        let mut kept = super::tests::kept(&apart.concat(), false);
        let bench = bench(&[("rate", "MB/s", better, kind)]);
        compare(&mut kept.benches, &[&bench]);
        assert_eq!(kept.benches[0].figures[0].verdict, word);
    }
}

#[test]
fn two_boots_are_no_verdict() {
    let pair = |a, b| [(Side::Baseline, a, 1.0), (Side::Patched, b, 20.0)];
    let two = kept(&[pair(1.0, 9.0), pair(1.01, 9.01)].concat(), false);
    assert!(two.figures().all(|(_, f)| f.verdict == TOO_FEW && !f.differs()));
    assert!(two.benches[0].figures[0].difference.is_some(), "it is shown all the same");
    let one = kept(&pair(1.0, 9.0), false);
    assert!(one.figures().all(|(_, f)| f.verdict == TOO_FEW && f.change() == "-"));
}

#[test]
fn more_figures_ask_for_more() {
    // Alone it would be called different, among twenty it is not.
    let values: Vec<_> = [1.0, 1.2, 0.9, 1.1, 1.05]
        .iter()
        .zip([1.2, 1.4, 1.15, 1.3, 1.1])
        .flat_map(|(a, b)| [(Side::Baseline, *a, 0.0), (Side::Patched, b, 0.0)])
        .collect();
    let alone = [("rate", "MB/s", Better::Higher, FigureKind::Time)];
    let mut kept = kept(&values, false);
    compare(&mut kept.benches, &[&bench(&alone)]);
    let figure = &kept.benches[0].figures[0];
    assert_eq!(figure.verdict, "faster", "{figure:?}");
    let first = kept.benches[0].clone();
    let mut many = vec![first.clone(); 20];
    for other in many.iter_mut().skip(1) {
        other.boots.iter_mut().for_each(|b| {
            b.values.insert("rate".into(), vec![5.0]);
        });
    }
    let benches = vec![bench(&alone); 20];
    compare(&mut many, &benches.iter().collect::<Vec<_>>());
    assert_eq!(many[0].figures[0].verdict, SAME);
}

#[test]
fn what_is_kept_is_read_again() {
    let t = tempfile::tempdir().unwrap();
    let path = t.path().join(FILE);
    assert!(Kept::read(&path).unwrap().is_none());
    let kept = usual(true);
    std::fs::write(&path, kept.json().unwrap()).unwrap();
    let again = Kept::read(&path).unwrap().unwrap();
    // Reading a number may lose its last bit.
    let told = |k: &Kept| crate::bench::table::report(k);
    assert_eq!(told(&again), told(&kept));
    for bad in
        ["", "{}", "[]", &String::from_utf8(kept.json().unwrap()).unwrap().replace("/1", "/9")]
    {
        std::fs::write(&path, bad).unwrap();
        let e = Kept::read(&path).unwrap_err().to_string();
        assert!(e.contains("is no report of bench"), "{e}");
    }
}
