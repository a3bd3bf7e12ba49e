//! RED (S. Floyd and V. Jacobson, "Random early detection gateways for congestion avoidance", 1993), with the arithmetic of
//! Linux and of `tc`, which turns the parameters into shifts and a table.

use super::{Discipline, Timer};
use crate::backlog::Backlog;
use crate::item::Item;
use crate::parameters::RedParameters;

const STEPS: usize = 256;
/// `tc` counts the time of a packet in units of 64 ns, where Linux then has microseconds.
const UNITS_PER_US: f64 = 15.625;
const NS_PER_US: u64 = 1000;
/// How often the probability adapts.
const ADAPTS_NS: u64 = 500_000_000;
/// A hundredth, as a fraction of 2^32.
const PER_CENT: u32 = 42_949_673;

/// RED's parameters as Linux has them. Averages have `weight` bits behind the point.
pub(crate) struct Law {
    min: u64,
    max: u64,
    weight: u32,
    /// By how many bits the average falls while nothing waits: an entry for each `cell` bits of microseconds.
    falls: [u8; STEPS],
    cell: u32,
    /// The probability at the upper threshold, as a fraction of 2^32.
    probability: u32,
    /// It adapts to keep the average between these, bytes.
    aim: (u64, u64),
    ecn: bool,
    harddrop: bool,
    nodrop: bool,
    adaptive: bool,
}

impl Law {
    /// Of parameters that work together; otherwise the field that does not fit, and what it may be.
    pub fn new(parameters: RedParameters) -> Result<Self, (&'static str, &'static str)> {
        let RedParameters { min, max, .. } = parameters;
        if min >= max {
            return Err(("min", "less than max"));
        }
        let span = max - min;
        // Linux's range of probabilities is that of an older form: (max - min) / 2^n.
        let fits = (2f64).powi(31) * parameters.probability > span.into();
        if !(fits && parameters.probability < 1.0) {
            return Err(("probability", "less than 1, and more than (max - min) / 2^31"));
        }
        let bits = |weight: &u32| u32::BITS - max.leading_zeros() + weight;
        let weight = weight(parameters)
            .filter(|weight| bits(weight) < u32::BITS)
            .ok_or(("burst", "min / avpkt or some more, with min more than avpkt, or the average cannot follow"))?;
        let (cell, falls) =
            falls(parameters, weight).ok_or(("bandwidth_bps", "larger with such packets and such a burst"))?;
        let fifth = span / 5;
        Ok(Law {
            min: u64::from(min) << weight,
            max: u64::from(max) << weight,
            weight,
            falls,
            cell,
            probability: (parameters.probability * (2f64).powi(32)) as u32,
            aim: ((min + 2 * fifth).into(), (min + 3 * fifth).into()),
            ecn: parameters.ecn,
            harddrop: parameters.harddrop,
            nodrop: parameters.nodrop,
            adaptive: parameters.adaptive,
        })
    }

    /// The average after a quiet time of so many ns.
    fn fallen(&self, average: u64, ns: u64) -> u64 {
        let us = (ns / NS_PER_US).min(255 << self.cell);
        match self.falls[(us >> self.cell) as usize % STEPS] {
            0 => {
                let fall = average.wrapping_mul(us) >> self.cell;
                let half = average / 2;
                if fall < half { average - fall } else { half }
            }
            shift => average >> shift,
        }
    }
}

/// The least weight of a packet, 1 / 2^n, with which a burst from an empty queue stays below `min`.
fn weight(parameters: RedParameters) -> Option<u32> {
    let burst = f64::from(parameters.burst);
    let packets = burst + 1.0 - f64::from(parameters.min) / f64::from(parameters.avpkt);
    if packets < 1.0 {
        return None;
    }
    (1..32).find(|&n| {
        let weight = (0.5f64).powi(n as i32);
        packets <= (1.0 - (1.0 - weight).powf(burst)) / weight
    })
}

/// The bits of microseconds that share an entry, and the entries.
fn falls(parameters: RedParameters, weight: u32) -> Option<(u32, [u8; STEPS])> {
    let bytes_per_s = (parameters.bandwidth_bps / 8) as f64;
    let us = (1e6 * (f64::from(parameters.avpkt) / bytes_per_s)) as u32;
    let packet = (f64::from(us) * UNITS_PER_US) as u32;
    let rate = -(1.0 - 1.0 / f64::from(1u32 << weight)).ln() / f64::from(packet);
    let longest = 31.0 / rate;
    let cell = (0..32).find(|&cell| longest / f64::from(1u32 << cell) < 512.0)?;
    let mut entries = [31; STEPS];
    for (step, entry) in entries.iter_mut().enumerate().take(STEPS - 1) {
        *entry = ((((step as u64) << cell) as f64 * rate) as u8).min(31);
    }
    Some((cell, entries))
}

