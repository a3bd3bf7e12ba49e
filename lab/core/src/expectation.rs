//! What a loss model does in the long run.

use crate::direction::{GilbertElliott, Loss};
use crate::interval::{binomial_interval, equal_tailed};

impl Loss {
    /// Share of the packets that are lost in the long run; `None` for listed packets.
    pub fn mean_rate(&self) -> Option<f64> {
        match self {
            Loss::Random(share) => Some(*share),
            Loss::GilbertElliott(chain) => Some(chain.mean_rate()),
            Loss::Packets(_) | Loss::Bytes(_) => None,
        }
    }

    /// Mean number of packets in a run of consecutive losses, for a share of 1 infinite; `None` where there are no
    /// runs to speak of: nothing is lost, or listed packets.
    pub fn mean_burst(&self) -> Option<f64> {
        match self {
            Loss::Random(share) => (*share > 0.0).then(|| 1.0 / (1.0 - share)),
            Loss::GilbertElliott(chain) => chain.mean_burst(),
            Loss::Packets(_) | Loss::Bytes(_) => None,
        }
    }

    /// The exact equal-tailed interval for the losses among the first `n` packets.
    ///
    /// Random: binomial. Gilbert-Elliott: from the count's own distribution, which is wider, since losses come in
    /// bursts. It takes time in the order of `n` times the interval's width: under a second for 60 000 packets.
    /// Listed packets: their number; of those that carry listed bytes at most theirs, since nothing is said of sizes.
    pub fn count_interval(&self, n: u64, confidence: f64) -> (u64, u64) {
        match self {
            Loss::Random(share) => binomial_interval(n, *share, confidence),
            Loss::GilbertElliott(chain) => Counts::after(n, chain).interval(confidence),
            Loss::Packets(indices) => {
                let mut hit: Vec<u64> = indices.iter().copied().filter(|&i| i < n).collect();
                hit.sort_unstable();
                hit.dedup();
                (hit.len() as u64, hit.len() as u64)
            }
            Loss::Bytes(marks) => (0, (marks.len() as u64).min(n)),
        }
    }
}

impl GilbertElliott {
    /// The stationary probability of the bad state, p / (p + r).
    pub fn bad_share(&self) -> f64 {
        self.p / (self.p + self.r)
    }

    /// Share of the packets lost in the long run: each state's loss, weighted with its stationary probability
    /// (G. Hasslinger, O. Hohlfeld, "The Gilbert-Elliott Model for Packet Loss in Real Time Services on the
    /// Internet", 2008, equation 4).
    pub fn mean_rate(&self) -> f64 {
        let bad = self.bad_share();
        (1.0 - bad) * self.loss_good + bad * self.loss_bad
    }

    /// Mean number of packets in a run of consecutive losses: the share of losses over the share of losses which a
    /// delivered packet follows, for each run ends with exactly one of those. With `loss_good` 0 and `loss_bad` 1 it
    /// is 1 / r, the mean time in the bad state.
    pub fn mean_burst(&self) -> Option<f64> {
        let lost = self.mean_rate();
        let bad = self.bad_share();
        let after_good = 1.0 - (1.0 - self.p) * self.loss_good - self.p * self.loss_bad;
        let after_bad = 1.0 - self.r * self.loss_good - (1.0 - self.r) * self.loss_bad;
        let ends = (1.0 - bad) * self.loss_good * after_good + bad * self.loss_bad * after_bad;
        (lost > 0.0).then(|| lost / ends)
    }

    pub(crate) fn loss(&self, bad: bool) -> f64 {
        if bad { self.loss_bad } else { self.loss_good }
    }
}

/// Joint distribution of the number of losses so far and the chain's state.
struct Counts {
    /// The count that the vectors' first entries stand for.
    first: u64,
    good: Vec<f64>,
    bad: Vec<f64>,
}

impl Counts {
    fn after(n: u64, chain: &GilbertElliott) -> Self {
        let bad = chain.bad_share();
        let mut counts = Counts { first: 0, good: vec![1.0 - bad], bad: vec![bad] };
        // The chain starts stationary, where a step changes nothing: so the first packet may take one like all others.
        for _ in 0..n {
            counts.step(chain);
            lose(&mut counts.good, chain.loss_good);
            lose(&mut counts.bad, chain.loss_bad);
            counts.trim();
        }
        counts
    }

    fn step(&mut self, chain: &GilbertElliott) {
        for (good, bad) in self.good.iter_mut().zip(&mut self.bad) {
            let (to_bad, to_good) = (*good * chain.p, *bad * chain.r);
            *good += to_good - to_bad;
            *bad += to_bad - to_good;
        }
    }

    /// Leaves out the counts at both ends that have no weight, so that the vectors stay short.
    fn trim(&mut self) {
        const NEGLIGIBLE: f64 = 1e-20;
        let heavy = |(good, bad): (&f64, &f64)| good + bad > NEGLIGIBLE;
        let mut weights = self.good.iter().zip(&self.bad);
        let light_front = weights.clone().take_while(|&pair| !heavy(pair)).count();
        let kept = weights.rposition(heavy).map_or(0, |last| last + 1);
        for side in [&mut self.good, &mut self.bad] {
            side.truncate(kept);
            side.drain(..light_front);
        }
        self.first += light_front as u64;
    }

    fn interval(&self, confidence: f64) -> (u64, u64) {
        let weights: Vec<f64> = self.good.iter().zip(&self.bad).map(|(good, bad)| good + bad).collect();
        equal_tailed(self.first, &weights, confidence)
    }
}

/// One more packet, lost with this probability, in the distribution of a count.
fn lose(counts: &mut Vec<f64>, probability: f64) {
    counts.push(0.0);
    for k in (1..counts.len()).rev() {
        counts[k] = counts[k] * (1.0 - probability) + counts[k - 1] * probability;
    }
    counts[0] *= 1.0 - probability;
}
