//! Trains that have passed a link, measured against what the model foretells of them: the model is offered the packets
//! at the times at which they arrived, as the kernel stamped them, so that a sender which is late itself does not count.

use std::collections::BTreeSet;

use anyhow::ensure;
use h123_link::{Direction, Fate, Packet, expected_losses};
use serde::Serialize;

use crate::check::probe::{Endpoint, Passage, exchange};
use crate::check::train::{DELAY_PROBES, Train};
use crate::files::trial::MOST_PACKETS;
use crate::link::course::Course;
use crate::link::emulated::Emulated;
use crate::link::packet_record::Keep;

/// Receivers listen this much longer than the model says: as long as a machine may stall and still deliver all.
const PATIENCE_NS: u64 = 50_000_000;
/// A train that takes longer is not sent: a minute's delay with its jitter has passed by then.
pub const LONGEST_NS: u64 = 120_000_000_000;
const LOSS_CONFIDENCE: f64 = 0.999;

#[derive(Debug, Serialize)]
pub struct DelayCheck {
    pub probes: u64,
    pub lost: u64,
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
    pub sent: u64,
    pub delivered: u64,
    pub expected: u64,
}

/// A train that has passed the link, and what the model says of it.
pub struct TrainOutcome {
    passage: Passage,
    /// From when on a packet's delay counts, ns since `zero_ns`: when the kernel stamped it; without stamps, when it was sent.
    counted_from: Vec<u64>,
    /// When the link saw it, ns since `zero_ns`.
    arrivals: Vec<u64>,
    fates: Vec<Fate>,
    zero_ns: u64,
    bytes: u32,
}

/// What came of both directions' trains.
#[derive(Default)]
pub struct TrainOutcomes {
    pub outcomes: [Option<TrainOutcome>; 2],
    /// How long a train that was not sent would have taken, ns.
    pub too_long_ns: [Option<u64>; 2],
}

/// Puts the link on a fresh course and sends both directions' trains, but for one that would take too long.
pub fn send_trains(
    emulated: &mut Emulated,
    ends: [Endpoint; 2],
    course: &Course,
    train: impl Fn(&Direction) -> Option<Train>,
) -> anyhow::Result<TrainOutcomes> {
    let mut all = TrainOutcomes::default();
    let trains = [0, 1].map(|way| {
        let train = train(course.direction(way))?;
        let planned = plan(course, way, train);
        all.too_long_ns[way] = planned.as_ref().err().copied();
        planned.ok()
    });
    if trains.iter().all(Option::is_none) {
        return Ok(all);
    }
    let zero_ns = emulated.link.begin(&course.recording(Keep { most: MOST_PACKETS, ..Keep::default() }))?.zero_ns;
    let passages = exchange(ends, [trains[0].as_ref(), trains[1].as_ref()])?;
    let recorded = emulated.link.begin(course)?.packets;
    for (way, passage) in passages.into_iter().enumerate() {
        let (Some(passage), Some(train)) = (passage, &trains[way]) else {
            continue;
        };
        let seen = recorded.iter().flat_map(|packets| packets.arrivals(way));
        let arrivals: Vec<u64> = seen.map(|at| at - zero_ns).collect();
        let (sent, seen) = (passage.sent_ns.len(), arrivals.len());
        ensure!(sent == seen, "{sent} probes were sent but the link saw {seen} packets: something else sends on it");
        let stamps = emulated.link.stamps;
        all.outcomes[way] = Some(TrainOutcome::new(course, way, train, passage, arrivals, zero_ns, stamps));
    }
    Ok(all)
}

/// The train with the time to listen for it; how long it would take, ns, if that is too long.
pub fn plan(course: &Course, way: usize, mut train: Train) -> Result<Train, u64> {
    train.tail_ns = tail_ns(course, way, &train);
    match train.takes_ns() {
        takes_ns if takes_ns > LONGEST_NS => Err(takes_ns),
        _ => Ok(train),
    }
}

fn foretell(course: &Course, way: usize, bytes: u32, times: impl Iterator<Item = u64>) -> Vec<Fate> {
    let packet = Packet { bytes, udp: true, ..Packet::default() };
    let decisions = course.path(way).decisions(times.map(|now| (now, packet)));
    decisions.into_iter().map(|decision| decision.fate).collect()
}

/// How long after the last packet of a train there is something to receive.
fn tail_ns(course: &Course, way: usize, train: &Train) -> u64 {
    let arrivals = foretell(course, way, train.bytes, train.offsets_ns.iter().copied());
    let last = arrivals.iter().filter_map(|fate| match fate {
        Fate::Deliver { at, copy } => Some(copy.unwrap_or(*at).max(*at)),
        _ => None,
    });
    let last = last.max().unwrap_or(0);
    last.saturating_sub(train.last_sent_ns()).saturating_add(PATIENCE_NS)
}

impl TrainOutcome {
    /// `stamps`: whether the arrivals at the link are the kernel's.
    pub fn new(
        course: &Course,
        way: usize,
        train: &Train,
        passage: Passage,
        arrivals: Vec<u64>,
        zero_ns: u64,
        stamps: bool,
    ) -> Self {
        let sent = passage.sent_ns.iter().map(|t| t - zero_ns);
        Self {
            counted_from: if stamps { arrivals.clone() } else { sent.collect() },
            fates: foretell(course, way, train.bytes, arrivals.iter().copied()),
            arrivals,
            passage,
            zero_ns,
            bytes: train.bytes,
        }
    }

    fn received(&self) -> BTreeSet<usize> {
        self.passage.arrivals.iter().map(|a| a.sequence).collect()
    }

    /// Measured less expected arrival of each packet that the model delivers, ns, sorted.
    pub fn delay_errors(&self, probes: usize) -> Vec<i64> {
        let expected = |sequence: usize| match self.fates.get(sequence) {
            Some(Fate::Deliver { at, .. }) => {
                let underway = at - self.arrivals[sequence];
                Some((self.zero_ns + self.counted_from[sequence] + underway) as i64)
            }
            _ => None,
        };
        let first = self.passage.arrivals.iter().filter(|a| a.sequence < probes);
        let mut errors: Vec<i64> = first.filter_map(|a| Some(a.at_ns as i64 - expected(a.sequence)?)).collect();
        errors.sort_unstable();
        errors
    }

    pub fn delay(&self) -> DelayCheck {
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
        let expected = expected_losses(direction, seed, sent, self.bytes);
        let (low, high) = loss.count_interval(sent, LOSS_CONFIDENCE);
        Some(LossCheck {
            sent,
            lost: lost.len() as u64,
            expected_lost: expected.len() as u64,
            low,
            high,
            identical: lost == expected,
        })
    }

    /// From the median time between a packet and the one half a train later, so that a stall which delayed some of them
    /// does not count.
    pub fn rate(&self, configured_bps: u64) -> Option<RateCheck> {
        let arrivals = &self.passage.arrivals;
        let half = arrivals.len() / 2;
        let later = arrivals.iter().skip(half.max(1));
        let mut spans: Vec<u64> =
            arrivals.iter().zip(later).map(|(earlier, later)| later.at_ns.saturating_sub(earlier.at_ns)).collect();
        spans.sort_unstable();
        let ns_per_packet = *spans.get(spans.len() / 2)? as f64 / half.max(1) as f64;
        let measured_bps = (f64::from(self.bytes) * 8e9 / ns_per_packet) as u64;
        Some(RateCheck { configured_bps, measured_bps })
    }

    pub fn burst(&self) -> BurstCheck {
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
