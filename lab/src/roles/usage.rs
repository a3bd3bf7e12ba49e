//! Processor time of the roles over the main role's run, so that its handshakes can be told from its requests.

use crate::files::trial::Clock;

/// Between two looks at first.
const SHORTEST_NS: u64 = 5_000_000;
/// Of the time since the beginning, between two looks later: a long run has a few hundred, as close as its parts are long.
const SHARE: u64 = 32;

/// When it was, and what a role had used since the main role's start, ns.
pub type Point = (u64, u64);

/// What every role has used, in the order in which the roles were started.
#[derive(Debug, Default)]
pub struct Usage {
    clock: Clock,
    began_ns: u64,
    /// Of each role, before the main role's start.
    before: Vec<u64>,
    points: Vec<(u64, Vec<u64>)>,
}

impl Usage {
    /// `used`: by each service until now; by a role that is yet to start, nothing.
    pub fn begin(clock: Clock, now_ns: u64, used: Vec<u64>) -> Self {
        Self { clock, began_ns: now_ns, before: used, points: vec![] }
    }

    /// Whether processing takes time: under the virtual clock it does not, and there is nothing to look at meanwhile.
    pub fn takes_time(&self) -> bool {
        self.clock == Clock::Wall
    }

    /// When to look next.
    pub fn due_ns(&self) -> u64 {
        if !self.takes_time() {
            return u64::MAX;
        }
        let last = self.points.last().map_or(self.began_ns, |(at, _)| *at);
        last + self.pace_ns(last, SHORTEST_NS)
    }

    /// From a look at that time until the next one, which comes no sooner than after the shortest.
    pub fn pace_ns(&self, at_ns: u64, shortest_ns: u64) -> u64 {
        shortest_ns.max(at_ns.saturating_sub(self.began_ns) / SHARE)
    }

    /// `used`: by each role until now.
    pub fn look(&mut self, now_ns: u64, used: Vec<u64>) {
        let since = used
            .into_iter()
            .enumerate()
            .map(|(role, used)| used.saturating_sub(self.before.get(role).copied().unwrap_or(0)));
        self.points.push((now_ns, since.collect()));
    }

    /// Of one role, from its first look on.
    pub fn of(&self, role: usize) -> Vec<Point> {
        let points = self.points.iter();
        points.filter_map(|(at, used)| Some((*at, *used.get(role)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_close_at_first_and_few_in_the_end() {
        let begin = 7_000_000_000;
        let mut usage = Usage::begin(Clock::Wall, begin, vec![]);
        let mut looks = vec![begin];
        while *looks.last().unwrap() < begin + 600_000_000_000 {
            looks.push(usage.due_ns());
            usage.look(usage.due_ns(), vec![]);
        }
        assert!(looks.len() < 400, "{} looks", looks.len());
        for pair in looks.windows(2) {
            let (since, gap) = (pair[0] - begin, pair[1] - pair[0]);
            assert!(gap == SHORTEST_NS || gap == since / SHARE);
        }
    }

    #[test]
    fn a_service_counts_from_the_main_roles_start_on() {
        let mut usage = Usage::begin(Clock::Wall, 100, vec![40]);
        usage.look(200, vec![45, 3]);
        usage.look(300, vec![39, 9]); // a child took its share with it
        assert_eq!(usage.of(0), [(200, 5), (300, 0)]);
        assert_eq!(usage.of(1), [(200, 3), (300, 9)]);
        assert!(usage.of(2).is_empty());
    }
}
