//! An emulated link at work: one thread between two TUN devices that asks the model for each packet's fate
//! and releases packets when they are due.
//!
//! The model decides by the time at which a packet arrived, not by the time at which the thread came to read it. So
//! after a stall the queue has dropped, and the rate has let pass, what they would have without it; what remains of the
//! stall is that packets which were due in it leave late, all at once, and that is recorded.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow};
use h123_link::{Direction, Fate, Move, Packet, Path, Tally, stream_seed};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;

use crate::clock::now_ns;
use crate::lateness::Lateness;
use crate::nat::{Nat, Passage};
use crate::packet::End;
use crate::packets::{Keep, Packets};
use crate::stalls::Stalls;
use crate::tun::{Arrival, FRAME, HEADER, Tun};
use crate::{packet, realtime};

/// Ways.
const UP: usize = 0;
const DOWN: usize = 1;
/// Packets read from one device before the other, and what is due, get their turn.
const BATCH: usize = 16;

/// A running link. Side 0 is host `a`, side 1 is host `b`; direction 0 is `up`, a to b.
pub struct EmulatedLink {
    orders: Sender<Order>,
    wake: Arc<EventFd>,
    thread: Option<JoinHandle<io::Result<()>>>,
    pub realtime: bool,
    /// Whether the kernel stamps arrivals: then a stall of the thread changes no packet's fate.
    pub stamps: bool,
}

/// What both directions do from a time zero on, `[up, down]`.
#[derive(Clone)]
pub struct Course {
    directions: [Direction; 2],
    seeds: [u64; 2],
    moves: Option<Moves>,
    keep: Keep,
}

/// When the client, which sends `up`, is seen elsewhere, and what of it is known.
#[derive(Clone)]
pub struct Moves {
    pub moves: Vec<Move>,
    pub client: Ipv4Addr,
    /// The link's number.
    pub link: usize,
}

/// What a direction did during a course.
pub struct Ledger {
    pub tally: Tally,
    /// Packets that have left the link; the rest of `tally.delivered` is in flight.
    pub released: u64,
    pub bytes_released: u64,
    pub lateness: Lateness,
    /// Times in which packets were due that had not left.
    pub stalls: Stalls,
    /// Packets that the device before the link had no room for, because the link's thread had not read it for so long.
    pub overrun: u64,
}

/// The end of one course and the beginning of the next.
pub struct Turn {
    /// Time zero of the new course.
    pub zero_ns: u64,
    /// Of the old one, `[up, down]`.
    pub ledgers: [Ledger; 2],
    /// Of the old one; none unless they were to be recorded.
    pub packets: Option<Packets>,
}

struct Order {
    course: Course,
    reply: Sender<Turn>,
}

impl Course {
    pub fn new(directions: [Direction; 2], seed: u64, link: &str) -> Self {
        Self {
            directions,
            seeds: [
                stream_seed(seed, link, "up"),
                stream_seed(seed, link, "down"),
            ],
            moves: None,
            keep: Keep::default(),
        }
    }

    /// The same with a client that moves.
    pub fn moving(self, moves: Moves) -> Self {
        let moves = (!moves.moves.is_empty()).then_some(moves);
        Self { moves, ..self }
    }

    /// The same luck on other directions.
    pub fn with(&self, change: impl Fn(&Direction) -> Direction) -> Self {
        Self {
            directions: self.directions.each_ref().map(change),
            ..self.clone()
        }
    }

    /// The same, with a record of its packets.
    pub fn recording(&self, keep: Keep) -> Self {
        Self {
            keep,
            ..self.clone()
        }
    }

    /// The same without what depends on time (blackouts, changes, moves).
    pub fn without_events(&self) -> Self {
        Self {
            moves: None,
            ..self.with(Direction::before_events)
        }
    }

    fn nat(&self) -> Option<Nat> {
        let moves = self.moves.as_ref()?;
        Some(Nat::new(
            &moves.moves,
            self.seeds[UP],
            moves.client,
            moves.link,
        ))
    }

    fn record(&self) -> Option<Packets> {
        (self.keep.most > 0).then(|| Packets::new(self.keep))
    }

    pub fn direction(&self, way: usize) -> &Direction {
        &self.directions[way]
    }

    pub fn seed(&self, way: usize) -> u64 {
        self.seeds[way]
    }

    /// A model of one direction on which nothing has travelled yet.
    pub fn path(&self, way: usize) -> Path {
        Path::new(&self.directions[way], self.seeds[way])
    }
}

