//! Times in which the machine kept something waiting that was due.

use serde::Serialize;

/// Waking a sleeping processor takes up to some 0.2 ms, in every trial alike; what is longer is a stall.
pub const SHORTEST_NS: u64 = 500_000;
/// More are joined, so that a report stays small whatever the machine does.
const MOST: usize = 10_000;

/// Spans `[from, to]` of the monotonic clock, ns: ascending, apart from one another.
#[derive(Debug, Default, Clone, Serialize)]
#[serde(transparent)]
pub struct Stalls(Vec<(u64, u64)>);

impl Stalls {
    /// Something that was due at `due_ns` happened at `done_ns`; calls come in the order of `done_ns`.
    pub fn record(&mut self, due_ns: u64, done_ns: u64) {
        if done_ns.saturating_sub(due_ns) < SHORTEST_NS {
            return;
        }
        let mut from = due_ns;
        // It may have been due before several that were recorded already.
        while let Some(&(begun, ended)) = self.0.last()
            && (ended >= from || self.0.len() >= MOST)
        {
            self.0.pop();
            from = from.min(begun);
        }
        self.0.push((from, done_ns));
    }

    /// These and others.
    pub fn join(self, others: Self) -> Self {
        let mut all: Vec<_> = self.0.into_iter().chain(others.0).collect();
        all.sort_unstable_by_key(|&(_, to)| to);
        let mut joined = Self::default();
        for (from, to) in all {
            joined.record(from, to);
        }
        joined
    }

    /// How much of the time from `from_ns` to `to_ns` they take.
    pub fn within(&self, from_ns: u64, to_ns: u64) -> u64 {
        let overlap = |&(from, to): &(u64, u64)| to.min(to_ns).saturating_sub(from.max(from_ns));
        self.0.iter().map(overlap).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_overlaps_is_one_stall_and_what_is_short_is_none() {
        let mut stalls = Stalls::default();
        stalls.record(10 * MS, 10 * MS + SHORTEST_NS - 1);
        stalls.record(20 * MS, 25 * MS);
        stalls.record(22 * MS, 25 * MS + 1);
        stalls.record(40 * MS, 50 * MS);
        assert_eq!(stalls.0, [(20 * MS, 25 * MS + 1), (40 * MS, 50 * MS)]);
        stalls.record(10 * MS, 60 * MS);
        assert_eq!(stalls.0, [(10 * MS, 60 * MS)]);
    }

    #[test]
    fn a_window_counts_its_own_part() {
        let mut stalls = Stalls::default();
        stalls.record(10 * MS, 20 * MS);
        stalls.record(30 * MS, 40 * MS);
        assert_eq!(stalls.within(0, 100 * MS), 20 * MS);
        assert_eq!(stalls.within(15 * MS, 35 * MS), 10 * MS);
        assert_eq!(stalls.within(20 * MS, 30 * MS), 0);
    }

    #[test]
    fn those_of_two_processors_are_joined() {
        let (mut one, mut other) = (Stalls::default(), Stalls::default());
        one.record(10 * MS, 20 * MS);
        one.record(50 * MS, 60 * MS);
        other.record(15 * MS, 30 * MS);
        assert_eq!(one.join(other).0, [(10 * MS, 30 * MS), (50 * MS, 60 * MS)]);
    }

    #[test]
    fn the_list_stays_short() {
        let mut stalls = Stalls::default();
        for i in 0..2 * MOST as u64 {
            stalls.record(10 * i * MS, (10 * i + 1) * MS);
        }
        assert!(stalls.0.len() <= MOST);
        assert_eq!(stalls.0.last().unwrap().1, (10 * (2 * MOST as u64 - 1) + 1) * MS);
    }
}
