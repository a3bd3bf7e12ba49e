//! PIE (RFC 8033), with the arithmetic of Linux: time in units of 64 ns, probabilities as fractions of 2^56.

use super::codel::MTU;
use super::{Discipline, Timer};
use crate::backlog::Backlog;
use crate::item::Item;
use crate::parameters::PieParameters;

/// Linux's unit of time in PIE, as a shift of ns.
const UNIT: u32 = 6;
/// A probability of 1.
const CERTAIN: u64 = u64::MAX >> 8;
/// A probability of a hundredth.
pub(crate) const PER_CENT: u64 = CERTAIN / 100;
const UNITS_PER_S: u64 = 1_000_000_000 >> UNIT;
/// With a shorter burst, after a quiet time, nothing is dropped.
const BURST: u64 = 150_000_000 >> UNIT;
/// A longer wait raises the probability at once.
const LONG: u64 = 250_000_000 >> UNIT;
/// Bytes that have to leave for one estimate of the rate, and have to wait for it to begin.
const ESTIMATED: u64 = 16_384;
/// Of estimated rates, as a shift.
const SCALE: u32 = 8;

/// PIE's state: one for each queue that it controls.
#[derive(Clone, Copy, PartialEq, Default)]
pub(crate) struct Control {
    /// The wait as it is now, and as it was at the calculation before, in units.
    delay: u64,
    old_delay: u64,
    /// How much of the burst is over in which nothing is dropped, in units.
    burst: u64,
    probability: u64,
    /// What the packets since the last drop add up to.
    accumulated: u64,
    /// When a packet left last, or the measurement of the rate began.
    stamp: Option<u64>,
    /// Bytes that have left since then, while the rate is measured.
    counted: Option<u64>,
    /// Bytes in a unit of time, scaled.
    rate: u32,
}

/// PIE's parameters in its units.
#[derive(Clone, Copy)]
pub(crate) struct Law {
    target: u64,
    alpha: u64,
    beta: u64,
    /// The probability up to which packets are marked, if they are.
    mark_below: Option<u64>,
    by_size: bool,
    estimates: bool,
}

impl Law {
    pub fn new(parameters: PieParameters, mark_below: u64) -> Self {
        let factor = |value: u32| (u64::from(value) * (CERTAIN / UNITS_PER_S)) >> 4;
        Law {
            target: parameters.target_ns >> UNIT,
            alpha: factor(parameters.alpha),
            beta: factor(parameters.beta),
            mark_below: parameters.ecn.then_some(mark_below),
            by_size: parameters.bytemode,
            estimates: parameters.dq_rate_estimator,
        }
    }

    /// The factors of a calculation: the smaller, the smaller the probability is.
    fn factors(&self, probability: u64) -> (u64, u64) {
        if probability >= CERTAIN / 10 {
            return (self.alpha, self.beta);
        }
        let (mut shift, mut power) = (1, 100);
        while probability < CERTAIN / power && power <= 1_000_000 {
            shift += 2;
            power *= 10;
        }
        (self.alpha >> shift, self.beta >> shift)
    }
}

impl Control {
    /// Whether a packet that arrives while `backlog` bytes wait may be queued, marked or not.
    pub fn admits(&mut self, law: &Law, backlog: u64, item: &mut Item) -> bool {
        let admitted = !self.strikes(law, backlog, item)
            || law.mark_below.is_some_and(|most| self.probability <= most) && item.mark();
        if !admitted {
            self.refuse();
        }
        admitted
    }

    /// Notes that a packet was dropped.
    pub fn refuse(&mut self) {
        self.accumulated = 0;
    }

    /// Whether it is this packet's turn to be dropped or marked.
    fn strikes(&mut self, law: &Law, backlog: u64, item: &Item) -> bool {
        let calm = self.delay < law.target / 2 && self.probability < CERTAIN / 5;
        if self.burst < BURST || calm || backlog < 2 * MTU {
            return false;
        }
        let size = u64::from(item.packet.bytes);
        let probability = if law.by_size && size <= MTU { size * (self.probability / MTU) } else { self.probability };
        self.accumulated = match probability {
            0 => 0,
            more => self.accumulated.wrapping_add(more),
        };
        if self.accumulated < PER_CENT * 85 {
            return false;
        }
        if self.accumulated >= CERTAIN / 2 * 17 {
            return true;
        }
        let struck = item.draws.queue >> 8 < probability;
        if struck {
            self.accumulated = 0;
        }
        struck
    }

