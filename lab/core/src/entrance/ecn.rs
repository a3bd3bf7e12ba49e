//! What the path does to the ECN field of IP's header.

use super::Stage;
use crate::direction::{Direction, EcnPolicy};
use crate::fate::{Ecn, Fate, Packet};

pub(super) struct EcnStage(EcnPolicy);

impl EcnStage {
    pub fn of(direction: &Direction) -> Option<Box<dyn Stage>> {
        let acts = direction.ecn != EcnPolicy::Pass;
        acts.then(|| -> Box<dyn Stage> { Box::new(EcnStage(direction.ecn)) })
    }
}

impl Stage for EcnStage {
    fn meet(&mut self, _now: u64, packet: &mut Packet) -> Result<(), Fate> {
        let capable = packet.ecn != Ecn::NotEct;
        packet.ecn = match self.0 {
            EcnPolicy::Bleach => Ecn::NotEct,
            EcnPolicy::Mark if capable => Ecn::Ce,
            EcnPolicy::Swap if packet.ecn == Ecn::Ect0 => Ecn::Ect1,
            EcnPolicy::Swap if packet.ecn == Ecn::Ect1 => Ecn::Ect0,
            EcnPolicy::Drop if capable => return Err(Fate::Blocked { reject: false }),
            _ => packet.ecn,
        };
        Ok(())
    }
}
