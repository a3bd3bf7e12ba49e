//! Packets that leave together: what a medium sends at each of its opportunities, as cable modems do at their grants and Wi-Fi
//! stations when the air is theirs.

use crate::direction::{AggregationParameters, Direction};
use crate::draws::mixed;

/// When opportunities are: one in each interval, at a point that depends on the seed and the interval's number alone.
pub(crate) struct Aggregation {
    every_ns: u64,
    spread_ns: u64,
    seed: u64,
}

impl Aggregation {
    pub fn of(direction: &Direction, seed: u64) -> Option<Self> {
        let AggregationParameters { every_ns, spread_ns, .. } = direction.aggregation?;
        Some(Aggregation { every_ns, spread_ns, seed })
    }

    /// The first opportunity at `departure` or later, ns.
    pub fn opportunity(&self, departure: u64) -> u64 {
        let interval = departure / self.every_ns;
        let first = self.within(interval);
        if first >= departure { first } else { self.within(interval + 1) }
    }

    fn within(&self, interval: u64) -> u64 {
        let begin = interval.saturating_mul(self.every_ns);
        let offset = match self.spread_ns {
            0 => 0,
            spread_ns => mixed(self.seed, interval) % (spread_ns + 1),
        };
        begin.saturating_add(offset)
    }
}
