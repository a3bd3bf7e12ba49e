//! FQ-PIE, as Linux has it: the rounds of FQ-CoDel over flows that are each under PIE.

use super::pie::{Control, Law, PER_CENT};
use super::rounds::Rounds;
use super::{Discipline, Timer};
use crate::item::Item;
use crate::parameters::FqPieParameters;

pub(crate) struct FqPie {
    law: Law,
    /// Linux calculates for at most 2048 flows in a tick of its clock; here all have their turn at once.
    timer: Timer,
    limit: usize,
    rounds: Rounds<Control>,
    packets: usize,
}

impl FqPie {
    pub fn new(parameters: FqPieParameters) -> Self {
        FqPie {
            law: Law::new(parameters.pie(), PER_CENT * u64::from(parameters.ecn_prob)),
            timer: Timer::new(parameters.tupdate_ns),
            limit: parameters.limit as usize,
            rounds: Rounds::new(parameters.flows, parameters.quantum),
            packets: 0,
        }
    }
}

impl Discipline for FqPie {
    fn enqueue(&mut self, _now: u64, mut item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>) {
        let place = self.rounds.place(item.packet.flow);
        let flow = &mut self.rounds.flows[place];
        if self.packets + usize::from(ahead.is_some()) >= self.limit {
            flow.control.refuse();
            dropped.push(item);
        } else if flow.control.admits(&self.law, flow.backlog.bytes(), &mut item) {
            self.packets += 1;
            self.rounds.push(place, item);
        } else {
            dropped.push(item);
        }
    }

    fn dequeue(&mut self, now: u64, _dropped: &mut Vec<Item>) -> Option<Item> {
        let law = &self.law;
        let item = self.rounds.next(|flow| {
            let item = flow.backlog.pop()?;
            flow.control.leave(law, now, flow.backlog.bytes(), &item);
            Some(item)
        })?;
        self.packets -= 1;
        Some(item)
    }

    fn is_empty(&self) -> bool {
        self.packets == 0
    }

    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_> {
        Box::new(self.rounds.items_mut())
    }

    fn pass(&mut self, now: u64, _ahead: Option<&Item>) {
        let times = self.timer.due(now);
        if times > 0 {
            for flow in &mut self.rounds.flows {
                flow.control.calculate(&self.law, flow.backlog.bytes(), times);
            }
        }
    }
}
