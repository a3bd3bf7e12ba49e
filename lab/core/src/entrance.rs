//! What a packet meets before the queue: each stage lets it pass, changes it, or refuses it.

mod ecn;
mod ip;
mod mtu;
mod policer;
mod udp;

use crate::direction::Direction;
use crate::fate::{Fate, Packet};

use ecn::EcnStage;
use ip::IpStage;
use mtu::MtuStage;
use policer::{Policer, PolicerStage};
use udp::UdpStage;

/// A stage with its state. `now`, ns, never goes back.
trait Stage: Send {
    /// Changes the packet that arrives at `now`, or refuses it.
    fn meet(&mut self, now: u64, packet: &mut Packet) -> Result<(), Fate>;

    /// What it remembers of the packets so far, if anything.
    fn memory(&mut self) -> Option<&mut Policer> {
        None
    }
}

/// The stages of a direction with their places among all, in the order in which a packet meets them.
pub(crate) struct Entrance(Vec<(usize, Box<dyn Stage>)>);

impl Entrance {
    /// Only the stages that do something.
    pub fn new(direction: &Direction) -> Self {
        let stages = [
            IpStage::of(direction),
            UdpStage::of(direction),
            MtuStage::of(direction),
            EcnStage::of(direction),
            PolicerStage::of(direction),
        ];
        let places = stages.into_iter().enumerate();
        Entrance(places.filter_map(|(place, stage)| Some((place, stage?))).collect())
    }

    /// Remembers what the other one does, whose clock shows `zero` when this one's begins.
    pub fn follow(&mut self, mut other: Entrance, zero: u64) {
        for (place, stage) in &mut self.0 {
            let earlier = other.0.iter_mut().find(|earlier| earlier.0 == *place);
            let earlier = earlier.and_then(|(_, stage)| stage.memory());
            if let (Some(this), Some(earlier)) = (stage.memory(), earlier) {
                this.follow(earlier, zero);
            }
        }
    }

    /// What the packet is when it comes to the queue, or why it does not come there.
    pub fn admit(&mut self, now: u64, mut packet: Packet) -> (Packet, Result<(), Fate>) {
        let mut stages = self.0.iter_mut();
        let admitted = stages.try_for_each(|(_, stage)| stage.meet(now, &mut packet));
        (packet, admitted)
    }
}
