//! Values of SciPy 1.17.1 (`scipy.stats.ttest_ind(…, equal_var=False)` and its
//! `confidence_interval(0.95)`, `numpy.std(ddof=1)`) and of statsmodels 0.15.0
//! (`multipletests(method="holm")`), and laws that hold for any values.

use super::*;
use proptest::prelude::*;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-18
}

fn compare(a: &[f64], b: &[f64]) -> Difference {
    welch(&Sample::of(a).unwrap(), &Sample::of(b).unwrap()).unwrap()
}

#[test]
#[rustfmt::skip]
fn welch_is_scipys() {
    // Baseline, patched; difference of the means, ends of its interval, p.
    type Case = (&'static [f64], &'static [f64], [f64; 4]);
    let cases: &[Case] = &[
        (&[470.0, 468.2, 473.1, 469.9, 471.5], &[504.1, 499.8, 506.0, 502.2, 503.7],
         [32.61999999999995, 29.53845945736866, 35.701540542631236, 1.527056841909585e-08]),
        (&[1.0, 1.0, 1.0, 1.0], &[22.4, 21.9, 23.0, 22.1],
         [21.35, 20.586876184393518, 22.113123815606485, 3.123069769648882e-06]),
        (&[12.3, 11.9, 12.8], &[12.4, 12.0, 12.6, 12.1, 13.0],
         [0.086666666666666, -0.7991164296943449, 0.9724497630276769, 0.7980392888886412]),
        (&[100.0, 101.0, 99.0, 100.5, 98.5], &[100.2, 100.9, 99.1, 100.4, 98.7],
         [0.060000000000002274, -1.3752638520126994, 1.495263852012704, 0.9254329964837406]),
        (&[0.00012, 0.00013, 0.00011], &[0.0001, 9e-05, 0.00011],
         [-1.9999999999999998e-05, -4.2669579355275174e-05, 2.669579355275181e-06, 0.07048399691021985]),
        (&[5.0, 7.0], &[1.0, 2.0],
         [-4.5, -11.418522830071064, 2.4185228300710637, 0.09171033896595439]),
        (&[-3.0, -2.5, -3.5, -1.0], &[2.0, 1.0, 3.0, 2.5],
         [4.625, 2.9184455893143793, 6.331554410685621, 0.0006558020529806269]),
    ];
    for (a, b, want) in cases {
        let d = compare(a, b);
        let got = [d.absolute, d.low, d.high, d.p];
        assert!(got.iter().zip(want).all(|(g, w)| near(*g, *w)), "{a:?} {b:?}: {got:?}, not {want:?}");
    }
    // Far out in the tail, where the distribution function is 1 already.
    let d = compare(&[1.0, 1.001, 0.999, 1.0005, 0.9995], &[10.0, 10.002, 9.999, 10.001, 9.998]);
    assert!(d.p > 0.0 && d.p < 1e-20, "{}", d.p);
}

#[test]
fn locations_and_spreads_are_numpys() {
    let s = Sample::of(&[470.0, 468.2, 473.1, 469.9, 471.5]).unwrap();
    assert!(near(s.mean, 470.5400000000001) && near(s.sd.unwrap(), 1.8474306482247311));
    assert_eq!((s.n, s.median, s.min, s.max), (5, 470.0, 468.2, 473.1));
    assert_eq!(Sample::of(&[3.0, 1.0, 2.0, 10.0]).unwrap().median, 2.5);
    assert_eq!(Sample::of(&[7.0]).unwrap().sd, None);
    assert_eq!(Sample::of(&[]), None);
    assert_eq!(Sample::of(&[1.0, f64::NAN]), None);
}

#[test]
fn holm_is_statsmodels() {
    for (p, want) in [
        (&[0.01, 0.04, 0.03, 0.005][..], &[0.03, 0.06, 0.06, 0.02][..]),
        (&[0.5], &[0.5]),
        (&[0.02, 0.02, 0.9], &[0.06, 0.06, 0.9]),
        (&[1.0, 0.001, 0.0, 0.2, 0.04], &[1.0, 0.004, 0.0, 0.4, 0.12]),
        (&[], &[]),
    ] {
        let got = holm(p);
        assert!(got.len() == want.len() && got.iter().zip(want).all(|(g, w)| near(*g, *w)));
    }
}

