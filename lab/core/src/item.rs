//! A packet on its way through a path.

use std::collections::VecDeque;

use crate::draws::Draws;
use crate::fate::{Ecn, Fate, Packet, Party};

/// A packet that was offered to a path and on which nothing is decided yet.
pub(crate) struct Item {
    /// What it was offered with.
    pub ticket: usize,
    pub origin: Origin,
    pub packet: Packet,
    /// When it arrived, ns, and what the clock of a managed queue showed then.
    pub arrived: u64,
    pub entered: u64,
    pub draws: Draws,
    /// Whether the queue has marked it with Congestion Experienced.
    pub marked: bool,
}

/// Whose packet an item is.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// Of this path's course, with its number among its party's packets.
    Party(Party, u64),
    /// Of an earlier course: it takes its share of the rate, and nothing is counted.
    Earlier(Party),
}

impl Origin {
    /// The same, seen from a later course.
    pub fn earlier(self) -> Self {
        let (Origin::Party(party, _) | Origin::Earlier(party)) = self;
        Origin::Earlier(party)
    }
}

impl Item {
    /// Marks it if it may be: true for ECN-capable packets (RFC 3168, section 5).
    pub fn mark(&mut self) -> bool {
        let capable = self.packet.ecn != Ecn::NotEct;
        self.marked |= capable;
        capable
    }
}

/// An item that has passed the rate or was refused before.
pub(crate) struct Met {
    pub item: Item,
    /// When it left the rate, ns, and meets the stages after it; a refused one meets them at the last departure or at its
    /// refusal, whichever is later.
    pub at: u64,
    /// Why it did not get to the rate.
    pub refused: Option<Fate>,
}

// Larger ones are moved by calls.
const _: () = assert!(size_of::<Met>() <= 128);

/// In order of `Met::at`.
pub(crate) type Outgoing = VecDeque<Met>;
