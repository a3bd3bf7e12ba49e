//! CAKE without priorities, as Linux has it: a queue under COBALT for each flow, in deficit round robin with a turn ahead for
//! flows that send little, each flow with a share that shrinks with the number of its host's flows.

use std::collections::VecDeque;

use super::Discipline;
use super::cobalt::{Control, Law};
use super::codel::MTU;
use crate::backlog::Backlog;
use crate::fate::Party;
use crate::item::{Item, Origin};
use crate::parameters::{CakeParameters, Isolation};
use crate::shaper::Shaper;

/// Places for flows. A flow's hash names one of them; the other ones of its set are used if that is taken.
const PLACES: usize = 1024;
const WAYS: usize = 8;
/// Linux's heap has all tins' flows, whether there are packets for them or not.
const TINS: usize = 8;
const NEW: usize = 0;
const OLD: usize = 1;
const DECAYING: usize = 2;
/// So many packets may leave after a drop before the longest queues are no longer kept track of.
const TRACKED: u16 = u16::MAX;

/// What a packet takes from the memory: Linux's buffer for it and its description of it.
fn memory(bytes: u32) -> u64 {
    (u64::from(bytes) + 336).next_power_of_two().max(512) + 256
}

pub(crate) struct Cake {
    law: Law,
    isolation: Isolation,
    quantum: u32,
    limit: u64,
    memory: u64,
    packets: usize,
    flows: Vec<Flow>,
    /// New, old and decaying flows by their places, each on one of the lists or on none.
    lists: [VecDeque<usize>; 3],
    /// Of the link's own hosts and of those of cross traffic: how many of their flows are in `Set::Bulk`.
    bulk: [u32; 2],
    longest: Longest,
    tracked: u16,
    draw: u64,
}

#[derive(Default)]
struct Flow {
    backlog: Backlog,
    control: Control,
    /// Of the flow whose place this is, or was.
    hash: u32,
    host: usize,
    set: Set,
    deficit: i64,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Set {
    #[default]
    None,
    Sparse,
    /// Empty, and among the old ones for its deficit.
    SparseWait,
    Bulk,
    Decaying,
}

impl Cake {
    /// With a bandwidth of its own, or before a rate.
    pub fn new(parameters: CakeParameters, shaper: Option<&Shaper>) -> Self {
        let packet = shaper.map_or(0, |shaper| shaper.time(MTU as u32));
        let most = u64::from(parameters.memlimit.unwrap_or(0)).max(10_240 * MTU);
        let quantum = shaper.map_or(1514, |shaper| (shaper.bytes_per_s() >> 12).clamp(300, 1514));
        let limit = match (parameters.memlimit, shaper) {
            (Some(limit), _) => limit.into(),
            (None, Some(shaper)) => {
                let interval = u128::from(parameters.rtt_ns / 1000);
                let enough = u128::from(shaper.bytes_per_s()) * interval / 250_000;
                u64::try_from(enough).unwrap_or(most).max(4 << 20)
            }
            (None, None) => most,
        };
        Cake {
            law: Law::new(parameters.rtt_ns, packet),
            isolation: parameters.isolation,
            quantum: quantum as u32,
            limit: limit.min(most),
            memory: 0,
            packets: 0,
            flows: (0..PLACES).map(|_| Flow::default()).collect(),
            lists: Default::default(),
            bulk: [0; 2],
            longest: Longest::new(),
            tracked: 0,
            draw: 0,
        }
    }

    /// 32 random bits. The draw of the packet that came last is their seed.
    fn draw(&mut self) -> u32 {
        next(&mut self.draw)
    }

    /// Bytes that a flow may send in a round, with the fraction left to chance.
    fn round(&mut self, place: usize) -> i64 {
        let load = match self.isolation {
            Isolation::TripleIsolate => self.bulk[self.flows[place].host].max(1),
            _ => 1,
        };
        let chance = self.draw() >> 16;
        ((self.quantum * (65_535 / load) + chance) >> 16).into()
    }

    /// The place of the flow with this hash: reserved for it, or free, or its own in spite of another flow.
    fn place(&mut self, hash: u32, host: usize) -> usize {
        if self.isolation == Isolation::Flowblind {
            return 0;
        }
        let own = hash as usize % PLACES;
        let flow = &self.flows[own];
        if flow.hash == hash && flow.set != Set::None {
            return own;
        }
        let way = |i| own - own % WAYS + (own + i) % WAYS;
        let reserved = (0..WAYS).map(way).find(|&place| self.flows[place].hash == hash);
        let free = || (0..WAYS).map(way).find(|&place| self.flows[place].set == Set::None);
        let place = reserved.or_else(free).unwrap_or(own);
        let flow = &mut self.flows[place];
        flow.hash = hash;
        if reserved.is_none() || flow.set == Set::None {
            if flow.set == Set::Bulk {
                self.bulk[flow.host] -= 1;
                self.bulk[host] += 1;
            }
            flow.host = host;
        }
        place
    }

    fn become_bulk(&mut self, place: usize) {
        let flow = &mut self.flows[place];
        flow.set = Set::Bulk;
        self.bulk[flow.host] += 1;
    }

    /// The list of the flow whose turn it is.
    fn turn(&self, decaying_first: bool) -> usize {
        let waits = |list: usize| !self.lists[list].is_empty();
        match decaying_first && waits(DECAYING) {
            true => DECAYING,
            false => [NEW, OLD].into_iter().find(|&list| waits(list)).unwrap_or(DECAYING),
        }
    }

    fn pop(&mut self, place: usize) -> Option<Item> {
        let item = self.flows[place].backlog.pop()?;
        self.packets -= 1;
        self.memory -= memory(item.packet.bytes);
        Some(item)
    }

