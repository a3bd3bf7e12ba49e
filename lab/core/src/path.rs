//! One direction of a link at work.

use crate::air::Air;
use crate::bottleneck::Bottleneck;
use crate::delay::Propagation;
use crate::direction::Direction;
use crate::draws::{Stream, cross_seed};
use crate::entrance::Entrance;
use crate::fate::{Decision, Ecn, Fate, Packet, Party};
use crate::item::{Item, Met, Origin, Outgoing};
use crate::loss::Losses;
use crate::reordering::Reordering;
use crate::tally::Tally;

/// The state of one direction of a link: packets are offered, and decisions come out, some at once and some later.
pub struct Path {
    now: u64,
    entrance: Entrance,
    bottleneck: Bottleneck,
    outgoing: Outgoing,
    flows_apart: bool,
    thins: bool,
    /// Whether something may wait to be sent: always where acknowledgements are thinned out, else of an earlier course.
    airborne: bool,
    wire: Wire,
}

/// What packets meet after the rate.
struct Wire {
    duplicate: f64,
    /// Of the link's own packets, if their order may change.
    reordering: Option<Reordering>,
    own: Flow,
    cross: Flow,
}

/// What the packets of one pair of hosts do not share with the others': their luck, and what became of them.
struct Flow {
    stream: Stream,
    losses: Losses,
    /// What waits to be sent, if acknowledgements are thinned out.
    air: Air,
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
            flows_apart: direction.tells_flows_apart(),
            thins: direction.thins_acks(),
            airborne: direction.thins_acks(),
            wire: Wire {
                duplicate: direction.duplicate,
                reordering: direction.reorders().then(Reordering::default),
                own: Flow::new(direction, seed),
                cross: Flow::new(&direction.for_cross_traffic(), cross_seed(seed)),
            },
        }
    }

    /// Takes over what still waits for another path's rate, as where one course of a link follows another: it is sent before
    /// anything that comes now. If cross traffic met the other one, its policers' tokens are taken over too, and what its queue
    /// discipline has learned, as it is where packets wait. `zero`: this path's time zero on the other's clock, ns. Nothing of
    /// it is counted here.
    pub fn follow(&mut self, other: Path, zero: u64) {
        let shared = other.wire.cross.tally.packets_in > 0;
        if shared {
            self.entrance.follow(other.entrance, zero);
            let order = &other.wire.cross.propagation;
            self.wire.cross.propagation.follow(order, zero);
        }
        self.bottleneck.follow(other.bottleneck, zero, shared);
        self.airborne |= other.airborne;
        self.wire.own.air.follow(other.wire.own.air, zero);
        self.wire.cross.air.follow(other.wire.cross.air, zero);
    }

    /// Whether decisions depend on `Packet::flow`.
    pub fn tells_flows_apart(&self) -> bool {
        self.flows_apart
    }

    /// Whether they depend on `Packet::ack`.
    pub fn thins_acks(&self) -> bool {
        self.thins
    }

    /// Takes in a packet that arrives at `now`, ns since the link's time zero; the decision on it comes with `ticket`. A `now`
    /// earlier than the latest seen is taken for the latest seen.
    pub fn offer(&mut self, now: u64, party: Party, packet: Packet, ticket: usize) {
        self.now = self.now.max(now);
        let flow = match party {
            Party::Own => &mut self.wire.own,
            Party::Cross => &mut self.wire.cross,
        };
        let (packet, entry) = self.entrance.admit(self.now, packet);
        let item = Item {
            ticket,
            origin: Origin::Party(party, flow.tally.offer(packet)),
            packet,
            arrived: self.now,
            entered: self.now,
            draws: flow.stream.next_packet(),
            marked: false,
        };
        self.bottleneck.run(self.now, &mut self.outgoing);
        let (at, refused) = match (entry, &mut self.bottleneck) {
            (Err(fate), bottleneck) => (bottleneck.refused_at(self.now), Some(fate)),
            (Ok(()), Bottleneck::Known(known)) => known.take(self.now, packet.bytes),
            (Ok(()), Bottleneck::Managed(managed)) => {
                return managed.take(self.now, item, &mut self.outgoing);
            }
        };
        self.outgoing.push_back(Met { item, at, refused });
    }

    /// The next decision that can be made by `now`. One of the link's own packets that would be delivered is blocked at the
    /// end of the wire unless it `reaches` somebody: asked with its ticket and the time.
    pub fn next(&mut self, now: u64, reaches: impl FnOnce(usize, u64) -> bool) -> Option<Decision> {
        loop {
            let wire = &mut self.wire;
            if self.airborne
                && let Some(waited) = wire.own.air.due(now).or_else(|| wire.cross.air.due(now))
            {
                return Some(wire.decide(&waited.item, waited.outcome(), reaches));
            }
            if self.outgoing.is_empty() {
                self.bottleneck.run(now, &mut self.outgoing);
            }
            let Met { item, at, refused } = self.outgoing.front()?;
            let (flow, _) = wire.flow(item);
            let lost = flow.meet(item, *at, refused.is_none());
            let outcome = match *refused {
                Some(refused) => Err(refused),
                None => {
                    let opportunity = flow.propagation.opportunity(*at);
                    if self.thins {
                        let waits = self.outgoing.pop_front()?.item;
                        wire.flow(&waits).0.air.wait(waits, opportunity, lost);
                        continue;
                    }
                    if lost { Err(Fate::Lost) } else { Ok(opportunity) }
                }
            };
            let decision = wire.decide(item, outcome, reaches);
            self.outgoing.pop_front();
            return Some(decision);
        }
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
        if !self.outgoing.is_empty() {
            return Some(0);
        }
        let decision = self.bottleneck.deadline();
        if !self.airborne {
            return decision;
        }
        let airs = [&self.wire.own, &self.wire.cross].map(|flow| flow.air.deadline());
        airs.into_iter().chain([decision]).flatten().min()
    }

    /// What became of the packets so far, cross traffic apart.
    pub fn tally(&self) -> Tally {
        let mut tally = self.wire.own.tally.clone();
        if let Some(mut reordering) = self.wire.reordering.clone() {
            reordering.settle(u64::MAX);
            tally.reordered_near = reordering.near;
            tally.reordered_far = reordering.far;
        }
        tally
    }

    /// What became of the cross traffic's.
    pub fn cross_tally(&self) -> Tally {
        self.wire.cross.tally.clone()
    }
}

