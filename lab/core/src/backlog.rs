//! Packets in order of arrival.

use std::collections::VecDeque;

use crate::item::Item;

#[derive(Default)]
pub(crate) struct Backlog {
    items: VecDeque<Item>,
    bytes: u64,
}

impl Backlog {
    pub fn push(&mut self, item: Item) {
        self.bytes += u64::from(item.packet.bytes);
        self.items.push_back(item);
    }

    pub fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.bytes -= u64::from(item.packet.bytes);
        Some(item)
    }

    pub fn first(&self) -> Option<&Item> {
        self.items.front()
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn items_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.items.iter_mut()
    }
}
