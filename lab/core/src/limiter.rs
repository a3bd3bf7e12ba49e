//! When a packet has been served at the rate.

use crate::direction::{Direction, Rate};
use crate::timeline::Timeline;
use crate::trace::Trace;

/// The virtual clock of the rate. It counts picoseconds: rounding a packet of 40 bytes up to the next
/// tick costs less than 1e-5 of any rate up to 3 Gbit/s.
pub(crate) struct Limiter {
    services: Timeline<Service>,
    /// When the last packet's service ended, ps.
    clock: u128,
}

pub(crate) const PS_PER_NS: u128 = 1_000;
/// Work is counted in bits x ps/s: a rate of n bit/s does n units of it each picosecond.
const WORK_PER_BYTE: u128 = 8 * 1_000_000_000_000;

enum Service {
    Unlimited,
    Constant { bps: u128 },
    Trace(Trace),
}

/// How far a service came with a packet before it went out of force.
pub(crate) enum Progress {
    /// It ended at this time, ps.
    Done(u128),
    /// This much work is left.
    Left(u128),
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
        Limiter {
            services: Timeline::new(first, changes),
            clock: 0,
        }
    }

    /// When the link is free for a packet that arrives at `now`, ns.
    pub fn free_at(&self, now: u64) -> u64 {
        now.max(ns_after(self.clock))
    }

    /// Serves a packet that arrives at `now`; returns its departure, ns (rounded up).
    pub fn serve(&mut self, now: u64, bytes: u32) -> u64 {
        let mut start = self.clock.max(u128::from(now) * PS_PER_NS);
        let mut work = u128::from(bytes) * WORK_PER_BYTE;
        loop {
            let (service, until) = self.services.at(ns_before(start));
            let until = until.map_or(u128::MAX, |ns| u128::from(ns) * PS_PER_NS);
            match service.serve(start, until, work) {
                Progress::Done(end) => {
                    self.clock = end;
                    return ns_after(end);
                }
                Progress::Left(left) => (start, work) = (until, left),
            }
        }
    }
}

impl Service {
    /// A rate that comes into force at `from`, ns.
    fn new(rate: &Rate, from: u64) -> Self {
        match rate {
            Rate::Constant { bps } => Service::Constant {
                bps: u128::from(*bps),
            },
            Rate::Trace {
                trace_ms,
                opportunity_bytes,
            } => Service::Trace(Trace::new(
                from,
                trace_ms.clone(),
                u128::from(*opportunity_bytes) * WORK_PER_BYTE,
            )),
        }
    }

    fn serve(&mut self, start: u128, until: u128, work: u128) -> Progress {
        match self {
            Service::Unlimited => Progress::Done(start),
            Service::Constant { bps } => {
                let end = start + work.div_ceil(*bps);
                if end <= until {
                    Progress::Done(end)
                } else {
                    Progress::Left(work - (until - start) * *bps)
                }
            }
            Service::Trace(trace) => trace.serve(start, until, work),
        }
    }
}

fn ns_before(ps: u128) -> u64 {
    u64::try_from(ps / PS_PER_NS).unwrap_or(u64::MAX)
}

fn ns_after(ps: u128) -> u64 {
    u64::try_from(ps.div_ceil(PS_PER_NS)).unwrap_or(u64::MAX)
}
