//! Drop-tail in front of a token bucket, where a packet's departure is not known when it arrives.

use super::Discipline;
use crate::backlog::Backlog;
use crate::direction::Queue;
use crate::item::Item;

pub(crate) struct Fifo {
    limit: Option<Queue>,
    backlog: Backlog,
}

impl Fifo {
    pub fn new(limit: Option<Queue>) -> Self {
        Fifo { limit, backlog: Backlog::default() }
    }

    fn has_room(&self, item: &Item, ahead: Option<&Item>) -> bool {
        let bytes = |item: &Item| u64::from(item.packet.bytes);
        match self.limit {
            Some(Queue::Bytes(limit)) => self.backlog.bytes() + ahead.map_or(0, bytes) + bytes(item) <= limit,
            Some(Queue::Packets(limit)) => ((self.backlog.len() + usize::from(ahead.is_some())) as u64) < limit,
            _ => true,
        }
    }
}

impl Discipline for Fifo {
    fn enqueue(&mut self, _now: u64, item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>) {
        if self.has_room(&item, ahead) {
            self.backlog.push(item);
        } else {
            dropped.push(item);
        }
    }

    fn dequeue(&mut self, _now: u64, _dropped: &mut Vec<Item>) -> Option<Item> {
        self.backlog.pop()
    }

    fn is_empty(&self) -> bool {
        self.backlog.is_empty()
    }

    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_> {
        Box::new(self.backlog.items_mut())
    }
}
