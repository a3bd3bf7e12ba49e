//! Where packets wait for the rate: which of them are refused, and when the others leave.

use crate::direction::{Direction, Queue, Rate};
use crate::discipline::{Discipline, discipline};
use crate::fate::Fate;
use crate::item::{Item, Met, Outgoing};
use crate::limiter::Limiter;
use crate::queue::Waiting;
use crate::shaper::Shaper;
use crate::token_bucket::TokenBucket;

/// The queue and the rate of a direction.
pub(crate) enum Bottleneck {
    Known(Known),
    Managed(Managed),
}

/// Drop-tail in front of a rate: a packet's departure is known when it arrives, because nothing that comes later changes it.
pub(crate) struct Known {
    waiting: Waiting,
    limiter: Limiter,
}

/// A discipline decides when a packet's turn comes, with what has arrived by then.
pub(crate) struct Managed {
    queue: Box<dyn Discipline>,
    server: Server,
    /// The discipline has nothing to send, and was asked.
    idle: bool,
    /// Of the discipline's clock when this path's began, ns.
    zero: u64,
    /// When something happened last, ns.
    now: u64,
    dropped: Vec<Item>,
}

/// How packets that the discipline hands over are sent.
enum Server {
    /// One after another: the next is asked for when the last has left.
    Line(Limiter),
    /// When there are tokens for it. The packet that waits for them has been taken from the discipline already, as Linux's
    /// TBF does it.
    Bucket(TokenBucket, Option<Item>),
    /// As soon as the time of the packet before is over.
    Shaper(Shaper),
}

impl Bottleneck {
    /// Of a valid direction.
    pub fn new(direction: &Direction) -> Self {
        let bucket = match direction.rate {
            Some(Rate::Bucket { bps, burst_bytes }) => Some(TokenBucket::new(bps, burst_bytes)),
            _ => None,
        };
        let managed = direction.queue.is_some_and(Queue::is_managed);
        if bucket.is_none() && !managed {
            return Bottleneck::Known(Known {
                waiting: Waiting::new(direction.queue),
                limiter: Limiter::new(direction),
            });
        }
        Bottleneck::Managed(Managed {
            queue: discipline(direction),
            server: match (bucket, Shaper::of(direction)) {
                (Some(bucket), _) => Server::Bucket(bucket, None),
                (None, Some(shaper)) => Server::Shaper(shaper),
                (None, None) => Server::Line(Limiter::new(direction)),
            },
            idle: true,
            zero: 0,
            now: 0,
            dropped: vec![],
        })
    }

    /// Takes over what waits in another path's, whose clock shows `zero` when this one's begins. `shared`: an empty queue
    /// keeps its state.
    pub fn follow(&mut self, other: Bottleneck, zero: u64, shared: bool) {
        match (self, other) {
            (Bottleneck::Known(this), Bottleneck::Known(other)) => {
                this.limiter.follow(&other.limiter, zero);
                this.waiting.follow(&other.waiting, zero);
            }
            (Bottleneck::Managed(this), Bottleneck::Managed(other)) => {
                this.follow(other, zero, shared);
            }
            // A course with another kind of queue begins with an empty one.
            _ => {}
        }
    }

    /// When a packet that is refused at `now` meets the stages after the rate.
    pub fn refused_at(&self, now: u64) -> u64 {
        match self {
            Bottleneck::Known(known) => known.limiter.free_at(now),
            Bottleneck::Managed(managed) => managed.server.free_at(now.max(managed.now)),
        }
    }

    /// Does what is due by `now`.
    pub fn run(&mut self, now: u64, out: &mut Outgoing) {
        if let Bottleneck::Managed(managed) = self {
            managed.run(now, out);
        }
    }

    /// When something is due, unless a packet arrives before; None: nothing will be.
    pub fn deadline(&self) -> Option<u64> {
        match self {
            Bottleneck::Known(_) => None,
            Bottleneck::Managed(managed) => managed.deadline(),
        }
    }
}

impl Known {
    /// When a packet that arrives at `now` meets the stages after the rate, and why it did not get there.
    pub fn take(&mut self, now: u64, bytes: u32) -> (u64, Option<Fate>) {
        let free_at = self.limiter.free_at(now);
        if !self.waiting.has_room(now, free_at, bytes) {
            return (free_at, Some(Fate::QueueDropped));
        }
        let departure = self.limiter.serve(now, bytes);
        self.waiting.admit(departure, bytes);
        (departure, None)
    }
}

