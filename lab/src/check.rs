//! The link check: probes sent through the link must meet the fate that the model foretells.
//!
//! What is foretold comes from a second model with the same parameters and seed, to which the packets
//! are offered at the times they were sent. So the check covers the devices, the link's thread and the machine's
//! punctuality; that the model itself is right is its own tests' business. The rate is compared with the
//! configured number.

use anyhow::Result;
use h123_link::{Direction, Rate, Udp};
use serde::Serialize;

use crate::network::Emulated;
use crate::passage::{BurstCheck, DelayCheck, LossCheck, Passed, RateCheck, pass};
use crate::probe::Place;
use crate::report::Ways;
use crate::train::{MTU, constant_bps, flood, overload, pulse};

/// All that the check tolerates. A delay may be off by a fixed time or, where that is more, by a share of itself.
mod tolerance {
    pub const DELAY_P50_NS: u64 = 500_000;
    pub const DELAY_P50_SHARE: f64 = 0.02;
    pub const DELAY_P99_NS: u64 = 2_000_000;
    pub const DELAY_P99_SHARE: f64 = 0.05;
    /// Of the trial itself, not of its check: p99 of the link's own lateness.
    pub const LATENESS_NS: u64 = 1_000_000;
    pub const LATENESS_SHARE: f64 = 0.05;
    pub const RATE_SHARE: f64 = 0.01;
    /// Packets, or what the rate serves in this time: the sender's stamp is that much earlier than the link's.
    pub const BURST_PACKETS: u64 = 1;
    pub const BURST_NS: u64 = 300_000;
}

/// As in the report. A part is null for a direction that it does not apply to.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    pub delay: Ways<Option<DelayCheck>>,
    pub rate: Ways<Option<RateCheck>>,
    pub loss: Ways<Option<LossCheck>>,
    pub burst: Ways<Option<BurstCheck>>,
    pub passed: bool,
    pub failures: Vec<String>,
}

/// The p99 of its release lateness up to which a direction counts as punctual.
pub fn lateness_limit_ns(direction: &Direction) -> u64 {
    allowed(
        direction.delay_ns,
        tolerance::LATENESS_NS,
        tolerance::LATENESS_SHARE,
    )
}

/// Checks both directions of a link at the same time, as they are before any blackout or change, with UDP let through.
/// The link's course is another afterwards.
pub fn check(emulated: &mut Emulated, ends: [Place; 2]) -> Result<CheckReport> {
    let base = emulated.base.with(|d| Direction {
        udp: Udp::Pass,
        ..d.clone()
    });
    // Rate and queue are measured without what would blur them.
    let bare = base.with(|d| Direction {
        loss: None,
        duplicate: 0.0,
        jitter: None,
        reorder: None,
        ..d.clone()
    });
    let mut report = CheckReport {
        delay: Ways::default(),
        rate: Ways::default(),
        loss: Ways::default(),
        burst: Ways::default(),
        passed: false,
        failures: vec![],
    };
    let mut failures = vec![];
    let passages = pass(emulated, ends, &base, |d| Some(pulse(d)))?;
    for (way, passage) in passages.iter().enumerate() {
        let Some(passage) = passage else { continue };
        let direction = base.direction(way);
        let (delay, loss) = (passage.delay(), passage.loss(direction, base.seed(way)));
        failures.extend(delay.failure(direction).map(|f| (way, f)));
        failures.extend(loss.iter().filter_map(|l| Some((way, l.failure()?))));
        *report.delay.way(way) = Some(delay);
        *report.loss.way(way) = loss;
    }
    for (way, passage) in pass(emulated, ends, &bare, overload)?.iter().enumerate() {
        let rate = passage
            .as_ref()
            .and_then(|p| p.rate(constant_bps(bare.direction(way))?));
        failures.extend(rate.iter().filter_map(|r| Some((way, r.failure()?))));
        *report.rate.way(way) = rate;
    }
    for (way, passage) in pass(emulated, ends, &bare, flood)?.iter().enumerate() {
        let burst = passage.as_ref().map(Passed::burst);
        let bps = constant_bps(bare.direction(way)).unwrap_or(0);
        failures.extend(burst.iter().filter_map(|b| Some((way, b.failure(bps)?))));
        *report.burst.way(way) = burst;
    }
    report.failures = failures
        .into_iter()
        .map(|(way, text)| format!("{}: {text}", ["up", "down"][way]))
        .collect();
    report.passed = report.failures.is_empty();
    Ok(report)
}

fn allowed(delay_ns: u64, least_ns: u64, share: f64) -> u64 {
    least_ns.max((delay_ns as f64 * share) as u64)
}

/// On a trace, a packet that misses an opportunity by the microseconds between the sender's stamp and the link's waits
/// for the next one.
fn longest_wait_ns(direction: &Direction) -> u64 {
    let Some(Rate::Trace { trace_ms, .. }) = &direction.rate else {
        return 0;
    };
    let gaps = trace_ms.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.chain(trace_ms.first().copied()).max().unwrap_or(0) * 1_000_000
}

impl DelayCheck {
    fn failure(&self, direction: &Direction) -> Option<String> {
        let error = self.error_ns.as_ref()?;
        let limits = [
            (
                "p50",
                error.p50,
                allowed(
                    direction.delay_ns,
                    tolerance::DELAY_P50_NS,
                    tolerance::DELAY_P50_SHARE,
                ),
            ),
            (
                "p99",
                error.p99,
                allowed(
                    direction.delay_ns,
                    tolerance::DELAY_P99_NS,
                    tolerance::DELAY_P99_SHARE,
                ) + longest_wait_ns(direction),
            ),
        ];
        let (name, error, limit) = limits
            .into_iter()
            .find(|(_, error, limit)| error.unsigned_abs() > *limit)?;
        Some(format!(
            "the delay is off by {:.2} ms ({name}), allowed are {:.2} ms",
            error as f64 / 1e6,
            limit as f64 / 1e6
        ))
    }
}

impl RateCheck {
    fn failure(&self) -> Option<String> {
        let ratio = self.measured_bps as f64 / self.configured_bps as f64;
        ((ratio - 1.0).abs() > tolerance::RATE_SHARE).then(|| {
            format!(
                "the rate is {} bit/s instead of {}",
                self.measured_bps, self.configured_bps
            )
        })
    }
}

impl LossCheck {
    fn failure(&self) -> Option<String> {
        (!self.identical).then(|| {
            format!(
                "of {} packets {} were lost, but not the {} of this seed",
                self.sent, self.lost, self.expected_lost
            )
        })
    }
}

impl BurstCheck {
    fn failure(&self, bps: u64) -> Option<String> {
        let served = tolerance::BURST_NS * bps / (u64::from(MTU) * 8_000_000_000);
        (self.delivered.abs_diff(self.expected) > served.max(tolerance::BURST_PACKETS)).then(|| {
            format!(
                "of a burst of {} packets {} were delivered, the queue admits {}",
                self.sent, self.delivered, self.expected
            )
        })
    }
}
