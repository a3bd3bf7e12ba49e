//! Service by a Mahimahi trace; its rules stand at `Rate::Trace`.

use crate::progress::Progress;

/// The opportunities, counted from 0 over all repetitions of the trace, and how far they are used.
pub(crate) struct Trace {
    /// When the trace began, ns.
    origin: u64,
    /// In order; the last one is the period.
    times_ms: Vec<u64>,
    /// Work of one whole opportunity.
    opportunity: u128,
    /// The opportunity in use.
    index: u128,
    /// Work left in it.
    left: u128,
}

const NS_PER_MS: u64 = 1_000_000;

impl Trace {
    /// `from`: when the trace comes into force, ns.
    pub fn new(from: u64, times_ms: Vec<u64>, opportunity: u128) -> Self {
        Trace { origin: from, times_ms, opportunity, index: 0, left: opportunity }
    }

    /// Does `work` from `start` on with the opportunities before `until`, ns.
    pub fn serve(&mut self, start: u64, until: u64, work: u128) -> Progress {
        let first = self.first_from(start);
        if first > self.index {
            (self.index, self.left) = (first, self.opportunity);
        }
        let further = work.saturating_sub(self.left).div_ceil(self.opportunity);
        let end = self.time(self.index + further);
        if end < until || until == u64::MAX {
            self.index += further;
            self.left = self.left + further * self.opportunity - work;
            return Progress::Done(end);
        }
        let usable = self.first_from(until).saturating_sub(self.index);
        let done = match usable {
            0 => 0,
            _ => self.left + (usable - 1) * self.opportunity,
        };
        Progress::Left(work - done)
    }

    /// When an opportunity comes, ns.
    fn time(&self, index: u128) -> u64 {
        let (round, position) = (index / self.len(), index % self.len());
        let ms = round * self.period() + u128::from(self.times_ms[position as usize]);
        let time = u128::from(self.origin) + ms * u128::from(NS_PER_MS);
        u64::try_from(time).unwrap_or(u64::MAX)
    }

    /// The first opportunity that comes at `time` or later.
    fn first_from(&self, time: u64) -> u128 {
        let ms = u128::from(time.saturating_sub(self.origin).div_ceil(NS_PER_MS));
        if ms == 0 {
            return 0;
        }
        // A round's last opportunity comes at its end, so a whole number of periods belongs to the round before.
        let round = (ms - 1) / self.period();
        let rest = ms - round * self.period();
        let position = self.times_ms.partition_point(|&candidate| u128::from(candidate) < rest);
        round * self.len() + position as u128
    }

    fn len(&self) -> u128 {
        self.times_ms.len() as u128
    }

    fn period(&self) -> u128 {
        self.times_ms.last().copied().map_or(1, u128::from)
    }
}
