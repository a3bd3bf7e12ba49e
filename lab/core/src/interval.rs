//! Intervals for how many packets are lost.

/// The exact equal-tailed interval of a binomial count: the largest `low` with P(X < low) and the smallest
/// `high` with P(X > high) at most (1 - `confidence`) / 2 each.
///
/// The probabilities are summed from the recurrence P(k + 1) / P(k) = (n - k) / (k + 1) x p / (1 - p), outwards from
/// the mode (N. L. Johnson, A. W. Kemp, S. Kotz, "Univariate Discrete Distributions", section 3.4).
///
/// # Panics
///
/// If `p` is not a probability.
pub fn binomial_interval(n: u64, p: f64, confidence: f64) -> (u64, u64) {
    assert!((0.0..=1.0).contains(&p), "p is {p}: a probability is from 0 to 1");
    let mode = (((n + 1) as f64 * p) as u64).min(n);
    if p == 0.0 || p == 1.0 {
        return (mode, mode);
    }
    let odds = p / (1.0 - p);
    let above = outwards(mode..n, |k| (n - k) as f64 / (k + 1) as f64 * odds);
    let below = outwards((1..=mode).rev(), |k| k as f64 / (n - k + 1) as f64 / odds);
    let first = mode - below.len() as u64;
    let weights: Vec<f64> = below.into_iter().rev().chain([1.0]).chain(above).collect();
    equal_tailed(first, &weights, confidence)
}

/// Products of the ratios, as far as they matter beside 1.
fn outwards(counts: impl Iterator<Item = u64>, ratio: impl Fn(u64) -> f64) -> Vec<f64> {
    const NEGLIGIBLE: f64 = 1e-30;
    counts
        .scan(1.0, |weight, k| {
            *weight *= ratio(k);
            Some(*weight)
        })
        .take_while(|&weight| weight > NEGLIGIBLE)
        .collect()
}

/// The equal-tailed interval of a count with probabilities proportional to `weights`, of `first` and the counts after it.
pub(crate) fn equal_tailed(first: u64, weights: &[f64], confidence: f64) -> (u64, u64) {
    let tail = (1.0 - confidence) / 2.0 * weights.iter().sum::<f64>();
    let below = within(weights.iter(), tail);
    let above = within(weights.iter().rev(), tail);
    let last = first + weights.len() as u64 - 1;
    (first + below, last.saturating_sub(above))
}

/// How many of the weights, from the first on, sum up to at most `tail`.
fn within<'a>(weights: impl Iterator<Item = &'a f64>, tail: f64) -> u64 {
    let sums = weights.scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= tail).count() as u64
}
