//! Trains of probes: how many packets, of what size, when, for what a direction promises.

use h123_link::{Direction, Queue, Rate};

/// Of IPv4 and UDP.
pub const HEADERS: usize = 28;
const SEQUENCE: usize = 8;
/// The smallest probe, as an IP packet.
pub const SMALLEST: u32 = (HEADERS + SEQUENCE) as u32;
pub const MTU: u32 = 1500;
/// Of the train that measures the delay.
pub const DELAY_PROBES: u64 = 200;
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

/// Packets of one size.
pub struct Train {
    /// Size of the IP packets.
    pub bytes: u32,
    /// When each is sent, ns after the start, ascending.
    pub offsets_ns: Vec<u64>,
    /// A sender that is late sends the next ones at once; otherwise it keeps the distance.
    pub catch_up: bool,
    /// How long after the last packet the receiver listens, ns.
    pub tail_ns: u64,
}

impl Train {
    pub fn last_sent_ns(&self) -> u64 {
        self.offsets_ns.last().copied().unwrap_or(0)
    }

    /// From the first packet to the end of listening.
    pub fn takes_ns(&self) -> u64 {
        self.last_sent_ns().saturating_add(self.tail_ns)
    }
}

/// 200 well separated packets for the delay, then more for the loss: all far below the rate, so that none waits.
pub fn pulse(direction: &Direction) -> Train {
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
pub fn flood(direction: &Direction) -> Option<Train> {
    constant_bps(direction).filter(|bps| *bps <= FASTEST_BPS)?;
    let packets = queue_packets(direction, MTU)?.max(1);
    if packets.saturating_mul(serialization_ns(direction, MTU)) > LONGEST_DRAIN_NS {
        return None;
    }
    Some(Train { bytes: MTU, offsets_ns: vec![0; 2 * packets as usize], catch_up: true, tail_ns: 0 })
}

fn offsets(gaps: impl Iterator<Item = u64>) -> Vec<u64> {
    gaps.scan(0, |at, gap| Some(std::mem::replace(at, *at + gap))).collect()
}

pub fn constant_bps(direction: &Direction) -> Option<u64> {
    match direction.rate {
        Some(Rate::Constant { bps }) => Some(bps),
        _ => None,
    }
}

/// Time to serve a packet; of a trace, on average.
fn serialization_ns(direction: &Direction, bytes: u32) -> u64 {
    match &direction.rate {
        None => 0,
        Some(Rate::Constant { bps } | Rate::Bucket { bps, .. }) => u64::from(bytes) * 8_000_000_000 / bps,
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
        Queue::Codel(codel) => Some(codel.limit.into()),
        Queue::FqCodel(fq) => Some(fq.limit.into()),
        Queue::Pie(pie) => Some(pie.limit.into()),
        Queue::FqPie(fq) => Some(fq.limit.into()),
        Queue::DualPi2(dual) => Some(dual.limit.into()),
        Queue::Red(red) => Some((red.limit / bytes).into()),
        Queue::Cake(_) => None,
    }
}
