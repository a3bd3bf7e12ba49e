//! Packets that wait for an opportunity to send, thinned out: an acknowledgement of TCP is dropped if a later one of its flow,
//! which waits behind it, says as much and more (RFC 3449, section 5.2.1).

use std::collections::VecDeque;

use crate::fate::{Ack, Fate};
use crate::item::Item;

/// What waits, in order, for the opportunity at hand and for later ones.
#[derive(Default)]
pub(crate) struct Air(VecDeque<Unsent>);

pub(crate) struct Unsent {
    pub item: Item,
    opportunity: u64,
    /// What becomes of it then, if it is not sent.
    refused: Option<Fate>,
}

impl Air {
    /// Lets a packet wait for its opportunity, ns, at which it is `lost`, if so. Acknowledgements that it replaces are dropped.
    pub fn wait(&mut self, item: Item, opportunity: u64, lost: bool) {
        if let Some(ack) = item.packet.ack {
            let together = self.0.iter_mut().rev();
            together
                .take_while(|earlier| earlier.opportunity == opportunity)
                .filter(|earlier| earlier.item.packet.flow == item.packet.flow)
                .filter(|earlier| earlier.item.packet.ack.is_some_and(|e| ack.replaces(e)))
                .for_each(|earlier| earlier.refused = Some(Fate::Thinned));
        }
        self.0.push_back(Unsent { item, opportunity, refused: lost.then_some(Fate::Lost) });
    }

    /// When the next one's opportunity is over, ns: until then it may be replaced.
    pub fn deadline(&self) -> Option<u64> {
        Some(self.0.front()?.opportunity.saturating_add(1))
    }

    /// The next one whose opportunity is over at `now`.
    pub fn due(&mut self, now: u64) -> Option<Unsent> {
        self.deadline().filter(|&over| over <= now)?;
        self.0.pop_front()
    }

    /// Takes over what waits on the other side of a new beginning, whose clock shows `zero` when this one's begins.
    pub fn follow(&mut self, other: Air, zero: u64) {
        self.0.extend(other.0.into_iter().map(|waiting| Unsent {
            item: Item { origin: waiting.item.origin.earlier(), ..waiting.item },
            opportunity: waiting.opportunity.saturating_sub(zero),
            ..waiting
        }));
    }
}

impl Unsent {
    /// When it is sent, ns, or why it is not.
    pub fn outcome(&self) -> Result<u64, Fate> {
        self.refused.map_or(Ok(self.opportunity), Err)
    }
}

impl Ack {
    /// Whether an earlier one of the same flow says nothing that this one does not say, and acknowledges less.
    fn replaces(self, earlier: Ack) -> bool {
        let more = self.number.wrapping_sub(earlier.number) as i32;
        more > 0 && !earlier.says_more && self.ecn == earlier.ecn
    }
}
