//! Which packet is sent next, and which is dropped or marked: a queue that is managed.
//!
//! Drop-tail needs none of this: what becomes of a packet there is known when it arrives (`bottleneck`). Each discipline is a
//! file of its own and follows an RFC, with the arithmetic and the defaults of Linux's `tc`, of which
//! docs/contracts/network.md names the version.

mod codel;
mod fifo;
mod fq_codel;

use crate::direction::Queue;
use crate::item::Item;

use codel::Codel;
use fifo::Fifo;
use fq_codel::FqCodel;

/// A packet queue in front of a rate. Times are ns and never go back.
pub(crate) trait Discipline: Send {
    /// Takes in a packet that arrives at `now`. What is dropped for it, maybe itself, goes to `dropped`. `ahead`: a packet that
    /// was taken but may not leave yet, which counts against the limit.
    fn enqueue(&mut self, now: u64, item: Item, ahead: Option<&Item>, dropped: &mut Vec<Item>);

    /// The packet that is sent next, at `now`. What is dropped on the way to it goes to `dropped`. None: nothing is left.
    fn dequeue(&mut self, now: u64, dropped: &mut Vec<Item>) -> Option<Item>;

    /// Whether nothing waits.
    fn is_empty(&self) -> bool;

    /// Everything that waits, in any order that keeps flows in order, for another queue to take over.
    fn drain(&mut self) -> Vec<Item>;
}

/// The discipline of a queue.
pub(crate) fn discipline(queue: Option<Queue>) -> Box<dyn Discipline> {
    match queue {
        Some(Queue::Codel(parameters)) => Box::new(Codel::new(parameters)),
        Some(Queue::FqCodel(parameters)) => Box::new(FqCodel::new(parameters)),
        drop_tail => Box::new(Fifo::new(drop_tail)),
    }
}
