//! The link check: probes sent through the link must meet the fate that the model foretells.
//!
//! What is foretold comes from a second model with the same parameters and seed, to which the packets
//! are offered at the times they were sent. So the check covers the devices, the link's thread and the machine's
//! punctuality; that the model itself is right is its own tests' business. The rate is compared with the
//! configured number.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use h123_link::{Direction, Fate, Packet, Queue, Rate, Udp, expected_losses};
use serde::Serialize;

use crate::link::Course;
use crate::network::Emulated;
use crate::probe::{Passage, Place, SMALLEST, Train, exchange};
use crate::report::Ways;

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
    pub const LOSS_CONFIDENCE: f64 = 0.999;
}

/// Of the train that measures the delay.
const DELAY_PROBES: u64 = 200;
/// Of the train that measures the loss, the delay probes included.
const LOSS_PROBES: u64 = 1000;
/// How long a train may take.
const BUDGET_NS: u64 = 300_000_000;
const DELAY_INTERVAL_NS: u64 = 500_000;
const LOSS_INTERVAL_NS: u64 = 100_000;
const RATE_SPAN_NS: u64 = 150_000_000;
/// Faster links cannot be filled without taking the processors from what is to be measured.
const FASTEST_BPS: u64 = 200_000_000;
const OFFERED_SHARE: f64 = 1.2;
const LONGEST_DRAIN_NS: u64 = 400_000_000;
/// A shorter queue runs empty between two packets of the probe.
const SHORTEST_QUEUE: u64 = 4;
/// Receivers listen this much longer than the model says.
const PATIENCE_NS: u64 = 10_000_000;
const MTU: u32 = 1500;

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

#[derive(Debug, Serialize)]
pub struct DelayCheck {
    probes: u64,
    lost: u64,
    /// Measured less expected; null if nothing arrived.
    pub error_ns: Option<Quantiles>,
}

#[derive(Debug, Serialize)]
pub struct Quantiles {
    pub p50: i64,
    pub p99: i64,
    pub max: i64,
}

#[derive(Debug, Serialize)]
pub struct RateCheck {
    pub configured_bps: u64,
    pub measured_bps: u64,
}

#[derive(Debug, Serialize)]
pub struct LossCheck {
    pub sent: u64,
    pub lost: u64,
    /// What this seed loses among as many packets. The very packets must agree, not the number only.
    pub expected_lost: u64,
    /// The 99.9 % interval of the loss model. It says how unusual this seed is: one in a thousand is outside.
    pub low: u64,
    pub high: u64,
    #[serde(skip)]
    pub identical: bool,
}

#[derive(Debug, Serialize)]
pub struct BurstCheck {
    sent: u64,
    delivered: u64,
    expected: u64,
}

/// The p99 of its release lateness up to which a direction counts as punctual.
pub fn lateness_limit_ns(direction: &Direction) -> u64 {
    allowed(direction.delay_ns, tolerance::LATENESS_NS, tolerance::LATENESS_SHARE)
}

/// Checks both directions of a link at the same time, as they are before any blackout or change, with UDP let through.
/// The link's course is another afterwards.
pub fn check(emulated: &mut Emulated, ends: [Place; 2]) -> Result<CheckReport> {
    let base = emulated.base.with(|d| Direction { udp: Udp::Pass, ..d.clone() });
    // Rate and queue are measured without what would blur them.
    let bare = base.with(|d| Direction { loss: None, duplicate: 0.0, jitter: None, reorder: None, ..d.clone() });
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
        let rate = passage.as_ref().and_then(|p| p.rate(constant_bps(bare.direction(way))?));
        failures.extend(rate.iter().filter_map(|r| Some((way, r.failure()?))));
        *report.rate.way(way) = rate;
    }
    for (way, passage) in pass(emulated, ends, &bare, flood)?.iter().enumerate() {
        let burst = passage.as_ref().map(Passed::burst);
        let bps = constant_bps(bare.direction(way)).unwrap_or(0);
        failures.extend(burst.iter().filter_map(|b| Some((way, b.failure(bps)?))));
        *report.burst.way(way) = burst;
    }
    report.failures = failures.into_iter().map(|(way, text)| format!("{}: {text}", ["up", "down"][way])).collect();
    report.passed = report.failures.is_empty();
    Ok(report)
}

/// A train that has passed the link, and what the model says of it.
pub struct Passed {
    passage: Passage,
    fates: Vec<Fate>,
    zero_ns: u64,
    bytes: u32,
}