impl EmulatedLink {
    /// Starts the link; what the devices hold is thrown away.
    pub fn start(tuns: [Tun; 2], course: &Course) -> Result<Self> {
        let (orders, inbox) = channel();
        let (tell, started) = channel();
        let wake = Arc::new(EventFd::from_flags(
            EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC,
        )?);
        let woken = wake.clone();
        let stamps = tuns.iter().all(Tun::stamps);
        // Its memory is that of this thread: what another one allocates, malloc has from the kernel page by page.
        let worker = Worker::new(tuns, course);
        let thread = std::thread::Builder::new()
            .name("link".into())
            .spawn(move || {
                let realtime = realtime::prefer(realtime::LINK);
                // The starter waits for this message, so it cannot have gone.
                let _ = tell.send(realtime);
                worker.run(&inbox, &woken)
            })?;
        let realtime = started.recv().context("starting the link's thread")?;
        Ok(Self {
            orders,
            wake,
            thread: Some(thread),
            realtime,
            stamps,
        })
    }

    /// Ends the running course and begins another: its packet index and its time start at zero. Packets in flight
    /// stay so, and count for neither.
    pub fn begin(&mut self, course: &Course) -> Result<Turn> {
        let (reply, turn) = channel();
        let order = Order {
            course: course.clone(),
            reply,
        };
        // An order that cannot be sent comes back with its reply's sender: kept, it would be waited for in vain.
        let sent = self.orders.send(order).is_ok();
        self.wake.write(1)?;
        match sent.then(|| turn.recv()) {
            Some(Ok(turn)) => Ok(turn),
            _ => Err(self.cause_of_end()),
        }
    }

    fn cause_of_end(&mut self) -> anyhow::Error {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => anyhow!("the link stopped: {error}"),
            _ => anyhow!("the link stopped"),
        }
    }
}

struct Worker {
    tuns: [Tun; 2],
    ways: [Way; 2],
    /// If the client moves.
    nat: Option<Nat>,
    zero_ns: u64,
    course: u64,
    /// If they are to be recorded.
    packets: Option<Packets>,
    queue: BinaryHeap<Reverse<Release>>,
    sequence: u64,
    spare: Vec<Frame>,
}

struct Way {
    path: Path,
    released: u64,
    bytes_released: u64,
    lateness: Lateness,
    stalls: Stalls,
    /// Of the device, before this course.
    dropped_before: u64,
}

type Frame = Box<[u8; FRAME]>;

/// A packet on its way. Ordered by time, then by arrival.
struct Release {
    due_ns: u64,
    sequence: u64,
    course: u64,
    way: usize,
    copy: bool,
    /// Place of its record, if it has one.
    record: Option<usize>,
    length: usize,
    frame: Frame,
}

impl Way {
    fn new(course: &Course, way: usize, tun: &Tun) -> Self {
        Self {
            path: course.path(way),
            released: 0,
            bytes_released: 0,
            lateness: Lateness::new(),
            stalls: Stalls::default(),
            dropped_before: tun.dropped(),
        }
    }

    fn ledger(self, tun: &Tun) -> Ledger {
        Ledger {
            tally: self.path.tally(),
            released: self.released,
            bytes_released: self.bytes_released,
            lateness: self.lateness,
            stalls: self.stalls,
            overrun: tun.dropped() - self.dropped_before,
        }
    }
}

impl Worker {
    fn new(tuns: [Tun; 2], course: &Course) -> Self {
        Self {
            ways: [0, 1].map(|way| Way::new(course, way, &tuns[way])),
            nat: course.nat(),
            tuns,
            zero_ns: now_ns(),
            course: 0,
            packets: course.record(),
            queue: BinaryHeap::with_capacity(4096),
            sequence: 0,
            spare: (0..4096).map(|_| Box::new([0; FRAME])).collect(),
        }
    }

