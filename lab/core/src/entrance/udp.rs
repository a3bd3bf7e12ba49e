//! What the path does to UDP alone.

use super::Stage;
use super::policer::Policer;
use crate::direction::{Direction, Udp};
use crate::fate::{Fate, Packet};
use crate::timeline::Timeline;

/// What so long a silence has saved may come at once.
const SAVED_NS: u64 = 100_000_000;

pub(super) struct UdpStage {
    policies: Timeline<Udp>,
    policer: Policer,
}

impl UdpStage {
    pub fn of(direction: &Direction) -> Option<Box<dyn Stage>> {
        let changes = direction.changes.iter();
        let changes: Vec<_> = changes.filter_map(|change| Some((change.at_ns, change.udp?))).collect();
        let acts = direction.udp != Udp::Pass || !changes.is_empty();
        acts.then(|| -> Box<dyn Stage> {
            Box::new(UdpStage {
                policies: Timeline::new(direction.udp, changes.into_iter()),
                policer: Policer::default(),
            })
        })
    }
}

impl Stage for UdpStage {
    fn meet(&mut self, now: u64, packet: &mut Packet) -> Result<(), Fate> {
        if !packet.udp {
            return Ok(());
        }
        let policy = *self.policies.at(now).0;
        let passes = match policy {
            Udp::Pass => true,
            Udp::Drop | Udp::Reject => false,
            Udp::Limit(bps) => self.policer.passes(now, packet.bytes, bps, SAVED_NS),
        };
        let reject = policy == Udp::Reject;
        passes.then_some(()).ok_or(Fate::Blocked { reject })
    }

    fn memory(&mut self) -> Option<&mut Policer> {
        Some(&mut self.policer)
    }
}
