//! Deficit round robin over flows, with a turn ahead for new ones, as Linux's FQ-CoDel and FQ-PIE have it.

use std::collections::VecDeque;

use crate::backlog::Backlog;
use crate::item::Item;

/// Queues of flows, each with a control of its own.
pub(crate) struct Rounds<Control> {
    quantum: i64,
    pub flows: Vec<Flow<Control>>,
    /// Flows by their places in `flows`: each is on one of the lists or on none.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

#[derive(Default)]
pub(crate) struct Flow<Control> {
    pub backlog: Backlog,
    listed: bool,
    /// Bytes it may still send in this round.
    deficit: i64,
    pub control: Control,
}

impl<Control: Default> Rounds<Control> {
    pub fn new(flows: u32, quantum: u32) -> Self {
        Rounds {
            quantum: quantum.into(),
            flows: (0..flows).map(|_| Flow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// The place of a flow with this hash: the hash, scaled to the number of places.
    pub fn place(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.flows.len() as u64) >> 32) as usize
    }

    /// Adds a packet to the flow at this place.
    pub fn push(&mut self, place: usize, item: Item) {
        let flow = &mut self.flows[place];
        flow.backlog.push(item);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new.push_back(place);
        }
    }

    /// The packet that is sent next: `take` takes it from the flow whose turn it is.
    pub fn next(&mut self, mut take: impl FnMut(&mut Flow<Control>) -> Option<Item>) -> Option<Item> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let flow = &mut self.flows[place];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            if let Some(item) = take(flow) {
                flow.deficit -= i64::from(item.packet.bytes);
                return Some(item);
            }
            list.pop_front();
            // A new flow that has run empty passes through the old ones first, or it could come back as new at once and starve them.
            if from_new && !self.old.is_empty() {
                self.old.push_back(place);
            } else {
                flow.listed = false;
            }
        }
    }

    pub fn items_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.flows.iter_mut().flat_map(|flow| flow.backlog.items_mut())
    }
}