    fn run(mut self, inbox: &Receiver<Order>, wake: &EventFd) -> io::Result<()> {
        for tun in &mut self.tuns {
            tun.drain()?;
        }
        loop {
            let next_ns = self.release_due()?;
            let [up, down, ordered] = self.sleep(next_ns, wake)?;
            self.take_in(0, up)?;
            self.take_in(1, down)?;
            if ordered {
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
        let fresh = [0, 1].map(|way| Way::new(&order.course, way, &self.tuns[way]));
        let [up, down] = std::mem::replace(&mut self.ways, fresh);
        let ledgers = [up.ledger(&self.tuns[0]), down.ledger(&self.tuns[1])];
        let packets = std::mem::replace(&mut self.packets, order.course.record());
        self.nat = order.course.nat();
        self.zero_ns = now_ns();
        self.course += 1;
        // Whoever asked may have given up: the course changes all the same.
        let _ = order.reply.send(Turn {
            zero_ns: self.zero_ns,
            ledgers,
            packets,
        });
    }

    /// Sleeps until a packet comes, from either side, or an order: which of them. At the latest until one is due, in
    /// `next_ns` if any is on its way.
    fn sleep(&self, next_ns: Option<u64>, wake: &EventFd) -> io::Result<[bool; 3]> {
        let timeout =
            next_ns.map(|ns| TimeSpec::from_duration(std::time::Duration::from_nanos(ns)));
        let mut events = [
            PollFd::new(self.tuns[0].as_fd(), PollFlags::POLLIN),
            PollFd::new(self.tuns[1].as_fd(), PollFlags::POLLIN),
            PollFd::new(wake.as_fd(), PollFlags::POLLIN),
        ];
        match ppoll(&mut events, timeout, None) {
            Ok(_) => Ok(events.map(|event| event.any().unwrap_or(false))),
            Err(nix::errno::Errno::EINTR) => Ok([false; 3]),
            Err(error) => Err(error.into()),
        }
    }

    /// Releases what is due; returns how long it is until the next is, if any is on its way.
    fn release_due(&mut self) -> io::Result<Option<u64>> {
        while let Some(next) = self.queue.peek_mut() {
            let now = now_ns();
            if next.0.due_ns > now {
                return Ok(Some(next.0.due_ns - now));
            }
            let release = std::collections::binary_heap::PeekMut::pop(next).0;
            self.tuns[1 - release.way].write(&release.frame[..release.length])?;
            if release.course == self.course && !release.copy {
                self.ways[release.way].count(&release, now);
                if let (Some(packets), Some(place)) = (&mut self.packets, release.record) {
                    packets.left(place, now);
                }
            }
            self.spare.push(release.frame);
        }
        Ok(None)
    }

    /// Takes in what waits on one side, up to a batch. Under the virtual clock every system call is dear, and one side is
    /// mostly silent when the other is not: only a side that has something is read.
    fn take_in(&mut self, way: usize, has_some: bool) -> io::Result<()> {
        if !has_some {
            self.tuns[way].rest();
            return Ok(());
        }
        for _ in 0..BATCH {
            let mut frame = self.spare.pop().unwrap_or_else(|| Box::new([0; FRAME]));
            let Some(arrival) = self.tuns[way].read(&mut frame)? else {
                self.spare.push(frame);
                break;
            };
            self.decide(way, frame, &arrival)?;
        }
        Ok(())
    }

    fn decide(&mut self, way: usize, mut frame: Frame, arrival: &Arrival) -> io::Result<()> {
        let length = arrival.length;
        let ip = &frame[HEADER..length];
        let packet = Packet {
            bytes: ip.len() as u32,
            udp: packet::is_udp(ip),
        };
        // One that came before this course and was read in it counts as its first.
        let at_ns = arrival.at_ns.saturating_sub(self.zero_ns);
        let mut passage = match &mut self.nat {
            Some(nat) if way == UP => nat.outwards(at_ns, ip),
            _ => Passage::AsItIs,
        };
        let fate = self.ways[way].path.offer_if(at_ns, packet, |left_ns| {
            if let (Some(nat), DOWN) = (&self.nat, way) {
                passage = nat.inwards(left_ns, ip);
            }
            passage != Passage::Closed
        });
        if let Fate::Blocked { reject: true } = fate
            && let Some(answer) = packet::port_unreachable(ip)
        {
            self.tuns[way].write(&answer)?;
        }
        // The record is of what the server sees: before a packet comes to the client, and after one left it.
        if way == UP {
            passage.apply(&mut frame[..length], End::Source);
        }
        let came_ns = self.zero_ns + at_ns;
        let packets = self.packets.as_mut();
        let record =
            packets.and_then(|packets| packets.came(came_ns, way, &frame[HEADER..length], fate));
        let Fate::Deliver { at, copy } = fate else {
            self.spare.push(frame);
            return Ok(());
        };
        if way == DOWN {
            passage.apply(&mut frame[..length], End::Destination);
        }
        if let Some(at) = copy {
            self.schedule(way, frame.clone(), length, at, None, true);
        }
        self.schedule(way, frame, length, at, record, false);
        // With nothing ahead of it, a packet that is due at once need not wait for the round.
        self.release_due().map(|_| ())
    }

    fn schedule(
        &mut self,
        way: usize,
        frame: Frame,
        length: usize,
        at: u64,
        record: Option<usize>,
        copy: bool,
    ) {
        self.sequence += 1;
        self.queue.push(Reverse(Release {
            due_ns: self.zero_ns.saturating_add(at),
            sequence: self.sequence,
            course: self.course,
            way,
            copy,
            record,
            length,
            frame,
        }));
    }
}

impl Way {
    fn count(&mut self, release: &Release, now: u64) {
        self.released += 1;
        self.bytes_released += (release.length - HEADER) as u64;
        self.lateness.record(now - release.due_ns);
        self.stalls.record(release.due_ns, now);
    }
}

impl Ord for Release {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due_ns, self.sequence).cmp(&(other.due_ns, other.sequence))
    }
}

impl PartialOrd for Release {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Release {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Release {}
