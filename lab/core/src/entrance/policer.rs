//! A limit of rate without a queue: packets that come too soon are dropped.

use super::Stage;
use crate::direction::{Direction, PolicerParameters};
use crate::fate::{Fate, Packet};

const NS_PER_S: u128 = 1_000_000_000;
/// At least a packet of full size may come at once, or none could pass.
const FULL_BYTES: u32 = 1500;

/// The generic cell rate algorithm (ITU-T I.371, annex A, virtual scheduling): a token bucket that needs no clock of its own.
#[derive(Default)]
pub(super) struct Policer {
    /// When all that has passed would have passed at the rate, ns.
    paid_until: u64,
}

impl Policer {
    /// Has passed what the other one has, whose clock shows `zero` when this one's begins.
    pub fn follow(&mut self, other: &Policer, zero: u64) {
        self.paid_until = other.paid_until.saturating_sub(zero);
    }

    /// Whether a packet that comes at `now` is within `bps`, of which a silence saves what passes in `saved_ns`. One that is
    /// not changes nothing.
    pub fn passes(&mut self, now: u64, bytes: u32, bps: u64, saved_ns: u64) -> bool {
        let cost = cost_ns(bytes, bps);
        let paid = self.paid_until.max(now).saturating_add(cost);
        let within = paid - now <= saved_ns.max(cost_ns(FULL_BYTES, bps));
        if within {
            self.paid_until = paid;
        }
        within
    }
}

/// A policer for all traffic.
pub(super) struct PolicerStage {
    bps: u64,
    saved_ns: u64,
    policer: Policer,
}

impl PolicerStage {
    pub fn of(direction: &Direction) -> Option<Box<dyn Stage>> {
        let PolicerParameters { bps, burst_bytes } = direction.policer?;
        Some(Box::new(PolicerStage { bps, saved_ns: cost_ns(burst_bytes, bps), policer: Policer::default() }))
    }
}

impl Stage for PolicerStage {
    fn meet(&mut self, now: u64, packet: &mut Packet) -> Result<(), Fate> {
        let passes = self.policer.passes(now, packet.bytes, self.bps, self.saved_ns);
        passes.then_some(()).ok_or(Fate::Policed)
    }

    fn memory(&mut self) -> Option<&mut Policer> {
        Some(&mut self.policer)
    }
}

fn cost_ns(bytes: u32, bps: u64) -> u64 {
    let ns = u128::from(bytes) * 8 * NS_PER_S / u128::from(bps);
    u64::try_from(ns).unwrap_or(u64::MAX)
}