    fn drop_from_longest(&mut self, now: u64, dropped: &mut Vec<Item>) {
        if self.tracked == 0 {
            self.longest.build(&self.flows);
        }
        self.tracked = TRACKED;
        let place = self.longest.first();
        let Some(item) = self.pop(place) else {
            self.tracked = 0;
            return;
        };
        self.flows[place].control.full(&self.law, now);
        dropped.push(item);
        self.longest.down(&self.flows, 0);
    }

    /// Takes the flow whose turn it was, and found it empty, off the rounds, or lets it decay.
    fn retire(&mut self, place: usize, now: u64) {
        let flow = &mut self.flows[place];
        if flow.set == Set::Bulk {
            self.bulk[flow.host] -= 1;
        }
        flow.set = if flow.control.empty(&self.law, now) {
            self.lists[DECAYING].push_back(place);
            Set::Decaying
        } else {
            Set::None
        };
    }
}

impl Discipline for Cake {
    fn enqueue(&mut self, now: u64, item: Item, _ahead: Option<&Item>, dropped: &mut Vec<Item>) {
        self.draw = item.draws.queue;
        let host = usize::from(matches!(item.origin, Origin::Party(Party::Cross, _)));
        let place = self.place(item.packet.flow, host);
        self.packets += 1;
        self.memory += memory(item.packet.bytes);
        self.flows[place].backlog.push(item);
        if self.tracked > 0 {
            self.longest.up(&self.flows, place);
        }
        match self.flows[place].set {
            before @ (Set::None | Set::Decaying) => {
                if before == Set::Decaying {
                    self.lists[DECAYING].retain(|&other| other != place);
                }
                self.lists[NEW].push_back(place);
                self.flows[place].set = Set::Sparse;
                self.flows[place].deficit = self.round(place);
            }
            Set::SparseWait => self.become_bulk(place),
            Set::Sparse | Set::Bulk => {}
        }
        while self.memory > self.limit {
            self.drop_from_longest(now, dropped);
        }
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<Item>) -> Option<Item> {
        let mut first = true;
        while self.packets > 0 {
            let list = self.turn(std::mem::take(&mut first));
            let place = *self.lists[list].front()?;
            if self.flows[place].deficit <= 0 {
                self.lists[list].pop_front();
                self.lists[OLD].push_back(place);
                if self.flows[place].set == Set::Sparse {
                    if self.flows[place].backlog.is_empty() {
                        self.flows[place].set = Set::SparseWait;
                    } else {
                        self.become_bulk(place);
                    }
                }
                self.flows[place].deficit += self.round(place);
                continue;
            }
            if self.flows[place].backlog.is_empty() {
                self.lists[list].pop_front();
                self.retire(place, now);
                continue;
            }
            while let Some(mut item) = self.pop(place) {
                if self.tracked > 0 {
                    self.longest.down(&self.flows, self.longest.entry_of(place));
                }
                let draw = &mut self.draw;
                let flow = &mut self.flows[place];
                let struck = flow.control.strikes(&self.law, now, &mut item, || next(draw));
                if !struck || flow.backlog.is_empty() {
                    flow.deficit -= i64::from(item.packet.bytes);
                    self.tracked = self.tracked.saturating_sub(1);
                    return Some(item);
                }
                dropped.push(item);
            }
        }
        None
    }

    fn is_empty(&self) -> bool {
        self.packets == 0
    }

    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_> {
        Box::new(self.flows.iter_mut().flat_map(|flow| flow.backlog.items_mut()))
    }
}

/// A step of a linear congruential generator (Knuth's MMIX), of which the upper half is taken.
fn next(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 32) as u32
}

/// The flows as a heap by bytes. Which of two with the same is first hangs on all that was done before, as in Linux.
struct Longest {
    /// Numbers of flows: a flow's place times `TINS`; the others are those of tins without packets.
    heap: Vec<u16>,
    /// Where in the heap each number is.
    entries: Vec<u16>,
}

impl Longest {
    fn new() -> Self {
        let all: Vec<u16> = (0..(PLACES * TINS) as u16).collect();
        Longest { heap: all.clone(), entries: all }
    }

    /// The place of the longest flow.
    fn first(&self) -> usize {
        usize::from(self.heap[0]) / TINS
    }

    fn entry_of(&self, place: usize) -> usize {
        self.entries[place * TINS].into()
    }

    fn bytes(&self, flows: &[Flow], entry: usize) -> u64 {
        let number = usize::from(self.heap[entry]);
        match number % TINS {
            0 => flows[number / TINS].backlog.bytes(),
            _ => 0,
        }
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        for entry in [one, other] {
            self.entries[usize::from(self.heap[entry])] = entry as u16;
        }
    }

    fn build(&mut self, flows: &[Flow]) {
        for entry in (0..self.heap.len() / 2).rev() {
            self.down(flows, entry);
        }
    }

    /// As in Linux, which compares on each level with the flow that has just moved up: a flow sinks by one level, rarely more.
    fn down(&mut self, flows: &[Flow], mut entry: usize) {
        let (mut most, mut bytes) = (entry, self.bytes(flows, entry));
        loop {
            for child in [2 * entry + 1, 2 * entry + 2] {
                let within = child < self.heap.len();
                if within && self.bytes(flows, child) > bytes {
                    (most, bytes) = (child, self.bytes(flows, child));
                }
            }
            if most == entry {
                return;
            }
            self.swap(entry, most);
            entry = most;
        }
    }

    fn up(&mut self, flows: &[Flow], place: usize) {
        let mut entry = self.entry_of(place);
        while entry > 0 {
            let parent = (entry - 1) / 2;
            if self.bytes(flows, entry) <= self.bytes(flows, parent) {
                return;
            }
            self.swap(entry, parent);
            entry = parent;
        }
    }
}