/// What becomes of a packet that arrives.
enum Verdict {
    Pass,
    /// By chance.
    Early,
    /// Because the average is too long.
    Forced,
}

pub(crate) struct Red {
    law: Law,
    timer: Timer,
    limit: u64,
    backlog: Backlog,
    average: u64,
    /// Packets since the last draw; None: none is in use.
    since: Option<u64>,
    drawn: u32,
    /// What is drawn is less than 2^32 / this.
    divisor: u32,
    /// Since when nothing waits, ns.
    idle: Option<u64>,
    idles: bool,
}

impl Red {
    /// `idles`: the queue is asked for a packet when nothing waits. Linux's TBF does not ask then, so that the average behind
    /// a token bucket does not fall by itself.
    pub fn new(parameters: RedParameters, idles: bool) -> Self {
        let law = Law::new(parameters).expect("valid");
        Red {
            timer: Timer::new(ADAPTS_NS),
            limit: parameters.limit.into(),
            backlog: Backlog::default(),
            average: 0,
            since: None,
            drawn: 0,
            divisor: (law.probability / (parameters.max - parameters.min)).max(1),
            idle: None,
            idles,
            law,
        }
    }

    fn average_at(&self, now: u64) -> u64 {
        self.idle.map_or(self.average, |from| self.law.fallen(self.average, now.saturating_sub(from)))
    }

    /// Of a packet with this draw.
    fn judge(&mut self, draw: u64) -> Verdict {
        if self.average < self.law.min {
            self.since = None;
            return Verdict::Pass;
        }
        if self.average >= self.law.max {
            self.since = None;
            return Verdict::Forced;
        }
        let draw = (draw >> 32) as u32 / self.divisor;
        let Some(since) = &mut self.since else {
            (self.since, self.drawn) = (Some(0), draw);
            return Verdict::Pass;
        };
        *since += 1;
        if ((self.average - self.law.min) >> self.law.weight) * *since < self.drawn.into() {
            return Verdict::Pass;
        }
        (self.since, self.drawn) = (Some(0), draw);
        Verdict::Early
    }

    /// The probability follows the average.
    fn adapt(&mut self, now: u64) {
        let average = self.average_at(now) >> self.law.weight;
        let probability = &mut self.law.probability;
        if average > self.law.aim.1 && *probability <= 50 * PER_CENT {
            *probability += PER_CENT.min(*probability / 4);
        } else if average < self.law.aim.0 && *probability >= PER_CENT {
            *probability = *probability / 10 * 9;
        }
        let span = ((self.law.max - self.law.min) >> self.law.weight) as u32;
        self.divisor = (probability.wrapping_add(span / 2) / span).max(1);
    }
}

impl Discipline for Red {
    fn enqueue(&mut self, now: u64, mut item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>) {
        let waiting = self.backlog.bytes() + ahead.map_or(0, |item| item.packet.bytes.into());
        self.average = match self.idle {
            Some(_) => self.average_at(now),
            None => self.average + waiting - (self.average >> self.law.weight),
        };
        self.idle = None;
        let verdict = self.judge(item.draws.queue);
        let law = &self.law;
        let kept = match verdict {
            Verdict::Pass => true,
            Verdict::Forced if law.harddrop => false,
            _ => law.ecn && (item.mark() || law.nodrop),
        };
        if kept && waiting + u64::from(item.packet.bytes) <= self.limit {
            self.backlog.push(item);
        } else {
            dropped.push(item);
        }
    }

    fn dequeue(&mut self, now: u64, _dropped: &mut Vec<Item>) -> Option<Item> {
        let item = self.backlog.pop();
        if item.is_none() && self.idles {
            self.idle = self.idle.or(Some(now));
        }
        item
    }

    fn is_empty(&self) -> bool {
        self.backlog.is_empty()
    }

    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_> {
        Box::new(self.backlog.items_mut())
    }

    fn pass(&mut self, now: u64, _ahead: Option<&Item>) {
        let first = self.timer.next;
        for time in 0..self.timer.due(now) {
            if self.law.adaptive {
                self.adapt(first + time * ADAPTS_NS);
            }
        }
    }
}
