//! What the path does to all packets of an IP version.

use super::Stage;
use crate::direction::{Direction, IpPolicy};
use crate::fate::{Fate, Packet};

pub(super) struct IpStage {
    ipv4: IpPolicy,
    ipv6: IpPolicy,
}

impl IpStage {
    pub fn of(direction: &Direction) -> Option<Box<dyn Stage>> {
        let (ipv4, ipv6) = (direction.ipv4, direction.ipv6);
        let acts = [ipv4, ipv6] != [IpPolicy::Pass; 2];
        acts.then(|| -> Box<dyn Stage> { Box::new(IpStage { ipv4, ipv6 }) })
    }
}

impl Stage for IpStage {
    fn meet(&mut self, _now: u64, packet: &mut Packet) -> Result<(), Fate> {
        match if packet.ipv6 { self.ipv6 } else { self.ipv4 } {
            IpPolicy::Pass => Ok(()),
            policy => Err(Fate::Blocked { reject: policy == IpPolicy::Reject }),
        }
    }
}
