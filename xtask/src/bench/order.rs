//! The order of boots: pairs of one boot of each kernel, shuffled within each pair.

use super::Side;

/// Which kernel is booted when: `runs` pairs; the same seed gives the same order.
#[must_use]
pub fn pairs(runs: usize, seed: u32) -> Vec<[Side; 2]> {
    let mut random = fastrand::Rng::with_seed(u64::from(seed));
    let mut pair = || {
        let [first, second] = Side::BOTH;
        if random.bool() { [first, second] } else { [second, first] }
    };
    std::iter::repeat_with(&mut pair).take(runs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_pair_has_both(runs in 0usize..40, seed in any::<u32>()) {
            let all = pairs(runs, seed);
            prop_assert_eq!(all.len(), runs);
            prop_assert!(all.iter().all(|[a, b]| a != b));
            prop_assert_eq!(&all, &pairs(runs, seed));
        }
    }

    #[test]
    fn both_orders_come() {
        let all = pairs(64, 1);
        let first = all.iter().filter(|p| p[0] == Side::Baseline).count();
        assert!((16..=48).contains(&first), "{first}");
        assert_ne!(all, pairs(64, 2));
    }
}
