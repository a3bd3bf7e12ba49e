//! Which packet is sent next, and which is dropped or marked: a queue that is managed.
//!
//! Drop-tail needs none of this: what becomes of a packet there is known when it arrives (`bottleneck`). Each discipline is a
//! file of its own and follows an RFC, with the arithmetic and the defaults of Linux's `tc`, of which
//! docs/contracts/network.md names the version.

mod cake;
mod cobalt;
mod codel;
mod dualpi2;
mod fifo;
mod fq_codel;
mod fq_pie;
mod pie;
pub(crate) mod red;
mod rounds;

use crate::direction::{Direction, Queue, Rate};
use crate::item::Item;
use crate::shaper::Shaper;

use cake::Cake;
use codel::Codel;
use dualpi2::DualPi2;
use fifo::Fifo;
use fq_codel::FqCodel;
use fq_pie::FqPie;
use pie::Pie;
use red::Red;

/// A packet queue in front of a rate. Times are ns and never go back.
pub(crate) trait Discipline: Send {
    /// Takes in a packet that arrives at `now`. What is dropped for it, maybe itself, goes to `dropped`. `ahead`: a packet that
    /// was taken but may not leave yet, which counts against the limit.
    fn enqueue(&mut self, now: u64, item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>);

    /// The packet that is sent next, at `now`. What is dropped on the way to it goes to `dropped`. None: nothing is left.
    fn dequeue(&mut self, now: u64, dropped: &mut Vec<Item>) -> Option<Item>;

    /// Whether nothing waits.
    fn is_empty(&self) -> bool;

    /// Everything that waits.
    fn items_mut(&mut self) -> Box<dyn Iterator<Item = &mut Item> + '_>;

    /// Time passes until `now`, and what timers have due by then happens. `ahead` waited all the time.
    fn pass(&mut self, _now: u64, _ahead: Option<&Item>) {}
}

/// The discipline of a direction's queue.
pub(crate) fn discipline(direction: &Direction) -> Box<dyn Discipline> {
    match direction.queue {
        Some(Queue::Codel(parameters)) => Box::new(Codel::new(parameters)),
        Some(Queue::FqCodel(parameters)) => Box::new(FqCodel::new(parameters)),
        Some(Queue::Pie(parameters)) => Box::new(Pie::new(parameters)),
        Some(Queue::FqPie(parameters)) => Box::new(FqPie::new(parameters)),
        Some(Queue::DualPi2(parameters)) => Box::new(DualPi2::new(parameters)),
        Some(Queue::Red(parameters)) => {
            let bucket = matches!(direction.rate, Some(Rate::Bucket { .. }));
            Box::new(Red::new(parameters, !bucket))
        }
        Some(Queue::Cake(parameters)) => Box::new(Cake::new(parameters, Shaper::of(direction).as_ref())),
        drop_tail => Box::new(Fifo::new(drop_tail)),
    }
}

/// Minutes at least, after which nothing changes any more.
const MOST_TIMES: u64 = 10_000;

/// A timer that comes at all multiples of a time.
struct Timer {
    every: u64,
    next: u64,
}

impl Timer {
    fn new(every: u64) -> Self {
        Timer { every, next: every }
    }

    /// How often it has come by `now` since it was asked last. After a very long time without a packet the rest is left out.
    fn due(&mut self, now: u64) -> u64 {
        let Some(late) = now.checked_sub(self.next) else {
            return 0;
        };
        let times = late / self.every + 1;
        self.next = self.next.saturating_add(times.saturating_mul(self.every));
        times.min(MOST_TIMES)
    }
}
