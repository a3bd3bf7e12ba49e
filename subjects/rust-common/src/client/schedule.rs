//! When the requests of an open loop are due.

/// The first `count` arrivals of a Poisson process of `rate` a second, in nanoseconds from its beginning. The
/// same seed gives the same schedule everywhere.
pub fn schedule(seed: u64, rate: f64, count: usize) -> Vec<u64> {
    let mut state = seed;
    let mut seconds = 0.0;
    let next = |_| {
        seconds -= (1.0 - uniform(&mut state)).ln() / rate;
        (seconds * 1e9) as u64
    };
    (0..count).map(next).collect()
}

/// From 0 to less than 1, by SplitMix64.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_kept_on_average_and_the_seed_decides() {
        let due = schedule(7, 1000.0, 20_000);
        let last = *due.last().unwrap() as f64 / 1e9;
        assert!((19.0..21.0).contains(&last), "{last}");
        assert!(due.is_sorted());
        assert_eq!(due, schedule(7, 1000.0, 20_000));
        assert_ne!(due, schedule(8, 1000.0, 20_000));
    }
}
