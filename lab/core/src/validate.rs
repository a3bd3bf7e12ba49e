//! What a direction may say.

use std::fmt::Debug;

use crate::direction::{AggregationParameters, Change, Direction, GilbertElliott, Jitter, Loss, Mtu, Queue, Rate, Udp};
use crate::shaper;

/// No time is longer: 115 days, of which sums stay far within 64 bits.
pub const LONGEST_NS: u64 = 10_000_000_000_000_000;
/// No other number is larger: a petabit per second, a petabyte.
const LARGEST: u64 = 1_000_000_000_000_000;
const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// A field with a value that it must not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}: {allowed}")]
pub struct Invalid {
    /// Path of the field within the direction or the link, as `changes[1].loss.random`.
    pub field: String,
    pub value: String,
    /// What it may be.
    pub allowed: String,
}

/// `allowed` unless `ok`.
pub(crate) fn require(ok: bool, field: &str, value: impl Debug, allowed: &str) -> Result<(), Invalid> {
    if ok {
        return Ok(());
    }
    Err(Invalid { field: field.into(), value: format!("{value:?}"), allowed: allowed.into() })
}

fn share(field: &str, value: f64) -> Result<(), Invalid> {
    let ok = (0.0..=1.0).contains(&value);
    require(ok, field, value, "a probability is from 0 to 1")
}

pub(crate) fn time(field: &str, ns: u64) -> Result<(), Invalid> {
    let allowed = format!("a time is at most {LONGEST_NS} ns, 115 days");
    require(ns <= LONGEST_NS, field, ns, &allowed)
}

fn amount(field: &str, value: u64, least: u64, why: &str) -> Result<(), Invalid> {
    require(value >= least, field, value, &format!("at least {least}{why}"))?;
    require(value <= LARGEST, field, value, &format!("at most {LARGEST}"))
}

pub(crate) fn within(field: &str, value: u64, least: u64, most: u64) -> Result<(), Invalid> {
    let allowed = format!("from {least} to {most}");
    require((least..=most).contains(&value), field, value, &allowed)
}

fn listing(field: &str, listed: &[u64]) -> Result<(), Invalid> {
    amount(field, listed.iter().copied().max().unwrap_or(0), 0, "")
}

impl Direction {
    /// Checks every field.
    ///
    /// # Errors
    ///
    /// The first field found that makes no sense, with what it may be.
    pub fn validate(&self) -> Result<(), Invalid> {
        if let Some(rate) = &self.rate {
            rate.validate("rate")?;
        }
        self.validate_queue()?;
        self.validate_bucket()?;
        if let Some(loss) = &self.loss {
            loss.validate("loss")?;
        }
        self.udp.validate("udp")?;
        self.validate_entrance()?;
        self.validate_blackouts()?;
        share("duplicate", self.duplicate)?;
        time("delay_ns", self.delay_ns)?;
        self.validate_changes()?;
        self.validate_jitter()?;
        if let Some(again) = self.retransmission {
            share("retransmission.share", again.share)?;
            let allowed = "more than 0";
            require(again.delay_ns > 0, "retransmission.delay_ns", again.delay_ns, allowed)?;
            time("retransmission.delay_ns", again.delay_ns)?;
        }
        self.validate_reorder()
    }

    fn validate_queue(&self) -> Result<(), Invalid> {
        let Some(queue) = self.queue else {
            return Ok(());
        };
        let rated = self.rate.is_some() || self.changes.iter().any(|change| change.rate.is_some());
        let allowed = "a queue needs a rate, because without one nothing waits: add a rate or leave out the queue";
        require(rated, "queue", queue, allowed)?;
        match queue {
            Queue::Bytes(bytes) => {
                let why = ", or no packet of full size could pass";
                amount("queue.bytes", bytes, 1500, why)
            }
            Queue::Packets(packets) => amount("queue.packets", packets, 1, ""),
            Queue::Ns(ns) => time("queue.ns", ns),
            Queue::Codel(codel) => codel.validate("queue.codel"),
            Queue::FqCodel(fq) => fq.validate("queue.fq_codel"),
            Queue::Pie(pie) => pie.validate("queue.pie"),
            Queue::FqPie(fq) => fq.validate("queue.fq_pie"),
            Queue::Red(red) => red.validate("queue.red"),
            Queue::DualPi2(dual) => dual.validate("queue.dualpi2"),
            Queue::Cake(cake) => {
                cake.validate("queue.cake")?;
                self.validate_shaper()
            }
        }
    }

