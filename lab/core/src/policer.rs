//! A limit of rate without a queue: what comes too soon is dropped.

const NS_PER_S: u128 = 1_000_000_000;
/// What so long a silence has saved may come at once.
const SAVED_NS: u64 = 100_000_000;
/// Never less than a packet of full size, or none could pass.
const FULL_BYTES: u32 = 1500;

/// The generic cell rate algorithm (ITU-T I.371, annex A, virtual scheduling): a token bucket that needs no clock of its own.
#[derive(Default)]
pub(crate) struct Policer {
    /// When all that has passed would have, at the rate.
    paid_until: u64,
}

impl Policer {
    /// Whether a packet that comes at `now` is within `bps`; one that is not changes nothing.
    pub fn passes(&mut self, now: u64, bytes: u32, bps: u64) -> bool {
        let cost = cost_ns(bytes, bps);
        let paid = self.paid_until.max(now).saturating_add(cost);
        let within = paid - now <= SAVED_NS.max(cost_ns(FULL_BYTES, bps));
        if within {
            self.paid_until = paid;
        }
        within
    }
}

fn cost_ns(bytes: u32, bps: u64) -> u64 {
    let ns = u128::from(bytes) * 8 * NS_PER_S / u128::from(bps);
    u64::try_from(ns).unwrap_or(u64::MAX)
}
