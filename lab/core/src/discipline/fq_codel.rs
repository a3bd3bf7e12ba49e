//! FQ-CoDel (RFC 8290), as Linux has it: deficit round robin over flows, each under CoDel, with a turn ahead for new ones.

use super::Discipline;
use super::codel::{Control, Head, Law};
use super::rounds::Rounds;
use crate::backlog::Backlog;
use crate::item::Item;
use crate::parameters::FqCodelParameters;

pub(crate) struct FqCodel {
    law: Law,
    limit: usize,
    batch: usize,
    rounds: Rounds<Control>,
    packets: usize,
    /// Of all flows.
    bytes: u64,
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
            batch: parameters.drop_batch as usize,
            rounds: Rounds::new(parameters.flows, parameters.quantum),
            packets: 0,
            bytes: 0,
        }
    }

    /// Drops from the head of the longest flow up to half of its bytes, so that the search for it is not needed each time.
    fn drop_from_longest(&mut self, dropped: &mut Vec<Item>) {
        let mut longest = 0;
        for (place, flow) in self.rounds.flows.iter().enumerate() {
            if flow.backlog.bytes() > self.rounds.flows[longest].backlog.bytes() {
                longest = place;
            }
        }
        let flow = &mut self.rounds.flows[longest];
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
        self.packets += 1;
        self.bytes += u64::from(item.packet.bytes);
        self.rounds.push(self.rounds.place(item.packet.flow), item);
        if self.packets + usize::from(ahead.is_some()) > self.limit {
            self.drop_from_longest(dropped);
        }
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<Item>) -> Option<Item> {
        let (law, packets, bytes) = (&self.law, &mut self.packets, &mut self.bytes);
        self.rounds.next(|flow| {
            let mut head = FlowHead { backlog: &mut flow.backlog, packets, bytes };
            flow.control.dequeue(law, &mut head, now, dropped)
        })
    }

    fn is_empty(&self) -> bool {
        self.packets == 0
    }

    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_> {
        Box::new(self.rounds.items_mut())
    }
}