#[test]
fn boots_that_do_not_spread() {
    let same = compare(&[1.0; 3], &[1.0; 3]);
    assert_eq!((same.absolute, same.low, same.high, same.p), (0.0, 0.0, 0.0, 1.0));
    let apart = compare(&[1.0; 3], &[2.0; 3]);
    assert_eq!((apart.absolute, apart.low, apart.high, apart.p), (1.0, 1.0, 1.0, 0.0));
    // A tenth has no binary fraction: the mean of three of them is no tenth by itself.
    assert_eq!(compare(&[0.1; 3], &[0.1; 5]).p, 1.0);
    let one = Sample::of(&[1.0]).unwrap();
    assert_eq!(welch(&one, &one), None);
}

#[test]
fn outliers_are_marked() {
    for (values, want) in [
        (&[10.0, 10.1, 9.9, 10.05, 17.0][..], &[4][..]),
        (&[10.0, 10.1, 9.9, 10.05, 9.95], &[]),
        (&[1.0, 1.0, 1.0, 1.0, 1.0], &[]),
        (&[1.0, 1.0, 1.0, 1.0, 1.0, 9.0], &[5]),
        (&[1.0], &[]),
        // Of so few, two that happen to be near make any third one stand apart.
        (&[10.0, 10.1, 17.0], &[]),
    ] {
        let sample = Sample::of(values).unwrap();
        assert_eq!(sample.outliers, want, "{values:?}");
        assert_eq!(sample.n, values.len(), "none is dropped");
    }
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(-1e6f64..1e6, 2..12)
}

proptest! {
    #[test]
    fn a_kernel_against_itself_does_not_differ(a in values()) {
        let d = compare(&a, &a);
        prop_assert_eq!(d.absolute, 0.0);
        prop_assert!(d.p > 0.999_999, "{}", d.p);
        prop_assert!(d.low <= 0.0 && d.high >= 0.0);
    }

    #[test]
    fn sides_exchanged_change_the_sign_alone(a in values(), b in values()) {
        let (d, e) = (compare(&a, &b), compare(&b, &a));
        let scale = d.absolute.abs().max(d.high - d.low);
        let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * scale;
        prop_assert!(close(d.absolute, -e.absolute) && close(d.low, -e.high) && close(d.high, -e.low));
        prop_assert!((d.p - e.p).abs() <= 1e-9);
    }

    #[test]
    fn another_unit_changes_no_verdict(a in values(), b in values(), power in -9i32..9) {
        // Powers of two: not even rounding differs.
        let k = 2.0_f64.powi(power);
        let scaled = |v: &[f64]| v.iter().map(|x| x * k).collect::<Vec<_>>();
        let (d, e) = (compare(&a, &b), compare(&scaled(&a), &scaled(&b)));
        prop_assert!((d.p - e.p).abs() <= 1e-12);
        prop_assert!((d.absolute * k - e.absolute).abs() <= 1e-9 * e.absolute.abs());
        prop_assert_eq!(
            Sample::of(&a).unwrap().outliers,
            Sample::of(&scaled(&a)).unwrap().outliers
        );
    }

    #[test]
    fn order_does_not_count(mut a in values(), b in values()) {
        let d = compare(&a, &b);
        a.reverse();
        prop_assert!((d.p - compare(&a, &b).p).abs() <= 1e-9);
    }

    #[test]
    fn all_is_finite_and_in_order(a in values(), b in values()) {
        let d = compare(&a, &b);
        prop_assert!((0.0..=1.0).contains(&d.p));
        prop_assert!(d.low.is_finite() && d.high.is_finite());
        prop_assert!(d.low <= d.absolute && d.absolute <= d.high);
        // The interval has no zero just when this figure alone would be called different.
        prop_assume!((d.p - ALPHA).abs() > 1e-6);
        prop_assert_eq!(d.low > 0.0 || d.high < 0.0, d.p < ALPHA);
    }

    #[test]
    fn holm_only_raises(p in proptest::collection::vec(0.0f64..=1.0, 0..10)) {
        let adjusted = holm(&p);
        prop_assert!(p.iter().zip(&adjusted).all(|(p, a)| a >= p && *a <= 1.0));
        for (i, a) in p.iter().enumerate() {
            for (j, b) in p.iter().enumerate() {
                prop_assert!(a > b || adjusted[i] <= adjusted[j]);
            }
        }
    }
}
