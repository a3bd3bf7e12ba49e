//! When a packet that left the link's sender is delivered.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::aggregation::Aggregation;
use crate::direction::{Direction, Distribution, Jitter, Reorder, Retransmission};
use crate::draws::Draws;
use crate::timeline::Timeline;

/// The propagation stage of a direction.
pub(crate) struct Propagation {
    aggregation: Option<Aggregation>,
    delays: Timeline<u64>,
    jitter: Option<Jitter>,
    reorder: Option<Reorder>,
    retransmission: Option<Retransmission>,
    /// When the link layer has handed over all so far, if it keeps their order.
    handed_over: u64,
    /// The latest delivery so far.
    latest: u64,
}

impl Propagation {
    pub fn new(direction: &Direction, seed: u64) -> Self {
        let changes = direction.changes.iter().filter_map(|change| Some((change.at_ns, change.delay_ns?)));
        Propagation {
            aggregation: Aggregation::of(direction, seed),
            delays: Timeline::new(direction.delay_ns, changes),
            jitter: direction.jitter,
            reorder: direction.reorder,
            retransmission: direction.retransmission,
            handed_over: 0,
            latest: 0,
        }
    }

    /// Keeps the order with what the other one has sent, whose clock shows `zero` when this one's begins.
    pub fn follow(&mut self, other: &Propagation, zero: u64) {
        self.latest = other.latest.saturating_sub(zero);
        self.handed_over = other.handed_over.saturating_sub(zero);
    }

    /// When a packet that left the rate at `departure` is sent, ns.
    pub fn opportunity(&self, departure: u64) -> u64 {
        match &self.aggregation {
            Some(aggregation) => aggregation.opportunity(departure),
            None => departure,
        }
    }

    /// The delivery, ns, of a packet that is sent at `departure`, which must not go back between calls.
    pub fn deliver(&mut self, departure: u64, draws: &Draws) -> u64 {
        let mut delay = *self.delays.at(departure).0;
        if let Some(jitter) = &self.jitter {
            delay = delay.saturating_add_signed(offset(jitter, draws.rare().jitter));
        }
        // What the link layer adds: with all that are behind it, or to the packet alone.
        let (mut departure, mut late_ns) = (departure, 0);
        if let Some(again) = self.retransmission {
            late_ns = if draws.rare().link < again.share { again.delay_ns } else { 0 };
            if again.in_order {
                self.handed_over = self.handed_over.max(departure.saturating_add(late_ns));
                (departure, late_ns) = (self.handed_over, 0);
            }
        }
        let delivery = match self.reorder {
            Some(Reorder { share, ahead_ns }) if draws.rare().reorder < share => {
                departure.saturating_add(delay.saturating_sub(ahead_ns))
            }
            _ if self.keeps_order() => departure.saturating_add(delay).max(self.latest),
            _ => departure.saturating_add(delay),
        };
        self.latest = self.latest.max(delivery);
        delivery.saturating_add(late_ns)
    }

    fn keeps_order(&self) -> bool {
        self.jitter.is_none_or(|jitter| jitter.keep_order)
    }
}

/// What jitter adds, ns, for a uniform draw: the distribution's quantile.
fn offset(jitter: &Jitter, draw: f64) -> i64 {
    let quantile = match jitter.distribution {
        Distribution::Uniform => 2.0 * draw - 1.0,
        Distribution::Normal => Normal::standard().inverse_cdf(draw),
    };
    (quantile * jitter.spread_ns as f64) as i64
}
