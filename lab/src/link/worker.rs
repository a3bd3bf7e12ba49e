//! The thread of an emulated link: it stands between two TUN devices, asks the model for each packet's fate and releases
//! packets when they are due.
//!
//! The model decides by the time at which a packet arrived, not by the time at which the thread came to read it. So
//! after a stall the queue has dropped, and the rate has let pass, what they would have without it; what remains of the
//! stall is that packets which were due in it leave late, all at once, and that is recorded. Some decisions come with a
//! packet's arrival and some later, when its turn in a managed queue comes.

mod direction_state;
mod packet_store;
mod release;
mod releasing;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use h123_link::{Fate, Packet, Party, Path};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;

use self::direction_state::DirectionState;
pub use self::direction_state::Ledger;
use self::packet_store::{Held, PacketStore, of_ticket, ticket};
use self::release::Release;
use crate::files::per_direction::{DOWN, UP};
use crate::files::trial::Clock;
use crate::host::monotonic::{kernel_clock, now_ns};
use crate::link::course::Course;
use crate::link::nat::{Nat, Translation};
use crate::link::packet::{self, FlowEnd, Unreachable};
use crate::link::packet_record::Packets;
use crate::link::tun::{HEADER, Tun};

/// Packets read from one device before the other, and what is due, get their turn.
const BATCH: usize = 32;

/// Pairs of hosts: the link's own, and that of its cross traffic.
const OWN: usize = 0;
const CROSS: usize = 1;

/// The end of one course and the beginning of the next.
pub struct Turn {
    /// Time zero of the new course.
    pub zero_ns: u64,
    /// Of the old one, `[up, down]`.
    pub ledgers: [Ledger; 2],
    /// Of the old one; none unless they were to be recorded.
    pub packets: Option<Packets>,
}

/// A course to begin, and where to say so.
pub struct Order {
    pub course: Course,
    pub reply: Sender<Turn>,
}

/// The link as its thread has it. Side 0 is host `a`, side 1 is host `b`; direction 0 is `up`, a to b.
pub struct Worker {
    pairs: Vec<[Tun; 2]>,
    directions: [DirectionState; 2],
    /// If the client moves.
    nat: Option<Nat>,
    zero_ns: u64,
    course: u64,
    /// If they are to be recorded.
    packets: Option<Packets>,
    /// Whether segments that leave together are handed over together, as a network card with receive offload does when packets
    /// come faster than they are processed. Under the virtual clock processing takes no time: each is handed over by itself.
    joins: bool,
    store: PacketStore,
    queue: BinaryHeap<Reverse<Release>>,
    sequence: u64,
}

impl Worker {
    pub fn new(pairs: Vec<[Tun; 2]>, course: &Course) -> Self {
        Self {
            directions: [UP, DOWN].map(|way| DirectionState::new(course, way, dropped(&pairs, way))),
            nat: course.nat(),
            pairs,
            zero_ns: now_ns(),
            course: 0,
            packets: course.record(),
            joins: kernel_clock() == Clock::Wall,
            store: PacketStore::new(),
            queue: BinaryHeap::with_capacity(4096),
            sequence: 0,
        }
    }

    pub fn run(mut self, inbox: &Receiver<Order>, wake: &EventFd) -> io::Result<()> {
        for tun in self.pairs.as_flattened_mut() {
            tun.drain()?;
        }
        loop {
            let next_ns = self.release_due()?;
            let (waiting, has_order) = self.sleep(next_ns, wake)?;
            let mut is_empty = true;
            for (pair, sides) in waiting.into_iter().enumerate().take(self.pairs.len()) {
                is_empty &= self.take_in(pair, UP, sides[UP])?;
                is_empty &= self.take_in(pair, DOWN, sides[DOWN])?;
            }
            // What has arrived by now comes before what is decided now.
            if is_empty {
                self.decide_due()?;
            }
            if has_order {
                // Only wakes the sleeper; what it is about stands in the inbox.
                let _ = wake.read();
                match inbox.try_recv() {
                    Ok(order) => self.turn(order),
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => return Ok(()),
                }
            }
        }
    }

