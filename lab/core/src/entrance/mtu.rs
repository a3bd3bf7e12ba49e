//! The largest packet that the path carries.

use super::Stage;
use crate::direction::{Direction, Mtu};
use crate::fate::{Fate, Packet};
use crate::timeline::Timeline;

pub(super) struct MtuStage(Timeline<Option<Mtu>>);

impl MtuStage {
    pub fn of(direction: &Direction) -> Option<Box<dyn Stage>> {
        let changes = direction.changes.iter();
        let changes: Vec<_> = changes.filter_map(|change| Some((change.at_ns, Some(change.mtu?)))).collect();
        let acts = direction.mtu.is_some() || !changes.is_empty();
        acts.then(|| -> Box<dyn Stage> { Box::new(MtuStage(Timeline::new(direction.mtu, changes.into_iter()))) })
    }
}

impl Stage for MtuStage {
    fn meet(&mut self, now: u64, packet: &mut Packet) -> Result<(), Fate> {
        match *self.0.at(now).0 {
            Some(Mtu { bytes, silent }) if packet.bytes > bytes => {
                Err(Fate::TooLarge { answer: (!silent).then_some(bytes) })
            }
            _ => Ok(()),
        }
    }
}
