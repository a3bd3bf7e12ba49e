//! The link check: probes sent through the link must meet the fate that the model foretells.
//!
//! What is foretold comes from a second model with the same parameters and seed, to which the packets are offered at
//! the times at which they arrived. So the check covers the devices and the link's thread; that the model itself is right
//! is its own tests' business. The rate is compared with the configured number.
//!
//! A link that is wrong is wrong for most packets: the median delay, the rate, the very packets lost or dropped. A
//! machine that stalls delays some; how many, and by how much, is recorded here and during the whole trial, and whoever
//! analyses it judges what that can do to the result (docs/disturbances.md).

use anyhow::Result;
use h123_link::{Direction, EcnPolicy, IpPolicy, Udp};
use serde::Serialize;

use crate::check::probe::Endpoint;
use crate::check::train::{constant_bps, flood, overload, pulse};
use crate::check::train_check::{
    BurstCheck, DelayCheck, LONGEST_NS, LossCheck, RateCheck, TrainOutcome, TrainOutcomes, send_trains,
};
use crate::files::per_direction::PerDirection;
use crate::link::course::Course;
use crate::link::emulated::Emulated;

/// All that the check tolerates. A delay may be off by a fixed time or, where that is more, by a share of itself.
mod tolerance {
    pub const DELAY_P50_NS: u64 = 500_000;
    pub const DELAY_P50_SHARE: f64 = 0.02;
    pub const RATE_SHARE: f64 = 0.01;
}

const WAYS: [&str; 2] = ["up", "down"];

/// As in the report. A part is null for a direction that it does not apply to.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    pub delay: PerDirection<Option<DelayCheck>>,
    pub rate: PerDirection<Option<RateCheck>>,
    pub loss: PerDirection<Option<LossCheck>>,
    pub burst: PerDirection<Option<BurstCheck>>,
    pub passed: bool,
    pub failures: Vec<String>,
    /// What was left out because the link is too slow for it.
    #[serde(skip)]
    pub omissions: Vec<String>,
}

/// Checks both directions of a link at the same time, as they are before any blackout or change, with UDP let through.
/// Afterwards the link is as it is before the main role.
pub fn check(emulated: &mut Emulated, ends: [Endpoint; 2]) -> Result<CheckReport> {
    let [base, bare] = courses(&emulated.base);
    let mut report = CheckReport {
        delay: PerDirection::default(),
        rate: PerDirection::default(),
        loss: PerDirection::default(),
        burst: PerDirection::default(),
        passed: false,
        failures: vec![],
        omissions: vec![],
    };
    let mut failures = vec![];
    let pulses = send_trains(emulated, ends, &base, |d| Some(pulse(d)))?;
    report.omissions.extend(omissions("delay and loss", &pulses));
    for (way, outcome) in pulses.outcomes.iter().enumerate() {
        let Some(outcome) = outcome else { continue };
        let direction = base.direction(way);
        let (delay, loss) = (outcome.delay(), outcome.loss(direction, base.seed(way)));
        failures.extend(delay.failure(direction).map(|f| (way, f)));
        failures.extend(loss.iter().filter_map(|l| Some((way, l.failure()?))));
        *report.delay.of(way) = Some(delay);
        *report.loss.of(way) = loss;
    }
    let overloads = send_trains(emulated, ends, &bare, overload)?;
    report.omissions.extend(omissions("rate", &overloads));
    for (way, outcome) in overloads.outcomes.iter().enumerate() {
        let rate = outcome.as_ref().and_then(|p| p.rate(constant_bps(bare.direction(way))?));
        failures.extend(rate.iter().filter_map(|r| Some((way, r.failure()?))));
        *report.rate.of(way) = rate;
    }
    let floods = send_trains(emulated, ends, &bare, flood)?;
    report.omissions.extend(omissions("queue", &floods));
    for (way, outcome) in floods.outcomes.iter().enumerate() {
        let burst = outcome.as_ref().map(TrainOutcome::burst);
        failures.extend(burst.iter().filter_map(|b| Some((way, b.failure()?))));
        *report.burst.of(way) = burst;
    }
    report.failures = failures.into_iter().map(|(way, text)| format!("{}: {text}", WAYS[way])).collect();
    report.passed = report.failures.is_empty();
    emulated.link.begin(&emulated.base)?;
    Ok(report)
}

/// On which it is checked: as it is with UDP and IPv4 let through; then without what would blur rate and queue.
pub fn courses(base: &Course) -> [Course; 2] {
    let base = base.with(|d| Direction {
        udp: Udp::Pass,
        ipv4: IpPolicy::Pass,
        policer: None,
        ecn: EcnPolicy::Pass,
        mtu: None,
        ..d.clone()
    });
    let bare = base.with(|d| Direction {
        loss: None,
        duplicate: 0.0,
        jitter: None,
        reorder: None,
        retransmission: None,
        aggregation: None,
        ..d.clone()
    });
    [base, bare]
}

/// What of the link was not checked because its probes would have taken too long.
fn omissions(what: &str, outcomes: &TrainOutcomes) -> Vec<String> {
    let too_long = WAYS.iter().zip(outcomes.too_long_ns);
    let messages = too_long.filter_map(|(way, takes_ns)| {
        Some(format!(
            "{way}: {what}: not checked, because the probes would take {:.0} s and the check waits at most {} s",
            takes_ns? as f64 / 1e9,
            LONGEST_NS / 1_000_000_000
        ))
    });
    messages.collect()
}

impl DelayCheck {
    fn failure(&self, direction: &Direction) -> Option<String> {
        let error = self.error_ns.as_ref()?.p50;
        let share = (direction.delay_ns as f64 * tolerance::DELAY_P50_SHARE) as u64;
        let limit = tolerance::DELAY_P50_NS.max(share);
        (error.unsigned_abs() > limit).then(|| {
            format!(
                "the median delay is off by {:.2} ms; at most {:.2} ms are allowed",
                error as f64 / 1e6,
                limit as f64 / 1e6
            )
        })
    }
}

impl RateCheck {
    fn failure(&self) -> Option<String> {
        let ratio = self.measured_bps as f64 / self.configured_bps as f64;
        ((ratio - 1.0).abs() > tolerance::RATE_SHARE)
            .then(|| format!("the rate is {} bit/s instead of {}", self.measured_bps, self.configured_bps))
    }
}

impl LossCheck {
    fn failure(&self) -> Option<String> {
        (!self.identical).then(|| {
            format!("of {} packets {} were lost, but not the {} of this seed", self.sent, self.lost, self.expected_lost)
        })
    }
}

impl BurstCheck {
    fn failure(&self) -> Option<String> {
        (self.delivered != self.expected).then(|| {
            format!(
                "of a burst of {} packets {} were delivered, but the queue admits {}",
                self.sent, self.delivered, self.expected
            )
        })
    }
}
