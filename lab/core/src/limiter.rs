//! When a packet has been served at the rate.

use crate::direction::{Direction, Rate};
use crate::progress::Progress;
use crate::timeline::Timeline;
use crate::trace::Trace;

/// The virtual clock of the rate.
pub(crate) struct Limiter {
    services: Timeline<Service>,
    /// When the last packet's service ended, ns.
    clock: u64,
}

/// Work is counted in bits x ns/s: a rate of n bit/s does n units of it each nanosecond.
const WORK_PER_BYTE: u128 = 8 * 1_000_000_000;

enum Service {
    Unlimited,
    Constant(Constant),
    Trace(Trace),
}

impl Limiter {
    pub fn new(direction: &Direction) -> Self {
        let first = match &direction.rate {
            Some(rate) => Service::new(rate, 0),
            None => Service::Unlimited,
        };
        let changes = direction.changes.iter().filter_map(|change| {
            let rate = change.rate.as_ref()?;
            Some((change.at_ns, Service::new(rate, change.at_ns)))
        });
        Limiter { services: Timeline::new(first, changes), clock: 0 }
    }

    /// Is busy until the other one is, whose clock shows `zero` when this one's begins.
    pub fn follow(&mut self, other: &Limiter, zero: u64) {
        self.clock = other.clock.saturating_sub(zero);
    }

    /// When the link is free for a packet that arrives at `now`, ns.
    pub fn free_at(&self, now: u64) -> u64 {
        now.max(self.clock)
    }

    /// Serves a packet that arrives at `now`; returns its departure, ns (rounded up).
    pub fn serve(&mut self, now: u64, bytes: u32) -> u64 {
        let mut start = self.free_at(now);
        let mut work = u128::from(bytes) * WORK_PER_BYTE;
        self.clock = loop {
            let (service, until) = self.services.at(start);
            let until = until.unwrap_or(u64::MAX);
            match service.serve(start, until, work) {
                Progress::Done(end) => break end,
                Progress::Left(left) => (start, work) = (until, left),
            }
        };
        self.clock
    }
}

impl Service {
    /// A rate that comes into force at `from`, ns.
    fn new(rate: &Rate, from: u64) -> Self {
        match rate {
            Rate::Constant { bps } | Rate::Bucket { bps, .. } => Service::Constant(Constant::new(*bps)),
            Rate::Trace { trace_ms, opportunity_bytes } => {
                Service::Trace(Trace::new(from, trace_ms.clone(), u128::from(*opportunity_bytes) * WORK_PER_BYTE))
            }
        }
    }

    /// Does `work` from `start` on, as far as it gets before `until`, ns.
    fn serve(&mut self, start: u64, until: u64, work: u128) -> Progress {
        match self {
            Service::Unlimited => Progress::Done(start),
            Service::Constant(constant) => constant.serve(start, until, work),
            Service::Trace(trace) => trace.serve(start, until, work),
        }
    }
}

/// A constant rate. What a packet leaves of its last nanosecond serves the next one if that is waiting
/// already, so that rounding up does not slow the rate down.
struct Constant {
    bps: u128,
    /// When the last service ended, ns.
    end: u64,
    /// Work left in the nanosecond before that.
    spare: u128,
}

impl Constant {
    fn new(bps: u64) -> Self {
        Constant { bps: u128::from(bps), end: 0, spare: 0 }
    }

    fn serve(&mut self, start: u64, until: u64, work: u128) -> Progress {
        if start > self.end {
            self.spare = 0;
        }
        let time = work.saturating_sub(self.spare).div_ceil(self.bps);
        let available = u128::from(until - start);
        if time > available && until < u64::MAX {
            return Progress::Left(work - self.spare - available * self.bps);
        }
        self.spare = self.spare + time * self.bps - work;
        self.end = start.saturating_add(u64::try_from(time).unwrap_or(u64::MAX));
        Progress::Done(self.end)
    }
}