    /// Notes that a packet leaves the queue at `now`, ns, and `backlog` bytes stay.
    pub fn leave(&mut self, law: &Law, now: u64, backlog: u64, item: &Item) {
        let now = now >> UNIT;
        let since = |stamp: Option<u64>| stamp.map_or(0, |at| now.wrapping_sub(at) as u32);
        let time = if law.estimates {
            if backlog >= ESTIMATED && self.counted.is_none() {
                (self.stamp, self.counted) = (Some(now), Some(0));
            }
            let Some(counted) = &mut self.counted else {
                return;
            };
            *counted += u64::from(item.packet.bytes);
            let time = since(self.stamp);
            if *counted < ESTIMATED || time == 0 {
                return;
            }
            let rate = ((*counted as u32) << SCALE) / time;
            self.rate = match self.rate {
                0 => rate,
                before => before - (before >> 3) + (rate >> 3),
            };
            self.counted = None;
            if backlog >= ESTIMATED {
                (self.stamp, self.counted) = (Some(now), Some(0));
            }
            time
        } else {
            let waited = now.wrapping_sub(item.entered >> UNIT);
            self.delay = if backlog > 0 { waited } else { 0 };
            since(self.stamp.replace(now))
        };
        self.burst = (self.burst + u64::from(time)).min(BURST);
    }

    /// Calculates the probability so many times, with so many bytes waiting.
    pub fn calculate(&mut self, law: &Law, backlog: u64, times: u64) {
        for _ in 0..times {
            let before = *self;
            self.calculate_once(law, backlog as u32);
            if *self == before {
                break;
            }
        }
    }

    fn calculate_once(&mut self, law: &Law, backlog: u32) {
        let (delay, before) = if law.estimates {
            self.old_delay = self.delay;
            let delay = (backlog << SCALE).checked_div(self.rate).unwrap_or(0);
            (u64::from(delay), self.delay)
        } else {
            (self.delay, self.old_delay)
        };
        let (alpha, beta) = law.factors(self.probability);
        let mut delta = alpha
            .wrapping_mul(delay.wrapping_sub(law.target))
            .wrapping_add(beta.wrapping_mul(delay.wrapping_sub(before)))
            .cast_signed();
        if delta > (CERTAIN / 50) as i64 && self.probability >= CERTAIN / 10 {
            delta = (PER_CENT * 2) as i64;
        }
        if delay > LONG {
            delta = delta.wrapping_add((CERTAIN / 50) as i64);
        }
        // A wait of 0 with something waiting says nothing.
        let mut idle = delay == 0 && before == 0 && backlog == 0;
        let old = self.probability;
        self.probability = old.wrapping_add_signed(delta);
        if delta > 0 && self.probability < old {
            self.probability = CERTAIN;
            idle = false;
        } else if delta <= 0 && self.probability > old {
            self.probability = 0;
        }
        if idle {
            self.probability -= self.probability / 64;
        }
        self.delay = delay;
        let calm = delay < law.target / 2 && self.old_delay < law.target / 2;
        if calm && self.probability == 0 && (!law.estimates || self.rate > 0) {
            *self = Control { delay, old_delay: self.old_delay, ..Control::default() };
        }
        if !law.estimates {
            self.old_delay = delay;
        }
    }
}

/// One queue under PIE.
pub(crate) struct Pie {
    law: Law,
    timer: Timer,
    control: Control,
    limit: usize,
    backlog: Backlog,
}

impl Pie {
    pub fn new(parameters: PieParameters) -> Self {
        Pie {
            law: Law::new(parameters, CERTAIN / 10),
            timer: Timer::new(parameters.tupdate_ns),
            control: Control::default(),
            limit: parameters.limit as usize,
            backlog: Backlog::default(),
        }
    }

    fn bytes(&self, ahead: Option<&Item>) -> u64 {
        self.backlog.bytes() + ahead.map_or(0, |item| item.packet.bytes.into())
    }
}

impl Discipline for Pie {
    fn enqueue(&mut self, _now: u64, mut item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>) {
        let bytes = self.bytes(ahead);
        if self.backlog.len() + usize::from(ahead.is_some()) >= self.limit {
            self.control.refuse();
            dropped.push(item);
        } else if self.control.admits(&self.law, bytes, &mut item) {
            self.backlog.push(item);
        } else {
            dropped.push(item);
        }
    }

    fn dequeue(&mut self, now: u64, _dropped: &mut Vec<Item>) -> Option<Item> {
        let item = self.backlog.pop()?;
        self.control.leave(&self.law, now, self.backlog.bytes(), &item);
        Some(item)
    }

    fn is_empty(&self) -> bool {
        self.backlog.is_empty()
    }

    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_> {
        Box::new(self.backlog.items_mut())
    }

    fn pass(&mut self, now: u64, ahead: Option<&Item>) {
        let times = self.timer.due(now);
        self.control.calculate(&self.law, self.bytes(ahead), times);
    }
}
