//! A token bucket, with the arithmetic of Linux's TBF: tokens are ns of the rate, and a packet's cost is its size times a
//! reciprocal of the rate in 32 bits.

/// Sends packets as long as there are tokens.
pub(crate) struct TokenBucket {
    cost: Cost,
    burst: u64,
    /// What silence saves at most, ns.
    depth: i64,
    tokens: i64,
    /// When `tokens` was counted, ns.
    counted_at: u64,
}

/// How long the rate takes for so many bytes: `bytes * multiplier >> shift` ns.
struct Cost {
    multiplier: u32,
    shift: u32,
}

const NS_PER_S: u64 = 1_000_000_000;

impl TokenBucket {
    /// Full. `bps` in bit/s, `burst` in bytes.
    pub fn new(bps: u64, burst: u64) -> Self {
        let cost = Cost::new(bps / 8);
        let depth = cost.of(burst);
        TokenBucket { cost, burst, depth, tokens: depth, counted_at: 0 }
    }

    /// Has the tokens that the other one had, whose clock showed `zero` when this one's began.
    pub fn follow(&mut self, other: &TokenBucket, zero: u64) {
        self.tokens = other.at(zero).min(self.depth);
    }

    /// Takes the tokens of a packet that is sent at `now`, if there are enough.
    pub fn take(&mut self, now: u64, bytes: u32) -> bool {
        let left = self.at(now) - self.cost.of(u64::from(bytes));
        if left >= 0 {
            self.tokens = left;
            self.counted_at = now;
        }
        left >= 0
    }

    /// Whether a packet can ever be sent: one that is larger than the burst cannot.
    pub fn fits(&self, bytes: u32) -> bool {
        u64::from(bytes) <= self.burst
    }

    /// When a packet that fits and waits at `now` has its tokens; None: beyond all time.
    pub fn enough_at(&self, now: u64, bytes: u32) -> Option<u64> {
        let missing = self.cost.of(u64::from(bytes)) - self.at(now);
        now.checked_add(u64::try_from(missing).unwrap_or(0))
    }

    fn at(&self, now: u64) -> i64 {
        let since = now.saturating_sub(self.counted_at).min(self.depth as u64);
        (since as i64 + self.tokens).min(self.depth)
    }
}

impl Cost {
    /// The largest multiplier that fits, for the least error.
    fn new(bytes_per_s: u64) -> Self {
        let (mut factor, mut shift) = (NS_PER_S, 0);
        loop {
            let multiplier = (factor / bytes_per_s) as u32;
            if multiplier & 1 << 31 != 0 || factor & 1 << 63 != 0 {
                return Cost { multiplier, shift };
            }
            factor <<= 1;
            shift += 1;
        }
    }

    fn of(&self, bytes: u64) -> i64 {
        // So many years that sums of them stay within 64 bits.
        ((u128::from(bytes) * u128::from(self.multiplier)) >> self.shift).min(1 << 61) as i64
    }
}
