//! The expectations that a link is checked against.

use h123_link::{GilbertElliott, Loss, binomial_interval};

/// Against scipy.stats.binom.ppf 1.x.
#[test]
fn binomial_intervals_are_exact() {
    for (n, p, confidence, expected) in [
        (1_000, 0.02, 0.999, (7, 36)),
        (1_000, 0.5, 0.95, (469, 531)),
        (60_000, 0.005, 0.999, (245, 358)),
        (60_000, 0.02, 0.999, (1_089, 1_314)),
        (200, 0.005, 0.999, (0, 6)),
        (10, 0.1, 0.99, (0, 4)),
        (1_000_000, 0.3, 0.999, (298_493, 301_509)),
        (50, 0.0, 0.999, (0, 0)),
        (50, 1.0, 0.999, (50, 50)),
        (0, 0.5, 0.999, (0, 0)),
    ] {
        assert_eq!(binomial_interval(n, p, confidence), expected, "n {n}, p {p}, {confidence}");
    }
}

#[test]
fn binomial_intervals_mirror() {
    let (low, high) = binomial_interval(1_000, 0.02, 0.999);
    assert_eq!(binomial_interval(1_000, 0.98, 0.999), (1_000 - high, 1_000 - low));
}

fn chain(p: f64, r: f64, loss_good: f64, loss_bad: f64) -> Loss {
    Loss::GilbertElliott(GilbertElliott { p, r, loss_good, loss_bad })
}

#[test]
fn a_simple_chain_has_the_textbook_figures() {
    let loss = chain(0.01, 0.25, 0.0, 1.0);
    assert!((loss.mean_rate().unwrap() - 0.01 / 0.26).abs() < 1e-15);
    assert!((loss.mean_burst().unwrap() - 4.0).abs() < 1e-12);
    assert_eq!(Loss::Random(0.5).mean_burst(), Some(2.0));
    assert_eq!(Loss::Random(0.0).mean_burst(), None);
    assert_eq!(chain(0.0, 0.5, 0.0, 1.0).mean_burst(), None);
}

#[test]
fn a_chain_without_memory_is_binomial() {
    // With p + r = 1 the next state does not depend on the last.
    let loss = chain(0.03, 0.97, 0.01, 0.6);
    let expected = binomial_interval(3_000, loss.mean_rate().unwrap(), 0.999);
    assert_eq!(loss.count_interval(3_000, 0.999), expected);
    let burst = loss.mean_burst().unwrap();
    assert!((burst - Loss::Random(loss.mean_rate().unwrap()).mean_burst().unwrap()).abs() < 1e-12);
}

#[test]
fn bursts_widen_the_interval() {
    let bursty = chain(0.005, 0.2, 0.0, 1.0);
    let (low, high) = bursty.count_interval(5_000, 0.999);
    let (even_low, even_high) = binomial_interval(5_000, bursty.mean_rate().unwrap(), 0.999);
    assert!(low < even_low && high > even_high, "{low} to {high} against {even_low} to {even_high}");
}

/// All 2^8 ways that 8 packets can go, each state sequence weighed by the chain.
#[test]
fn a_short_chain_agrees_with_full_enumeration() {
    let (p, r, good, bad) = (0.3, 0.4, 0.1, 0.8);
    let start = p / (p + r);
    let mut counts = [0.0; 9];
    let mut runs_end = 0.0;
    for states in 0u32..256 {
        let is_bad = |i: u32| states >> i & 1 == 1;
        let mut weight = if is_bad(0) { start } else { 1.0 - start };
        for i in 1..8 {
            weight *= match (is_bad(i - 1), is_bad(i)) {
                (false, true) => p,
                (false, false) => 1.0 - p,
                (true, false) => r,
                (true, true) => 1.0 - r,
            };
        }
        for lost in 0u32..256 {
            let fate = |i: u32| {
                let share = if is_bad(i) { bad } else { good };
                if lost >> i & 1 == 1 { share } else { 1.0 - share }
            };
            let probability = weight * (0..8).map(fate).product::<f64>();
            counts[lost.count_ones() as usize] += probability;
            if lost & 0b11 == 0b01 {
                runs_end += probability;
            }
        }
    }
    let burst = chain(p, r, good, bad).mean_burst().unwrap();
    let mean = (0..9).map(|k| k as f64 / 8.0 * counts[k]).sum::<f64>();
    assert!((burst - mean / runs_end).abs() < 1e-12, "mean burst {burst}");
    for confidence in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
        let tail = (1.0 - confidence) / 2.0;
        let low = (0..9).rev().find(|&k| counts[..k].iter().sum::<f64>() <= tail).unwrap();
        let high = (0..9).find(|&k| counts[k + 1..].iter().sum::<f64>() <= tail).unwrap();
        let interval = chain(p, r, good, bad).count_interval(8, confidence);
        assert_eq!(interval, (low as u64, high as u64), "{confidence}");
    }
}

#[test]
fn listed_packets_leave_no_doubt() {
    let listed = Loss::Packets(vec![5, 3, 3, 80]);
    assert_eq!(listed.count_interval(50, 0.999), (2, 2));
    assert_eq!(listed.mean_rate(), None);
}
