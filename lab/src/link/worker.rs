//! The thread of an emulated link: it stands between two TUN devices, asks the model for each packet's fate and releases
//! packets when they are due.
//!
//! The model decides by the time at which a packet arrived, not by the time at which the thread came to read it. So
//! after a stall the queue has dropped, and the rate has let pass, what they would have without it; what remains of the
//! stall is that packets which were due in it leave late, all at once, and that is recorded. Some decisions come with a
//! packet's arrival and some later, when its turn in a managed queue comes.

mod direction_state;
mod pending;
mod release;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use h123_link::{Decision, Fate, Packet, Party};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;

use self::direction_state::DirectionState;
pub use self::direction_state::Ledger;
use self::pending::{Pending, Undecided};
use self::release::{Buffer, Release};
use crate::files::per_direction::{DOWN, UP};
use crate::host::monotonic::now_ns;
use crate::link::course::Course;
use crate::link::nat::{Nat, Translation};
use crate::link::packet::{self, FlowEnd};
use crate::link::packet_record::Packets;
use crate::link::tun::{FRAME, FrameArrival, HEADER, Tun};

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
    undecided: Undecided,
    queue: BinaryHeap<Reverse<Release>>,
    sequence: u64,
    spare: Vec<Buffer>,
}

impl Worker {
    pub fn new(pairs: Vec<[Tun; 2]>, course: &Course) -> Self {
        Self {
            directions: [UP, DOWN]
                .map(|way| DirectionState::new(course, way, dropped(&pairs, way))),
            nat: course.nat(),
            pairs,
            zero_ns: now_ns(),
            course: 0,
            packets: course.record(),
            undecided: Undecided::new(),
            queue: BinaryHeap::with_capacity(4096),
            sequence: 0,
            spare: (0..4096).map(|_| Box::new([0; FRAME])).collect(),
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
        let _ = order.reply.send(Turn {
            zero_ns: self.zero_ns,
            ledgers: [up, down],
            packets,
        });
    }

    /// Sleeps until a packet comes, from any side, or an order: which of them. At the latest until one is due, in `next_ns`
    /// if any is on its way.
    fn sleep(
        &self,
        next_ns: Option<u64>,
        wake: &EventFd,
    ) -> io::Result<([[bool; 2]; CROSS + 1], bool)> {
        let timeout =
            next_ns.map(|ns| TimeSpec::from_duration(std::time::Duration::from_nanos(ns)));
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

    /// Releases what is due; returns how long it is until something is to be done, if anything is.
    fn release_due(&mut self) -> io::Result<Option<u64>> {
        let paths = self.directions.iter();
        let decision = paths
            .filter_map(|direction| direction.path.deadline())
            .min();
        let decision = decision.map(|ns| self.zero_ns.saturating_add(ns));
        while let Some(next) = self.queue.peek_mut() {
            let now = now_ns();
            if next.0.due_ns > now {
                let next_ns = next.0.due_ns.min(decision.unwrap_or(u64::MAX));
                return Ok(Some(next_ns.saturating_sub(now)));
            }
            let release = std::collections::binary_heap::PeekMut::pop(next).0;
            self.pairs[release.pair][1 - release.way].write(&release.frame[..release.length])?;
            if release.course == self.course && !release.copy {
                self.directions[release.way].count(&release, now);
                if let (Some(packets), Some(place)) = (&mut self.packets, release.record) {
                    packets.left(place, now);
                }
            }
            self.spare.push(release.frame);
        }
        Ok(decision.map(|ns| ns.saturating_sub(now_ns())))
    }

    /// Takes in what waits on one side, up to a batch; true if nothing is left there. Under the virtual clock every system call
    /// is dear, and one side is mostly silent when the other is not: only a side that has something is read.
    fn take_in(&mut self, pair: usize, way: usize, has_some: bool) -> io::Result<bool> {
        if !has_some {
            self.pairs[pair][way].rest();
            return Ok(true);
        }
        for _ in 0..BATCH {
            let mut frame = self.spare.pop().unwrap_or_else(|| Box::new([0; FRAME]));
            let Some(arrival) = self.pairs[pair][way].read(&mut frame)? else {
                self.spare.push(frame);
                return Ok(true);
            };
            self.offer(pair, way, frame, &arrival)?;
        }
        Ok(false)
    }

    /// Offers a packet to the model, and does what that has decided by its arrival.
    fn offer(
        &mut self,
        pair: usize,
        way: usize,
        frame: Buffer,
        arrival: &FrameArrival,
    ) -> io::Result<()> {
        // One that came before this course and was read in it counts as its first.
        let at_ns = arrival.at_ns.saturating_sub(self.zero_ns);
        let ip = &frame[HEADER..arrival.length];
        let flows_apart = self.directions[way].path.tells_flows_apart();
        let packet = described(ip, flows_apart);
        let translation = match &mut self.nat {
            Some(nat) if (pair, way) == (OWN, UP) => nat.outwards(at_ns, ip),
            _ => Translation::AsItIs,
        };
        // What crosses the link is no part of its record, and moves nowhere.
        let (party, record) = match pair {
            OWN => (
                Party::Own,
                self.record(at_ns, way, &frame, arrival.length, translation),
            ),
            _ => (Party::Cross, None),
        };
        let ticket = self.undecided.add(Pending {
            frame,
            length: arrival.length,
            course: self.course,
            pair,
            way,
            translation,
            record,
        });
        self.directions[way]
            .path
            .offer(at_ns, party, packet, ticket);
        self.decide(way, at_ns)
    }

    /// Records an arrival, as the server sees it: before a packet comes to the client, and after one left it.
    fn record(
        &mut self,
        at_ns: u64,
        way: usize,
        frame: &Buffer,
        length: usize,
        translation: Translation,
    ) -> Option<usize> {
        let (packets, came_ns) = (self.packets.as_mut()?, self.zero_ns + at_ns);
        if let Translation::As(..) = translation {
            let mut seen = frame.clone();
            translation.apply(&mut seen[..length], FlowEnd::Source);
            return packets.came(came_ns, way, &seen[HEADER..length]);
        }
        packets.came(came_ns, way, &frame[HEADER..length])
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
        loop {
            let (waiting, nat) = (&mut self.undecided, &self.nat);
            let reaches = |ticket, left_ns| {
                let pending = waiting.get(ticket);
                if let (Some(nat), DOWN) = (nat, way) {
                    let ip = &pending.frame[HEADER..pending.length];
                    pending.translation = nat.inwards(left_ns, ip);
                }
                pending.translation != Translation::Closed
            };
            let Some(decision) = self.directions[way].path.next(now_ns, reaches) else {
                return Ok(());
            };
            let pending = self.undecided.take(decision.ticket);
            self.send_off(pending, decision)?;
        }
    }

    /// Puts a packet that is delivered on its way, to the other end of its pair.
    fn send_off(&mut self, pending: Pending, decision: Decision) -> io::Result<()> {
        let Pending {
            mut frame,
            length,
            course,
            pair,
            way,
            translation,
            record,
        } = pending;
        // Of an earlier course nothing is recorded any more.
        let record = record.filter(|_| course == self.course);
        if let (Some(packets), Some(place)) = (&mut self.packets, record) {
            packets.decided(place, decision);
        }
        let Fate::Deliver { at, copy } = decision.fate else {
            if let Fate::Blocked { reject: true } = decision.fate
                && let Some(answer) = packet::port_unreachable(&frame[HEADER..length])
            {
                self.pairs[pair][way].write(&answer)?;
            }
            self.spare.push(frame);
            return Ok(());
        };
        let end = match way {
            UP => FlowEnd::Source,
            _ => FlowEnd::Destination,
        };
        translation.apply(&mut frame[..length], end);
        if decision.marked {
            packet::mark(&mut frame[..length]);
        }
        let original = Release {
            due_ns: self.zero_ns.saturating_add(at),
            sequence: 0,
            course,
            pair,
            way,
            copy: false,
            record,
            length,
            frame,
        };
        if let Some(at) = copy {
            self.schedule(Release {
                due_ns: self.zero_ns.saturating_add(at),
                copy: true,
                record: None,
                frame: original.frame.clone(),
                ..original
            });
        }
        self.schedule(original);
        // With nothing ahead of it, a packet that is due at once need not wait for the round.
        self.release_due().map(|_| ())
    }

    fn schedule(&mut self, release: Release) {
        self.sequence += 1;
        self.queue.push(Reverse(Release {
            sequence: self.sequence,
            ..release
        }));
    }
}

/// As the model wants to know it; the hash of its flow takes time and is left out unless flows are told apart.
fn described(ip: &[u8], flows_apart: bool) -> Packet {
    Packet {
        bytes: ip.len() as u32,
        udp: packet::is_udp(ip),
        flow: if flows_apart {
            packet::flow_hash(ip)
        } else {
            0
        },
        ecn: packet::ecn(ip),
    }
}

/// By the devices whose packets go this way.
fn dropped(pairs: &[[Tun; 2]], way: usize) -> u64 {
    pairs.iter().map(|tuns| tuns[way].dropped()).sum()
}
