//! The bandwidth of CAKE, with Linux's arithmetic: a packet leaves at once when its predecessor's time is over.

use crate::direction::{Direction, Queue, Rate};

const NS_PER_S: u64 = 1_000_000_000;
/// Bits of the time for a byte.
const PRECISION: u32 = 34;
/// No rate is lower, bytes/s.
pub(crate) const LEAST: u64 = 64;

#[derive(Clone, Copy)]
pub(crate) struct Shaper {
    bytes_per_s: u64,
    /// ns for a byte, scaled by `shift`.
    cost: u64,
    shift: u32,
    /// When the next packet may leave, ns.
    next: u64,
}

impl Shaper {
    /// Of a queue that shapes: CAKE's, if the rate is constant. Before another rate it is without a bandwidth of its own.
    pub fn of(direction: &Direction) -> Option<Self> {
        match (direction.queue, &direction.rate) {
            (Some(Queue::Cake(_)), &Some(Rate::Constant { bps })) => Some(Shaper::new(bps)),
            _ => None,
        }
    }

    fn new(bps: u64) -> Self {
        let bytes_per_s = bps / 8;
        let (mut cost, mut shift) = ((NS_PER_S << PRECISION) / bytes_per_s.max(LEAST), PRECISION);
        while cost >> PRECISION > 0 {
            cost >>= 1;
            shift -= 1;
        }
        Shaper { bytes_per_s, cost, shift, next: 0 }
    }

    /// Is busy until the other one is, whose clock shows `zero` when this one's begins.
    pub fn follow(&mut self, other: &Shaper, zero: u64) {
        self.next = other.next.saturating_sub(zero);
    }

    pub fn bytes_per_s(&self) -> u64 {
        self.bytes_per_s
    }

    /// How long a packet takes, ns.
    pub fn time(&self, bytes: u32) -> u64 {
        (u64::from(bytes) * self.cost) >> self.shift
    }

    /// When a packet that waits at `now` may leave.
    pub fn free_at(&self, now: u64) -> u64 {
        now.max(self.next)
    }

    /// Lets a packet leave at `now`.
    pub fn send(&mut self, now: u64, bytes: u32) {
        self.next = self.free_at(now).saturating_add(self.time(bytes));
    }
}