/// Puts the link on a fresh course and sends both directions' trains.
pub fn pass(
    emulated: &mut Emulated,
    ends: [Place; 2],
    course: &Course,
    train: impl Fn(&Direction) -> Option<Train>,
) -> Result<[Option<Passed>; 2]> {
    let mut trains = [0, 1].map(|way| train(course.direction(way)));
    for (way, train) in trains.iter_mut().enumerate() {
        if let Some(train) = train {
            train.tail_ns = tail_ns(course, way, train);
        }
    }
    if trains.iter().all(Option::is_none) {
        return Ok([None, None]);
    }
    let zero_ns = emulated.link.begin(course)?.zero_ns;
    let passages = exchange(ends, [trains[0].as_ref(), trains[1].as_ref()])?;
    let ledgers = emulated.link.begin(course)?.ledgers;
    let mut passed = [None, None];
    for (way, passage) in passages.into_iter().enumerate() {
        let (Some(passage), Some(train)) = (passage, &trains[way]) else { continue };
        let (sent, seen) = (passage.sent_ns.len() as u64, ledgers[way].tally.packets_in);
        ensure!(sent == seen, "{sent} probes were sent but the link saw {seen} packets: something else sends on it");
        let fates = foretell(course, way, train.bytes, passage.sent_ns.iter().map(|t| t - zero_ns));
        passed[way] = Some(Passed { passage, fates, zero_ns, bytes: train.bytes });
    }
    Ok(passed)
}

fn foretell(course: &Course, way: usize, bytes: u32, times: impl Iterator<Item = u64>) -> Vec<Fate> {
    let mut path = course.path(way);
    times.map(|now| path.offer(now, Packet { bytes, udp: true })).collect()
}

/// How long after the last packet of a train there is something to receive.
fn tail_ns(course: &Course, way: usize, train: &Train) -> u64 {
    let last_sent = train.offsets_ns.last().copied().unwrap_or(0);
    let arrivals = foretell(course, way, train.bytes, train.offsets_ns.iter().copied());
    let last = arrivals.iter().filter_map(|fate| match fate {
        Fate::Deliver { at, copy } => Some(copy.unwrap_or(*at).max(*at)),
        _ => None,
    });
    last.max().unwrap_or(0).saturating_sub(last_sent) + PATIENCE_NS
}

/// 200 well separated packets for the delay, then more for the loss: all far below the rate, so that none waits.
fn pulse(direction: &Direction) -> Train {
    let apart = 2 * serialization_ns(direction, SMALLEST);
    let slow = apart.max(DELAY_INTERVAL_NS);
    let fast = apart.max(LOSS_INTERVAL_NS);
    let first = DELAY_PROBES.min(BUDGET_NS / slow).max(1);
    let rest = (LOSS_PROBES - first).min(BUDGET_NS.saturating_sub(first * slow) / fast);
    let rest = if direction.loss.is_some() { rest } else { 0 };
    let gaps = (0..first).map(|_| slow).chain((0..rest).map(|_| fast));
    Train { bytes: SMALLEST, offsets_ns: offsets(gaps), catch_up: false, tail_ns: 0 }
}

/// A stream at 1.2 times the rate.
pub fn overload(direction: &Direction) -> Option<Train> {
    let bps = constant_bps(direction).filter(|bps| *bps <= FASTEST_BPS)?;
    // Small enough for a slow link to serve some tens of packets.
    let bytes = ((bps as f64 * 0.004 / 8.0) as u32).clamp(2 * SMALLEST, MTU);
    if queue_packets(direction, bytes).is_some_and(|n| n < SHORTEST_QUEUE) {
        return None;
    }
    let gap = (f64::from(bytes) * 8e9 / (bps as f64 * OFFERED_SHARE)) as u64;
    let count = (RATE_SPAN_NS / gap).max(8);
    Some(Train { bytes, offsets_ns: offsets((0..count).map(|_| gap)), catch_up: true, tail_ns: 0 })
}

/// Twice what the queue holds, at once.
fn flood(direction: &Direction) -> Option<Train> {
    let bps = constant_bps(direction).filter(|bps| *bps <= FASTEST_BPS)?;
    let packets = queue_packets(direction, MTU)?.max(1);
    if packets * u64::from(MTU) * 8 * 1000 / bps > LONGEST_DRAIN_NS / 1_000_000 {
        return None;
    }
    Some(Train { bytes: MTU, offsets_ns: vec![0; 2 * packets as usize], catch_up: true, tail_ns: 0 })
}

fn offsets(gaps: impl Iterator<Item = u64>) -> Vec<u64> {
    gaps.scan(0, |at, gap| Some(std::mem::replace(at, *at + gap))).collect()
}

fn constant_bps(direction: &Direction) -> Option<u64> {
    match direction.rate {
        Some(Rate::Constant { bps }) => Some(bps),
        _ => None,
    }
}

/// Time to serve a packet; of a trace, on average.
fn serialization_ns(direction: &Direction, bytes: u32) -> u64 {
    match &direction.rate {
        None => 0,
        Some(Rate::Constant { bps }) => u64::from(bytes) * 8_000_000_000 / bps,
        Some(Rate::Trace { trace_ms, .. }) => {
            trace_ms.last().copied().unwrap_or(0) * 1_000_000 / trace_ms.len().max(1) as u64
        }
    }
}

