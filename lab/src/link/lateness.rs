//! How late a link released its packets.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Ten seconds; what is later counts as this late.
const HIGHEST_NS: u64 = 10_000_000_000;

pub struct Lateness(Histogram<u64>);

/// As in the report; times in ns.
#[derive(Debug, Serialize)]
pub struct LatenessReport {
    pub p50: u64,
    pub p99: u64,
    pub p999: u64,
    pub max: u64,
    /// `[upper bound, count]`, powers of two.
    histogram: Vec<(u64, u64)>,
}

impl Lateness {
    pub fn new() -> Self {
        Self(Histogram::new_with_bounds(1, HIGHEST_NS, 3).expect("constant bounds in order"))
    }

    /// So many packets left that late.
    pub fn record(&mut self, ns: u64, packets: u64) {
        self.0.saturating_record_n(ns, packets);
    }

    pub fn report(&self) -> LatenessReport {
        let mut histogram: Vec<(u64, u64)> = Vec::new();
        for step in self.0.iter_recorded() {
            let bound = step.value_iterated_to().next_power_of_two();
            match histogram.last_mut() {
                Some((last, count)) if *last == bound => *count += step.count_at_value(),
                _ => histogram.push((bound, step.count_at_value())),
            }
        }
        LatenessReport {
            p50: self.0.value_at_quantile(0.5),
            p99: self.0.value_at_quantile(0.99),
            p999: self.0.value_at_quantile(0.999),
            max: self.0.max(),
            histogram,
        }
    }
}
