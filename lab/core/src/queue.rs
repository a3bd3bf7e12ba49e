//! Who may wait for the rate.

use std::collections::VecDeque;

use crate::direction::Queue;

/// The packets that were admitted and have not departed yet.
pub(crate) struct Waiting {
    limit: Option<Queue>,
    /// Departure (ns) and bytes of each, in order; kept only where the limit counts them.
    packets: VecDeque<(u64, u32)>,
    bytes: u64,
}

impl Waiting {
    pub fn new(limit: Option<Queue>) -> Self {
        Waiting { limit, packets: VecDeque::new(), bytes: 0 }
    }

    /// Admits those that wait on the other side of a new beginning, whose clock shows `zero` when this one's begins.
    pub fn follow(&mut self, other: &Waiting, zero: u64) {
        for &(departure, bytes) in other.packets.iter().filter(|packet| packet.0 > zero) {
            self.admit(departure - zero, bytes);
        }
    }

    /// Whether a packet that arrives at `now` finds room; its service would begin at `free_at`.
    pub fn has_room(&mut self, now: u64, free_at: u64, bytes: u32) -> bool {
        while let Some(&(departure, bytes)) = self.packets.front()
            && departure <= now
        {
            self.packets.pop_front();
            self.bytes -= u64::from(bytes);
        }
        match self.limit {
            None => true,
            Some(Queue::Bytes(limit)) => self.bytes + u64::from(bytes) <= limit,
            Some(Queue::Packets(limit)) => (self.packets.len() as u64) < limit,
            Some(Queue::Ns(limit)) => free_at - now <= limit,
            Some(_) => unreachable!("managed"),
        }
    }

    pub fn admit(&mut self, departure: u64, bytes: u32) {
        if matches!(self.limit, Some(Queue::Bytes(_) | Queue::Packets(_))) {
            self.packets.push_back((departure, bytes));
            self.bytes += u64::from(bytes);
        }
    }
}