fn queue_packets(direction: &Direction, bytes: u32) -> Option<u64> {
    match direction.queue? {
        Queue::Bytes(limit) => Some(limit / u64::from(bytes)),
        Queue::Packets(limit) => Some(limit),
        Queue::Ns(limit) => Some(limit / serialization_ns(direction, bytes).max(1)),
    }
}

fn allowed(delay_ns: u64, least_ns: u64, share: f64) -> u64 {
    least_ns.max((delay_ns as f64 * share) as u64)
}

impl Passed {
    fn received(&self) -> BTreeSet<usize> {
        self.passage.arrivals.iter().map(|a| a.sequence).collect()
    }

    /// Measured less expected arrival of each packet that the model delivers, ns, sorted.
    pub fn delay_errors(&self, probes: usize) -> Vec<i64> {
        let expected = |sequence: usize| match self.fates.get(sequence) {
            Some(Fate::Deliver { at, .. }) => Some((self.zero_ns + at) as i64),
            _ => None,
        };
        let first = self.passage.arrivals.iter().filter(|a| a.sequence < probes);
        let mut errors: Vec<i64> = first.filter_map(|a| Some(a.at_ns as i64 - expected(a.sequence)?)).collect();
        errors.sort_unstable();
        errors
    }

    fn delay(&self) -> DelayCheck {
        let probes = self.fates.len().min(DELAY_PROBES as usize);
        let arrived = self.received().range(..probes).count();
        DelayCheck {
            probes: probes as u64,
            lost: (probes - arrived) as u64,
            error_ns: Quantiles::of(&self.delay_errors(probes)),
        }
    }

    pub fn loss(&self, direction: &Direction, seed: u64) -> Option<LossCheck> {
        let loss = direction.loss.as_ref()?;
        let sent = self.fates.len() as u64;
        let received = self.received();
        let lost: Vec<u64> = (0..sent).filter(|&i| !received.contains(&(i as usize))).collect();
        let expected = expected_losses(direction, seed, sent);
        let (low, high) = loss.count_interval(sent, tolerance::LOSS_CONFIDENCE);
        Some(LossCheck {
            sent,
            lost: lost.len() as u64,
            expected_lost: expected.len() as u64,
            low,
            high,
            identical: lost == expected,
        })
    }

    /// The slope of arrivals over time (least squares), so that one late packet does not count for much.
    pub fn rate(&self, configured_bps: u64) -> Option<RateCheck> {
        let arrivals = &self.passage.arrivals;
        let n = arrivals.len() as f64;
        if arrivals.len() < 3 {
            return None;
        }
        let first = arrivals[0].at_ns;
        let times: Vec<f64> = arrivals.iter().map(|a| (a.at_ns - first) as f64).collect();
        let (mean_i, mean_t) = ((n - 1.0) / 2.0, times.iter().sum::<f64>() / n);
        let covariance: f64 = times.iter().enumerate().map(|(i, t)| (i as f64 - mean_i) * (t - mean_t)).sum();
        let variance = n * (n * n - 1.0) / 12.0;
        let ns_per_packet = covariance / variance;
        let measured_bps = (f64::from(self.bytes) * 8e9 / ns_per_packet) as u64;
        Some(RateCheck { configured_bps, measured_bps })
    }

    fn burst(&self) -> BurstCheck {
        BurstCheck {
            sent: self.fates.len() as u64,
            delivered: self.received().len() as u64,
            expected: self.fates.iter().filter(|f| matches!(f, Fate::Deliver { .. })).count() as u64,
        }
    }
}

impl Quantiles {
    /// Of a sorted list.
    pub fn of(sorted: &[i64]) -> Option<Self> {
        let at = |q: f64| sorted.get(((sorted.len() as f64 * q).ceil() as usize).saturating_sub(1)).copied();
        Some(Self { p50: at(0.5)?, p99: at(0.99)?, max: *sorted.last()? })
    }
}

impl DelayCheck {
    fn failure(&self, direction: &Direction) -> Option<String> {
        let error = self.error_ns.as_ref()?;
        let limits = [
            ("p50", error.p50, allowed(direction.delay_ns, tolerance::DELAY_P50_NS, tolerance::DELAY_P50_SHARE)),
            ("p99", error.p99, allowed(direction.delay_ns, tolerance::DELAY_P99_NS, tolerance::DELAY_P99_SHARE)),
        ];
        let (name, error, limit) = limits.into_iter().find(|(_, error, limit)| error.unsigned_abs() > *limit)?;
        Some(format!("the delay is off by {:.2} ms ({name}), allowed are {:.2} ms", error as f64 / 1e6, limit as f64 / 1e6))
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
    fn failure(&self, bps: u64) -> Option<String> {
        let served = tolerance::BURST_NS * bps / (u64::from(MTU) * 8_000_000_000);
        (self.delivered.abs_diff(self.expected) > served.max(tolerance::BURST_PACKETS)).then(|| {
            format!("of a burst of {} packets {} were delivered, the queue admits {}", self.sent, self.delivered, self.expected)
        })
    }
}
