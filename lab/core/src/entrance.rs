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
use policer::PolicerStage;
use udp::UdpStage;

/// A stage with its state. `now`, ns, never goes back.
trait Stage: Send {
    /// Changes the packet that arrives at `now`, or refuses it.
    fn meet(&mut self, now: u64, packet: &mut Packet) -> Result<(), Fate>;
}

/// The stages of a direction, in the order in which a packet meets them.
pub(crate) struct Entrance(Vec<Box<dyn Stage>>);

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
        Entrance(stages.into_iter().flatten().collect())
    }

    /// What the packet is when it comes to the queue, or why it does not come there.
    pub fn admit(&mut self, now: u64, mut packet: Packet) -> (Packet, Result<(), Fate>) {
        let mut stages = self.0.iter_mut();
        let admitted = stages.try_for_each(|stage| stage.meet(now, &mut packet));
        (packet, admitted)
    }
}