    fn turn(&mut self, order: Order) {
        let dropped = [UP, DOWN].map(|way| dropped(&self.pairs, way));
        let zero_ns = now_ns();
        let fresh = [UP, DOWN].map(|way| DirectionState::new(&order.course, way, dropped[way]));
        let [up, down] = std::mem::replace(&mut self.directions, fresh);
        // What others have sent so far stays in the queue, or the first packets would find it empty.
        let since_ns = zero_ns - self.zero_ns;
        let (up, up_path) = up.close(dropped[UP]);
        let (down, down_path) = down.close(dropped[DOWN]);
        self.directions[UP].path.follow(up_path, since_ns);
        self.directions[DOWN].path.follow(down_path, since_ns);
        let packets = std::mem::replace(&mut self.packets, order.course.record());
        self.nat = order.course.nat();
        self.zero_ns = zero_ns;
        self.course += 1;
        // Whoever asked may have given up: the course changes all the same.
        let _ = order.reply.send(Turn { zero_ns: self.zero_ns, ledgers: [up, down], packets });
    }

    /// Sleeps until a packet comes, from any side, or an order: which of them. At the latest until one is due, in `next_ns`
    /// if any is on its way.
    fn sleep(&self, next_ns: Option<u64>, wake: &EventFd) -> io::Result<([[bool; 2]; CROSS + 1], bool)> {
        let timeout = next_ns.map(|ns| TimeSpec::from_duration(std::time::Duration::from_nanos(ns)));
        let poll = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut events: [PollFd; 1 + 2 * (CROSS + 1)] = std::array::from_fn(|_| poll(wake.as_fd()));
        let tuns = self.pairs.as_flattened();
        for (event, tun) in events[1..].iter_mut().zip(tuns) {
            *event = poll(tun.as_fd());
        }
        match ppoll(&mut events[..=tuns.len()], timeout, None) {
            Ok(_) => {
                let [has_order, some @ ..] = events.map(|event| event.any().unwrap_or(false));
                Ok(([[some[0], some[1]], [some[2], some[3]]], has_order))
            }
            Err(nix::errno::Errno::EINTR) => Ok(Default::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in what waits on one side, up to a batch; true if nothing is left there. Under the virtual clock every system call
    /// is dear, and one side is mostly silent when the other is not: only a side that has something is read.
    fn take_in(&mut self, pair: usize, way: usize, has_some: bool) -> io::Result<bool> {
        if !has_some {
            self.pairs[pair][way].rest();
            return Ok(true);
        }
        for _ in 0..BATCH {
            let Some(arrival) = self.pairs[pair][way].read(&mut self.store.inbox)? else {
                return Ok(true);
            };
            let packet = self.store.take_in(arrival.length);
            self.offer(Held::new(packet, self.course, pair, way), arrival.at_ns)?;
        }
        Ok(false)
    }

    /// Offers the segments of a super-packet to the model, and does what that has decided by their arrival.
    fn offer(&mut self, mut held: Held, arrived_ns: u64) -> io::Result<()> {
        // One that came before this course and was read in it counts as its first.
        let at_ns = arrived_ns.saturating_sub(self.zero_ns);
        let (pair, way, segments) = (held.pair, held.way, held.packet.segments());
        let path = &self.directions[way].path;
        let described = described(held.packet.ip(), path);
        if let Some(nat) = &mut self.nat
            && (pair, way) == (OWN, UP)
        {
            held.translation = nat.outwards(at_ns, held.packet.ip());
        }
        // What crosses the link is no part of its record, and moves nowhere.
        let party = match pair {
            OWN => Party::Own,
            _ => Party::Cross,
        };
        if pair == OWN && self.packets.is_some() {
            self.record(at_ns, &mut held);
        }
        let place = self.store.add(held);
        for segment in 0..segments {
            let bytes = self.store.get(place).packet.bytes(segment..segment + 1);
            let ticket = ticket(place, segment);
            let path = &mut self.directions[way].path;
            let packet = Packet { bytes: bytes as u32, ..described };
            path.offer(at_ns, party, packet, ticket);
        }
        self.decide(way, at_ns)
    }

    /// Records arrivals, as the server sees them: before a packet comes to the client, and after one left it.
    fn record(&mut self, at_ns: u64, held: &mut Held) {
        let (Some(packets), came_ns) = (&mut self.packets, self.zero_ns + at_ns) else {
            return;
        };
        for segment in 0..held.packet.segments() {
            let mut seen = held.packet.segment(segment);
            held.translation.apply(&mut seen, FlowEnd::Source);
            let Some(place) = packets.came(came_ns, held.way, &seen[HEADER..]) else {
                continue;
            };
            if held.records.is_empty() {
                held.records.start = place;
            }
            held.records.end = place + 1;
        }
    }

    /// Does what a direction's model decides by now.
    fn decide_due(&mut self) -> io::Result<()> {
        for way in [UP, DOWN] {
            if self.directions[way].path.deadline().is_some() {
                self.decide(way, now_ns().saturating_sub(self.zero_ns))?;
            }
        }
        Ok(())
    }

    /// Does what a direction's model decides by `now_ns`, of the course.
    fn decide(&mut self, way: usize, now_ns: u64) -> io::Result<()> {
        let mut together: Option<Release> = None;
        loop {
            let (store, nat) = (&mut self.store, &self.nat);
            let mut arriving = None;
            let reaches = |ticket, left_ns| {
                let held = store.get(of_ticket(ticket).0);
                let translation = match nat {
                    Some(nat) if way == DOWN => nat.inwards(left_ns, held.packet.ip()),
                    _ => held.translation,
                };
                arriving = Some(translation);
                translation != Translation::Closed
            };
            let Some(decision) = self.directions[way].path.next(now_ns, reaches) else {
                break;
            };
            let (place, segment) = of_ticket(decision.ticket);
            let held = self.store.get(place);
            // Of an earlier course nothing is recorded any more.
            if held.course == self.course
                && let (Some(packets), Some(place)) = (&mut self.packets, held.record(segment))
            {
                packets.decided(place, decision);
            }
            let Fate::Deliver { at, copy } = decision.fate else {
                self.drop(place, segment, decision.fate)?;
                continue;
            };
            let due_ns = |at| self.zero_ns.saturating_add(at);
            let came = packet::ecn(held.packet.ip());
            let release = |at| Release {
                translation: arriving.unwrap_or(held.translation),
                ecn: (decision.ecn != came).then_some(decision.ecn),
                ..Release::new(due_ns(at), (place, segment))
            };
            let (original, copy) = (release(at), copy.map(release));
            if let Some(earlier) = &mut together
                && earlier.due_ns == original.due_ns
                && copy.is_none()
                && self.joins
                && earlier.join(&original)
            {
                continue;
            }
            together.take().into_iter().for_each(|earlier| self.schedule(earlier));
            if let Some(copy) = copy {
                self.store.copied(place);
                self.schedule(Release { copy: true, ..copy });
            }
            together = Some(original);
        }
        together.into_iter().for_each(|last| self.schedule(last));
        // With nothing ahead of it, a packet that is due at once need not wait for the round.
        self.release_due().map(|_| ())
    }

    /// Forgets a segment that is not delivered, after the answer that a rejected one gets.
    fn drop(&mut self, place: usize, segment: usize, fate: Fate) -> io::Result<()> {
        let held = self.store.get(place);
        let why = match fate {
            Fate::Blocked { reject: true } => Some(Unreachable::Port),
            Fate::TooLarge { answer } => answer.map(Unreachable::TooLarge),
            _ => None,
        };
        if let Some(why) = why
            && let Some(answer) = packet::unreachable(&held.packet.segment(segment)[HEADER..], why)
        {
            self.pairs[held.pair][held.way].write(&answer)?;
        }
        self.store.gone(place, 1);
        Ok(())
    }

    fn schedule(&mut self, release: Release) {
        self.sequence += 1;
        self.queue.push(Reverse(Release { sequence: self.sequence, ..release }));
    }
}

/// What the model needs to know of a packet. What takes time, as the hash of its flow, is left out if the path ignores it.
fn described(ip: &[u8], path: &Path) -> Packet {
    Packet {
        bytes: ip.len() as u32,
        udp: packet::is_udp(ip),
        ipv6: packet::is_ipv6(ip),
        flow: if path.tells_flows_apart() { packet::flow_hash(ip) } else { 0 },
        ecn: packet::ecn(ip),
        ack: path.thins_acks().then(|| packet::ack(ip)).flatten(),
    }
}

/// By the devices whose packets go this way.
fn dropped(pairs: &[[Tun; 2]], way: usize) -> u64 {
    pairs.iter().map(|tuns| tuns[way].dropped()).sum()
}
