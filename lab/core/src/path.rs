//! One direction of a link at work.

use crate::bottleneck::Bottleneck;
use crate::delay::Propagation;
use crate::direction::{Direction, Queue};
use crate::draws::{Stream, cross_seed};
use crate::entrance::Entrance;
use crate::fate::{Decision, Ecn, Fate, Packet, Party};
use crate::item::{Item, Met, Origin, Outgoing};
use crate::loss::Losses;
use crate::tally::Tally;

/// The state of one direction of a link: packets are offered, and decisions come out, some at once and some later.
pub struct Path {
    now: u64,
    entrance: Entrance,
    bottleneck: Bottleneck,
    outgoing: Outgoing,
    duplicate: f64,
    flows_apart: bool,
    own: Flow,
    cross: Flow,
}

/// What the packets of one pair of hosts do not share with the others': their luck, and what became of them.
struct Flow {
    stream: Stream,
    losses: Losses,
    propagation: Propagation,
    tally: Tally,
}

impl Path {
    /// A path on which nothing has travelled yet. `seed`: see [`crate::stream_seed`].
    ///
    /// # Panics
    ///
    /// If [`Direction::validate`] refuses the direction.
    pub fn new(direction: &Direction, seed: u64) -> Path {
        if let Err(invalid) = direction.validate() {
            panic!("a path needs a valid direction: {invalid}");
        }
        Path {
            now: 0,
            entrance: Entrance::new(direction),
            bottleneck: Bottleneck::new(direction),
            outgoing: Outgoing::new(),
            duplicate: direction.duplicate,
            flows_apart: direction.queue.is_some_and(Queue::tells_flows_apart),
            own: Flow::new(direction, seed),
            cross: Flow::new(&direction.for_cross_traffic(), cross_seed(seed)),
        }
    }

    /// Takes over what still waits for another path's rate, as where one course of a link follows another: it is sent before
    /// anything that comes now. If cross traffic met the other one, its policers' tokens are taken over too, and what its queue
    /// discipline has learned, as it is where packets wait. `zero`: this path's time zero on the other's clock, ns. Nothing of
    /// it is counted here.
    pub fn follow(&mut self, other: Path, zero: u64) {
        let shared = other.cross.tally.packets_in > 0;
        if shared {
            self.entrance.follow(other.entrance, zero);
            let order = &other.cross.propagation;
            self.cross.propagation.follow(order, zero);
        }
        self.bottleneck.follow(other.bottleneck, zero, shared);
    }

    /// Whether decisions depend on `Packet::flow`.
    pub fn tells_flows_apart(&self) -> bool {
        self.flows_apart
    }

    /// Takes in a packet that arrives at `now`, ns since the link's time zero; the decision on it comes with `ticket`. A `now`
    /// earlier than the latest seen is taken for the latest seen.
    pub fn offer(&mut self, now: u64, party: Party, packet: Packet, ticket: usize) {
        self.now = self.now.max(now);
        let flow = match party {
            Party::Own => &mut self.own,
            Party::Cross => &mut self.cross,
        };
        let (admitted, entry) = self.entrance.admit(self.now, packet);
        let item = Item {
            ticket,
            origin: Origin::Party(party, flow.tally.offer(packet)),
            packet: admitted,
            arrived: self.now,
            entered: self.now,
            draws: flow.stream.next_packet(),
            marked: false,
        };
        self.bottleneck.run(self.now, &mut self.outgoing);
        match entry {
            Ok(()) => self.bottleneck.take(self.now, item, &mut self.outgoing),
            Err(fate) => self.outgoing.push_back(Met {
                item,
                departure: Err(fate),
                at: self.bottleneck.refused_at(self.now),
            }),
        }
    }

    /// The next decision that can be made by `now`. One of the link's own packets that would be delivered is blocked at the
    /// end of the way unless it `reaches` somebody: asked with its ticket and the time.
    pub fn next(&mut self, now: u64, reaches: impl FnOnce(usize, u64) -> bool) -> Option<Decision> {
        if self.outgoing.is_empty() {
            self.bottleneck.run(now, &mut self.outgoing);
        }
        let Met {
            item,
            departure,
            at,
        } = self.outgoing.pop_front()?;
        let decision = |fate| Decision {
            ticket: item.ticket,
            fate,
            marked: item.marked && matches!(fate, Fate::Deliver { .. }),
            ecn: if item.marked {
                Ecn::Ce
            } else {
                item.packet.ecn
            },
        };
        let (Origin::Party(party, _) | Origin::Earlier(party)) = item.origin;
        let flow = match party {
            Party::Own => &mut self.own,
            Party::Cross => &mut self.cross,
        };
        let Origin::Party(_, index) = item.origin else {
            // It counts nowhere, and only has to arrive.
            return Some(decision(departure.map_or_else(
                |refused| refused,
                |departure| Fate::Deliver {
                    at: flow.propagation.deliver(departure, &item.draws),
                    copy: None,
                },
            )));
        };
        if let (Ok(departure), Party::Own) = (departure, party) {
            flow.tally.wait(departure - item.arrived);
        }
        let fate = match flow.decide(&item, index, departure, at, self.duplicate) {
            Fate::Deliver { at, .. } if party == Party::Own && !reaches(item.ticket, at) => {
                Fate::Blocked { reject: false }
            }
            fate => fate,
        };
        let decision = decision(fate);
        flow.tally.decide(index, item.packet, fate, decision.marked);
        Some(decision)
    }

    /// What becomes of packets that arrive at these times, ns, if nothing else comes: a decision for each, in their order.
    pub fn decisions(&mut self, packets: impl IntoIterator<Item = (u64, Packet)>) -> Vec<Decision> {
        let mut decisions = vec![];
        for (ticket, (now, packet)) in packets.into_iter().enumerate() {
            self.offer(now, Party::Own, packet, ticket);
            decisions.extend(std::iter::from_fn(|| self.next(now, |_, _| true)));
        }
        decisions.extend(std::iter::from_fn(|| self.next(u64::MAX, |_, _| true)));
        decisions.sort_unstable_by_key(|decision| decision.ticket);
        decisions
    }

    /// When to ask for the next decision, if nothing is offered before; None: there is none.
    pub fn deadline(&self) -> Option<u64> {
        if self.outgoing.is_empty() {
            self.bottleneck.deadline()
        } else {
            Some(0)
        }
    }

    /// What became of the packets so far, cross traffic apart.
    pub fn tally(&self) -> Tally {
        self.own.tally.clone()
    }

    /// What became of the cross traffic's.
    pub fn cross_tally(&self) -> Tally {
        self.cross.tally.clone()
    }
}

impl Flow {
    fn new(direction: &Direction, seed: u64) -> Self {
        Flow {
            stream: Stream::new(seed),
            losses: Losses::new(direction),
            propagation: Propagation::new(direction, seed),
            tally: Tally::default(),
        }
    }

    /// The stages after the rate, which the packet meets `at` that time, ns.
    fn decide(
        &mut self,
        item: &Item,
        index: u64,
        departure: Result<u64, Fate>,
        at: u64,
        duplicate: f64,
    ) -> Fate {
        let draws = &item.draws;
        // A refused packet steps the loss model too, so that the others' losses do not hang on it.
        let lost = self.losses.lose(at, index, item.packet.bytes, draws);
        match departure {
            Err(refused) => refused,
            Ok(_) if lost => Fate::Lost,
            Ok(departure) => {
                let at = self.propagation.deliver(departure, draws);
                let copy = (draws.duplicate < duplicate).then_some(at);
                Fate::Deliver { at, copy }
            }
        }
    }
}