impl Managed {
    fn follow(&mut self, other: Managed, zero: u64, shared: bool) {
        if shared || other.waits() {
            self.zero = zero + other.zero;
            self.idle = other.idle;
            self.queue = other.queue;
            for item in self.queue.items_mut() {
                item.origin = item.origin.earlier();
            }
        }
        match (&mut self.server, other.server) {
            (Server::Line(this), Server::Line(other)) => this.follow(&other, zero),
            (Server::Bucket(this, head), Server::Bucket(other, waiting)) => {
                this.follow(&other, zero);
                *head = waiting.map(|item| Item { origin: item.origin.earlier(), ..item });
            }
            (Server::Shaper(this), Server::Shaper(other)) => this.follow(&other, zero),
            // A course with another kind of rate begins with what is in the queue.
            _ => {}
        }
    }

    /// Takes in a packet that arrives at `now`.
    pub fn take(&mut self, now: u64, item: Item, out: &mut Outgoing) {
        self.run(now, out);
        self.now = self.now.max(now);
        let (ahead, fits) = match &self.server {
            Server::Bucket(bucket, head) => (head.as_ref(), bucket.fits(item.packet.bytes)),
            Server::Line(_) | Server::Shaper(_) => (None, true),
        };
        let entered = self.now + self.zero;
        let item = Item { entered, ..item };
        self.queue.pass(entered, ahead);
        if fits {
            self.queue.enqueue(entered, item, ahead, &mut self.dropped);
        } else {
            self.dropped.push(item);
        }
        self.refuse_dropped(out);
        self.idle = false;
        self.run(self.now, out);
    }

    fn run(&mut self, now: u64, out: &mut Outgoing) {
        while let Some(at) = self.next_event()
            && at <= now
        {
            self.now = self.now.max(at);
            self.step(out);
        }
    }

    /// When the discipline is asked for a packet, or one that waits for tokens has them.
    fn next_event(&self) -> Option<u64> {
        match &self.server {
            Server::Bucket(bucket, Some(head)) => bucket.enough_at(self.now, head.packet.bytes),
            _ if self.idle => None,
            Server::Shaper(shaper) => Some(shaper.free_at(self.now)),
            server => Some(server.free_at(self.now)),
        }
    }

    /// As `next_event`, without that which only finds that nothing is left.
    fn deadline(&self) -> Option<u64> {
        self.next_event().filter(|_| self.waits())
    }

    /// Whether a packet waits.
    fn waits(&self) -> bool {
        !self.queue.is_empty() || matches!(self.server, Server::Bucket(_, Some(_)))
    }

    /// What happens at `self.now`.
    fn step(&mut self, out: &mut Outgoing) {
        let held = match &mut self.server {
            Server::Bucket(_, head) => head.take(),
            Server::Line(_) | Server::Shaper(_) => None,
        };
        self.queue.pass(self.now + self.zero, held.as_ref());
        let next = match held {
            Some(head) => Some(head),
            None => self.queue.dequeue(self.now + self.zero, &mut self.dropped),
        };
        self.refuse_dropped(out);
        let Some(item) = next else {
            self.idle = true;
            return;
        };
        let at = match &mut self.server {
            Server::Line(limiter) => limiter.serve(self.now, item.packet.bytes),
            Server::Bucket(bucket, head) => {
                if !bucket.take(self.now, item.packet.bytes) {
                    *head = Some(item);
                    return;
                }
                self.now
            }
            Server::Shaper(shaper) => {
                shaper.send(self.now, item.packet.bytes);
                self.now
            }
        };
        out.push_back(Met { item, at, refused: None });
    }

    fn refuse_dropped(&mut self, out: &mut Outgoing) {
        let at = self.server.free_at(self.now);
        out.extend(self.dropped.drain(..).map(|item| Met { item, at, refused: Some(Fate::QueueDropped) }));
    }
}

impl Server {
    fn free_at(&self, now: u64) -> u64 {
        match self {
            Server::Line(limiter) => limiter.free_at(now),
            Server::Bucket(..) | Server::Shaper(_) => now,
        }
    }
}
