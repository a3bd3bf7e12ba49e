//! FQ-CoDel (RFC 8290), as Linux has it: deficit round robin over flows, each under CoDel, with a turn ahead for new ones.

use std::collections::VecDeque;

use super::Discipline;
use super::codel::{Control, Head, Law};
use crate::backlog::Backlog;
use crate::direction::FqCodelParameters;
use crate::item::Item;

pub(crate) struct FqCodel {
    law: Law,
    limit: usize,
    quantum: i64,
    batch: usize,
    flows: Vec<Flow>,
    /// Flows by their places in `flows`: each is on one of the lists or on none.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: usize,
    /// Of all flows.
    bytes: u64,
}

#[derive(Default)]
struct Flow {
    backlog: Backlog,
    listed: bool,
    /// Bytes it may still send in this round.
    deficit: i64,
    control: Control,
}

/// The head of one flow's queue, with the counters of all flows.
struct FlowHead<'a> {
    backlog: &'a mut Backlog,
    packets: &'a mut usize,
    bytes: &'a mut u64,
}

impl Head for FlowHead<'_> {
    fn take(&mut self) -> Option<Item> {
        let item = self.backlog.pop()?;
        *self.packets -= 1;
        *self.bytes -= u64::from(item.packet.bytes);
        Some(item)
    }

    /// Of all flows, as in Linux: a flow's last packet is not safe while others wait.
    fn backlog(&self) -> u64 {
        *self.bytes
    }
}

impl FqCodel {
    pub fn new(parameters: FqCodelParameters) -> Self {
        FqCodel {
            law: Law::new(parameters.codel()),
            limit: parameters.limit as usize,
            quantum: i64::from(parameters.quantum),
            batch: parameters.drop_batch as usize,
            flows: (0..parameters.flows).map(|_| Flow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    /// The flow's place: its hash, scaled to the number of places.
    fn place(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.flows.len() as u64) >> 32) as usize
    }

    /// Drops from the head of the longest flow up to half of its bytes, so that the search for it is not needed each time.
    fn drop_from_longest(&mut self, dropped: &mut Vec<Item>) {
        let mut longest = 0;
        for (place, flow) in self.flows.iter().enumerate() {
            if flow.backlog.bytes() > self.flows[longest].backlog.bytes() {
                longest = place;
            }
        }
        let flow = &mut self.flows[longest];
        let (enough, mut gone, mut number) = (flow.backlog.bytes() / 2, 0, 0);
        while let Some(item) = flow.backlog.pop() {
            gone += u64::from(item.packet.bytes);
            number += 1;
            dropped.push(item);
            if number >= self.batch || gone >= enough {
                break;
            }
        }
        flow.control.count = flow.control.count.wrapping_add(number as u32);
        self.packets -= number;
        self.bytes -= gone;
    }
}

impl Discipline for FqCodel {
    fn enqueue(&mut self, _now: u64, item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>) {
        let place = self.place(item.packet.flow);
        let flow = &mut self.flows[place];
        self.packets += 1;
        self.bytes += u64::from(item.packet.bytes);
        flow.backlog.push(item);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new.push_back(place);
        }
        if self.packets + usize::from(ahead.is_some()) > self.limit {
            self.drop_from_longest(dropped);
        }
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<Item>) -> Option<Item> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &self.new } else { &self.old };
            let place = *list.front()?;
            let flow = &mut self.flows[place];
            let mut take_off = || {
                if from_new {
                    self.new.pop_front();
                } else {
                    self.old.pop_front();
                }
            };
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                take_off();
                self.old.push_back(place);
                continue;
            }
            let mut head = FlowHead {
                backlog: &mut flow.backlog,
                packets: &mut self.packets,
                bytes: &mut self.bytes,
            };
            if let Some(item) = flow.control.dequeue(&self.law, &mut head, now, dropped) {
                flow.deficit -= i64::from(item.packet.bytes);
                return Some(item);
            }
            take_off();
            // A new flow that has run empty passes through the old ones first, or it could come back as new at once and starve them.
            if from_new && !self.old.is_empty() {
                self.old.push_back(place);
            } else {
                flow.listed = false;
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.packets == 0
    }

    fn drain(&mut self) -> Vec<Item> {
        let mut items = vec![];
        for flow in &mut self.flows {
            items.extend(flow.backlog.drain());
            *flow = Flow::default();
        }
        self.new.clear();
        self.old.clear();
        (self.packets, self.bytes) = (0, 0);
        items.sort_by_key(|item| item.entered);
        items
    }
}