    /// CAKE's bandwidth stays as it is.
    fn validate_shaper(&self) -> Result<(), Invalid> {
        if let Some(Rate::Constant { bps }) = self.rate {
            within("rate.bps", bps, shaper::LEAST * 8, LARGEST)?;
        }
        let changes = self.changes.iter().any(|change| change.rate.is_some());
        let allowed = "before CAKE's queue the rate cannot be changed";
        require(!changes, "changes", &self.changes, allowed)
    }

    /// A token bucket stays as it is, and serves a time in the queue to none.
    fn validate_bucket(&self) -> Result<(), Invalid> {
        let is_bucket = |rate: &Rate| matches!(rate, Rate::Bucket { .. });
        let bucket = self.rate.as_ref().is_some_and(is_bucket);
        let mut changed = self.changes.iter().filter_map(|change| change.rate.as_ref());
        let allowed = "a token bucket cannot be changed, and no change makes one";
        let changes = changed.any(|rate| bucket || is_bucket(rate));
        require(!changes, "changes", &self.changes, allowed)?;
        let allowed = "before a token bucket the limit of a queue is in bytes or packets";
        let timed = bucket && matches!(self.queue, Some(Queue::Ns(_)));
        require(!timed, "queue", self.queue, allowed)
    }

    fn validate_entrance(&self) -> Result<(), Invalid> {
        if let Some(policer) = self.policer {
            amount("policer.bps", policer.bps, 1, "")?;
            let why = ", or no packet of full size could pass";
            amount("policer.burst_bytes", policer.burst_bytes.into(), 1500, why)?;
        }
        if let Some(mtu) = self.mtu {
            mtu.validate("mtu")?;
        }
        if let Some(AggregationParameters { every_ns, spread_ns, .. }) = self.aggregation {
            within("aggregation.every_ns", every_ns, 1, NS_PER_S)?;
            within("aggregation.spread_ns", spread_ns, 0, every_ns)?;
        }
        Ok(())
    }

    fn validate_blackouts(&self) -> Result<(), Invalid> {
        let mut end = 0;
        for (i, window) in self.blackouts.iter().enumerate() {
            let (field, ok) = (format!("blackouts[{i}]"), window.from_ns < window.to_ns);
            require(ok, &field, window, "from_ns must be before to_ns")?;
            let allowed = "blackouts must be in order of time and must not overlap";
            require(window.from_ns >= end, &field, window, allowed)?;
            time(&format!("{field}.to_ns"), window.to_ns)?;
            end = window.to_ns;
        }
        Ok(())
    }

    fn validate_changes(&self) -> Result<(), Invalid> {
        let mut last = None;
        for (i, change) in self.changes.iter().enumerate() {
            let field = format!("changes[{i}]");
            let allowed = "changes must be in order of time, each at a different time";
            let in_order = last < Some(change.at_ns);
            require(in_order, &format!("{field}.at_ns"), change.at_ns, allowed)?;
            last = Some(change.at_ns);
            time(&format!("{field}.at_ns"), change.at_ns)?;
            let nothing = Change { at_ns: change.at_ns, ..Change::default() };
            let allowed = "a change needs at least one of delay_ns, rate, loss, udp and mtu";
            require(*change != nothing, &field, change, allowed)?;
            if let Some(delay_ns) = change.delay_ns {
                time(&format!("{field}.delay_ns"), delay_ns)?;
            }
            if let Some(rate) = &change.rate {
                rate.validate(&format!("{field}.rate"))?;
            }
            if let Some(loss) = &change.loss {
                loss.validate(&format!("{field}.loss"))?;
            }
            if let Some(mtu) = change.mtu {
                mtu.validate(&format!("{field}.mtu"))?;
            }
            if let Some(udp) = &change.udp {
                udp.validate(&format!("{field}.udp"))?;
            }
        }
        Ok(())
    }

