//! One direction of a link at work.

use crate::delay::Propagation;
use crate::direction::{Direction, Udp};
use crate::draws::{Stream, cross_seed};
use crate::fate::{Fate, Packet};
use crate::limiter::Limiter;
use crate::loss::Losses;
use crate::policer::Policer;
use crate::queue::Waiting;
use crate::tally::Tally;
use crate::timeline::Timeline;

/// The state of one direction of a link.
pub struct Path {
    now: u64,
    udp: Timeline<Udp>,
    policer: Policer,
    waiting: Waiting,
    limiter: Limiter,
    duplicate: f64,
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
        let policies = direction
            .changes
            .iter()
            .filter_map(|change| Some((change.at_ns, change.udp?)));
        Path {
            now: 0,
            udp: Timeline::new(direction.udp, policies),
            policer: Policer::default(),
            waiting: Waiting::new(direction.queue),
            limiter: Limiter::new(direction),
            duplicate: direction.duplicate,
            own: Flow::new(direction, seed),
            cross: Flow::new(&direction.for_cross_traffic(), cross_seed(seed)),
        }
    }

    /// Takes over what still waits for another path's rate, as where one course of a link follows another: it is sent before
    /// anything that comes now. `zero`: this path's time zero on the other's clock, ns. Nothing of it is counted here.
    pub fn follow(&mut self, other: &Path, zero: u64) {
        self.limiter.follow(&other.limiter, zero);
        self.waiting.follow(&other.waiting, zero);
    }

    /// Decides the fate of a packet that arrives at `now`, ns since the link's time zero. A `now` earlier than
    /// the latest seen is taken for the latest seen.
    pub fn offer(&mut self, now: u64, packet: Packet) -> Fate {
        self.offer_if(now, packet, |_| true)
    }

    /// The same of a packet that would be delivered, but is blocked at the end of the way unless it `reaches` somebody at
    /// that time.
    pub fn offer_if(
        &mut self,
        now: u64,
        packet: Packet,
        reaches: impl FnOnce(u64) -> bool,
    ) -> Fate {
        self.now = self.now.max(now);
        let departure = self.depart(packet);
        if let Ok(departure) = departure {
            self.own.tally.wait(departure - self.now);
        }
        let free_at = self.limiter.free_at(self.now);
        let fate = match self.own.decide(packet, departure, free_at, self.duplicate) {
            Fate::Deliver { at, .. } if !reaches(at) => Fate::Blocked { reject: false },
            fate => fate,
        };
        self.own.tally.count(packet, fate);
        fate
    }

    /// The same of a packet of cross traffic: it meets the same stages and takes its share of queue and rate, but neither an
    /// index nor a draw of the link's own packets.
    pub fn offer_cross(&mut self, now: u64, packet: Packet) -> Fate {
        self.now = self.now.max(now);
        let departure = self.depart(packet);
        let free_at = self.limiter.free_at(self.now);
        let fate = self
            .cross
            .decide(packet, departure, free_at, self.duplicate);
        self.cross.tally.count(packet, fate);
        fate
    }

    /// What became of the packets so far, cross traffic apart.
    pub fn tally(&self) -> Tally {
        self.own.tally.clone()
    }

    /// What became of the cross traffic's.
    pub fn cross_tally(&self) -> Tally {
        self.cross.tally.clone()
    }

    /// The stages up to the rate: the packet's departure, or the fate of one that does not get so far.
    fn depart(&mut self, packet: Packet) -> Result<u64, Fate> {
        if packet.udp {
            self.police(packet)?;
        }
        let free_at = self.limiter.free_at(self.now);
        if !self.waiting.has_room(self.now, free_at, packet.bytes) {
            return Err(Fate::QueueDropped);
        }
        let departure = self.limiter.serve(self.now, packet.bytes);
        self.waiting.admit(departure, packet.bytes);
        Ok(departure)
    }
}

impl Path {
    /// What the policy of the moment makes of a UDP packet.
    fn police(&mut self, packet: Packet) -> Result<(), Fate> {
        let policy = *self.udp.at(self.now).0;
        let passes = match policy {
            Udp::Pass => true,
            Udp::Drop | Udp::Reject => false,
            Udp::Limit(bps) => self.policer.passes(self.now, packet.bytes, bps),
        };
        let reject = policy == Udp::Reject;
        passes.then_some(()).ok_or(Fate::Blocked { reject })
    }
}

impl Flow {
    fn new(direction: &Direction, seed: u64) -> Self {
        Flow {
            stream: Stream::new(seed),
            losses: Losses::new(direction),
            propagation: Propagation::new(direction),
            tally: Tally::default(),
        }
    }

    /// The stages after the rate. `free_at`: where a packet without a departure meets them.
    fn decide(
        &mut self,
        packet: Packet,
        departure: Result<u64, Fate>,
        free_at: u64,
        duplicate: f64,
    ) -> Fate {
        let index = self.tally.packets_in;
        let draws = self.stream.next_packet();
        // A refused packet steps the loss model too, so that the others' losses do not hang on it.
        let lost = self
            .losses
            .lose(departure.unwrap_or(free_at), index, packet.bytes, &draws);
        match departure {
            Err(refused) => refused,
            Ok(_) if lost => Fate::Lost,
            Ok(departure) => {
                let at = self.propagation.deliver(departure, &draws);
                let copy = (draws.duplicate < duplicate).then_some(at);
                Fate::Deliver { at, copy }
            }
        }
    }
}
