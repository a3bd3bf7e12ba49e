//! DualPI2 (RFC 9332), with the arithmetic of Linux: a queue for classic traffic and one for scalable traffic (L4S, RFC 9331),
//! coupled by one probability, a fraction of 2^32 - 1.

use super::codel::MTU;
use super::{Discipline, Timer};
use crate::backlog::Backlog;
use crate::fate::Ecn;
use crate::item::Item;
use crate::parameters::DualPi2Parameters;

/// A probability of 1.
const CERTAIN: u32 = u32::MAX;
/// The gains are in units of 256 ns for `tc`, and of 64 ns here.
const GAIN_SHIFT: u32 = 2;
/// Delays times gains, as a divisor.
const DELTA_UNIT: u64 = 64;
const NS_PER_S: u64 = 1_000_000_000;
/// Of both queues' weights, in per cent.
const WEIGHTS: i32 = 100;

pub(crate) struct DualPi2 {
    parameters: DualPi2Parameters,
    alpha: i64,
    beta: i64,
    timer: Timer,
    classic: Backlog,
    scalable: Backlog,
    probability: u32,
    /// The longer wait of both queues' heads at the last calculation, ns.
    delay: u64,
    /// Whose turn it is when both wait: the scalable queue's unless it is positive.
    credit: i32,
}

impl DualPi2 {
    pub fn new(parameters: DualPi2Parameters) -> Self {
        let gain = |value: u32| {
            let scaled = (u64::from(value) * u64::from(CERTAIN)) >> GAIN_SHIFT;
            (scaled / NS_PER_S) as i64
        };
        let mut queue = DualPi2 {
            alpha: gain(parameters.alpha),
            beta: gain(parameters.beta),
            timer: Timer::new(parameters.tupdate_ns),
            parameters,
            classic: Backlog::default(),
            scalable: Backlog::default(),
            probability: 0,
            delay: 0,
            credit: 0,
        };
        queue.reset_credit();
        queue
    }

    fn reset_credit(&mut self) {
        let classic = i32::from(self.parameters.classic_protection);
        self.credit = MTU as i32 * (classic - (WEIGHTS - classic));
    }

    fn packets(&self) -> usize {
        self.classic.len() + self.scalable.len()
    }

    fn bytes(&self) -> u64 {
        self.classic.bytes() + self.scalable.bytes()
    }

    /// The packet whose turn it is, whether it is a scalable one, and what sending it does to the credit.
    fn take(&mut self) -> Option<(Item, bool, i32)> {
        let (classic, scalable) = (!self.classic.is_empty(), !self.scalable.is_empty());
        let weight = i32::from(self.parameters.classic_protection);
        if scalable && (!classic || self.credit <= 0) {
            let item = self.scalable.pop()?;
            let weight = if classic { weight } else { 0 };
            let change = weight.wrapping_mul(item.packet.bytes as i32);
            return Some((item, true, change));
        }
        let Some(item) = self.classic.pop() else {
            self.reset_credit();
            return None;
        };
        let weight = if scalable { weight - WEIGHTS } else { 0 };
        let change = weight.wrapping_mul(item.packet.bytes as i32);
        Some((item, false, change))
    }

    /// Whether a packet must be dropped with `backlog` bytes behind it; it may be marked instead.
    fn must_drop(&self, backlog: u64, item: &mut Item) -> bool {
        if backlog < 2 * MTU {
            return false;
        }
        let coupled = u64::from(self.probability) * u64::from(self.parameters.coupling_factor);
        let overload = coupled > u64::from(CERTAIN);
        let capable = item.packet.ecn != Ecn::NotEct;
        let [first, second] = [item.draws.queue >> 32, item.draws.queue & u64::from(u32::MAX)];
        let squared = first.max(second) <= u64::from(self.probability);
        if !is_scalable(item) {
            if squared && (overload || !capable) {
                return true;
            }
            if squared {
                item.mark();
            }
            return false;
        }
        if overload && self.parameters.drop_overload && squared {
            return true;
        }
        if overload || first <= coupled {
            item.mark();
        }
        false
    }

    /// Whether a scalable packet has waited too long; the mark stays with it.
    fn mark_by_step(&self, now: u64, item: &mut Item) {
        if now - item.entered > self.parameters.step_thresh_ns {
            item.mark();
        }
    }

    /// Calculates the probability at a time, ns.
    fn calculate(&mut self, now: u64) {
        let wait = |queue: &Backlog| queue.first().map_or(0, |item| now - item.entered);
        let delay = wait(&self.classic).max(wait(&self.scalable));
        let signed = |ns: u64| ns as i64;
        let delta = (signed(delay) - signed(self.parameters.target_ns)).wrapping_mul(self.alpha);
        let trend = (signed(delay) - signed(self.delay)).wrapping_mul(self.beta);
        let delta = delta.wrapping_add(trend);
        self.delay = delay;
        let step = (delta.unsigned_abs() / DELTA_UNIT) as u32;
        let before = self.probability;
        let probability = if delta > 0 {
            let more = before.wrapping_add(step);
            if more < before { CERTAIN } else { more }
        } else {
            let less = before.wrapping_sub(step);
            if less > before { 0 } else { less }
        };
        self.probability = match self.parameters.drop_overload {
            true => probability,
            false => probability.min(CERTAIN / u32::from(self.parameters.coupling_factor)),
        };
    }
}

/// ECT(1) and CE say so.
fn is_scalable(item: &Item) -> bool {
    matches!(item.packet.ecn, Ecn::Ect1 | Ecn::Ce)
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, _now: u64, item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>) {
        if self.packets() + usize::from(ahead.is_some()) >= self.parameters.limit as usize {
            dropped.push(item);
        } else if is_scalable(&item) {
            self.scalable.push(item);
        } else {
            self.classic.push(item);
        }
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<Item>) -> Option<Item> {
        while let Some((mut item, scalable, change)) = self.take() {
            if self.must_drop(self.bytes(), &mut item) {
                dropped.push(item);
                continue;
            }
            if scalable {
                self.mark_by_step(now, &mut item);
            }
            self.credit = self.credit.wrapping_add(change);
            return Some(item);
        }
        None
    }

    fn is_empty(&self) -> bool {
        self.packets() == 0
    }

    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_> {
        Box::new(self.classic.items_mut().chain(self.scalable.items_mut()))
    }

    fn pass(&mut self, now: u64, _ahead: Option<&Item>) {
        let (first, every) = (self.timer.next, self.timer.every);
        for number in 0..self.timer.due(now) {
            let settled = self.is_empty() && self.probability == 0 && self.delay == 0;
            if settled {
                break;
            }
            self.calculate(first + number * every);
        }
    }
}