    fn validate_jitter(&self) -> Result<(), Invalid> {
        let Some(Jitter { spread_ns, .. }) = self.jitter else {
            return Ok(());
        };
        let delays = self.changes.iter().filter_map(|change| change.delay_ns);
        let least = delays.fold(self.delay_ns, u64::min);
        let allowed = format!("at most the least delay of the direction, {least} ns, or the delay would fall below 0");
        require(spread_ns <= least, "jitter.spread_ns", spread_ns, &allowed)
    }

    fn validate_reorder(&self) -> Result<(), Invalid> {
        let Some(reorder) = self.reorder else {
            return Ok(());
        };
        share("reorder.share", reorder.share)?;
        let ahead = reorder.ahead_ns;
        require(ahead > 0, "reorder.ahead_ns", ahead, "more than 0")?;
        time("reorder.ahead_ns", ahead)?;
        let delayed = self.delay_ns > 0 || self.changes.iter().any(|change| change.delay_ns > Some(0));
        let allowed = "nothing can overtake on a direction without delay: add a delay_ns or leave out reorder";
        require(delayed, "reorder", reorder, allowed)
    }
}

impl Rate {
    fn validate(&self, field: &str) -> Result<(), Invalid> {
        match self {
            Rate::Constant { bps } => {
                let why = "; a link that carries nothing for a while is a blackout";
                amount(&format!("{field}.bps"), *bps, 1, why)
            }
            Rate::Bucket { bps, burst_bytes } => {
                amount(&format!("{field}.bps"), *bps, 8, ", a byte each second")?;
                let why = ", or no packet of full size could pass";
                amount(&format!("{field}.burst_bytes"), *burst_bytes, 1500, why)
            }
            Rate::Trace { trace_ms, opportunity_bytes } => {
                let times = format!("{field}.trace_ms");
                let period = trace_ms.last().copied();
                let allowed = "at least one time, and the last, which is the trace's period, after 0";
                require(period > Some(0), &times, trace_ms, allowed)?;
                let period_ns = period.unwrap_or(0).saturating_mul(NS_PER_MS);
                time(&times, period_ns)?;
                let late = trace_ms.windows(2).position(|pair| pair[0] > pair[1]);
                let value = late.map(|i| &trace_ms[i..i + 2]);
                require(late.is_none(), &times, value.unwrap_or_default(), "times must not decrease")?;
                let bytes = format!("{field}.opportunity_bytes");
                require(*opportunity_bytes >= 1, &bytes, opportunity_bytes, "at least 1")
            }
        }
    }
}

impl Mtu {
    /// Every host handles 576 bytes (RFC 1122, 3.3.2).
    fn validate(self, field: &str) -> Result<(), Invalid> {
        within(&format!("{field}.bytes"), self.bytes.into(), 576, 65_535)
    }
}

impl Udp {
    fn validate(self, field: &str) -> Result<(), Invalid> {
        match self {
            Udp::Pass | Udp::Drop | Udp::Reject => Ok(()),
            Udp::Limit(bps) => amount(&format!("{field}.limit"), bps, 1, "; none is `drop`"),
        }
    }
}

impl Loss {
    fn validate(&self, field: &str) -> Result<(), Invalid> {
        match self {
            Loss::Random(value) => share(&format!("{field}.random"), *value),
            Loss::GilbertElliott(chain) => chain.validate(&format!("{field}.gilbert_elliott")),
            Loss::Packets(listed) => listing(&format!("{field}.packets"), listed),
            Loss::Bytes(listed) => listing(&format!("{field}.bytes"), listed),
        }
    }
}

impl GilbertElliott {
    fn validate(&self, field: &str) -> Result<(), Invalid> {
        share(&format!("{field}.p"), self.p)?;
        share(&format!("{field}.r"), self.r)?;
        share(&format!("{field}.loss_good"), self.loss_good)?;
        share(&format!("{field}.loss_bad"), self.loss_bad)?;
        let allowed = "more than 0, or the chain would never leave the bad state: use random loss for that";
        require(self.r > 0.0, &format!("{field}.r"), self.r, allowed)
    }
}