impl Wire {
    /// On a packet that is sent at a time, ns, or is not.
    fn decide(
        &mut self,
        item: &Item,
        outcome: Result<u64, Fate>,
        reaches: impl FnOnce(usize, u64) -> bool,
    ) -> Decision {
        let duplicate = self.duplicate;
        let (flow, party) = self.flow(item);
        let counts = matches!(item.origin, Origin::Party(..));
        let deliver = |sent| {
            let at = flow.propagation.deliver(sent, &item.draws);
            let copied = counts && item.draws.rare().duplicate < duplicate;
            Fate::Deliver { at, copy: copied.then_some(at) }
        };
        let fate = match outcome.map_or_else(|refused| refused, deliver) {
            Fate::Deliver { at, .. } if counts && party == Party::Own && !reaches(item.ticket, at) => {
                Fate::Blocked { reject: false }
            }
            fate => fate,
        };
        let decision = Decision {
            ticket: item.ticket,
            fate,
            marked: item.marked && matches!(fate, Fate::Deliver { .. }),
            ecn: if item.marked { Ecn::Ce } else { item.packet.ecn },
        };
        if let Origin::Party(_, index) = item.origin {
            flow.tally.decide(index, item.packet, fate, decision.marked);
            if let (Ok(sent), Fate::Deliver { at, .. }) = (outcome, fate)
                && let (Party::Own, Some(reordering)) = (party, &mut self.reordering)
            {
                reordering.deliver(sent, at, index, item.packet.flow);
            }
        }
        decision
    }

    /// Of whose packets an item is one, and whose they are.
    fn flow(&mut self, item: &Item) -> (&mut Flow, Party) {
        match item.origin {
            Origin::Party(Party::Own, _) | Origin::Earlier(Party::Own) => (&mut self.own, Party::Own),
            Origin::Party(Party::Cross, _) | Origin::Earlier(Party::Cross) => (&mut self.cross, Party::Cross),
        }
    }
}

impl Flow {
    fn new(direction: &Direction, seed: u64) -> Self {
        Flow {
            stream: Stream::new(seed, direction),
            losses: Losses::new(direction),
            air: Air::default(),
            propagation: Propagation::new(direction, seed),
            tally: Tally::default(),
        }
    }

    /// Counts how long a packet waited that `departs` at that time, ns, and says whether it is lost then. Of an earlier course
    /// none is counted or lost.
    fn meet(&mut self, item: &Item, at: u64, departs: bool) -> bool {
        let Origin::Party(party, index) = item.origin else {
            return false;
        };
        if departs && party == Party::Own {
            self.tally.wait(at - item.arrived);
        }
        // A refused packet steps the loss model too, so that the others' losses do not hang on it.
        self.losses.lose(at, index, item.packet.bytes, &item.draws)
    }
}
